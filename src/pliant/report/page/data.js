// What the page is about: numbers as JSON, arrays as one stream that zlib compressed.

const TYPES = { u4: Uint32Array, u1: Uint8Array };

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function unpacked(bytes) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser cannot unpack the animation (it has no DecompressionStream). Plots and tables are whole.");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function readArrays(record) {
  const holder = byId("data");
  const buffer = await unpacked(bytesOf(holder.textContent));
  holder.remove();
  const arrays = {};
  let at = 0;
  for (const [name, type, length] of record.arrays) {
    arrays[name] = new TYPES[type](buffer, at, length);
    at += Math.ceil(arrays[name].byteLength / 4) * 4;
  }
  arrays.positions = positionsOf(arrays.positions, arrays.shown.length, record.vertexCount);
  return arrays;
}

// Sums of differences: see differences() in streams.py. Axes of a frame one after the other become x y z of a vertex.
function positionsOf(bytes, frames, vertices) {
  const size = 3 * vertices;
  const positions = new Uint16Array(frames * size);
  for (let frame = 0; frame < frames; frame++) {
    const low = 2 * frame * size;
    for (let axis = 0; axis < 3; axis++) {
      let last = 0;
      for (let v = 0; v < vertices; v++) {
        const i = low + axis * vertices + v;
        const folded = bytes[i] | (bytes[i + size] << 8);
        const change = (folded >>> 1) ^ -(folded & 1);
        const at = frame * size + 3 * v + axis;
        positions[at] = change + (frame ? positions[at - size] : last);
        last = positions[at];
      }
    }
  }
  return positions;
}
