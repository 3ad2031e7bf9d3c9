"""Checkpoints: the state of a simulation in a file, from which it goes on bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.runtime.reading import FileError, reading
from pliant.runtime.writing import write_atomically

VERSION = 2  # 1 had no mass and no constants of materials
_SAME = 1e-9  # relative, of numbers that the same input gives on two machines
GROWING = "growing"  # what the names of arrays with any number of rows begin with
NAMES = ("version", "positions", "velocities", "time", "steps", "pace", "faces")


def write_checkpoint(path: Any, state: dict[str, Any]) -> None:
    """An .npz file of the arrays of a state, whole or not at all."""
    arrays = {"version": np.int64(VERSION), **state}
    write_atomically(Path(path), lambda file: np.savez(file, **arrays))


def read_checkpoint(path: Any, budget: int | None = None, more: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """What ``write_checkpoint`` wrote, with more arrays of these names; FileError where the file is anything else."""
    from pliant.io.zipped import Archive

    with reading(path, budget):
        archive = Archive(Path(path))
        names = (*NAMES, *(name for name in more if name not in NAMES))
        missing = [name for name in names if name not in archive.headers]
        if "version" in archive.headers:
            _require_version(path, archive.array("version"))
        if missing and missing[0] in NAMES:
            raise FileError(f"{path} is no checkpoint of a simulation: it has no {missing[0]}")
        if missing:
            raise FileError(f"{path} is a checkpoint of another simulation: it has no {missing[0]}")
        return {name: archive.array(name) for name in names}


def _require_version(path: Any, version: np.ndarray) -> None:
    if version.shape != () or version.dtype.kind not in "iu" or int(version) not in (1, VERSION):
        raise FileError(f"{path} is a checkpoint of another version")
    if int(version) == 1:
        raise FileError(
            f"{path} is a checkpoint of an older version, which does not say what it is made of: begin again, or "
            "restore it with the version that wrote it"
        )


def read_state(
    path: Any, budget: int | None, like: dict[str, np.ndarray], fixed: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """A checkpoint whose arrays have the shapes of the first, and of what does not change the values of the second."""
    state = read_checkpoint(path, budget, (*like, *fixed))
    fits = all(_is_like(name, state[name], now) for name, now in like.items())
    grown = [state[name] for name in like if name.startswith(GROWING)]  # a table of pairs of features: ids of vertices
    fits &= all(len(array) == len(grown[0]) for array in grown)
    fits &= all(((array >= 0) & (array < len(state["positions"]))).all() for array in grown if array.dtype.kind == "i")
    if not fits or not np.array_equal(state["faces"], fixed["faces"]):
        raise FileError(f"{path} is a checkpoint of another scene")
    for name, now in fixed.items():
        given = state[name]
        if given.shape != now.shape or given.dtype.kind not in "iuf" or not np.allclose(given, now, _SAME, 0.0):
            what = "other masses" if name == "mass" else "other materials"
            raise FileError(f"{path} is a checkpoint of something with {what}: {name} differs")
    for name in (*like, "time"):
        if not np.isfinite(state[name]).all() or (name == "time" and state[name].dtype != float):
            raise FileError(f"{path}: {name} must be finite")
    if state["time"].shape != () or state["steps"].shape != () or state["steps"].dtype.kind not in "iu":
        raise FileError(f"{path}: time and steps must be single numbers")
    if state["time"] < 0.0 or state["steps"] < 0 or not ((state["pace"] > 0.0) & (state["pace"] <= 1.0)).all():
        raise FileError(f"{path}: time, steps or pace are out of their ranges")
    return state


def _is_like(name: str, array: np.ndarray, now: np.ndarray) -> bool:
    first = 1 if name.startswith(GROWING) else 0
    return array.dtype == now.dtype and array.ndim == now.ndim and array.shape[first:] == now.shape[first:]
