"""The detector: the engine with its memory, for everybody's queries; the functions are detectors used once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from pliant.elementary.advance import INITIAL, approach_of, tolerance_of
from pliant.elementary.inversion import warn_inverted
from pliant.elementary.paths import STRAIGHT, Paths, straight_paths
from pliant.engine.memory import Engine
from pliant.engine.motion import Motion
from pliant.engine.plan import Accuracy, Plan, Tuning, plan_of
from pliant.engine.scene import Topology, topology_of
from pliant.engine.tables import pairs_by_kind, tabulate, tabulate_intersections, tabulate_near
from pliant.engine.travel import Travel, rest_at, rest_within, travel_of
from pliant.engine.wanted import Wanted
from pliant.filters.axes.separation import ALLOWED
from pliant.mesh.tested import TestedMesh
from pliant.queries.deprecated import accuracy_from, tuning_from
from pliant.queries.near_pairs import NearPairs, allowance_of
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.results.proximity import Proximity
from pliant.results.steps import Step
from pliant.runtime.arrays import (
    OptionError,
    ShapeError,
    as_array,
    as_number,
    as_positions,
    as_radii,
    choose,
    thread_count,
)
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Progress, ThreadPool

Found = TypeVar("Found")

_UNTUNED = Tuning()
RELATIVE = 0.5  # of the distance at the start, that "relative" keeps


class Detector:
    """Queries about one mesh, again and again, with what they have in common kept.

        detector = pliant.Detector(faces)
        for x in frames:
            contacts = detector.advance(x)        # while moving here from the frame before; none in the first
            crossing = detector.intersections(x)  # at rest here

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    min_distance : float
        Contact is where two features come within this distance.
    radii : (n,) floats, optional
        Instead of a distance, radii of the vertices, which interpolate over a feature and add up between two.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components.
    pairs : {"all", "self", "inter"}
        All pairs, those within one object, or those of different ones.
    interior : bool
        Of a volume mesh: all features of its cells take part in contacts, or only those of its boundary.
    accuracy : Accuracy, optional
        Who decides whether two features meet.
    tuning : Tuning, optional
        Changes the time, never the result.
    threads : int, optional
        Number of threads; default: as many as there are cores.

    Notes
    -----
    Each result is that of the function of the same name, bit for bit, whatever was asked before. The hierarchy is built
    by the first query, refitted by the others, and rebuilt when that costs less than to go on with it. An error or
    an interruption in the middle of a query leaves the detector as it was. One detector serves one thread at a time.
    """

    def __init__(
        self,
        mesh: Any,
        *,
        min_distance: float = 0.0,
        radii: Any = None,
        objects: Any = None,
        pairs: str = "all",
        interior: bool = True,
        accuracy: Accuracy | None = None,
        tuning: Tuning | None = None,
        threads: int | None = None,
        **old: Any,
    ) -> None:
        self._accuracy = accuracy_from(accuracy, old)
        self._tuning = tuning_from(tuning, old, "Detector")
        self._pairs, self._threads, self._interior = pairs, thread_count(threads), interior
        self._asked_by: str | None = None  # a function that uses it once
        topology = topology_of(mesh, objects, interior)
        is_number = type(min_distance) is float  # most often 0.0
        if radii is None and not (is_number and min_distance == 0.0):
            as_radii(min_distance, None, (0,))
        self._now = _Setting(topology, min_distance, _copied(radii), self._engine_of(topology))
        # Contact of a surface at distance 0 and on straight paths: all that most people ask.
        self._touches_only = self._accuracy.solver == "exact" and radii is None and min_distance == 0.0

    def __repr__(self) -> str:
        return f"Detector({self.mesh!r}, culling={self._tuning.culling!r})"

    @property
    def mesh(self) -> Any:
        """The TriMesh or VolumeMesh that the queries are about."""
        return self._now.mesh

    @property
    def front_size(self) -> int:
        """Pairs of nodes in the fronts that are kept; 0 without "front"."""
        return sum(one.front_size for one in (self._now.engine, self._now.surface) if one is not None)

    # ---- where it is, and what about

    def place(self, x: Any) -> None:
        """Be at x without looking at the way there: the next ``advance`` starts from it.

        Parameters
        ----------
        x : (n, 3) floats

        Raises
        ------
        MeshError
            Where the input is wrong; the message says what and where.
        """
        x = self._positions(x, "x").copy()
        self._now.vertex_count, self._now.x = len(x), x

    def update(self, mesh: Any, *, objects: Any = None, radii: Any = None) -> None:
        """Go on with another mesh; of one that comes from ``changed``, only what has changed is rebuilt.

            detector.update(detector.mesh.changed(remove=cut, add=pieces))

        Parameters
        ----------
        mesh : TriMesh or VolumeMesh
            From ``detector.mesh.changed``; any other one starts from nothing.
        objects, radii : optional
            New ones, where they were given before and there are more or fewer vertices now.

        Notes
        -----
        Where the number of vertices changes, ``advance`` has nothing to move from: call ``place`` first, with positions
        at the start of the step of the new vertices too (``pliant.trace_back``).
        """
        now = self._now
        topology = topology_of(mesh, now.topology.objects if objects is None else objects, self._interior)
        _require_a_label_each(topology)
        new = _Setting(topology, now.min_distance, now.radii if radii is None else _copied(radii), now.engine, now.x)
        change, limit = getattr(new.mesh, "change", None), topology.tested.features.vertex_limit
        # The boundary of a volume mesh has elements of its own, which are not in the change of the cells.
        count = None if new.is_boundary else now.vertex_count
        if change is not None and change.is_from(now.mesh) and count is not None:
            new.engine = now.engine.changed(topology, change.old_of_new, max(count, limit))
        else:
            new.engine = self._engine_of(topology)
        self._now = new  # all at once: an exception before leaves everything as it was

    # ---- queries

    def contacts(
        self, x0: Any, x1: Any = None, *, motion: Motion | None = None, among: NearPairs | None = None,
        progress: Progress | bool | None = None,
    ) -> Contacts:  # fmt: skip
        """Every contact while the vertices move from x0 to x1, exactly; ``advance`` still starts where it did.

        Parameters
        ----------
        x0, x1 : (n, 3) floats
            Positions at t = 0 and t = 1.
        motion : Motion, optional
            ``pliant.Accelerated``, ``Screw``, ``Rigid`` or ``Affine`` instead of straight lines.
        among : NearPairs, optional
            What ``near_pairs`` found: only these are examined. The result is the same, since they are required to be
            valid for the motion.
        progress : bool or callable, optional
            True for a line on stderr, or a function of (chunks done, chunks in all).

        Returns
        -------
        Contacts

        Raises
        ------
        MeshError
            Where the input is wrong; the message says what and where. ``StalePairsError`` where ``among`` is not valid
            for this motion.
        """
        tally, pool = Tally(), ThreadPool(self._threads, progress)
        travel = self._travel(x0, x1, motion)
        if among is None:
            return self._logged("contacts", self._contacts(travel, pool, tally), tally)
        if not isinstance(among, NearPairs):
            raise OptionError(f"among={among!r} must come from Detector.near_pairs")
        among.require_valid(self._now.topology, travel.x0, travel.x1, travel.contact_radius)
        found = self._engine.contacts_among(travel, (among.vertex_face, among.edge_edge), pool, tally)
        contacts = tabulate(self._tested, travel, found, tally, ThreadPool(self._threads))
        return self._logged("contacts", contacts, tally)

    def advance(self, x: Any, *, progress: Progress | bool | None = None) -> Contacts:
        """Every contact while the vertices move from the positions of the last call to x; then be there.

        The first call has nothing to move from, and gives an empty table.

        Parameters
        ----------
        x : (n, 3) floats
        progress : as in ``contacts``

        Returns
        -------
        Contacts
        """
        tally, pool = Tally(), ThreadPool(self._threads, progress)
        x, start = self._positions(x, "x"), self._now.x
        if start is None or len(start) != len(x):  # of a mesh that has changed since
            found = tabulate(self._tested, None, [], tally)
        else:
            found = self._contacts(self._between(straight_paths(start, x)), pool, tally)
            self._logged("advance", found, tally)
        self._now.vertex_count, self._now.x = len(x), x.copy()
        return found

    def step(
        self, x0: Any, x1: Any = None, *, motion: Motion | None = None, initial: str | float = "stop",
        progress: Progress | bool | None = None,
    ) -> Step:  # fmt: skip
        """The largest step from x0 towards x1 that is free of contact, the contact that ends it, verified positions.

        Parameters
        ----------
        x0, x1, motion, progress : as in ``contacts``
        initial : {"stop", "ignore"} or float
            What becomes of pairs that begin within the distance: "stop" (t = 0), "ignore" (only touching counts for
            them), or the part, from 0 to 1, that they must keep of the distance they begin with.

        Returns
        -------
        Step
        """
        tally, pool = Tally(), ThreadPool(self._threads, progress)
        travel = self._travel(x0, x1, motion, initial)
        found = self._engine.step(travel, pool, tally)
        self._now.vertex_count = len(travel.x0)
        return self._logged("step", found, tally)

    def near(self, x: Any, within: float, *, progress: Progress | bool | None = None) -> Proximity:
        """Every vertex and face, and every two edges, that are at most so far from each other at x; each pair once.

        Parameters
        ----------
        x : (n, 3) floats
        within : float
        progress : as in ``contacts``

        Returns
        -------
        Proximity
        """
        within = as_number(within, "within", 0.0, np.finfo(float).max)
        return self._near(self._positions(x, "x"), within, ThreadPool(self._threads, progress))

    def near_pairs(self, x: Any, within: float, *, progress: Progress | bool | None = None) -> NearPairs:
        """The pairs of features within a distance at x, to ask about again: ``contacts(x0, x1, among=pairs)``.

        They are valid for motions that stay near x: ``pairs.valid_for(x1)``. To test them takes a small part of the
        time of a whole query, which a solver asks several times in a step.

        Parameters
        ----------
        x : (n, 3) floats
        within : float
            Vertices may move by half of it, less half of ``min_distance``.
        progress : as in ``contacts``

        Returns
        -------
        NearPairs
        """
        tally, pool = Tally(), ThreadPool(self._threads, progress)
        x = self._positions(x, "x")
        within = as_number(within, "within", 0.0, np.finfo(float).max)
        allowance = self._allowance(x, within)
        found = self._engine.near(rest_within(x, within), within, pool, tally)
        self._now.vertex_count = len(x)
        return NearPairs(x.copy(), within, allowance, *pairs_by_kind(found), self._now.topology)

    def _allowance(self, x: np.ndarray, within: float) -> np.ndarray:
        """(n,) how far vertices may move: two features that are further apart than within do not come into contact."""
        radii, allowance = self._now.radii_of(len(x)), allowance_of(x, within)
        if self._accuracy.solver == "exact" and not radii.any():
            return np.full(len(x), allowance)
        # The tolerance of advancement, a part of an extent on the way, and what it allows for rounding.
        largest = float(np.abs(x).max(initial=0.0)) + within
        allowed = self._accuracy.tolerance * largest + ALLOWED * (largest + float(radii.max(initial=0.0)))
        return allowance - radii - allowed

    def intersections(self, x: Any, *, progress: Progress | bool | None = None) -> Intersections:
        """Every pair of triangles that intersect at x, exactly, each once; ``advance`` still starts where it did.

        Parameters
        ----------
        x : (n, 3) floats
        progress : as in ``contacts``

        Returns
        -------
        Intersections
        """
        tally, pool = Tally(), ThreadPool(self._threads, progress)
        x = self._positions(x, "x")
        found = self._at_rest.intersections(rest_at(x), pool, tally)
        self._now.vertex_count = len(x)
        return self._logged("intersections", tabulate_intersections(found, tally), tally)

    # ---- what they share

    def _logged(self, name: str, found: Found, tally: Tally) -> Found:
        """The result, after its line; of a function, under its name and about its mesh."""
        if self._asked_by is None:
            return logged(name, self, found, tally)
        return logged(self._asked_by, self.mesh, found, tally)

    @property
    def _tested(self) -> TestedMesh:
        return self._now.topology.tested

    @property
    def _engine(self) -> Engine:
        return self._now.engine

    @property
    def _at_rest(self) -> Engine:
        """For what happens at one instant: on the surface of a volume mesh."""
        now, tested = self._now, self._tested
        if tested.cells is None:
            return now.engine
        if now.surface is None:
            on_boundary = TestedMesh(tested.cells.surface(), tested.volume)
            now.surface = self._engine_of(Topology(on_boundary, now.topology.objects))
        return now.surface

    def _engine_of(self, topology: Topology) -> Engine:
        plan: Plan = plan_of(self._tuning, self._pairs, topology.tested.cells is not None)
        return Engine(
            topology, plan, self._threads, adapts=self._tuning.culling == "auto", is_tuned=self._tuning != _UNTUNED
        )

    def _near(self, x: np.ndarray, within: float, pool: ThreadPool, wanted: Wanted | None = None) -> Proximity:
        tally, engine = Tally(), self._at_rest
        found = engine.near(rest_within(x, within), within, pool, tally, wanted)
        self._now.vertex_count = len(x)
        near = tabulate_near(engine.topology.tested, x, found, tally, ThreadPool(self._threads))
        return self._logged("near", near, tally)

    def _contacts(self, travel: Travel, pool: ThreadPool, tally: Tally, wanted: Wanted | None = None) -> Contacts:
        """All, or those that are wanted."""
        found = self._engine.table(travel, pool, tally, wanted)
        self._now.vertex_count = len(travel.x0)
        return found

    def _positions(self, x: Any, name: str) -> np.ndarray:
        x = as_positions(x, name)
        self._require_rows(len(x), name)
        return x

    def _require_rows(self, rows: int, name: str) -> None:
        """As many as the mesh has vertices; the first query that comes to its end settles how many these are."""
        count = self._now.vertex_count
        if count is None:
            self._now.topology.require(rows)
        elif rows != count:
            raise ShapeError(f"{name} has {rows} rows, but the frames before had {count}")

    def _travel(self, x0: Any, x1: Any, motion: Motion | None, initial: str | float = "stop") -> Travel:
        """Checked positions and the paths between them; x1 follows from some motions."""
        if motion is None and x1 is None:
            raise OptionError("x1 is missing: positions at t = 1, or a motion= that says where it ends")
        if not (motion is None or isinstance(motion, Motion)):
            raise OptionError(f"motion={motion!r} is none; choose pliant.Accelerated, Screw, Rigid or Affine")
        x0 = as_positions(x0, "x0")
        x1 = None if x1 is None else as_positions(x1, "x1", len(x0))
        self._require_rows(len(x0), "x0")
        if motion is None:
            if self._touches_only and initial == "stop" and self._tested.volume is None:
                return travel_of(x0, x1)
            return self._between(straight_paths(x0, x1), initial)
        paths = motion.paths(x0, x1, self._now.topology.named(len(x0)))
        return self._between(paths._replace(x1=as_positions(paths.x1, "x1, where motion ends,")), initial)

    def _between(self, paths: Paths, initial: str | float = "stop") -> Travel:
        """The motion on these paths, with what counts as contact."""
        initial, keep = _initial(initial)
        radii = self._now.radii_of(len(paths.x0))
        if self._tested.volume is not None:
            warn_inverted(self._tested.volume, paths.x0)
        if self._accuracy.solver == "exact" and paths.mode == STRAIGHT and not radii.any():
            return travel_of(paths.x0, paths.x1)
        tolerance = self._accuracy.tolerance
        tolerances = tolerance_of(paths, self._tested.features.vertices, tolerance)
        approach = approach_of(paths, radii, tolerances, INITIAL.index(initial), keep, tolerance)
        return travel_of(paths.x0, paths.x1, approach)


@dataclass
class _Setting:
    """What a detector is about, and how far it has come."""

    topology: Topology
    min_distance: float
    radii: np.ndarray | None
    engine: Engine
    x: np.ndarray | None = None  # where ``advance`` starts
    surface: Engine | None = None  # of a volume mesh, for what happens at rest
    vertex_count: int | None = None  # of the positions so far

    @property
    def mesh(self) -> Any:
        return self.topology.tested.volume or self.topology.tested.features

    @property
    def is_boundary(self) -> bool:
        """Only the boundary of a volume mesh takes part."""
        return self.topology.tested.volume is not None and self.topology.tested.cells is None

    def radii_of(self, vertex_count: int) -> np.ndarray:
        return as_radii(self.min_distance, self.radii, (vertex_count,))


def _copied(radii: Any) -> np.ndarray | None:
    """What the caller does with the array later makes no difference."""
    return None if radii is None else as_array(radii, "radii").copy()


def _require_a_label_each(topology: Topology) -> None:
    limit = topology.tested.features.vertex_limit
    if topology.objects is not None and len(topology.objects) < limit:
        raise ShapeError(
            f"objects has {len(topology.objects)} labels, but the mesh has a vertex {limit - 1}: give objects= for "
            "all vertices"
        )


def _initial(initial: str | float) -> tuple[str, float]:
    """Of INITIAL, and the part of the distance that is kept."""
    if isinstance(initial, str):
        return choose(initial, "initial", INITIAL), RELATIVE
    return "relative", as_number(initial, "initial", 0.0, 1.0)
