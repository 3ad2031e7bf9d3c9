"""Shells: what is fixed of triangles and quadrilaterals with a thickness, by their positions alone.

A shell of Kirchhoff and Love: strain at height z above the middle is that of the middle and z times the change of
curvature. Stretch of the middle is integrated as in any cell (one point of a triangle, two by two Gauss points of a
quadrilateral, so that nothing but rigid motions is free of energy). Curvature of a triangle is made of the angles at
its three sides, a quadrilateral being two triangles, split at its smallest vertex as everywhere. So there are no
degrees of freedom of rotation, and shells share vertices with solids and cloth.

An *element* is such a triangle, with the vertices across its sides. Its curvature is the sum over its sides of
(length angle / (A + A')) m m', with the unit vector m perpendicular to the side in its plane and the areas A, A' of
both triangles there: each has a share of the angle that is as large as itself. Whatever the shares, vertices inside are
in equilibrium where moments are constant (sum over triangles of A curvature is sum over sides of length angle m m'),
and nothing but flat is free of energy. The best shares are those of Morley's triangle, whose sides turn until moments
on both of their sides agree, which would take unknowns of their own: with those here bending is as stiff or stiffer. A
cantilever is exact on regular grids however they are split; with vertices off the grid by up to a quarter of a cell it
is 4 to 8 % too stiff, by more than a third 10 to 12 % (with equal shares 6 and 14 %). The curvature of cloth
(``bending.py``), exact where curvature is constant, lets grids with diagonals of both directions bend 20 % too far.

Where more than two triangles share an edge, each two of them have a hinge there that is an element by itself, as rigid
as that of cloth, and as if bent in one direction only.

What is left out: curvature counts per length at rest, and a shell that is stretched bends as if it were as thick as
before (forces along it know that it gets thinner, since plastic flow keeps the volume).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError
from pliant.simulate.bending import hinged_sides
from pliant.simulate.rows import Incidence, incidence_of
from pliant.simulate.solids.materials import SolidMaterial

STENCIL = 6  # vertices of an element: its corners, and those across its sides
_GAUSS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / np.sqrt(3.0)  # all of weight 1
_SIGNS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], np.float64)


class ShellError(MeshError):
    """A shell cell has no area at rest, or no thickness."""


class Shells(NamedTuple):
    """What is fixed of all shells, e elements with p points of integration.

    stencil : (e, 6) int32, corners of each element, and the vertices across its sides, of its quadrilateral or of a
        neighbour; -1 where there is none
    cell : (e,) int32, which shell cell it is a part of, counted from the first one; of a hinge by itself, the first
    hinged : (e, 3) bool, at which of its sides it can bend
    angle : (e, 3) float64, at rest
    bend : (e, 3, 3) float64, curvature (along warp, along weft, twice both) of the angles beyond those at rest
    start : (e + 1,) int64, where the points of each element begin
    gradient : (p, 6, 2) float64, of the weights of its vertices along warp and weft; 0 of a hinge by itself
    area : (p,) float64, at rest
    constants : (e, 6) float64, Young's modulus, Poisson's ratio, yield stress, slope of hardening, thickness, damping
    incidence : elements at each vertex
    """

    stencil: np.ndarray
    cell: np.ndarray
    hinged: np.ndarray
    angle: np.ndarray
    bend: np.ndarray
    start: np.ndarray
    gradient: np.ndarray
    area: np.ndarray
    constants: np.ndarray
    incidence: Incidence


def shells_of(mesh: VolumeMesh, rest: np.ndarray, constants: np.ndarray) -> Shells:
    """Those of all triangles and quadrilaterals of a mesh.

    rest : (n, 3) positions of the vertices without stress
    constants : (s, 6), of the shell cells in the order of the mesh, as above

    Raises
    ------
    ShellError
        Where a cell has no area, is folded over at rest, or is not thicker than nothing.
    """
    triangles, quads = mesh.cells["triangle"].astype(np.int64), mesh.cells["quad"].astype(np.int64)
    if len(constants) != len(triangles) + len(quads):
        raise ShellError(f"constants are of {len(constants)} shells, but there are {len(triangles) + len(quads)}")
    thin = ~(constants[:, 4] > 0.0)
    if thin.any():
        raise ShellError(f"shell {int(np.argmax(thin))} has a thickness of {constants[np.argmax(thin), 4]:g}")
    halves, of_half, other = _halves(quads)
    faces = np.concatenate((triangles, halves)).astype(np.int32)
    cell = np.concatenate((np.arange(len(triangles)), len(triangles) + of_half)).astype(np.int32)
    axes = np.concatenate((_axes(rest, triangles, (1, 2)), _axes(rest, quads, (2, 3))))[cell]
    flat = _flatten(rest[faces], axes, cell)
    start, gradient, area = _points(rest, triangles, quads, flat, axes[len(triangles) :])
    size = np.add.reduceat(area, start[:-1]) if len(faces) else area
    sides, shared = hinged_sides(TriMesh(faces)._face_edges)
    stencil, bend = _bends(faces, other, len(triangles), (sides[shared == 2], size, flat))
    alone = _alone(faces, (sides[shared > 2], size, flat), shared[shared > 2])
    stencil, bend = np.concatenate((stencil, alone[0])).astype(np.int32), np.concatenate((bend, alone[1]))
    cell = cell[np.concatenate((np.arange(len(faces)), alone[3]))]
    hinged = np.asarray(bend.any(axis=1))
    return Shells(
        stencil, cell, hinged, np.where(hinged, angles_at(rest, stencil), 0.0), bend,
        np.concatenate((start, start[-1] + 1 + np.arange(len(alone[0])))),
        np.concatenate((gradient, np.zeros((len(alone[0]), STENCIL, 2)))), np.concatenate((area, alone[2])),
        np.ascontiguousarray(constants[cell]), incidence_of(stencil, len(rest)),
    )  # fmt: skip


def shell_constants(materials: Sequence[SolidMaterial], thickness: np.ndarray) -> np.ndarray:
    """(s, 6) constants of shells: the material of each, and its thickness, (s,), m. Whatever the law of a material,
    shells obey Hooke's law of logarithms in plane stress."""
    rows = [(m.young, m.poisson, m.yield_stress, m.hardening, 0.0, m.damping) for m in materials]
    constants = np.array(rows, np.float64).reshape(-1, 6)
    constants[:, 4] = thickness
    return constants


