"""Resolver: steps that end free of contact, whatever proposed them; the function is a resolver used once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.engine.plan import Tuning
from pliant.engine.wanted import FeatureMasks
from pliant.queries.detector import Detector
from pliant.queries.near_pairs import NearPairs
from pliant.response.attempt import Attempt, Rules, Touching, keys_of
from pliant.response.closest import are_closest, drop_driven, loose_vertices
from pliant.response.driven import DrivenObjects, driven_objects
from pliant.response.exempt import driven_features
from pliant.response.fresh import FreshFeatures, FreshPairs, no_fresh_pairs
from pliant.response.near import Near, NearSearch
from pliant.response.options import LARGEST, Options
from pliant.response.pushing import Source, as_contacts, pushing
from pliant.response.queries import StepQueries
from pliant.response.rows import Aim, Ends, Rows, rows_of_near
from pliant.response.start import Starts, touching_error
from pliant.results.contacts import Contacts
from pliant.results.proximity import Proximity
from pliant.results.resolved import Resolved
from pliant.runtime.arrays import as_number, as_positions
from pliant.runtime.log import logged, warn
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress

NEAR = 1.5  # thicknesses: pairs that are so near at x0 push before they meet,
NEAR_KEPT = 2.0  # ... or so many times distance_kept
KEPT_OF_THICKNESS = 0.1  # distance_kept by default,
KEPT_OF_EDGES = 1e-3  # ... and without a thickness, of the mean length of the edges


class _Known(NamedTuple):
    """What is known about positions: those that a step ended at."""

    x: np.ndarray
    touching: np.ndarray  # (k,) int64 keys of the pairs that touch
    held: np.ndarray  # vertices of these pairs


class Resolver:
    """Steps that end free of contact, one after the other: what ``pliant.resolve`` does, with what they have in common
    kept.

        resolver = pliant.Resolver(mesh, inverse_mass=inverse_mass, thickness=1e-3)
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
        friction: Any = 0.0,
        restitution: float = 0.0,
        distance_kept: float | None = None,
        objects: Any = None,
        pinched: str = "wait",
        tangled: str = "raise",
        max_rounds: int | None = None,
        tuning: Tuning | None = None,
        threads: int | None = None,
    ) -> None:
        self._options = Options.of(locals())
        # Labels of the detector must not differ within a cloth; those of driven vertices may.
        self._detector = Detector(mesh, tuning=tuning, threads=threads)
        self._starts = Starts(self._detector)
        self._exempt: tuple[int, FeatureMasks | None] | None = None  # for so many vertices
        self._fresh: FreshPairs = no_fresh_pairs()
        self._known: _Known | None = None
        self._search = NearSearch(self._detector)
        self._near: Near | None = None
        self._asked_by: str | None = None
        self._is_quiet = False  # whoever asks has chosen the thickness, not a user

    def __repr__(self) -> str:
        return f"Resolver({self.mesh!r}, thickness={self._options.thickness:g})"

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
            The distance; default: 1.5 times the thickness, or twice the distance that is kept, if that is more. Where
            everything is within that, it is halved until pairs are no more than 64 for each edge and face.
        progress : as in ``resolve``

        Returns
        -------
        Proximity
        """
        x = as_positions(x, "x")
        if within is None:
            self._near = self._search.within(x, self._within(x), progress)
        else:
            within = as_number(within, "within", 0.0, LARGEST)
            found = self._detector.near(x, within, progress=progress)
            self._near = Near(x.copy(), within, within, found[~self._fresh.among(found)] if len(self._fresh) else found)
        return self._near.found

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
        x0 = as_positions(x0, "x0")
        x1 = as_positions(x1, "x1", len(x0))
        mass = self._options.masses(len(x0))
        queries = self._queries(x0, mass, progress)
        known = self._start(x0, queries)
        queries.ignored = known.touching
        driven = self._driven(x0, x1, mass, known.held)
        if len(known.held):
            x1, mass = x1.copy(), mass.copy()
            x1[known.held], mass[known.held] = x0[known.held], 0.0
        aim = Aim(self._options.thickness, self._distance_kept(x0), self._options.restitution)
        ends = Ends(x0, x1, mass, self._options.frictions(len(x0)))
        rules = Rules(aim, self._options.max_rounds, self._options.waits)
        attempt = Attempt(ends, driven, rules, queries)
        try:
            attempt.run(self._near_rows(ends, aim, attempt, queries))
        except Touching as touching:
            raise touching_error(touching.contacts) from None
        self._known = known._replace(x=attempt.x.copy())
        return self._logged(self._result(x1, attempt, driven, queries, len(known.touching)), queries.tally)

    def contacts(self, x0: Any, x1: Any, *, progress: Progress | bool | None = None) -> Contacts | None:
        """What a motion runs into, for solvers that take contacts into account before they propose a step.

        Parameters
        ----------
        x0, x1 : (n, 3) floats
            Positions at the start and at the end.
        progress : as in ``resolve``

        Returns
        -------
        Contacts or None
            Those of pairs that are not wholly driven; None where they are more than 1,000 and five for each edge and
            face, as where everything collapses into a point.
        """
        x0 = as_positions(x0, "x0")
        x1 = as_positions(x1, "x1", len(x0))
        return self._queries(x0, self._options.masses(len(x0)), progress).contacts(x1)

    def _leave_out(self, fresh: FreshPairs) -> None:
        """These pairs are no part of the proof from now on, and no others but those of driven features."""
        kept = all(self._fresh.have(kind, rows).all() for kind, rows in fresh.rows.items())
        self._fresh = self._starts.fresh = fresh
        self._near, self._search.fresh = None, None
        if len(fresh):  # near is asked on the boundary of a volume mesh, where features have other ids
            self._search.fresh = FreshFeatures(fresh, self._detector._at_rest.topology.tested.features)
        if not kept:  # what was free without them need not be what was looked at with them
            self._known = None

    # ---- the start

    def _queries(self, x0: np.ndarray, mass: np.ndarray, progress: Progress | bool | None) -> StepQueries:
        self._detector._require_rows(len(x0), "x0")
        fresh = FreshFeatures(self._fresh, self._detector._tested.features) if len(self._fresh) else None
        return StepQueries(self._detector, x0, self._exempt_for(mass), mass == 0.0, progress, fresh)

    def _exempt_for(self, mass: np.ndarray) -> FeatureMasks | None:
        """Features, pairs of which are no part of the proof."""
        if self._exempt is None or self._exempt[0] != len(mass):
            self._exempt = len(mass), driven_features(self._detector._tested, mass == 0.0)
        return self._exempt[1]

    def _start(self, x0: np.ndarray, queries: StepQueries) -> _Known:
        """What touches at x0; raises TangledError where that is not allowed."""
        if self._known is not None and np.array_equal(self._known.x, x0):
            return self._known
        if not self._options.keeps:
            self._starts.require_free(x0, queries.is_driven, queries.progress)
            return _Known(x0, np.empty(0, np.int64), np.empty(0, np.int32))
        touching = queries.all_contacts(x0)
        return _Known(x0, keys_of(touching), np.unique(touching.vertices))

    def _driven(self, x0: np.ndarray, x1: np.ndarray, mass: np.ndarray, held: np.ndarray) -> DrivenObjects:
        topology, takes_part = self._detector._now.topology, np.zeros(len(x0), bool)
        labels = self._options.labels(topology.named(len(x0)))
        takes_part[topology.vertices] = True
        driven = driven_objects((mass == 0.0) & takes_part, labels, x0, x1)
        driven.wait_at_base(held)
        return driven

    def _distance_kept(self, x0: np.ndarray) -> float:
        if self._options.distance_kept is not None:
            return self._options.distance_kept
        if self._options.thickness > 0.0:
            return KEPT_OF_THICKNESS * self._options.thickness
        edges = self._detector._tested.features.edges
        with np.errstate(over="ignore"):
            length = np.linalg.norm(x0[edges[:, 0]] - x0[edges[:, 1]], axis=1) if len(edges) else np.zeros(1)
            return KEPT_OF_EDGES * min(float(length.mean()), LARGEST)

    def _within(self, x0: np.ndarray) -> float:
        """How near pairs at x0 push before they meet; nothing is further away than all is long."""
        with np.errstate(over="ignore"):
            length = sum(float(np.ptp(column)) for column in x0.T) if len(x0) else 0.0
        return min(max(NEAR * self._options.thickness, NEAR_KEPT * self._distance_kept(x0)), length, LARGEST)

    def _near_rows(self, ends: Ends, aim: Aim, attempt: Attempt, queries: StepQueries) -> Rows | None:
        """Rows of what is near at x0; none where no distance is kept."""
        within = self._within(ends.x0)
        if within == 0.0:
            return None
        known = self._near
        if known is None or known.asked < within or not np.array_equal(known.x, ends.x0):
            known = self._near = self._search.within(ends.x0, within, queries.progress)
        queries.among = self._pairs_of(known)
        near, within = self._search.few(known, within)
        is_told = not self._is_quiet and (self._options.thickness or self._options.distance_kept)
        if within < self._within(ends.x0) and is_told:
            self._warn_of_thickness()
        tested = self._detector._at_rest.topology.tested
        usable = (near.distance > 0.0) & (near.distance <= within)
        usable &= are_closest(near, loose_vertices(tested.features, len(ends.x0)))
        drop_driven(near.vertices, ends.inverse_mass > 0.0, usable)
        chosen = np.flatnonzero(usable)
        attempt.sources.append(Source(len(chosen), lambda rows: as_contacts(near[chosen[rows]], tested)))
        return rows_of_near(near, chosen, ends, aim)

    def _warn_of_thickness(self) -> None:
        thickness = max(self._options.thickness, self._options.distance_kept or 0.0)
        warn(
            f"thickness={thickness:g} is so large that nearly everything is within it: only the nearest pairs push "
            "before they meet"
        )

    def _pairs_of(self, near: Near) -> NearPairs | None:
        """What is near, to be asked about again; of a volume mesh, features inside of it are missing."""
        detector = self._detector
        if detector._tested.cells is not None:
            return None
        split = int(np.count_nonzero(near.found.kind == VERTEX_FACE))  # sorted by kind
        vertex_face, edge_edge = near.found.elements[:split].copy(), near.found.elements[split:].copy()
        allowance = detector._allowance(near.x, near.within)
        return NearPairs(near.x, near.within, allowance, vertex_face, edge_edge, detector._now.topology)

    # ---- the end

    def _result(
        self, x1: np.ndarray, attempt: Attempt, driven: DrivenObjects, queries: StepQueries, touching: int
    ) -> Resolved:
        contacts, impulses = pushing(attempt.sources, attempt.rows)
        with np.errstate(over="ignore"):
            displacement = attempt.x - x1
        return Resolved(
            attempt.x, (attempt.x != x1).any(axis=1), displacement, attempt.rounds, queries.count, contacts, impulses,
            attempt.plane_count, driven.labels, driven.made(), queries.driven_pairs, touching,
            queries.tally.stages(),
        )  # fmt: skip

    def _logged(self, result: Resolved, tally: Tally) -> Resolved:
        return logged(self._asked_by or "resolve", self.mesh if self._asked_by else self, result, tally)
