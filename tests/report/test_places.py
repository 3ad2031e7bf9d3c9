"""Where, which, when: points of contact, names of parts, and the numbers and names of the files that frames are in."""

from __future__ import annotations

import csv
import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.mesh.parts import membership_of
from tests.shapes.command_line import Call, obj

# A triangle that falls through another one: its lowest corner meets the other at (0.25, 0.25, 0), half way.
FACES = np.array([[0, 1, 2], [3, 4, 5]])
START = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 1], [0.5, 0.25, 3], [0.25, 0.5, 3.0]])
END = START - np.array([[0, 0, 0]] * 3 + [[0, 0, 2.0]] * 3)
NAMES = ["table", "cup"]


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    """c.1001.obj to c.1004.obj, of which the third is in contact on its way."""
    for i, s in enumerate((0.0, 0.0, 1.0, 1.0)):
        text = (
            obj((1 - s) * START + s * END).replace("f 1 2 3", "o table\nf 1 2 3").replace("f 4 5 6", "o cup\nf 4 5 6")
        )
        (tmp_path / f"c.{1001 + i}.obj").write_text(text, "utf-8")
    return tmp_path


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_points_are_where_the_two_features_are():
    random = np.random.default_rng(4)
    x0, x1 = random.random((60, 3)), random.random((60, 3))
    found = pliant.ccd(np.arange(60).reshape(-1, 3), x0, x1)
    assert len(found) > 50
    assert 0 < found.kind.sum() < len(found)
    points = found.points(x0, x1)
    t = found.toi[:, None, None]
    moving = (1 - t) * x0[found.vertices] + t * x1[found.vertices]
    for row, (kind, weights) in enumerate(zip(found.kind, found.weights)):
        split = 1 + int(kind)
        np.testing.assert_allclose(weights[:split] @ moving[row, :split], points[row], atol=1e-9)
        np.testing.assert_allclose(-weights[split:] @ moving[row, split:], points[row], atol=1e-9)
    assert np.isfinite(found.points(x0 * 1e308, x1 * 1e308)).all()


def test_a_motion(call: Call, frames: Path):
    motion = "ccd", frames / "c.1002.obj", frames / "c.1003.obj"
    assert "(0.25, 0.25, 0)" in call(*motion).out
    assert "cup with table" in call(*motion).out
    first = min(call(*motion, "--json").json["list"], key=lambda one: one["toi"])
    np.testing.assert_allclose(first["point"], [0.25, 0.25, 0], atol=1e-9)
    assert first["parts"] == ["cup", "table"]
    row = min(rows_of(call(*motion, "--csv", "-").out), key=lambda one: float(one["toi"]))
    assert (float(row["point_x"]), float(row["point_y"])) == (0.25, 0.25)
    assert (row["part_0"], row["part_1"]) == ("cup", "table")
    step = call("step", *motion[1:])
    assert "where vertex 3 and face 0 meet at (0.25, 0.25, 0) (cup with table)" in step.out
    assert call("step", *motion[1:], "--json").json["list"][0]["parts"] == ["cup", "table"]
    near = call("near", frames / "c.1001.obj", "--within", "1.1")
    assert "cup with table" in near.out


@pytest.mark.parametrize("verb", ["scan", "ccd"])
def test_frames_have_the_numbers_and_names_of_their_files(call: Call, frames: Path, verb: str):
    found = call(verb, frames / "c.*.obj", "--json").json
    assert [one["frame"] for one in found["frames"]] == [1001, 1002, 1003, 1004]
    assert [one["file"] for one in found["frames"]] == [f"c.{number}.obj" for number in range(1001, 1005)]
    assert {(one["frame"], one["file"]) for one in found["list"] if "toi" in one} == {(1003, "c.1003.obj")}
    assert all(np.isfinite(one["point"]).all() for one in found["list"] if "toi" in one)
    assert {tuple(sorted(one["parts"])) for one in found["list"]} == {("cup", "table")}
    rows = rows_of(call(verb, frames / "c.*.obj", "--csv", "-").out)
    assert {(one["frame"], one["file"]) for one in rows if one["toi"]} == {("1003", "c.1003.obj")}
    out = call(verb, frames / "c.*.obj").out
    assert any(line.split()[0] == "1003" and line.endswith("c.1003.obj") for line in out.splitlines() if line.strip())
    assert "table with cup" in out


