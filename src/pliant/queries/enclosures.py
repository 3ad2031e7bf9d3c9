"""Which points are inside of a closed surface at an instant, and how deep: by its winding number around them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant.bounds.kdops import bound_union, bound_vertices
from pliant.elementary.certified import HIT, UNSURE
from pliant.elementary.windings import Columns, wind_in_doubles
from pliant.hierarchy.build import fit_nodes, label_ranges, split_elements
from pliant.mesh.tested import mesh_to_test
from pliant.mesh.triangles import TriMesh
from pliant.mesh.welding import weld
from pliant.queries.exits import Exits, closest_exits
from pliant.results.insides import InsideSurface
from pliant.runtime.arrays import OpenSurfaceError, as_positions, require_in_range, thread_count
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool

_POINTS = 2048  # of a chunk
_NAMED = 3  # parts that an error lists


def enclosed(
    mesh: Any, x: Any, points: Any, *, depth: bool = True, threads: int | None = None,
    progress: Progress | bool | None = None,
) -> InsideSurface:  # fmt: skip
    """The points that a closed surface winds around, or that are on it; ``pliant.inside`` is the way here."""
    faces, x = boundary_faces(mesh, x)
    points = as_positions(points, "points")
    tally, pool = Tally(), ThreadPool(thread_count(threads), progress)
    clock = time.perf_counter()
    require_closed(faces, x)
    clock = tally.lap("closed", clock)
    if not len(faces):
        points = points[:0]
    surface, ids = columns_of(faces, x, ThreadPool(pool.threads))
    tally.lap("hierarchy", clock)
    winding, status = np.zeros(len(points), np.int32), np.zeros(len(points), np.int8)
    wind(surface, points, winding, status, pool, tally)
    rows = np.flatnonzero((winding != 0) | (status == HIT)).astype(np.int32)
    sides = np.full(len(rows), np.nan), np.full((len(rows), 3), np.nan)
    if depth and len(rows):
        clock = time.perf_counter()
        closest_points(surface, ids, points[rows], sides, ThreadPool(pool.threads))
        tally.lap("depth", clock)
    found = InsideSurface(rows, winding[rows], status[rows] == HIT, *sides, stages=tally.stages())
    return logged("inside", TriMesh(faces), found, tally)


def boundary_faces(mesh: Any, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """Triangles that bound something: of a mesh with solids, the faces that exactly one of them has."""
    tested, x = mesh_to_test(mesh, interior=False), as_positions(x, "x")
    faces, volume = tested.features._faces, tested.volume
    if volume is not None and volume.solid_count:
        faces = volume.faces[volume.solids_at_faces == 1]
    require_in_range(faces, "faces", len(x))
    return faces, x


# --- closed ----------------------------------------------------------------------------------------------------------


def require_closed(faces: np.ndarray, x: np.ndarray) -> None:
    """Every edge is gone along as often one way as the other: else the winding number is no integer.

    Vertices at equal positions are one here, whatever their ids: what a surface encloses does not depend on them.
    """
    welded = weld(faces, x)
    used, edge, keys, net = edge_balance(welded, len(x))
    if not net.any():
        return
    odd = np.bincount(edge, minlength=len(keys)) % 2 == 1
    bad = odd if odd.any() else net != 0
    first = used[bad[edge]] // 3  # sides of face f are 3 f to 3 f + 2
    parts = TriMesh(welded).components[welded[first, 0]]
    a, b = (int(end) for end in divmod(keys[bad][0], len(x)))
    at = ", ".join(f"{value:.6g}" for value in 0.5 * x[a] + 0.5 * x[b])
    where = f"{_parts(parts, first, edge[bad[edge]])}, one of them from vertex {a} to vertex {b} at ({at})"
    number = f"{int(bad.sum()):,} edge{'s' if bad.sum() > 1 else ''}"
    if odd.any():
        raise OpenSurfaceError(
            f"the surface is not closed and has no inside: {number} on its boundary, {where}; close it, or leave the "
            "open parts out"
        )
    raise OpenSurfaceError(
        f"the faces of the surface are not all turned the same way round, so it has no inside: {number} along which "
        f"faces disagree, {where}; make its normals consistent"
    )


def edge_balance(welded: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """How often faces run along each edge one way more than the other: never, of a closed surface.

    welded : (m, 3) corners, with vertices at equal positions being one; count : of vertices
    Returns the sides of faces that are edges (s,), the edge of each of them (s,), its two vertices as lower * count +
    upper (e,), and how often more from the lower to the upper one than back (e,).
    """
    sides = welded[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)
    used = np.flatnonzero(sides[:, 0] != sides[:, 1])
    lower, upper = sides.min(axis=1)[used], sides.max(axis=1)[used]
    keys, edge = np.unique(lower * count + upper, return_inverse=True)
    return used, edge, keys, np.bincount(edge, np.where(sides[used, 0] == lower, 1, -1), len(keys))


def _parts(parts: np.ndarray, faces: np.ndarray, edges: np.ndarray) -> str:
    """How many edges there are in each connected part, which is known by one of its faces."""
    _, one = np.unique(edges, return_index=True)  # an edge counts once
    labels, first, counts = np.unique(parts[one], return_index=True, return_counts=True)
    words = [f"{count:,} in the part with face {faces[one][i]}" for i, count in zip(first[:_NAMED], counts)]
    more = [f"others in {len(labels) - _NAMED:,} more parts"] if len(labels) > _NAMED else []
    return ", ".join(words + more)


# --- winding ---------------------------------------------------------------------------------------------------------


def columns_of(faces: np.ndarray, x: np.ndarray, pool: ThreadPool) -> tuple[Columns, np.ndarray]:
    """The surface in a tree, and the ids of its faces by place."""
    bounds = bound_union(bound_vertices(x, x, pool=pool), faces, pool)
    tree = split_elements(bounds, pool)
    places = np.take(bounds, tree.order, axis=0)
    nodes = fit_nodes(places, tree.begin, pool)
    return Columns(x, faces[tree.order], places, nodes, tree.begin), tree.order


def wind(
    surface: Columns, points: np.ndarray, winding: np.ndarray, status: np.ndarray, pool: ThreadPool, tally: Tally
) -> None:
    """Fill in the winding number of every point, and HIT for those on the surface."""
    clock = time.perf_counter()

    def look_at(_: int, chunk: range) -> None:
        wind_in_doubles(surface, points, chunk.start, chunk.stop, winding, status)

    pool.run(look_at, [range(a, min(a + _POINTS, len(points))) for a in range(0, len(points), _POINTS)])
    undecided = np.flatnonzero(status == UNSURE)
    seconds = time.perf_counter() - clock
    tally.add("exact: doubles", len(points), len(points) - len(undecided), seconds)
    if len(undecided):
        # Compiled when first needed.
        from pliant.elementary.exact_windings import wind_in_integers

        clock = time.perf_counter()
        parts = [undecided[a : a + _POINTS // 16] for a in range(0, len(undecided), _POINTS // 16)]
        ThreadPool(pool.threads).run(lambda _, rows: wind_in_integers(surface, points, rows, winding, status), parts)
        tally.add("exact: integers", len(undecided), len(undecided), time.perf_counter() - clock)
        seconds += time.perf_counter() - clock
    tally.add("exact", len(points), int(np.count_nonzero((winding != 0) | (status == HIT))), seconds)


# --- depth -----------------------------------------------------------------------------------------------------------


def closest_points(
    surface: Columns, ids: np.ndarray, points: np.ndarray, sides: tuple[np.ndarray, np.ndarray], pool: ThreadPool
) -> None:
    """Fill in the distance and the direction of the closest point of the surface."""
    x = np.concatenate((surface.x, points))
    exponent = int(np.frexp(np.abs(x).max())[1])
    x = np.ldexp(x, -exponent)
    labels, outside = np.zeros(len(ids), np.int32), np.full(len(x), -1, np.int32)
    begin, none = surface.begin, np.empty(0, np.int32)
    exits = Exits(
        x, surface.corners, _normals(x, surface.corners), ids, labels, np.ldexp(surface.nodes, -exponent), begin,
        label_ranges(labels, begin), outside, np.zeros(1, np.int64), none, np.empty((0, 8), np.int32),
    )  # fmt: skip
    rows = np.arange(len(points))
    vertices, inside = (rows + len(surface.x)).astype(np.int32), np.zeros(len(points), np.int32)
    depth, direction = sides
    pool.run_range(lambda a, b: closest_exits(exits, rows[a:b], vertices, inside, depth, direction), len(points), 64)
    depth[:] = np.ldexp(depth, exponent)


def _normals(x: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(m, 3) unit vectors; outward where the surface as a whole is turned either way, 0 of faces without area."""
    a, b, c = (x[corners[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    o = x[corners[0, 0]]  # of the surface itself: of a point far away, rounding decides the sign
    turned = -1.0 if np.einsum("ij,ij->", a - o, np.cross(b - o, c - o)) < 0.0 else 1.0
    return np.divide(turned * normals, length[:, None], out=np.zeros_like(normals), where=length[:, None] > 0.0)
