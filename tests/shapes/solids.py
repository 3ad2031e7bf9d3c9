"""Solids for tests: boxes, balls, cells at random and bent cells, as {type: cells} and positions."""

from __future__ import annotations

import itertools

import numpy as np

from tests.reference.insides import surface_of
from tests.reference.volumes import ORDER, SHELLS, UNIT_CELLS

COLUMNS = {name: len(points) for name, points in UNIT_CELLS.items()}
SOLIDS = [name for name in ORDER if name not in SHELLS]
# A cube with its main diagonal in each of six tetrahedra.
KUHN = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]


def random_mix(seed, names=SOLIDS, vertices=16, most=5):
    """Cells at random among few vertices, most with whole coordinates: flat, folded, inverted, touching."""
    rng = np.random.default_rng(seed)
    blocks = {
        name: [rng.permutation(vertices)[: COLUMNS[name]] for _ in range(rng.integers(1, most))] for name in names
    }
    x = rng.integers(-2, 3, (vertices, 3)).astype(float)
    x[1] = x[0]
    if seed % 4 == 0:
        x[:, rng.integers(3)] = 0.0
    if seed % 4 == 1:
        x += rng.normal(size=x.shape)
    if seed % 4 == 2:
        x *= 0.1
    return {name: np.array(cells) for name, cells in blocks.items()}, x


def bent_cell(name, rng, bend):
    """A unit cell with corners off by up to so much, and points in it, on it and around it, as corners of shells."""
    corners = np.array(UNIT_CELLS[name], float)
    corners = corners + rng.uniform(-bend, bend, corners.shape)
    weights = rng.dirichlet(np.full(len(corners), 0.4), 12)
    weights[:4] = np.eye(len(corners))[rng.integers(0, len(corners), 4)] / 2
    weights[:4, 0] += 0.5  # corners and midpoints of edges and diagonals
    triangles = corners[surface_of(name, [*range(len(corners))])]
    near = np.einsum("ij,ijk->ik", rng.dirichlet((1, 1, 1), 6), triangles[rng.integers(0, len(triangles), 6)])
    points = np.concatenate((weights @ corners, rng.uniform(-0.3, 1.3, (9, 3)), corners[:3], near))
    count = len(corners)
    blocks = {name: [rng.permutation(count)], "triangle": np.arange(count, count + len(points)).reshape(-1, 3)}
    x = np.concatenate((np.empty_like(corners), points))
    x[blocks[name][0]] = corners
    return blocks, x


def grid(size, lower, upper, split=False):
    """size (a, b, c) hexahedra, or six times as many tetrahedra, of a box."""
    n = np.array(size) + 1
    ids = np.arange(n.prod()).reshape(n)
    unit = np.array(UNIT_CELLS["hexahedron"])
    cells = np.array([[ids[tuple(unit[k] + at)] for k in range(8)] for at in itertools.product(*map(range, size))])
    axes = [np.linspace(a, b, k) for a, b, k in zip(lower, upper, n)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return ({"tetra": cells[:, KUHN].reshape(-1, 4)} if split else {"hexahedron": cells}), x


def both(a, b):
    """Two meshes as one."""
    (cells_a, xa), (cells_b, xb) = a, b
    names = dict.fromkeys((*cells_a, *cells_b))
    parts = {name: [c[name] + shift for c, shift in ((cells_a, 0), (cells_b, len(xa))) if name in c] for name in names}
    return {name: np.concatenate(part) for name, part in parts.items()}, np.concatenate((xa, xb))


def ball(size, radius, centre=(0.0, 0.0, 0.0), split=False):
    """A cube whose shells are blown up to spheres."""
    blocks, x = grid((size,) * 3, (-1,) * 3, (1,) * 3, split)
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return blocks, radius * x * np.abs(x).max(axis=1, keepdims=True) / np.maximum(length, 1e-30) + centre


def pairs_of(found):
    return list(zip(found.vertices.tolist(), found.cells.tolist()))
