"""The page of a scan in a real browser: what is moved, clicked and toggled is what is shown, wide and narrow."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.report import write_page
from pliant.report.findings import findings_of, worst_frames
from pliant.report.regions import Regions
from tests.browser.opened import NARROW, WIDE, Opened

NAME = "<img src=x onerror=alert(1)> twisted & 'cloth'"
ALL = 0b111111


@pytest.fixture(scope="module")
def scan():
    scene = pliant.scenes.load("twisted_cloth", 2000, 6)
    return pliant.scan(pliant.Sequence(scene.faces, scene.frames, objects=scene.objects, name=NAME), threads=1)


@pytest.fixture(scope="module")
def file(scan, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(scan, path, up="z", options={"culling": "cones+front"})
    return path


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def opened(browser, file, request):
    one = Opened(browser, file, request.param)
    yield one
    one.context.close()
    assert one.faults == []
    assert [url for url in one.requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in one.requests if url.startswith("file:")]) == 1


def red_faces(scan, frame, layers):
    region = findings_of(scan, Regions(scan.sequence)).regions[frame]
    return int(np.count_nonzero(region.layers & layers))


def test_it_opens_at_the_worst_frame_with_red_in_it(opened, scan):
    worst = worst_frames(scan.contact_counts + scan.intersection_counts, 1)[0]
    assert opened.state("failure") == ""
    assert opened.state("frame") == worst
    assert opened.state("red") == red_faces(scan, worst, ALL) > 50
    assert opened.page.locator("#legend b").inner_text() == f"Frame {worst}"
    assert opened.red_pixels() > 400
    assert opened.page.locator("h1").inner_text() == NAME
    assert f"{scan.contact_counts.sum():,} contacts" in opened.page.locator("#verdict").inner_text()


def test_nothing_is_wider_than_the_window(opened):
    width = opened.page.viewport_size["width"]
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    box = opened.page.locator("#canvas").bounding_box()
    assert box["width"] > 0.6 * width
    assert box["height"] >= 300


def test_the_timeline_moves_the_frame_and_its_numbers(opened, scan):
    opened.page.locator("#slider").fill("3")
    opened.settle()
    assert opened.state("frame") == opened.state("shown") == 3
    opened.page.locator("#slider").press("ArrowRight")
    opened.settle()
    assert opened.state("frame") == 4
    opened.page.get_by_label("One frame back").click()
    opened.settle()
    assert opened.state("frame") == 3
    assert opened.page.locator("#legend b").inner_text() == "Frame 3"
    now = opened.page.locator("#now").inner_text().split("\n")
    numbers = dict(zip(now[::2], now[1::2]))
    assert "time" not in numbers  # that of a frame is its number
    assert numbers["vertex-face"] == f"{len(scan.frames[3].contacts.vf):,}"
    assert numbers["edge-edge"] == f"{len(scan.frames[3].contacts.ee):,}"
    assert numbers["intersections"] == f"{len(scan.frames[3].intersections):,}"


def test_the_first_frame_has_nothing_red(opened, scan):
    assert red_faces(scan, 0, ALL) < red_faces(scan, 1, ALL)
    before = opened.red_pixels()
    opened.page.locator("#slider").fill("0")
    opened.settle()
    assert opened.state("red") == red_faces(scan, 0, ALL)
    assert opened.red_pixels() < before


def test_a_worst_frame_is_clicked(opened, scan):
    second = worst_frames(scan.contact_counts + scan.intersection_counts, 2)[1]
    row = opened.page.locator("#worst tbody tr").nth(1)
    row.click()
    opened.settle()
    assert opened.state("frame") == second
    assert row.get_attribute("aria-current") == "true"
    assert opened.page.locator("#slider").input_value() == str(second)


def test_layers_are_toggled(opened, scan):
    frame, red = opened.state("frame"), opened.red_pixels()
    opened.tick("intersections")
    assert opened.state("red") == red_faces(scan, frame, 0b001111)
    opened.tick("vertex-face")
    opened.tick("between parts")
    only_edges = red_faces(scan, frame, 0b000100)
    assert 0 < opened.state("red") == only_edges < red_faces(scan, frame, ALL)
    opened.tick("edge-edge")
    assert opened.state("red") == 0
    assert opened.red_pixels() == 0
    for name in ("intersections", "vertex-face", "between parts", "edge-edge"):
        opened.tick(name)
    assert opened.red_pixels() == red


def test_a_part_is_highlighted_and_let_go(opened):
    row = opened.page.locator("#parts tbody tr").first
    row.click()
    assert opened.state("chosen[0]") >= 0
    assert row.get_attribute("aria-current") == "true"
    row.press("Enter")
    assert opened.state("chosen") == [-1, -1]
    assert row.get_attribute("aria-current") == "false"


def test_it_plays_and_stops(opened):
    opened.page.locator("#slider").fill("0")
    opened.page.get_by_label("Speed").select_option("4")
    opened.page.get_by_role("button", name="Play", exact=True).click()
    opened.wait_for("window.pliant.state.frame >= 2")
    opened.page.get_by_role("button", name="Pause").click()
    assert not opened.state("playing")
    frame = opened.state("frame")
    opened.page.wait_for_timeout(200)
    assert opened.state("frame") == frame


def test_plots_show_numbers_under_the_pointer_and_jump(opened, scan):
    plot = opened.page.locator("#counts svg")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    x = box["x"] + 46 + (box["width"] - 56) * 2.5 / 6  # the middle of frame 2 of 6, between the edges of the plot
    opened.page.mouse.move(x, box["y"] + 60)
    words = opened.page.locator("#counts .key").inner_text()
    assert f"{len(scan.frames[2].contacts.ee):,}" in words
    opened.page.mouse.click(x, box["y"] + 60)
    assert opened.state("frame") == 2
    stages = {s.name: s for s in scan.frames[2].contacts.stages}
    bars = opened.page.locator("#bars").inner_text()
    first = next(stage for stage in scan.frames[2].contacts.stages if stage.pairs_in)
    assert f"{first.pairs_in:,}" in bars
    assert f"{stages['exact'].pairs_out:,}" in bars
    opened.page.get_by_role("button", name="intersections", exact=True).click()
    assert f"{len(scan.frames[2].intersections):,}" in opened.page.locator("#bars").inner_text()


def test_the_camera_follows_mouse_wheel_and_keys(opened):
    canvas = opened.page.locator("#canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = opened.page.evaluate("({ ...window.pliant.camera, points: 0 })")
    opened.page.mouse.move(*middle)
    opened.page.mouse.down()
    opened.page.mouse.move(middle[0] + 60, middle[1] + 20, steps=4)
    opened.page.mouse.up()
    opened.page.mouse.wheel(0, -200)
    opened.wait_for(f"window.pliant.camera.distance < {before['distance']}")
    after = opened.page.evaluate("({ ...window.pliant.camera, points: 0 })")
    assert after["turn"] < before["turn"]
    assert after["tilt"] > before["tilt"]
    canvas.press("Shift+ArrowRight")
    assert opened.page.evaluate("window.pliant.camera.target") != after["target"]
    canvas.press("Home")
    again = opened.page.evaluate("window.pliant.camera.distance")
    assert again == pytest.approx(before["distance"])


def test_positions_are_unpacked_as_they_were_packed(opened, scan):
    x = np.stack([scan.sequence[i] for i in range(len(scan))])
    lower, upper = x.min(axis=(0, 1)), x.max(axis=(0, 1))
    expected = np.rint((x - lower) / (upper - lower) * 65535).astype(int).ravel()
    data = opened.page.evaluate("Array.from(window.pliant.arrays.positions)")
    assert np.abs(np.array(data) - expected).max() <= 1


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("HTMLCanvasElement.prototype.getContext = () => null;", "no WebGL"),
        ("delete window.DecompressionStream;", "cannot unpack"),
    ],
)
def test_without_3d_a_message_says_so_and_the_rest_is_there(browser, file, scan, script, message):
    one = Opened(browser, file, WIDE, script)
    assert message in one.page.locator("#failure").inner_text()
    one.page.locator("#worst tbody tr").first.click()
    assert one.page.locator("#counts svg path").count() == 3
    one.page.locator("#slider").fill("2")
    assert f"{len(scan.frames[2].contacts.vf):,}" in one.page.locator("#now").inner_text()
    assert one.faults == []
    one.context.close()


def test_frames_have_the_names_and_times_of_the_file(browser, scan, tmp_path):
    known = {"times": np.arange(6) / 24, "numbers": range(10, 22, 2)}
    timed = pliant.scan(pliant.Sequence(scan.sequence.faces, list(scan.sequence), **known), threads=1)
    write_page(timed, tmp_path / "page.html")
    one = Opened(browser, tmp_path / "page.html", WIDE)
    one.page.locator("#slider").fill("3")
    one.settle()
    assert one.page.locator("#legend b").inner_text() == "Frame 16"
    now = one.page.locator("#now").inner_text().split("\n")
    assert dict(zip(now[::2], now[1::2]))["time"] == "0.125"
    assert one.faults == []
    one.context.close()


@pytest.mark.parametrize("frames", [0, 1])
def test_a_page_about_next_to_nothing_opens(browser, tmp_path, frames):
    x = np.tile(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), (frames, 1, 1)).reshape(frames, 3, 3)
    write_page(pliant.scan(pliant.Sequence([[0, 1, 2]], x), threads=1), tmp_path / "page.html")
    one = Opened(browser, tmp_path / "page.html", NARROW)
    assert one.state("failure") == ""
    assert "Nothing was found" in one.page.locator("#worst").inner_text()
    assert one.faults == []
    one.context.close()


def test_numbers_at_cells_are_colours(browser, tmp_path):
    """Two cubes side by side, one of them under stress in the second frame: none of it is red, parts are grey."""
    cube = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], float)
    x = np.stack([np.concatenate([cube, cube + (2.0, 0.0, 0.0)])] * 2)
    cells = {"hexahedron": np.arange(16).reshape(2, 8)}
    data = {"stress": np.array([[0.0, 0.0], [0.0, 2000.0]]), "damage": np.array([[0.0, 1.0], [0.0, 0.5]])}
    sequence = pliant.Sequence(None, x, cells=cells, cell_data=data, name="cubes")
    write_page(pliant.scan(sequence, threads=1), tmp_path / "page.html", up="z")
    opened = Opened(browser, tmp_path / "page.html", WIDE)
    try:
        tints = "Array.from(window.pliant.arrays.tints)"
        first, last = [0] * 24, [0] * 12 + [255] * 12
        half = [0] * 12 + [128] * 12
        assert opened.page.evaluate(tints) == first + last + last + half
        assert opened.state("tint") == 0
        assert "stress 0" in opened.page.locator("#legend").inner_text()
        assert "2k" in opened.page.locator("#legend").inner_text()
        opened.page.evaluate("document.getElementById('slider').value = 1")
        opened.page.locator("#slider").dispatch_event("input")
        opened.settle()
        stressed = opened.page.locator("#canvas").screenshot()
        opened.page.locator("#tint").select_option("-1")
        opened.settle()
        assert "stress" not in opened.page.locator("#legend").inner_text()
        assert opened.page.locator("#canvas").screenshot() != stressed
        assert opened.red_pixels() == 0
        assert opened.faults == []
    finally:
        opened.context.close()
