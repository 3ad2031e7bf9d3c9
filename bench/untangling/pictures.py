"""``python -m bench.untangling.pictures FOLDER [NAME ...]``: cases before and after, side by side.

What was tangled fills the picture. Faces that intersect are red, and seen through what is in front of them. Shading is
flat, so that a fold is seen.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant
from bench.untangling.case import Case
from bench.untangling.cases import make
from pliant.report.picture import OBSTACLE, SKIN, Shape, View, draw, png

SIZE = 380, 380
_GAP = 8  # pixels between the two


class Shot(NamedTuple):
    """A case, from where it is seen (radians), and how much around the tangles, in their extent."""

    kind: str
    name: str
    turn: float = 0.5
    tilt: float = 0.4
    around: float = 1.3
    up: int = 1  # axis that points up


SHOTS = {
    "kick": Shot("bodies", "kick 16"),
    "doll": Shot("bodies", "doll 6", 0.4, 0.2, up=2),
    "human": Shot("characters", "human squat 0.22", 0.9, 0.2),
    "arm": Shot("characters", "arm bend 0.5", 0.3, 0.3),
    "dent": Shot("sheets", "dent 3 edges, seed 10", 0.5, 0.5, up=2),
    "border": Shot("sheets", "border 3 edges, seed 4", 0.6, 0.5, up=2),
    "noise": Shot("noise", "noise 0.5 on ball"),
    "layers": Shot("layers", "2 tubes, seed 2", 0.5, 0.3, up=2),
    "scene": Shot("scenes", "flowing_cloth 10,000, seed 0, frame 5", 0.5, 0.4, up=2),
    "model": Shot("models", "two of a star, 2 edges"),
    "dress": Shot("garments", "dress pressed 2 edges", 0.4, 0.1),
    "doll-dress": Shot("garments", "top and skirt on a doll pressed 2 edges, 2", 0.4, 0.1, up=2),
}


def picture(case: Case, y: np.ndarray, shot: Shot) -> np.ndarray:
    """(h, w, 3) uint8: before on the left, after on the right, from the same place."""
    axes = [0, 1, 2] if shot.up == 1 else [0, 2, 1]
    mirror = np.array([1.0, 1.0, 1.0 if shot.up == 1 else -1.0])
    before, after = case.x[:, axes] * mirror, y[:, axes] * mirror
    hits = pliant.check(case.mesh, case.x)
    tangled = np.unique(_movable(case, hits.faces))
    view = View(turn=shot.turn, tilt=shot.tilt).around(before[case.faces[tangled]], margin=shot.around)
    view = view._replace(span=(max(view.span),) * 2)
    pair = [draw(_shapes(case, x, pliant.check(case.mesh, at)), view, SIZE) for x, at in ((before, case.x), (after, y))]
    between = np.full((SIZE[1], _GAP, 3), 255, np.uint8)
    return np.concatenate((pair[0], between, pair[1]), axis=1)


def _movable(case: Case, pairs: np.ndarray) -> np.ndarray:
    fixed = case.given.fixed
    return pairs if fixed is None else pairs[~fixed[case.faces[pairs]].all(axis=(1, 2))]


def _shapes(case: Case, x: np.ndarray, hits: Any) -> list[Shape]:
    """Every face with corners of its own; what is fixed, or the inner layer, is blue."""
    other = np.zeros(len(x), bool) if case.given.fixed is None else case.given.fixed
    other = other if case.given.layers is None else case.given.layers == case.given.layers.min()
    if case.given.fixed is None and case.given.layers is None:
        labels = case.mesh.components
        other = np.zeros(len(x), bool)
        other[: len(labels)] = labels % 2 == 1
    marked = np.zeros(len(case.faces), bool)
    marked[_movable(case, hits.faces)] = True
    colour = np.where(other[case.faces].reshape(-1, 1), OBSTACLE, SKIN)
    return [Shape(x[case.faces].reshape(-1, 3), np.arange(3 * len(case.faces)).reshape(-1, 3), colour, None, marked)]


def main() -> None:
    folder, *names = sys.argv[1:]
    for name in names or SHOTS:
        shot = SHOTS[name]
        case = make(shot.kind, shot.name)
        done = pliant.untangle(case.mesh, case.x, **case.options)
        (Path(folder) / f"untangled-{name}.png").write_bytes(png(picture(case, done.positions, shot)))
        print(f"{name}: {shot.name}: {done.method}, {'clean' if done.clean else f'{len(done.remaining)} left'}")


if __name__ == "__main__":
    main()
