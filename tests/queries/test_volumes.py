"""ccd and safe_step of volume meshes against all pairs of features, one by one, by the exact test."""

import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import pliant
from pliant.engine.assignment import Bounds
from pliant.hierarchy.traverse import ALL
from pliant.mesh.cell_features import MOST_EDGES
from pliant.mesh.features import Elements, owned_by_first
from pliant.pairs.dynamic import expand_dynamic, keep_separate
from pliant.pairs.static import expand_static
from tests.reference import volumes as truth
from tests.shapes.options import grouped
from tests.shapes.tables import assert_identical

NONE = np.empty((0, 2), np.int32)
pytestmark = pytest.mark.filterwarnings("ignore:.*solid cells are inverted or flat")

# A unit cube of each kind of cell, by corners of a grid: 8 corners, 0 1 3 2 below and 4 5 7 6 above.
CUBES = {
    "tetra": [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)],
    "hexahedron": [(0, 1, 3, 2, 4, 5, 7, 6)],
    "wedge": [(0, 1, 3, 4, 5, 7), (0, 3, 2, 4, 7, 6)],
    "pyramid": [(0, 1, 3, 2, 7), (0, 2, 6, 4, 7), (0, 4, 5, 1, 7)],
    "quad": [(0, 1, 3, 2)],
    "triangle": [(0, 1, 3), (0, 3, 2)],
}
MIXES = {
    "tetra": ("tetra",),
    "hexahedron": ("hexahedron",),
    "wedge": ("wedge",),
    "pyramid": ("pyramid",),
    "shells": ("quad", "triangle"),
    "mixed": ("tetra", "hexahedron", "wedge", "pyramid", "quad"),
}


def block(size, kinds, offset=0):
    """Cells {type: list} of a grid of cubes, filled by turns; positions of its vertices."""
    _, ny, nz = size
    cells = {}
    for n, (i, j, k) in enumerate(np.ndindex(size)):
        corner = [
            offset + ((i + di) * (ny + 1) + (j + dj)) * (nz + 1) + k + dk
            for dk in (0, 1)
            for dj in (0, 1)
            for di in (0, 1)
        ]
        kind = kinds[n % len(kinds)]
        for cell in CUBES[kind]:
            cells.setdefault(kind, []).append([corner[c] for c in cell])
    grid = np.stack(np.meshgrid(*(np.arange(s + 1.0) for s in size), indexing="ij"), axis=-1).reshape(-1, 3)
    return cells, grid


def two_blocks(kinds, size=(2, 2, 2)):
    """Two objects: cells, positions, labels."""
    cells, x = block(size, kinds)
    others, y = block(size, kinds, len(x))
    for kind, rows in others.items():
        cells[kind] = cells.get(kind, []) + rows
    return cells, x, y, np.repeat((0, 1), (len(x), len(y)))


def deformed(kinds, how, seed=0, size=(2, 2, 2)):
    """(cells, x0, x1, labels): random deformation, inversions, or two objects deep in each other."""
    rng = np.random.default_rng([seed, *how.encode()])
    cells, x, y, labels = two_blocks(kinds, size)
    x0 = np.concatenate((x, y + (size[0] + 0.4, 0.1, 0.2)))
    if how == "deformed":
        x0 += rng.uniform(-0.15, 0.15, x0.shape)
        x1 = x0 + rng.normal(scale=0.4, size=x0.shape) - np.where(labels[:, None] > 0, (1.2, 0.0, 0.5), 0.0)
    elif how == "inverted":
        x0 += rng.uniform(-0.1, 0.1, x0.shape)
        x1 = x0 + rng.normal(scale=1.2, size=x0.shape) * (rng.uniform(size=(len(x0), 1)) < 0.4)
    else:
        x0 = np.concatenate((x, y + (0.5, 0.3, 0.4))) + rng.uniform(-0.1, 0.1, (len(x) + len(y), 3))
        x1 = x0 + rng.normal(scale=0.3, size=x0.shape) + np.where(labels[:, None] > 0, (0.5, 0.3, 0.9), 0.0)
    return cells, x0, x1, labels


