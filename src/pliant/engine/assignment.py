"""How each pair of features comes up once (paper 004, Algorithms 4 and 5), and the bounds that this needs.

Static assignment: a pair is examined where its owners meet, by places in the tree. Dynamic assignment: by the first
two separate elements that have it, by the ids of the mesh; orphans, which no two separate elements have, come from a
list. Both discard pairs of elements by separating axes first.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from pliant.bounds.kdops import NO_PADDING, bound_union
from pliant.culling.stars import NONE_FREE, free_stars
from pliant.engine.plan import Plan
from pliant.engine.travel import Travel
from pliant.filters.axes.cell_lanes import MOST_IN_LANES, cull_small_cells
from pliant.filters.axes.cells import cull_cells
from pliant.filters.axes.elements import cull_elements, cull_resting_elements, scaled, scaled_ends
from pliant.hierarchy.build import Tree
from pliant.hierarchy.traverse import INTER, PARTICIPANT, WITH_EDGES, WITH_VERTICES, all_roles
from pliant.mesh.cell_features import MOST_EDGES
from pliant.mesh.features import Elements, Owned, gather_features, owned_by_first
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.pairs.dynamic import expand_dynamic, expand_listed, keep_separate
from pliant.pairs.static import expand_static
from pliant.runtime.arrays import Buffers
from pliant.runtime.tally import Tally
from pliant.runtime.threads import SERIAL, ThreadPool

Pairs = tuple[np.ndarray, np.ndarray]  # of features by id, (k, 2) of each kind: VERTEX_FACE, EDGE_EDGE
NONE = np.empty((0, 2), np.int32), np.empty((0, 2), np.int32)


class Places(NamedTuple):
    """The elements of a mesh in the order of the tree."""

    mesh: TriMesh | VolumeMesh
    tree: Tree
    leaves: Elements
    labels: np.ndarray  # of their objects; of length 0 where all pairs are wanted
    most_corners: int  # of one element

    @property
    def are_cells(self) -> bool:
        """Of a volume mesh; else faces, loose edges and points."""
        return isinstance(self.mesh, VolumeMesh)


class Bounds(NamedTuple):
    """Of features and elements during a motion."""

    vertices: np.ndarray  # by id
    edges: np.ndarray  # by id, or of cells with static assignment by owner; none of surfaces with it
    faces: np.ndarray  # by id, or with static assignment in the order of their owners
    elements: np.ndarray  # by id, or with static assignment by place


class FittedFeatures(NamedTuple):
    """What depends on the motion that is left."""

    bounds: Bounds
    points: np.ndarray  # of the vertices by id, for separating axes
    radius: np.ndarray  # of the elements by place, in the units of points; or of length 0
    free: np.ndarray  # (n,) uint8, not 0 for vertices whose star does not meet itself; or of length 0


class Assignment(Protocol):
    """One way to go from pairs of elements to pairs of features."""

    roles: np.ndarray  # of each place, for the traversal
    listed: Pairs  # orphans, which no pair of elements brings up
    has_inner_pairs: bool  # pairs of features of one owner
    is_dynamic: bool

    def fit(
        self,
        travel: Travel,
        vertices: np.ndarray,
        places: np.ndarray,
        horizon: float,
        pool: ThreadPool,
        buffers: Buffers,
    ) -> FittedFeatures:
        """Bounds of the features, from those of the vertices by id and of the elements by place."""
        ...

    def expand(
        self, plan: Plan, fitted: FittedFeatures, pairs: np.ndarray, count: int, out: Pairs, tally: Tally
    ) -> Iterator[tuple[int, int]]:
        """Feature pairs with overlapping bounds of the first pairs of places, into out; yields how many of each kind
        there are, as often as out is full. Overwrites pairs; an element may be paired with itself."""
        ...


def assigned(places: Places, plan: Plan, pool: ThreadPool = SERIAL) -> Assignment:
    """What was asked for; or static assignment, which needs no list of orphans, where a vertex has so many cells that
    the list would fill the memory."""
    has_list = not isinstance(places.mesh, VolumeMesh) or places.mesh.has_o_sets
    return Dynamic(places, plan) if plan.is_dynamic and has_list else Static(places, pool)


class Static:
    """By place: few elements own all features of a surface; the cells of a volume own those that they have first."""

    is_dynamic = False
    listed = NONE

    def __init__(self, places: Places, pool: ThreadPool = SERIAL) -> None:
        self._places, self.has_inner_pairs, order = places, places.are_cells, places.tree.order
        if isinstance(places.mesh, VolumeMesh):
            self._owned = owned_by_first(places.mesh.cell_table, order)
            self.roles = roles_of(self._owned)
        else:
            bits = np.take(places.mesh._owner_bits, order)
            self._owned = gather_features(places.leaves, order, places.mesh._sides, bits, pool)
            self.roles = np.take(_ROLES, bits)

    def fit(
        self,
        travel: Travel,
        vertices: np.ndarray,
        places: np.ndarray,
        horizon: float,
        pool: ThreadPool,
        buffers: Buffers,
    ) -> FittedFeatures:
        owned, new = self._owned, buffers.named
        each_is_one = len(owned.face) == len(places) and not self._places.are_cells
        of_faces = places if each_is_one else bound_union(vertices, owned.triangles, pool, new("owned faces"))
        # Of surfaces, few elements have their edges examined: these are united from the ends.
        are_cells = self._places.are_cells
        of_edges = bound_union(vertices, owned.ends, pool, new("owned edges")) if are_cells else vertices[:0]
        bounds = Bounds(vertices, of_edges, of_faces, places)
        fitted, mesh = _with_points(bounds, self._places, travel, horizon, pool, buffers), self._places.mesh
        # What is free during all of the motion is so up to a horizon: whoever has one knows already.
        if isinstance(mesh, VolumeMesh) or travel.is_resting or len(fitted.radius) or horizon < 1.0:
            return fitted
        return fitted._replace(free=free_stars(mesh._links, fitted.points, travel.largest * travel.factor, pool))

    def expand(
        self, plan: Plan, fitted: FittedFeatures, pairs: np.ndarray, count: int, out: Pairs, tally: Tally
    ) -> Iterator[tuple[int, int]]:
        done, boxes = 0, np.empty((MOST_EDGES + 1, fitted.bounds.vertices.shape[1]))
        while done < count:
            clock, selection = time.perf_counter(), (self._places.labels, plan.wanted, pairs, count)
            vertex_face, edge_edge, compared, done = expand_static(
                self._owned, fitted.bounds, selection, done, boxes, *out
            )
            tally.add("feature boxes", compared, vertex_face + edge_edge, time.perf_counter() - clock)
            yield vertex_face, edge_edge


class Dynamic:
    """By id: adjacent elements are skipped, and orphans come from a list."""

    is_dynamic = True
    has_inner_pairs = False

    def __init__(self, places: Places, plan: Plan) -> None:
        self._places, self._cells = places, places.mesh.cell_table
        self.roles = all_roles(len(places.tree.order))
        # Orphans are connected: there are none between objects.
        self.listed: Pairs = NONE if plan.wanted == INTER else places.mesh._o_sets

    def fit(
        self,
        travel: Travel,
        vertices: np.ndarray,
        places: np.ndarray,
        horizon: float,
        pool: ThreadPool,
        buffers: Buffers,
    ) -> FittedFeatures:
        mesh, new = self._places.mesh, buffers.named
        of_cells = new("cells")(places.shape)
        of_cells[self._places.tree.order] = places
        of_edges = bound_union(vertices, mesh._edges, pool, new("edges"))
        if self._places.are_cells:
            of_faces = bound_union(vertices, mesh._faces, pool, new("faces"))
        else:
            of_faces = of_cells[: len(mesh._faces)]  # they come first, and each is a cell
        bounds = Bounds(vertices, of_edges, of_faces, of_cells)
        return _with_points(bounds, self._places, travel, horizon, pool, buffers)

    def expand(
        self, plan: Plan, fitted: FittedFeatures, pairs: np.ndarray, count: int, out: Pairs, tally: Tally
    ) -> Iterator[tuple[int, int]]:
        pairs[:count] = self._places.tree.order[pairs[:count]]
        done = 0
        while done < count:
            clock = time.perf_counter()
            vertex_face, edge_edge, compared, done = expand_dynamic(
                self._cells, fitted.bounds, pairs, count, done, *out
            )
            tally.add("feature boxes", compared, vertex_face + edge_edge, time.perf_counter() - clock)
            yield vertex_face, edge_edge


def keep_inseparable(
    places: Places, is_dynamic: bool, plan: Plan, travel: Travel, fitted: FittedFeatures, pairs: np.ndarray,
    count: int, tally: Tally,
) -> int:  # fmt: skip
    """Move the pairs of places that are wanted and that no axis separates to the front; returns how many there are."""
    largest = travel.largest * travel.factor
    if is_dynamic:
        clock = time.perf_counter()
        kept = keep_separate(places.leaves, places.labels, plan.wanted, pairs, count)
        tally.add("separate cells", count, kept, time.perf_counter() - clock)
        count = kept
    for name in plan.element_filters:
        by_planes, clock = name == "triangle", time.perf_counter()
        if places.are_cells:
            if by_planes:
                continue
            if places.most_corners <= MOST_IN_LANES:
                kept = cull_small_cells(places.leaves, fitted.points, fitted.radius, pairs, count, is_dynamic)
            else:
                kept = cull_cells(places.leaves, fitted.points, largest, fitted.radius, pairs, count, is_dynamic)
        else:
            given = places.leaves.corners, fitted.points, largest, fitted.radius
            if travel.is_resting:
                kept = cull_resting_elements(*given, pairs, count, by_planes)
            else:
                kept = cull_elements(*given, fitted.free, pairs, count, by_planes)
        tally.add("csat of elements" if name == "csat" else name, count, kept, time.perf_counter() - clock)
        count = kept
    return count


def expand_orphans(
    listed: Pairs, fitted: FittedFeatures, first: int, end: int, out: Pairs, tally: Tally
) -> tuple[int, int]:
    """Listed pairs of features from first up to end with overlapping bounds; returns how many there are of each."""
    clock, some = time.perf_counter(), (listed[0][first:end], listed[1][first:end])
    vertex_face, edge_edge, compared = expand_listed(fitted.bounds, *some, *out)
    tally.add("orphans", compared, vertex_face + edge_edge, time.perf_counter() - clock)
    return vertex_face, edge_edge


# By the bits of ``owner_bits``.
_ROLES = np.array(
    [PARTICIPANT + WITH_VERTICES * ((b & 7) > 0) + WITH_EDGES * ((b >> 3) > 0) for b in range(64)], np.int8
)


def roles_of(owned: Owned) -> np.ndarray:
    """What elements own, which decides which pairs are examined."""
    with_vertices = (owned.vertex_start[1:] > owned.vertex_start[:-1]).view(np.int8)
    with_edges = (owned.edge_start[1:] > owned.edge_start[:-1]).view(np.int8)
    return PARTICIPANT + WITH_VERTICES * with_vertices + WITH_EDGES * with_edges


def _with_points(
    bounds: Bounds, places: Places, travel: Travel, horizon: float, pool: ThreadPool, buffers: Buffers
) -> FittedFeatures:
    """The bounds, and where vertices are then."""
    leaves, factor, new = places.leaves, travel.factor, buffers.named("points")
    if travel.is_resting and not places.are_cells:
        points = scaled(travel.x0, factor, new)
    else:
        points = scaled_ends(travel.x0, travel.x1, horizon, factor, pool, new)
    return FittedFeatures(bounds, points, _radius_of(travel, leaves.corners), NONE_FREE)


def _radius_of(travel: Travel, corners: np.ndarray) -> np.ndarray:
    """(k,) how far around its corners an element can be in contact, in units of 1 / factor; or of length 0."""
    radius = travel.contact_radius
    if len(radius) == 0:
        return NO_PADDING
    if radius.min() == radius.max():  # of ``near``, and of a distance without radii: a fiftieth of its time
        return np.full(len(corners), radius[0] * travel.factor)
    # A maximum over the columns takes five times as long.
    largest = radius[corners[:, 0]]
    for column in range(1, corners.shape[1]):
        np.maximum(largest, radius[corners[:, column]], out=largest)
    return largest * travel.factor
