"""The queries on meshes: every contact during a motion, how far a motion can safely go, what intersects now."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.bounds.kdops import AXES
from pliant.elementary.advance import INITIAL, TOLERANCE, Approach, approach_of, tolerance_of
from pliant.elementary.exact import quads_of
from pliant.elementary.inversion import warn_inverted
from pliant.elementary.measure import Closest, empty_closest
from pliant.elementary.paths import STRAIGHT, Paths, straight_paths
from pliant.elementary.witness import note_contacts
from pliant.engine.discrete import Crossing, find_intersections
from pliant.engine.motion import Motion
from pliant.engine.pipeline import Found, find_contacts
from pliant.engine.prepare import Plan, Prepared, fit, mark_free_patches, prepare, prepare_volume
from pliant.engine.step import first_contacts, verified_positions
from pliant.filters.sieve import ELEMENT_FILTERS, FILTERS, GAP_FILTERS
from pliant.hierarchy.traverse import ALL, INTER, SELF
from pliant.mesh.subjects import Subject, subject_of, surface_of
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.mesh.welding import weld
from pliant.pairs.order import canonical_order
from pliant.results.contacts import Contacts, Intersections, Step
from pliant.runtime.arrays import (
    DtypeError,
    OptionError,
    ShapeError,
    TangledError,
    as_array,
    as_number,
    as_positions,
    as_radii,
    choose,
    require_in_range,
    thread_count,
)
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ALONE, Crew, Progress

_WANTED = {"all": ALL, "self": SELF, "inter": INTER}
DEFAULT_FILTERS = ("dnf", "csat")
CULLINGS = ("boxes", "front", "cones", "cones+front", "brute")


def ccd(
    mesh: Any,
    x0: Any,
    x1: Any = None,
    *,
    min_distance: Any = 0.0,
    motion: Motion | None = None,
    solver: str = "exact",
    tolerance: float = TOLERANCE,
    objects: Any = None,
    pairs: str = "all",
    culling: str = "boxes",
    bounds: str = "aabb",
    filters: Sequence[str] = DEFAULT_FILTERS,
    assignment: str | None = None,
    interior: bool = True,
    tangled: str = "ignore",
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Contacts:
    """Every contact while the vertices move in straight lines from x0 to x1, exactly, each once.

    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) positions at t = 0 and t = 1
    min_distance : contact is where two features come within this distance; or (n,) radii of the vertices, which
        interpolate over a feature and add up between two (d/2 everywhere is the same as d). Pairs that begin so close
        have toi 0
    motion : ``pliant.Accelerated``, ``Screw``, ``Rigid`` or ``Affine`` instead of straight lines
    solver : "exact", or "advance" (conservative advancement, which min_distance and curved motion always use):
        reports what comes within the tolerance, never too late
    tolerance : of advancement, relative to the extent of the scene
    objects : (n,) integers, a label for each vertex; default: connected components
    pairs : "all", "self" (both features of one object) or "inter" (of different ones)
    culling : "boxes"; "cones" also culls patches that normal cones prove to be free of self-contact ("front" and
        "cones+front" keep the front of the traversal, which pays from frame to frame, in a ``Detector``); "brute" looks
        at every pair (the reference; small meshes only)
    bounds : "aabb", "16-dop", "18-dop" or "24-dop"
    filters : which of "csat", "dnf", "ncf", "plane", "circle" and "triangle" discard pairs before the exact test, in
        this order; "triangle" and "csat" discard pairs of elements, too
    assignment : how each feature pair comes once, "static" (representative triangles; default of surfaces) or "dynamic"
        (with orphan sets; default of volume meshes)
    interior : of a volume mesh: all features of its cells take part, or only those of its boundary
    tangled : "warn" or "raise" to look first for triangles that intersect at x0, which no contact tells of
    threads : number of threads; default: as many as there are cores
    progress : True for a line on stderr, or a function of (chunks done, chunks in all)

    Culling, bounds, filters, assignment and threads change the time, never the result. What only proves that there is
    no contact at distance 0 (normal cones, "ncf", "dnf", which "plane" stands in for) is left out where advancement
    decides.
    """
    subject = subject_of(mesh, interior)
    plan = plan_for(pairs, culling, bounds, filters, _assignment(assignment, subject))
    tally, crew = Tally(), Crew(thread_count(threads), progress)
    wish = Wish(min_distance, motion, solver, tolerance)
    scene, plan = _motion(subject, x0, x1, objects, pairs, plan, wish, tangled, crew, tally)
    fitted = fit(scene, plan.bounds, 1.0, 0.0, tally, Crew(crew.threads))
    mark_free_patches(scene, fitted, 0.0, Crew(crew.threads), tally)
    found = tabulate(subject, scene, find_contacts(scene, fitted, plan, crew, tally), tally, Crew(crew.threads))
    return logged("ccd", subject.volume or subject.features, found, tally)


def safe_step(
    mesh: Any,
    x0: Any,
    x1: Any = None,
    *,
    min_distance: Any = 0.0,
    initial: str = "stop",
    keep: float = 0.5,
    motion: Motion | None = None,
    solver: str = "exact",
    tolerance: float = TOLERANCE,
    objects: Any = None,
    pairs: str = "all",
    culling: str = "boxes",
    bounds: str = "aabb",
    filters: Sequence[str] = DEFAULT_FILTERS,
    assignment: str | None = None,
    interior: bool = True,
    tangled: str = "ignore",
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Step:
    """The largest step from x0 towards x1 that is free of contact, the contact that ends it, and verified positions.

    Parameters are those of ``ccd``. ``step.t`` equals the smallest toi that ``ccd`` reports, or 1.0 where there is
    none.

    initial : what becomes of pairs that begin within min_distance: "stop" (t = 0), "ignore" (only touching counts for
        them), "relative" (they must keep a part of the distance they begin with)
    keep : that part, from 0 to 1
    """
    subject = subject_of(mesh, interior)
    plan = plan_for(pairs, culling, bounds, filters, _assignment(assignment, subject))
    tally, crew = Tally(), Crew(thread_count(threads), progress)
    wish = Wish(min_distance, motion, solver, tolerance, initial, keep)
    scene, plan = _motion(subject, x0, x1, objects, pairs, plan, wish, tangled, crew, tally)
    found, near = first_contacts(scene, plan, crew, tally)
    if found:
        contacts = tabulate(subject, scene, found, tally)
        contact = contacts[int(np.argmin(contacts.toi))]
        t = float(contact.toi[0])
        step = Step(t, contact, verified_positions(scene, plan, near, t, Crew(crew.threads), tally), tally.stages())
    else:
        step = Step(1.0, None, scene.x1.copy(), tally.stages())
    return logged("safe_step", subject.volume or subject.features, step, tally)


class Wish(NamedTuple):
    """What counts as a contact, on which paths, and who decides; as the user said it."""

    min_distance: Any
    motion: Motion | None
    solver: str
    tolerance: float
    initial: str = "stop"
    keep: float = 0.5


def _assignment(assignment: str | None, subject: Subject) -> str:
    """What was asked for, or what is faster: cells share so many vertices that adjacent ones are most of the work."""
    if assignment is None:
        return "static" if subject.cells is None else "dynamic"
    if assignment == "static with o-sets":
        raise OptionError(
            'assignment="static with o-sets" would miss contacts: O-sets leave out pairs of features that have two '
            "separate cells, although the cells that they are assigned to may be adjacent, and are skipped; "
            'use "static" or "dynamic"'
        )
    return assignment


def _motion(
    subject: Subject, x0: Any, x1: Any, objects: Any, pairs: str, plan: Plan, wish: Wish, tangled: str, crew: Crew,
    tally: Tally,
) -> tuple[Prepared, Plan]:  # fmt: skip
    """Checked input with its tree, and what of the plan is of use; where asked for, whether it starts tangled."""
    if subject.volume is not None:
        x0 = as_positions(x0, "x0")
        subject.volume.require_in_range(len(x0))
    scene_mesh, x0, x1, labels, paths = _gate_motion(subject.features, x0, x1, objects, pairs, wish.motion)
    approach = _approach(scene_mesh, paths, wish)
    if approach is not None:
        # The plane of a face in place of coplanarity, which csat tries too, in the same pass over the pairs.
        instead = "csat" if "csat" in plan.filters else "plane"
        filters = dict.fromkeys(instead if name == "dnf" else name for name in plan.filters)
        plan = plan._replace(
            filters=tuple(name for name in filters if name in GAP_FILTERS),
            culling=plan.culling.replace("cones", "boxes"),
        )
    if choose(tangled, "tangled", ("ignore", "warn", "raise")) != "ignore":
        seen = scene_mesh if subject.volume is None else subject.volume.surface()
        if labels is not None:  # of all vertices, those behind the last one that takes part too
            labels = np.concatenate((labels, np.full(len(x0) - len(labels), -1, np.int32)))
        _report_tangles(dcd(seen, x0, objects=labels, pairs=pairs, threads=crew.threads), tangled)
    if subject.volume is not None:
        warn_inverted(subject.volume, x0, stacklevel=4)
    if subject.cells is not None:
        plan = _with_orphans_listed(subject.cells, plan, tally)
    given = x0, x1, labels, plan, Crew(crew.threads), tally
    if subject.cells is not None:
        return prepare_volume(subject.cells, *given, approach=approach), plan
    return prepare(scene_mesh, *given, approach=approach), plan


def _with_orphans_listed(cells: VolumeMesh, plan: Plan, tally: Tally) -> Plan:
    """The plan, or static assignment, which needs no list of orphans, where a vertex has so many cells that the list
    would fill the memory: a stage says so."""
    if plan.assignment != "dynamic" or cells.has_o_sets:
        return plan
    tally.add("static assignment: too many orphans", 0, 0, 0.0)
    return plan._replace(assignment="static")


def _gate_motion(
    mesh: Any, x0: Any, x1: Any, objects: Any, pairs: str, motion: Motion | None
) -> tuple[TriMesh, np.ndarray, np.ndarray, np.ndarray | None, Paths]:
    """Checked input and the paths of the vertices; x1 follows from some motions."""
    if motion is None:
        if x1 is None:
            raise OptionError("x1 is missing: positions at t = 1, or a motion= that says where it ends")
        scene_mesh, x0, x1, labels = gate(mesh, x0, x1, objects, pairs)
        return scene_mesh, x0, x1, labels, straight_paths(x0, x1)
    if not isinstance(motion, Motion):
        raise OptionError(f"motion={motion!r} is none; choose pliant.Accelerated, Screw, Rigid or Affine")
    scene_mesh, x0, end, labels = gate(mesh, x0, x0 if x1 is None else x1, objects, pairs)
    if objects is None:  # vertices behind the last one that takes part move with nobody
        named = np.full(len(x0), -1)
        named[: len(scene_mesh.components)] = scene_mesh.components
    else:
        named = as_array(objects, "objects")  # as the user numbers them
    paths = motion.paths(x0, None if x1 is None else end, named)
    return scene_mesh, x0, as_positions(paths.x1, "x1, where motion ends,"), labels, paths


def _approach(mesh: TriMesh, paths: Paths, wish: Wish) -> Approach | None:
    """What advancement needs to know, or None where the exact test decides."""
    choose(wish.solver, "solver", ("exact", "advance"))
    choose(wish.initial, "initial", INITIAL)
    tolerance = as_number(wish.tolerance, "tolerance", 1e-14, 1.0)
    keep = as_number(wish.keep, "keep", 0.0, 1.0)
    radii = as_radii(wish.min_distance, len(paths.x0))
    if wish.solver == "exact" and paths.mode == STRAIGHT and not radii.any():
        return None
    tolerances = tolerance_of(paths, mesh.vertices, tolerance)
    return approach_of(paths, radii, tolerances, INITIAL.index(wish.initial), keep, tolerance)


def dcd(
    mesh: Any,
    x: Any,
    *,
    objects: Any = None,
    pairs: str = "all",
    culling: str = "boxes",
    bounds: str = "aabb",
    merge: bool = False,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Intersections:
    """Every pair of triangles that intersect at positions x, exactly, each once; touching counts.

    Two triangles intersect if they share a point that is not on a vertex or an edge they have in common: neighbours
    count where they are folded flat onto each other or pass through each other elsewhere, and faces with the same three
    vertices always. Degenerate triangles are segments or points, and intersect as such.

    mesh, objects, pairs, culling, bounds, threads, progress : as in ``ccd``; loose edges and points take no part
    x : (n, 3) positions
    merge : take vertices at equal positions for one (of the same object), as files often duplicate them
    """
    scene_mesh, x, _, labels = gate(mesh, x, x, objects, pairs, ("x", "x"))
    if merge:
        scene_mesh = TriMesh(weld(scene_mesh.faces, x, None if objects is None else labels))
        labels = scene_mesh.components if objects is None and pairs != "all" else labels
    plan = plan_for(pairs, culling, bounds, (), "static")
    tally, crew = Tally(), Crew(thread_count(threads), progress)
    scene = prepare(scene_mesh, x, x, labels, plan, Crew(crew.threads), tally, features=False)
    fitted = fit(scene, plan.bounds, 1.0, 0.0, tally, Crew(crew.threads), features=False)
    mark_free_patches(scene, fitted, 0.0, Crew(crew.threads), tally)
    found = tabulate_intersections(find_intersections(scene, fitted, plan, crew, tally), tally)
    return logged("dcd", scene_mesh, found, tally)


def _report_tangles(hits: Intersections, tangled: str) -> None:
    """Warn or raise where triangles intersect at the start."""
    if len(hits) == 0:
        return
    named = ", ".join(f"{a} and {b}" for a, b in hits.faces[:5].tolist())
    more = f" and {len(hits) - 5} more pairs" if len(hits) > 5 else ""
    text = f"the motion starts tangled: faces {named}{more} intersect at x0; pliant.dcd(mesh, x0) lists them"
    if tangled == "raise":
        raise TangledError(text)
    warnings.warn(text, stacklevel=4)


def gate(
    mesh: Any, x0: Any, x1: Any, objects: Any, pairs: str, names: tuple[str, str] = ("x0", "x1")
) -> tuple[TriMesh, np.ndarray, np.ndarray, np.ndarray | None]:
    """Checked input, and labels of the vertices' objects where they matter."""
    mesh = surface_of(mesh)
    at_rest, x0 = x1 is x0, as_positions(x0, names[0])
    x1 = x0 if at_rest else as_positions(x1, names[1], len(x0))
    for indices, name in ((mesh.faces, "faces"), (mesh.loose_edges, "edges"), (mesh.loose_points, "points")):
        require_in_range(indices, name, len(x0))
    labels = None if objects is None else _as_labels(objects, mesh, len(x0))
    if labels is None and pairs != "all":
        labels = mesh.components
    return mesh, x0, x1, labels