@cache
def reference(kind, how):
    """Every contact, as a dict of (kind, vertices) to toi, from all pairs of features."""
    cells, x0, x1, _ = deformed(MIXES[kind], how)
    found = truth.topology(cells)
    used = sorted({v for _, cell in found.cells for v in cell})
    vf = np.array([(v, *f) for v in used for f in found.faces if v not in f])
    edges = [tuple(sorted(e)) for e in found.edges]
    ee = np.array([(*a, *b) for i, a in enumerate(edges) for b in edges[i + 1 :] if not set(a) & set(b)])
    out, pairs = {}, len(vf) + len(ee)
    for which, (query, quads) in enumerate(((pliant.vertex_face, vf), (pliant.edge_edge, ee))):
        answer = query(x0[quads], x1[quads])
        for quad, toi in zip(quads[answer.hit].tolist(), answer.toi[answer.hit]):
            out[(which, *named(which, quad))] = toi
    return out, pairs, (vf, ee)


def named(kind, quad):
    """The same for every order of the vertices of a feature."""
    if kind == 0:
        return quad[0], *sorted(quad[1:])
    return tuple(sorted((tuple(sorted(quad[:2])), tuple(sorted(quad[2:])))))


def as_dict(contacts):
    return {
        (int(k), *named(k, q)): t for k, q, t in zip(contacts.kind, contacts.vertices.tolist(), contacts.toi.tolist())
    }


CASES = [(kind, how) for kind in MIXES for how in ("deformed", "inverted", "deep")]


@pytest.mark.parametrize(("kind", "how"), CASES)
def test_every_contact_once(kind, how):
    cells, x0, x1, _ = deformed(MIXES[kind], how)
    expected, pairs, _ = reference(kind, how)
    assert len(expected) > 20
    for assignment in ("static", "dynamic"):
        contacts = pliant.ccd(pliant.VolumeMesh(cells), x0, x1, tuning=pliant.Tuning(assignment=assignment))
        assert len(contacts) == len(expected)  # each once
        assert as_dict(contacts) == expected
    brute = pliant.ccd(cells, x0, x1, tuning=pliant.Tuning(culling="brute", filters=()))
    assert as_dict(brute) == expected
    assert {s.name: s.pairs_in for s in brute.stages}["exact"] == pairs


@pytest.mark.parametrize("kind", ["tetra", "mixed", "shells"])
@pytest.mark.parametrize("assignment", ["static", "dynamic"])
def test_as_many_tests_as_pairs_of_features_with_overlapping_bounds(kind, assignment):
    cells, x0, x1, _ = deformed(MIXES[kind], "deformed")
    lower, upper = np.minimum(x0, x1), np.maximum(x0, x1)
    count = 0
    for which, quads in enumerate(reference(kind, "deformed")[2]):
        a, b = (quads[:, :1], quads[:, 1:]) if which == 0 else (quads[:, :2], quads[:, 2:])
        apart = (lower[a].min(axis=1) > upper[b].max(axis=1)) | (lower[b].min(axis=1) > upper[a].max(axis=1))
        count += int(np.count_nonzero(~apart.any(axis=1)))
    stages = {
        s.name: s for s in pliant.ccd(cells, x0, x1, tuning=pliant.Tuning(filters=(), assignment=assignment)).stages
    }
    assert stages["exact"].pairs_in == count
    assert count < reference(kind, "deformed")[1] / 2


OPTIONS = [
    {"bounds": "16-dop"},
    {"bounds": "24-dop"},
    {"filters": ()},
    {"filters": ("csat",)},
    {"filters": ("dnf", "ncf")},
    {"threads": 3},
    {"culling": "brute"},
    {"assignment": "static"},
    {"assignment": "static", "filters": (), "bounds": "18-dop"},
    {"culling": "cones+front"},
]


@pytest.mark.parametrize("pairs", ["all", "self", "inter"])
@pytest.mark.parametrize("with_labels", [False, True])
def test_options_change_nothing(pairs, with_labels):
    cells, x0, x1, labels = deformed(MIXES["mixed"], "deep", seed=1)
    x1 = x1 + np.random.default_rng(2).normal(scale=0.4, size=x1.shape)
    chosen = {"pairs": pairs, "objects": labels if with_labels else None}
    expected = pliant.ccd(cells, x0, x1, **chosen)
    same = labels[expected.vertices[:, 0]] == labels[expected.vertices[:, 3]]
    assert len(expected) > 50
    assert pairs == "all" or (same.all() if pairs == "self" else not same.any())
    for options in OPTIONS:
        found = pliant.ccd(cells, x0, x1, **chosen, **grouped(**options))
        assert_identical(found, expected)


