"""What is near what at an instant: every pair of features within a distance, and the distance of two meshes."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.elementary.advance import approach_of
from pliant.elementary.measure import Near, empty_near
from pliant.elementary.paths import straight_paths
from pliant.elementary.witness import fill_near
from pliant.engine.pipeline import find_near
from pliant.engine.prepare import fit, prepare
from pliant.mesh.features import elements_of
from pliant.mesh.triangles import TriMesh
from pliant.queries.detect import dcd, gate, plan_for
from pliant.queries.nearest import nearest_elements
from pliant.results.contacts import Distance, Proximity
from pliant.runtime.arrays import as_number, thread_count
from pliant.runtime.log import logged
from pliant.runtime.tally import Tally
from pliant.runtime.threads import Crew, Progress

KINDS = VERTEX_FACE, EDGE_EDGE


def proximity(
    mesh: Any,
    x: Any,
    *,
    within: float,
    objects: Any = None,
    pairs: str = "all",
    bounds: str = "aabb",
    assignment: str = "static",
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Proximity:
    """Every vertex and face, and every two edges, that are at most so far from each other, each pair once.

    Features that share a vertex are never a pair. Distances are to rounding; what lies within 1e-15 of the scene's
    extent of ``within`` may be in or out, always the same way. These are pairs of features: where an edge passes
    through the inside of a face, far from its boundary, there may be none. ``pliant.dcd`` finds what intersects.

    mesh, objects, pairs, bounds, assignment, threads, progress : as in ``pliant.ccd``
    x : (n, 3) positions
    within : the distance
    """
    scene_mesh, x, _, labels = gate(mesh, x, x, objects, pairs, ("x", "x"))
    within = as_number(within, "within", 0.0, np.finfo(float).max)
    plan = plan_for(pairs, "boxes", bounds, ("csat",), assignment)
    tally, crew = Tally(), Crew(thread_count(threads), progress)
    approach = approach_of(straight_paths(x, x), np.full(len(x), 0.5 * within), np.zeros(len(x)))
    helpers = Crew(crew.threads)
    scene = prepare(scene_mesh, x, x, labels, plan, helpers, tally, approach=approach)
    fitted = fit(scene, plan.bounds, 1.0, 0.0, tally, helpers)
    found = find_near(scene, fitted, plan, crew, tally, within)
    tables = scene_mesh._faces, scene_mesh._edges
    pairs_of = [np.concatenate([np.empty((0, 2), np.int32), *(f for k, f in found if k == kind)]) for kind in KINDS]
    near = empty_near(sum(map(len, pairs_of)))
    split = len(pairs_of[VERTEX_FACE])
    for kind, rows in ((VERTEX_FACE, slice(None, split)), (EDGE_EDGE, slice(split, None))):
        fill_near(kind, x, tables[kind], pairs_of[kind], Near(*(column[rows] for column in near)), helpers)
    kinds = np.repeat(np.array(KINDS, np.int8), (split, len(near.distance) - split))
    return logged("proximity", scene_mesh, Proximity(kinds, *near, stages=tally.stages()), tally)


def distance(mesh_a: Any, xa: Any, mesh_b: Any, xb: Any, *, threads: int | None = None) -> Distance:
    """How far two meshes are from each other, and where they are closest; 0 where their surfaces intersect.

    A mesh is its faces, and loose edges and points: that one lies inside the other makes no difference.

    mesh_a, mesh_b : as in ``pliant.ccd``
    xa, xb : (n, 3) and (m, 3) positions
    """
    mesh_a, xa, _, _ = gate(mesh_a, xa, xa, None, "all", ("xa", "xa"))
    mesh_b, xb, _, _ = gate(mesh_b, xb, xb, None, "all", ("xb", "xb"))
    a, b = elements_of(mesh_a), elements_of(mesh_b)
    if len(a.corners) == 0 or len(b.corners) == 0:
        return Distance(np.inf, np.full((2, 3), np.nan), np.full(2, -1, np.int32))
    # Loose edges and points as triangles that are segments and points: dcd sees where they pass through a face.
    both, x = TriMesh(np.concatenate((a.corners, b.corners + len(xa)))), np.concatenate((xa, xb))
    crossing = dcd(both, x, objects=np.repeat((0, 1), (len(xa), len(xb))), pairs="inter", threads=threads)
    if len(crossing):
        first, second = crossing.faces[0]
        faces = np.array((a.face[first], b.face[second - len(a.corners)]))
        return Distance(0.0, np.repeat(crossing.segments[0].mean(axis=0)[None], 2, axis=0), faces)
    length, points, (i, j) = nearest_elements(a.corners, xa, b.corners, xb, Crew(thread_count(threads)))
    return Distance(length, points, np.array((a.face[i], b.face[j])))
