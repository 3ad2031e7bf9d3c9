// On paper: the picture as it is now, plots as wide as the sheet, no controls.

function listenToPrinting() {
  window.addEventListener("beforeprint", () => {
    document.body.classList.add("printing");
    layOutPlots();
    const { renderer } = shownParts;
    if (!renderer || !record.numbers.length || state.failure) return;
    // What WebGL has drawn is gone when the next picture comes: it is taken in the same breath.
    draw(renderer, camera, { ...state, layers: layersOf(state) });
    drawRings(byId("rings"), camera, placesNow(), goToRed);
    byId("still").src = renderer.canvas.toDataURL("image/png");
  });
  window.addEventListener("afterprint", () => {
    document.body.classList.remove("printing");
    byId("still").removeAttribute("src");
    layOutPlots();
    redraw();
  });
}
