"""Two whole triangles, for arrays of pairs: their first contact (paper 002) and their distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.elementary.advance import approach_of
from pliant.elementary.paths import straight_paths
from pliant.elementary.triangle_advance import QUADS, Firsts, cull, first_by_advancement, first_by_exact_test
from pliant.elementary.triangle_distance import triangle_distances
from pliant.elementary.witness import points_of_contact
from pliant.engine.plan import Accuracy
from pliant.filters.axes.triangle_features import CULLS
from pliant.queries.deprecated import accuracy_from, refuse_rest
from pliant.queries.features import as_queries, as_tuples
from pliant.results.answers import PairDistances, TriangleContacts, TrianglePairs
from pliant.runtime.arrays import (
    OptionError,
    ShapeError,
    as_radii,
    choose,
    require_finite,
    thread_count,
)
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool

_CHUNK = 16384  # what one call leaves, a few percent with up to 15 pairs of features each, stays in the cache


def triangle_triangle(
    x0: Any,
    x1: Any,
    *,
    min_distance: float = 0.0,
    radii: Any = None,
    accuracy: Accuracy | None = None,
    culls: Sequence[str] = CULLS,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **old: Any,
) -> TrianglePairs:
    """When do two triangles touch first while their corners move in straight lines, and where?

    Parameters
    ----------
    x0, x1 : (k, 6, 3) floats
        Positions of a0, a1, a2, b0, b1, b2 at t = 0 and t = 1, k pairs that have nothing to do with each other.
    min_distance : float
        To ask when they come within that distance.
    radii : (k, 6) floats, optional
        Instead of a distance, radii of the corners, which interpolate over the triangles and add up.
    accuracy : Accuracy, optional
        For the pairs of features that the conditions leave: conservative advancement by default, as in the paper, which
        a distance always uses; it reports what comes within the tolerance too, relative to the extent of the twelve
        points, and never too late. ``Accuracy(solver="exact")`` for the exact test.
    culls : sequence of str
        Which conditions are used: "centres", the axis between them, as it is and over-relaxed; "in turn", one axis
        after another; and those of "Simple Culling Methods for Continuous Collision Detection of Deforming Triangles":
        Corollaries "4.3", "6.2", "6.1", Lemma "5.1", Corollary "6.3", Lemmas "4.4" and "5.2". They change the time,
        never the result.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    TrianglePairs
        Contact is that of the 6 vertex-face and 9 edge-edge pairs: triangles that pass through each other from the
        start may have none. Degenerate triangles are segments or points.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    accuracy = accuracy_from(Accuracy(solver="advance") if accuracy is None else accuracy, old)
    refuse_rest(old, "triangle_triangle")
    x0, x1 = as_tuples(x0, "x0", 6), as_tuples(x1, "x1", 6)
    if x0.shape != x1.shape:
        raise ShapeError(f"x0 holds {len(x0)} pairs, but x1 holds {len(x1)}")
    tolerance, which = accuracy.tolerance, _as_bits(culls)
    radii = as_radii(min_distance, radii, (1 if radii is None else len(x0), 6))
    advances = accuracy.solver == "advance" or bool(radii.any())
    count = len(x0)
    pool = ThreadPool(thread_count(threads), progress)
    tallies, found = [Tally() for _ in range(pool.threads)], list[tuple[np.ndarray, Firsts]]()

    def work(worker: int, start: int) -> None:
        part = slice(start, min(start + _CHUNK, count))
        motion, sizes = (x0[part], x1[part]), radii[part] if len(radii) > 1 else radii
        left = cull(*motion, sizes, tolerance if advances else 0.0, which, tallies[worker])
        if left.odd:
            require_finite(x0, "x0")
            require_finite(x1, "x1")
        if advances:
            firsts = first_by_advancement(*motion, sizes, tolerance, left, tallies[worker])
        else:
            firsts = first_by_exact_test(*motion, left, tallies[worker])
        hit = np.flatnonzero(firsts.feature >= 0)
        found.append((start + left.ids[hit], Firsts(*(column[hit] for column in firsts))))

    pool.run(work, range(0, max(1, count), _CHUNK))  # of no pairs one part, too
    return _tabulate(x0, x1, radii if advances else None, found, Tally().merge(tallies))


def _as_bits(culls: Sequence[str]) -> int:
    if isinstance(culls, str):
        raise OptionError(f"culls={culls!r} must be a sequence of names, such as ({culls!r},)")
    return sum(1 << CULLS.index(choose(name, "culls", CULLS)) for name in dict.fromkeys(culls))


def _tabulate(
    x0: np.ndarray, x1: np.ndarray, radii: np.ndarray | None, found: list[tuple[np.ndarray, Firsts]], tally: Tally
) -> TrianglePairs:
    """The pairs that hit, found as (rows, first contacts), in order and with their points of contact."""
    columns = [np.concatenate(parts) for parts in zip(*((rows, *firsts) for rows, firsts in found), strict=True)]
    order = np.argsort(columns[0])
    touching, toi, toi_upper, feature, status = (column[order] for column in columns)
    count, hit = len(touching), np.zeros(len(x0), bool)
    hit[touching] = True
    contacts = TriangleContacts(
        toi, toi_upper, (feature >= 6).astype(np.int8), np.empty((count, 2), np.int8), np.zeros((count, 6)),
        np.empty((count, 3)), np.empty(count), status,
    )  # fmt: skip
    for kind, first in ((VERTEX_FACE, 0), (EDGE_EDGE, 6)):
        at = np.flatnonzero(contacts.kind == kind)
        if not len(at):
            continue
        rows, number = touching[at], feature[at] - first
        contacts.features[at, 0] = number if kind == VERTEX_FACE else number // 3
        contacts.features[at, 1] = number < 3 if kind == VERTEX_FACE else number % 3
        start, end, columns = x0[rows].reshape(-1, 3), x1[rows].reshape(-1, 3), QUADS[feature[at]]
        approach = None
        if radii is not None:
            sizes = (radii[rows] if len(radii) > 1 else np.repeat(radii, len(rows), axis=0)).ravel()
            approach = approach_of(straight_paths(start, end), sizes, np.zeros(len(sizes)))
        quads = columns + 6 * np.arange(len(rows), dtype=np.int32)[:, None]
        weights, normal, contacts.gap[at] = points_of_contact(kind, start, end, approach, quads, toi[at])
        # The vertex comes first in its pair; here the first triangle does.
        sign = np.where((number >= 3) & (kind == VERTEX_FACE), -1.0, 1.0)[:, None]
        contacts.weights[at[:, None], columns] = sign * weights
        contacts.normal[at] = sign * normal + 0.0
    return TrianglePairs(hit, contacts, tally.stages())


def triangle_distance(x: Any) -> PairDistances:
    """How far two triangles are apart; 0 where they intersect.

    Whether they intersect is decided exactly. Of triangles that do, the points are one of those that they share, and
    the normal is that of a triangle.

    Parameters
    ----------
    x : (k, 6, 3) floats
        Positions of a0, a1, a2, b0, b1, b2, k pairs that have nothing to do with each other.

    Returns
    -------
    PairDistances
        One row for each pair.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    x = as_queries(x, "x", 6)
    distance, weights, normal = triangle_distances(x)
    first = np.einsum("ki,kij->kj", weights[:, :3], x[:, :3])
    second = np.einsum("ki,kij->kj", -weights[:, 3:], x[:, 3:])
    return PairDistances(distance, np.stack((first, second), axis=1), weights, normal)