def test_frames_are_chosen_by_their_numbers(call: Call, frames: Path):
    pattern = frames / "c.*.obj"
    chosen = call("scan", pattern, "--from", "1002", "--to", "1003", "--json").json
    assert [one["frame"] for one in chosen["frames"]] == [1002, 1003]
    assert chosen["sequence"] == "c.*.obj [1002 to 1003]"
    last = call("scan", pattern, "--from", "-2", "--json").json
    assert [one["frame"] for one in last["frames"]] == [1003, 1004]
    ended = call("scan", pattern, "--from", "1")
    assert ended.code == 2
    assert "there is no frame 1: c.*.obj has frames 1001 to 1004" in ended.err


def test_numbers_with_gaps(call: Call, frames: Path):
    """From a number on, and up to a number, whether there are frames of just these numbers or not."""
    (frames / "c.1002.obj").unlink()
    some = call("scan", frames / "c.*.obj", "--from", "1002", "--json", "--quiet").json
    assert [one["frame"] for one in some["frames"]] == [1003, 1004]


def test_numbers_are_kept_when_frames_are_written(call: Call, frames: Path, tmp_path: Path):
    assert call("convert", frames / "c.*.obj", tmp_path / "out.npz", "--from", "1002").code == 0
    found = call("scan", tmp_path / "out.npz", "--json").json
    assert [one["frame"] for one in found["frames"]] == [1002, 1003, 1004]
    assert call("convert", tmp_path / "out.npz", tmp_path / "d_%05d.ply").code == 0
    assert sorted(path.name for path in tmp_path.glob("d_*")) == ["d_01002.ply", "d_01003.ply", "d_01004.ply"]


def test_the_number_is_the_one_that_counts(tmp_path: Path):
    for number in (7, 8):
        (tmp_path / f"shot2_{number}_v3.obj").write_text(obj(START), "utf-8")
    assert pliant.Sequence.open(tmp_path / "shot2_%d_v3.obj").numbers.tolist() == [7, 8]


def test_errors_name_the_number_of_a_frame(tmp_path: Path):
    for number, x in ((11, START), (12, START[:, :2])):
        (tmp_path / f"c{number}.obj").write_text(obj(x), "utf-8")
    sequence = pliant.Sequence.open(tmp_path / "c*.obj")
    with pytest.raises(pliant.MeshError, match=r"c\*.obj, frame 12: c12.obj"):
        sequence[1]


def test_the_page_names_parts_and_files(call: Call, frames: Path, tmp_path: Path):
    assert call("scan", frames / "c.*.obj", "--report", tmp_path / "page.html").code == 1
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '"numbers":[1001,1002,1003,1004]' in page
    assert '"files":["c.1001.obj"' in page
    assert '"partNames":["table","cup"]' in page


def test_a_table_of_frames_names_files(frames: Path):
    pytest.importorskip("pandas")
    table = pliant.scan(pliant.Sequence.open(frames / "c.*.obj")).to_pandas()
    assert table["frame"].tolist() == [1001, 1002, 1003, 1004]
    assert table["file"][0] == "c.1001.obj"


