"""`pliant ccd --certificate` and `pliant verify`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.shapes.command_line import APART, CROSSING, Call, write_obj


@pytest.fixture
def motion(tmp_path: Path) -> tuple[Path, Path]:
    return write_obj(tmp_path / "apart.obj", APART), write_obj(tmp_path / "crossing.obj", CROSSING)


def test_written_and_verified(call: Call, motion: tuple[Path, Path], tmp_path: Path):
    why = tmp_path / "why.json"
    assert call("ccd", *motion, "--certificate", why).code == 1
    ended = call("verify", why, *motion)
    assert ended.code == 0
    assert "each with its first time; of all 12 vertices and edges" in ended.out
    assert "Not checked: gaps, normals" in ended.out
    told = call("verify", why, *motion, "--json").json
    jsonschema.Draft202012Validator(call("schema").json).validate(told)
    assert (told["is_true"], told["contacts"], told["features"]) == (True, 2, 12)
    assert call("ccd", *motion, "--certificate", why, "--sample", "2").code == 1
    assert "other contacts of 8 vertices and edges, which the sample leaves out" in call("verify", why, *motion).out


def test_what_is_not_true_is_found(call: Call, motion: tuple[Path, Path], tmp_path: Path):
    why = tmp_path / "why.json"
    call("ccd", *motion, "--certificate", why)
    assert "other positions" in call("verify", why, motion[0], motion[0]).out
    content = json.loads(why.read_text("utf-8"))
    content.update(contacts=[], counts={"vertex-face": 0, "edge-edge": 0})
    why.write_text(json.dumps(content), "utf-8")
    ended = call("verify", why, *motion, "--json")
    assert (ended.code, ended.json["is_true"]) == (1, False)
    assert "is not listed" in ended.json["why"]
    jsonschema.Draft202012Validator(call("schema").json).validate(ended.json)


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--pairs", "self"], "of all pairs"), (["--min-distance", "1"], "distance 0")],
)
def test_what_has_none_is_said_first(
    call: Call, motion: tuple[Path, Path], tmp_path: Path, options: list[str], words: str
):
    ended = call("ccd", *motion, *options, "--certificate", tmp_path / "why.json")
    assert ended.code == 2
    assert words in ended.err
    assert not (tmp_path / "why.json").exists()


def test_frames_have_none(call: Call, motion: tuple[Path, Path], tmp_path: Path):
    ended = call("ccd", *motion, motion[0], "--certificate", tmp_path / "why.json")
    assert (ended.code, "from A to B" in ended.err) == (2, True)
