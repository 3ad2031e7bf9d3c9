"""pliant simulate: cloth onto files, scene files; what it says and writes, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.scenes.shapes import icosphere, weave
from pliant.simulate import Cloth
from pliant.simulated import cache
from tests.shapes.command_line import Call, write_obj

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    faces, uv = weave(6, 6)
    write_obj(Path("cloth.obj"), np.column_stack((uv / 10 - 0.3, np.full(len(uv), 0.21)))[:, [0, 2, 1]], faces)
    faces, ball = icosphere(2)
    write_obj(Path("ball.obj"), 0.2 * ball, faces)
    return tmp_path


def test_a_cloth_falls_onto_a_ball(call: Call, files: Path):
    ended = call(
        "simulate", "drape", "cloth.obj", "--on", "ball.obj", "--frames", "7", "--output", "out.npz", "--verify"
    )
    assert ended.code == 0
    first, last, wrote = ended.out.splitlines()
    assert first == "cloth: 72 triangles of cloth, 80 of obstacles, 7 frames at 60 per second"
    assert last.startswith("12 steps, each proven free of contact, and tested by fresh queries; worst stretch ")
    assert wrote == "Wrote out.npz"
    sequence = pliant.Sequence.open("out.npz")
    assert (len(sequence), len(sequence.faces)) == (7, 72)
    assert sequence[6][:, 1].min() < 0.18  # y is up


def test_time_steps_are_chosen(call: Call, files: Path):
    how = ("simulate", "drape", "cloth.obj", "--frames", "4", "--json")
    steps = {word: call(*how, "--step", word).json["steps"] for word in ("0.005", "0.1", "adaptive")}
    assert steps["0.005"] == 12
    assert steps["0.1"] == steps["adaptive"] == 3  # cells are of 10 cm
    for word in ("2", "fast", "nan"):
        ended = call(*how, "--step", word)
        assert ended.code == 2
        assert f"--step {word}: must be seconds, 1e-09 to 1, or the word adaptive" in ended.err


def test_with_obstacles_and_pictures(call: Call, files: Path):
    line = (
        "simulate drape cloth.obj --on ball.obj --seconds 0.05 --output out_%02d.ply --with-obstacles --report r.html"
    )
    ended = call(*line.split(), "--png", "s.png", "--pins", "0,6", "--material", "silk", "--rate", "40")
    assert ended.code == 0
    assert sorted(path.name for path in files.glob("out_*")) == ["out_00.ply", "out_01.ply", "out_02.ply"]
    assert len(pliant.io.read("out_00.ply").cells["triangle"]) == 152
    assert "proven free of contact" in Path("r.html").read_text("utf-8")
    assert Path("s.png").stat().st_size > 1000
    start, end = (pliant.io.read(f"out_{k:02d}.ply").points for k in (0, 2))
    np.testing.assert_array_equal(start[[0, 6]], end[[0, 6]])


def test_json_keeps_to_the_schema_and_csv_has_a_row_a_frame(call: Call, files: Path):
    ended = call("simulate", "drape", "cloth.obj", "--frames", "3", "--csv", "rows.csv", "--json")
    jsonschema.Draft202012Validator(call("schema").json).validate(ended.json)
    assert (ended.json["triangles"], ended.json["steps"], len(ended.json["frames"])) == (72, 4, 3)
    assert Path("rows.csv").read_text("utf-8").count("\n") == 4


def test_a_scene_file_and_what_it_writes(call: Call, files: Path):
    Path("a.toml").write_text(
        '[scene]\nframes = 3\nup = "y"\n[[cloth]]\nfile = "cloth.obj"\n[[obstacle]]\nfile = "ball.obj"\n'
        '[output]\nfile = "out.pc2"\n', "utf-8",
    )  # fmt: skip
    assert call("simulate", "a.toml").code == 0
    assert len(pliant.Sequence.open("out.pc2", mesh="cloth.obj")) == 3
    assert call("simulate", "a.toml", "--output", "b.usda", "--frames", "2").code == 0
    assert Path("b.usda").exists()
    again = call("simulate", "a.toml", "--output", "cloth.obj")
    assert again.code == 2
    assert "would replace a file that is read" in again.err


def test_states_are_saved_and_restored(call: Call, files: Path):
    how = ("simulate", "drape", "cloth.obj", "--on", "ball.obj", "--cloth-only")
    assert call(*how, "--frames", "4", "--save", "state.npz", "--output", "a.npz").code == 0
    assert call(*how, "--frames", "3", "--restore", "state.npz", "--output", "b.npz").code == 0
    assert call(*how, "--frames", "6", "--output", "whole.npz").code == 0
    a, b, whole = (pliant.Sequence.open(f"{name}.npz") for name in ("a", "b", "whole"))
    assert a[3].tobytes() == b[0].tobytes() == whole[3].tobytes()
    np.testing.assert_allclose(b[2], whole[5], atol=1e-9)


def test_ctrl_c_keeps_what_is_done(call: Call, files: Path, monkeypatch: pytest.MonkeyPatch):
    calls = []
    step = Cloth._step_by

    def interrupted(self: Cloth, *step_of: Any):
        calls.append(step_of)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return step(self, *step_of)

    monkeypatch.setattr(Cloth, "_step_by", interrupted)
    ended = call("simulate", "drape", "cloth.obj", "--frames", "20", "--output", "out.npz")
    assert ended.code == 130
    assert "interrupted: 3 of 20 frames are done, and kept" in ended.err
    assert len(pliant.Sequence.open("out.npz")) == 3
    assert "4 steps, each proven free" in ended.out


def test_a_tangled_start_is_named(call: Call, files: Path):
    faces, ball = icosphere(2)
    write_obj(Path("ball.obj"), 0.2 * ball + (0, 0.1, 0), faces)
    ended = call("simulate", "drape", "cloth.obj", "--on", "ball.obj", "--output", "out.npz")
    assert ended.code == 2
    assert "the start is tangled: face " in ended.err
    assert "of cloth.obj and face " in ended.err
    assert "of ball.obj" in ended.err
    assert ended.err.count("\n") == 1
    assert not Path("out.npz").exists()


def test_a_built_in_scene_is_simulated_once(call: Call, files: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache, "user_cache", lambda kind: files)
    how = ["simulate", "cloth_ball", "--triangles", "300", "--frames", "3"]
    first, again, anew = call(*how), call(*how, "--json"), call(*how, "--no-cache", "--json")
    title = "cloth_ball: 220 triangles of cloth, 82 of obstacles, 3 frames at 100 per second\n2 steps, "
    assert first.out.startswith(title)
    assert "From disk" in call(*how).out
    assert (again.json["cached"], anew.json["cached"]) == (True, False)
    assert again.json["frames"] == anew.json["frames"]
    exported = call("scenes", "simulated_cloth_ball", "--triangles", "300", "--frames", "3", "--output", "a.npz")
    assert exported.code == 0
    assert len(pliant.Sequence.open("a.npz").faces) == 302
    assert "did you mean 'funnel'" in call("simulate", "funel").err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("drape", "name the cloth"),
        ("drape nobody.obj", "nobody.obj"),
        ("drape cloth.obj --material sikl", "did you mean 'silk'"),
        ("drape cloth.obj --pins 0,x", "--pins 0,x: must be vertex ids"),
        ("drape cloth.obj --pins 99", "there is no vertex 99"),
        ("drape cloth.obj --frames 3 --seconds 1", "give one of them"),
        ("drape cloth.obj --triangles 3", "--triangles is for built-in scenes"),
        ("drape cloth.obj --on ball.obj --output ball.obj", "would replace a file that is read"),
        ("nobody.toml", "nobody.toml"),
        ("cloth.obj", "meshes of cloth come after the word drape"),
        ("cloth_ball --triangles 3", "triangles=3 must be a whole number of at least 200"),
        ("a.toml b.toml", "one scene at a time"),
        ("a.toml --material silk", "--material is for drape"),
        ("drape cloth.obj --restore cloth.obj --frames 2", "cloth.obj"),
        ("drape cloth.obj --output nowhere/out.npz", "is not a folder"),
        # These were said when all frames were simulated, and lost.
        ("drape cloth.obj --output out.xyz", "sequences are written as .npz"),
        ("drape cloth.obj --output out_%03d.xyz", "meshes are not written as .xyz"),
        ("drape cloth.obj --output -", "do not go to standard output"),
        ("a.toml", "out.xyz: sequences are written as .npz"),
    ],
)
def test_what_is_wrong_ends_in_one_line(call: Call, files: Path, line: str, message: str):
    Path("a.toml").write_text('[[cloth]]\nfile = "cloth.obj"\n[output]\nfile = "out.xyz"\n', "utf-8")
    ended = call("simulate", *line.split())
    assert not ended.out  # nothing was begun
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
