// The culling funnel: what is left after each stage over frames, and of one frame what went in and came out.

const STAGE_COLOURS = ["--s0", "--s1", "--s2", "--s3", "--s4", "--s5", "--s6"];

function stageColour(i, all) {
  const last = STAGE_COLOURS.length - 1;
  return STAGE_COLOURS[all < 2 ? last : Math.round((i * last) / (all - 1))];
}

function makeFunnel(record, jump) {
  const kinds = Object.entries(record.funnels).filter(([, funnel]) => funnel.stages.length);
  const funnel = { record, jump, kinds, kind: 0, current: 0 };
  byId("queries").replaceChildren(...(kinds.length < 2 ? [] : kinds.map(([name], i) =>
    element("button", { type: "button", textContent: name, onclick: () => chooseFunnel(funnel, i) }))));
  if (kinds.length) chooseFunnel(funnel, 0);
  else byId("funnel").replaceChildren(element("p", { className: "none", textContent: "No stage was counted." }));
  return funnel;
}

function chooseFunnel(funnel, kind) {
  funnel.kind = kind;
  const [name, { stages, out }] = funnel.kinds[kind];
  [...byId("queries").children].forEach((button, i) => button.setAttribute("aria-pressed", `${i === kind}`));
  const series = stages.map((stage, i) => ({ name: stage, colour: stageColour(i, stages.length), values: out[i] }));
  const label = `Pairs left after each stage of ${name}, over frames`;
  funnel.plot = makePlot(byId("funnel"), { series, log: true, label }, funnel.record.numbers, funnel.jump);
  funnel.plot.onHover = (frame) => showBars(funnel, frame);
  showInFunnel(funnel, funnel.current);
}

function showInFunnel(funnel, frame) {
  funnel.current = frame;
  if (!funnel.plot) return;
  showCurrent(funnel.plot, frame);
  showBars(funnel, funnel.plot.hovered ?? frame);
}

function showBars(funnel, frame) {
  const { stages, in: pairsIn, out: pairsOut } = funnel.kinds[funnel.kind][1];
  const largest = pairsIn.flat().reduce((a, b) => Math.max(a, b ?? 0), 10);
  const rows = stages.map((stage, i) => barRow(stage, pairsIn[i][frame], pairsOut[i][frame], largest, stageColour(i, stages.length)));
  const head = ["stage", "in", "", "out"].map((text) => element("th", { textContent: text, scope: "col" }));
  byId("bars").replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

// Bars are as long as logarithms: the light one goes in, the full one comes out.
function barRow(stage, pairsIn, pairsOut, largest, name) {
  const length = (pairs) => `${pairs ? Math.max(1.5, (100 * Math.log(pairs + 1)) / Math.log(largest + 1)) : 0}%`;
  const [light, full] = [element("i"), element("i")];
  for (const [bar, pairs, opacity] of [[light, pairsIn, 0.3], [full, pairsOut, 1]]) {
    Object.assign(bar.style, { width: length(pairs), background: `var(${name})`, opacity });
  }
  return element("tr", {},
    element("td", { textContent: stage }), element("td", { textContent: known(pairsIn) }),
    element("td", { className: "bar" }, element("div", {}, light, full)), element("td", { textContent: known(pairsOut) }));
}