def shell_mass(mesh: VolumeMesh, rest: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) mass of each vertex: its share of density times thickness times area.

    weight : (s,) kg/m2 of the shell cells
    """
    triangles, quads = mesh.cells["triangle"], mesh.cells["quad"]
    a, b, c = (rest[triangles[:, i]] for i in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0 * weight[: len(triangles)]
    mass = np.bincount(triangles.ravel(), np.repeat(third, 3), len(rest))
    shape, _, normal = _map(rest[quads])
    share = np.einsum("qi,mq->mi", shape, np.linalg.norm(normal, axis=2)) * weight[len(triangles) :, None]
    return mass + np.bincount(quads.ravel(), share.ravel(), len(rest))


def angles_at(x: np.ndarray, stencil: np.ndarray) -> np.ndarray:
    """(e, 3) angles at the sides of elements, of anything where no vertex is across."""
    out = np.zeros((len(stencil), 3))
    for h in range(3):
        a, b, c, d = (x[stencil[:, k]] for k in (h, (h + 1) % 3, (h + 2) % 3, 3 + h))
        side = b - a
        one, two = np.cross(side, c - a), np.cross(d - a, side)
        length = np.maximum(np.linalg.norm(side, axis=1), 1e-300)
        sine = np.einsum("ij,ij->i", np.cross(one, two), side) / length
        out[:, h] = np.arctan2(sine, np.einsum("ij,ij->i", one, two))
    return out


def faces_of_shells(mesh: VolumeMesh) -> np.ndarray:
    """(m, 3) triangles of all shells, both halves of each quadrilateral."""
    halves, _, _ = _halves(mesh.cells["quad"].astype(np.int64))
    return np.concatenate((mesh.cells["triangle"], halves)).astype(np.int32)


def _halves(quads: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(2 q, 3) triangles, both of a quadrilateral next to each other; which one they are of; its fourth corner."""
    order = quads.argmin(axis=1)[:, None] + np.arange(4)
    turned = np.take_along_axis(quads, order % 4, axis=1)
    halves = np.stack((turned[:, (0, 1, 2)], turned[:, (0, 2, 3)]), axis=1).reshape(-1, 3)
    return halves, np.repeat(np.arange(len(quads)), 2), turned[:, (3, 1)].reshape(-1)


