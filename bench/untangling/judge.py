"""What has become of a case, by queries that share nothing with the result."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import pliant
from bench.untangling.case import Case

MOVED = 1e-3  # edges: a vertex that has moved by less counts as one that has not
_RIM = 3.0  # edges: layers are open, and beyond their rims there is no side


class Verdict(NamedTuple):
    """Of positions for a case; distances in mean edges.

    pairs : intersecting triangles, those left out that cannot move; wrong_side : vertices, None where no side is known
    moved : share of the vertices; largest : motion; area : change of the whole area, as a share of it
    face_area : change of a face's area in mean areas, the 99th percentile; fixed_kept : bit for bit
    """

    pairs: int
    moved: float
    largest: float
    area: float
    face_area: float
    wrong_side: int | None
    fixed_kept: bool


def judge(case: Case, y: np.ndarray) -> Verdict:
    """y : (n, 3), what the case was turned into."""
    if y.shape != case.x.shape or not np.isfinite(y).all():
        raise ValueError(f"{case.name}: positions {y.shape} are not finite ones of shape {case.x.shape}")
    used = np.unique(case.faces)
    motion = np.linalg.norm(y[used] - case.x[used], axis=1) / case.edge
    before, after = _areas(case.faces, case.x), _areas(case.faces, y)
    fixed = case.given.fixed
    return Verdict(
        pairs=movable_pairs(case, y),
        moved=float((motion > MOVED).mean()),
        largest=float(motion.max()),
        area=float(abs(after.sum() / before.sum() - 1.0)),
        face_area=float(np.quantile(np.abs(after - before), 0.99) / before.mean()),
        wrong_side=wrong_side(case, y),
        fixed_kept=fixed is None or y[fixed].tobytes() == case.x[fixed].tobytes(),
    )


def movable_pairs(case: Case, y: np.ndarray) -> int:
    """Pairs of intersecting triangles at y, without those whose vertices are all fixed."""
    found = pliant.check(pliant.TriMesh(case.faces), y)
    if case.given.fixed is None:
        return len(found)
    return int((~case.given.fixed[case.faces[found.faces]].all(axis=(1, 2))).sum())


def _areas(faces: np.ndarray, x: np.ndarray) -> np.ndarray:
    a, b, c = (x[faces[:, i]] for i in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def wrong_side(case: Case, y: np.ndarray) -> int | None:
    """How many vertices are inside of what they belong outside of, or the other way round."""
    if case.given.layers is not None:
        return _in_wrong_layers(case, y)
    if case.given.solid is None:
        return None
    solid = case.given.solid
    others = np.setdiff1d(np.unique(case.faces), np.flatnonzero(solid))
    body = case.faces[solid[case.faces].all(axis=1)]
    return int(_is_inside(body, y, y[others]).sum())


def _in_wrong_layers(case: Case, y: np.ndarray) -> int:
    """Vertices that are on another side of another layer than they are in the reference."""
    layers, reference = case.given.layers, case.reference
    assert layers is not None
    assert reference is not None
    inwards = reference[layers == layers.min()].mean(axis=0) - reference[layers == layers.max()].mean(axis=0)
    known = ~_near_rims(case, reference)
    wrong = np.zeros(len(y), bool)
    for layer in range(int(layers.max()) + 1):
        faces = case.faces[(layers[case.faces] == layer).all(axis=1)]
        others = np.flatnonzero((layers != layer) & known)
        sides = [_is_inside(faces, x, x[others], inwards) for x in (reference, y)]
        wrong[others] |= sides[0] != sides[1]
    return int(wrong.sum())


def _near_rims(case: Case, x: np.ndarray) -> np.ndarray:
    rims = x[np.unique(case.mesh.edges[case.mesh.boundary_edges])]
    nearest = np.full(len(x), np.inf)
    for rim in rims:
        np.minimum(nearest, ((x - rim) ** 2).sum(axis=1), out=nearest)
    return nearest < (_RIM * case.edge) ** 2


def _is_inside(faces: np.ndarray, x: np.ndarray, points: np.ndarray, inwards: np.ndarray | None = None) -> np.ndarray:
    """(k,) bool: what the surface winds around, once its holes are closed."""
    closed, at = _closed(faces, x, inwards)
    inside = np.zeros(len(points), bool)
    inside[pliant.inside(closed, at, points=points, depth=False).vertices] = True
    return inside


def _closed(faces: np.ndarray, x: np.ndarray, inwards: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The surface with a fan over each hole, around the middle of its rim.

    A surface whose only hole is its outer rim, as a sheet is, gets the fan around a point far off, on its inner side.
    """
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    ordered, inverse, counts = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    del ordered
    rim = sides[counts[inverse.ravel()] == 1]
    if not len(rim):
        return faces, x
    holes = pliant.TriMesh(edges=rim).components
    names, hole = np.unique(holes[rim[:, 0]], return_inverse=True)
    middles = np.array([x[rim[hole == one, 0]].mean(axis=0) for one in range(len(names))])
    if inwards is not None and len(names) == 1:
        middles += 1e3 * np.ptp(x, axis=0).max() * inwards / np.linalg.norm(inwards)
    fans = np.column_stack((rim[:, 1], rim[:, 0], len(x) + hole))
    return np.concatenate((faces, fans)), np.concatenate((x, middles))
