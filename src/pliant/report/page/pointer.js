// Mouse, fingers and keys on the animation. One finger or the left button turns; two fingers, shift or another button
// move; wheel and pinch zoom.

function listenOnCanvas(canvas, camera, changed) {
  const down = new Map();
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, [event.clientX, event.clientY]);
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => down.delete(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    moved(canvas, camera, down, event);
    changed();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(camera, Math.exp(0.0012 * event.deltaY * (event.deltaMode ? 20 : 1)));
    changed();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (!keyed(camera, event)) return;
    event.preventDefault();
    changed();
  });
}

function moved(canvas, camera, down, event) {
  const before = down.get(event.pointerId);
  const now = [event.clientX, event.clientY];
  const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
  const side = Math.min(canvas.clientWidth, canvas.clientHeight);
  const [dx, dy] = [(now[0] - before[0]) / side, (now[1] - before[1]) / side];
  down.set(event.pointerId, now);
  if (other) {
    const apart = (point) => Math.max(10, Math.hypot(point[0] - other[0], point[1] - other[1]));
    zoom(camera, apart(before) / apart(now));
    pan(camera, dx / 2, -dy / 2);
  } else if (event.shiftKey || event.buttons > 1) pan(camera, dx, -dy);
  else orbit(camera, 3.6 * dx, 3.6 * dy);
}

function keyed(camera, event) {
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key in arrows) {
    const [right, up] = arrows[event.key];
    if (event.shiftKey) pan(camera, 0.05 * right, 0.05 * up);
    else orbit(camera, 0.12 * right, -0.12 * up);
  } else if (event.key === "+" || event.key === "=") zoom(camera, 0.87);
  else if (event.key === "-") zoom(camera, 1.15);
  else if (event.key === "Home") resetCamera(camera);
  else return false;
  return true;
}
