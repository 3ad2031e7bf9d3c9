"""Every elementary test of pairs of cells, as many times as it comes up: what the methods of paper 004 begin with.

Two cells of n_v vertices, n_f faces and n_e edges each make n_v n_f + n_f n_v vertex-face and n_e n_e edge-edge tests,
less those of features that share a vertex, which touch now and always; a cell and itself make half of that. No feature
is assigned, no bounds of features are compared, nothing is filtered: all goes to our exact test. Blocks stream as they
do in ``engine.walk``, and contacts are made unique whenever many have piled up.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.engine.plan import Plan
from pliant.engine.scene import Fitted, Scene, Topology
from pliant.engine.sinks import AllContacts, Found
from pliant.engine.travel import Travel
from pliant.engine.walk import BLOCK
from pliant.hierarchy.traverse import ALL
from pliant.mesh.cell_features import MOST_EDGE_EDGE, MOST_VERTEX_FACE, have_common_end, is_corner
from pliant.mesh.cells import Rows
from pliant.mesh.volumes import VolumeMesh
from pliant.pairs.order import canonical_order
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool

NO_FILTERS = Plan(
    bounds="aabb", element_filters=(), filters=(), is_brute=False, has_cones=False, has_front=False, is_dynamic=False,
    wanted=ALL,
)  # fmt: skip
_MANY = 1 << 20  # contacts, most of them repeated


class Moving(NamedTuple):
    """A volume mesh on its way."""

    mesh: VolumeMesh
    topology: Topology
    travel: Travel


class Features(NamedTuple):
    """Of cells, by id."""

    corners: np.ndarray  # (c, 8) int32
    corner_count: np.ndarray  # (c,) int8
    edges: Rows
    faces: Rows
    ends: np.ndarray  # (e, 2) int32
    triangles: np.ndarray  # (m, 3) int32


def features_of(mesh: VolumeMesh) -> Features:
    return Features(mesh._corners, mesh.corner_count, mesh._cell_edges, mesh._cell_faces, mesh._edges, mesh._faces)


class EveryTest(AllContacts):
    """Pairs of cells come in; every elementary test of theirs is made."""

    def __init__(self, moving: Moving, plan: Plan = NO_FILTERS) -> None:
        super().__init__(plan)
        self._features, self._contacts, self._most = features_of(moving.mesh), 0, _MANY
        self._moving, self.block = moving, np.empty((BLOCK, 2), np.int32)

    def take(self, scene: Scene, fitted: Fitted, pairs: np.ndarray, count: int) -> None:
        pairs[:count] = scene.hierarchy.tree.order[pairs[:count]]
        self.test_cells(pairs, count)

    def test_alone(self, first: int, end: int) -> None:
        """Cells against themselves."""
        self.block[: end - first] = np.arange(first, end, dtype=np.int32)[:, None]
        self.test_cells(self.block, end - first)

    def test_cells(self, pairs: np.ndarray, count: int) -> None:
        """All tests of the first pairs of cells, by id."""
        tables, done = self._moving.topology.tables, 0
        while done < count:
            clock = time.perf_counter()
            vertex_face, edge_edge, done = expand_all(self._features, pairs, done, count, *self._pairs)
            self.tally.add("all features", count, vertex_face + edge_edge, time.perf_counter() - clock)
            self.tally.add("vertex-face tests", vertex_face, vertex_face, 0.0)
            self.tally.add("edge-edge tests", edge_edge, edge_edge, 0.0)
            for kind, some in ((VERTEX_FACE, vertex_face), (EDGE_EDGE, edge_edge)):
                self.test(self._moving.travel, kind, tables[kind], self._pairs[kind], some)

    def _keep(self, kind: int, pairs: np.ndarray, toi: np.ndarray, toi_upper: np.ndarray, status: np.ndarray) -> None:
        super()._keep(kind, pairs, toi, toi_upper, status)
        self._contacts += len(self.found[-1].toi)
        if self._contacts > self._most:
            self.found = unique(self.found)
            self._contacts = sum(len(f.toi) for f in self.found)
            self._most = max(_MANY, 2 * self._contacts)


def each_alone(sinks: Sequence[EveryTest], count: int, pool: ThreadPool) -> None:
    """So many cells, each against itself."""
    chunks = [(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK)]
    pool.run(lambda worker, chunk: sinks[worker].test_alone(*chunk), chunks)


def all_of(sinks: Sequence[EveryTest], tally: Tally) -> list[Found]:
    """Every contact that they found, once."""
    clock = time.perf_counter()
    found = unique(list(itertools.chain.from_iterable(sink.found for sink in sinks)))
    tally.lap("unique", clock)
    return found


def unique(found: list[Found]) -> list[Found]:
    """The same contacts, each once."""
    out = []
    for kind in (VERTEX_FACE, EDGE_EDGE):
        rows = [f for f in found if f.kind == kind]
        if rows:
            pairs, *columns = (np.concatenate(column) for column in list(zip(*rows, strict=True))[1:])
            order = canonical_order(pairs)
            new = np.ones(len(order), bool)
            new[1:] = (pairs[order[1:]] != pairs[order[:-1]]).any(axis=1)
            out.append(Found(kind, pairs[order[new]], *(column[order[new]] for column in columns)))
    return out


@kernel
def expand_all(features, pairs, first, count, vertex_face, edge_edge):
    """The tests of pairs of cells from the first one on, while there is space; a cell may be paired with itself.

    Returns counts of VF and EE, and where to go on.
    """
    vf = ee = 0
    for p in range(first, count):
        if vf + MOST_VERTEX_FACE > len(vertex_face) or ee + MOST_EDGE_EDGE > len(edge_edge):
            return vf, ee, p
        i, j = pairs[p, 0], pairs[p, 1]
        vf = _vertices_and_faces(features, i, j, vertex_face, vf)
        if i != j:
            vf = _vertices_and_faces(features, j, i, vertex_face, vf)
        ee = _edges_and_edges(features, i, j, edge_edge, ee)
    return vf, ee, count


@helper
def _vertices_and_faces(features, i, j, out, count):
    """Vertices of cell i and faces of cell j; returns how many pairs there are now."""
    corners, faces, triangles = features.corners, features.faces, features.triangles
    for t in range(faces.start[j], faces.start[j + 1]):
        f = faces.items[t]
        for k in range(features.corner_count[i]):
            v = corners[i, k]
            if not is_corner(triangles, f, v):
                out[count, 0], out[count, 1] = v, f
                count += 1
    return count


@helper
def _edges_and_edges(features, i, j, out, count):
    edges, ends = features.edges, features.ends
    for s in range(edges.start[i], edges.start[i + 1]):
        a = edges.items[s]
        for t in range(s + 1 if i == j else edges.start[j], edges.start[j + 1]):
            b = edges.items[t]
            if not have_common_end(ends, a, b):
                out[count, 0], out[count, 1] = min(a, b), max(a, b)
                count += 1
    return count
