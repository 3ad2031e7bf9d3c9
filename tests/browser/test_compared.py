"""The page of what was untangled, in a real browser: a slider from before to after, and what is red on the way."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.frames.scanning import Scan, ScannedFrame
from pliant.report import write_page
from pliant.scenes.shapes import icosphere
from tests.browser.opened import NARROW, WIDE, Opened

FACES, BALL = icosphere(4)
TWO = np.concatenate((FACES, FACES + len(BALL)))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    x = np.array([np.concatenate((BALL, BALL + (gap, 0.1, 0.0))) for gap in (1.7, 2.2)])
    found = [pliant.check(TWO, one) for one in x]
    frames = tuple(ScannedFrame(i, float(i), None, hits, (0.0, 0.0), i) for i, hits in enumerate(found))
    assert len(found[0]) > 10 > len(found[1]) == 0
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(Scan(pliant.Sequence(TWO, x, name="two"), frames, 0.5), path, verb="untangle", options={"moved": "some"})
    return path


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def opened(browser, file, request):
    one = Opened(browser, file, request.param)
    yield one
    one.context.close()
    assert one.faults == []


def slide(opened, value):
    opened.page.locator("#slider").fill(str(value))
    opened.settle()


def test_it_opens_with_what_was_before(opened):
    assert opened.page.locator("#legend b").inner_text() == "Before"
    assert opened.state("red") > 10
    assert opened.red_pixels() > 100
    assert opened.page.locator("#verdict").inner_text().startswith("Clean, of ")
    assert opened.page.locator("#worst").is_visible() is False
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= opened.page.viewport_size["width"]


def test_the_slider_goes_all_the_way(opened):
    slide(opened, 0.5)
    assert opened.page.locator("#legend b").inner_text() == "50 % of the way"
    assert opened.page.locator("#slider").get_attribute("aria-valuetext") == "50 % of the way"
    assert opened.state("red") > 10  # until the end, what has to be moved
    slide(opened, 1)
    assert opened.page.locator("#legend b").inner_text() == "After"
    assert opened.state("red") == 0
    assert opened.red_pixels() == 0


def test_buttons_and_keys_go_to_the_ends_and_playing_goes_back_and_forth(opened):
    opened.page.get_by_label("After", exact=True).click()
    assert opened.state("frame") == 1
    opened.page.get_by_label("Before", exact=True).click()
    assert opened.state("frame") + opened.state("blend") == 0
    opened.page.keyboard.press(".")
    assert opened.state("frame") == 1
    opened.page.keyboard.press(" ")
    opened.wait_for("window.pliant.state.blend > 0")
    opened.page.keyboard.press(" ")
    assert 0 <= opened.state("frame") + opened.state("blend") <= 1
