"""Numbered files as shells fill them in, and with #### for the number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.io.numbered import pattern_of
from tests.command_line import APART, CROSSING, Call, caller, write_obj


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


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
