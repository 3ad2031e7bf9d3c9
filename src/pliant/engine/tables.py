"""What walks found, as tables in canonical order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, KINDS, VERTEX_FACE
from pliant.elementary.measure import Near as NearColumns
from pliant.elementary.measure import empty_closest, empty_near
from pliant.elementary.witness import fill_near, note_contacts
from pliant.engine.sinks import Crossing, Found, Near
from pliant.engine.travel import Travel
from pliant.mesh.tested import TestedMesh
from pliant.pairs.order import canonical_order, put_in_order
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.results.proximity import Proximity
from pliant.runtime.tally import Tally
from pliant.runtime.threads import SERIAL, ThreadPool


class _Rows(NamedTuple):
    """Columns of contacts, row by row."""

    elements: np.ndarray  # (k, 2) int32
    toi: np.ndarray
    toi_upper: np.ndarray
    status: np.ndarray


def tabulate(
    tested: TestedMesh, travel: Travel | None, found: list[Found], tally: Tally, pool: ThreadPool = SERIAL
) -> Contacts:
    """Contacts, with their points; travel: None where nothing moved yet."""
    blocks = [f for kind in KINDS for f in found if f.kind == kind]
    split = sum(len(f.toi) for f in blocks if f.kind == VERTEX_FACE)
    given = _Rows(*(_joined(columns) for columns in zip(*(f[1:] for f in blocks)))) if blocks else _no_rows(0)
    count = len(given.toi)
    kinds, quads, rows = np.empty(count, np.int8), np.empty((count, 4), np.int32), _no_rows(count)
    if count:
        order = np.concatenate((canonical_order(given.elements[:split]), canonical_order(given.elements[split:])))
        tables = tested.features._faces, tested.features._edges
        pool.run_range(lambda a, b: put_in_order(given, order, split, tables, kinds, quads, rows, a, b), count)
    points = empty_closest(count)
    if count and travel is not None:
        note_contacts((travel.x0, travel.x1), travel.approach, quads, split, rows.toi, points, pool)
    cells, inversion = np.empty((count, 2), np.int32), np.empty(count, bool)
    cells.fill(-1)
    inversion.fill(False)
    if tested.volume is not None:
        for kind, part in ((VERTEX_FACE, slice(None, split)), (EDGE_EDGE, slice(split, None))):
            rows.elements[part], cells[part], inversion[part] = tested.sides(kind, rows.elements[part])
    return Contacts(
        kinds, rows.elements, quads, rows.toi, rows.toi_upper, points.weights, points.normal, points.distance,
        rows.status, cells, inversion, stages=tally.stages(),
    )  # fmt: skip


def _no_rows(count: int) -> _Rows:
    return _Rows(np.empty((count, 2), np.int32), np.empty(count), np.empty(count), np.empty(count, np.int8))


def _joined(parts: tuple[np.ndarray, ...]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


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
