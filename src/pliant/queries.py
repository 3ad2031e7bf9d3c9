"""The exact test itself for arrays of queries: vertex_face and edge_edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._arrays import ShapeError, as_floats, thread_count
from pliant._jit import announce_compilation
from pliant._tally import Tally
from pliant._threads import Crew
from pliant.contacts import Queries
from pliant.elementary.certified import HIT
from pliant.elementary.exact import decide
from pliant.elementary.witness import witness
from pliant.mesh.features import EDGE_EDGE, VERTEX_FACE

_CHUNK = 20_000


def vertex_face(x0: Any, x1: Any, *, threads: int | None = None) -> Queries:
    """Does a vertex touch a triangle while all move in straight lines, and when first?

    x0, x1 : (k, 4, 3) positions of v, f0, f1, f2 at t = 0 and t = 1, k queries that have nothing to do with each other

    The answer is that of real arithmetic on the given doubles; degenerate triangles are segments or points.
    """
    return _decide(VERTEX_FACE, x0, x1, threads)


def edge_edge(x0: Any, x1: Any, *, threads: int | None = None) -> Queries:
    """Do two edges touch while all move in straight lines, and when first?

    x0, x1 : (k, 4, 3) positions of a0, a1, b0, b1 at t = 0 and t = 1, k queries that have nothing to do with each other
    """
    return _decide(EDGE_EDGE, x0, x1, threads)


def _as_queries(x: Any, name: str) -> np.ndarray:
    array = as_floats(x, name)
    if array.size == 0 and array.ndim <= 3:
        return np.empty((0, 4, 3))
    if array.ndim != 3 or array.shape[1:] != (4, 3):
        raise ShapeError(f"{name} must have shape (k, 4, 3), but has {array.shape}")
    return array


def _decide(kind: int, x0: Any, x1: Any, threads: int | None) -> Queries:
    x0, x1 = _as_queries(x0, "x0"), _as_queries(x1, "x1")
    if x0.shape != x1.shape:
        raise ShapeError(f"x0 holds {len(x0)} queries, but x1 holds {len(x1)}")
    announce_compilation()
    count = len(x0)
    x0, x1 = x0.reshape(-1, 3), x1.reshape(-1, 3)
    quads = np.arange(4 * count, dtype=np.int32).reshape(count, 4)
    # As features of a mesh without shared vertices: query i is vertex 4 i and face i, or edges 2 i and 2 i + 1.
    if kind == VERTEX_FACE:
        table, pairs = quads[:, 1:].copy(), np.column_stack((quads[:, 0], np.arange(count, dtype=np.int32)))
    else:
        table, pairs = quads.reshape(-1, 2), np.arange(2 * count, dtype=np.int32).reshape(count, 2)
    toi, toi_upper, status = np.empty(count), np.empty(count), np.empty(count, np.int8)
    crew, tallies = Crew(thread_count(threads)), [Tally() for _ in range(thread_count(threads))]

    def work(worker: int, start: int) -> None:
        part = slice(start, min(start + _CHUNK, count))
        decide(kind, x0, x1, table, pairs[part], toi[part], toi_upper[part], status[part], tallies[worker])

    crew.run(work, range(0, count, _CHUNK))
    hit = status == HIT
    weights, normal = np.full((count, 4), np.nan), np.full((count, 3), np.nan)
    weights[hit], normal[hit] = witness(kind, x0, x1, quads[hit], toi[hit])
    toi[~hit] = toi_upper[~hit] = np.nan
    return Queries(hit, toi, toi_upper, weights, normal, Tally().merge(tallies).stages())