def test_cells_and_inversions_are_named():
    """Errata 20: a vertex and the opposite face of one tetrahedron share no vertex, nor do opposite edges."""
    for kind in ("tetra", "mixed"):
        cells, x0, x1, _ = deformed(MIXES[kind], "inverted")
        contacts = pliant.ccd(cells, x0, x1)
        found = truth.topology(cells)
        assert 0.02 < contacts.inversion.mean() < 0.9
        for row in range(len(contacts)):
            quad = contacts.vertices[row].tolist()
            sides = (quad[:1], quad[1:]) if contacts.kind[row] == 0 else (quad[:2], quad[2:])
            for cell, side in zip(contacts.cells[row], sides):
                assert set(side) <= set(found.cells[cell][1])
            common = any(set(quad) <= set(corners) and both_in(found, c, contacts, row) for c, (_, corners) in
                         enumerate(found.cells))  # fmt: skip
            assert common == contacts.inversion[row]
            assert not contacts.inversion[row] or contacts.cells[row, 0] == contacts.cells[row, 1]


def both_in(found, cell, contacts, row):
    """The cell has both features, not only their vertices."""
    quad = contacts.vertices[row].tolist()
    faces = {frozenset(found.faces[f]) for f in found.cell_faces[cell]}
    edges = {frozenset(found.edges[e]) for e in found.cell_edges[cell]}
    if contacts.kind[row] == 0:
        return frozenset(quad[1:]) in faces
    return frozenset(quad[:2]) in edges and frozenset(quad[2:]) in edges


def test_a_tetrahedron_that_turns_inside_out():
    x0 = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 1)], float)
    x1 = x0.copy()
    x1[3] = 0.2, 0.2, -1
    contacts = pliant.ccd({"tetra": [(0, 1, 2, 3)]}, x0, x1)
    assert contacts.inversion.all()
    assert contacts.vertices.tolist()[0][0] == 3
    assert abs(contacts.toi[0] - 0.5) < 1e-12
    assert contacts.cells.tolist() == [[0, 0]] * len(contacts)
    step = pliant.safe_step({"tetra": [(0, 1, 2, 3)]}, x0, x1)
    assert step.t == contacts.toi.min()
    assert step.contact is not None
    assert step.contact.inversion.all()


@pytest.mark.parametrize("kind", list(MIXES))
def test_the_boundary_alone(kind):
    cells, x0, x1, _ = deformed(MIXES[kind], "deep")
    mesh = pliant.VolumeMesh(cells)
    outside, surface = pliant.ccd(mesh, x0, x1, interior=False), mesh.surface()
    expected = pliant.ccd(surface, x0, x1)
    assert len(expected) > 20
    # Ids are those of all faces and edges of the cells, and cells are named; so are those that invert.
    assert_identical(outside, expected, without=("elements", "cells", "inversion"))
    faces = mesh.faces[outside.vf.elements[:, 1]]
    np.testing.assert_array_equal(faces, outside.vf.vertices[:, 1:])
    np.testing.assert_array_equal(mesh.edges[outside.ee.elements[:, 0]], outside.ee.vertices[:, :2])
    assert set(as_dict(outside)) <= set(as_dict(pliant.ccd(mesh, x0, x1)))
    assert pliant.safe_step(mesh, x0, x1, interior=False).t == expected.toi.min()


@pytest.mark.parametrize(("kind", "how"), CASES)
def test_safe_step(kind, how):
    cells, x0, x1, _ = deformed(MIXES[kind], how)
    expected = min(reference(kind, how)[0].values())
    for assignment in ("static", "dynamic"):
        step = pliant.safe_step(cells, x0, x1, tuning=pliant.Tuning(assignment=assignment), threads=2)
        assert step.t == expected
        assert len(pliant.ccd(cells, x0, step.positions)) == 0 or expected == 0.0


