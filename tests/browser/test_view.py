"""The viewer in a real browser: move the timeline, toggle a layer, pick a contact, look at what is shown."""

from __future__ import annotations

import re
import time

import pytest

import pliant

PATIENCE = 120_000  # milliseconds: software rendering on a busy machine

pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")


@pytest.fixture(scope="module")
def viewer():
    viewer = pliant.view.serve(pliant.scenes.load("bishop", triangles=1500, frames=4), port=0, block=False, up="z")
    yield viewer
    viewer.stop()


# No larger than it takes to be wide: pixels are drawn by the processor, all the time that a page is open.
WIDE, NARROW, DARK = ((800, 500), "light"), ((390, 844), "light"), ((800, 500), "dark")


@pytest.fixture(scope="module", params=[WIDE, NARROW], ids=["wide", "narrow"])
def page(browser, viewer, request):
    """One after the other, each for all tests that look at it."""
    (width, height), scheme = request.param
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(viewer.url)
    page.get_by_text(re.compile(", [1-4] of 4")).wait_for()
    yield page
    page.close()
    assert errors == []


def wait_until(page, truth):
    """A picture of which something holds: what is drawn first may have nothing in it yet."""
    end = time.monotonic() + PATIENCE / 1000
    while not truth():
        assert time.monotonic() < end
        page.wait_for_timeout(100)


def checkbox(page, label):
    """Labels of viser are beside their controls, not of them."""
    return page.get_by_text(label, exact=True).locator("xpath=following::input[@type='checkbox'][1]")


def test_timeline_layers_and_contacts(page, viewer):
    scene = pliant.scenes.load("bishop", triangles=1500, frames=4)
    contacts = pliant.ccd(scene.faces, scene.frames[1], scene.frames[2])
    assert len(contacts.vf) > 0
    timeline = page.get_by_role("slider").first
    timeline.focus()
    timeline.press("Home")
    page.get_by_text("0, 1 of 4").wait_for()
    timeline.press("ArrowRight")
    timeline.press("ArrowRight")
    page.get_by_text("2, 3 of 4").wait_for()
    page.get_by_text(f"{len(contacts.vf):,} vertex-face, {len(contacts.ee):,} edge-edge").wait_for()
    crossings = len(pliant.dcd(scene.faces, scene.frames[2]))
    page.get_by_text(f"{len(contacts):,} contacts, {crossings:,} intersections").wait_for()

    checkbox(page, "edge-edge").uncheck()
    page.get_by_text(f"{len(contacts.vf):,} contacts, {crossings:,} intersections").wait_for()
    assert len(viewer.now[2].contacts) == len(contacts.vf)
    checkbox(page, "edge-edge").check()
    page.get_by_text(f"{len(contacts):,} contacts, {crossings:,} intersections").wait_for()

    picker = page.get_by_role("slider").last
    picker.focus()
    picker.press("ArrowRight")
    page.get_by_text(f"{contacts.toi.min():.15g}", exact=True).first.wait_for()
    picker.press("ArrowLeft")
    timeline.focus()
    timeline.press("ArrowLeft")
    timeline.press("ArrowLeft")
    page.get_by_text("0, 1 of 4").wait_for()


def test_something_is_drawn(page):
    """The surface is grey on white, and covers a part of the window."""
    from tests.browser.pixels import coloured

    canvas = page.locator("canvas").first
    wait_until(page, lambda: 0.01 < coloured(canvas.screenshot(timeout=PATIENCE)) < 0.9)


@pytest.mark.parametrize("page", [NARROW], indirect=True, ids=["narrow"])
def test_a_narrow_window_shows_more_scene_than_controls(page):
    page.get_by_text("within a part").wait_for(state="attached")
    page.get_by_text("between parts").wait_for(state="attached")
    top = page.get_by_text("pliant: bishop").bounding_box()["y"]
    assert top > 0.5 * 844
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(("page", "dark"), [(WIDE, False), (DARK, True)], indirect=["page"], ids=["light", "dark"])
def test_it_follows_the_colour_scheme(page, dark):
    from tests.browser.pixels import pixels

    clip = {"x": 4, "y": 490, "width": 4, "height": 4}
    wait_until(page, lambda: (pixels(page.screenshot(timeout=PATIENCE, clip=clip))[:, :, :3].mean() < 80) == dark)
