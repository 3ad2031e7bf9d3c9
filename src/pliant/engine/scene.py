"""A scene: topology, motion and tree, made once by one gate, and bounds for the motion that is left."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE
from pliant.bounds.kdops import bound_union, bound_vertices, unbounded
from pliant.engine.assignment import Assignment, FittedFeatures, Places, assigned
from pliant.engine.plan import Plan
from pliant.engine.travel import Travel
from pliant.hierarchy.build import LEAF_OF_PAIRS, Tree, fit_nodes, label_ranges, split_centres
from pliant.hierarchy.discs import split_into_patches
from pliant.hierarchy.medians import centres_of
from pliant.hierarchy.traverse import ALL, NOTHING_BESIDE, Beside, PairTree, all_roles
from pliant.mesh.features import Elements, faces_of, in_order
from pliant.mesh.patches import Patches, patches_of, twins_of
from pliant.mesh.prepared import prepare
from pliant.mesh.tested import TestedMesh, mesh_to_test
from pliant.mesh.triangles import TriMesh
from pliant.runtime.arrays import (
    Buffers,
    DtypeError,
    New,
    OptionError,
    ShapeError,
    as_array,
    require_in_range,
)
from pliant.runtime.tally import Tally
from pliant.runtime.threads import SERIAL, ThreadPool


@dataclass(frozen=True)
class Topology:
    """What takes part in a query, whatever the positions: a mesh, and the objects that its vertices belong to."""

    tested: TestedMesh
    objects: np.ndarray | None  # (n,) as the user labels them; None: connected components

    @cached_property
    def elements(self) -> Elements:
        """What the tree is built over, by id; a surface of faces alone needs no edges for it."""
        mesh, cells = self.tested.features, self.tested.cells
        if cells is not None:
            table = cells.cell_table
            none = np.full(len(table.corners), -1, np.int32)
            return Elements(table.corners, none, np.empty((len(none), 0), np.int32), table.corner_count)
        return faces_of(mesh) if self.is_of_faces else mesh._elements

    @property
    def is_of_faces(self) -> bool:
        """Elements are faces, and nothing else."""
        return self.tested.cells is None and self.tested.features._has_faces_only

    @cached_property
    def sides(self) -> np.ndarray:
        """(k, 3) edges of the elements of a surface, -1 where there is none."""
        return self.tested.features._sides

    @cached_property
    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of the faces and of the edges, by kind of pair: VERTEX_FACE, EDGE_EDGE."""
        return self.tested.features._faces, self.tested.features._edges

    @cached_property
    def vertices(self) -> np.ndarray:
        """Ids of those that take part."""
        cells = self.tested.cells
        return self.tested.features.vertices if cells is None else cells.vertices

    def require(self, vertex_count: int) -> None:
        """Every index names one of so many vertices, and every vertex has the label of one object."""
        if self.tested.volume is not None:
            self.tested.volume.require_in_range(vertex_count)
        mesh = self.tested.features
        if mesh.vertex_limit > vertex_count:
            for indices, name in ((mesh.faces, "faces"), (mesh.loose_edges, "edges"), (mesh.loose_points, "points")):
                require_in_range(indices, name, vertex_count)
        if self.objects is not None:
            require_a_label_each(self.objects, vertex_count)
            _require_whole(self.objects, mesh)

    def labels(self, wanted: int) -> np.ndarray | None:
        """(n,) int32 label of each vertex, from 0, where it matters; vertices behind the last that takes part may have
        none."""
        if self.objects is None:
            return None if wanted == ALL else self.tested.features.components
        return np.unique(self.objects, return_inverse=True)[1].astype(np.int32)

    def named(self, vertex_count: int) -> np.ndarray:
        """(n,) labels as the user has them; vertices that take no part belong to -1."""
        if self.objects is not None:
            return self.objects
        components = self.tested.features.components
        return np.concatenate((components, np.full(vertex_count - len(components), -1, components.dtype)))


