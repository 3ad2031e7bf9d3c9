"""Resolver: steps that end free of contact, whatever proposed them; the function is a resolver used once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.engine.plan import Tuning
from pliant.engine.sinks import TooManyContacts
from pliant.mesh.features import elements_of
from pliant.mesh.triangles import TriMesh
from pliant.queries.detect import some_pairs
from pliant.queries.detector import Detector
from pliant.queries.near_pairs import NearPairs
from pliant.response.attempt import Attempt, Rules, Touching, keys_of
from pliant.response.driven import DrivenObjects, driven_objects
from pliant.response.pushing import as_contacts, pushing
from pliant.response.rows import Aim, Ends, Rows, rows_of_near
from pliant.results.contacts import Contacts, Proximity
from pliant.results.resolved import Resolved
from pliant.runtime.arrays import (
    OptionError,
    ShapeError,
    TangledError,
    as_floats,
    as_number,
    as_positions,
    choose,
)
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool

MAX_ROUNDS = 8
NEAR = 1.5  # thicknesses: pairs that are so near at x0 push before they meet,
NEAR_KEPT = 2.0  # ... or so many times distance_kept
KEPT_OF_THICKNESS = 0.1  # distance_kept by default,
KEPT_OF_EDGES = 1e-3  # ... and without a thickness, of the mean length of the edges
_LARGEST = float(np.finfo(float).max)


class _Known(NamedTuple):
    """What is known about positions: those that a step ended at."""

    x: np.ndarray
    touching: np.ndarray  # (k,) int64 keys of the pairs that touch
    held: np.ndarray  # vertices of these pairs


class _Near(NamedTuple):
    x: np.ndarray
    within: float
    found: Proximity


class Resolver:
    """Steps that end free of contact, one after the other: what ``pliant.resolve`` does, with what they have in common
    kept.

        resolver = pliant.Resolver(mesh, inverse_mass=w, thickness=1e-3)
        while True:
            proposal = my_solver(x)
            x = resolver.resolve(x, proposal).positions

    Parameters
    ----------
    mesh, inverse_mass, thickness, friction, restitution, distance_kept, objects, pinched, tangled, max_rounds, threads
        As in ``pliant.resolve``.
    tuning : Tuning, optional
        Of the detection inside: changes the time, never the result.

    Notes
    -----
    Each result is that of the function, bit for bit, whatever was resolved before. Kept are the hierarchy, what is near
    at x0 (``near``), and that a step which starts where the last one ended starts free.
    """

    def __init__(
        self,
        mesh: Any,
        *,
        inverse_mass: Any = None,
        thickness: float = 0.0,
        friction: float = 0.0,
        restitution: float = 0.0,
        distance_kept: float | None = None,
        objects: Any = None,
        pinched: str = "wait",
        tangled: str = "raise",
        max_rounds: int | None = None,
        tuning: Tuning | None = None,
        threads: int | None = None,
    ) -> None:
        self._detector = Detector(mesh, objects=objects, tuning=tuning, threads=threads)
        self._thickness = as_number(thickness, "thickness", 0.0, _LARGEST)
        self._friction = as_number(friction, "friction", 0.0, _LARGEST)
        self._restitution = as_number(restitution, "restitution", 0.0, 1.0)
        self._kept = None if distance_kept is None else as_number(distance_kept, "distance_kept", 0.0, _LARGEST)
        self._waits = choose(pinched, "pinched", ("wait", "raise")) == "wait"
        self._keeps = choose(tangled, "tangled", ("raise", "keep")) == "keep"
        self._max_rounds = _as_count(max_rounds)
        self._inverse_mass = None if inverse_mass is None else _as_inverse_mass(inverse_mass)
        self._elements: Detector | None = None  # of faces, loose edges and points, to find what intersects
        self._known: _Known | None = None
        self._near: _Near | None = None
        self._asked_by: str | None = None

    def __repr__(self) -> str:
        return f"Resolver({self.mesh!r}, thickness={self._thickness:g})"

    @property
    def mesh(self) -> Any:
        """The TriMesh or VolumeMesh that the steps are of."""
        return self._detector.mesh

    @property
    def detector(self) -> Detector:
        """The detector that answers all queries of the resolver; it may be asked others."""
        return self._detector

    def near(self, x: Any, within: float | None = None, *, progress: Progress | bool | None = None) -> Proximity:
        """What is near at x, as ``pliant.near`` finds it; a step from x that follows does not search for it again.

        Parameters
        ----------
        x : (n, 3) floats
        within : float, optional
            The distance; default: 1.5 times the thickness, or twice the distance that is kept, if that is more.
        progress : as in ``resolve``

        Returns
        -------
        Proximity
        """
        x = as_positions(x, "x")
        within = self._within(x) if within is None else as_number(within, "within", 0.0, _LARGEST)
        found = self._detector.near(x, within, progress=progress)
        self._near = _Near(x.copy(), within, found)
        return found

    def resolve(self, x0: Any, x1: Any, *, progress: Progress | bool | None = None) -> Resolved:
        """Positions near x1 to which the way from x0 is free of contact, for certain.

        Parameters
        ----------
        x0, x1 : (n, 3) floats
            Positions at the start, which are free, and those proposed for the end of the step.
        progress : bool or callable, optional
            True for a line on stderr, or a function of (chunks done, chunks in all), in each query.

        Returns
        -------
        Resolved

        Raises
        ------
        MeshError
            Where the input is wrong; ``TangledError`` where the start is tangled, ``PinchedError`` where driven objects
            would have to wait, if so wanted.
        """
        tally = Tally()
        x0 = as_positions(x0, "x0")
        x1 = as_positions(x1, "x1", len(x0))
        mass = self._inverse_masses(len(x0))
        self._detector._require_rows(len(x0), "x0")
        queries = _Queries(self._detector, x0, mass == 0.0, tally, progress)
        known = self._start(x0, queries)
        queries.ignored = known.touching
        driven = self._driven(x0, x1, mass, known.held)
        if len(known.held):
            x1, mass = x1.copy(), mass.copy()
            x1[known.held], mass[known.held] = x0[known.held], 0.0
        aim = Aim(self._thickness, self._distance_kept(x0), self._restitution)
        ends = Ends(x0, x1, mass)
        attempt = Attempt(ends, driven, Rules(aim, self._friction, self._max_rounds, self._waits), queries)
        try:
            attempt.run(self._near_rows(ends, aim, attempt, queries))
        except Touching as touching:
            raise _touching_error(touching.contacts) from None
        self._known = known._replace(x=attempt.x.copy())
        return self._logged(self._result(x1, attempt, driven, queries, len(known.touching)), tally)

    # ---- the start

    def _inverse_masses(self, count: int) -> np.ndarray:
        if self._inverse_mass is None:
            return np.ones(count)
        if len(self._inverse_mass) != count:
            raise ShapeError(f"inverse_mass has {len(self._inverse_mass)} rows, but x0 has {count}")
        return self._inverse_mass

    def _start(self, x0: np.ndarray, queries: _Queries) -> _Known:
        """What touches at x0; raises TangledError where that is not allowed."""
        if self._known is not None and np.array_equal(self._known.x, x0):
            return self._known
        if not self._keeps:
            self._require_free(x0, queries.is_driven, queries.progress)
            return _Known(x0, np.empty(0, np.int64), np.empty(0, np.int32))
        touching = queries.all_contacts(x0)
        return _Known(x0, keys_of(touching), np.unique(touching.vertices))

    def _require_free(self, x0: np.ndarray, is_driven: np.ndarray, progress: Progress | bool | None) -> None:
        corners, detector = self._at_rest()
        found = detector.intersections(x0, progress=progress)
        free = ~is_driven[corners[found.faces]].all(axis=(1, 2))
        pairs = found.faces[free]
        if len(pairs):
            loose = len(pairs) and pairs.max() >= len(self._detector._at_rest.topology.tested.features.faces)
            what = "elements (faces, then loose edges, then loose points)" if loose else "faces"
            raise TangledError(
                f"the start is tangled: {what} {some_pairs(pairs)} intersect at x0; pliant.check(mesh, x0) lists them. "
                'Separate them first; or tangled="keep" leaves them as they are, and nothing else tangles',
                pairs,
            )
        volume = self._detector._tested.volume
        if volume is not None:
            self._require_upright(inverted(volume, x0))

    def _at_rest(self) -> tuple[np.ndarray, Detector]:
        """Corners of what can intersect, and who finds it: loose edges and points as triangles that are segments and
        points."""
        mesh = self._detector._at_rest.topology.tested.features
        if not len(mesh.loose_edges) and not len(mesh.loose_points):
            return mesh.faces, self._detector
        if self._elements is None:
            self._elements = Detector(TriMesh(elements_of(mesh).corners), threads=self._detector._threads)
        return self._elements.mesh.faces, self._elements

    @staticmethod
    def _require_upright(cells: np.ndarray) -> None:
        if len(cells):
            named = ", ".join(map(str, cells[:5].tolist())) + (f" and {len(cells) - 5} more" if len(cells) > 5 else "")
            raise TangledError(f"the start is tangled: cells {named} are inverted or flat at x0")

    def _driven(self, x0: np.ndarray, x1: np.ndarray, mass: np.ndarray, held: np.ndarray) -> DrivenObjects:
        labels, takes_part = self._detector._now.topology.named(len(x0)), np.zeros(len(x0), bool)
        takes_part[self._detector._now.topology.vertices] = True
        driven = driven_objects((mass == 0.0) & takes_part, labels, x0, x1)
        driven.wait_at_base(held)
        return driven

    def _distance_kept(self, x0: np.ndarray) -> float:
        if self._kept is not None:
            return self._kept
        if self._thickness > 0.0:
            return KEPT_OF_THICKNESS * self._thickness
        edges = self._detector._tested.features.edges
        with np.errstate(over="ignore"):
            length = np.linalg.norm(x0[edges[:, 0]] - x0[edges[:, 1]], axis=1) if len(edges) else np.zeros(1)
            return KEPT_OF_EDGES * min(float(length.mean()), _LARGEST)

    def _within(self, x0: np.ndarray) -> float:
        """How near pairs at x0 push before they meet."""
        return min(max(NEAR * self._thickness, NEAR_KEPT * self._distance_kept(x0)), _LARGEST)

    def _near_rows(self, ends: Ends, aim: Aim, attempt: Attempt, queries: _Queries) -> Rows | None:
        """Rows of what is near at x0; none where no distance is kept."""
        within = self._within(ends.x0)
        if within == 0.0:
            return None
        known = self._near
        if known is None or known.within < within or not np.array_equal(known.x, ends.x0):
            self.near(ends.x0, within, progress=queries.progress)
        assert self._near is not None
        near = self._near.found
        queries.among = self._pairs_of(self._near)
        usable = (near.distance > 0.0) & (near.distance <= within)
        near = near[usable & (ends.inverse_mass[near.vertices] > 0.0).any(axis=1)]
        attempt.tables.append(as_contacts(near, self._detector._at_rest.topology.tested))
        return rows_of_near(near, ends, aim)

    def _pairs_of(self, near: _Near) -> NearPairs | None:
        """What is near, to be asked about again; of a volume mesh, features inside of it are missing."""
        detector = self._detector
        if detector._tested.cells is not None:
            return None
        vertex_face, edge_edge = np.array(near.found.vf.elements), np.array(near.found.ee.elements)
        allowance = detector._allowance(near.x, near.within)
        return NearPairs(near.x, near.within, allowance, vertex_face, edge_edge, detector._now.topology)

    # ---- the end

    def _result(
        self, x1: np.ndarray, attempt: Attempt, driven: DrivenObjects, queries: _Queries, touching: int
    ) -> Resolved:
        contacts, impulses = pushing(attempt.tables, attempt.rows)
        with np.errstate(over="ignore"):
            displacement = attempt.x - x1
        return Resolved(
            attempt.x, (attempt.x != x1).any(axis=1), displacement, attempt.rounds, queries.count, contacts, impulses,
            attempt.plane_count, driven.labels, driven.made(), queries.driven_pairs, touching,
            queries.tally.stages(),
        )  # fmt: skip

    def _logged(self, result: Resolved, tally: Tally) -> Resolved:
        return logged(self._asked_by or "resolve", self.mesh if self._asked_by else self, result, tally)


class _Queries:
    """The queries of one step, without what is no part of its proof."""

    def __init__(
        self, detector: Detector, x0: np.ndarray, is_driven: np.ndarray, tally: Tally, progress: Progress | bool | None
    ) -> None:
        self._detector, self._x0, self.is_driven, self.tally, self.progress = detector, x0, is_driven, tally, progress
        features = detector._tested.features
        # Collapsed meshes have contacts of everything with everything: too many to deal with one by one.
        self._most = 1_000 + 20 * (len(features.edges) + len(features.faces))
        self.ignored: np.ndarray = np.empty(0, np.int64)  # keys of pairs that touch at x0
        self.among: NearPairs | None = None  # all that can meet while nothing moves far
        self.count = self.driven_pairs = 0

    def contacts(self, x: np.ndarray) -> Contacts | None:
        """Those on the way from x0 to x of pairs that are not wholly driven; None where there are too many."""
        try:
            return self.all_contacts(x, self._most)
        except TooManyContacts:
            return None

    def all_contacts(self, x: np.ndarray, most: int | None = None) -> Contacts:
        """The same, however many there are; or raises TooManyContacts."""
        detector = self._detector
        self.count += 1
        if self.among is not None and self.among.valid_for(x):
            found = detector.contacts(self._x0, x, among=self.among, progress=self.progress)
            for stage in found.stages:
                self.tally.add(*stage)
        else:
            travel, pool = detector._travel(self._x0, x, None), ThreadPool(detector._threads, self.progress)
            found = detector._contacts(travel, pool, self.tally, most)
        free = ~self.is_driven[found.vertices].all(axis=1)
        self.driven_pairs = len(found) - int(np.count_nonzero(free))
        if len(self.ignored):
            free &= ~np.isin(keys_of(found), self.ignored)
        return found if free.all() else found[free]

    def inverted_corners(self, x: np.ndarray) -> np.ndarray:
        """Of cells other than tetrahedra: those cannot be inverted without a contact."""
        volume = self._detector._tested.volume
        if volume is None or not volume._types.any():
            return np.empty(0, np.int64)
        cells = np.setdiff1d(inverted(volume, x), inverted(volume, self._x0))
        cells = cells[~self.is_driven[volume._corners[cells]].all(axis=1)]
        return np.unique(volume._corners[cells])


def _touching_error(contacts: Contacts) -> TangledError:
    kinds = " and ".join(
        f"{name} {some_pairs(some.elements)}"
        for name, some in (("vertex and face", contacts.vf), ("edges", contacts.ee))
        if len(some)
    )
    return TangledError(f'the start is tangled: {kinds} touch at x0; tangled="keep" leaves them as they are')


def _as_inverse_mass(inverse_mass: Any) -> np.ndarray:
    array = as_floats(inverse_mass, "inverse_mass").copy()
    if array.ndim != 1:
        raise ShapeError(f"inverse_mass must have shape (n,), but has {array.shape}")
    if array.size and array.min() < 0.0:
        where = int(np.argmin(array))
        raise OptionError(f"inverse_mass[{where}] is {array[where]}: it must not be negative")
    return array


def _as_count(rounds: Any) -> int:
    if rounds is None:
        return MAX_ROUNDS
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 0:
        raise OptionError(f"max_rounds={rounds!r} must be an integer that is not negative, or None")
    return int(rounds)
