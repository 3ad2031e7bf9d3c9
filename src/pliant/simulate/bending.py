"""Bending: curvature of each triangle from the angles at its three sides, and what threads resist to it.

The curvature of a triangle is the one that makes its three angles what they are: in a regular mesh, of faces of area
A, the sum over its sides of (length angle / 2A) m m', m the unit vector perpendicular to the side in its plane. It is
exact where curvature is constant, whichever way the sides run. Angles at hinges alone, each for itself, are off by up
to three, depending on the direction of the sides; the sum above, on irregular meshes, by a fifth.

Length times angle is measured by a vector that is linear in the positions, as in Bergou, Wardetzky, Harmon, Zorin,
Grinspun, "A quadratic bending model for inextensible surfaces" (2006): r = L x, which has the direction of the normal
at the side and the length 2 sin(angle/2) times that of the side. So the Hessian is constant: one number for each pair
of vertices, made once. Where the cloth is bent at rest, r is L x - c n, with the normal n of the two faces at the side.

Where more than two faces share an edge, each two of them have a hinge there that is no part of a curvature, with the
energy 3/2 of rigidity r^2 / (A + A'), as in that paper, times 2/k for k faces: then two of them are as rigid against
each other as cloth is, the others following (k springs of which each joins two of k).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.simulate.materials import Material
from pliant.simulate.membrane import flatten
from pliant.simulate.rows import Rows, rows_of

# A side is flat at rest where the sine of half of its angle is below this: rounding of positions gives as much.
_FLAT = 1e-7
# Determinant over the cube of the norm below which angles do not determine a curvature, and how much larger than in a
# regular mesh its parts may be.
_CONIC, _LARGEST_RATIO = 1e-4, 2.0


class Bending(NamedTuple):
    """What is fixed of all hinges.

    rows, values : the Hessian, a scalar for each pair of vertices, (k,) float64
    damping : (n,) float64, of the material of each vertex, s: one for all that bend together
    hinges : (h, 4) int32, ends of the side, and the corners across it of both faces
    weights : (h, 4) float64, of the four vertices: L
    faces : (m, 3) int32, hinges of each triangle, -1 at the boundary; after the triangles, hinges by themselves
    stiffness : (m, 3, 3) float64, of the three
    rest : (h,) float64, length of r at rest, with sign
    is_flat : whether all of rest is 0
    """

    rows: Rows
    values: np.ndarray
    damping: np.ndarray
    hinges: np.ndarray
    weights: np.ndarray
    faces: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    is_flat: bool


def bending_of(
    faces: np.ndarray, face_edges: np.ndarray, rest: np.ndarray, shape: np.ndarray | None, materials: list[Material],
    kind: np.ndarray,
) -> Bending:  # fmt: skip
    """faces : (m, 3) int32; face_edges : (m, 3) edge ids of f0 f1, f1 f2, f2 f0; rest : (n, 2 or 3), lengths at rest;
    shape : (n, 3) positions that the angles at rest are those of, or None for flat; kind : (m,) of the materials."""
    flat = flatten(faces, rest)
    sides, shared = hinged_sides(face_edges)
    hinge_of_edge = np.full(int(face_edges.max(initial=-1)) + 1, -1, np.int32)
    regular = np.flatnonzero(shared == 2)
    hinge_of_edge[face_edges[sides[regular, 0] // 3, sides[regular, 0] % 3]] = regular
    of_face = np.where(face_edges >= 0, hinge_of_edge[face_edges], -1).astype(np.int32)
    hinges = np.column_stack(
        (
            faces[sides[:, 0] // 3, sides[:, 0] % 3],
            faces[sides[:, 0] // 3, (sides[:, 0] + 1) % 3],
            faces[sides // 3, (sides % 3 + 2) % 3],
        )
    ).astype(np.int32)
    weights = _weights(flat, sides, faces, hinges)
    moments = _moments(flat, _responses(flat, sides[regular], faces, hinges[regular], weights[regular]), of_face)
    stiffness = _stiffness(flat, moments, materials, kind)
    single = np.flatnonzero(shared > 2)
    alone = np.full((len(single), 3), -1, np.int32)
    alone[:, 0] = single
    of_single = np.zeros((len(single), 3, 3))
    of_single[:, 0, 0] = 2.0 / shared[single] * _rigidity(flat, sides[single], materials, kind)
    damping = np.zeros(len(rest))
    damping[faces] = np.array([material.damping for material in materials])[kind, None]
    of_face, stiffness = np.concatenate((of_face, alone)), np.concatenate((stiffness, of_single))
    rows, values = _hessian(faces, of_face, (hinges, weights), stiffness, len(rest))
    bent = np.zeros(len(hinges)) if shape is None else _lengths(shape, hinges, weights)
    return Bending(rows, values, damping, hinges, weights, of_face, stiffness, bent, not bent.any())


def hinged_sides(face_edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sides (3 f + i) of each two faces at an edge, (h, 2), and how many faces share it, (h,)."""
    flat = face_edges.reshape(-1)
    order = np.argsort(flat, kind="stable")
    order = order[flat[order] >= 0]
    _, first, count = np.unique(flat[order], return_index=True, return_counts=True)
    two = first[count == 2]
    pairs, shared = [np.column_stack((order[two], order[two + 1]))], [np.full(len(two), 2)]
    for begin, several in zip(first[count > 2], count[count > 2]):
        one, other = np.triu_indices(several, 1)
        pairs.append(np.column_stack((order[begin + one], order[begin + other])))
        shared.append(np.full(len(one), several))
    return np.concatenate(pairs), np.concatenate(shared)


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


