"""Tetrahedra of about one size that fill flesh: cells of a body-centred lattice whose outer vertices are moved onto the
surface, as far as the shape of the cells allows."""

import numpy as np

from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel
from pliant.scenes.flesh import Flesh, box_of, depths_below
from pliant.scenes.shaping import Sweeps, shape_cells

_ROUNDS = (Sweeps(6, 0), Sweeps(6, 0), Sweeps(6, 2), Sweeps(6, 3), Sweeps(8, 8))
_MOST_MENDINGS = 50  # a few are enough; should two vertices undo each other's for ever, tests of scenes see it
_MOST_CELLS = 24  # at a vertex of the lattice


def stuffed(flesh: Flesh, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells (c, 4) int32, all of positive volume, and positions (v, 3). In one piece; the boundary is a manifold.

    spacing : of the lattice; its cells have a volume of spacing^3 / 12, and edges of 0.87 and 1 times it
    """
    lattice, points = _lattice(flesh, spacing)
    inside = depths_below(flesh, points[lattice].mean(axis=1)) < 0
    star = VolumeMesh({"tetra": lattice})._vertex_cells
    cells, x = lattice, points
    for sweeps in _ROUNDS:
        for _ in range(_MOST_MENDINGS):
            if not _mend(lattice, star.start, star.items, inside):
                break
        ids = _largest_part(lattice, inside)
        used, cells = np.unique(lattice[ids], return_inverse=True)
        cells, x = cells.reshape(-1, 4).astype(np.int32), points[used]
        flat = shape_cells(flesh, cells, spacing, sweeps, x)
        inside[ids[flat]] = False
    return cells, x


def _lattice(flesh: Flesh, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Cells (c, 4) and positions of a body-centred lattice, as far as it is in the flesh or within 2 steps of it."""
    lower, upper = box_of(flesh)
    lower = (np.floor(lower / spacing) - 2) * spacing  # planes of symmetry stay such
    shape = np.ceil((upper - lower) / spacing).astype(int) + 3
    corners, centres = (np.arange(np.prod(size)).reshape(size) for size in (shape, shape - 1))
    grid = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1)
    x = np.concatenate([grid.reshape(-1, 3), grid[:-1, :-1, :-1].reshape(-1, 3) + 0.5]) * spacing + lower
    near = depths_below(flesh, x) < 2 * spacing
    blocks, unit = [], np.eye(3, dtype=int)
    for axis in range(3):
        step, a, b = unit[axis], unit[(axis + 1) % 3], unit[(axis + 2) % 3]
        size = shape - 1 - step
        first, second = centres[_window(0 * step, size)], centres[_window(step, size)]
        ring = [corners[_window(step + o, size)] for o in (0 * a, a, a + b, b)]
        for one, two in zip(ring, ring[1:] + ring[:1]):
            blocks.append(np.stack([first, second, one, two], axis=-1).reshape(-1, 4))
    cells = np.concatenate(blocks)
    cells[:, :2] += corners.size
    return cells[near[cells].all(axis=1)].astype(np.int32), x


def _window(begin: np.ndarray, size: np.ndarray) -> tuple[slice, ...]:
    return tuple(slice(b, b + n) for b, n in zip(begin, size))


def _largest_part(lattice: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Ids of the cells inside that are in the largest connected part."""
    ids = np.flatnonzero(inside)
    parts = VolumeMesh({"tetra": lattice[ids]}).components[lattice[ids, 0]]
    return ids[parts == np.bincount(parts).argmax()]


@kernel
def _mend(cells, start, items, inside):
    """Flip cells, in place, where the surface is pinched; returns at how many vertices.

    The cells around a vertex of the lattice are a triangulated sphere. If both those inside and those outside hang
    together by faces, they are two discs, and the surface between them is a manifold there.
    """
    label, count = np.empty(_MOST_CELLS, np.int64), 0
    for v in range(len(start) - 1):
        star = items[start[v] : start[v + 1]]
        for side in (True, False):
            if _parts(cells, star, inside, side, label) > 1:
                largest = 0
                for i in range(len(star)):
                    if np.sum(label[: len(star)] == label[i]) > np.sum(label[: len(star)] == largest) and label[i] > 0:
                        largest = label[i]
                for i in range(len(star)):
                    if label[i] > 0 and label[i] != largest:
                        inside[star[i]] = not side
                count += 1
                break
    return count


@helper
def _parts(cells, star, inside, side, label):
    """How many parts the cells of one side are in, around a vertex; their numbers, from 1, or 0, into label."""
    parts = 0
    label[: len(star)] = 0
    for seed in range(len(star)):
        if inside[star[seed]] != side or label[seed] > 0:
            continue
        parts += 1
        label[seed], grown = parts, True
        while grown:
            grown = False
            for i in range(len(star)):
                if label[i] == 0 and inside[star[i]] == side:
                    for j in range(len(star)):
                        if label[j] == parts and _common(cells, star[i], star[j]) == 3:
                            label[i], grown = parts, True
                            break
    return parts


@helper
def _common(cells, a, b):
    count = 0
    for i in range(4):
        for j in range(4):
            count += cells[a, i] == cells[b, j]
    return count
