"""Verbs about two meshes: what is near another one, and what is inside of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from tests.shapes.command_line import Call, obj, put_on_stdin, soup, write_obj
from tests.shapes.cube import CUBE, CUBE_FACES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cube, and a triangle with one vertex inside of it, one on it and one outside."""
    monkeypatch.chdir(tmp_path)
    write_obj(tmp_path / "body.obj", CUBE, CUBE_FACES)
    x = np.array([[9.0, 9, 9], [0.5, 0.5, 0.75], [0.5, 0.5, 1.0], [0.5, 0.25, 3.0]])
    write_obj(tmp_path / "pin.obj", x, np.array([[1, 2, 3]]))
    return tmp_path


class TestInside:
    def test_of_another_mesh(self, call: Call, folder: Path):
        """`inside` took a volume mesh alone: what of a garment is in a body could not be asked."""
        ended = call("inside", "pin.obj", "--of", "body.obj", "--json")
        assert ended.code == 1
        told = [(one["vertex"], one["winding"] != 0, one["on_surface"], one["depth"]) for one in ended.json["list"]]
        assert told == [(1, True, False, 0.25), (2, False, True, 0.0)]
        assert (ended.json["pairs"], ended.json["vertices"], ended.json["triangles"]) == (2, 3, 12)

    def test_words(self, call: Call, folder: Path):
        out = call("inside", "pin.obj", "--of", "body.obj").out
        assert (
            "pin.obj: 1 vertex inside of body.obj, 1 on its surface, deepest 0.25 (3 vertices, in 12 triangles)" in out
        )
        assert any(line.split()[:3] == ["2", "0", "on"] for line in out.splitlines())
        write_obj(folder / "far.obj", CUBE + 5, CUBE_FACES)
        ended = call("inside", "far.obj", "--of", "body.obj")
        assert (ended.code, ended.out.startswith("far.obj: no vertex is inside of body.obj")) == (0, True)

    def test_an_open_body_is_an_error_that_names_it(self, call: Call, folder: Path):
        ended = call("inside", "body.obj", "--of", "pin.obj")
        assert ended.code == 2
        assert ended.err.startswith(
            "pliant: pin.obj: the surface is not closed and has no inside: 3 edges on its boundary"
        )

    def test_a_body_of_cells(self, call: Call, folder: Path):
        pliant.io.write(folder / "tetra.vtu", CUBE * 2, {"tetra": np.array([[0, 4, 2, 1]])})
        found = call("inside", "pin.obj", "--of", "tetra.vtu", "--json").json
        assert [one["vertex"] for one in found["list"]] == [1, 2]

    def test_split_vertices_make_no_body_open(self, call: Call, folder: Path):
        soup_of = CUBE[CUBE_FACES].reshape(-1, 3)
        write_obj(folder / "split.obj", soup_of, np.arange(len(soup_of)).reshape(-1, 3))
        for options in ((), ("--no-merge",)):
            assert call("inside", "pin.obj", "--of", "split.obj", *options, "--json").json["pairs"] == 2

    def test_two_files_without_of_are_told_how_to_say_it(self, call: Call, folder: Path):
        ended = call("inside", "pin.obj", "body.obj")
        assert (ended.code, "pliant inside pin.obj --of body.obj" in ended.err) == (2, True)
        assert "--of BODY" in call("inside", "pin.obj").err
        assert call("inside", "pin.obj", "--of", "body.obj", "--pairs", "self").code == 2
        assert call("inside", "-", "--of", "-").code == 2
        assert call("inside", "--help").out.splitlines()[0] == "Usage: pliant inside [OPTIONS] {FILE} [--of BODY]"

    def test_standard_input(self, call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch):
        put_on_stdin(monkeypatch, obj(CUBE, CUBE_FACES).encode())
        assert call("inside", "pin.obj", "--of", "-", "--json").json["of"] == "standard input"

    def test_csv(self, call: Call, folder: Path):
        call("inside", "pin.obj", "--of", "body.obj", "--csv", "a.csv", "--no-depth")
        rows = (folder / "a.csv").read_text("utf-8").splitlines()
        assert rows[0] == "kind,vertex,winding,on_surface,depth,direction_x,direction_y,direction_z"
        assert rows[2].startswith("vertex-surface,2,0,True,nan")


