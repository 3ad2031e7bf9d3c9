"""Numbered files as shells fill them in, and with #### for the number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.io.numbered import pattern_of
from tests.shapes.command_line import APART, CROSSING, Call, write_obj


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """In the order of a shell: c.10 before c.8."""
    for i, number in enumerate((8, 9, 10)):
        write_obj(tmp_path / f"c.{number}.obj", APART + (CROSSING - APART) * (i / 2))
    return sorted(tmp_path.iterdir())


@pytest.mark.parametrize("verb", ["scan", "ccd"])
def test_a_list_of_files_is_the_sequence_of_the_pattern(call: Call, files: list[Path], verb: str):
    """`pliant scan frames/cloth_*.obj` without quotes was refused: shells fill in the names."""
    listed = call(verb, *files, "--json").json
    quoted = call(verb, files[0].with_name("c.*.obj"), "--json").json
    assert [one["frame"] for one in listed["frames"]] == [8, 9, 10]
    assert listed["list"] == quoted["list"]
    assert listed["sequence"] == quoted["sequence"] == "c.*.obj"


def test_two_files_are_one_motion_to_ccd_and_two_frames_to_scan(call: Call, files: list[Path]):
    assert "to" in call("ccd", files[1], files[0], "--json").json
    assert len(call("scan", files[1], files[0], "--json").json["frames"]) == 2


def test_they_are_converted_and_shown(call: Call, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert call("convert", *files, tmp_path / "all.npz").code == 0
    assert len(pliant.Sequence.open(tmp_path / "all.npz")) == 3
    served = []
    monkeypatch.setattr("pliant.view.serve", lambda sequence, **options: served.append(sequence))
    assert call("view", *files).code == 0
    assert len(served[0]) == 3


def test_what_is_no_frame_is_named(call: Call, files: list[Path], tmp_path: Path):
    ended = call("scan", *files, tmp_path / "nobody.obj")
    assert ended.code == 2
    assert "nobody.obj: there is no such file" in ended.err
    np.savez(tmp_path / "a.npz", frames=np.stack((APART, APART)), faces=[[0, 1, 2]])
    ended = call("scan", *files, tmp_path / "a.npz")
    assert ended.code == 2
    assert "--each" in ended.err


def test_hashes_stand_for_the_number(call: Call, tmp_path: Path):
    for number in (998, 999, 1000, 10001):
        write_obj(tmp_path / f"c.{number:04d}.obj", APART)
    write_obj(tmp_path / "c.12.obj", APART)
    sequence = pliant.Sequence.open(tmp_path / "c.####.obj")
    assert sequence.numbers.tolist() == [998, 999, 1000, 10001]
    assert call("convert", tmp_path / "c.####.obj", tmp_path / "d_#####.ply", "--to", "999").code == 0
    assert sorted(path.name for path in tmp_path.glob("d_*")) == ["d_00998.ply", "d_00999.ply"]


@pytest.mark.parametrize(
    ("names", "pattern"),
    [(("c.9.obj", "c.10.obj"), "c.*.obj"), (("f_0101.ply", "f_0102.ply"), "f_*.ply"), (("a.obj", "b.stl"), "*")],
)
def test_names_of_patterns(names: tuple[str, ...], pattern: str):
    assert pattern_of([Path(name) for name in names]) == pattern


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("each", [(), ("--each",)])
def test_known_offenders_do_not_depend_on_the_spelling(
    call: Call, files: list[Path], monkeypatch: pytest.MonkeyPatch, order: int, each: tuple[str, ...]
):
    """`scan c.####.obj --write-baseline` and `scan c.*.obj --baseline`, filled in by a shell, knew no offender."""
    monkeypatch.chdir(files[0].parent)
    folder = Path("frames")
    folder.mkdir()
    names = [str(path.rename(folder / path.name)) for path in files]
    ways = [["frames/c.%d.obj"], ["frames/c.*.obj"], ["frames"], names, [str(folder.absolute() / "c.*.obj")]]
    if each:
        ways = [["frames/c.%d.obj"], ["frames"]]
    ways = ways[::order]
    assert call("scan", *each, *ways[0], "--write-baseline", "known.json").code == 0
    for way in ways:
        again = call("scan", *way, "--baseline", "known.json", "--json")
        assert (again.code, again.json["baseline"]["new"], again.json["baseline"]["gone"]) == (0, 0, 0), way
        assert again.json["baseline"]["known"] > 0
    fewer = call("scan", *names[:1], names[2], "--baseline", "known.json", "--find", "intersections")
    assert fewer.code == 0


@pytest.mark.parametrize("verb", ["scan", "ccd", "view"])
@pytest.mark.parametrize(
    "names",
    [
        ("cube.obj", "far.obj", "cubeb.obj"),
        ("c.1001.obj", "cube.obj", "c.1002.obj"),
        ("a1_b1.obj", "a1_b2.obj", "a2_b1.obj"),
        ("one/c.1.obj", "two/c.2.obj", "two/c.3.obj"),
        ("c.1.obj", "c.1.obj", "c.1.obj"),
        ("*.obj",),
    ],
)
def test_files_without_one_number_are_no_sequence(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, names: tuple[str, ...]
):
    """Three meshes that have nothing to do with each other were taken for three frames, silently."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pliant.view.serve", lambda sequence, **options: pytest.fail("it was shown"))
    for name in names if names != ("*.obj",) else ("cube.obj", "far.obj"):
        Path(name).parent.mkdir(exist_ok=True)
        write_obj(Path(name), APART)
    ended = call(verb, *names)
    assert (ended.code, ended.out) == (2, "")
    assert "do not look like one numbered sequence" in ended.err
    assert "pliant check A B" in ended.err
    assert "--each" in ended.err


@pytest.mark.parametrize(
    "names", [("t_0.5.obj", "t_1.0.obj", "t_1.5.obj"), ("1.obj", "2.obj"), ("v2_c8_x.obj", "v2_c12_x.obj")]
)
def test_files_with_one_number_are(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]):
    monkeypatch.chdir(tmp_path)
    for name in names:
        write_obj(Path(name), APART)
    assert len(call("scan", *names, "--json").json["frames"]) == len(names)
