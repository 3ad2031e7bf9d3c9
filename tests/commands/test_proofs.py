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
    assert "true, all of it" in ended.out
    assert "that all 12 vertices and edges have no others" in ended.out
    assert "Not checked: gaps, normals" in ended.out
    told = call("verify", why, *motion, "--json").json
    jsonschema.Draft202012Validator(call("schema").json).validate(told)
    assert (told["is_wrong"], told["is_complete"], told["contacts"], told["features"]) == (False, True, 2, 12)


def test_of_one_without_reasons_some_are_drawn(
    call: Call, motion: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pliant.commands.proofs.LIMIT", 1)
    why = tmp_path / "why.json"
    assert "has no reasons" in call("ccd", *motion, "--certificate", why).out
    ended = call("verify", why, *motion, "--sample", "2")
    assert ended.code == 0
    assert "not all was proved" in ended.out
    assert "of the 8 vertices and edges that were not drawn" in ended.out
    assert call("verify", why, *motion, "--sample", "0").code == 2


def test_what_is_not_true_is_found(call: Call, motion: tuple[Path, Path], tmp_path: Path):
    why = tmp_path / "why.json"
    call("ccd", *motion, "--certificate", why)
    content = json.loads(why.read_text("utf-8"))
    content.update(contacts=[], counts={"vertex-face": 0, "edge-edge": 0})
    why.write_text(json.dumps(content), "utf-8")
    ended = call("verify", why, *motion, "--json")
    assert (ended.code, ended.json["is_wrong"]) == (1, True)
    assert "is not listed" in ended.json["why"]
    jsonschema.Draft202012Validator(call("schema").json).validate(ended.json)


def test_what_cannot_be_checked_is_an_error(call: Call, motion: tuple[Path, Path], tmp_path: Path):
    why = tmp_path / "why.json"
    call("ccd", *motion, "--certificate", why)
    assert "not the same x1" in call("verify", why, motion[0], motion[0]).err
    ended = call("verify", why, *motion[::-1])
    assert (ended.code, "the start is the end" in ended.err) == (2, True)
    assert call("verify", motion[0], *motion).code == 2


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