def _axes(rest: np.ndarray, cells: np.ndarray, ends: tuple[int, int]) -> np.ndarray:
    """(m, 3) the axis of space that is warp: the first, or the second where that is nearly perpendicular to a cell."""
    x = rest[cells]
    one = x[:, ends[0]] - x[:, 0]
    two = x[:, ends[1]] - x[:, 1 if ends[0] == 2 else 0]
    normal = np.cross(one, two)
    steep = np.abs(normal[:, 0]) < 0.9 * np.linalg.norm(normal, axis=1)
    return np.where(steep[:, None], (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def _frames(normal: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(..., 2, 3) unit vectors along warp and weft, perpendicular to unit normals."""
    warp = axes - np.einsum("...j,...j->...", axes, normal)[..., None] * normal
    warp /= np.maximum(np.linalg.norm(warp, axis=-1, keepdims=True), 1e-300)
    return np.stack((warp, np.cross(normal, warp)), axis=-2)


def _flatten(corners: np.ndarray, axes: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """(m, 3, 2) corners of triangles along warp and weft."""
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(one, two)
    twice = np.linalg.norm(normal, axis=1)
    longest = np.maximum(np.linalg.norm(one, axis=1), np.linalg.norm(two, axis=1))
    flat = ~(twice > 1e-10 * longest**2)
    if flat.any():
        raise ShellError(f"shell {cell[np.argmax(flat)]} has no area at rest")
    return np.einsum("mkj,mcj->mck", _frames(normal / twice[:, None], axes), corners - corners[:, :1])


def _bends(
    faces: np.ndarray, other: np.ndarray, triangle_count: int, hinges: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """(m, 6) vertices of triangles, and (m, 3, 3) curvatures (along warp, along weft, twice both) of their angles.

    hinges : sides, (h, 2), 3 f + i of both triangles; areas of all triangles, (m,), and their corners, (m, 3, 2)
    """
    (sides, area, flat), m = hinges, len(faces)
    stencil = np.concatenate((faces, np.full((m, 3), -1)), axis=1)
    # Both halves begin at the smallest vertex: the diagonal is the last side of the first, the first of the second.
    halves = np.arange(triangle_count, m)
    stencil[halves, np.where((halves - triangle_count) % 2 == 0, 5, 3)] = other
    f, i = sides // 3, sides % 3
    along = np.roll(flat, -1, axis=1) - flat
    length = np.linalg.norm(along, axis=2)
    s, t = along[..., 0], along[..., 1]  # perpendicular to it is (t, -s)
    moments = np.stack((t * t, s * s, -2.0 * s * t), axis=1) / length[:, None, :]
    bend = np.zeros((m, 3, 3))
    for own in range(2):
        stencil[f[:, own], 3 + i[:, own]] = faces[f[:, 1 - own], (i[:, 1 - own] + 2) % 3]
        bend[f[:, own], :, i[:, own]] = moments[f[:, own], :, i[:, own]] / area[f].sum(axis=1)[:, None]
    return stencil, bend


def _alone(
    faces: np.ndarray, hinges: tuple[np.ndarray, np.ndarray, np.ndarray], shared: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, curvatures and areas of hinges by themselves, (h,), and the first triangle of each.

    shared : (h,) how many triangles share their edge
    """
    (sides, area, flat), rows = hinges, np.arange(len(hinges[0]))
    f, i = sides // 3, sides % 3
    third = area[f].sum(axis=1) / 3.0
    along = flat[f[:, 0], (i[:, 0] + 1) % 3] - flat[f[:, 0], i[:, 0]]
    bend = np.zeros((len(rows), 3, 3))
    bend[:, 0, 0] = np.linalg.norm(along, axis=1) / third
    own, other = faces[f[:, 0][:, None], (i[:, :1] + np.arange(3)) % 3], faces[f[:, 1], (i[:, 1] + 2) % 3]
    stencil = np.concatenate((own, other[:, None], np.full((len(rows), 2), -1)), axis=1)
    return stencil, bend, 2.0 / shared * third, f[:, 0]


def _points(
    rest: np.ndarray, triangles: np.ndarray, quads: np.ndarray, flat: np.ndarray, axes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """start, gradient and area of the points of all triangles: one of a cell, two of half of a quadrilateral."""
    count, halves = len(triangles), 2 * len(quads)
    start = np.concatenate((np.arange(count), count + 2 * np.arange(halves + 1)))
    gradient, area = np.zeros((start[-1], STENCIL, 2)), np.empty(start[-1])
    f = flat[:count]
    one, two = f[:, 1] - f[:, 0], f[:, 2] - f[:, 0]
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    for i in range(3):  # the gradient of a weight is its opposite side, turned by a right angle
        side = f[:, (i + 2) % 3] - f[:, (i + 1) % 3]
        gradient[:count, i] = np.column_stack((-side[:, 1], side[:, 0])) / twice[:, None]
    area[:count] = 0.5 * twice
    if len(quads):
        gradient[count:], area[count:] = _quad_points(rest, quads, axes[::2], count)
    return start, gradient, area


def _quad_points(rest: np.ndarray, quads: np.ndarray, axes: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Gradients and areas of Gauss points, half by half: those nearest to its corner at the smallest vertex and the
    next one are of the first half, the others of the second."""
    _, derivatives, normal = _map(rest[quads])
    determinant = np.linalg.norm(normal, axis=2)
    unit = normal / np.maximum(determinant, 1e-300)[:, :, None]
    x = rest[quads]
    size = np.abs(x - x.mean(axis=1, keepdims=True)).max(axis=(1, 2)) ** 2
    bad = ~(determinant > 1e-10 * size[:, None]).all(axis=1) | (unit @ np.swapaxes(unit, 1, 2) <= 0.0).any(axis=(1, 2))
    if bad.any():
        raise ShellError(f"shell {first + int(np.argmax(bad))}, a quad, has no area or is folded over at rest")
    tangents = np.einsum("qik,mix->mqxk", derivatives, x)
    jacobian = np.einsum("mqax,mqxk->mqak", _frames(unit, axes[:, None, :]), tangents)
    of_corners = np.einsum("qik,mqka->mqia", derivatives, np.linalg.inv(jacobian))
    smallest = np.argmin(quads, axis=1)
    order = (smallest[:, None] + np.arange(4)) % 4  # of corners, and of the points beside them
    rows = np.arange(len(quads))[:, None]
    of_corners = of_corners[rows, order][rows[:, :, None], np.arange(4)[:, None], order[:, None, :]]
    gradient = np.zeros((len(quads), 4, STENCIL, 2))
    gradient[:, :2, (0, 1, 2, 5)] = of_corners[:, :2]
    gradient[:, 2:, (0, 3, 1, 2)] = of_corners[:, 2:]
    return gradient.reshape(-1, STENCIL, 2), determinant[rows, order].reshape(-1)


def _map(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, 4) shape functions at the Gauss points, (q, 4, 2) their derivatives in the reference square, and (m, q, 3)
    normals of quadrilaterals x, (m, 4, 3), as long as area is large."""
    factors = 1.0 + _GAUSS[:, None, :] * _SIGNS
    derivatives = 0.25 * _SIGNS * factors[:, :, ::-1]
    one, two = (np.einsum("qi,mix->mqx", derivatives[:, :, k], x) for k in range(2))
    return 0.25 * factors.prod(axis=2), derivatives, np.cross(one, two)
