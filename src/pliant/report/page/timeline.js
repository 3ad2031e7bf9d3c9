// Play, pause, step, scrub. Frames of the scan, whether 3D shows them or not.

const PLAY = "M4 2.5v11L13.5 8z";
const PAUSE = "M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z";

// As fast as the times of the sequence say, where they can be seconds.
function rateOf(times) {
  const length = times[times.length - 1] - times[0];
  const rate = (times.length - 1) / length;
  return rate >= 5 && rate <= 120 ? rate : 12;
}

function makeTimeline(record, state, jump) {
  const slider = byId("slider");
  const compares = record.verb === "untangle";
  slider.max = Math.max(0, record.numbers.length - 1);
  if (compares) {
    slider.step = 0.01;
    slider.setAttribute("aria-label", "From before to after");
    for (const [id, word, key] of [["back", "Before", ","], ["forth", "After", "."]]) {
      byId(id).setAttribute("aria-label", word);
      byId(id).title = `${word} (${key})`;
    }
  }
  slider.addEventListener("input", () => jump(Number(slider.value)));
  byId("play").addEventListener("click", () => setPlaying(!state.playing));
  byId("back").addEventListener("click", () => step(-1));
  byId("forth").addEventListener("click", () => step(1));
  byId("speed").addEventListener("change", (event) => (state.speed = Number(event.target.value)));
  const rate = rateOf(record.times);
  let last = 0, due = 0, way = 0;

  function step(by) {
    setPlaying(false);
    jump(Math.min(record.numbers.length - 1, Math.max(0, compares ? (by > 0 ? 1 : 0) : state.frame + by)));
  }

  function setPlaying(playing) {
    if (state.playing === playing) return;
    state.playing = playing;
    byId("playicon").setAttribute("d", playing ? PAUSE : PLAY);
    byId("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    if (playing) [last, due, way] = [performance.now(), 0, state.frame + state.blend];
    if (playing) requestAnimationFrame(tick);
  }

  function tick(now) {
    if (!state.playing) return;
    // The time of a picture can be before that of the click.
    const passed = (Math.min(Math.max(now - last, 0), 250) / 1000) * state.speed;
    last = now;
    if (compares) {
      way = (way + 0.8 * passed) % 2; // there and back again
      jump(1 - Math.abs(1 - way));
      requestAnimationFrame(tick);
      return;
    }
    due += passed * rate;
    const whole = Math.floor(due);
    due -= whole;
    if (whole) jump((state.frame + whole) % Math.max(1, record.numbers.length));
    requestAnimationFrame(tick);
  }

  drawStrip(record);
  return { step, toggle: () => setPlaying(!state.playing) };
}

// How much was found in each frame, above the slider.
function drawStrip({ counts, numbers }) {
  const totals = numbers.map((_, i) => counts.reduce((sum, row) => sum + row[i], 0));
  const largest = totals.reduce((a, b) => Math.max(a, b), 1);
  const strip = byId("strip");
  const last = Math.max(1, numbers.length - 1);
  const width = Math.min(0.8, (14 * last) / Math.max(1, strip.clientWidth));
  strip.setAttribute("viewBox", `0 0 ${last} 1`);
  strip.replaceChildren(...totals.flatMap((total, i) => {
    const height = total ? Math.max(0.08, total / largest) : 0;
    return total ? [drawn("rect", { x: i - width / 2, y: 1 - height, width, height, fill: "var(--accent)", opacity: 0.75 })] : [];
  }));
}
