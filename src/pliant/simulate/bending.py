"""Bending: curvature of each triangle from the angles at its three sides, and what threads resist to it.

The curvature of a triangle is the one that makes its three angles what they are: in a regular mesh, of faces of area
A, the sum over its sides of (length angle / 2A) m m', m the unit vector perpendicular to the side in its plane. It is
exact where curvature is constant, whichever way the sides run. Angles at hinges alone, each for itself, are off by up
to three, depending on the direction of the sides; the sum above, on irregular meshes, by a fifth.

Length times angle is measured by a vector that is linear in the positions, as in Bergou, Wardetzky, Harmon, Zorin,
Grinspun, "A quadratic bending model for inextensible surfaces" (2006): r = L x, which has the direction of the normal
at the side and the length 2 sin(angle/2) times that of the side. So the Hessian is constant: one number for each pair
of vertices, made once. Where the cloth is bent at rest, r is L x - c n, with the normal n of the two faces at the side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel
from pliant.runtime.threads import ThreadPool
from pliant.simulate.materials import Material
from pliant.simulate.membrane import flatten
from pliant.simulate.rows import Rows, multiply_scalar_rows, rows_of

# A side is flat at rest where the sine of half of its angle is below this: rounding of positions gives as much.
_FLAT = 1e-7
# Determinant over the cube of the norm below which angles do not determine a curvature, and how much larger than in a
# regular mesh its parts may be.
_CONIC, _LARGEST_RATIO = 1e-4, 2.0


class Bending(NamedTuple):
    """What is fixed of all hinges.

    rows, values : the Hessian, a scalar for each pair of vertices, (k,) float64
    hinges : (h, 4) int32, ends of the side, and the corners across it of both faces
    weights : (h, 4) float64, of the four vertices: L
    faces : (m, 3) int32, hinges of each triangle, -1 at the boundary
    stiffness : (m, 3, 3) float64, of the three
    rest : (h,) float64, length of r at rest, with sign
    damping : float, s
    is_flat : whether all of rest is 0
    """

    rows: Rows
    values: np.ndarray
    hinges: np.ndarray
    weights: np.ndarray
    faces: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    damping: float
    is_flat: bool


def bending_of(
    faces: np.ndarray, face_edges: np.ndarray, rest: np.ndarray, shape: np.ndarray | None, materials: list[Material],
    kind: np.ndarray,
) -> Bending:  # fmt: skip
    """faces : (m, 3) int32; face_edges : (m, 3) edge ids of f0 f1, f1 f2, f2 f0; rest : (n, 2 or 3), lengths at rest;
    shape : (n, 3) positions that the angles at rest are those of, or None for flat; kind : (m,) of the materials."""
    flat = flatten(faces, rest)
    sides, opposite = _hinges(faces, face_edges)
    hinge_of_edge = np.full(int(face_edges.max(initial=-1)) + 1, -1, np.int32)
    hinge_of_edge[face_edges[sides[:, 0] // 3, sides[:, 0] % 3]] = np.arange(len(sides))
    of_face = np.where(face_edges >= 0, hinge_of_edge[face_edges], -1).astype(np.int32)
    hinges = np.column_stack(
        (faces[sides[:, 0] // 3, sides[:, 0] % 3], faces[sides[:, 0] // 3, (sides[:, 0] + 1) % 3], opposite)
    ).astype(np.int32)
    weights = _weights(flat, sides, faces, hinges)
    moments = _moments(flat, _responses(flat, sides, faces, hinges, weights), of_face)
    stiffness = _stiffness(flat, moments, materials, kind)
    n = len(rest)
    rows, values = _hessian(faces, of_face, hinges, weights, stiffness, n)
    bent = np.zeros(len(hinges)) if shape is None else _lengths(shape, hinges, weights)
    damping = float(np.mean([material.damping for material in materials]))
    return Bending(rows, values, hinges, weights, of_face, stiffness, bent, damping, not bent.any())


def _hinges(faces: np.ndarray, face_edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sides (3 f + i) on both faces of edges that have two, (h, 2), and the corners across, (h, 2)."""
    flat = face_edges.reshape(-1)
    order = np.argsort(flat, kind="stable")
    order = order[flat[order] >= 0]
    _, first, count = np.unique(flat[order], return_index=True, return_counts=True)
    two = first[count == 2]
    sides = np.column_stack((order[two], order[two + 1]))
    return sides, faces[sides // 3, (sides % 3 + 2) % 3]


def _weights(flat: np.ndarray, sides: np.ndarray, faces: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """(h, 4): sums of cotangents at the ends of the side, as flat as both faces are."""
    weights = np.zeros(hinges.shape)
    for column in range(2):
        f, i = sides[:, column] // 3, sides[:, column] % 3
        a, b, c = (flat[f, (i + k) % 3] for k in range(3))
        at_a, at_b = _cotangent(b - a, c - a), _cotangent(a - b, c - b)
        same = faces[f, i] == hinges[:, 0]
        # Pull of the face on its side, outwards in its plane: |e| t = cot(b) (c - a) + cot(a) (c - b), from c.
        weights[:, 0] += np.where(same, at_b, at_a)
        weights[:, 1] += np.where(same, at_a, at_b)
        weights[:, 2 + column] -= at_a + at_b
    return weights


def _cotangent(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", one, two) / np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])


def _responses(
    flat: np.ndarray, sides: np.ndarray, faces: np.ndarray, hinges: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """(m, 3, 3): r of the sides of each triangle if curvature were 1 along warp, along weft, or both."""
    responses = np.zeros((len(faces), 3, 3))
    for column in range(2):
        f, i = sides[:, column] // 3, sides[:, column] % 3
        g, j = sides[:, 1 - column] // 3, sides[:, 1 - column] % 3
        a, b, own = (flat[f, (i + k) % 3] for k in range(3))
        p, q, other = (flat[g, (j + k) % 3] for k in range(3))
        side, across = q - p, other - p
        squared = np.einsum("ij,ij->i", side, side)
        share = np.einsum("ij,ij->i", side, across) / squared
        share = np.where(faces[g, j] == faces[f, i], share, 1.0 - share)
        height = np.abs(side[:, 0] * across[:, 1] - side[:, 1] * across[:, 0]) / np.sqrt(squared)
        outwards = np.column_stack(((b - a)[:, 1], -(b - a)[:, 0])) / np.sqrt(squared)[:, None]
        outwards *= -np.sign(np.einsum("ij,ij->i", outwards, own - a))[:, None]
        unfolded = a + share[:, None] * (b - a) + height[:, None] * outwards
        same = faces[f, i] == hinges[:, 0]
        at_a, at_b = np.where(same, weights[:, 0], weights[:, 1]), np.where(same, weights[:, 1], weights[:, 0])
        corners = ((at_a, a), (at_b, b), (weights[:, 2 + column], own), (weights[:, 3 - column], unfolded))
        responses[f, i] = sum(weight[:, None] * _quadratics(x) for weight, x in corners)
    return responses


def _quadratics(x: np.ndarray) -> np.ndarray:
    return np.column_stack((0.5 * x[:, 0] ** 2, 0.5 * x[:, 1] ** 2, x[:, 0] * x[:, 1]))


def _moments(flat: np.ndarray, responses: np.ndarray, of_face: np.ndarray) -> np.ndarray:
    """(m, 3, 3): curvature along warp, along weft, and both, of the three r of a triangle."""
    one, two = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
    twice = np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
    side = flat[:, (1, 2, 0)] - flat
    side /= np.linalg.norm(side, axis=2, keepdims=True)
    # Perpendicular to a side (s, t) is (t, -s): m m' as warp, weft, and both.
    moments = np.stack((side[:, :, 1] ** 2, side[:, :, 0] ** 2, -side[:, :, 0] * side[:, :, 1]), axis=1)
    moments /= twice[:, None, None]
    # Where the six vertices are near a conic, angles hardly say what the curvature is: as if the mesh were regular.
    size = np.linalg.norm(responses, axis=(1, 2))
    clear = (of_face >= 0).all(axis=1) & (np.abs(np.linalg.det(responses)) > _CONIC * size**3)
    exact = np.linalg.inv(responses[clear])
    bounded = np.linalg.norm(exact, axis=(1, 2)) < _LARGEST_RATIO * np.linalg.norm(moments[clear], axis=(1, 2))
    moments[np.flatnonzero(clear)[bounded]] = exact[bounded]
    return np.where((of_face >= 0)[:, None, :], moments, 0.0)


def _stiffness(flat: np.ndarray, moments: np.ndarray, materials: list[Material], kind: np.ndarray) -> np.ndarray:
    """(m, 3, 3): energy of a triangle is half of r' stiffness r, of the three r of its sides."""
    one, two = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
    area = 0.5 * np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
    rigid = np.array([(m.bend_warp, m.bend_weft, 2.0 * np.sqrt(m.bend_warp * m.bend_weft)) for m in materials])
    return np.einsum("m,mki,mk,mkj->mij", area, moments, rigid[kind], moments)


def _hessian(
    faces: np.ndarray, of_face: np.ndarray, hinges: np.ndarray, weights: np.ndarray, stiffness: np.ndarray, n: int
) -> tuple[Rows, np.ndarray]:
    """L' K L, summed triangle by triangle over its corners and the three across its sides."""
    if not len(hinges):
        rows, _ = rows_of(faces, n)
        return rows, np.zeros(len(rows.columns))
    present = of_face >= 0
    own = hinges[of_face]  # (m, 3, 4)
    across = np.where(np.any(own[:, :, 2, None] == faces[:, None, :], axis=2), own[:, :, 3], own[:, :, 2])
    # Both corners across are in the face where two faces have the same corners: one of them stands for both.
    across = np.where(present, across, -1)
    stencil = np.concatenate((faces, across), axis=1)
    local = np.zeros((len(faces), 3, 6))
    for h in range(3):
        for k in range(4):
            hit = (stencil == own[:, h, k, None]) & present[:, h, None]
            first = np.argmax(hit, axis=1)
            local[np.arange(len(faces)), h, first] += np.where(hit.any(axis=1), weights[of_face[:, h], k], 0.0)
    rows, slots = rows_of(stencil, n)
    entries = np.einsum("mha,mhg,mgb->mab", local, stiffness, local)
    there = slots >= 0
    values = np.bincount(slots[there], weights=entries[there], minlength=len(rows.columns))
    return rows, values


def _lengths(shape: np.ndarray, hinges: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(h,) of r = L x along the normal at the side; 0 where it is flat."""
    r = np.einsum("hk,hkj->hj", weights, shape[hinges])
    length = np.einsum("hj,hj->h", r, _normals(shape, hinges))
    scale = np.linalg.norm(shape[hinges[:, 1]] - shape[hinges[:, 0]], axis=1)
    return np.where(np.abs(length) > 2.0 * _FLAT * scale, length, 0.0)


def _normals(x: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """(h, 3) unit normals at sides: of the sum of the unit normals of both faces."""
    a, b, c, d = (x[hinges[:, k]] for k in range(4))
    one, two = np.cross(b - a, c - a), np.cross(d - a, b - a)
    one /= np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-300)
    two /= np.maximum(np.linalg.norm(two, axis=1, keepdims=True), 1e-300)
    normal = one + two
    return normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)


class BendingStep:
    """Energies and forces of bending, step after step; the Hessian is ``bending.values``, times ``scale(step)``."""

    def __init__(self, bending: Bending, vertex_count: int, pool: ThreadPool) -> None:
        self.bending, self._pool = bending, pool
        self._force, self._before = np.zeros((vertex_count, 3)), np.zeros((vertex_count, 3))
        h = len(bending.hinges)
        self._r, self._normal, self._pull = np.empty((h, 3)), np.empty((h, 8)), np.empty((h, 3))
        self._curved = np.zeros((vertex_count, 3))

    def scale(self, step: float) -> float:
        return 1.0 + self.bending.damping / step

    def begin(self, x: np.ndarray) -> None:
        """Positions that the step starts from."""
        self._before[:] = x

    def energies(self, x: np.ndarray, step: float) -> tuple[float, float]:
        """(elastic energy, what a step of so many seconds adds for viscosity), at x."""
        rate = self.bending.damping / step
        moved = x - self._before
        pull = self._product(moved)
        viscous = 0.5 * rate * _dot(moved, pull)
        if self.bending.is_flat:
            own = self._product(x)
            self._force = own + rate * pull
            return 0.5 * _dot(x, own), viscous
        self._curved[:] = 0.0
        elastic = _bent(x, self.bending, (self._r, self._normal, self._pull), self._curved)
        self._force = self._curved + rate * pull
        return elastic, viscous

    def add(self, gradient: np.ndarray) -> None:
        """Add the gradient at the positions of ``energies``."""
        gradient += self._force

    def _product(self, x: np.ndarray) -> np.ndarray:
        rows, out = self.bending.rows, np.empty_like(x)
        values = self.bending.values
        self._pool.run_range(
            lambda a, b: multiply_scalar_rows(rows.start, rows.columns, values, x, a, b, out), len(x), 2048
        )
        return out


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """Not by BLAS, whose threads wait for each other on busy cores, and sum in an order of their own."""
    return float(np.einsum("ij,ij->", a, b))


@kernel
def _bent(x, bending, buffers, gradient):
    """Energy of cloth that is bent at rest; adds its gradient."""
    r, normal, pull = buffers
    for h in range(len(bending.hinges)):
        _measure(x, bending.hinges[h], bending.weights[h], bending.rest[h], r[h], normal[h])
        pull[h, 0] = pull[h, 1] = pull[h, 2] = 0.0
    energy = 0.0
    for f in range(len(bending.faces)):
        for i in range(3):
            g = bending.faces[f, i]
            if g < 0:
                continue
            for j in range(3):
                h = bending.faces[f, j]
                if h < 0:
                    continue
                k = bending.stiffness[f, i, j]
                for c in range(3):
                    pull[g, c] += k * r[h, c]
                    energy += 0.5 * k * r[g, c] * r[h, c]
    for h in range(len(bending.hinges)):
        for k in range(4):
            v = bending.hinges[h, k]
            for c in range(3):
                gradient[v, c] += bending.weights[h, k] * pull[h, c]
        if bending.rest[h] != 0.0:
            _add_turning(x, bending.hinges[h], bending.rest[h], normal[h], pull[h], gradient)
    return energy


@helper
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def _from(x, i, j):
    return x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]


@helper
def _length(a):
    return np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@helper
def _measure(x, hinge, weights, rest, r, normal):
    """r = L x - rest n; normal gets n, the length of the sum of both normals, and twice the areas."""
    for c in range(3):
        r[c] = 0.0
        for k in range(4):
            r[c] += weights[k] * x[hinge[k], c]
    if rest == 0.0:
        return
    side = _from(x, hinge[0], hinge[1])
    one, two = _cross(side, _from(x, hinge[0], hinge[2])), _cross(_from(x, hinge[0], hinge[3]), side)
    first, second = max(_length(one), 1e-300), max(_length(two), 1e-300)
    total = (
        one[0] / first + two[0] / second, one[1] / first + two[1] / second, one[2] / first + two[2] / second,
    )  # fmt: skip
    length = max(_length(total), 1e-12)
    for c in range(3):
        normal[c] = total[c] / length
        r[c] -= rest * normal[c]
    normal[3], normal[4], normal[5] = length, first, second


@helper
def _add_turning(x, hinge, rest, normal, pull, gradient):
    """Of -rest n . pull: a face's normal turns as -sum of (gradient of weight k) (n . motion of corner k)."""
    along = pull[0] * normal[0] + pull[1] * normal[1] + pull[2] * normal[2]
    k = -rest / normal[3]
    push = (
        k * (pull[0] - along * normal[0]), k * (pull[1] - along * normal[1]), k * (pull[2] - along * normal[2]),
    )  # fmt: skip
    _turn_face(x, (hinge[0], hinge[1], hinge[2]), normal[4], push, gradient)
    _turn_face(x, (hinge[1], hinge[0], hinge[3]), normal[5], push, gradient)


@helper
def _turn_face(x, corners, twice, push, gradient):
    n = _cross(_from(x, corners[0], corners[1]), _from(x, corners[0], corners[2]))
    n = (n[0] / twice, n[1] / twice, n[2] / twice)
    for k in range(3):
        slope = _cross(n, _from(x, corners[(k + 1) % 3], corners[(k + 2) % 3]))
        w = -(slope[0] * push[0] + slope[1] * push[1] + slope[2] * push[2]) / twice
        for c in range(3):
            gradient[corners[k], c] += w * n[c]
