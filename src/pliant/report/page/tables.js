// Worst frames, offending parts, what was run.

function table(holder, columns, rows, nothing) {
  if (!rows.length) {
    holder.replaceWith(element("p", { className: "none", id: holder.id, textContent: nothing }));
    return;
  }
  const head = columns.map((text) => element("th", { textContent: text, scope: "col" }));
  holder.replaceChildren(element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

function row(cells) {
  return element("tr", {}, ...cells.map((text) => element("td", { textContent: text })));
}

function fillWorst(record, jump) {
  const [vertexFace, edgeEdge, crossings] = record.counts;
  const rows = record.worst.map((frame) => {
    const counts = [vertexFace, edgeEdge, crossings].map((one) => known(one[frame]));
    const made = row([record.numbers[frame], ...counts, ...(record.files ? [record.files[frame]] : [])]);
    made.dataset.frame = frame;
    clickable(made, `Go to frame ${record.numbers[frame]}`, () => jump(frame));
    return made;
  });
  const columns = ["frame", "vertex-face", "edge-edge", "intersections", ...(record.files ? ["file"] : [])];
  table(byId("worst"), columns, rows, "Nothing was found in any frame.");
}

function partName(record, part) {
  return record.partNames[part] ?? `part ${part}`;
}

function fillParts(record, choose) {
  const rows = record.pairs.map(([a, b, contacts, crossings, frames, worst]) => {
    const name = a === b ? `${partName(record, a)} with itself` : `${partName(record, a)} and ${partName(record, b)}`;
    const made = row(record.verb !== "scan" ? [name, count(crossings)] : [name, count(contacts), count(crossings), count(frames)]);
    made.dataset.parts = `${a} ${b}`;
    clickable(made, `Highlight ${name}`, () => choose([a, b], worst));
    return made;
  });
  const columns = record.verb !== "scan" ? ["parts", "intersections"] : ["parts", "contacts", "intersections", "frames"];
  table(byId("parts"), columns, rows, "No part meets itself or another.");
  if (record.pairCount > rows.length) {
    const more = `The first ${rows.length} of ${counted(record.pairCount, "pair")} of parts.`;
    byId("parts").after(element("p", { className: "none", textContent: more }));
  }
}

function markRows(id, chosen) {
  for (const one of byId(id).querySelectorAll("tbody tr")) {
    one.setAttribute("aria-current", `${chosen(one.dataset)}`);
  }
}

function fillRun(record) {
  byId("run").replaceChildren(...record.run.flatMap(([name, value]) => [
    element("dt", { textContent: name }), element("dd", { textContent: value }),
  ]));
  byId("notes").replaceChildren(...record.notes.map((note) => element("li", { textContent: note })));
}

function fillVerdict({ counts, looked, numbers, seconds, verb }) {
  const sum = (row) => row.reduce((a, b) => a + b, 0);
  const found = [];
  if (looked.contacts) found.push(counted(sum(counts[0]) + sum(counts[1]), "contact"));
  if (looked.intersections) found.push(counted(sum(counts[2]), "intersection"));
  const frames = numbers.filter((_, i) => counts.some((row) => row[i])).length;
  if (verb === "untangle") {
    const [before, after] = counts[2];
    const words = after ? `${counted(after, "intersection")} remain${after === 1 ? "s" : ""}` : "Clean";
    byId("verdict").replaceChildren(element("b", { textContent: words }), `, of ${counted(before, "intersection")} before; untangled in ${seconds.toPrecision(3)} s`);
    return;
  }
  const where = verb === "check" ? `checked in ${seconds.toPrecision(3)} s`
    : ` in ${count(frames)} of ${counted(numbers.length, "frame")}, scanned in ${seconds.toPrecision(3)} s`;
  byId("verdict").replaceChildren(element("b", { textContent: found.join(", ") || "Nothing" }), verb === "check" ? ", " : "", where);
}

// Times that are the numbers of the frames say nothing new.
function isTimed({ times, numbers }) {
  return times.some((time, i) => time !== numbers[i]);
}

function fillNow(record, frame) {
  const [vertexFace, edgeEdge, crossings] = record.counts;
  if (record.verb === "untangle") {
    fillCells([["intersections before", count(crossings[0])], ["after", count(crossings[1])],
      ["colliding faces before", count(record.faces[0])], ["after", count(record.faces[1])]]);
    return;
  }
  const time = record.times[frame], first = record.first[frame];
  const cells = record.verb === "check" ? [] : [["frame", `${record.numbers[frame]}`]];
  if (isTimed(record) && cells.length) cells.push(["time", time === null ? "" : `${+time.toPrecision(6)}`]);
  if (record.looked.contacts) {
    cells.push(["vertex-face", known(vertexFace[frame])], ["edge-edge", known(edgeEdge[frame])]);
    cells.push(["first contact", first === null ? "none" : `t = ${first && first < 1e-3 ? first.toExponential(1) : first.toFixed(4)}`]);
  }
  if (record.looked.intersections) cells.push(["intersections", known(crossings[frame])]);
  const spent = record.milliseconds[0][frame] + record.milliseconds[1][frame];
  cells.push(["colliding faces", count(record.faces[frame])], ["took", `${inMilliseconds(spent)} ms`]);
  fillCells(cells);
}

function fillCells(cells) {
  byId("now").replaceChildren(...cells.map(([name, value]) =>
    element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: value }))));
}