def topology_of(mesh: Any, objects: Any = None, interior: bool = True) -> Topology:
    """The gate of meshes; ``Topology.require`` checks the rest, when the number of vertices is known."""
    labels = None if objects is None else as_array(objects, "objects").copy()  # read again when a tree is rebuilt
    return Topology(mesh_to_test(mesh, interior), labels)


def require_a_label_each(labels: np.ndarray, vertex_count: int) -> None:
    """Labels of objects are integers, one for each of so many vertices."""
    if labels.ndim != 1:
        raise ShapeError(f"objects must have shape (n,), but has {labels.shape}")
    if len(labels) != vertex_count:
        raise ShapeError(f"objects must have one label for each of the {vertex_count} vertices, but has {len(labels)}")
    if labels.dtype.kind not in "iu":
        raise DtypeError(f"objects must hold integers, but has dtype {labels.dtype}")


def _require_whole(labels: np.ndarray, mesh: TriMesh) -> None:
    """No face and no edge is of two objects."""
    for ends, name in ((mesh.faces, "face"), (mesh.edges, "edge")):
        mixed = np.flatnonzero((labels[ends] != labels[ends[:, :1]]).any(axis=1))
        if len(mixed):
            named = labels[ends[mixed[0]]].tolist()
            raise OptionError(f"{name} {mixed[0]} joins vertices of different objects {named}")


_NO_LABELS, _NO_RANGES = np.empty(0, np.int32), np.empty((0, 2), np.int32)


class Hierarchy:
    """A tree over the elements, and what is by place in it: good for any motion."""

    plan: Plan  # that it was made for
    tree: Tree
    leaves: Elements  # in the order of places
    labels: np.ndarray  # (k,) int32 object of each place; none where all pairs are wanted
    label_range: np.ndarray  # of each node; likewise

    def __init__(
        self, topology: Topology, tree: Tree, plan: Plan, vertex_count: int, pool: ThreadPool = SERIAL
    ) -> None:
        self._topology, self.plan, self._vertex_count, self._pool = topology, plan, vertex_count, pool
        self.tree, labels = tree, None if plan.wanted == ALL else topology.labels(plan.wanted)
        self.leaves = in_order(topology.elements, tree.order, topology.is_of_faces, pool)
        self.labels, self.label_range = _NO_LABELS, _NO_RANGES
        if labels is not None:
            self.labels = np.ascontiguousarray(labels[self.leaves.corners[:, 0]], np.int32)
            self.label_range = label_ranges(self.labels, tree.begin)

    @cached_property
    def patches(self) -> Patches | None:
        """For normal cones; None where there are none."""
        if not self.plan.has_cones:
            return None
        edge_count = len(self._topology.tables[EDGE_EDGE])
        with_sides = self.leaves._replace(sides=np.take(self._topology.sides, self.tree.order, axis=0))
        return patches_of(with_sides, self.tree.begin, edge_count, self._vertex_count)

    @cached_property
    def places(self) -> Places:
        """The elements with all that pairs of features need to know of them."""
        tested = self._topology.tested
        mesh = tested.features if tested.cells is None else tested.cells
        most = int(self.leaves.corner_count.max(initial=0))
        return Places(mesh, self.tree, self.leaves, self.labels, most)

    @cached_property
    def assignment(self) -> Assignment:
        return assigned(self.places, self.plan, self._pool)


@dataclass(frozen=True)
class Scene:
    """Everything that the stages look at."""

    topology: Topology
    hierarchy: Hierarchy
    travel: Travel


class Fitted(NamedTuple):
    """What depends on the motion that is left: bounds of everything up to some horizon."""

    pair_tree: PairTree
    features: FittedFeatures | None  # None where only whole elements are examined

    @property
    def of_features(self) -> FittedFeatures:
        """Where pairs of features are examined."""
        assert self.features is not None
        return self.features


