// Elements of the page. All text goes in as text, never as html: names come from files.

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "scope") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function count(number) {
  return number.toLocaleString("en-US");
}

function inMilliseconds(number) {
  return number < 100 ? number.toPrecision(2) : count(Math.round(number));
}

// What was not searched for is not known.
function known(number) {
  return number === null ? "-" : count(number);
}

function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// 1234567 as 1.2M, for the axes of plots.
function short(number) {
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (number >= size) return `${+(number / size).toPrecision(3)}${letter}`;
  }
  return `${+number.toPrecision(3)}`;
}

// A row of a table that is as good as a button.
function clickable(row, label, action) {
  row.tabIndex = 0;
  row.setAttribute("aria-label", label);
  row.addEventListener("click", action);
  row.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    action();
  });
}
