"""Scans that keep a distance, solid cells that are inverted, and lists of faces for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.report.outputs import schema
from tests.shapes.command_line import APART, CROSSING, FACES, Call, write_obj

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FLIPPED = CORNERS * (1, 1, -1)


@pytest.fixture
def solid(tmp_path: Path) -> Path:
    """Two tetrahedra: the first is inverted in the second frame and back in the fourth."""
    other = CORNERS + 5
    frames = [np.concatenate((first, other)) for first in (CORNERS, FLIPPED, FLIPPED, CORNERS)]
    np.savez(tmp_path / "solid.npz", frames=np.stack(frames), tetra=np.arange(8).reshape(2, 4))
    return tmp_path / "solid.npz"


def test_a_distance_is_kept_between_frames(call: Call, tmp_path: Path):
    nearer = APART - np.array([[0, 0, 0]] * 3 + [[0, 0, 3.5]] * 3)  # half a unit above the other
    np.savez(tmp_path / "near.npz", frames=np.stack((APART, nearer)), faces=FACES)
    assert call("scan", tmp_path / "near.npz").code == 0
    ended = call("scan", tmp_path / "near.npz", "--min-distance", "0.6", "--json")
    assert ended.code == 1
    expected = pliant.ccd(FACES, APART, nearer, min_distance=0.6)
    assert [one["toi"] for one in ended.json["list"]] == expected.toi.tolist()
    assert len(expected) > 0
    found = pliant.scan(pliant.Sequence(FACES, np.stack((APART, nearer))), min_distance=0.6)
    assert found.contact_counts.tolist() == [0, len(expected)]
    frames = call("ccd", tmp_path / "near.npz", "--min-distance", "0.6", "--json")
    assert (frames.code, frames.json["contacts"]) == (1, len(expected))
    assert call("ccd", tmp_path / "near.npz").code == 0
    assert "--each" in call("scan", tmp_path / "near.npz", "--each", "--min-distance", "1").err


def test_cells_that_are_and_that_turn_inside_out(call: Call, solid: Path, tmp_path: Path):
    ended = call("scan", solid, "--json")
    assert ended.code == 1
    assert ended.json["inverted"] == 2
    assert [(one["inverted"], one["turned"]) for one in ended.json["frames"]] == [(0, 0), (1, 1), (1, 0), (0, 0)]
    rows = [one for one in ended.json["list"] if one["kind"] == "inverted-cell"]
    assert [(one["frame"], one["cell"], one["turned"]) for one in rows] == [(1, 0, True), (2, 0, False)]
    out = call("scan", solid, "--report", tmp_path / "page.html").out
    assert "inverted or flat  " in out
    assert "2 cells inverted or flat (1 turned so on the way to a frame)" in out
    assert "Cells inverted or flat" in (tmp_path / "page.html").read_text("utf-8")
    assert "inverted" not in call("scan", solid, "--find", "contacts", "--json").out
    assert call("scan", solid, "--json", "--sarif", tmp_path / "a.sarif", "--junit", tmp_path / "a.xml").code == 1
    assert "cell 0 is inverted or flat" in json.dumps(json.loads((tmp_path / "a.sarif").read_text("utf-8")))


def test_inverted_cells_are_counted_for_each_file(call: Call, solid: Path):
    """Such a file was called clean, and the run ended in 1."""
    np.savez(solid.with_name("flat.npz"), faces=FACES, frames=APART[None])
    ended = call("scan", "--each", solid, solid.with_name("flat.npz"), "--find", "intersections")
    assert ended.code == 1
    head, first, second = (line.split() for line in ended.out.splitlines()[:3])
    assert head == ["contacts", "pairs", "inverted", "frames", "triangles", "sequence"]
    assert first == ["0", "0", "2", "4", "8", solid.as_posix()]
    assert second[:3] == ["clean", "1", "2"]
    assert "2 sequences: 1 clean, 0 contacts, 0 pairs and 2 cells inverted or flat in the others." in ended.out
    found = call("scan", "--each", solid, "--find", "intersections", "--json").json
    assert found["inverted"] == found["sequences"][0]["inverted"] == 2


def test_a_scan_of_solids_in_the_library(solid: Path):
    found = pliant.scan(pliant.Sequence.open(solid))
    assert found.inverted_counts.tolist() == [0, 1, 1, 0]
    assert found.frames[1].turned is not None
    assert found.frames[1].turned.tolist() == [0]
    assert {one.number for one in found.worst()} >= {1, 2}


def test_lists_of_faces(call: Call, tmp_path: Path):
    third = np.array([[9, 9, 9], [10, 9, 9], [9, 10, 9.0]])
    faces = np.concatenate(([[6, 7, 8]], FACES))
    crossing = write_obj(tmp_path / "crossing.obj", np.concatenate((CROSSING, third)), faces)
    assert call("check", crossing, "--faces", tmp_path / "faces.txt").code == 1
    assert (tmp_path / "faces.txt").read_text("utf-8") == "1\n2\n"
    assert call("check", crossing, "--faces", "-", "-q").out == "1\n2\n"
    assert "one by one" in call("check", crossing, crossing.with_name("x.obj"), "--faces", "-").err
    np.savez(tmp_path / "s.npz", frames=np.stack((APART, CROSSING)), faces=FACES)
    assert call("scan", tmp_path / "s.npz", "--faces", tmp_path / "both.txt").code == 1
    assert (tmp_path / "both.txt").read_text("utf-8") == "0\n1\n"


def test_triangles_that_change_make_another_run(call: Call, tmp_path: Path):
    """Frames 5 and 6 have two triangles, 7 to 9 have three, 10 has two again."""
    third = np.array([[9, 9, 9], [10, 9, 9], [9, 10, 9.0]])
    more = np.concatenate((FACES, [[6, 7, 8]]))
    for number in range(5, 11):
        x, faces = (APART, FACES) if number in (5, 6, 10) else (np.concatenate((APART, third)), more)
        x = x if number in (5, 7, 10) else np.concatenate((CROSSING, x[6:]))
        write_obj(tmp_path / f"c.{number}.obj", x, faces)
    (tmp_path / "out").mkdir()
    listed = sorted(tmp_path.glob("c.*.obj"))
    for paths in ([tmp_path / "c.*.obj"], listed):
        found = call("scan", *paths, "--json").json
        rows = [(one["from"], one["to"], one["triangles"]) for one in found["runs"]]
        assert rows == [(5, 6, 2), (7, 9, 3), (10, 10, 2)]
        assert found["triangles"] is None  # there is no one number
        pytest.importorskip("jsonschema").validate(found, json.loads(schema()))
        assert [one["frame"] for one in found["frames"]] == [5, 6, 7, 8, 9, 10]
        assert [one["file"] for one in found["frames"]][-1] == "c.10.obj"
        assert [one["pairs"] for one in found["frames"]] == [0, 1, 0, 1, 1, 0]
        assert ["contacts" in one for one in found["frames"]] == [False, True, False, True, True, False]
        assert found["sequence"] == "c.*.obj"
    out = call("scan", tmp_path / "c.*.obj", "--report", tmp_path / "out" / "page.html").out
    assert "3 runs: the triangles change" in out
    assert "c.*.obj [7 to 9]: 3 frames, 3 triangles" in out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["page-2.html", "page-3.html", "page.html"]
    assert "2 of 3: the triangles change" in (tmp_path / "out" / "page-2.html").read_text("utf-8")
    some = call("scan", tmp_path / "c.*.obj", "--from", "6", "--to", "9", "--every", "3", "--json").json
    assert [one["frame"] for one in some["frames"]] == [6, 9]
    assert call("ccd", tmp_path / "c.*.obj", "--json").json["runs"][1]["from"] == 7
    assert call("scan", tmp_path / "c.*.obj", "--faces", "-").code == 2