def _as_labels(objects: Any, mesh: TriMesh, vertex_count: int) -> np.ndarray:
    labels = as_array(objects, "objects")
    if labels.ndim != 1:
        raise ShapeError(f"objects must have shape (n,), but has {labels.shape}")
    if len(labels) != vertex_count:
        raise ShapeError(f"objects must have one label for each of the {vertex_count} vertices, but has {len(labels)}")
    if labels.dtype.kind not in "iu":
        raise DtypeError(f"objects must hold integers, but has dtype {labels.dtype}")
    for ends, name in ((mesh.faces, "face"), (mesh.edges, "edge")):
        mixed = np.flatnonzero((labels[ends] != labels[ends[:, :1]]).any(axis=1))
        if len(mixed):
            named = labels[ends[mixed[0]]].tolist()
            raise OptionError(f"{name} {mixed[0]} joins vertices of different objects {named}")
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)  # any integers, numbered from 0


def plan_for(pairs: str, culling: str, bounds: str, filters: Sequence[str], assignment: str) -> Plan:
    choose(pairs, "pairs", tuple(_WANTED))
    choose(culling, "culling", CULLINGS)
    choose(bounds, "bounds", tuple(AXES))
    choose(assignment, "assignment", ("static", "dynamic"))
    if isinstance(filters, str):
        raise OptionError(f"filters={filters!r} must be a sequence of names, such as ({filters!r},)")
    filters = tuple(filters)  # a generator can be gone through only once
    for name in filters:
        choose(name, "filters", tuple(dict.fromkeys(FILTERS + ELEMENT_FILTERS)))
    return Plan("none" if culling == "brute" else bounds, filters, culling, _WANTED[pairs], assignment)


