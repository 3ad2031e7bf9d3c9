"""The central invariant: culling, bounds, filters and threads change the time, never the result; nor do names."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import pliant
from bench.fingerprints import columns_of
from tests.reference import rational
from tests.shapes.meshes import SCENE_SIZES, as_sets, motions, soup
from tests.shapes.options import grouped
from tests.shapes.tables import assert_identical

FILTERS = ("csat", "dnf", "ncf")
ORDERED_SUBSETS = [order for size in range(4) for order in permutations(FILTERS, size)]
MOTIONS = motions()


@pytest.fixture(scope="module", params=MOTIONS)
def run(request):
    motion = MOTIONS[request.param]
    contacts = pliant.ccd(*motion)
    assert (len(contacts) > 5) == (request.param != "passing_sheets")
    return motion, contacts


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads(run, threads):
    motion, contacts = run
    assert_identical(pliant.ccd(*motion, threads=threads), contacts)


@pytest.mark.parametrize("bounds", ["aabb", "16-dop", "18-dop", "24-dop"])
def test_bounds(run, bounds):
    motion, contacts = run
    assert_identical(pliant.ccd(*motion, tuning=pliant.Tuning(bounds=bounds)), contacts)


@pytest.mark.parametrize("filters", ORDERED_SUBSETS, ids="-".join)
def test_filters(run, filters):
    motion, contacts = run
    found = pliant.ccd(*motion, tuning=pliant.Tuning(filters=filters))
    assert_identical(found, contacts)
    stages = {stage.name: stage for stage in found.stages}
    assert [name for name in stages if name in FILTERS] == list(filters)


def test_culling(run):
    motion, contacts = run
    assert_identical(pliant.ccd(*motion, tuning=pliant.Tuning(culling="brute")), contacts)


@pytest.mark.parametrize("assignment", ["static", "dynamic"])
@pytest.mark.parametrize("pairs", ["all", "self", "inter"])
def test_assignment(run, assignment, pairs):
    motion, contacts = run
    label = motion.mesh.components
    same = label[contacts.vertices[:, 0]] == label[contacts.vertices[:, 3]]
    expected = contacts[{"all": same | ~same, "self": same, "inter": ~same}[pairs]]
    assert_identical(pliant.ccd(*motion, tuning=pliant.Tuning(assignment=assignment), pairs=pairs), expected)
    if pairs == "all":
        assert_identical(
            pliant.safe_step(*motion, tuning=pliant.Tuning(assignment=assignment)), pliant.safe_step(*motion)
        )


def test_brute_force_without_any_filter(run):
    motion, contacts = run
    assert_identical(pliant.ccd(*motion, tuning=pliant.Tuning(culling="brute", filters=()), threads=1), contacts)


def test_all_of_it_again(run):
    motion, contacts = run
    assert_identical(pliant.ccd(*motion, tuning=pliant.Tuning(bounds="18-dop", filters=FILTERS), threads=3), contacts)


def test_the_first_contact_is_first_whatever_the_options(run):
    motion, contacts = run
    expected = pliant.safe_step(*motion)
    assert expected.t == contacts.toi.min(initial=1.0)
    for options in ({"bounds": "16-dop"}, {"culling": "brute"}, {"filters": ()}, {"threads": 1}):
        assert_identical(pliant.safe_step(*motion, **grouped(**options)), expected)


def test_mesh_and_queries_agree(run):
    (_, x0, x1), contacts = run
    for part, test in ((contacts.vf, pliant.vertex_face), (contacts.ee, pliant.edge_edge)):
        answer = test(x0[part.vertices], x1[part.vertices])
        assert answer.hit.all()
        for name in dict(columns_of(answer)).keys() - {"hit"}:
            np.testing.assert_array_equal(getattr(answer, name), getattr(part, name), err_msg=name, strict=True)


def test_elements_and_vertices_name_the_same(run):
    (mesh, _, _), contacts = run
    vf, ee = contacts.vf, contacts.ee
    np.testing.assert_array_equal(vf.vertices, np.column_stack((vf.elements[:, 0], mesh.faces[vf.elements[:, 1]])))
    np.testing.assert_array_equal(ee.vertices, mesh.edges[ee.elements].reshape(-1, 4))
    assert (ee.elements[:, 0] < ee.elements[:, 1]).all()
    assert all(not set(q[:1]) & set(q[1:]) for q in vf.vertices.tolist())
    assert all(not set(q[:2]) & set(q[2:]) for q in ee.vertices.tolist())


def same_times(a, b):
    """The same contacts; their times, of points in another order, up to the width of the brackets."""
    for left, right in zip(a, b):
        assert left.keys() == right.keys()
        np.testing.assert_allclose([left[key] for key in left], [right[key] for key in left], rtol=0, atol=1e-12)


def test_order_of_faces(run):
    (mesh, x0, x1), contacts = run
    order = np.random.default_rng(1).permutation(len(mesh.faces))
    shuffled = pliant.TriMesh(mesh.faces[order], mesh.loose_edges[::-1], mesh.loose_points[::-1])
    renamed = as_sets(pliant.ccd(shuffled, x0, x1), face_name=order)
    assert renamed == as_sets(contacts)


def test_order_within_faces(run):
    (mesh, x0, x1), contacts = run
    rng = np.random.default_rng(2)
    faces = rng.permuted(mesh.faces, axis=1)
    same_times(
        as_sets(pliant.ccd(pliant.TriMesh(faces, mesh.loose_edges, mesh.loose_points), x0, x1)), as_sets(contacts)
    )


def test_order_of_vertices(run):
    (mesh, x0, x1), contacts = run
    old = np.random.default_rng(3).permutation(len(x0))  # old name of each new one
    new = np.argsort(old)
    renamed = pliant.TriMesh(new[mesh.faces], new[mesh.loose_edges], new[mesh.loose_points])
    same_times(as_sets(pliant.ccd(renamed, x0[old], x1[old]), vertex_name=old), as_sets(contacts))


def test_direction_of_time(run):
    (mesh, x0, x1), contacts = run
    found = as_sets(pliant.ccd(mesh, x1, x0))
    assert [set(part) for part in found] == [set(part) for part in as_sets(contacts)]


@pytest.mark.parametrize("exponent", [-600, 500, -3, 40])
def test_units(run, exponent):
    (mesh, x0, x1), contacts = run
    scaled = pliant.ccd(mesh, np.ldexp(x0, exponent), np.ldexp(x1, exponent))
    assert_identical(scaled, contacts, without=("gap",))
    np.testing.assert_array_equal(scaled.gap, np.ldexp(contacts.gap, exponent))


def test_single_precision_and_integers(run):
    (mesh, x0, x1), _ = run
    short = [x.astype(np.float32) for x in (x0, x1)]
    assert_identical(pliant.ccd(mesh, *short), pliant.ccd(mesh, *(x.astype(np.float64) for x in short)))
    whole = [np.round(8 * x).astype(np.int32) for x in (x0, x1)]
    assert_identical(pliant.ccd(mesh, *whole), pliant.ccd(mesh, *(x.astype(np.float64) for x in whole)))


@pytest.mark.parametrize("how", [{}, {"culling": "brute"}, {"bounds": "24-dop", "threads": 1}])
def test_self_and_inter_part_all(run, how):
    motion, contacts = run
    within, between = (pliant.ccd(*motion, pairs=pairs, **grouped(**how)) for pairs in ("self", "inter"))
    label = motion.mesh.components
    same = label[contacts.vertices[:, 0]] == label[contacts.vertices[:, 3]]
    assert_identical(within, contacts[same])
    assert_identical(between, contacts[~same])


def test_labels_of_objects(run):
    # The components in two groups: contact within a group is contact within one object.
    motion, contacts = run
    label = motion.mesh.components
    groups = np.zeros(len(motion.x0), np.int64)
    groups[: len(label)] = 7 * (label % 2 == 1)
    same = groups[contacts.vertices[:, 0]] == groups[contacts.vertices[:, 3]]
    assert_identical(pliant.ccd(*motion, objects=groups, pairs="self"), contacts[same])
    assert_identical(pliant.ccd(*motion, objects=groups, pairs="inter"), contacts[~same])
    assert_identical(pliant.ccd(*motion, objects=groups), contacts)
    assert len(pliant.ccd(*motion, objects=np.zeros(len(motion.x0), int), pairs="inter")) == 0


def test_some_scenes_have_contact_within_and_between_objects():
    counts = {}
    for name in SCENE_SIZES:
        counts[name] = [len(pliant.ccd(*MOTIONS[name], pairs=pairs)) for pairs in ("self", "inter")]
    assert counts["crumpled_sheet"][0] > 0
    assert counts["flat_sheets"][1] > 0
    assert counts["twisted_cloth"][0] > 0
    assert counts["ball_heap"][1] > 0


@pytest.mark.parametrize("far", [1e20, 1e90, 1e300])
def test_times_do_not_depend_on_what_else_is_in_the_scene(far):
    mesh, x0, x1 = MOTIONS["crumpled_sheet"]
    contacts = pliant.ccd(mesh, x0, x1)
    x0, x1 = (np.concatenate([x, [[far, far, far]]]) for x in (x0, x1))
    with_point = pliant.TriMesh(mesh.faces, points=[len(x0) - 1])
    assert_identical(pliant.ccd(with_point, x0, x1), contacts)


def test_soups_agree_with_rationals():
    counts = dict.fromkeys(("vertex-face", "edge-edge", "loose points", "loose edges", "faces without area"), 0)
    for seed in range(10, 22):
        mesh, x0, x1 = soup(seed, span=3)
        expected = rational.contacts(mesh.faces, x0, x1, mesh.loose_edges, mesh.loose_points)
        found = as_sets(pliant.ccd(mesh, x0, x1))
        assert [set(part) for part in found] == [set(part) for part in expected]
        for truths, times in zip(expected, found):
            for key, truth in truths.items():
                assert times[key] <= truth.upper
                assert times[key] + 1e-12 >= truth.lower
        vertex_face, edge_edge = expected
        faces = mesh.faces.tolist()
        in_faces = {v for face in faces for v in face}
        loose = set(map(tuple, mesh.edges[mesh.edge_face_count == 0].tolist()))
        counts["vertex-face"] += len(vertex_face)
        counts["edge-edge"] += len(edge_edge)
        counts["loose points"] += len({v for v, _ in vertex_face if v not in in_faces})
        counts["loose edges"] += len(loose & {edge for pair in edge_edge for edge in pair})
        counts["faces without area"] += len({i for _, i in vertex_face if len(set(faces[i])) < 3})
    assert counts["vertex-face"] > 200
    assert counts["edge-edge"] > 1000
    assert min(counts.values()) > 5, counts


@pytest.mark.bounds
@pytest.mark.parametrize("bounds", ["aabb", "24-dop"])
@pytest.mark.parametrize("name", ["crumpled_sheet", "soup 0", "ball_heap"])
def test_boxes_and_brute_force_within_bounds(name, bounds):
    motion = MOTIONS[name]
    expected = pliant.ccd(*motion, tuning=pliant.Tuning(culling="brute", filters=()))
    assert len(expected) > 5
    assert_identical(pliant.ccd(*motion, tuning=pliant.Tuning(bounds=bounds, filters=FILTERS), threads=2), expected)
    for pairs in ("self", "inter"):
        part = pliant.ccd(*motion, pairs=pairs, tuning=pliant.Tuning(bounds=bounds, filters=FILTERS))
        assert_identical(part, pliant.ccd(*motion, pairs=pairs, tuning=pliant.Tuning(culling="brute")))


@pytest.mark.unit
def test_a_tiny_soup():
    (mesh, x0, x1) = soup(5, faces=8, vertices=9, span=3)
    found = as_sets(pliant.ccd(mesh, x0, x1, tuning=pliant.Tuning(filters=FILTERS, bounds="16-dop"), threads=1))
    expected = rational.contacts(mesh.faces, x0, x1, mesh.loose_edges, mesh.loose_points)
    assert [set(part) for part in found] == [set(part) for part in expected]
    assert len(found[0]) > 3
    assert len(found[1]) > 3
