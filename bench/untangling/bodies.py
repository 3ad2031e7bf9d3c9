"""Bodies in motion: frames of published animations that cut themselves, and a jointed doll."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np

from bench.inputs import data_folder
from bench.untangling.case import Given, Recipe, compacted, joined
from pliant.scenes.figure import doll, swing

KIND = "bodies"
KICK, RUMBA, DRESS = "codimipc_Kick_unfixed_30_65", "codimipc_Rumba_body", "codimipc_dress_on_body"
KICK_FRAMES = range(1, 36, 3)
RUMBA_FRAMES = range(0, 120, 15)
DOLLS = 14
BODY_OF_DRESS = 12_811  # vertices, the last ones


def recipes() -> Iterator[Recipe]:
    folder, seed = data_folder(), 0
    named = []
    if folder is not None and (folder / "sequences" / f"{KICK}.npz").exists():
        named += [(f"kick {k}", partial(_frame, KICK, k)) for k in KICK_FRAMES]
    if folder is not None and (folder / "sequences" / f"{RUMBA}.npz").exists():
        named += [(f"rumba {k}", partial(_frame, RUMBA, k)) for k in RUMBA_FRAMES]
    if folder is not None and (folder / "selfint" / f"{DRESS}.npz").exists():
        named += [("body of the dress", _body_of_dress)]
    named += [(f"doll {k}", partial(_doll, k)) for k in range(DOLLS)]
    for seed, (name, give) in enumerate(named):
        yield Recipe(name, KIND, seed, give)


@lru_cache(maxsize=2)
def animation(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Faces and frames of a sequence of the data folder."""
    folder = data_folder()
    assert folder is not None
    with np.load(folder / "sequences" / f"{name}.npz") as data:
        return data["F"].astype(np.int64), data["V"]


def _frame(name: str, frame: int) -> Given:
    faces, frames = animation(name)
    return Given(faces, frames[frame].astype(np.float64))


@lru_cache(maxsize=1)
def dress() -> tuple[np.ndarray, np.ndarray]:
    """Faces and positions of the dress on its body."""
    folder = data_folder()
    assert folder is not None
    with np.load(folder / "selfint" / f"{DRESS}.npz") as data:
        return data["F"].astype(np.int64), data["V"].astype(np.float64)


def _body_of_dress() -> Given:
    faces, x = dress()
    return Given(*compacted(faces[(faces >= len(x) - BODY_OF_DRESS).all(axis=1)], x))


def _doll(seed: int) -> Given:
    """Arms that are pressed into the sides, legs that are pressed into each other."""
    rng = np.random.default_rng(seed)
    arms = [swing(rng.uniform(-0.25, 0.25, 1), rng.uniform(-0.16, -0.1), side) for side in (1, -1)]
    legs = [swing(rng.uniform(-0.08, 0.08, 1), rng.uniform(-0.09, -0.06), side) for side in (1, -1)]
    parts = doll(int(rng.integers(5_000, 14_000)), np.array(arms), np.array(legs))
    faces, x, _ = joined(*((faces, frames[0]) for faces, frames in parts))
    return Given(faces, x)
