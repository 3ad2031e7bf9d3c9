"""Places of a surface where something is marked: which there are, and from where each is seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_APART = 0.03  # of a diagonal: marked faces that are closer are one place
_SIDES = 48  # directions to look from
_MOST_FACES = 40_000  # that are asked whether they are in the way


class Place(NamedTuple):
    """Marked faces close to each other."""

    faces: np.ndarray  # (k,) ids
    middle: np.ndarray  # (3,)
    reach: float  # radius of a ball around them


def places_of(x: np.ndarray, faces: np.ndarray, marked: np.ndarray) -> list[Place]:
    """Those with most faces first; marked : (m,) bool."""
    ids = np.flatnonzero(marked)
    if len(ids) == 0:
        return []
    corners = x[faces[ids]]
    size = float(np.linalg.norm(np.ptp(x[np.unique(faces)], axis=0))) or 1.0
    cells = np.floor(corners.mean(axis=1) / (_APART * size)).astype(np.int64)
    group = _grouped(cells)
    found = []
    for label in np.unique(group):
        own = corners[group == label].reshape(-1, 3)
        lower, upper = own.min(axis=0), own.max(axis=0)
        reach = 0.5 * float(np.linalg.norm(upper - lower))
        found.append(Place(ids[group == label], 0.5 * (lower + upper), reach))
    return sorted(found, key=lambda one: -len(one.faces))


def _grouped(cells: np.ndarray) -> np.ndarray:
    """(k,) labels, equal where rows of cells (k, 3) are the same or next to each other, one after the other."""
    known, row = np.unique(cells, axis=0, return_inverse=True)
    place = {tuple(cell): i for i, cell in enumerate(known.tolist())}
    label = np.full(len(known), -1)
    around = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    for start in range(len(known)):
        waiting = [start] if label[start] < 0 else []
        while waiting:
            one = waiting.pop()
            if label[one] >= 0:
                continue
            label[one] = start
            a, b, c = known[one].tolist()
            near = (place.get((a + i, b + j, c + k)) for i, j, k in around)
            waiting += [other for other in near if other is not None and label[other] < 0]
    return label[row.reshape(-1)]


def outwards(x: np.ndarray, faces: np.ndarray, place: Place) -> np.ndarray:
    """(3,) the direction in which least of the surface is in the way; of several, the one that its normals point to.

    Faces of a file need not be turned outwards, so that normals alone do not tell where outside is.
    """
    corners = x[faces[place.faces]]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    normal /= max(float(np.linalg.norm(normal)), 1e-300)
    some = faces[:: max(1, -(-len(faces) // _MOST_FACES))]
    a, b, c = (x[some[:, i]] - place.middle for i in range(3))
    ways = _sides()
    blocked = [int(_hits(a, b, c, way, 0.3 * place.reach).sum()) for way in ways]
    return ways[int(np.argmin(4.0 * np.array(blocked) - ways @ normal))]


def _sides() -> np.ndarray:
    """(s, 3) directions that are evenly spread: on a spiral from pole to pole."""
    i = np.arange(_SIDES)
    y, turn = 1.0 - (2.0 * i + 1.0) / _SIDES, 2.399963 * i
    r = np.sqrt(1.0 - y * y)
    return np.stack((r * np.cos(turn), y, r * np.sin(turn)), axis=1)


def _hits(a: np.ndarray, b: np.ndarray, c: np.ndarray, way: np.ndarray, near: float) -> np.ndarray:
    """(m,) bool: triangles that a ray from 0 meets farther away than `near`."""
    u, v = b - a, c - a
    p = np.cross(way, v)
    det = np.einsum("ij,ij->i", u, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = -np.einsum("ij,ij->i", a, p) / det
        q = np.cross(-a, u)
        t = q @ way / det
        distance = np.einsum("ij,ij->i", v, q) / det
        return (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0) & (distance > near)
