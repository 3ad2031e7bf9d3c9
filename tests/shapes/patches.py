"""Patches in motion on which a normal cone, taken naively, loses contacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import pliant
from pliant.scenes.shapes import grid


class Patch(NamedTuple):
    """A mesh in motion that a cone and a contour would cull as a whole; loop: that contour, where they would."""

    mesh: pliant.TriMesh
    x0: np.ndarray
    x1: np.ndarray
    loop: np.ndarray | None = None


def sheet(nu: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """A flat grid of cells of edge 1."""
    faces, points = grid(nu, nv)
    return faces, np.column_stack((points, np.zeros(len(points))))


def rim(nu: int, nv: int) -> np.ndarray:
    """The contour of such a sheet, counter-clockwise."""
    ids = np.arange((nu + 1) * (nv + 1)).reshape(nu + 1, nv + 1)
    return np.concatenate((ids[:-1, 0], ids[-1, :-1], ids[:0:-1, -1], ids[0, :0:-1]))


def rings(radii, spokes, angle=2 * np.pi, closed=True) -> tuple[np.ndarray, np.ndarray]:
    """Faces and plane points around the origin; spokes next to each other, the last next to the first if closed."""
    ids = np.arange(spokes * len(radii)).reshape(spokes, len(radii))
    after = np.roll(ids, -1, axis=0) if closed else ids[1:]
    ids = ids if closed else ids[:-1]
    a, b, c, d = (q.ravel() for q in (ids[:, :-1], ids[:, 1:], after[:, 1:], after[:, :-1]))
    turn = np.arange(spokes) * angle / spokes
    points = np.stack([np.outer(np.cos(turn), radii), np.outer(np.sin(turn), radii)], axis=-1).reshape(-1, 2)
    return np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3), np.column_stack((points, np.zeros(len(points))))


def together(*parts) -> tuple[np.ndarray, np.ndarray]:
    """Several (faces, x) as one mesh."""
    first = np.cumsum([0, *(len(x) for _, x in parts[:-1])])
    return np.concatenate([f + n for (f, _), n in zip(parts, first)]), np.concatenate([x for _, x in parts])


def welded(faces, x, pairs) -> np.ndarray:
    """Faces in which the second vertex of each pair is the first."""
    name = np.arange(len(x))
    for keep, drop in pairs:
        name[drop] = keep
    return name[faces]


def annulus_with_flap() -> Patch:
    """The flap grows from the inner rim across the hole and sinks through the ring on the other side."""
    spokes = 16
    ring = rings([1.0, 1.5, 2.0], spokes)
    flap = sheet(6, 1)
    x = flap[1] * (0.45, 2 * np.sin(np.pi / spokes), 1.0) + (-np.cos(np.pi / spokes), -np.sin(np.pi / spokes), 0.0)
    turn = np.array(
        [[np.cos(np.pi / spokes), -np.sin(np.pi / spokes)], [np.sin(np.pi / spokes), np.cos(np.pi / spokes)]]
    )
    x[:, :2] = x[:, :2] @ turn.T
    faces, x0 = together(ring, (flap[0], x))
    inner = np.arange(spokes) * 3
    start = len(ring[1])  # the first two vertices of the flap are those of the edge it grows from
    near = [int(inner[np.argmin(np.linalg.norm(x0[inner] - x0[v], axis=1))]) for v in (start, start + 1)]
    assert np.allclose(x0[near], x0[start : start + 2])
    faces = welded(faces, x0, zip(near, (start, start + 1)))
    x1 = x0.copy()
    along = np.arange(7)[:, None].repeat(2, axis=1).ravel() / 6
    x0[start:, 2], x1[start:, 2] = 0.3 * along, -0.3 * along
    return Patch(pliant.TriMesh(faces), x0, x1, np.arange(spokes) * 3 + 2)


def two_components() -> Patch:
    faces, x = sheet(5, 5)
    both, x0 = together((faces, x), (faces, x + (0.3, 0.2, 0.25)))
    x1 = x0.copy()
    x1[len(x) :, 2] *= -1
    return Patch(pliant.TriMesh(both), x0, x1, rim(5, 5))


def pinched_vertex() -> Patch:
    """Two sheets that have one vertex in common and lie over each other."""
    faces, x = sheet(4, 4)
    both, x0 = together((faces, x), (faces, x))
    x1 = x0.copy()
    x0[len(x) :, 2] += 0.05 * x0[len(x) :, :2].sum(axis=1)
    x1[len(x) :, 2] -= 0.05 * x1[len(x) :, :2].sum(axis=1)
    return Patch(pliant.TriMesh(welded(both, x0, [(0, len(x))])), x0, x1, rim(4, 4))


def three_pages() -> Patch:
    """Three faces at each edge of a spine; the third page sinks through the first."""
    faces, x = sheet(4, 6)
    left, right, third = x * (-1, 1, 1), x.copy(), x.copy()
    flipped = faces[:, ::-1]
    every, x0 = together((flipped, left), (faces, right), (faces, third))
    n, x1 = len(x), x0.copy()
    x0[2 * n :, 2], x1[2 * n :, 2] = 0.1 * third[:, 0], -0.1 * third[:, 0]
    spine = np.arange(7)
    pairs = [(v, k * n + v) for k in (1, 2) for v in spine]
    loop = np.concatenate(([0], n + rim(4, 6)[1 : 4 + 6], [6], rim(4, 6)[1 : 4 + 6][::-1]))
    return Patch(pliant.TriMesh(welded(every, x0, pairs)), x0, x1, loop)


def double_winding(spokes=12, slope=0.1) -> Patch:
    """The Riemann surface of the square root: a disc of which every face looks up, and every point lies twice in it.

    Its height is r cos(angle / 2), so the two sheets cross; it goes down as much as up.
    """
    faces, x0 = rings([0.5, 1.0, 1.5], 2 * spokes, 4 * np.pi)
    tip = len(x0)
    centre = [(tip, 3 * s, 3 * ((s + 1) % (2 * spokes))) for s in range(2 * spokes)]
    x0 = np.concatenate((x0, np.zeros((1, 3))))
    half = np.append(np.repeat(np.arange(2 * spokes) * np.pi / spokes, 3), 0.0) + 0.1
    x0[:, 2] = slope * np.linalg.norm(x0[:, :2], axis=1) * np.cos(half)
    x1 = x0 * (1, 1, -1)
    return Patch(pliant.TriMesh(np.concatenate((faces, centre))), x0, x1, np.arange(2 * spokes) * 3 + 2)


def swapped_winding() -> Patch:
    """A sheet with its centre pulled sideways, at rest; the faces that are flipped by that wind the other way."""
    faces, x = sheet(5, 5)
    x[14] += (1.5, 0.2, 0.0)
    up = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])[:, 2]
    assert np.count_nonzero(up < 0) == 2
    faces[up < 0] = faces[up < 0][:, ::-1]
    return Patch(pliant.TriMesh(faces), x, x.copy(), rim(5, 5))


def turning_inside(degrees=198.0) -> Patch:
    """The inner rings of a disc turn, each by a third more than the one around it: at both ends all normals look up,
    between they do not, while the contour does not even move."""
    radii = np.array([0.1, 0.32, 1.0, 3.2])
    faces, x0 = rings(radii, 14)
    tip = len(x0)
    centre = [(tip, 4 * s, 4 * ((s + 1) % 14)) for s in range(14)]
    rough = np.append(np.tile(radii, 14), 0.1) * np.random.default_rng(3).uniform(-0.05, 0.05, tip + 1)
    x0 = np.concatenate((x0, np.zeros((1, 3)))) + rough[:, None] * (0, 0, 1)
    angle = np.append(np.tile(np.radians(degrees) * np.array([3, 2, 1, 0]) / 3, 14), 0.0)
    x, y, z = x0.T
    x1 = np.column_stack((np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y, z))
    return Patch(pliant.TriMesh(np.concatenate((faces, centre))), x0, x1)


def fold_over() -> Patch:
    faces, x0 = sheet(8, 4)
    x1 = x0.copy()
    far = x0[:, 0] > 4
    x1[far, 0] = 8 - x0[far, 0] + 0.1
    x0[far, 2] = 0.1 * (x0[far, 0] - 4)
    x1[far, 2] = 0.02 * (x0[far, 0] - 5.5)
    return Patch(pliant.TriMesh(faces), x0, x1)


def moebius_strip(length=24) -> Patch:
    """One-sided; pressed flat, it meets itself."""
    faces, x = sheet(length, 2)
    u, v = 2 * np.pi * x[:, 0] / length, (x[:, 1] - 1) / 2
    x0 = np.column_stack(((2 + v * np.cos(u / 2)) * np.cos(u), (2 + v * np.cos(u / 2)) * np.sin(u), v * np.sin(u / 2)))
    first, last = np.arange(3), 3 * length + np.arange(3)[::-1]
    assert np.allclose(x0[first], x0[last])
    faces = welded(faces, x0, zip(first.tolist(), last.tolist()))
    return Patch(pliant.TriMesh(faces), x0, x0 * (0.4, 1.0, -0.3))


def loose_parts() -> Patch:
    """An edge and two points that belong to no face pass through a sheet."""
    faces, x = sheet(5, 5)
    n = len(x)
    x0 = np.concatenate((x, [(1.3, 1.4, 0.3), (2.6, 2.7, 0.4), (3.3, 1.6, 0.2), (1.6, 3.7, 0.2), (4.1, 4.2, 0.5)]))
    x1 = x0.copy()
    x1[n:, 2] *= -1
    return Patch(pliant.TriMesh(faces, [(n, n + 1), (n + 4, 0)], [n + 2, n + 3]), x0, x1, rim(5, 5))


def poor_faces() -> Patch:
    """A sheet with faces twice, in either direction, and faces without area, one of which passes through it."""
    faces, x = sheet(5, 5)
    n = len(x)
    x0 = np.concatenate((x, [(1.3, 1.4, 0.3), (2.6, 2.7, 0.4), (3.9, 4.0, 0.5)]))
    x1 = x0.copy()
    x1[n:, 2] *= -1
    extra = [faces[3], faces[17][::-1], faces[30], (n, n + 1, n + 1), (n, n + 2, n), (0, 7, 14), (7, 7, 7)]
    return Patch(pliant.TriMesh(np.concatenate((faces, extra))), x0, x1, rim(5, 5))


PATCHES = {
    make.__name__.replace("_", " "): make()
    for make in (
        annulus_with_flap, two_components, pinched_vertex, three_pages, double_winding, swapped_winding,
        turning_inside, fold_over, moebius_strip, loose_parts, poor_faces,
    )
}  # fmt: skip
