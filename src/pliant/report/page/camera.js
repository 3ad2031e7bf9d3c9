// Where the eye is. What is shown fits into a ball of radius 1; y is up after `axes` have turned it.

const NEAREST = 0.05;
const FARTHEST = 40;
const ANGLE = 0.5; // radians that the shorter side sees

// Rows: which coordinates become right, up and towards the eye; each is a turn, not a reflection.
const AXES = {
  x: [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
  y: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  z: [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
};

// points : some of what is to be seen, from `centre`, x y z one after the other
// centre : what the target is measured from; it moves along where the camera follows
function makeCamera(up) {
  return { up, centre: [0, 0, 0], turn: 0.55, tilt: 0.3, distance: 4.3, target: [0, 0, 0], points: new Float32Array(0), aspect: 1 };
}

// From the usual side, as near as all points allow.
function resetCamera(camera) {
  Object.assign(camera, { turn: 0.55, tilt: 0.3 });
  const rows = frameOf(camera);
  const seen = rows.map((row) => alongRow(camera, row));
  const middle = seen.map((values) => (extreme(Math.min, values) + extreme(Math.max, values)) / 2);
  camera.target = [0, 1, 2].map((k) => rows.reduce((sum, row, i) => sum + row[k] * middle[i], 0));
  const [sx, sy] = scalesOf(camera.aspect);
  const distance = (_, i) => {
    const [x, y, z] = seen.map((values, k) => values[i] - middle[k]);
    return z + Math.max(1.08 * Math.abs(x) * sx, 1.2 * Math.abs(y) * sy); // words are above and below
  };
  camera.distance = Math.max(0.08, extreme(Math.max, seen[0].map(distance)));
}

function extreme(better, values) {
  return values.reduce((a, b) => better(a, b), values.length ? values[0] : 0);
}

// Coordinates of all points along one direction of the view.
function alongRow({ points, up }, row) {
  const along = [0, 1, 2].map((j) => dot3(row, AXES[up].map((axis) => axis[j])));
  const values = new Float32Array(points.length / 3);
  for (let i = 0; i < values.length; i++) {
    values[i] = along[0] * points[3 * i] + along[1] * points[3 * i + 1] + along[2] * points[3 * i + 2];
  }
  return values;
}

function turnedUp({ up }, point) {
  return AXES[up].map((axis) => dot3(axis, point));
}

// The target stays where it is, in space.
function recentre(camera, points, centre) {
  const shift = turnedUp(camera, camera.centre.map((c, k) => c - centre[k]));
  camera.target = camera.target.map((t, k) => t + shift[k]);
  Object.assign(camera, { points, centre });
}

// How much larger than at distance 1 the sides of the picture appear.
function scalesOf(aspect) {
  const scale = 1 / Math.tan(ANGLE / 2);
  return aspect > 1 ? [scale / aspect, scale] : [scale, scale * aspect];
}

function orbit(camera, right, up) {
  camera.turn -= right;
  camera.tilt = Math.min(1.55, Math.max(-1.55, camera.tilt + up));
}

function zoom(camera, factor) {
  camera.distance = Math.min(FARTHEST, Math.max(0.08, camera.distance * factor));
}

// By fractions of what is seen.
function pan(camera, right, up) {
  const [r, u] = frameOf(camera);
  const reach = 2 * camera.distance * Math.tan(ANGLE / 2);
  camera.target = camera.target.map((t, i) => t - reach * (right * r[i] + up * u[i]));
}

// Right, up and towards the eye, as seen.
function frameOf({ turn, tilt }) {
  const [s, c, u, v] = [Math.sin(turn), Math.cos(turn), Math.sin(tilt), Math.cos(tilt)];
  return [[c, 0, -s], [-s * u, v, -c * u], [s * v, u, c * v]];
}

function dot3(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// What the shader takes: a turn (columns), a shift, a projection (columns).
function matricesOf(camera) {
  const { aspect } = camera;
  const rows = frameOf(camera);
  const axes = AXES[camera.up];
  const columns = [0, 1, 2].map((j) => rows.map((row) => dot3(row, axes.map((axis) => axis[j]))));
  const target = turnedUp(camera, camera.centre).map((c, k) => c + camera.target[k]);
  const shift = rows.map((row) => dot3(row, target));
  shift[2] += camera.distance;
  const near = Math.max(NEAREST * 0.2, camera.distance - 3), far = camera.distance + 6;
  const [sx, sy] = scalesOf(aspect);
  const depth = [(near + far) / (near - far), (2 * near * far) / (near - far)];
  return {
    turned: new Float32Array(columns.flat()),
    shift: new Float32Array(shift),
    projection: new Float32Array([sx, 0, 0, 0, 0, sy, 0, 0, 0, 0, depth[0], -1, 0, 0, depth[1], 0]),
  };
}

// Three short lines that say which axis is which. None is red: that is what collides.
function drawAxes(svg, camera) {
  const rows = frameOf(camera);
  const ends = [0, 1, 2].map((j) => {
    const axis = AXES[camera.up].map((row) => row[j]);
    return rows.map((row) => dot3(row, axis));
  });
  const colours = ["--orange", "--s3", "--s1"].map(colour);
  svg.replaceChildren(...ends.flatMap(([x, y], j) => [
    drawn("line", { class: "under", x1: 0, y1: 0, x2: 18 * x, y2: -18 * y, "stroke-linecap": "round" }),
    drawn("line", { x1: 0, y1: 0, x2: 18 * x, y2: -18 * y, stroke: colours[j], "stroke-width": 2, "stroke-linecap": "round" }),
    drawn("text", { x: 24 * x, y: 3 - 24 * y, "text-anchor": "middle", fill: colours[j] }, "xyz"[j]),
  ]));
}
