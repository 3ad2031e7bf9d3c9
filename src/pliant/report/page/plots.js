// Lines over frames, as SVG. A plot: { series: [{ name, colour, values }], log, words }; a value of null is a gap.

const EDGES = { left: 46, right: 10, top: 8, bottom: 22 };
const TALL = 190;

function makePlot(holder, plot, numbers, jump) {
  const key = element("ul", { className: "key" });
  const svg = drawn("svg", { role: "img", "aria-label": plot.label, height: TALL });
  holder.replaceChildren(key, svg);
  const made = { ...plot, holder, key, svg, numbers, current: 0, hovered: null };
  svg.addEventListener("pointermove", (event) => hover(made, frameAt(made, event)));
  svg.addEventListener("pointerleave", () => hover(made, null));
  svg.addEventListener("click", (event) => jump(frameAt(made, event)));
  layOut(made);
  return made;
}

function layOut(plot) {
  plot.width = Math.max(200, plot.holder.clientWidth);
  plot.svg.setAttribute("viewBox", `0 0 ${plot.width} ${TALL}`);
  const largest = Math.max(1e-9, ...plot.series.map((one) => one.values.reduce((a, b) => Math.max(a, b ?? 0), 0)));
  plot.ticks = plot.log ? powers(largest) : evenTicks(largest);
  plot.top = plot.ticks[plot.ticks.length - 1];
  const lines = plot.series.map((one) => drawn("path", { class: "line", stroke: `var(${one.colour})`, d: pathOf(plot, one.values) }));
  const dots = plot.numbers.length <= 80 ? plot.series.flatMap((one) => dotsOf(plot, one)) : [];
  plot.cursor = drawn("line", { class: "cursor" });
  plot.pointer = drawn("line", { class: "hover", visibility: "hidden" });
  plot.svg.replaceChildren(...gridOf(plot), plot.pointer, plot.cursor, ...lines, ...dots);
  showCurrent(plot, plot.current);
}

function powers(largest) {
  const ticks = [1];
  while (ticks[ticks.length - 1] < largest) ticks.push(10 * ticks[ticks.length - 1]);
  return ticks.length > 1 ? ticks : [1, 10];
}

function evenTicks(largest) {
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((f) => f * power >= rough);
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, i) => i * step);
}

function xOf(plot, frame) {
  const inner = plot.width - EDGES.left - EDGES.right;
  return EDGES.left + (inner * (frame + 0.5)) / Math.max(1, plot.numbers.length);
}

// On a logarithmic axis nothing is where one is.
function yOf(plot, value) {
  const inner = TALL - EDGES.top - EDGES.bottom;
  const part = plot.log ? Math.log(Math.max(value, 1)) / Math.log(plot.top) : value / plot.top;
  return EDGES.top + inner * (1 - part);
}

function pathOf(plot, values) {
  let path = "", open = false;
  values.forEach((value, i) => {
    if (value !== null) path += `${open ? "L" : "M"}${xOf(plot, i).toFixed(1)} ${yOf(plot, value).toFixed(1)}`;
    open = value !== null;
  });
  return path;
}

function dotsOf(plot, { values, colour: name }) {
  return values.flatMap((value, i) => (value === null ? [] : [
    drawn("circle", { cx: xOf(plot, i).toFixed(1), cy: yOf(plot, value).toFixed(1), r: 2.2, fill: `var(${name})` }),
  ]));
}

function gridOf(plot) {
  const right = plot.width - EDGES.right;
  const rows = plot.ticks.flatMap((tick) => [
    drawn("line", { class: "grid", x1: EDGES.left, x2: right, y1: yOf(plot, tick), y2: yOf(plot, tick) }),
    drawn("text", { x: EDGES.left - 7, y: yOf(plot, tick) + 4, "text-anchor": "end" }, plot.log && tick === 1 ? "0, 1" : short(tick)),
  ]);
  const many = plot.numbers.length, room = Math.max(1, Math.floor((right - EDGES.left) / 48));
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 20000].find((n) => many / n <= room) ?? many;
  for (let i = 0; i < many; i += every) {
    rows.push(drawn("text", { x: xOf(plot, i), y: TALL - 5, "text-anchor": "middle" }, `${plot.numbers[i]}`));
  }
  return rows;
}

function frameAt(plot, event) {
  const box = plot.svg.getBoundingClientRect();
  const inner = plot.width - EDGES.left - EDGES.right;
  const x = ((event.clientX - box.left) / box.width) * plot.width - EDGES.left;
  return Math.min(plot.numbers.length - 1, Math.max(0, Math.floor((x / inner) * plot.numbers.length)));
}

function place(line, plot, frame) {
  for (const [name, value] of Object.entries({ x1: xOf(plot, frame), x2: xOf(plot, frame), y1: EDGES.top, y2: TALL - EDGES.bottom })) {
    line.setAttribute(name, value);
  }
}

function hover(plot, frame) {
  plot.hovered = frame;
  plot.pointer.setAttribute("visibility", frame === null ? "hidden" : "visible");
  if (frame !== null) place(plot.pointer, plot, frame);
  writeKey(plot);
  plot.onHover?.(frame ?? plot.current);
}

function showCurrent(plot, frame) {
  plot.current = frame;
  place(plot.cursor, plot, frame);
  writeKey(plot);
}

// Numbers of the frame under the pointer, or else of the one that is shown.
function writeKey(plot) {
  const frame = plot.hovered ?? plot.current;
  const rows = plot.series.map(({ name, colour: variable, values }) => {
    const mark = element("i");
    mark.style.background = `var(${variable})`;
    const value = values[frame];
    const words = value === null || value === undefined ? "none" : (plot.words ?? count)(value);
    return element("li", {}, mark, `${name} `, element("b", { textContent: words }));
  });
  const first = element("li", {}, "frame ", element("b", { textContent: `${plot.numbers[frame] ?? ""}` }));
  plot.key.replaceChildren(first, ...rows);
}
