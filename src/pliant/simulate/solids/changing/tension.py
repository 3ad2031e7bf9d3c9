"""How much the cells around a vertex pull it apart, and along which plane (O'Brien and Hodgins 1999).

The stress of each cell is parted into tension and compression. Both make forces on the vertex, -s a with the area
vector a of the cell there, the integral of the gradient of its shape function. With m(f) = f f' / |f| the separation
tensor is

    1/2 (sum m(f+_i) - m(sum f+_i) - sum m(f-_i) + m(sum f-_i))

over the cells i: what pulls in two directions, without what pulls the vertex as a whole. Its largest eigenvalue is a
force; over the area that the cells around the vertex have across the eigenvector, half the sum of |a_i . n|, it is a
stress: in a body under a uniform stress in one direction, exactly this one. Here stresses are shares of the failure
stress of each cell, so that several materials may meet, and a vertex fails above 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mesh.cells import CORNER_COUNT, MOST_CORNERS, SOLID_TYPES, TYPES
from pliant.mesh.volumes import VolumeMesh
from pliant.simulate.solids.changing.fans import gather
from pliant.simulate.solids.quadrature import _reference

_SMALL = 1e-300


class Tension(NamedTuple):
    """At vertices, (k,) ids: tensor (k, 3, 3), separation tensor; stress (k,), as a share of what fails; normal (k, 3)
    of the plane it opens at"""

    vertices: np.ndarray
    tensor: np.ndarray
    stress: np.ndarray
    normal: np.ndarray


def area_vectors(mesh: VolumeMesh, x: np.ndarray, cells: np.ndarray, thickness: np.ndarray | None = None) -> np.ndarray:
    """(k, 8, 3) m2, integrals of the gradients of shape functions over some cells at x, (n, 3); their sum over a cell
    is 0.

    thickness : (c,) m, of shells
    """
    out = np.zeros((len(cells), MOST_CORNERS, 3))
    for kind, name in enumerate(TYPES):
        rows = np.flatnonzero(mesh._types[cells] == kind)
        if not len(rows):
            continue
        count = int(CORNER_COUNT[kind])
        corners = x[mesh._corners[cells[rows], :count]]
        if kind >= SOLID_TYPES:
            height = np.ones(len(rows)) if thickness is None else thickness[cells[rows]]
            out[rows, :count] = _of_shells(corners) * height[:, None, None]
            continue
        _, derivatives, weights = _reference(name)
        a, b, c = np.moveaxis(np.einsum("cix,qik->ckqx", corners, derivatives), 1, 0)
        cofactor = np.stack((np.cross(b, c), np.cross(c, a), np.cross(a, b)), axis=-1)  # (cells, q, x, k)
        out[rows, :count] = np.einsum("q,qik,cqxk->cix", weights, derivatives, cofactor)
    return out


def _of_shells(x: np.ndarray) -> np.ndarray:
    """(k, 3 or 4, 3) of flat polygons of thickness 1: shape functions are linear along the edges, so that each corner
    has half of the normals of its two, in the plane."""
    along = np.roll(x, -1, axis=1) - np.roll(x, 1, axis=1)
    normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    if x.shape[1] == 4:
        normal = np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return 0.5 * np.cross(along, (normal / np.maximum(length, _SMALL))[:, None])


def parted(stress: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tension and compression, (k, 3, 3) each, which add up to the stress."""
    values, axes = np.linalg.eigh(stress)
    tension = np.einsum("ka,kia,kja->kij", np.maximum(values, 0.0), axes, axes)
    return tension, np.einsum("ka,kia,kja->kij", np.minimum(values, 0.0), axes, axes)


def tension_at(
    mesh: VolumeMesh, x: np.ndarray, vertices: np.ndarray, stress: np.ndarray, thickness: np.ndarray | None = None
) -> Tension:
    """What pulls vertices, ids, apart; stress : (c, 3, 3) of cells, in shares of their failure stress"""
    owner, cell = gather(mesh._vertex_cells, vertices)
    row = np.searchsorted(vertices, owner)
    cells, at = np.unique(cell, return_inverse=True)
    areas = area_vectors(mesh, x, cells, thickness)[at]
    corner = mesh._corners[cell] == owner[:, None]
    area = areas[np.arange(len(cell)), corner.argmax(axis=1)]
    tensor = np.zeros((len(vertices), 3, 3))
    for part, sign in zip(parted(stress[cells]), (0.5, -0.5)):
        force = -np.einsum("kij,kj->ki", part[at], area)
        total = np.zeros((len(vertices), 3))
        np.add.at(total, row, force)
        np.add.at(tensor, row, sign * _stretched(force))
        tensor -= sign * _stretched(total)
    values, axes = np.linalg.eigh(tensor)
    normal = axes[:, :, 2]
    across = 0.5 * np.bincount(row, np.abs(np.einsum("ki,ki->k", area, normal[row])), minlength=len(vertices))
    return Tension(vertices, tensor, values[:, 2] / np.maximum(across, _SMALL), normal)


def _stretched(force: np.ndarray) -> np.ndarray:
    """(k, 3, 3): f f' / |f|, 0 for no force."""
    length = np.linalg.norm(force, axis=1)[:, None, None]
    return force[:, :, None] * force[:, None, :] / np.maximum(length, _SMALL)
