"""Small files for the command line, and how it is called: in this process, so that nothing is compiled twice."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

# One triangle through the middle of another, and a copy of the first's edge that only positions join.
CROSSING = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0.5, 0.5, -1], [0.5, 0.5, 1], [1.5, 1.5, 1.0]])
FACES = np.array([[0, 1, 2], [3, 4, 5]])
APART = CROSSING + np.array([[0, 0, 0]] * 3 + [[0, 0, 5]] * 3)


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


Call = Callable[..., Ended]


def caller(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: str | Path) -> Ended:
        from pliant.cli import main  # not before it is needed: conftest imports this file

        with pytest.raises(SystemExit) as end:
            main([str(one) for one in arguments])
        assert isinstance(end.value.code, int)
        return Ended(end.value.code, *capsys.readouterr())

    return call


def obj(x: np.ndarray, faces: np.ndarray = FACES) -> str:
    lines = ["v " + " ".join(repr(float(value)) for value in row) for row in x]
    return "\n".join(lines + ["f " + " ".join(str(i + 1) for i in face) for face in faces]) + "\n"


def write_obj(path: Path, x: np.ndarray, faces: np.ndarray = FACES) -> Path:
    path.write_text(obj(x, faces), "utf-8")
    return path


def put_on_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def soup(count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Random triangles in a box, most of which meet others."""
    x = np.random.default_rng(3).random((3 * count, 3))
    return x, np.arange(3 * count).reshape(-1, 3)
