// The page: one state, and what follows from it.

// Bits of layers: 2 * kind, and one more where two parts meet. A face is red where a kind and a relation are both on.
const KINDS = [["vertex-face", 0], ["edge-edge", 1], ["intersections", 2]];
const RELATIONS = [["within a part", 0], ["between parts", 1]];
const LOOKS = [["hidden ones too", "through"], ["edges", "edges"], ["follow", "follow"]];
const COMPARED = ["before", "after"]; // of what was untangled: two frames, and all that is between them
const FAR = 0.25; // of half a diagonal: what moves that far from its mean is followed

const record = JSON.parse(byId("record").textContent);
const state = {
  frame: 0, blend: 0, shown: 0, playing: false, speed: 1, kinds: [true, true, true], relations: [true, true], through: true, edges: true,
  follow: false, chosen: [-1, -1], red: 0, tint: record.tints?.length ? 0 : -1, rings: 0, places: { key: "", list: [], at: -1 }, ready: false, failure: "",
};
const compares = record.verb === "untangle";
const camera = makeCamera(record.up);
const shownParts = { renderer: null, plots: [], funnel: null, timeline: null, arrays: null, samples: null, waiting: false };
window.pliant = { state, camera, record };

function layersOf({ kinds, relations }) {
  let bits = 0;
  kinds.forEach((kind, k) => relations.forEach((relation, r) => (bits |= kind && relation ? 1 << (2 * k + r) : 0)));
  return bits;
}

// The frame that 3D shows: the last one that it has, up to this one.
function shownFrame(frame) {
  const { shown } = shownParts.arrays;
  let low = 0, high = shown.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (shown[middle] <= frame) low = middle;
    else high = middle - 1;
  }
  return low;
}

// To a frame; or, where two are compared, to some of the way between them: what is red is that of the first until the end.
function jump(place) {
  const frame = Math.floor(place);
  Object.assign(state, { frame, blend: place - frame });
  byId("slider").value = place;
  byId("slider").setAttribute("aria-valuetext", compares ? wayWords() : `frame ${record.numbers[frame]}`);
  fillNow(record, frame);
  for (const plot of shownParts.plots) showCurrent(plot, frame);
  if (shownParts.funnel) showInFunnel(shownParts.funnel, frame);
  markRows("worst", (data) => Number(data.frame) === frame);
  redraw();
}

// Once for all that changes before the next picture.
function redraw() {
  if (shownParts.waiting || !shownParts.renderer || !record.numbers.length) return;
  shownParts.waiting = true;
  requestAnimationFrame(() => {
    shownParts.waiting = false;
    const { renderer, arrays } = shownParts;
    state.shown = shownFrame(state.frame);
    showFrame(renderer, state.shown, state.blend);
    showTints(renderer, state.shown, state.tint);
    follow();
    const layers = layersOf(state);
    draw(renderer, camera, { ...state, layers });
    state.red = redFaces(renderer, state.shown, layers).length;
    drawAxes(byId("axes"), camera);
    state.rings = drawRings(byId("rings"), camera, placesNow(), goToRed);
    nameFocus();
    writeLegend(record.numbers[arrays.shown[state.shown]]);
  });
}

function follow() {
  const { samples } = shownParts;
  if (state.follow) {
    if (camera.points !== samples.following) recentre(camera, samples.following, samples.centres[state.shown]);
    camera.centre = samples.centres[state.shown];
  } else if (camera.points !== samples.still) recentre(camera, samples.still, [0, 0, 0]);
}

function wayWords() {
  return state.blend ? `${Math.round(100 * state.blend)} % of the way` : COMPARED[state.frame];
}

// What colours say: a name, and its range over all frames.
function tintWords() {
  if (state.tint < 0) return [];
  const [name, lower, upper] = record.tints[state.tint];
  return [element("br"), `${name} ${short(lower)} `, element("span", { className: "ramp", role: "img", "aria-label": "to" }), ` ${short(upper)}`];
}

function writeLegend(number) {
  const asked = record.numbers[state.frame];
  const other = number === asked ? "" : `, instead of ${asked}`;
  const red = counted(state.red, "red face");
  if (compares) {
    const title = wayWords().replace(/^./, (letter) => letter.toUpperCase());
    byId("legend").replaceChildren(element("b", { textContent: title }), element("br"), red);
    return;
  }
  const words = record.verb === "check" ? [element("b", { textContent: red })] : [element("b", { textContent: `Frame ${number}` }), other, element("br"), red, ...tintWords()];
  byId("legend").replaceChildren(...words);
}

function choosePart(parts) {
  const same = state.chosen[0] === parts[0] && state.chosen[1] === parts[1];
  state.chosen = same ? [-1, -1] : parts;
  markRows("parts", (data) => data.parts === state.chosen.join(" "));
  redraw();
}

// The places of the frame that is shown, kept until the frame or the layers are others.
function placesNow() {
  const { renderer } = shownParts;
  if (!renderer || !record.numbers.length) return [];
  const frame = shownFrame(state.frame), key = `${frame} ${layersOf(state)}`;
  if (state.places.key !== key) state.places = { key, list: redPlaces(renderer, frame, layersOf(state)), at: -1 };
  return state.places.list;
}

// To the next place each time, from outside of the surface.
function goToRed(number) {
  const list = placesNow();
  if (!list.length) return;
  state.places.at = Number.isInteger(number) ? number : (state.places.at + 1) % list.length;
  const place = list[state.places.at];
  lookAt(camera, place, outwards(shownParts.renderer, shownFrame(state.frame), place));
  redraw();
}

