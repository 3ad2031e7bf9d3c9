"""A page in a browser, and how tests look at it."""

from __future__ import annotations

import base64
import time

WIDE, NARROW = (1280, 800), (390, 844)
# How many pixels of a picture are red: of the animation, which has no other red in it.
COUNT_RED = """async (data) => {
  const image = new Image();
  image.src = "data:image/png;base64," + data;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
  let count = 0;
  for (let i = 0; i < bytes.length; i += 4) {
    const [red, green, blue] = bytes.subarray(i, i + 3);
    count += red > 110 && red > 1.7 * green && red > 1.7 * blue;
  }
  return count;
}"""


class Opened:
    """A page, and everything that it complained about or asked a network for."""

    def __init__(self, browser, file, size, script=None):
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, offline=True)
        self.page, self.faults, self.requests = self.context.new_page(), [], []
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.faults.append(str(e)))
        self.page.on("dialog", lambda d: (self.faults.append(d.message), d.dismiss()))
        self.page.on("request", lambda r: self.requests.append(r.url))
        if script:
            self.page.add_init_script(script)
        self.page.goto(file.as_uri())
        self.wait_for("window.pliant?.state.ready")
        self.settle()

    def wait_for(self, truth):
        """Asked from here: a script that waits in the page is one that its policy does not allow."""
        end = time.monotonic() + 60.0
        while not self.page.evaluate(truth):
            assert time.monotonic() < end, f"never: {truth}"
            self.page.wait_for_timeout(20)

    def settle(self):
        """Two pictures later all that was asked for is drawn."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def state(self, name):
        return self.page.evaluate(f"window.pliant.state.{name}")

    def red_pixels(self):
        self.settle()
        self.page.locator("#canvas").scroll_into_view_if_needed()
        shot = base64.b64encode(self.page.locator("#canvas").screenshot()).decode()
        other = self.context.new_page()
        count = other.evaluate(COUNT_RED, shot)
        other.close()
        return count

    def tick(self, name):
        """A layer on or off, as a reader does it."""
        self.page.get_by_label(name, exact=True).click()
        self.settle()
