"""What the stages work on: the scene in the order of its tree, and bounds for the motion that is left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.bernstein import unit_factor
from pliant.bounds.kdops import NO_REACH, bound_union, bound_vertices
from pliant.culling.cones import Faces, fit_cones, merge_cones
from pliant.culling.contours import FREE, free_patches
from pliant.elementary.advance import Approach
from pliant.elementary.paths import largest_of
from pliant.filters.axes.cells import gather_cells
from pliant.filters.axes.elements import gather_corners, gather_resting_corners
from pliant.filters.axes.separation import ALLOWED
from pliant.hierarchy.build import TOP_LEVELS, Tree, centres_of, fit_nodes, label_ranges, split_elements
from pliant.hierarchy.discs import split_into_patches
from pliant.hierarchy.traverse import INTER, PARTICIPANT, WITH_EDGES, WITH_VERTICES, Forest, all_roles
from pliant.mesh.cell_features import Cells
from pliant.mesh.features import Elements, Owned, faces_of, gather_features, no_features, owned_by_first
from pliant.mesh.patches import Patches, patches_of, twins_of
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import Kept, New
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ALONE, Crew


class Plan(NamedTuple):
    """What the user asked for."""

    bounds: str
    filters: tuple[str, ...]
    culling: str
    wanted: int
    assignment: str


class Prepared(NamedTuple):
    """A scene with its tree: what does not change while the end of the motion comes closer."""

    x0: np.ndarray
    x1: np.ndarray
    largest: float  # coordinate of the scene
    factor: float  # a power of two that brings it near 1
    faces: np.ndarray
    edges: np.ndarray
    leaves: Elements  # in the order of places
    owned: Owned  # by place
    tree: Tree
    labels: np.ndarray  # object of each place
    label_range: np.ndarray  # of each node
    roles: np.ndarray  # of each place, for the traversal
    patches: Patches | None  # for normal cones
    is_volume: bool  # elements are the cells of a volume mesh
    orphans: tuple[np.ndarray, np.ndarray]  # for dynamic assignment: VF, EE
    cells: Cells | None  # for dynamic assignment, by id
    vertices: np.ndarray  # ids of those that take part
    approach: Approach | None  # where features need not touch to be in contact, or paths are curved
    reach: np.ndarray  # (n,) how far from its straight path a vertex can be in contact; of length 0 where it must touch


class Fitted(NamedTuple):
    """What depends on the motion that is left: bounds of everything up to some horizon."""

    forest: Forest
    # Bounds of owned vertices, edges and faces, and of elements, by place; for dynamic assignment of all, by id.
    features: tuple[np.ndarray, ...]
    points: np.ndarray  # corners of the elements by place, for the separating axis test; none where only faces count
    reach: np.ndarray  # of the elements by place, in the same units; or of length 0


def prepare(
    mesh: TriMesh, x0: np.ndarray, x1: np.ndarray, objects: np.ndarray | None, plan: Plan, crew: Crew, tally: Tally,
    features: bool = True, approach: Approach | None = None,
) -> Prepared:  # fmt: skip
    """Topology and hierarchy; features: are edges and vertices wanted, or only faces."""
    clock = time.perf_counter()
    elements = mesh._elements if features or "cones" in plan.culling else faces_of(mesh)
    labels = np.zeros(len(x0), np.int32) if objects is None else objects
    clock = tally.lap("topology", clock)
    reach = NO_REACH if approach is None else reach_of(approach)
    vertex_bounds = bound_vertices(x0, x1, plan.bounds, reach=reach, crew=crew)
    element_bounds = bound_union(vertex_bounds, elements.corners, crew)
    clock = tally.lap("bounds", clock)
    with_cones = "cones" in plan.culling
    if with_cones:
        twin = twins_of(elements.sides, len(mesh.edges))
        tree = split_into_patches(centres_of(element_bounds), twin, crew)
    else:
        tree = split_elements(element_bounds, crew)
    leaves = Elements(*(np.take(a, tree.order, axis=0) for a in elements))
    labels = np.ascontiguousarray(labels[leaves.corners[:, 0]], np.int32)
    cells, orphans = _dynamic(mesh, plan) if features else (None, _NO_ORPHANS)
    if features and cells is None:
        owned = gather_features(leaves, mesh._edges, len(x0))
    else:
        owned = no_features(len(leaves.face))
    edges = mesh._edges if features else np.empty((0, 2), np.int32)
    scene = Prepared(
        x0, x1, 0.0, 1.0, mesh._faces, edges, leaves, owned,
        tree, labels, label_ranges(labels, tree.begin), roles_of(owned, plan.assignment),
        patches_of(leaves, tree.begin, len(mesh.edges), len(x0)) if with_cones else None,
        False, orphans, cells, owned.vertex if cells is None else mesh.vertices, approach, reach,
    )  # fmt: skip
    tally.lap("hierarchy", clock)
    return moved(scene, x0, x1)


def roles_of(owned: Owned, assignment: str) -> np.ndarray:
    """What elements own, where that decides which pairs are looked at."""
    count = len(owned.vertex_start) - 1
    if assignment == "dynamic":
        return all_roles(count)
    with_vertices = (owned.vertex_start[1:] > owned.vertex_start[:-1]).view(np.int8)
    with_edges = (owned.edge_start[1:] > owned.edge_start[:-1]).view(np.int8)
    return PARTICIPANT + WITH_VERTICES * with_vertices + WITH_EDGES * with_edges


def prepare_volume(
    mesh: VolumeMesh, x0: np.ndarray, x1: np.ndarray, objects: np.ndarray | None, plan: Plan, crew: Crew, tally: Tally,
    approach: Approach | None = None,
) -> Prepared:  # fmt: skip
    """Topology and hierarchy of the cells of a volume mesh."""
    clock = time.perf_counter()
    table, (cells, orphans) = mesh.cell_table, _dynamic(mesh, plan)
    clock = tally.lap("topology", clock)
    reach = NO_REACH if approach is None else reach_of(approach)
    vertex_bounds = bound_vertices(x0, x1, plan.bounds, reach=reach, crew=crew)
    element_bounds = bound_union(vertex_bounds, table.corners, crew)
    clock = tally.lap("bounds", clock)
    tree = split_elements(element_bounds, crew)
    corners, corner_count = (np.take(a, tree.order, axis=0) for a in (table.corners, table.corner_count))
    leaves = Elements(corners, np.full(len(corners), -1, np.int32), np.empty((len(corners), 0), np.int32), corner_count)
    labels = np.zeros(len(x0), np.int32) if objects is None else objects
    labels = np.ascontiguousarray(labels[corners[:, 0]], np.int32)
    owned = owned_by_first(table, tree.order) if cells is None else no_features(len(corners))
    scene = Prepared(
        x0, x1, 0.0, 1.0, mesh._faces, mesh._edges, leaves, owned,
        tree, labels, label_ranges(labels, tree.begin), roles_of(owned, plan.assignment), None,
        True, orphans, cells, mesh.vertices, approach, reach,
    )  # fmt: skip
    tally.lap("hierarchy", clock)
    return moved(scene, x0, x1)


def reach_of(approach: Approach) -> np.ndarray:
    """(n,) how far from its chord a vertex can be in contact: radius, tolerance and bend of the path.

    With room for what advancement allows for rounding, half of it for each of two vertices: what a filter leaves out,
    advancement would not have reported.
    """
    rounding = 0.5 * ALLOWED * largest_of(approach.paths) + 0.5 * ALLOWED * float(approach.radii.max(initial=0.0))
    reach = approach.radii + (0.5 * approach.tolerance + rounding)
    return reach + 0.126 * approach.paths.bend if len(approach.paths.bend) else reach


_NO_ORPHANS = np.empty((0, 2), np.int32), np.empty((0, 2), np.int32)


def _dynamic(mesh: TriMesh | VolumeMesh, plan: Plan) -> tuple[Cells | None, tuple[np.ndarray, np.ndarray]]:
    """Cells and orphans where assignment is dynamic; orphans are connected, so none are between objects."""
    if plan.assignment == "static":
        return None, _NO_ORPHANS
    return mesh.cell_table, _NO_ORPHANS if plan.wanted == INTER else mesh._o_sets


def moved(scene: Prepared, x0: np.ndarray, x1: np.ndarray) -> Prepared:
    """The same scene in another frame."""
    # At least so much that a rounding error of the denormals, 5e-324, is a small part of its rounding error too.
    largest = max(1e-300, _largest(x0), 0.0 if x0 is x1 else _largest(x1))
    return scene._replace(x0=x0, x1=x1, largest=largest, factor=unit_factor((largest, largest, largest)))


def _largest(x: np.ndarray) -> float:
    return max(float(x.max()), -float(x.min())) if x.size else 0.0


def fit(
    scene: Prepared, bounds: str, horizon: float, room: float, tally: Tally, crew: Crew = ALONE, features: bool = True,
    kept: Kept | None = None,
) -> Fitted:  # fmt: skip
    """Bounds of features (where they are wanted) and nodes for the motion up to the horizon, with some room around.

    kept: room of an earlier frame, whose bounds are lost.
    """
    clock = time.perf_counter()
    x0, x1, corners = scene.x0, scene.x1, scene.leaves.corners
    new = (kept or Kept()).named
    vertex_bounds = bound_vertices(x0, x1, bounds, horizon, room, scene.reach, crew, new("vertices"))
    place_bounds = bound_union(vertex_bounds, corners, crew, new("places"))
    nodes = fit_nodes(place_bounds, scene.tree.begin, crew, new("nodes"))
    bounds_of, points = _bounds_of_features(
        scene, vertex_bounds, place_bounds, horizon, crew, new if features else None
    )
    roles = scene.roles if features else all_roles(len(place_bounds))
    fitted = Fitted(
        Forest(nodes, place_bounds, scene.tree.begin, np.zeros(len(nodes), np.int8), scene.label_range, roles),
        bounds_of,
        points,
        _furthest(scene.reach, corners) * scene.factor if len(scene.reach) else NO_REACH,
    )
    tally.lap("fit", clock)
    return fitted


def _bounds_of_features(
    scene: Prepared, of_vertices: np.ndarray, of_places: np.ndarray, horizon: float, crew: Crew,
    new: Callable[[str], New] | None,
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:  # fmt: skip
    """Bounds of the features, and the corners of the elements; new: where to put them, None where none are wanted."""
    if new is None or (scene.cells is None and len(scene.owned.vertex) == 0):
        none = np.empty((0, of_places.shape[1]))
        return (none, none, none, of_places), np.empty((0, 18))
    x0, x1, owned = scene.x0, scene.x1, scene.owned
    if scene.cells is None:
        of_owned = bound_union(of_vertices, owned.vertex[:, None], crew, new("owned vertices"))
        of_edges = bound_union(of_vertices, owned.ends, crew, new("owned edges"))
        has_one = len(owned.face) == len(of_places) and not scene.is_volume  # each element is one face
        of_faces = of_places if has_one else bound_union(of_vertices, owned.triangles, crew, new("owned faces"))
        bounds_of = of_owned, of_edges, of_faces, of_places
    else:
        of_cells = new("cells")(of_places.shape)
        of_cells[scene.tree.order] = of_places
        of_edges = bound_union(of_vertices, scene.edges, crew, new("edges"))
        if scene.is_volume:
            of_faces = bound_union(of_vertices, scene.faces, crew, new("faces"))
        else:
            of_faces = of_cells[: len(scene.faces)]  # they come first, and each is a cell
        bounds_of = of_vertices, of_edges, of_faces, of_cells
    if scene.is_volume:
        points = gather_cells(scene.leaves, x0, x1, horizon, scene.factor, crew, new("corners"))
    elif x0 is x1 and scene.patches is None:
        points = gather_resting_corners(scene.leaves.corners, x0, scene.factor, crew, new("corners"))
    else:
        points = gather_corners(scene.leaves.corners, x0, x1, horizon, scene.factor, crew, new("corners"))
    return bounds_of, points


def _furthest(reach: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(k,) the largest reach of the corners of each element; a maximum over the columns takes five times as long."""
    furthest = reach[corners[:, 0]]
    for column in range(1, corners.shape[1]):
        np.maximum(furthest, reach[corners[:, column]], out=furthest)
    return furthest


