"""The elementary tests themselves for arrays of queries: first contact and distance of two features."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.elementary.advance import Approach, advance_pairs, approach_of
from pliant.elementary.certified import MISS
from pliant.elementary.exact import decide
from pliant.elementary.measure import closest_points
from pliant.elementary.paths import straight_paths
from pliant.elementary.witness import distance_at_rest, points_of_contact, sides_of
from pliant.engine.plan import Accuracy
from pliant.queries.deprecated import accuracy_from, refuse_rest
from pliant.results.answers import PairContacts, PairDistances
from pliant.runtime.arrays import (
    ShapeError,
    as_doubles,
    as_radii,
    require_finite,
    thread_count,
)
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool

_CHUNK = 20_000


def vertex_face(
    x0: Any,
    x1: Any,
    *,
    min_distance: float = 0.0,
    radii: Any = None,
    accuracy: Accuracy | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **old: Any,
) -> PairContacts:
    """Does a vertex touch a triangle while all move in straight lines, and when first?

    Parameters
    ----------
    x0, x1 : (k, 4, 3) floats
        Positions of v, f0, f1, f2 at t = 0 and t = 1, k queries that have nothing to do with each other.
    min_distance : float
        To ask when they come within that distance.
    radii : (k, 4) floats, optional
        Instead of a distance, radii of the vertices, which interpolate over the triangle and add up.
    accuracy : Accuracy, optional
        Exact by default; conservative advancement, which a distance always uses, also reports what comes within the
        tolerance, relative to the extent of the eight points.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    PairContacts
        One row for each query. The exact answer is that of real arithmetic on the given doubles; degenerate triangles
        are segments or points.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    return _decide(
        VERTEX_FACE, x0, x1, (min_distance, radii), accuracy, old, ThreadPool(thread_count(threads), progress)
    )


def edge_edge(
    x0: Any,
    x1: Any,
    *,
    min_distance: float = 0.0,
    radii: Any = None,
    accuracy: Accuracy | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **old: Any,
) -> PairContacts:
    """Do two edges touch while all move in straight lines, and when first?

    Parameters
    ----------
    x0, x1 : (k, 4, 3) floats
        Positions of a0, a1, b0, b1 at t = 0 and t = 1, k queries that have nothing to do with each other.
    min_distance, radii, accuracy, threads, progress
        As in ``vertex_face``.

    Returns
    -------
    PairContacts
    """
    return _decide(EDGE_EDGE, x0, x1, (min_distance, radii), accuracy, old, ThreadPool(thread_count(threads), progress))


def as_queries(x: Any, name: str, points: int = 4) -> np.ndarray:
    """(k, points, 3) float64, finite."""
    array = as_tuples(x, name, points)
    require_finite(array, name)
    return array


def as_tuples(x: Any, name: str, points: int) -> np.ndarray:
    """(k, points, 3) float64."""
    array = as_doubles(x, name)
    if array.size == 0 and array.ndim <= 3:
        return np.empty((0, points, 3))
    if array.ndim != 3 or array.shape[1:] != (points, 3):
        raise ShapeError(f"{name} must have shape (k, {points}, 3), but has {array.shape}")
    return array


def _decide(
    kind: int,
    x0: Any,
    x1: Any,
    rule: tuple[float, Any],
    accuracy: Accuracy | None,
    old: dict[str, Any],
    pool: ThreadPool,
) -> PairContacts:
    accuracy = accuracy_from(accuracy, old)
    refuse_rest(old, "edge_edge" if kind == EDGE_EDGE else "vertex_face")
    x0, x1 = as_queries(x0, "x0"), as_queries(x1, "x1")
    if x0.shape != x1.shape:
        raise ShapeError(f"x0 holds {len(x0)} queries, but x1 holds {len(x1)}")
    approach = _approach(x0, x1, rule, accuracy)
    count = len(x0)
    x0, x1 = x0.reshape(-1, 3), x1.reshape(-1, 3)
    table, pairs, quads = _features(kind, count)
    toi, toi_upper, status = np.empty(count), np.empty(count), np.empty(count, np.int8)
    tallies = [Tally() for _ in range(pool.threads)]

    def work(worker: int, start: int) -> None:
        part = slice(start, min(start + _CHUNK, count))
        answers = pairs[part], toi[part], toi_upper[part], status[part], tallies[worker]
        if approach is None:
            decide(kind, x0, x1, table, *answers)
        else:
            advance_pairs(kind, approach, table, answers[0], 1.0, *answers[1:])

    pool.run(work, range(0, count, _CHUNK))
    hit = status != MISS
    weights, normal = np.full((count, 4), np.nan), np.full((count, 3), np.nan)
    weights[hit], normal[hit], _ = points_of_contact(kind, x0, x1, approach, quads[hit], toi[hit])
    toi[~hit] = toi_upper[~hit] = np.nan
    gap = np.empty(count)
    closest_points(kind, x0.reshape(count, 4, 3), gap, np.empty((count, 4)), np.empty((count, 3)))
    return PairContacts(hit, toi, toi_upper, weights, normal, gap, status, Tally().merge(tallies).stages())


def _features(kind: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The queries as features of a mesh without shared vertices: (faces or edges, pairs, their four vertices).

    Query i is vertex 4 i and face i, or edges 2 i and 2 i + 1.
    """
    quads = np.arange(4 * count, dtype=np.int32).reshape(count, 4)
    if kind == VERTEX_FACE:
        return quads[:, 1:].copy(), np.column_stack((quads[:, 0], np.arange(count, dtype=np.int32))), quads
    return quads.reshape(-1, 2), np.arange(2 * count, dtype=np.int32).reshape(count, 2), quads


def _approach(x0: np.ndarray, x1: np.ndarray, rule: tuple[float, Any], accuracy: Accuracy) -> Approach | None:
    """What advancement needs to know, or None where the exact test decides."""
    radii = as_radii(*rule, (len(x0), 4)).ravel()
    if accuracy.solver == "exact" and not radii.any():
        return None
    # Each query at its own scale, by a power of two: the times stay what they are.
    points = np.concatenate((x0, x1), axis=1)
    exponent = np.clip(-np.frexp(np.abs(points).max(axis=(1, 2), initial=0.0))[1], -1100, 1100)
    points = np.ldexp(points, exponent[:, None, None])
    extent = np.ptp(points, axis=1).max(axis=1, initial=0.0)
    paths = straight_paths(points[:, :4].reshape(-1, 3), points[:, 4:].reshape(-1, 3))
    return approach_of(paths, np.ldexp(radii, np.repeat(exponent, 4)), np.repeat(accuracy.tolerance * extent, 4))


def vertex_face_distance(x: Any) -> PairDistances:
    """How far a vertex is from a triangle.

    Parameters
    ----------
    x : (k, 4, 3) floats
        Positions of v, f0, f1, f2, k queries that have nothing to do with each other.

    Returns
    -------
    PairDistances
        One row for each query.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    return _distances(VERTEX_FACE, x)


def edge_edge_distance(x: Any) -> PairDistances:
    """How far two edges are from each other.

    Parameters
    ----------
    x : (k, 4, 3) floats
        Positions of a0, a1, b0, b1, k queries that have nothing to do with each other.

    Returns
    -------
    PairDistances
        One row for each query.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    return _distances(EDGE_EDGE, x)


def _distances(kind: int, x: Any) -> PairDistances:
    x = as_queries(x, "x")
    distance, weights, normal = distance_at_rest(kind, x)
    return PairDistances(distance, sides_of(kind, x, weights), weights, normal)
