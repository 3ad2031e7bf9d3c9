"""What a case is, and what cases are made with: meshes put together, normals, smooth random fields."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import pliant

FIRST_FRESH = 1_000  # seeds from here on were not run before parameters were chosen (bench/untangling/fresh.py)
Part = tuple[np.ndarray, np.ndarray]  # faces (m, 3) and positions (n, 3)


class Given(NamedTuple):
    """What a maker makes: a tangled mesh, and what may be known about it.

    faces : (m, 3); x : (n, 3) float64
    fixed : (n,) bool, vertices that must not move
    layers : (n,) integers, 0 for the innermost layer, 1 for the next one out, and so on
    solid : (n,) bool, closed objects that all other vertices belong outside of
    reference : (n, 3), a clean state
    """

    faces: np.ndarray
    x: np.ndarray
    fixed: np.ndarray | None = None
    layers: np.ndarray | None = None
    solid: np.ndarray | None = None
    reference: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One tangled mesh with a name, a class and a seed; see `Given`."""

    name: str
    kind: str
    seed: int
    given: Given

    @cached_property
    def mesh(self) -> pliant.TriMesh:
        return pliant.TriMesh(self.given.faces)

    @property
    def faces(self) -> np.ndarray:
        return self.given.faces

    @property
    def x(self) -> np.ndarray:
        return self.given.x

    @property
    def reference(self) -> np.ndarray | None:
        """(n, 3), a state that may serve as a reference; not part of the options."""
        return self.given.reference

    @property
    def held_out(self) -> bool:
        """Parameters are not to be chosen by what becomes of this one."""
        return is_held_out(self.seed)

    @cached_property
    def edge(self) -> float:
        """Mean length of an edge that can move: the unit of all distances in the tables."""
        edges = self.mesh.edges
        if self.given.fixed is not None:
            edges = edges[~self.given.fixed[edges].all(axis=1)]
        return mean_length(edges, self.x)

    @cached_property
    def options(self) -> dict[str, Any]:
        """What `pliant.untangle(case.mesh, case.x, **case.options)` is told."""
        told: dict[str, Any] = {}
        if self.given.fixed is not None:
            told["fixed"] = self.given.fixed
        if self.given.layers is not None:
            told["layers"] = self.given.layers
        if self.given.solid is not None:
            components = self.mesh.components
            told["outside_of"] = np.unique(components[self.given.solid[: len(components)] & (components >= 0)]).tolist()
        return told


class Recipe(NamedTuple):
    """A case that has not been made yet: the list of all is there at once."""

    name: str
    kind: str
    seed: int
    give: Callable[[], Given]

    def make(self) -> Case:
        return Case(self.name, self.kind, self.seed, self.give())

    @property
    def held_out(self) -> bool:
        return is_held_out(self.seed)


def is_held_out(seed: int) -> bool:
    """Fresh seeds are held out, the others are there to choose parameters by."""
    return seed >= FIRST_FRESH


def mean_length(edges: np.ndarray, x: np.ndarray) -> float:
    return float(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1).mean())


def mean_edge(faces: np.ndarray, x: np.ndarray) -> float:
    """Mean length of the sides of all faces."""
    return mean_length(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), x)


def joined(*parts: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Faces, positions, and for each vertex the number of its part."""
    sizes = [len(x) for _, x in parts]
    first = np.cumsum([0, *sizes[:-1]])
    faces = np.concatenate([faces + begin for (faces, _), begin in zip(parts, first)])
    return faces, np.concatenate([x for _, x in parts]), np.repeat(np.arange(len(parts)), sizes)


def compacted(faces: np.ndarray, x: np.ndarray) -> Part:
    """Without the vertices that no face names."""
    used, renumbered = np.unique(faces, return_inverse=True)
    return renumbered.reshape(faces.shape), x[used]


def normals(faces: np.ndarray, x: np.ndarray, sweeps: int = 0) -> np.ndarray:
    """(n, 3) unit normals of vertices, smoothed over as many rings as there are sweeps."""
    a, b, c = (x[faces[:, i]] for i in range(3))
    along = np.cross(b - a, c - a)
    n = np.zeros_like(x)
    for i in range(3):
        np.add.at(n, faces[:, i], along)
    for _ in range(sweeps):
        n = _unit(n)
        mean = n[faces].sum(axis=1)
        n = np.zeros_like(x)
        for i in range(3):
            np.add.at(n, faces[:, i], mean)
    return _unit(n)


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300)


def field(rng: np.random.Generator, x: np.ndarray, wavelength: float) -> np.ndarray:
    """(n,) a smooth random field in space of mean square about 1: eight plane waves of 1 to 2 times the length."""
    out = np.zeros(len(x))
    for _ in range(8):
        direction = rng.normal(size=3)
        k = 2 * math.pi / (wavelength * rng.uniform(1.0, 2.0)) / np.linalg.norm(direction)
        out += np.cos(k * (x @ direction) + rng.uniform(0, 2 * math.pi))
    return out / 2


def turned(x: np.ndarray, rng: np.random.Generator, angle: float | None = None) -> np.ndarray:
    """Positions turned about their centre: by an angle about a random axis, or at random."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    angle = rng.uniform(0, 2 * math.pi) if angle is None else angle
    skew = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    turn = np.eye(3) + math.sin(angle) * skew + (1 - math.cos(angle)) * np.einsum("ij,jk->ik", skew, skew)
    centre = x.mean(axis=0)
    return np.einsum("ij,kj->ik", x - centre, turn) + centre