class TestNear:
    def test_of_two_files_is_between_them(self, call: Call, folder: Path):
        found = call("near", "body.obj", "pin.obj", "--within", "0.1", "--json").json
        assert found["pairs"] > 0
        assert {(one["file"], one["other_file"]) for one in found["list"]} <= {
            ("body.obj", "pin.obj"), ("pin.obj", "body.obj"),
        }  # fmt: skip
        assert found["files"] == ["body.obj", "pin.obj"]
        assert "file" not in call("near", "body.obj", "--within", "2", "--json").json["list"][0]

    def test_ids_are_those_of_each_file(self, call: Call, tmp_path: Path):
        x, faces = soup(40)
        sides = {"a.obj": (x[:60], faces[:20]), "b.obj": (x[60:], faces[20:] - 60)}
        for name, (points, triangles) in sides.items():
            write_obj(tmp_path / name, points, triangles)
        found = call("near", tmp_path / "a.obj", tmp_path / "b.obj", "--within", "0.02", "--json").json
        expected = pliant.proximity(faces, x, within=0.02, objects=np.arange(120) // 60, pairs="inter")
        assert found["pairs"] == len(expected) > 20
        for one in found["list"]:
            names = [Path(name).name for name in (one["file"], one["other_file"])]
            meshes = [pliant.TriMesh(sides[name][1]) for name in names]
            split = 1 if one["kind"] == "vertex-face" else 2
            if one["kind"] == "vertex-face":
                assert one["vertices"] == [one["elements"][0], *meshes[1].faces[one["elements"][1]].tolist()]
            else:
                ends = [mesh.edges[i].tolist() for mesh, i in zip(meshes, one["elements"])]
                assert one["vertices"] == [*ends[0], *ends[1]]
            assert names[0] != names[1]
            positions = [sides[names[k >= split]][0][v] for k, v in enumerate(one["vertices"])]
            box = np.ptp(np.array([*positions, *one["points"]]), axis=0) - np.ptp(np.array(positions), axis=0)
            assert (box < 1e-9).all()  # the closest points are on those features

    def test_words_and_codes(self, call: Call, folder: Path):
        out = call("near", "body.obj", "pin.obj", "--within", "0.1").out
        assert out.startswith("body.obj and pin.obj: ")
        assert any("pin.obj" in line and "body.obj" in line for line in out.splitlines()[2:])
        write_obj(folder / "far.obj", CUBE + 5, CUBE_FACES)
        assert call("near", "body.obj", "far.obj", "--within", "0.1").code == 0
        assert call("near", "body.obj", "far.obj", "--within", "2", "--pairs", "all").code == 1

    def test_surfaces_that_cross_are_no_pass(self, call: Call, folder: Path):
        """No vertex is near a face and no two edges are near where a needle goes through a big triangle's middle."""
        write_obj(folder / "big.obj", np.array([[-10.0, -10, 0], [10, -10, 0], [0, 10, 0]]), np.array([[0, 1, 2]]))
        write_obj(folder / "needle.obj", np.array([[0.0, 0, -3], [0.1, 0, 3], [0, 0.1, 3]]), np.array([[0, 1, 2]]))
        ended = call("near", "big.obj", "needle.obj", "--within", "0.01")
        first, second = ended.out.splitlines()[:2]
        assert ended.code == 1
        assert first.endswith("1 pair of triangles intersects: distance 0; pliant check big.obj needle.obj lists it")
        assert "no other vertex and face, nor two edges, within 0.01" in second
        found = call("near", "big.obj", "needle.obj", "--within", "0.01", "--json").json
        assert (found["pairs"], found["intersecting"], found["list"]) == (0, 1, [])
        assert call("near", "big.obj", "needle.obj", "--within", "0.01", "--pairs", "self").code == 0

    def test_a_file_that_is_named_twice_is_said_to_be_read_once(self, call: Call, folder: Path):
        for verb in (("near", "--within", "0.01"), ("check",)):
            ended = call(*verb, "body.obj", "body.obj")
            assert ended.err == "pliant: body.obj is named twice, and read once\n"
            assert call(*verb, "body.obj", "body.obj", "--quiet").err == ""
        assert call("check", "body.obj", "*.obj", "--each").err == ""
