"""Untangling: vertices move until nothing intersects, and no further than they have to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.queries.detector import Detector
from pliant.results.contacts import Intersections
from pliant.results.untangled import AreaChange, Phase, Untangled
from pliant.runtime.clocks import Clock
from pliant.runtime.log import logged
from pliant.runtime.processes import expect
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress
from pliant.untangling.given import Given
from pliant.untangling.judging import Limits, areas, beyond
from pliant.untangling.lifting import Whole, facing_away
from pliant.untangling.reference import walk
from pliant.untangling.sides import enclosures_of, sides_of, wrong_side
from pliant.untangling.solving import solve
from pliant.untangling.window import Window, whole_window, windows_of


def untangle(
    mesh: Any,
    x: Any,
    *,
    fixed: Any = None,
    layers: Any = None,
    outside_of: Any = None,
    reference: Any = None,
    max_move: float | None = None,
    max_distortion: float = 0.25,
    seconds: float = 60.0,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Untangled:
    """Positions near x at which nothing intersects, with the same faces: what ``pliant.check`` finds is repaired.

    ``clean`` is said only after an exact check. Where not everything can be repaired, what is left is in
    ``remaining``; never more pairs than there were.

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
        Of a volume mesh, its surface; loose edges and points take no part.
    x : (n, 3) floats
        Positions.
    fixed : (n,) booleans or (k,) integers, optional
        A mask or ids of the vertices that do not move, not by a bit.
    layers : (k,) or (n,) integers, optional
        Labels of objects (connected components, as in ``mesh.components``), from inside to outside; or for each vertex
        its layer, 0 for the innermost one and -1 for none. Open layers are outside of the innermost closed one in the
        direction in which their faces look away from it; without a closed one their normals point outwards.
    outside_of : (k,) integers, optional
        Labels of closed objects that everything else belongs outside of. Small holes are closed by cones.
    reference : (n, 3) floats, optional
        Positions of the same vertices that are free of intersections: a rest pose, an earlier frame. The end is reached
        from there on a way that is free of contact, so it is clean for certain, where no fixed vertex differs from it
        and no limit is hit.
    max_move : float, optional
        No vertex ends further from where it was.
    max_distortion : float
        Largest relative change of the area of each connected region that has moved (of all faces with a vertex of it).
        Where it is larger, that region is put back, and remains tangled.
    seconds : float
        After that what was reached counts; ``method`` says so. A query that has begun is ended, and time that kernels
        are compiled in does not count.
    threads : int, optional
        Number of threads; default: as many as there are cores. It never changes the result, unless seconds run out.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (parts of the mesh done, parts in all).

    Returns
    -------
    Untangled

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where. ``LayersError`` where layers contradict each other or
        name objects that do not exist, ``OpenSurfaceError`` where an object of outside_of encloses nothing,
        ``TangledError`` where the reference intersects itself, ``NonFiniteError``.
    """
    expect("untangle")
    options = {
        "fixed": fixed, "layers": layers, "outside_of": outside_of, "reference": reference, "max_move": max_move,
        "max_distortion": max_distortion, "seconds": seconds, "threads": threads,
    }  # fmt: skip
    given = Given.of(mesh, x, options)
    exponent = _exponent(given.x)
    found = Untangling(given.scaled(exponent), progress).run()
    return found if exponent == 0 else _scaled_back(found, given, exponent)


def _exponent(x: np.ndarray) -> int:
    """Of the power of two by which positions become those of ordinary size: areas and volumes of others overflow."""
    largest = float(np.abs(x).max(initial=0.0))
    return 0 if largest == 0.0 or 2.0**-40 < largest < 2.0**40 else -int(np.frexp(largest)[1])


def _scaled_back(found: Untangled, given: Given, exponent: int) -> Untangled:
    """The result in the units that were given; what has not moved is what it was, and what intersects is found once
    more, since the smallest numbers are rounded."""
    x = np.where(found.moved[:, None], np.ldexp(found.positions, -exponent), given.x)
    hits = Detector(given.mesh, threads=given.threads).intersections(x)
    is_fixed = given.fixed[given.mesh._faces[hits.faces]].all(axis=(1, 2))
    remaining = hits[~is_fixed]
    return replace(
        found, positions=x, displacement=x - given.x, remaining=remaining, unfixable=hits[is_fixed],
        clean=not len(remaining),
    )  # fmt: skip


class Untangling:
    """One call of untangle."""

    def __init__(self, given: Given, progress: Progress | bool | None) -> None:
        self._given, self._clock, self._tally = given, Clock(given.seconds), Tally()
        self._progress = _show if progress is True else (progress or None)
        self._detector = Detector(given.mesh, threads=given.threads)
        self._history: list[Phase] = []

    def run(self) -> Untangled:
        given = self._given
        hits = self._detector.intersections(given.x)
        is_fixed = given.fixed[given.mesh._faces[hits.faces]].all(axis=(1, 2))
        unfixable, tangled = hits[is_fixed], hits[~is_fixed]
        self._note("as given", len(tangled))
        sides = sides_of(given)
        whole = Whole(given.x, enclosures_of(given, sides), given.fixed, given.threads)
        sides = sides._replace(cover=facing_away(given, whole))
        if given.reference is not None:
            given.require_free_reference(self._detector)
        if not len(tangled):
            only = "only fixed faces intersect" if len(unfixable) else "nothing intersects"
            return self._result(given.x, tangled, unfixable, whole, only)
        limits = Limits(given.max_move, given.max_distortion)
        if given.reference is not None:
            x, how = self._from_reference(limits)
        else:
            x, how = self._by_windows(whole, limits, tangled, sides)
        x, remaining = self._checked(x, tangled)
        if self._clock.ran_out:
            how += ", time was up"
        return self._result(x, remaining, unfixable, whole, how)

    # ---- ways

    def _by_windows(self, whole: Whole, limits: Limits, tangled: Intersections, sides: Any) -> tuple[np.ndarray, str]:
        given = self._given
        windows = windows_of(given.mesh, given.x, given.fixed, sides, tangled.faces, given.threads)
        x, plans, left = self._solved(windows, whole, limits)
        found = self._movable(x)
        self._note("windows", len(found))
        if len(found) > left and not self._clock.is_over:
            # Windows got into each other's way, or something left its window: all at once.
            window = whole_window(given.mesh, given.x, given.fixed, sides, given.threads)
            other, names, _ = self._solved([window], whole, limits)
            again = self._movable(other)
            self._note("all at once", len(again))
            if len(again) < len(found):
                x, plans = other, names
        return x, " and ".join(sorted(plans))

    def _solved(self, windows: list[Window], whole: Whole, limits: Limits) -> tuple[np.ndarray, set[str], int]:
        """Positions with all windows solved, the plans that won, how many pairs are left in them."""
        x, plans, left = self._given.x.copy(), set(), 0
        for number, window in enumerate(windows):
            outcome = solve(window, whole, limits, self._clock)
            x[window.ids] = outcome.x
            plans.add(outcome.plan)
            left += outcome.pairs
            if self._progress:
                self._progress(number + 1, len(windows))
        return x, plans, left

    def _from_reference(self, limits: Limits) -> tuple[np.ndarray, str]:
        given = self._given
        assert given.reference is not None
        window = Window(given.mesh._faces, np.arange(len(given.x)), given.x, given.fixed, given.threads)
        x = walk(window, given.reference, self._clock)
        bad = beyond(given.mesh._faces, window.edges, given.x, x, limits)
        x = np.where((bad | given.fixed)[:, None], given.x, x)
        return x, "from the reference"

    # ---- the end

    def _movable(self, x: np.ndarray) -> Intersections:
        """What intersects at x and is not wholly fixed."""
        hits = self._detector.intersections(x)
        return hits[~self._given.fixed[self._given.mesh._faces[hits.faces]].all(axis=(1, 2))]

    def _checked(self, x: np.ndarray, tangled: Intersections) -> tuple[np.ndarray, Intersections]:
        """The positions, or what was given where they are no better."""
        remaining = self._movable(x)
        if len(remaining) and len(remaining) >= len(tangled):
            x, remaining = self._given.x, tangled
        self._note("checked", len(remaining))
        return x, remaining

    def _note(self, phase: str, pairs: int) -> None:
        self._history.append(Phase(phase, pairs, self._clock.elapsed))

    def _result(
        self, x: np.ndarray, remaining: Intersections, unfixable: Intersections, whole: Whole, method: str
    ) -> Untangled:
        given, displacement = self._given, x - self._given.x
        result = Untangled(
            np.array(x), not len(remaining), remaining, unfixable, wrong_side(whole.enclosures, x, given.threads),
            (x != given.x).any(axis=1), displacement, _edge_change(given, x), _area_change(given, x), method,
            tuple(self._history),
        )  # fmt: skip
        return logged("untangle", given.mesh, result, self._tally)


def _edge_change(given: Given, x: np.ndarray) -> float:
    edges = given.mesh._edges
    before, after = (np.linalg.norm(at[edges[:, 1]] - at[edges[:, 0]], axis=1) for at in (given.x, x))
    return _largest_change(before, after)


def _area_change(given: Given, x: np.ndarray) -> AreaChange:
    before, after = (areas(given.mesh._faces, at) for at in (given.x, x))
    total = float(before.sum())
    return AreaChange(_largest_change(before, after), float(after.sum()) / total - 1.0 if total > 0.0 else 0.0)


def _largest_change(before: np.ndarray, after: np.ndarray) -> float:
    if not len(before) or not before.mean() > 0.0:
        return 0.0
    return float((np.abs(after - before) / np.maximum(before, before.mean())).max())


def _show(done: int, total: int) -> None:
    import sys

    print(f"\runtangle: {done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)
