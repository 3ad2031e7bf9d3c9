"""How often a surface winds around points: whole numbers where it is closed, generalised ones where it is open.

The winding number of an open surface around a point is the sum of the solid angles of its faces by 4 pi (Jacobson et
al. 2013). Not all of them are needed: close the surface, for each point, with triangles from its open edges to a point
infinitely far below. A ray straight up never meets these, so what it meets of the surface itself, counted exactly as
in ``enclosures``, is the winding number of the closed surface; and taking away the solid angles of the triangles that
close it leaves that of the open one. The cost is that of the exact test and one angle for each open edge, and nothing
is approximated but the rounding of these angles. Martens and Bessmeltsev (2025) use rays and boundaries likewise.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant.elementary.certified import HIT
from pliant.elementary.solid_angles import angles_below, angles_of_faces
from pliant.mesh.triangles import TriMesh
from pliant.mesh.welding import weld
from pliant.queries.enclosures import boundary_faces, columns_of, edge_balance, wind
from pliant.results.answers import Windings
from pliant.runtime.arrays import as_positions, thread_count
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool

_ANGLES = 200_000  # of a chunk
_AXES = 3  # rays along z, y and x


def winding(
    mesh: Any, x: Any, points: Any, *, threads: int | None = None, progress: Progress | bool | None = None
) -> Windings:
    """How often a surface winds around each point: 1 inside of a closed one whose faces look outward, 0 outside.

    Of a closed surface (along every edge as many faces run one way as the other, vertices at equal positions being one)
    the numbers are whole and exact. Of any other they are generalised winding numbers, the solid angle that the surface
    takes up around the point by that of a sphere, and marked as such: around a body with small holes they are close to
    1 inside and to 0 outside, and |number| >= 0.5 is a good guess, but a guess. Faces that look inward count negative;
    where surfaces overlap, numbers add up. For one of several objects, pass its faces alone.

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
        Of a volume mesh, the faces that exactly one solid has.
    x : (n, 3) floats
        Positions of the vertices of the mesh.
    points : (k, 3) floats
        Where to ask.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    Windings
        With ``number``, ``on_surface``, ``inside``, and whether they are ``exact``.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    faces, x = boundary_faces(mesh, x)
    points = as_positions(points, "points")
    tally, pool = Tally(), ThreadPool(thread_count(threads), progress)
    clock = time.perf_counter()
    ends, turns = _open_edges(faces, x)
    tally.lap("open edges", clock)
    number, on_surface = np.zeros(len(points)), np.zeros(len(points), bool)
    rows = np.arange(len(points) if len(faces) else 0)
    for axis in range(_AXES):  # the next one for what is straight below an open edge
        if len(rows):
            around, asked = (np.ascontiguousarray(np.roll(a, axis, axis=1)) for a in (x, points[rows]))
            left = _wind_along(faces, around, asked, (ends, turns), (number, on_surface, rows), pool, tally)
            rows, pool = rows[left], ThreadPool(pool.threads)
    if len(rows):  # at an open edge, or nearly so
        x, points = _scaled(x, points)
        number[rows] = _angles(lambda *a: angles_of_faces(x, faces, *a), points, rows, len(faces), pool) / (2.0 * np.pi)
    number[on_surface] = np.nan
    found = Windings(number, on_surface, len(ends) == 0, len(ends), tally.stages())
    return logged("winding", TriMesh(faces), found, tally)


def _open_edges(faces: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(e, 2) int32 vertices of edges along which faces run one way more often than the other, and how often (e,)."""
    _, _, keys, net = edge_balance(weld(faces, x), len(x))
    at = np.flatnonzero(net)
    return np.stack(np.divmod(keys[at], max(1, len(x))), axis=1).astype(np.int32), net[at]


def _wind_along(
    faces: np.ndarray, x: np.ndarray, points: np.ndarray, edges: tuple[np.ndarray, np.ndarray],
    out: tuple[np.ndarray, np.ndarray, np.ndarray], pool: ThreadPool, tally: Tally,
) -> np.ndarray:  # fmt: skip
    """Fill in numbers and what is on the surface, from rays along z; returns which of the points are left open."""
    number, on_surface, rows = out
    surface, _ = columns_of(faces, x, ThreadPool(pool.threads))
    whole, status = np.zeros(len(points), np.int32), np.zeros(len(points), np.int8)
    wind(surface, points, whole, status, pool, tally)
    on_surface[rows] = status == HIT
    off = np.flatnonzero(status != HIT)
    number[rows] = whole
    if not len(edges[0]) or not len(off):
        return off[:0]
    clock = time.perf_counter()
    x, points = _scaled(x, points)
    angles = _angles(lambda *a: angles_below(x, *edges, *a), points, off, len(edges[0]), ThreadPool(pool.threads))
    number[rows[off]] += angles / (2.0 * np.pi)
    tally.lap("open edges: angles", clock)
    return off[np.isnan(angles)]


def _scaled(x: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both by one power of two, such that no difference overflows."""
    exponent = int(np.frexp(max(np.abs(x).max(), np.abs(points).max()))[1]) + 1
    return np.ldexp(x, -exponent), np.ldexp(points, -exponent)


def _angles(measure: Any, points: np.ndarray, rows: np.ndarray, each: int, pool: ThreadPool) -> np.ndarray:
    """(r,) half the angles that so many things take up around each point."""
    out, size = np.empty(len(rows)), max(1, _ANGLES // max(1, each))
    chunks = [slice(a, a + size) for a in range(0, len(rows), size)]
    pool.run(lambda _, part: measure(points, rows[part], out[part]), chunks)
    return out