def build(
    topology: Topology, travel: Travel, plan: Plan, pool: ThreadPool, tally: Tally, *, relative_padding: float = 0.0,
    features: bool = True,
) -> tuple[Scene, Fitted]:  # fmt: skip
    """A scene with a new tree, and its bounds for the whole motion.

    relative_padding: as for ``bound_vertices``; features: pairs of vertices, edges and faces are wanted, not only of
    elements.
    """
    clock = time.perf_counter()
    if topology.tested.cells is not None:
        prepare(topology.tested.cells, features and plan.is_dynamic, pool)
    elements = topology.elements
    if features or plan.has_cones:
        _ = topology.tables
    clock = tally.lap("topology", clock)
    vertices = _bound_vertices(travel, plan, 1.0, relative_padding, pool, np.empty)
    centres = centres_of(vertices, elements.corners, pool)
    clock = tally.lap("bounds", clock)
    if plan.has_cones:
        twin = twins_of(topology.sides, len(topology.tables[EDGE_EDGE]))
        tree = split_into_patches(centres, twin, pool)
    else:
        tree = split_centres(centres, pool, LEAF_OF_PAIRS)
    del centres  # before what is kept is made: the memory of both is the peak of large queries
    hierarchy = Hierarchy(topology, tree, plan, len(travel.x0), pool)
    if features:
        _ = hierarchy.assignment
    _ = hierarchy.patches
    clock = tally.lap("hierarchy", clock)
    scene = Scene(topology, hierarchy, travel)
    places = bound_union(vertices, hierarchy.leaves.corners, pool)
    fitted = _fitted(scene, vertices, places, 1.0, pool, Buffers(), features)
    tally.lap("fit", clock)
    return scene, fitted


def fit(
    scene: Scene, plan: Plan, pool: ThreadPool, tally: Tally, *, horizon: float = 1.0, relative_padding: float = 0.0,
    features: bool = True, buffers: Buffers | None = None,
) -> Fitted:  # fmt: skip
    """Bounds of features and nodes for the motion up to the horizon, padded.

    buffers: relative_padding of an earlier frame, whose bounds are lost.
    """
    clock, buffers = time.perf_counter(), buffers or Buffers()
    vertices = _bound_vertices(scene.travel, plan, horizon, relative_padding, pool, buffers.named("vertices"))
    places = bound_union(vertices, scene.hierarchy.leaves.corners, pool, buffers.named("places"))
    fitted = _fitted(scene, vertices, places, horizon, pool, buffers, features)
    tally.lap("fit", clock)
    return fitted


def _bound_vertices(
    travel: Travel, plan: Plan, horizon: float, relative_padding: float, pool: ThreadPool, new: New
) -> np.ndarray:
    if plan.is_brute:
        return unbounded(len(travel.x0))
    return bound_vertices(
        travel.x0, travel.x1, plan.bounds, horizon, relative_padding, travel.contact_radius, pool, new
    )


def _fitted(
    scene: Scene,
    vertices: np.ndarray,
    places: np.ndarray,
    horizon: float,
    pool: ThreadPool,
    buffers: Buffers,
    features: bool,
) -> Fitted:
    """vertices, places : bounds of the vertices by id, and of the elements by place"""
    hierarchy = scene.hierarchy
    nodes = fit_nodes(places, hierarchy.tree.begin, pool, buffers.named("nodes"))
    free, bounds, roles = np.zeros(len(nodes), np.int8), None, all_roles(len(places))
    if features:
        bounds = hierarchy.assignment.fit(scene.travel, vertices, places, horizon, pool, buffers)
        roles = hierarchy.assignment.roles
    beside = NOTHING_BESIDE
    if hierarchy.patches is not None:
        joined = hierarchy.patches.joined
        beside = Beside(joined.begin, joined.partner, np.zeros(len(joined.partner), np.int8))
    return Fitted(PairTree(nodes, places, hierarchy.tree.begin, free, hierarchy.label_range, roles, beside), bounds)
