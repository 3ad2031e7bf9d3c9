"""Which vertices are inside of which cells at an instant, and which way they get out."""

from __future__ import annotations

import time
from typing import Any, NamedTuple, overload

import numpy as np

from pliant.elementary.cell_weights import weights_in_cells
from pliant.elementary.certified import HIT
from pliant.elementary.containment import decide_containment, shapes_of
from pliant.engine.scene import topology_of
from pliant.hierarchy.traverse import ALL, INTER, SELF
from pliant.mesh.tested import mesh_to_test
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.depths import penetration
from pliant.queries.enclosures import enclosed
from pliant.queries.points import BROAD
from pliant.results.insides import InsideCells, InsideSurface
from pliant.runtime.arrays import OptionError, as_positions, choose, thread_count
from pliant.runtime.jit import kernel
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool

_WANTED = {"all": ALL, "self": SELF, "inter": INTER}
_BLOCK = 8192
_CELLS = 8192  # of a chunk, at most


class Choice(NamedTuple):
    """Which pairs are wanted, and who looks for them."""

    labels: np.ndarray  # (n,) int32 object of each vertex
    wanted: int = ALL
    broad: str = "tree"  # a name of ``BROAD``


@overload
def inside(
    mesh: Any,
    x: Any,
    *,
    points: None = None,
    objects: Any = None,
    pairs: str = "all",
    depth: bool = True,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> InsideCells: ...
@overload
def inside(
    mesh: Any,
    x: Any,
    *,
    points: Any,
    depth: bool = True,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> InsideSurface: ...
def inside(
    mesh: Any,
    x: Any,
    *,
    points: Any = None,
    objects: Any = None,
    pairs: str = "all",
    depth: bool = True,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> InsideCells | InsideSurface:
    """What is inside of what, exactly: vertices of a volume mesh in its cells, or points in a closed surface.

    Without points: every vertex of a volume mesh that is inside of a solid cell which it is no corner of, each pair
    once. A cell is what its triangulated surface winds around, and that surface. Shells contain nothing, but their
    vertices count.

    With points: every one of them that the surface winds around (winding number other than 0), or that is on it. The
    surface has to be closed: along every edge as many faces run one way as the other, vertices at equal positions being
    one. How it is turned does not matter, nor whether it is connected, manifold, or intersects itself. The surface of a
    volume mesh is the faces that one solid has.

    Penetration without a vertex inside, such as two edges that cross, is not seen here: ``dcd`` sees that.

    Parameters
    ----------
    mesh : VolumeMesh, a dict of cells, or a meshio object; with points also (m, 3) integers or a TriMesh
    x : (n, 3) floats
        Positions of the vertices of the mesh.
    points : (k, 3) floats, optional
        Positions of what is searched for, in place of the vertices of the mesh.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components. Not with points.
    pairs : {"all", "self", "inter"}
        All pairs, those of a vertex and a cell of one object, or of different ones. Not with points.
    depth : bool
        Also how deep each vertex is in the object of the cell, and the direction that leads out; with points the
        distance and direction of the closest point of the surface.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    InsideCells, or with points InsideSurface

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where. ``OpenSurfaceError`` where points are given and the
        surface is not closed.
    """
    if points is not None:
        if objects is not None or pairs != "all":
            raise OptionError("objects= and pairs= are not for points=: the mesh is one object then")
        return enclosed(mesh, x, points, depth=depth, threads=threads, progress=progress)
    volume, x, labels = _gate(mesh, x, objects, pairs, depth)
    tally, pool = Tally(), ThreadPool(thread_count(threads), progress)
    found = find_inside(volume, x, Choice(labels, _WANTED[pairs]), pool, tally)
    clock = time.perf_counter()
    weights = np.empty((len(found), 8))
    shapes, quiet = shapes_of(volume), ThreadPool(pool.threads)
    quiet.run_range(lambda a, b: weights_in_cells(x, shapes, found[a:b], weights[a:b]), len(found), 1024)
    clock = tally.lap("weights", clock)
    vertices, cells = found[:, 0].copy(), found[:, 1].copy()
    if depth and len(found):
        sides = penetration(volume, x, labels, vertices, cells, quiet)
        tally.lap("depth", clock)
    else:
        sides = np.full(len(found), np.nan), np.full((len(found), 3), np.nan)
    found_inside = InsideCells(vertices, cells, weights, *sides, stages=tally.stages())
    return logged("inside", volume, found_inside, tally)


def _gate(mesh: Any, x: Any, objects: Any, pairs: str, depth: bool) -> tuple[VolumeMesh, np.ndarray, np.ndarray]:
    """Checked input, and the object of each vertex; 0 for all where nobody asks for it."""
    choose(pairs, "pairs", tuple(_WANTED))
    volume, x = mesh_to_test(mesh).volume, as_positions(x, "x")
    if volume is None:
        raise OptionError("a surface has no cells: say what may be inside of it, points=(k, 3) positions")
    volume.require_in_range(len(x))
    if objects is None and pairs == "all" and not depth:
        return volume, x, np.zeros(len(x), np.int32)
    topology = topology_of(volume, objects)
    topology.require(len(x))
    labels = topology.labels(_WANTED[pairs]) if objects is not None else None
    return volume, x, topology.named(len(x)) if labels is None else labels


def find_inside(volume: VolumeMesh, x: np.ndarray, choice: Choice, pool: ThreadPool, tally: Tally) -> np.ndarray:
    """(k, 2) int32 vertices and the cells that hold them, sorted."""
    if volume.solid_count == 0:
        return np.empty((0, 2), np.int32)
    clock = time.perf_counter()
    corner_count, shapes = volume.corner_count, shapes_of(volume)
    points = BROAD[choice.broad](x, volume, ThreadPool(pool.threads))
    tally.lap("hierarchy", clock)
    found: list[np.ndarray] = []
    tallies = [Tally() for _ in range(pool.threads)]

    def look_at(worker: int, chunk: range) -> None:
        at, mine = chunk.start, tallies[worker]
        pairs = np.empty((_BLOCK, 2), np.int32)
        while at < chunk.stop:
            clock = time.perf_counter()
            count, after = points.fill(volume._corners, corner_count, at, chunk.stop, pairs)
            if after == at:  # one cell has more vertices than fit
                pairs = np.empty((2 * len(pairs), 2), np.int32)
                continue
            kept = _keep_foreign(volume._corners, choice.labels, choice.wanted, pairs, count)
            mine.add("boxes", count, kept, time.perf_counter() - clock)
            status, at = np.empty(kept, np.int8), after
            if decide_containment(x, shapes, pairs[:kept], status, mine):
                found.append(pairs[:kept][status == HIT])

    size = max(1, min(_CELLS, volume.solid_count // (4 * pool.threads) + 1))
    chunks = [range(a, min(a + size, volume.solid_count)) for a in range(0, volume.solid_count, size)]
    pool.run(look_at, chunks)
    tally.merge(tallies)
    rows = np.concatenate([np.empty((0, 2), np.int32), *found])
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


@kernel
def _keep_foreign(corners, labels, wanted, pairs, count):
    """Keep the pairs of wanted objects whose vertex is no corner of the cell, in place; returns how many."""
    kept = 0
    for p in range(count):
        v, cell = pairs[p, 0], pairs[p, 1]
        own = False
        for k in range(corners.shape[1]):
            own = own or corners[cell, k] == v
        same = labels[v] == labels[corners[cell, 0]]
        if not own and (wanted == ALL or same == (wanted == SELF)):
            pairs[kept, 0], pairs[kept, 1] = v, cell
            kept += 1
    return kept
