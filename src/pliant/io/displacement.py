"""Displacements: which vectors at the points of a file are taken for one, and whether it is added to the points.

Results of finite elements have the mesh at rest in every frame, and beside it a field that says where each point went.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pliant.io.mesh import FileError, FileMesh

NONE = "none"  # asked for where points are to stay where they are
# The last word of a name, best first. Alone, u is a displacement in most codes; in a longer name it is anything.
_WORDS = ("displacement", "displacements", "displ", "disp", "depl", "deplacement", "deformation", "deformations")
_ALONE = "u"
_OF_ANY = ("vector", "field")  # words that say nothing
_BRACKETS = re.compile(r"\([^)]*\)|\[[^]]*\]")  # around units, and numbers of steps
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

Vectors = Mapping[str, Callable[[], np.ndarray]]


class AtRest(NamedTuple):
    """A file as it is.

    vectors : of 2 or 3 numbers at each point, by name, each read when it is called
    moves : whether the points themselves are elsewhere in later frames of the file
    """

    mesh: FileMesh
    vectors: Vectors = MappingProxyType({})
    moves: bool = False

    def displaced(self, path: Path, name: str | None) -> FileMesh:
        """With a vector added to the points."""
        if name is None:
            return self.mesh
        return replace(self.mesh, points=added(path, self.mesh.points, self.vectors, name))


def is_named_so(name: str) -> bool:
    return _rank(name) < len(_WORDS) + 1


def _rank(name: str) -> int:
    words = [word.lower() for word in _WORD.findall(_BRACKETS.sub("", name))]
    words = [word for word in words if word not in _OF_ANY]
    if words == [_ALONE]:
        return len(_WORDS)
    return _WORDS.index(words[-1]) if words and words[-1] in _WORDS else len(_WORDS) + 1


def chosen(path: Path, names: Iterable[str], wanted: str | None, moves: Callable[[], bool]) -> str | None:
    """The vector to add: the one that is wanted; else the one that is named like a displacement, if the points do not
    move by themselves. What was not asked for is said.

    names : of all vectors of the file
    moves : whether the points are elsewhere in other frames; asked only if it matters
    """
    names = list(names)
    if wanted == NONE:
        return None
    if wanted is not None:
        if wanted not in names:
            others = f"it has {', '.join(map(repr, names))}" if names else "it has no vectors"
            raise FileError(f"{path.name}: has no {wanted!r} of 2 or 3 numbers at its points; {others}")
        return wanted
    found = sorted(filter(is_named_so, names), key=_rank)
    if not found:
        return None
    name = found[0]
    do_move = moves()
    if do_move:
        _say(path, f"the points move from frame to frame, so that {name!r} is not added to them", name, "adds it")
    elif found[1:]:
        others = " and ".join(map(repr, found[1:]))
        what = f"the displacement {name!r} is added to the points; {others} could be meant too"
        _say(path, what, found[1], "takes that instead")
    else:
        _say(path, f"the displacement {name!r} is added to the points", NONE, "leaves them where they are")
    return None if do_move else name


def _say(path: Path, what: str, other: str, does: str) -> None:
    warnings.warn(f"{path.name}: {what}; displacement={other!r} (--displacement {other}) {does}", stacklevel=3)


def added(path: Path, points: np.ndarray, vectors: Vectors, name: str) -> np.ndarray:
    """(n, 3) points, with a vector added; the third component of a plane one is 0."""
    if name not in vectors:
        raise FileError(f"{path.name}: has no {name!r} at its points")
    vector = np.asarray(vectors[name](), np.float64)
    if vector.shape not in ((len(points), 2), (len(points), 3)):
        raise FileError(f"{path.name}: {name!r} has the shape {vector.shape}, but there are {len(points)} points")
    bad = ~np.isfinite(vector).all(axis=1)
    if bad.any():
        raise FileError(f"{path.name}: {name!r} at point {int(np.argmax(bad))} is not finite")
    moved = points.copy()
    moved[:, : vector.shape[1]] += vector
    return moved


def are_elsewhere(points: np.ndarray, first: np.ndarray) -> bool:
    """Whether points of a later frame have moved; frames of another number of points tell nothing."""
    return points.shape == first.shape and not np.array_equal(points, first)


def times_of_two(time: float) -> np.ndarray:
    """Of the mesh at rest and of the only frame, which is at a time."""
    return np.array([0.0 if time > 0.0 else time - 1.0, time])


class RestAndDisplaced:
    """The frames of a file that has one: at rest, and with its displacement."""

    def __init__(self, rest: np.ndarray, displaced: np.ndarray) -> None:
        self._frames = rest, displaced

    def __len__(self) -> int:
        return 2

    def __getitem__(self, frame: int) -> np.ndarray:
        return self._frames[frame]