def tabulate(
    subject: Subject, scene: Prepared | None, found: list[Found], tally: Tally, crew: Crew = ALONE
) -> Contacts:
    """One table in canonical order, with the points of contact; scene: None where there is nothing in it."""
    count = sum(len(f.toi) for f in found)
    kinds, elements, quads = np.empty(count, np.int8), np.empty((count, 2), np.int32), np.empty((count, 4), np.int32)
    toi, toi_upper, status, points = np.empty(count), np.empty(count), np.empty(count, np.int8), empty_closest(count)
    cells, inversion, begin = np.empty((count, 2), np.int32), np.empty(count, bool), 0
    for kind, table in ((VERTEX_FACE, subject.features.faces), (EDGE_EDGE, subject.features.edges)):
        rows = [f for f in found if f.kind == kind]
        pairs = np.concatenate([np.empty((0, 2), np.int32), *(f.pairs for f in rows)])
        order, part = canonical_order(pairs), slice(begin, begin + len(pairs))
        begin += len(pairs)
        kinds[part], elements[part] = kind, pairs[order]
        toi[part] = np.concatenate([np.empty(0), *(f.toi for f in rows)])[order]
        toi_upper[part] = np.concatenate([np.empty(0), *(f.toi_upper for f in rows)])[order]
        status[part] = np.concatenate([np.empty(0, np.int8), *(f.status for f in rows)])[order]
        quads[part] = quads_of(kind, table, elements[part])
        if scene is not None:
            out = Closest(points.distance[part], points.weights[part], points.normal[part])
            note_contacts(kind, (scene.x0, scene.x1), scene.approach, quads[part], toi[part], out, crew)
        elements[part], cells[part], inversion[part] = subject.sides(kind, elements[part])
    columns = kinds, elements, quads, toi, toi_upper, points.weights, points.normal, points.distance, status
    return Contacts(*columns, cells, inversion, stages=tally.stages())


def tabulate_intersections(found: list[Crossing], tally: Tally) -> Intersections:
    """One table in canonical order."""
    faces = np.concatenate([np.empty((0, 2), np.int32), *(f.faces for f in found)])
    segments = np.concatenate([np.empty((0, 2, 3)), *(f.segments for f in found)])
    coplanar = np.concatenate([np.empty(0, bool), *(f.coplanar for f in found)])
    order = np.lexsort((faces[:, 1], faces[:, 0]))
    return Intersections(faces[order], segments[order], coplanar[order], stages=tally.stages())
