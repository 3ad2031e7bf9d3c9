"""Untangling: vertices move until nothing intersects, and no further than they have to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from pliant.queries.detector import Detector
from pliant.results.intersections import Intersections
from pliant.results.untangled import AreaChange, Phase, Untangled
from pliant.runtime.clocks import Clock
from pliant.runtime.log import logged
from pliant.runtime.processes import expect
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, _show_on_stderr
from pliant.untangling.given import Given
from pliant.untangling.judging import FaceAreas, Limits, areas, exponent_of, within_limits
from pliant.untangling.lifting import Whole, facing_away
from pliant.untangling.reference import walk
from pliant.untangling.sides import Sides, enclosures_of, sides_checked, sides_of, wrong_side
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
    max_distortion: float = 4.0,
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
        Largest change of a face's area, relative to what it was, or to the mean area of the faces at its corners where
        that is larger. Where it would be larger, vertices are put back, and what is tangled there remains. The way
        back prefers less than a fifth, or 0.8 of the limit if that is less. Less than 1 leaves many meshes tangled
        in places: at the bottom of a fold faces change by a third to nine tenths. Without a reference, the whole area
        changes by a tenth at most, whatever the limit.
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
    return Untangling(given, progress).run()


class Untangling:
    """One call of untangle."""

    def __init__(self, given: Given, progress: Progress | bool | None) -> None:
        self._given, self._clock, self._tally = given, Clock(given.seconds), Tally()
        self._exponent = exponent_of(given.x)
        self._scaled = given.scaled(self._exponent)  # all that is computed; only what intersects is found in x itself
        self._progress = _show_on_stderr if progress is True else (progress or None)
        self._detector = Detector(given.mesh, threads=given.threads)
        self._history: list[Phase] = []

    def run(self) -> Untangled:
        given, scaled = self._given, self._scaled
        hits = self._detector.intersections(given.x)
        is_fixed = self._is_fixed(hits)
        unfixable, tangled = hits[is_fixed], hits[~is_fixed]
        self._note("as given", len(tangled))
        known = cache(lambda: sides_of(scaled))  # which takes as long as a query: only where somebody asks
        whole = Whole(scaled.x, enclosures_of(scaled, known), given.fixed, given.threads)
        sides = cache(lambda: known()._replace(cover=facing_away(scaled, whole)))
        if given.reference is not None:
            given.require_free_reference(self._detector)
        if not len(tangled):
            only = "only fixed faces intersect" if len(unfixable) else "nothing intersects"
            return self._result(scaled.x, tangled, unfixable, whole, only)
        limits = Limits(scaled.max_move, given.max_distortion)
        if given.reference is not None:
            x, how, remaining = self._from_reference(limits)
        else:
            x, how, remaining = self._by_windows(whole, limits, tangled, sides)
        if len(remaining) and len(remaining) >= len(tangled):
            x, remaining = scaled.x, tangled
        self._note("checked", len(remaining))
        if self._clock.ran_out:
            how += ", time was up"
        return self._result(x, remaining, unfixable, whole, how)

    # ---- ways: positions, how they were reached, and what is left

    def _by_windows(
        self, whole: Whole, limits: Limits, tangled: Intersections, sides: Callable[[], Sides]
    ) -> tuple[np.ndarray, str, Intersections]:
        given = self._scaled
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
                x, plans, found = other, names, again
        return x, " and ".join(sorted(plans)), found

    def _solved(self, windows: list[Window], whole: Whole, limits: Limits) -> tuple[np.ndarray, set[str], int]:
        """Positions with all windows solved, the plans that won, how many pairs are left in them."""
        x, plans, left = self._scaled.x.copy(), set(), 0
        for number, window in enumerate(windows):
            outcome = solve(window, whole, limits, self._clock)
            x[window.ids] = outcome.x
            plans.add(outcome.plan)
            left += outcome.pairs
            if self._progress:
                self._progress(number + 1, len(windows))
        return x, plans, left

    def _from_reference(self, limits: Limits) -> tuple[np.ndarray, str, Intersections]:
        given = self._scaled
        assert given.reference is not None
        window = whole_window(given.mesh, given.x, given.fixed, None, given.threads)
        x = walk(window, given.reference, limits, self._clock)
        x = np.where(given.fixed[:, None], given.x, x)
        x = within_limits(given.mesh._faces, given.x, x, limits)
        return x, "from the reference", self._movable(x)

    # ---- the end

    def _is_fixed(self, hits: Intersections) -> np.ndarray:
        """(k,) bool: all vertices of the pair are."""
        return np.asarray(self._given.fixed[self._given.mesh._faces[hits.faces]].all(axis=(1, 2)))

    def _movable(self, x: np.ndarray) -> Intersections:
        """What intersects at x, scaled, and is not wholly fixed."""
        hits = self._detector.intersections(self._unscaled(x))
        return hits[~self._is_fixed(hits)]

    def _unscaled(self, x: np.ndarray) -> np.ndarray:
        """In the units that were given: what has not moved is what it was, bit for bit."""
        moved = (x != self._scaled.x).any(axis=1)
        return np.where(moved[:, None], np.ldexp(x, -self._exponent), self._given.x)

    def _note(self, phase: str, pairs: int) -> None:
        self._history.append(Phase(phase, pairs, self._clock.elapsed))

    def _result(
        self, x: np.ndarray, remaining: Intersections, unfixable: Intersections, whole: Whole, method: str
    ) -> Untangled:
        given, scaled, positions = self._given, self._scaled, self._unscaled(x)
        result = Untangled(
            positions, not len(remaining), remaining, unfixable, wrong_side(whole.enclosures, x, given.threads),
            (positions != given.x).any(axis=1), positions - given.x, _edge_change(scaled, x), _area_change(scaled, x),
            method, tuple(self._history), sides_checked(whole.enclosures),
        )  # fmt: skip
        return logged("untangle", given.mesh, result, self._tally)


def _edge_change(given: Given, x: np.ndarray) -> float:
    edges = given.mesh._edges
    before, after = (np.linalg.norm(at[edges[:, 1]] - at[edges[:, 0]], axis=1) for at in (given.x, x))
    return _largest_change(before, after)


def _area_change(given: Given, x: np.ndarray) -> AreaChange:
    faces = given.mesh._faces
    before = FaceAreas.of(faces, given.x)
    total = float(before.area.sum())
    whole = float(areas(faces, x).sum()) / total - 1.0 if total > 0.0 else 0.0
    return AreaChange(float(before.changes(faces, x).max(initial=0.0)), whole)


def _largest_change(before: np.ndarray, after: np.ndarray) -> float:
    if not len(before) or not before.mean() > 0.0:
        return 0.0
    return float((np.abs(after - before) / np.maximum(before, before.mean())).max())
