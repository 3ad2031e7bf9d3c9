"""Pictures of a scan: red where it collides, one tile a frame, lines where numbers are."""

from __future__ import annotations

import zlib
from itertools import chain

import numpy as np
import pytest

import pliant
from pliant.report import write_contact_sheet, write_plots
from pliant.report.picture import RED, Shape, View, draw
from pliant.report.plots import Line, Plot, draw_plot
from pliant.report.sheet import GAP, LINE, heading_height


def decoded(data):
    """(h, w, 3) of a PNG of ours; tests/report/test_picture.py holds that it is one."""
    width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
    body = zlib.decompress(data[41 : 41 + int.from_bytes(data[33:37], "big")])
    rows = np.frombuffer(body, np.uint8).reshape(height, 1 + 3 * width)[:, 1:].reshape(height, width, 3)
    return rows.astype(int)  # differences by Paeth's filter: zero where nothing changes


def test_marked_faces_are_red_and_others_are_not():
    x = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    image = draw([Shape(x, faces, marked_faces=np.array([True, False]))], View(span=(4.0, 4.0)), (40, 40))
    red, plain = image[27, 26].astype(int), image[13, 14].astype(int)
    np.testing.assert_allclose(red / red[0], np.array(RED) / RED[0], atol=0.02)
    assert plain.min() > 100


def test_every_vertex_can_have_its_colour():
    x = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    colours = np.array([(0.1, 0.9, 0.1)] * 4)
    image = draw([Shape(x, np.array([[0, 1, 2], [0, 2, 3]]), colours)], View(span=(4.0, 4.0)), (20, 20))
    assert image[10, 10, 1] > 4 * image[10, 10, 0]


@pytest.mark.parametrize(("frames", "rows"), [(2, 1), (6, 2)])
def test_a_sheet_has_the_worst_frames(tmp_path, frames, rows):
    scene = pliant.scenes.load("crumpled_sheet", 200, 8)
    found = pliant.scan(pliant.Sequence(scene.faces, scene.frames), threads=1)
    assert np.count_nonzero(found.contact_counts) >= 6
    write_contact_sheet(found, tmp_path / "sheet.png", up="z", frames=frames)
    height, width, _ = decoded((tmp_path / "sheet.png").read_bytes()).shape
    assert width == min(frames, 4) * (340 + GAP)
    assert height == rows * (320 + 2 * LINE + GAP) + heading_height("name\nwords")


def test_frames_of_a_sheet_differ(tmp_path, monkeypatch):
    """The eight worst frames of a kick were eight in a row, and looked the same."""
    scene = pliant.scenes.load("crumpled_sheet", 200, 8)
    moving = np.concatenate((np.repeat(scene.frames[:4], 2, axis=0), scene.frames[4:]))
    found = pliant.scan(pliant.Sequence(scene.faces, moving), threads=1)
    tiles = []
    monkeypatch.setattr("pliant.report.scan_sheet.contact_sheet", lambda path, rows, *_: tiles.extend(chain(*rows)))
    write_contact_sheet(found, tmp_path / "sheet.png", frames=12)
    shapes = [tile.shapes[0].x for tile in tiles]
    assert len(shapes) >= 4
    for i, x in enumerate(shapes):
        assert all(np.abs(x - y).max() > 1e-3 for y in shapes[:i])


def test_one_frame_is_shown_with_its_places(tmp_path, monkeypatch):
    """Three red triangles of a large mesh were not seen at all."""
    n = 150
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    x = np.stack((i, 0.0 * i, j), axis=2).reshape(-1, 3).astype(float)
    a = (i[:-1, :-1] * n + j[:-1, :-1]).ravel()
    faces = np.concatenate((np.stack((a, a + 1, a + n), 1), np.stack((a + 1, a + n + 1, a + n), 1)))
    spike = np.array([(30.2, -0.2, 30.2), (30.3, -0.2, 30.2), (30.25, 0.2, 30.25)])
    faces = np.concatenate((faces, [[n * n, n * n + 1, n * n + 2]]))
    found = pliant.scan(pliant.Sequence(faces, np.concatenate((x, spike))[None]), find="intersections", threads=1)
    made = []
    monkeypatch.setattr("pliant.report.scan_sheet.contact_sheet", lambda *arguments: made.append(arguments))
    write_contact_sheet(found, tmp_path / "sheet.png")
    ((_, (overview, closer), _, title),) = made
    assert "1 intersection" in title
    (ring,) = overview[0].rings
    assert np.abs(ring - spike.mean(axis=0)).max() < 1.5
    assert len(closer) == 1
    np.testing.assert_allclose(closer[0].view.centre, ring)
    assert closer[0].view.span[0] < 10.0


def test_plots_have_a_part_for_each_question(tmp_path):
    scene = pliant.scenes.load("crumpled_sheet", 200, 4)
    sequence = pliant.Sequence(scene.faces, scene.frames)
    for find, plots in (("both", 3), ("contacts", 2)):
        write_plots(pliant.scan(sequence, find=find, threads=1), tmp_path / "plots.png")
        assert decoded((tmp_path / "plots.png").read_bytes()).shape[0] == 340 * plots


def test_lines_are_where_numbers_are():
    blue = (0.0, 0.0, 1.0)
    image = draw_plot(Plot("", [Line("", blue, np.array([0.0, 100.0, 100.0, np.nan, 0.0]))], range(5))).astype(int)
    inked = (image[56:, 90:, 2] - image[56:, 90:, 0]) > 150
    rows, columns = np.nonzero(inked)
    assert columns.min() == pytest.approx(108, abs=3)  # the middle of the first of five, of 1080 pixels
    top = columns[rows < 11]
    assert (top.min(), top.max()) == (pytest.approx(324, abs=12), pytest.approx(540, abs=3))
    assert not inked[:200, 545:].any()  # a gap, then one dot at the bottom
