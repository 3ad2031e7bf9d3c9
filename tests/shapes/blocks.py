"""Cells of volume meshes: at random, in grids, in fans and in rings."""

from __future__ import annotations

import itertools

import numpy as np

from tests.reference import volumes as truth

COLUMNS = {name: len(points) for name, points in truth.UNIT_CELLS.items()}


def random_blocks(seed, vertices=14, most=6, names=truth.ORDER):
    """Cells at random among few vertices, some of them twice, some of them with corners in another order."""
    rng = np.random.default_rng(seed)
    blocks = {}
    for name in names:
        cells = [rng.permutation(vertices)[: COLUMNS[name]].tolist() for _ in range(rng.integers(0, most))]
        cells += [rng.permutation(cell).tolist() if rng.integers(2) else cell for cell in cells[: rng.integers(0, 3)]]
        if cells or rng.integers(2):
            blocks[name] = np.array(cells, np.int64).reshape(-1, COLUMNS[name])
    return blocks


def grid(size, shuffled=None):
    """size**3 hexahedra, and positions; vertices in a random order where a seed is given."""
    n = size + 1
    place = np.array(list(itertools.product(range(n), repeat=3)))[:, ::-1]
    name = np.arange(n**3) if shuffled is None else np.random.default_rng(shuffled).permutation(n**3)
    unit = np.array(truth.UNIT_CELLS["hexahedron"])
    cells = [[name[x + n * y + n * n * z] for x, y, z in unit + at] for at in itertools.product(range(size), repeat=3)]
    x = np.empty((n**3, 3))
    x[name] = place
    return {"hexahedron": np.array(cells)}, x


def fan(count, vertex=0):
    """Tetrahedra that have one vertex in common and nothing else."""
    others = np.delete(np.arange(3 * count + 1), vertex).reshape(-1, 3)
    return {"tetra": np.insert(others, 0, vertex, axis=1)}


def ring(count):
    """Tetrahedra around one edge, each of which shares a face with the next."""
    rim = np.arange(2, count + 2)
    return {"tetra": np.stack((np.zeros_like(rim), np.ones_like(rim), rim, np.roll(rim, -1)), axis=1)}


def tetrahedra(size, shuffled=None):
    """Hexahedra of a grid, cut into six tetrahedra around a diagonal each."""
    cells = grid(size, shuffled)[0]["hexahedron"]
    path = [(0, a, b, 6) for a, b in ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1))]
    return {"tetra": cells[:, path].reshape(-1, 4)}
