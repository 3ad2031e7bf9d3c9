"""What walks found, as tables in canonical order."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, KINDS, VERTEX_FACE
from pliant.elementary.exact import quads_of
from pliant.elementary.measure import Closest, empty_closest, empty_near
from pliant.elementary.measure import Near as NearColumns
from pliant.elementary.witness import fill_near, note_contacts
from pliant.engine.sinks import Crossing, Found, Near
from pliant.engine.travel import Travel
from pliant.mesh.tested import TestedMesh
from pliant.pairs.order import canonical_order
from pliant.results.contacts import Contacts, Intersections, Proximity
from pliant.runtime.tally import Tally
from pliant.runtime.threads import SERIAL, ThreadPool


def tabulate(
    tested: TestedMesh, travel: Travel | None, found: list[Found], tally: Tally, pool: ThreadPool = SERIAL
) -> Contacts:
    """Contacts, with their points; travel: None where nothing moved yet."""
    count = sum(len(f.toi) for f in found)
    kinds, elements, quads = np.empty(count, np.int8), np.empty((count, 2), np.int32), np.empty((count, 4), np.int32)
    toi, toi_upper, status, points = np.empty(count), np.empty(count), np.empty(count, np.int8), empty_closest(count)
    cells, inversion, begin = np.empty((count, 2), np.int32), np.empty(count, bool), 0
    tables = (tested.features._faces, tested.features._edges) if count else ()
    for kind in KINDS if count else ():
        rows = [f for f in found if f.kind == kind]
        pairs = np.concatenate([np.empty((0, 2), np.int32), *(f.pairs for f in rows)])
        order, part = canonical_order(pairs), slice(begin, begin + len(pairs))
        begin += len(pairs)
        kinds[part], elements[part] = kind, pairs[order]
        toi[part] = np.concatenate([np.empty(0), *(f.toi for f in rows)])[order]
        toi_upper[part] = np.concatenate([np.empty(0), *(f.toi_upper for f in rows)])[order]
        status[part] = np.concatenate([np.empty(0, np.int8), *(f.status for f in rows)])[order]
        quads[part] = quads_of(kind, tables[kind], elements[part])
        if travel is not None:
            out = Closest(points.distance[part], points.weights[part], points.normal[part])
            note_contacts(kind, (travel.x0, travel.x1), travel.approach, quads[part], toi[part], out, pool)
        elements[part], cells[part], inversion[part] = tested.sides(kind, elements[part])
    columns = kinds, elements, quads, toi, toi_upper, points.weights, points.normal, points.distance, status
    return Contacts(*columns, cells, inversion, stages=tally.stages())


def tabulate_intersections(found: list[Crossing], tally: Tally) -> Intersections:
    faces = np.concatenate([np.empty((0, 2), np.int32), *(f.faces for f in found)])
    segments = np.concatenate([np.empty((0, 2, 3)), *(f.segments for f in found)])
    coplanar = np.concatenate([np.empty(0, bool), *(f.coplanar for f in found)])
    order = np.lexsort((faces[:, 1], faces[:, 0]))
    return Intersections(faces[order], segments[order], coplanar[order], stages=tally.stages())


def pairs_by_kind(found: list[Near]) -> tuple[np.ndarray, np.ndarray]:
    """(k, 2) ids of each kind, in the order found."""
    vertex_face, edge_edge = (
        np.concatenate([np.empty((0, 2), np.int32), *(one.pairs for one in found if one.kind == kind)])
        for kind in KINDS
    )
    return vertex_face, edge_edge


def tabulate_near(tested: TestedMesh, x: np.ndarray, found: list[Near], tally: Tally, pool: ThreadPool) -> Proximity:
    """Pairs of features with their distances and closest points."""
    pairs = pairs_by_kind(found)
    near, split = empty_near(sum(map(len, pairs))), len(pairs[VERTEX_FACE])
    tables = tested.features._faces, tested.features._edges
    for kind, rows in ((VERTEX_FACE, slice(None, split)), (EDGE_EDGE, slice(split, None))):
        out = NearColumns(*(column[rows] for column in near))
        fill_near(kind, x, tables[kind], pairs[kind], out, pool)
    kinds = np.repeat(np.array(KINDS, np.int8), (split, len(near.distance) - split))
    return Proximity(kinds, *near, stages=tally.stages())
