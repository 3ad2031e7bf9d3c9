// Arrays as textures, and smooth normals of a frame.

function makeTexture(gl, format, unit) {
  const texture = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
  return { texture, format, unit };
}

// The last row is filled up: whole rows are what a texture takes.
function fillTexture(gl, { format, unit }, array, count) {
  const rows = Math.max(1, Math.ceil(count / WIDTH));
  const whole = WIDTH * rows * format.channels;
  const padded = array.length === whole ? array : new array.constructor(whole);
  if (padded !== array) padded.set(array);
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.texImage2D(gl.TEXTURE_2D, 0, format.inner, WIDTH, rows, 0, format.outer, format.type, padded);
}

function formatsOf(gl) {
  return {
    positions: { inner: gl.RGB16UI, outer: gl.RGB_INTEGER, type: gl.UNSIGNED_SHORT, channels: 3 },
    faces: { inner: gl.RGB32UI, outer: gl.RGB_INTEGER, type: gl.UNSIGNED_INT, channels: 3 },
    parts: { inner: gl.R32UI, outer: gl.RED_INTEGER, type: gl.UNSIGNED_INT, channels: 1 },
    layers: { inner: gl.R8UI, outer: gl.RED_INTEGER, type: gl.UNSIGNED_BYTE, channels: 1 },
    tints: { inner: gl.R8UI, outer: gl.RED_INTEGER, type: gl.UNSIGNED_BYTE, channels: 1 },
    normals: { inner: gl.RGBA8_SNORM, outer: gl.RGBA, type: gl.BYTE, channels: 4 },
  };
}

// Of each vertex the sum of those of its faces, which are as long as these are large; into bytes, four a vertex.
function normalsOf(positions, faces, size, sums, bytes) {
  sums.fill(0);
  const [sx, sy, sz] = size;
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = (positions[b] - positions[a]) * sx, uy = (positions[b + 1] - positions[a + 1]) * sy;
    const uz = (positions[b + 2] - positions[a + 2]) * sz, vx = (positions[c] - positions[a]) * sx;
    const vy = (positions[c + 1] - positions[a + 1]) * sy, vz = (positions[c + 2] - positions[a + 2]) * sz;
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    sums[a] += x; sums[a + 1] += y; sums[a + 2] += z;
    sums[b] += x; sums[b + 1] += y; sums[b + 2] += z;
    sums[c] += x; sums[c + 1] += y; sums[c + 2] += z;
  }
  for (let v = 0, i = 0; v < sums.length; v += 3, i += 4) {
    const length = Math.hypot(sums[v], sums[v + 1], sums[v + 2]) || 1;
    for (let k = 0; k < 3; k++) bytes[i + k] = Math.round((127 * sums[v + k]) / length);
  }
}
