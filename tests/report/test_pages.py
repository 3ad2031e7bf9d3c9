"""The page holds what the scan found, in a stream that can be unpacked; names in it are text; nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib

import numpy as np
import pytest

import pliant
from pliant.report import write_contact_sheet, write_page, write_plots
from pliant.report.findings import findings_of
from pliant.report.regions import Regions
from pliant.report.shown import choose_frames, choose_shown, describe
from pliant.report.streams import STEPS, differences
from pliant.runtime.arrays import OptionError

HOSTILE = "</title></script><script>alert('<b>')</script><img src=x onerror=alert(1)>&amp;"


@pytest.fixture(scope="module")
def scan():
    scene = pliant.scenes.load("twisted_cloth", 900, 5)
    sequence = pliant.Sequence(scene.faces, scene.frames, objects=scene.objects, name=HOSTILE)
    return pliant.scan(sequence, threads=1)


def block(page, name):
    return re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', page, re.S)[1]


def unpacked(page):
    """The record, and the arrays of the stream by name."""
    record, at, arrays = json.loads(block(page, "record")), 0, {}
    data = zlib.decompress(base64.b64decode(block(page, "data")))
    for name, kind, length in record["arrays"]:
        arrays[name] = np.frombuffer(data, {"u4": "<u4", "u1": "u1"}[kind], length, at)
        at += -(-arrays[name].nbytes // 4) * 4
    assert at == len(data)
    return record, arrays


def positions_of(folded, frames, vertices):
    """(frames, 3, vertices), by plain loops: what the page does."""
    out = np.zeros((frames, 3, vertices), int)
    planes = folded.reshape(frames, 2, 3, vertices).astype(int)
    for s in range(frames):
        for k in range(3):
            last = 0
            for v in range(vertices):
                word = planes[s, 0, k, v] + 256 * planes[s, 1, k, v]
                change = word // 2 if word % 2 == 0 else -(word + 1) // 2
                out[s, k, v] = ((out[s - 1, k, v] if s else last) + change) % 65536
                last = out[s, k, v]
    return out


@pytest.mark.unit
def test_differences_are_undone():
    positions = np.random.default_rng(3).integers(0, 65536, (4, 3, 7)).astype(np.uint16)
    positions[1] = positions[0] + np.uint16(1)
    np.testing.assert_array_equal(positions_of(differences(positions), 4, 7), positions)


def test_the_stream_holds_positions_and_regions(scan, tmp_path):
    write_page(scan, tmp_path / "page.html", up="z")
    record, arrays = unpacked((tmp_path / "page.html").read_text("utf-8"))
    assert arrays["shown"].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(arrays["faces"].reshape(-1, 3), scan.sequence.faces)
    lower, upper = np.array(record["lower"]), np.array(record["upper"])
    rounded = positions_of(arrays["positions"], 5, record["vertexCount"])
    for frame, x in enumerate(scan.sequence):
        back = lower + (upper - lower) * rounded[frame].T / STEPS
        assert np.abs(back - x).max() <= 0.501 * (upper - lower).max() / STEPS
    findings = findings_of(scan, Regions(scan.sequence))
    for frame, region in enumerate(findings.regions):
        rows = slice(*arrays["red_start"][frame : frame + 2].tolist())
        np.testing.assert_array_equal(arrays["red_faces"][rows], region.faces)
        np.testing.assert_array_equal(arrays["red_layers"][rows], region.layers)


def test_the_record_holds_the_counts(scan, tmp_path):
    write_page(scan, tmp_path / "page.html", options={"culling": "cones+front", "threads": 1})
    record, _ = unpacked((tmp_path / "page.html").read_text("utf-8"))
    assert record["counts"][0][0] is None  # no way leads to the first frame
    assert [sum(row) for row in zip(*(row[1:] for row in record["counts"][:2]))] == scan.contact_counts[1:].tolist()
    assert record["counts"][2] == scan.intersection_counts.tolist()
    assert record["funnels"]["contacts"]["out"][-1][1:] == scan.contact_counts[1:].tolist()
    assert ["Culling", "cones+front"] in record["run"]
    assert ["Threads", "1"] in record["run"]
    assert any("16 bits" in note for note in record["notes"])
    assert not any("3D shows" in note for note in record["notes"])


def test_names_from_files_are_text(scan, tmp_path):
    write_page(scan, tmp_path / "page.html", options={HOSTILE: HOSTILE})
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<script") == 3
    assert page.count("<img") == 1  # its own, for paper
    assert f"<h1>{html.escape(HOSTILE)}</h1>" in page
    assert unpacked(page)[0]["title"] == HOSTILE


def test_only_our_script_and_style_may_run_and_nothing_is_loaded(scan, tmp_path):
    write_page(scan, tmp_path / "page.html", title="plain")
    page = (tmp_path / "page.html").read_text("utf-8")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])
    assert policy.startswith("default-src 'none'")
    for tag in ("script", "style"):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert set(re.findall(r"https?://[^\s\"'`]+", page)) == {"http://www.w3.org/2000/svg"}


def test_an_axis_that_is_none_is_named(scan, tmp_path):
    for write in (write_page, write_contact_sheet):
        with pytest.raises(OptionError, match="up"):
            write(scan, tmp_path / "out", up="w")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("find", ["contacts", "intersections"])
def test_what_was_not_looked_for_is_not_claimed(find, tmp_path):
    scene = pliant.scenes.load("flat_sheets", 20, 2)
    found = pliant.scan(pliant.Sequence(scene.faces, scene.frames), find=find, threads=1)
    write_page(found, tmp_path / "page.html")
    write_plots(found, tmp_path / "plots.png")
    record, _ = unpacked((tmp_path / "page.html").read_text("utf-8"))
    assert record["looked"] == {"contacts": find == "contacts", "intersections": find == "intersections"}
    assert (record["counts"][2] == [None, None]) == (find == "contacts")


@pytest.mark.parametrize("frames", [0, 1])
@pytest.mark.parametrize("faces", [0, 1])
def test_next_to_nothing_is_a_page_too(frames, faces, tmp_path):
    x = np.zeros((frames, 3, 3))
    x[:, 1:] = [[1.0, 0, 0], [0, 1, 0]]
    corners = np.arange(3 * faces).reshape(-1, 3)
    found = pliant.scan(pliant.Sequence(corners, x, times=np.full(frames, np.nan)), threads=1)
    write_page(found, tmp_path / "page.html")
    write_contact_sheet(found, tmp_path / "sheet.png")
    write_plots(found, tmp_path / "plots.png")
    record, arrays = unpacked((tmp_path / "page.html").read_text("utf-8"))
    assert len(arrays["faces"]) == 3 * faces
    assert record["worst"] == record["pairs"] == []
    assert record["times"] == [None] * frames


def test_extreme_coordinates_are_rounded_in_their_box(tmp_path):
    x = np.array([[[-1e308, 0, 0], [1e308, 0, 0], [0, 1e308, 0]], [[-1e308, 0, 1e-300], [1e308, 0, 0], [0, 1e308, 0]]])
    found = pliant.Sequence([[0, 1, 2]], x)
    frame = pliant.ScannedFrame(0, 0.0, None, None, (0.0, 0.0))
    scan = pliant.Scan(found, (frame, frame._replace(number=1, place=1)), 0.0)
    write_page(scan, tmp_path / "page.html")
    _, arrays = unpacked((tmp_path / "page.html").read_text("utf-8"))
    back = positions_of(arrays["positions"], 2, 3)
    assert back[0, 0].tolist() == [0, 65535, 32768]
    assert back[:, 2, 0].tolist() == [0, 65535]


def test_vertices_that_no_face_has_change_nothing(tmp_path):
    scene = pliant.scenes.load("twisted_cloth", 900, 2)
    more = np.concatenate((scene.frames, np.full((2, 5, 3), 1e6)), axis=1)
    sequence = pliant.Sequence(scene.faces, more)
    found = pliant.scan(sequence, threads=1)
    write_page(found, tmp_path / "page.html", triangles=700)
    write_contact_sheet(found, tmp_path / "sheet.png")
    record, arrays = unpacked((tmp_path / "page.html").read_text("utf-8"))
    assert max(record["upper"]) < 1e3
    assert record["sizes"]["vertices"] == len(scene.objects)
    assert 0 < len(arrays["faces"]) < 3 * 900
    assert any("triangles instead of" in note for note in record["notes"])


@pytest.mark.unit
def test_frames_are_thinned_out_with_the_worst_kept():
    totals = np.zeros(1000, int)
    totals[[17, 518, 777]] = 5, 9, 3
    chosen = choose_frames(totals, 50)
    assert 40 <= len(chosen) <= 50
    assert {0, 17, 518, 777, 999} <= set(chosen.tolist())
    assert (np.diff(chosen) > 0).all()
    assert np.diff(chosen).max() <= 30
    np.testing.assert_array_equal(choose_frames(totals, 1000), np.arange(1000))


def test_triangles_are_thinned_out_with_colliding_ones_kept():
    scene = pliant.scenes.load("twisted_cloth", 6000, 2)
    sequence = pliant.Sequence(scene.faces, scene.frames, objects=scene.objects)
    found = pliant.scan(sequence, threads=1)
    regions = Regions(sequence)
    findings = findings_of(found, regions)
    colliding = findings.regions[1].faces
    assert 200 < len(colliding) < 2500
    shown = choose_shown(sequence, regions, findings, 3500)
    assert len(shown.faces) < 3600
    for face in colliding:
        assert shown.vertices[shown.faces[shown.kept[face]]].tolist() == scene.faces[face].tolist()
    corners = scene.objects[shown.vertices[shown.faces]]
    assert (corners == corners[:, :1]).all()
    assert set(np.unique(corners)) == {0, 1}
    (note,) = describe(shown, 2, len(scene.faces))
    assert f"{len(shown.faces):,} triangles instead of {len(scene.faces):,}" in note


def test_a_page_says_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.report.pages.MOST_NUMBERS", 3000)
    scene = pliant.scenes.load("crumpled_sheet", 100, 20)
    found = pliant.scan(pliant.Sequence(scene.faces, scene.frames), threads=1)
    write_page(found, tmp_path / "page.html")
    record, arrays = unpacked((tmp_path / "page.html").read_text("utf-8"))
    assert 8 <= len(arrays["shown"]) < 20
    assert any(f"3D shows {len(arrays['shown'])} of 20 frames" in note for note in record["notes"])
    assert len(record["times"]) == 20
    assert set(record["worst"][:4]) <= set(arrays["shown"].tolist())


def test_a_failed_page_leaves_nothing_behind(scan, tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.report.pages.SCRIPTS", ("missing.js",))
    with pytest.raises(FileNotFoundError):
        write_page(scan, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