def _rigidity(flat: np.ndarray, sides: np.ndarray, materials: list[Material], kind: np.ndarray) -> np.ndarray:
    """(h,) stiffness of hinges by themselves: 3 rigidity / (sum of both areas), of the direction across the side."""
    roots = np.sqrt([(m.bend_warp, m.bend_weft) for m in materials])[kind]
    rigid, area = np.zeros(len(sides)), np.zeros(len(sides))
    for column in range(2):
        f, i = sides[:, column] // 3, sides[:, column] % 3
        a, b, c = (flat[f, (i + k) % 3] for k in range(3))
        side, other = b - a, c - a
        area += 0.5 * np.abs(side[:, 0] * other[:, 1] - side[:, 1] * other[:, 0])
        across = side[:, ::-1] ** 2 / np.einsum("ij,ij->i", side, side)[:, None]
        rigid += 0.5 * np.einsum("ij,ij->i", roots[f], across) ** 2
    return 3.0 * rigid / area


def _hessian(
    faces: np.ndarray, of_face: np.ndarray, made: tuple[np.ndarray, np.ndarray], stiffness: np.ndarray, n: int
) -> tuple[Rows, np.ndarray]:
    """L' K L, summed triangle by triangle over its corners and the three across its sides, then hinge by hinge."""
    hinges, weights = made
    if not len(hinges):
        rows, _ = rows_of(faces, n)
        return rows, np.zeros(len(rows.columns))
    m, count = len(faces), len(of_face)
    present = of_face >= 0
    own = hinges[of_face]  # (m, 3, 4)
    across = np.where(np.any(own[:m, :, 2, None] == faces[:, None, :], axis=2), own[:m, :, 3], own[:m, :, 2])
    # Both corners across are in the face where two faces have the same corners: one of them stands for both.
    stencil = np.full((count, 6), -1, np.int64)
    stencil[:m] = np.concatenate((faces, np.where(present[:m], across, -1)), axis=1)
    stencil[m:, :4] = own[m:, 0]
    local = np.zeros((count, 3, 6))
    for h in range(3):
        for k in range(4):
            hit = (stencil == own[:, h, k, None]) & present[:, h, None]
            first = np.argmax(hit, axis=1)
            local[np.arange(count), h, first] += np.where(hit.any(axis=1), weights[of_face[:, h], k], 0.0)
    rows, slots = rows_of(stencil, n)
    entries = np.einsum("mha,mhg,mgb->mab", local, stiffness, local)
    there = slots >= 0
    return rows, np.bincount(slots[there], weights=entries[there], minlength=len(rows.columns))


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
