"""Model files that intersect themselves, and surfaces of clean ones that were made to: bent, pushed into each other."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from bench.inputs import data_folder
from bench.untangling.case import Given, Part, Recipe, compacted, field, joined, mean_edge, normals, turned
from pliant.io import read, surface_of
from pliant.mesh.welding import weld
from pliant.scenes.figure import doll, swing
from pliant.scenes.shapes import icosphere

KIND = "models"
AS_THEY_ARE = (
    "Generic_Twin_7863.1.t0_right.obj", "Generic_Twin_7081.1.t0_right.obj", "rabbit.obj", "suzanne.ply", "target.obj",
    "doubleLoopWithCube.obj", "soup.stl",
)  # fmt: skip
CLEAN = (
    "ipc_bunny.msh", "ipc_dolphin5K.msh", "ipc_hammer.msh", "ipc_torus.msh", "ipc_Armadillo13K.msh",
    "bullet_banana.vtk", "sofa_liver2.msh", "pbd_armadillo_4k.node",
)  # fmt: skip
DEPTHS = (1.0, 2.0, 3.0, 5.0)  # edges


def recipes() -> Iterator[Recipe]:
    folder = data_folder()
    named = []
    for name in AS_THEY_ARE:
        if folder is not None and (folder / "selfint" / name).exists():
            named.append((Path(name).stem, partial(_as_it_is, name)))
    models = [name for name in CLEAN if folder is not None and (folder / "volume" / name).exists()]
    for number, name in enumerate((*models, *BUILT_IN)):
        depth = DEPTHS[number % len(DEPTHS)]
        stem = Path(name).stem.partition("_")[2] or name
        both = [(f"two of {stem}, {depth:g} edges", partial(_pushed, name, depth, number))]
        both.append((f"{stem} puckered", partial(_puckered, name, number)))
        named += both[:: 1 - 2 * (number % 2)]  # both are held out in turn
    for seed, (name, give) in enumerate(named):
        yield Recipe(name, KIND, seed, give)


@lru_cache(maxsize=2)
def _file(folder: str, name: str) -> Part:
    """Vertices at equal positions are one; faces that collapse are left out."""
    root = data_folder()
    assert root is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = read(root / folder / name)
    faces = weld(np.asarray(surface_of(mesh), np.int64), mesh.points)
    a, b, c = faces.T
    return compacted(faces[(a != b) & (b != c) & (c != a)], mesh.points)


def _model(name: str) -> Part:
    return BUILT_IN[name]() if name in BUILT_IN else _file("volume", name)


def _as_it_is(name: str) -> Given:
    return Given(*_file("selfint", name))


def _pushed(name: str, depth: float, seed: int) -> Given:
    """Two of them, turned at random, the second one moved along a line until it is as deep in the first as said."""
    rng = np.random.default_rng(600 + seed)
    faces, x = _model(name)
    edge = mean_edge(faces, x)
    first, second = turned(x, rng), turned(x, rng)
    apart = _distance_along(first, second, edge)
    away = np.array([1.0, 0.0, 0.0])
    both, at, part = joined((faces, first), (faces, second + (apart - depth * edge) * away))
    return Given(both, at, reference=at + np.outer(part, (depth + 1.0) * edge * away))


def _distance_along(first: np.ndarray, second: np.ndarray, edge: float) -> float:
    """How far along x the second has to go until it is beyond the first, column by column, so wide as an edge."""
    columns: dict[tuple[int, int], float] = {}
    apart = -math.inf
    for y, z, x in zip(*np.floor(first[:, 1:].T / edge).astype(int).tolist(), first[:, 0].tolist()):
        columns[y, z] = max(x, columns.get((y, z), -math.inf))
    for y, z, x in zip(*np.floor(second[:, 1:].T / edge).astype(int).tolist(), second[:, 0].tolist()):
        apart = max(apart, columns.get((y, z), -math.inf) - x)
    return apart if apart > -math.inf else 0.0


def _puckered(name: str, seed: int) -> Given:
    """Patches are drawn together in their plane and pressed in, so that the surface folds over itself."""
    rng = np.random.default_rng(700 + seed)
    faces, x = _model(name)
    edge, out = mean_edge(faces, x), normals(faces, x, 2)
    shift = np.column_stack([field(rng, x, 6 * edge) for _ in range(3)])
    shift -= 0.7 * (shift * out).sum(axis=1, keepdims=True) * out
    where = field(rng, x, min(30 * edge, 0.5 * float(np.ptp(x, axis=0).max())))
    patch = np.clip((where - np.quantile(where, 0.7)) / where.std(), 0.0, 1.0)
    return Given(faces, x + 2.2 * edge * patch[:, None] * shift, reference=x)


def _egg() -> Part:
    faces, x = icosphere(14)
    return faces, x * (1.0, 1.3, 0.8)


def _star() -> Part:
    """A ball with soft spikes."""
    faces, x = icosphere(18)
    return faces, x * (1.0 + 0.35 * np.maximum(0.0, np.sin(4 * x[:, 0]) * np.sin(4 * x[:, 1] + 1))[:, None])


def _ring() -> Part:
    nu, nv = 96, 30
    u, v = np.divmod(np.arange(nu * nv), nv)
    a, b, c, d = u * nv + v, (u + 1) % nu * nv + v, (u + 1) % nu * nv + (v + 1) % nv, u * nv + (v + 1) % nv
    alpha, beta = 2 * math.pi * u / nu, 2 * math.pi * v / nv
    radius = 1.0 + 0.3 * np.cos(beta)
    x = np.column_stack((radius * np.cos(alpha), radius * np.sin(alpha), 0.3 * np.sin(beta)))
    return np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3), x


def _bowl() -> Part:
    """A thin shell: two sides, a fraction of its width apart."""
    faces, x = icosphere(16)
    z = np.where(x[:, 2] > 0.0, 0.35 * x[:, 2] ** 2, x[:, 2])
    return faces, np.column_stack((x[:, :2], z))


def _torso() -> Part:
    hanging = np.array([swing(np.zeros(1), 0.3, side) for side in (1, -1)])
    faces, frames = doll(7_000, hanging, hanging)[0]
    return faces, frames[0]


def _screw() -> Part:
    """A ring that is twisted and out of its plane."""
    faces, x = _ring()
    angle = 1.5 * x[:, 0]
    c, s = np.cos(angle), np.sin(angle)
    return faces, np.column_stack((1.4 * x[:, 0], c * x[:, 1] - s * x[:, 2], s * x[:, 1] + c * x[:, 2]))


BUILT_IN = {"an egg": _egg, "a star": _star, "a ring": _ring, "a bowl": _bowl, "a torso": _torso, "a screw": _screw}