@pytest.mark.parametrize("kind", ["tetra", "mixed"])
def test_within_a_distance(kind):
    cells, x0, x1, _ = deformed(MIXES[kind], "deformed")
    mesh, distance = pliant.VolumeMesh(cells), 0.05
    expected = pliant.ccd(mesh.features(), x0, x1, min_distance=distance)
    assert len(expected) > 1.2 * len(reference(kind, "deformed")[0])
    for assignment in ("static", "dynamic"):
        found = pliant.ccd(mesh, x0, x1, min_distance=distance, tuning=pliant.Tuning(assignment=assignment))
        assert_identical(found, expected, without=("cells", "inversion"))  # features know of no cells
    assert pliant.safe_step(mesh, x0, x1, min_distance=distance).t == expected.toi.min()


def test_static_assignment_with_o_sets_misses_and_is_refused():
    """Errata 19, and section 5.2 of the paper: O-sets make up for adjacent cells with dynamic assignment only."""
    cells, x0, x1, _ = deformed(MIXES["tetra"], "inverted")
    mesh = pliant.VolumeMesh(cells)
    table, count = mesh.cell_table, len(mesh.types)
    pairs = np.array([(i, j) for i in range(count) for j in range(i + 1, count)], np.int32)
    none, labels = np.empty((count, 0), np.int32), np.zeros(count, np.int32)
    leaves = Elements(table.corners, np.full(count, -1, np.int32), none, table.corner_count)
    kept = keep_separate(leaves, labels, ALL, pairs, len(pairs))
    buffers = np.empty((400000, 2), np.int32), np.empty((400000, 2), np.int32)

    def looked_at(is_dynamic):
        if is_dynamic:
            everywhere = unbounded(x0, mesh.edges, mesh.faces, mesh.types)
            vf, ee, _, done = expand_dynamic(table, everywhere, pairs, kept, 0, *buffers)
        else:
            owned = owned_by_first(table, np.arange(count))
            everywhere, boxes = unbounded(x0, [], owned.face, mesh.types), np.empty((MOST_EDGES + 1, 6))
            vf, ee, _, done = expand_static(owned, everywhere, (labels, ALL, pairs, kept), 0, boxes, *buffers)
        assert done == kept
        listed = mesh.o_sets
        out = [(0, *p) for p in (*buffers[0][:vf].tolist(), *listed[0].tolist())]
        out += [(1, *p) for p in (*buffers[1][:ee].tolist(), *listed[1].tolist())]
        assert len(set(out)) == len(out)
        return set(out)

    contacts = {(int(k), *e) for k, e in zip(pliant.ccd(mesh, x0, x1).kind, pliant.ccd(mesh, x0, x1).elements.tolist())}
    assert contacts <= looked_at(True)
    assert len(contacts - looked_at(False)) > 10
    with pytest.raises(pliant.MeshError, match="would miss contacts"):
        pliant.ccd(mesh, x0, x1, tuning=pliant.Tuning(assignment="static with o-sets"))


def unbounded(*tables):
    """Bounds that overlap with all others, for as many things as each table has."""
    return Bounds(*(np.tile((-np.inf, np.inf), (len(table), 3)) for table in tables))


def test_pairs_within_one_owner():
    """A cell with itself: errata 20."""
    owned = owned_by_first(pliant.VolumeMesh({"tetra": [(0, 1, 2, 3)]}).cell_table, np.arange(1))
    everywhere, boxes = unbounded(range(4), [], owned.face, [0]), np.empty((MOST_EDGES + 1, 6))
    buffers, pairs = (np.empty((400, 2), np.int32), np.empty((400, 2), np.int32)), np.zeros((1, 2), np.int32)
    vertex_face, edge_edge, _, done = expand_static(owned, everywhere, (pairs[0], ALL, pairs, 1), 0, boxes, *buffers)
    assert (vertex_face, edge_edge, done) == (4, 3, 1)