def fit_all_cones(scene: Prepared, fitted: Fitted, fuzz: float, crew: Crew, tally: Tally) -> np.ndarray:
    """(nodes, 4) the normal cone of every node, for vertices off by at most fuzz."""
    assert scene.patches is not None
    clock = time.perf_counter()
    cones, top = np.empty((len(fitted.forest.nodes), 4)), first_subtree(scene)
    faces = Faces(
        scene.leaves.corners, scene.x0, scene.x1, scene.x0 is scene.x1, scene.factor,
        scene.patches.turned, scene.tree.begin, scene.factor * fuzz,
    )  # fmt: skip
    crew.run(lambda _, node: fit_cones(faces, cones, node), range(top, 2 * top))
    merge_cones(cones, top)
    tally.lap("cones", clock)
    return cones


def first_subtree(scene: Prepared) -> int:
    """Nodes from this one up to twice its number have the subtrees that threads take."""
    return 1 << min(TOP_LEVELS, scene.tree.depth)


def mark_free_patches(scene: Prepared, fitted: Fitted, fuzz: float, crew: Crew, tally: Tally) -> None:
    """Normal cones and contours: which nodes surely do not meet themselves, for vertices off by at most fuzz."""
    if scene.patches is None:
        return
    cones = fit_all_cones(scene, fitted, fuzz, crew, tally)
    clock = time.perf_counter()
    free, top = fitted.forest.free, first_subtree(scene)
    patches = scene.x0, scene.x1, fitted.forest.nodes, cones, scene.patches.start, scene.patches.loop, fuzz, free
    tests = [free_patches(*patches, 1, top)]
    crew.run(lambda _, node: tests.append(free_patches(*patches, node, len(cones))), range(top, 2 * top))
    culled = int(np.count_nonzero(free == FREE))
    tally.add("contours", sum(tests), sum(tests) - culled, time.perf_counter() - clock)
