// The animation in WebGL: one call that draws all, one more for what is red and hidden.

const MOST_PIXELS = 1500000;
const SAMPLERS = ["positions", "faces", "parts", "layers", "normals", "tints"];
const LIGHTS = { red: [0.93, 0.13, 0.09], fade: [0.86, 0.86, 0.85], fadeDark: [0.24, 0.25, 0.27] };

function makeRenderer(canvas, record, arrays) {
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: true });
  if (!gl) throw new Error("This browser shows no WebGL 2, so there is no animation. Plots and tables are whole.");
  const program = linked(gl);
  gl.useProgram(program);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  const formats = formatsOf(gl);
  const textures = SAMPLERS.map((name, unit) => makeTexture(gl, formats[name], unit));
  const places = {};
  const uniforms = ["projection", "turned", "size", "shift", "shownLayers", "chosen", "onlyRed", "tinted", "through", "edges",
    "redPaint", "fadePaint", ...SAMPLERS];
  for (const name of uniforms) places[name] = gl.getUniformLocation(program, name);
  SAMPLERS.forEach((name, unit) => gl.uniform1i(places[name], unit));
  gl.bindVertexArray(gl.createVertexArray());
  const size = sizeOf(record);
  gl.uniform3fv(places.size, size);
  gl.uniform3fv(places.redPaint, LIGHTS.red);
  fillTexture(gl, textures[1], arrays.faces, arrays.faces.length / 3);
  fillTexture(gl, textures[2], arrays.parts, record.vertexCount);
  const normals = new Int8Array(4 * record.vertexCount);
  return { gl, canvas, places, textures, arrays, size, normals, sums: new Float64Array(3 * record.vertexCount), frame: -1, tint: -1 };
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

// Sides of the box, where half of its diagonal is 1.
function sizeOf({ lower, upper }) {
  const sides = upper.map((u, i) => u - lower[i]);
  const half = Math.hypot(...sides) / 2 || 1;
  return new Float32Array(sides.map((side) => side / half));
}

function positionsAt({ arrays }, frame) {
  const size = arrays.positions.length / arrays.shown.length;
  return arrays.positions.subarray(frame * size, (frame + 1) * size);
}

function pointAt(positions, i, size) {
  return [0, 1, 2].map((k) => (positions[i + k] / 65535 - 0.5) * size[k]);
}

// Some points of every frame, and their means: what the camera is to see, and what it follows.
function sampled(renderer) {
  const { arrays, size } = renderer;
  const frames = arrays.shown.length, length = frames ? arrays.positions.length / frames : 0;
  const stride = 3 * Math.max(1, Math.floor((length * frames) / 90000));
  const points = [], centres = [];
  for (let frame = 0; frame < frames; frame++) {
    const positions = positionsAt(renderer, frame);
    const own = [];
    for (let i = 0; i < length; i += stride) own.push(pointAt(positions, i, size));
    centres.push([0, 1, 2].map((k) => own.reduce((sum, point) => sum + point[k], 0) / Math.max(1, own.length)));
    points.push(own);
  }
  const still = Float32Array.from(points.flat(2));
  const following = Float32Array.from(points.flatMap((own, f) => own.flatMap((point) => point.map((x, k) => x - centres[f][k]))));
  return { still, following, centres };
}

// The faces of a frame that are red in any of these layers.
function redFaces({ arrays }, frame, layers) {
  const found = [];
  for (let i = arrays.red_start[frame]; i < arrays.red_start[frame + 1]; i++) {
    if (arrays.red_layers[i] & layers) found.push(arrays.red_faces[i]);
  }
  return found;
}

// Of two frames, some of the way from this one to the next.
function between(renderer, frame, blend) {
  const [a, b] = [frame, frame + 1].map((one) => positionsAt(renderer, one));
  return a.map((value, i) => Math.round(value + blend * (b[i] - value)));
}

// The colours of a number at cells; those of the first frame until the end, where two are compared.
function showTints(renderer, frame, tint) {
  const key = `${frame} ${tint}`;
  if (renderer.tint === key) return;
  renderer.tint = key;
  const { gl, textures, arrays } = renderer, count = arrays.faces.length / 3;
  const from = (tint * arrays.shown.length + frame) * count;
  fillTexture(gl, textures[5], tint < 0 ? new Uint8Array(1) : arrays.tints.slice(from, from + count), tint < 0 ? 1 : count);
}

function showFrame(renderer, frame, blend) {
  if (renderer.frame === frame + blend) return;
  renderer.frame = frame + blend;
  const { gl, textures, arrays, size, sums, normals } = renderer;
  const positions = blend ? between(renderer, frame, blend) : positionsAt(renderer, frame);
  normalsOf(positions, arrays.faces, size, sums, normals);
  const layers = new Uint8Array(arrays.faces.length / 3);
  for (let i = arrays.red_start[frame]; i < arrays.red_start[frame + 1]; i++) layers[arrays.red_faces[i]] = arrays.red_layers[i];
  fillTexture(gl, textures[0], positions, positions.length / 3);
  fillTexture(gl, textures[3], layers, layers.length);
  fillTexture(gl, textures[4], normals, normals.length / 4);
}

function fitCanvas({ gl, canvas }) {
  // Two samples a pixel along either side, where that is not too much: edges of thin triangles need more than MSAA.
  const few = canvas.clientWidth * canvas.clientHeight < MOST_PIXELS;
  const ratio = few ? 2 : Math.min(window.devicePixelRatio || 1, 2);
  const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  gl.viewport(0, 0, width, height);
  return width / Math.max(height, 1);
}

function draw(renderer, camera, { layers, chosen, edges, through, tint }) {
  const { gl, places, arrays } = renderer;
  camera.aspect = fitCanvas(renderer);
  const { projection, turned, shift } = matricesOf(camera);
  gl.uniformMatrix4fv(places.projection, false, projection);
  gl.uniformMatrix3fv(places.turned, false, turned);
  gl.uniform3fv(places.shift, shift);
  gl.uniform1ui(places.shownLayers, layers);
  gl.uniform2i(places.chosen, chosen[0], chosen[1]);
  gl.uniform1i(places.edges, edges);
  gl.uniform1i(places.tinted, tint >= 0);
  gl.uniform3fv(places.fadePaint, matchMedia("(prefers-color-scheme: dark)").matches ? LIGHTS.fadeDark : LIGHTS.fade);
  gl.clearColor(0, 0, 0, 0);
  gl.enable(gl.DEPTH_TEST);
  gl.depthMask(true);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  pass(renderer, false, gl.LESS);
  if (!through || !arrays.red_layers.length) return;
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.depthMask(false);
  pass(renderer, true, gl.GREATER);
  gl.disable(gl.BLEND);
}

function pass({ gl, places, arrays }, hidden, depth) {
  gl.uniform1i(places.onlyRed, hidden);
  gl.uniform1i(places.through, hidden);
  gl.depthFunc(depth);
  gl.drawArrays(gl.TRIANGLES, 0, arrays.faces.length);
}