def test_input():
    x = np.random.default_rng(0).uniform(size=(9, 3))
    assert len(pliant.ccd(pliant.VolumeMesh(), x, x)) == 0
    assert pliant.safe_step({}, x, x + 1.0).t == 1.0
    with pytest.raises(pliant.MeshError, match="tetra 0 refers to vertex 9"):
        pliant.ccd({"tetra": [(0, 1, 2, 9)]}, x, x)
    bad = x.copy()
    bad[4, 1] = np.nan
    with pytest.raises(pliant.MeshError, match=r"x0\[4, 1\] is nan"):
        pliant.ccd({"tetra": [(0, 1, 2, 3)]}, bad, x)
    with pytest.raises(pliant.MeshError, match="must have shape"):
        pliant.ccd({"tetra": [(0, 1, 2, 3)]}, x.ravel(), x)
    with pytest.raises(pliant.MeshError, match="tetra 0 refers to vertex 9"):
        pliant.Detector({"tetra": [(0, 1, 2, 9)]}).advance(x)


def test_inverted_cells_are_counted_in_a_warning():
    x = np.array(truth.UNIT_CELLS["tetra"], float)
    with pytest.warns(UserWarning, match="1 of 1 solid cells are inverted or flat: 0"):
        pliant.ccd({"tetra": [(1, 0, 2, 3)]}, x, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pliant.ccd({"tetra": [(0, 1, 2, 3)]}, x, x)


def test_surfaces_have_no_cells():
    x0, x1 = np.random.default_rng(1).uniform(size=(2, 12, 3))
    contacts = pliant.ccd(np.arange(12).reshape(4, 3), x0, x1)
    assert len(contacts) > 0
    assert (contacts.cells == -1).all()
    assert not contacts.inversion.any()


def test_a_solid_that_is_listed_twice_still_has_a_surface():
    """Its faces had two solids and counted as inner: safe_step(interior=False) went through it."""
    x0 = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 2), (0.3, 0.1, 2), (0.1, 0.3, 2)], float)
    x1 = x0 - np.array([(0, 0, 0)] * 4 + [(0, 0, 3)] * 3)
    once = {"tetra": [(0, 1, 2, 3)], "triangle": [(4, 5, 6)]}
    twice = {"tetra": [(0, 1, 2, 3), (1, 2, 0, 3)], "triangle": [(4, 5, 6)]}
    assert len(pliant.VolumeMesh(twice).surface().faces) == 5
    expected = pliant.ccd(once, x0, x1, interior=False)
    assert len(expected) > 0
    np.testing.assert_array_equal(pliant.ccd(twice, x0, x1, interior=False).vertices, expected.vertices)
    assert pliant.safe_step(twice, x0, x1, interior=False).t == expected.toi.min()
    changed = pliant.VolumeMesh(once).changed(add={"tetra": [(0, 1, 2, 3)]})
    np.testing.assert_array_equal(changed.boundary, pliant.VolumeMesh(changed.cells).boundary)


def test_positions_that_no_cell_names():
    """Labels of the components end at the last vertex that takes part; looking for tangles wanted one for each."""
    cells, x0, x1, _ = deformed(MIXES["tetra"], "deep")
    more = np.vstack((x0, np.full((3, 3), 9.0))), np.vstack((x1, np.full((3, 3), 9.0)))
    with pytest.warns(UserWarning, match="tangled"):
        contacts = pliant.ccd(cells, *more, pairs="inter", tangled="warn")
    np.testing.assert_array_equal(contacts.toi, pliant.ccd(cells, x0, x1, pairs="inter").toi)


def test_what_is_no_volume_mesh_is_named():
    x = np.zeros((4, 3))
    with pytest.raises(pliant.MeshError, match="must be a dict"):
        pliant.VolumeMesh([[0, 1, 2, 3]])
    with pytest.raises(pliant.MeshError, match="no pair of a type and its cells"):
        pliant.VolumeMesh(SimpleNamespace(cells=[5]))
    with pytest.raises(pliant.MeshError, match="a surface has no cells"):
        pliant.inside([[0, 1, 2]], x)
    with pytest.raises(pliant.MeshError, match="rectangular"):
        pliant.ccd({"tetra": [(0, 1, 2, 3)]}, [[0, 1, 2], [0]], x)
    with pytest.raises(pliant.MeshError, match=r"remove must have shape \(k,\)"):
        pliant.VolumeMesh({"tetra": [(0, 1, 2, 3)]}).changed(remove=[[0], [1, 2]])
