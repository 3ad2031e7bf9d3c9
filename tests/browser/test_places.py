"""Red that is tiny is pointed at; "go to red" goes around, from outside; space plays; paper has no controls."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant
from pliant.report import write_page
from tests.browser.opened import NARROW, WIDE, Opened


def ball(rows=40):
    """Vertices and faces of a closed sphere of radius 1."""
    angles = np.linspace(0.0, np.pi, rows + 1)[1:-1]
    turns = np.linspace(0.0, 2.0 * np.pi, 2 * rows, endpoint=False)
    ring = [(np.sin(a) * np.cos(t), np.cos(a), np.sin(a) * np.sin(t)) for a, t in itertools.product(angles, turns)]
    x = np.array([*ring, (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)])
    n, faces = len(turns), []
    for i, j in itertools.product(range(len(angles) - 1), range(n)):
        a, b, c, d = i * n + j, i * n + (j + 1) % n, (i + 1) * n + j, (i + 1) * n + (j + 1) % n
        faces += [(a, b, c), (b, d, c)]
    for j in range(n):
        last = (len(angles) - 1) * n
        faces += [(len(ring), (j + 1) % n, j), (len(ring) + 1, last + j, last + (j + 1) % n)]
    return x, np.array(faces)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A large ball with two spikes through it, on the far side and below: two tiny places, hidden at first."""
    x, faces = ball()
    spikes = []
    for way in (np.array([-0.6, 0.2, -0.8]), np.array([0.1, -1.0, 0.0])):
        way = way / np.linalg.norm(way)
        aside = np.cross(way, (0.3, 0.4, 0.5))
        aside *= 0.01 / np.linalg.norm(aside)
        spikes.append(np.array([0.985 * way - aside, 0.985 * way + aside, 1.01 * way]))
    x1 = np.concatenate((x, *spikes))
    faces = np.concatenate((faces, len(x) + np.arange(6).reshape(2, 3)))
    frames = np.stack([x1, x1 + (0.0, 0.0, 0.001)])
    path = tmp_path_factory.mktemp("places") / "page.html"
    write_page(pliant.scan(pliant.Sequence(faces, frames, name="spikes"), find="intersections", threads=1), path)
    return path


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def opened(browser, file, request):
    one = Opened(browser, file, request.param)
    yield one
    one.context.close()
    assert one.faults == []


def test_tiny_red_is_pointed_at_in_the_first_view(opened):
    assert opened.state("places.list.length") == 2
    assert opened.state("rings") == 2
    rings = opened.page.locator("#rings .ring")
    assert rings.count() == 2
    view = opened.page.locator("#canvas").bounding_box()
    for i in range(2):
        box = rings.nth(i).bounding_box()
        assert view["x"] <= box["x"] + box["width"] / 2 <= view["x"] + view["width"]
        assert view["y"] <= box["y"] + box["height"] / 2 <= view["y"] + view["height"]


def test_go_to_red_goes_around_and_looks_from_outside(opened):
    """It always went to the middle of all, seen through the surface from where the eye was."""
    seen = []
    for step in range(3):
        opened.page.locator("#focus").click()
        opened.settle()
        assert opened.page.locator("#focus").inner_text() == f"Red {step % 2 + 1} of 2"
        target, turn, tilt = (opened.page.evaluate(f"window.pliant.camera.{k}") for k in ("target", "turn", "tilt"))
        towards = np.array([np.sin(turn) * np.cos(tilt), np.sin(tilt), np.cos(turn) * np.cos(tilt)])
        place = np.array(opened.state(f"places.list[{step % 2}].middle"))
        np.testing.assert_allclose(target, place, atol=1e-6)
        assert towards @ place / np.linalg.norm(place) > 0.5  # the ball is around the origin
        assert opened.red_pixels() > 300
        seen.append(target)
    assert seen[0] == seen[2] != seen[1]


def test_a_ring_is_clicked(opened):
    opened.page.locator("#rings .ring").nth(1).click()
    opened.settle()
    assert opened.state("places.at") == 1


@pytest.mark.parametrize(
    "place", ["#slider", "#focus", "#worst tbody tr", "#layers input", "#speed", "#canvas", "#play"]
)
def test_space_plays_wherever_the_focus_is(opened, place):
    one = opened.page.locator(place).first
    one.focus()
    opened.page.keyboard.press("Space")
    assert opened.state("playing")
    opened.page.keyboard.press("Space")
    assert not opened.state("playing")
    assert opened.state("places.at") == -1
    assert opened.state("kinds") == [True, True, True]


def test_enter_ticks_a_box(opened):
    opened.page.locator("#layers input").first.focus()
    opened.page.keyboard.press("Enter")
    assert not opened.page.locator("#layers input").first.is_checked()


def test_words_over_the_picture_have_a_ground_of_their_own(opened):
    colour = opened.page.evaluate("getComputedStyle(document.getElementById('legend')).backgroundColor")
    assert colour not in ("rgba(0, 0, 0, 0)", "transparent")


def test_paper_has_no_controls_and_whole_tables(opened):
    opened.page.emulate_media(media="print")
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for hidden in (".viewtools", ".timeline", "#layers", "canvas"):
        assert not opened.page.locator(hidden).first.is_visible(), hidden
    assert opened.page.locator("#still").is_visible()
    assert opened.page.locator("#still").bounding_box()["height"] > 300
    style = "getComputedStyle(document.querySelector('.scroll'))"
    assert opened.page.evaluate(f"[{style}.overflow, {style}.maxHeight]") == ["visible", "none"]
    opened.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    opened.page.emulate_media(media="screen")
    assert opened.page.locator("canvas").is_visible()
    assert not opened.page.locator("#still").is_visible()