function nameFocus() {
  const list = placesNow(), { at } = state.places;
  byId("focus").textContent = at < 0 ? "Go to red" : `Red ${at + 1} of ${list.length}`;
  byId("focus").disabled = !list.length;
}

function turnUp() {
  camera.up = { x: "y", y: "z", z: "x" }[camera.up];
  nameUp();
  resetCamera(camera);
  redraw();
}

function nameUp() {
  byId("up").textContent = `Up: ${camera.up}`;
}

function toggle(name, checked, set) {
  const box = element("input", { type: "checkbox", checked });
  box.addEventListener("change", () => {
    set(box.checked);
    redraw();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") box.click(); // since space plays
  });
  return element("label", {}, box, name);
}

// Which number at cells the colours are of; none where there are no such numbers.
function tintMenu() {
  if (!record.tints?.length) return [];
  const names = [["parts", -1], ...record.tints.map(([name], k) => [name, k])];
  const menu = element("select", {}, ...names.map(([name, k]) => element("option", { value: k, textContent: name })));
  menu.id = "tint";
  menu.value = state.tint;
  menu.addEventListener("change", () => {
    state.tint = Number(menu.value);
    redraw();
  });
  return [element("label", {}, "Colours", menu)];
}

function makeLayers() {
  const looked = [record.looked.contacts, record.looked.contacts, record.looked.intersections];
  const rule = () => element("span", { className: "rule" });
  byId("layers").replaceChildren(
    ...KINDS.filter(([, k]) => looked[k]).map(([name, k]) => toggle(name, true, (on) => (state.kinds[k] = on))), rule(),
    ...RELATIONS.map(([name, r]) => toggle(name, true, (on) => (state.relations[r] = on))), rule(),
    ...LOOKS.map(([name, key]) => toggle(name, state[key], (on) => (state[key] = on))), ...tintMenu());
}

function makePlots() {
  const { looked, counts, milliseconds, numbers } = record;
  const found = [], spent = [];
  if (looked.contacts) {
    found.push({ name: "vertex-face", colour: "--red", values: counts[0] }, { name: "edge-edge", colour: "--orange", values: counts[1] });
    spent.push({ name: "contacts", colour: "--red", values: milliseconds[0] });
  }
  if (looked.intersections) {
    found.push({ name: "intersections", colour: "--violet", values: counts[2] });
    spent.push({ name: "intersections", colour: "--violet", values: milliseconds[1] });
  }
  const labels = ["Contacts and intersections over frames", "Milliseconds over frames"];
  return [
    makePlot(byId("counts"), { series: found, label: labels[0] }, numbers, jump),
    makePlot(byId("time"), { series: spent, words: inMilliseconds, label: labels[1] }, numbers, jump),
  ];
}

function listenToKeys(timeline) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = { " ": timeline.toggle, ",": () => timeline.step(-1), ".": () => timeline.step(1), f: () => goToRed(), u: turnUp };
    if (!(event.key in actions)) return;
    event.preventDefault();
    if (!event.repeat || event.key !== " ") actions[event.key]();
  });
  // Space plays wherever the focus is: buttons would be pressed by it, too, when it comes up again.
  document.addEventListener("keyup", (event) => {
    if (event.key === " ") event.preventDefault();
  });
}

async function start3D() {
  shownParts.arrays = await readArrays(record);
  window.pliant.arrays = shownParts.arrays;
  shownParts.renderer = makeRenderer(byId("canvas"), record, shownParts.arrays);
  byId("canvas").addEventListener("webglcontextlost", () => fail("The browser took WebGL away; load the page again."));
  shownParts.samples = sampled(shownParts.renderer);
  const { centres, still } = shownParts.samples;
  state.follow = centres.some((centre) => Math.hypot(...centre.map((c, k) => c - centres[0][k])) > FAR);
  state.shown = shownFrame(state.frame);
  makeLayers();
  camera.points = still;
  camera.aspect = fitCanvas(shownParts.renderer);
  follow();
  resetCamera(camera);
  listenOnCanvas(byId("canvas"), camera, redraw);
  new ResizeObserver(redraw).observe(byId("view"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

function layOutPlots() {
  for (const plot of [...shownParts.plots, shownParts.funnel?.plot]) if (plot) layOut(plot);
}

function fail(message) {
  state.failure = message;
  byId("failure").textContent = message;
  byId("failure").hidden = false;
}

function makePage() {
  document.body.classList.toggle("instant", record.verb === "check");
  document.body.classList.toggle("compared", compares);
  fillVerdict(record);
  fillRun(record);
  fillWorst(record, jump);
  fillParts(record, choosePart);
  makeLayers();
  shownParts.plots = makePlots();
  shownParts.funnel = makeFunnel(record, jump);
  shownParts.timeline = makeTimeline(record, state, jump);
  listenToKeys(shownParts.timeline);
  for (const [id, action] of [["reset", () => (resetCamera(camera), redraw())], ["focus", () => goToRed()], ["up", turnUp]]) {
    byId(id).addEventListener("click", action);
  }
  nameUp();
  listenToPrinting();
  new ResizeObserver(() => {
    layOutPlots();
  }).observe(document.body);
}

makePage();
if (record.numbers.length) jump(compares ? 0 : record.worst[0] ?? 0);
start3D().catch((error) => fail(error.message)).finally(() => {
  byId("loading").hidden = true;
  state.ready = true;
  redraw();
});
