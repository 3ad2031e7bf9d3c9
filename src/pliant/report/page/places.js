// Places where something is red: which there are, from where each is seen, and rings around those that are tiny.

const APART = 0.06; // red faces that are closer are one place, where half a diagonal of the box is 1
const TINY = 11; // pixels: a place that is seen smaller gets a ring
const MOST_RINGS = 12;
const SIDES = 64; // directions to look from
const MOST_BLOCKING = 60000; // faces that are asked whether they are in the way

// Groups of red faces, those with most faces first: { faces, middle, reach, normal }.
function redPlaces(renderer, frame, layers) {
  const positions = positionsAt(renderer, frame);
  const faces = redFaces(renderer, frame, layers).map((face) => cornersOf(renderer, positions, face));
  const cells = new Map();
  for (const corners of faces) {
    const key = cellOf(corners.middle);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(corners);
  }
  const places = [];
  while (cells.size) places.push(placeOf(grown(cells)));
  return places.sort((a, b) => b.faces - a.faces);
}

function cornersOf({ arrays, size }, positions, face) {
  const points = [0, 1, 2].map((k) => pointAt(positions, 3 * arrays.faces[3 * face + k], size));
  const middle = [0, 1, 2].map((k) => (points[0][k] + points[1][k] + points[2][k]) / 3);
  return { points, middle };
}

function cellOf(point) {
  return point.map((x) => Math.floor(x / APART)).join(" ");
}

// Takes cells next to each other out of the map; returns what was in them.
function grown(cells) {
  const [first] = cells.keys();
  const found = [], waiting = [first];
  while (waiting.length) {
    const key = waiting.pop();
    if (!cells.has(key)) continue;
    found.push(...cells.get(key));
    cells.delete(key);
    const [x, y, z] = key.split(" ").map(Number);
    for (let i = -1; i <= 1; i++) for (let j = -1; j <= 1; j++) for (let k = -1; k <= 1; k++) {
      const other = `${x + i} ${y + j} ${z + k}`;
      if (cells.has(other)) waiting.push(other);
    }
  }
  return found;
}

function placeOf(faces) {
  const [lower, upper] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  const normal = [0, 0, 0];
  for (const { points: [a, b, c] } of faces) {
    for (const point of [a, b, c]) {
      for (let k = 0; k < 3; k++) [lower[k], upper[k]] = [Math.min(lower[k], point[k]), Math.max(upper[k], point[k])];
    }
    cross(minus(b, a), minus(c, a)).forEach((n, k) => (normal[k] += n));
  }
  const middle = lower.map((l, k) => (l + upper[k]) / 2);
  const length = Math.hypot(...normal);
  return {
    faces: faces.length, middle, reach: Math.hypot(...minus(upper, lower)) / 2, normal: normal.map((n) => n / (length || 1)),
  };
}

function minus(a, b) {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

// The direction in which least of the surface is in the way; of several, the one that its normals point to.
// Faces of a file need not be turned outwards, so that normals alone do not tell where outside is.
function outwards(renderer, frame, place) {
  const ways = sides();
  const hidden = new Float64Array(SIDES), near = 0.3 * place.reach;
  const { arrays } = renderer;
  const positions = positionsAt(renderer, frame);
  const count = arrays.faces.length / 3, step = Math.max(1, Math.ceil(count / MOST_BLOCKING));
  for (let face = 0; face < count; face += step) {
    const { points } = cornersOf(renderer, positions, face);
    const [a, b, c] = points.map((point) => minus(point, place.middle));
    ways.forEach((way, i) => (hidden[i] += isHit(a, b, c, way, near) ? 1 : 0));
  }
  let best = 0, least = Infinity;
  ways.forEach((way, i) => {
    const cost = 4 * hidden[i] - dot3(way, place.normal);
    if (cost < least) [best, least] = [i, cost];
  });
  return ways[best];
}

// Directions that are evenly spread: on a spiral from pole to pole.
function sides() {
  return Array.from({ length: SIDES }, (_, i) => {
    const y = 1 - (2 * i + 1) / SIDES, r = Math.sqrt(1 - y * y), turn = 2.399963 * i;
    return [r * Math.cos(turn), y, r * Math.sin(turn)];
  });
}

// Whether a ray from 0 meets a triangle, farther away than `near`.
function isHit(a, b, c, way, near) {
  const [u, v] = [minus(b, a), minus(c, a)];
  const p = cross(way, v);
  const det = dot3(u, p);
  if (det === 0) return false;
  const s = -dot3(a, p) / det;
  if (s < 0 || s > 1) return false;
  const q = cross([-a[0], -a[1], -a[2]], u);
  const t = dot3(way, q) / det;
  return t >= 0 && s + t <= 1 && dot3(v, q) / det > near;
}

function lookAt(camera, place, way) {
  camera.target = turnedUp(camera, minus(place.middle, camera.centre));
  const [x, y, z] = turnedUp(camera, way);
  Object.assign(camera, { turn: Math.atan2(x, z), tilt: Math.min(1.4, Math.max(-1.4, Math.asin(y))) });
  // The place takes a third of the picture: what is around it tells where it is.
  camera.distance = Math.min(8, Math.max(0.12, (3 * place.reach) / Math.tan(ANGLE / 2)));
}

// Pixels from the upper left corner, and of how many a length of 1 takes there; null behind the eye.
function onScreen(camera, point, width, height) {
  const { turned, shift, projection } = matricesOf(camera);
  const [x, y, z] = [0, 1, 2].map((i) => point.reduce((sum, p, j) => sum + turned[3 * j + i] * p, 0) - shift[i]);
  if (z >= 0) return null;
  const scale = (0.5 * height * projection[5]) / -z;
  return { x: width / 2 + scale * x, y: height / 2 - scale * y, scale };
}

// Rings with a white edge, so that they are seen on anything; a click goes there.
function drawRings(svg, camera, places, go) {
  const width = svg.clientWidth, height = svg.clientHeight;
  const rings = places.slice(0, MOST_RINGS).flatMap((place, i) => {
    const at = onScreen(camera, place.middle, width, height);
    if (!at || at.scale * place.reach > TINY || at.x < 0 || at.y < 0 || at.x > width || at.y > height) return [];
    const words = `${counted(place.faces, "red face")}, go there`;
    const ring = drawn("g", { class: "ring", transform: `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})` },
      drawn("title", {}, words), drawn("circle", { r: 17, class: "halo" }), drawn("circle", { r: 17 }));
    ring.addEventListener("click", () => go(i));
    return [ring];
  });
  svg.replaceChildren(...rings);
  return rings.length;
}
