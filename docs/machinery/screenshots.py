"""Draw the PNG pictures of the pages again: the report, the viewer, the characters and the first picture of the README.

    python docs/machinery/screenshots.py [report viewer characters cloth untangle]

It needs the extras of `make setup` and a Chromium on the system, and takes a few minutes. Run it when the report, the
viewer or the rasteriser looks different from before, and look at each picture before it is committed.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.frames.scanning import Scan, ScannedFrame
from pliant.report import picture, write_page
from pliant.report.characters_sheet import characters_sheet
from pliant.report.picture import RED, Shape, View, draw
from pliant.scenes.shapes import icosphere

DOCS = Path(__file__).resolve().parents[1]
WIDE, NARROW = {"width": 1280, "height": 1000}, {"width": 390, "height": 844}
_FLAGS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]  # WebGL without a GPU
_CLOTH = (0.62, 0.69, 0.80)


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*_FLAGS, *as_root])
        yield started
        started.close()


def report() -> None:
    """The page of a scan, wide and narrow."""
    scene = pliant.scenes.load("twisted_cloth", frames=24)
    found = pliant.scan(pliant.Sequence(scene.faces, scene.frames, objects=scene.objects, name="twisted_cloth"))
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        file = Path(folder) / "report.html"
        write_page(found, file, up="z")
        for size, name in ((WIDE, "report.png"), (NARROW, "report-narrow.png")):
            page = chromium.new_page(viewport=size)
            page.goto(file.as_uri())
            while not page.evaluate("window.pliant?.state.ready"):
                page.wait_for_timeout(50)
            page.wait_for_timeout(1500)
            page.screenshot(path=str(DOCS / name))
            page.close()


def untangle() -> None:
    """The page of two balls that were pushed into each other, as they were."""
    ball, x = icosphere(6)
    faces, tangled = np.concatenate((ball, ball + len(x))), np.concatenate((x, x + [1.8, 0.03, 0.02]))
    pliant.untangle(faces, tangled)  # compiles
    clock = time.perf_counter()
    both = np.stack((tangled, pliant.untangle(faces, tangled).positions))
    seconds = time.perf_counter() - clock
    frames = tuple(ScannedFrame(i, float(i), None, pliant.check(faces, at), (0.0, 0.0), i) for i, at in enumerate(both))
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        file = Path(folder) / "untangle.html"
        write_page(Scan(pliant.Sequence(faces, both, name="toys.obj"), frames, seconds), file, verb="untangle")
        page = chromium.new_page(viewport={"width": 1280, "height": 760})
        page.goto(file.as_uri())
        while not page.evaluate("window.pliant?.state.ready"):
            page.wait_for_timeout(50)
        page.wait_for_timeout(1500)
        page.screenshot(path=str(DOCS / "untangle.png"))
        page.close()


def viewer() -> None:
    """The viewer at the worst frame of a skirt with ruffles."""
    shown = pliant.view.serve(pliant.scenes.load("flamenco", triangles=6000), port=0, block=False, up="z")
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(240_000)
        page.goto(shown.url)
        page.get_by_text(re.compile(r"\d+, \d+ of \d+")).wait_for()
        page.wait_for_timeout(20_000)  # it looks for the worst frame first
        page.locator(".mantine-Notification-closeButton").first.click()  # no GPU here
        page.wait_for_timeout(1_000)
        page.screenshot(path=str(DOCS / "viewer.png"))
        page.close()
    shown.stop()


def characters() -> None:
    """Blended, as flesh, and as flesh with response."""
    characters_sheet(DOCS / "characters.png")


def cloth() -> None:
    """A cloth twisted over a ball, with a red point at each contact of one step; what is around it is transparent."""
    scene = pliant.scenes.load("twisted_cloth")
    found = pliant.ccd(scene.faces, scene.x0, scene.x1)
    x = scene.x1[:, [1, 2, 0]]  # the rasteriser has y up
    where = (np.maximum(found.weights, 0.0)[:, :, None] * x[found.vertices]).sum(axis=1)
    view = View(turn=0.5, tilt=0.12).around(x)
    size = 0.007 * np.ptp(x[:, 1])
    shapes = [Shape(x, scene.faces, _CLOTH), _specks(where + 3 * size * view.axes[2], size, view)]
    on_white = draw(shapes, view, (420, 520)).astype(float)
    picture.PAPER = (0.0, 0.0, 0.0)
    on_black = draw(shapes, view, (420, 520)).astype(float)
    alpha = 255.0 - (on_white - on_black).mean(axis=2, keepdims=True)
    colour = 255.0 * on_black / np.maximum(alpha, 1.0)
    rgba = np.concatenate((colour, alpha), axis=2)
    (DOCS / "cloth.png").write_bytes(_png(np.clip(np.rint(rgba), 0, 255).astype(np.uint8)))


def _png(image: np.ndarray) -> bytes:
    """A picture (h, w, 4) uint8 as a PNG file."""
    height, width, _ = image.shape
    rows = np.concatenate((np.zeros((height, 1), np.uint8), image.reshape(height, -1)), axis=1)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    body = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def _specks(centres: np.ndarray, size: float, view: View) -> Shape:
    """A small square that faces the eye at each centre."""
    right, up = size * view.axes[0] / 2, size * view.axes[1] / 2
    x = (centres[:, None] + np.array([-right - up, right - up, right + up, -right + up])).reshape(-1, 3)
    first = 4 * np.arange(len(centres))[:, None]
    faces = np.concatenate((first + [0, 1, 2], first + [0, 2, 3]))
    return Shape(x, faces.astype(np.int32), RED)


PICTURES: dict[str, Callable[[], None]] = {
    "report": report,
    "viewer": viewer,
    "characters": characters,
    "cloth": cloth,
    "untangle": untangle,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]()
