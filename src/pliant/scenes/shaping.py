"""Vertices of tetrahedra are moved onto a surface, and evened out, without spoiling any cell."""

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import add, cross, dot, lerp, row, scale, sub
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel
from pliant.scenes.flesh import Flesh, pull_to_surface, pulled

# Of a cell: see `_quality`. No vertex is moved such that a cell gets below the first; on the surface, cells below the
# second are called flat; below the last, ways out are tried.
_LEAST, _FLAT, _GOOD = 0.4, 0.55, 0.62
_TRIES = 12


class _Cells(NamedTuple):
    """Cells, and what is at each vertex: cells, and neighbours (those on the surface if it is there itself)."""

    corners: np.ndarray  # (c, 4)
    size: float  # of a cell as it should be: the cube of which 1/12 is its volume
    cell_start: np.ndarray
    cells: np.ndarray
    start: np.ndarray
    neighbours: np.ndarray
    on_surface: np.ndarray


class Sweeps(NamedTuple):
    even_out: int
    improve: int  # each after one more of the others


def shape_cells(flesh: Flesh, corners: np.ndarray, size: float, sweeps: Sweeps, x: np.ndarray) -> np.ndarray:
    """Move positions x (v, 3), in place, such that outer vertices are on the surface, as far as cells allow.

    size : the spacing of the body-centred lattice that the cells (c, 4) are from
    Returns which cells (c,) with two faces or more on the surface are flat, or would be if their vertices were all
    there: it is better without them.
    """
    volume = VolumeMesh({"tetra": corners})
    cells = _linked(volume, size)
    for _ in range(sweeps.even_out):
        _even_out(flesh, cells, x)
    for _ in range(sweeps.improve):
        _even_out(flesh, cells, x)
        _improve(flesh, cells, x)
    outer = np.bincount(volume.surface().cells, minlength=len(corners))
    ideal, on = x.copy(), x[cells.on_surface]
    pull_to_surface(flesh, on, 3)
    ideal[cells.on_surface] = on
    return (outer >= 2) & (np.minimum(_qualities(cells, x), _qualities(cells, ideal)) < _FLAT)


def _qualities(cells: _Cells, x: np.ndarray) -> np.ndarray:
    out = np.empty(len(cells.corners))
    _measure_qualities(cells, x, out)
    return out


@kernel
def _measure_qualities(cells, x, out):
    for cell in range(len(out)):
        out[cell] = _quality(cells, x, cell)


def _linked(volume: VolumeMesh, size: float) -> _Cells:
    on_surface = np.zeros(volume.vertex_limit, bool)
    surface = volume.surface()
    on_surface[surface.faces] = True
    edges = np.concatenate([surface.edges, volume.edges[~on_surface[volume.edges].all(axis=1)]])
    pairs = np.concatenate([edges, edges[:, ::-1]])
    pairs = pairs[on_surface[pairs[:, 1]] | ~on_surface[pairs[:, 0]]]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    start = np.searchsorted(pairs[:, 0], np.arange(volume.vertex_limit + 1))
    return _Cells(volume._cells["tetra"], size, *volume._vertex_cells, start, pairs[:, 1].copy(), on_surface)


@kernel
def _even_out(flesh, cells, x):
    """Move every vertex towards the middle of its neighbours, on the surface if it is there; one sweep."""
    buffer = np.empty(len(flesh.parents))
    for v in range(len(x)):
        middle, n = (0.0, 0.0, 0.0), cells.start[v + 1] - cells.start[v]
        for k in range(cells.start[v], cells.start[v + 1]):
            middle = add(middle, scale(row(x, cells.neighbours[k]), 1.0 / n))
        if cells.on_surface[v]:
            middle = pulled(flesh, pulled(flesh, middle, buffer), buffer)
        before, least = row(x, v), min(_LEAST, _worst_at(cells, x, v))
        for k in range(5):
            if _moves(cells, x, v, lerp(before, middle, 0.5**k), least):
                break


@kernel
def _improve(flesh, cells, x):
    """Move vertices of bad cells wherever the worst of these gets better; one sweep."""
    buffer = np.empty(len(flesh.parents))
    for v in range(len(x)):
        worst = _worst_at(cells, x, v)
        for k in range(_TRIES):
            if worst > _GOOD:
                break
            step = (0.2 if k % 2 else -0.2) * 0.4 ** (k // 6) * cells.size
            p, axis = row(x, v), k // 2 % 3
            p = add(p, (step * (axis == 0), step * (axis == 1), step * (axis == 2)))
            if cells.on_surface[v]:
                p = pulled(flesh, p, buffer)
            if _moves(cells, x, v, p, worst + 1e-3):
                worst = _worst_at(cells, x, v)


@helper
def _moves(cells, x, v, p, least):
    """Move vertex v to p, unless a cell there would be worse than `least`."""
    before = row(x, v)
    x[v, 0], x[v, 1], x[v, 2] = p
    if _worst_at(cells, x, v) >= least:
        return True
    x[v, 0], x[v, 1], x[v, 2] = before
    return False


@helper
def _worst_at(cells, x, v):
    worst = 1.0
    for k in range(cells.cell_start[v], cells.cell_start[v + 1]):
        worst = min(worst, _quality(cells, x, cells.cells[k]))
    return worst


@helper
def _quality(cells, x, cell):
    """Mean ratio of a tetrahedron: 1 if regular, 0.95 in the lattice, 0 if flat, negative if inverted.

    Less for a small one: at most 1.6 times its volume, if 1 is that of the lattice.
    """
    a, b = row(x, cells.corners[cell, 0]), row(x, cells.corners[cell, 1])
    c, d = row(x, cells.corners[cell, 2]), row(x, cells.corners[cell, 3])
    u, v, w = sub(b, a), sub(c, a), sub(d, a)
    volume = dot(u, cross(v, w))
    uv, vw, uw = sub(u, v), sub(v, w), sub(u, w)
    edges = dot(u, u) + dot(v, v) + dot(w, w) + dot(uv, uv) + dot(vw, vw) + dot(uw, uw)
    ratio = 12.0 * (0.5 * abs(volume)) ** (2.0 / 3.0) / edges
    return min(ratio, 3.2 * volume / cells.size**3)