class TestObjParts:
    @pytest.mark.parametrize(
        ("statements", "names"),
        [
            (("o a", "o b"), ("a", "b")),
            (("g a", "g b"), ("a", "b")),
            (("g left arm", "g default"), ("left arm", "unnamed")),
            (("o body\ng skin", "g hair"), ("body/skin", "body/hair")),
            (("o body\ng body", "o hat"), ("body", "hat")),
            (("", "o b"), ("unnamed", "b")),
            (("o a", "usemtl red"), ("a", "a")),
            (("o \xe4", "o \u1234"), ("\xe4", "\u1234")),
        ],
    )
    def test_names(self, tmp_path: Path, statements: tuple[str, str], names: tuple[str, str]):
        lines = obj(START, FACES[:0]) + f"{statements[0]}\nf 1 2 3 4\n{statements[1]}\nf 4 5 6\n"
        (tmp_path / "named.obj").write_text(lines, "utf-8")
        parts = pliant.io.read(tmp_path / "named.obj").parts
        assert parts is not None
        assert [parts.names[i] for i in parts.of_face] == [names[0], names[0], names[1]]

    def test_a_file_without_names(self, tmp_path: Path):
        (tmp_path / "plain.obj").write_text(obj(START), "utf-8")
        assert pliant.io.read(tmp_path / "plain.obj").parts is None


def test_gltf_nodes(tmp_path: Path):
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    (tmp_path / "points.bin").write_bytes(points)
    document = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": "points.bin", "byteLength": len(points)}],
        "bufferViews": [{"buffer": 0, "byteLength": len(points)}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0, "name": "cup"}, {"mesh": 0, "name": "lid"}, {"mesh": 0}, {"mesh": 0, "name": "lid"}],
        "scenes": [{"nodes": [0, 1, 2, 3]}],
    }
    (tmp_path / "named.gltf").write_text(json.dumps(document), "utf-8")
    parts = pliant.io.read(tmp_path / "named.gltf").parts
    assert parts is not None
    assert parts.names == ("cup", "lid (1)", "node 2", "lid (3)")
    again = pliant.Sequence.open(tmp_path / "named.gltf").parts
    assert again is not None
    assert (again.names, again.of_face.tolist()) == (parts.names, parts.of_face.tolist())


def test_usd_prims(tmp_path: Path):
    pytest.importorskip("pxr")
    prim = 'def Mesh "{}" {{\n int[] faceVertexCounts = [4]\n int[] faceVertexIndices = [0, 1, 2, 3]\n'
    prim += " point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]\n}}\n"
    text = '#usda 1.0\ndef Xform "World" {\n' + prim.format("shirt") + prim.format("body") + "}\n"
    (tmp_path / "named.usda").write_text(text, "utf-8")
    parts = pliant.Sequence.open(tmp_path / "named.usda").parts
    assert parts is not None
    assert parts.names == ("/World/shirt", "/World/body")
    assert parts.of_face.tolist() == [0, 0, 1, 1]


def test_features_of_groups_that_share_vertices():
    """A strip of two triangles, one in each group: the edge between them is of the first, each face of its own."""
    mesh = pliant.TriMesh([[0, 1, 2], [1, 3, 2]])
    of = membership_of(mesh, pliant.io.Parts(np.array([0, 1]), ("a", "b")), None)
    assert of.vertices.tolist() == [0, 0, 0, 1]
    edges = {tuple(edge): part for edge, part in zip(mesh.edges.tolist(), of.edges.tolist())}
    assert edges == {(0, 1): 0, (0, 2): 0, (1, 2): 0, (1, 3): 1, (2, 3): 1}
    assert of.named(of.of_pairs(np.array([0, 1]), np.array([[3, 0], [0, 3]]))).tolist() == [["b", "a"], ["a", "b"]]


def test_a_check_names_parts(call: Call, tmp_path: Path):
    text = obj((START + END) / 2).replace("f 1", "o table\nf 1").replace("f 4", "o cup\nf 4")
    (tmp_path / "both.obj").write_text(text, "utf-8")
    plain = tmp_path / "plain.obj"
    plain.write_text(obj((START + END) / 2 + (0.1, 0.1, 0)), "utf-8")
    alone = call("check", tmp_path / "both.obj")
    assert "part" in alone.out
    assert "cup" in alone.out
    assert call("check", tmp_path / "both.obj", "--json").json["list"][0]["parts"] == ["table", "cup"]
    rows = call("check", tmp_path / "both.obj", plain, "--json").json["list"]
    assert {one["parts"][0] for one in rows if one["file"] == plain.as_posix()} == {""}
    assert {one["parts"][0] for one in rows if one["file"] != plain.as_posix()} <= {"table", "cup"}
