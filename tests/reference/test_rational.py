"""The reference against obvious answers, other people's answers, and two methods that share nothing with it."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from tests.reference import queries, rational
from tests.reference.distances import advance, distance_squared, speed_squared

TESTS = {"vertex_face": rational.vertex_face, "edge_edge": rational.edge_edge}
FEATURES = {"vertex_face": queries.VERTEX_FACE, "edge_edge": queries.EDGE_EDGE}
ORIGIN, X, Y, Z = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
TRIANGLE = [ORIGIN, (4, 0, 0), (0, 4, 0)]
SEGMENT = [ORIGIN, (4, 0, 0), (2, 0, 0)]
POINT = [Y, Y, Y]


def falling(v0, v1, face0, face1=None):
    return [v0, *face0], [v1, *(face0 if face1 is None else face1)]


# name: query, first time of contact; None for none
VERTEX_FACE = {
    "through": (falling((1, 1, 1), (1, 1, -1), TRIANGLE), Fraction(1, 2)),
    "at a third": (falling((1, 1, 1), (1, 1, -2), TRIANGLE), Fraction(1, 3)),
    "beside": (falling((3, 3, 1), (3, 3, -1), TRIANGLE), None),
    "beside, by an ulp": (falling((-5e-324, 1, 1), (-5e-324, 1, -1), TRIANGLE), None),
    "on a side": (falling((2, 2, 1), (2, 2, -1), TRIANGLE), Fraction(1, 2)),
    "on a corner": (falling((4, 0, 1), (4, 0, -1), TRIANGLE), Fraction(1, 2)),
    "resting": (falling((1, 1, 0), (1, 1, 0), TRIANGLE), 0),
    "leaving": (falling((1, 1, 0), (1, 1, 1), TRIANGLE), 0),
    "arriving": (falling((1, 1, 1), (1, 1, 0), TRIANGLE), 1),
    "arriving, but for an ulp": (falling((1, 1, 1), (1, 1, 5e-324), TRIANGLE), None),
    "static and apart": (falling((1, 1, 1), (1, 1, 1), TRIANGLE), None),
    "carried along": (falling((1, 1, 1), (6, 1, 3), TRIANGLE, np.add(TRIANGLE, (5, 0, 2))), None),
    "moving the face": (falling((1, 1, 1), (1, 1, 1), TRIANGLE, np.add(TRIANGLE, Z)), 1),
    "in the plane from outside": (falling((-1, 1, 0), (3, 1, 0), TRIANGLE), Fraction(1, 4)),
    "in the plane from inside": (falling((1, 1, 0), (9, 1, 0), TRIANGLE), 0),
    "in the plane and past": (falling((-1, 0, 0), (-1, 9, 0), TRIANGLE), None),
    "in the plane to a corner": (falling((3, 6, 0), (5, -6, 0), TRIANGLE), Fraction(1, 2)),
    "onto a segment": (falling((3, 0, 1), (3, 0, -1), SEGMENT), Fraction(1, 2)),
    "off a segment": (falling((5, 0, 1), (5, 0, -1), SEGMENT), None),
    "along a segment": (falling((-1, 0, 0), (2, 0, 0), SEGMENT), Fraction(1, 3)),
    "along, from the other end": (falling((6, 0, 0), (3, 0, 0), SEGMENT), Fraction(2, 3)),
    "along, not far enough": (falling((-2, 0, 0), (-1, 0, 0), SEGMENT), None),
    "onto a point": (falling(ORIGIN, (0, 3, 0), POINT), Fraction(1, 3)),
    "past a point": (falling(ORIGIN, (1, 3, 0), POINT), None),
    "all one point": (falling(Y, Z, POINT, [Z, Z, Z]), 0),
    # The triangle turns over at t = 1/2, when all of it is on the x axis.
    "collapsing": (falling((3, 0, 1), (3, 0, -1), TRIANGLE, [ORIGIN, (4, 0, 0), (0, -4, 0)]), Fraction(1, 2)),
    "collapsing elsewhere": (falling((5, 0, 1), (5, 0, -1), TRIANGLE, [ORIGIN, (4, 0, 0), (0, -4, 0)]), None),
}
AXIS, TWO, THREE = [(-1, 0, 0), X], (2, 0, 0), (3, 0, 0)
ACROSS, UP = [(0, -1, 0), Y], (0, 5, 0)


def lowered(a, b, to=-1):
    """An edge that starts at z = 1 and comes down to `to`, over one at rest."""
    return [*np.add(a, Z), *b], [*np.add(a, (0, 0, to)), *b]


EDGE_EDGE = {
    "crossing": (lowered(AXIS, ACROSS), Fraction(1, 2)),
    "past the end": (lowered(AXIS, np.add(ACROSS, TWO)), None),
    "end on edge": (lowered(AXIS, np.add(ACROSS, X), to=-2), Fraction(1, 3)),
    "end on end": (lowered([ORIGIN, X], [ORIGIN, Y], to=-3), Fraction(1, 4)),
    "arriving": (lowered(AXIS, ACROSS, to=0), 1),
    "arriving, but for an ulp": (lowered(AXIS, ACROSS, to=5e-324), None),
    "static and crossing": (([*AXIS, *ACROSS],) * 2, 0),
    "static and apart": (lowered(AXIS, ACROSS, to=1), None),
    "parallel, over each other": (lowered([ORIGIN, TWO], [X, THREE]), Fraction(1, 2)),
    "parallel, one inside": (lowered([ORIGIN, (9, 0, 0)], [X, THREE]), Fraction(1, 2)),
    "parallel, after each other": (lowered([ORIGIN, X], [TWO, THREE]), None),
    "in the plane, sideways": (([X, THREE, ORIGIN, UP], [(-2, 2, 0), (0, 2, 0), ORIGIN, UP]), Fraction(1, 3)),
    "in the plane, apart": (([X, THREE, ORIGIN, UP], [(1, 2, 0), (3, 2, 0), ORIGIN, UP]), None),
    "in line, meeting": (([X, TWO, (4, 0, 0), (5, 0, 0)], [TWO, (5, 0, 0), (4, 0, 0), (5, 0, 0)]), Fraction(2, 3)),
    "in line, too slow": (([X, TWO, (4, 0, 0), (5, 0, 0)], [TWO, THREE, (4, 0, 0), (5, 0, 0)]), None),
    "two points": (([ORIGIN, ORIGIN, X, X], [(1, 1, 0), (1, 1, 0), Y, Y]), Fraction(1, 2)),
    "two points apart": (([ORIGIN, ORIGIN, X, X], [(1, 1, 0), (1, 1, 0), (0, 2, 0), (0, 2, 0)]), None),
    "a point on an edge": (lowered([ORIGIN, ORIGIN], AXIS), Fraction(1, 2)),
    "a point beside an edge": (lowered([TWO, TWO], AXIS), None),
    # The upper edge turns by a right angle in the horizontal plane and is along x at t = 1/2, when it arrives.
    "parallel at the contact": (([(1, -1, 1), (3, 1, 1), X, TWO], [(1, 1, -1), (3, -1, -1), X, TWO]), Fraction(1, 2)),
    "parallel, but beyond": (([(3, -1, 1), (5, 1, 1), X, TWO], [(3, 1, -1), (5, -1, -1), X, TWO]), None),
    "an edge and its copy": (([ORIGIN, X, ORIGIN, X], [ORIGIN, Y, ORIGIN, Y]), 0),
}
CASES = [
    pytest.param(TESTS[kind], *case, id=f"{kind}: {name}")
    for kind, table in (("vertex_face", VERTEX_FACE), ("edge_edge", EDGE_EDGE))
    for name, case in table.items()
]


def assert_first_contact_at(truth, time):
    if time is None:
        assert truth is None
        return
    assert truth.lower <= time <= truth.upper
    assert truth.upper - truth.lower <= Fraction(1, 2**80)
    if time in (0, Fraction(1, 2), Fraction(1, 4), 1):
        assert truth.lower == truth.upper


@pytest.mark.parametrize(("test", "query", "time"), CASES)
def test_obvious_answers(test, query, time):
    assert_first_contact_at(test(*query), time)


@pytest.mark.parametrize(("test", "query", "time"), [case for case in CASES if "ulp" not in case.id])
@pytest.mark.parametrize("exponent", [-1074, -500, 500, 1020])
def test_scale_does_not_matter(test, query, time, exponent):
    assert_first_contact_at(test(*np.ldexp(np.array(query, dtype=np.float64), exponent)), time)


# The triangle (0, 0, 0), (1, 0, 0), (0, 1, t) tilts about the x axis: its plane is z = t y. The vertex is (x, t, z).
def tilting(z0, z1, x=(0, 0)):
    return [(x[0], 0, z0), ORIGIN, X, Y], [(x[1], 1, z1), ORIGIN, X, (0, 1, 1)]


def test_an_irrational_time():
    truth = rational.vertex_face(*tilting(0.5, 0.5))
    assert truth.lower**2 < Fraction(1, 2) < truth.upper**2


def test_an_irrational_time_exactly_on_a_side():
    # x = 0 is the side from the origin: the inside condition is zero where t^2 = 1/2, and just outside nothing touches.
    assert rational.vertex_face(*tilting(0.5, 0.5)) is not None
    assert rational.vertex_face(*tilting(0.5, 0.5, x=(-5e-324, -5e-324))) is None


@pytest.mark.parametrize("r", [0.25, 0.5, 0.75])
def test_a_double_root_is_a_contact(r):
    # v = (x, t, 2 r t - r^2) is below the plane by (t - r)^2.
    assert_first_contact_at(rational.vertex_face(*tilting(-r * r, 2 * r - r * r)), Fraction(r))


def test_a_double_root_missed_by_very_little():
    below = 2.0**-50
    assert rational.vertex_face(*tilting(-0.25 - below, 0.75 - below)) is None
    truth = rational.vertex_face(*tilting(-0.25 + below, 0.75 + below))
    assert_first_contact_at(truth, Fraction(1, 2) - Fraction(1, 2**25))


def test_a_plane_crossing_outside_is_followed_by_one_inside():
    # z - t y = -(t - 1/4) (t - 3/4); x is negative until t = 2/3.
    assert_first_contact_at(rational.vertex_face(*tilting(-0.1875, 0.8125, x=(-0.25, 0.125))), Fraction(3, 4))


def test_a_triple_root():
    # The tetrahedron's three edges from f0 shrink together and turn inside out through one point: (1 - 2 t)^3.
    x0 = np.array([(1, 1, 1), (0, 0, 0), (2, 0, 0), (0, 2, 0)], dtype=np.float64)
    assert_first_contact_at(rational.vertex_face(x0, -x0), Fraction(1, 2))


def test_the_ends_of_the_float_range_in_one_query():
    big, small = 2.0**1023, 5e-324
    above, below = (0, 0, big), (0, 0, -small)
    face = [(-big, -big, 0), (big, -big, 0), (0, big, 0)]
    truth = rational.vertex_face(*falling(above, below, face))
    assert truth.lower < 1 == truth.upper
    assert rational.vertex_face(*falling(above, (0, 0, small), face)) is None


# ---- the roots themselves


@pytest.mark.parametrize("seed", range(3))
def test_roots_of_products_of_linear_factors(seed):
    rng = np.random.default_rng(seed)
    for _ in range(200):
        zeros = [Fraction(int(n), int(d)) for n, d in zip(rng.integers(-3, 9, 3), rng.integers(1, 9, 3))]
        p = [1]
        for zero in zeros[: rng.integers(1, 4)]:
            p = rational._mul(p, [-zero.numerator, zero.denominator])
        inside = sorted({zero for zero in zeros if 0 <= zero <= 1 and sum(c * zero**i for i, c in enumerate(p)) == 0})
        roots = list(rational._roots(p))
        assert len(roots) == len(inside)
        for root, zero in zip(roots, inside):
            assert root.sign([-zero.numerator, zero.denominator]) == 0
            assert root.sign([-zero.numerator * 10**9 - 1, zero.denominator * 10**9]) == -1
            assert_first_contact_at(root.truth(), zero)


# ---- other people's answers


@pytest.fixture
def scene(data_folder):
    return lambda name: np.load(data_folder / "ccd" / f"{name}.npz")


@pytest.mark.data
@pytest.mark.parametrize(("kind", "test"), [("vf", rational.vertex_face), ("ee", rational.edge_edge)])
def test_sample_queries(scene, kind, test):
    data = scene("sample-queries")
    hit = [test(query[:4], query[4:]) is not None for query in data[kind]]
    assert np.array_equal(hit, data[f"{kind}_hit"])


@pytest.mark.data
def test_times_of_armadillo_rollers(scene):
    data = scene("armadillo-rollers")
    known = np.flatnonzero(np.isfinite(data["vf_toi"]))
    for i in np.random.default_rng(0).choice(known, 200, replace=False):
        rows = [data["vf"][i, 0], *data["faces"][data["vf"][i, 1]]]
        truth = rational.vertex_face(data["vertices_t0"][rows], data["vertices_t1"][rows])
        toi = data["vf_toi"][i]
        assert abs(Fraction(float(toi)) - truth.lower) < Fraction(float(np.spacing(toi)))


# ---- two other methods: distance in rationals, and conservative advancement


def exactly(x):
    """One query as an array of one, of Fractions."""
    return np.array([Fraction(c) for c in np.ravel(x).tolist()], dtype=object).reshape(1, 4, 3)


@pytest.fixture(scope="module", params=list(TESTS))
def mixture(request):
    kind, count, seed = request.param, 3000, 7
    x0, x1 = getattr(queries, f"{kind}_queries")(count, seed)
    truths = [TESTS[kind](a, b) for a, b in zip(x0, x1)]
    return kind, np.array(queries.family_names(count, seed)), x0, x1, truths


def test_about_half_of_the_mixture_meet(mixture):
    _, names, _, _, truths = mixture
    assert 0.3 < np.mean([truth is not None for truth in truths]) < 0.7
    assert len(set(names)) == len(queries.FAMILIES)


def test_features_do_meet_at_the_time_of_contact(mixture):
    # Exact distance, at a time that is off by at most half the width of the bracket: no false contact gets through.
    kind, _, x0, x1, truths = mixture
    hits = [i for i, truth in enumerate(truths) if truth is not None][:300]
    for i in hits:
        a, b, time = exactly(x0[i]), exactly(x1[i]), sum(truths[i]) / 2
        off = (truths[i].upper - truths[i].lower) / 2
        assert distance_squared(FEATURES[kind], a + time * (b - a)) <= speed_squared(FEATURES[kind], a, b) * off**2


def test_features_are_apart_before_and_elsewhere(mixture):
    kind, _, x0, x1, truths = mixture
    for i in range(150):
        a, b = exactly(x0[i]), exactly(x1[i])
        end = 1 if truths[i] is None else truths[i].lower
        for time in {Fraction(n, d) for d in range(1, 7) for n in range(d + 1)}:
            if time < end or truths[i] is None:
                assert distance_squared(FEATURES[kind], a + time * (b - a)) > 0


def test_conservative_advancement_agrees(mixture):
    """Steps that the distance allows cannot jump over a contact; where they come to rest there is one, but for those
    that were made to miss by very little."""
    kind, names, x0, x1, truths = mixture
    close = ["nearly", "nearly_planted", "outside", "slow", "grazing", "static", "denormal", "huge", "tiny", "mixed"]
    by_eye = ~np.isin(names, close)
    x0, x1 = x0[by_eye], x1[by_eye]
    hit = np.array([truth is not None for truth in truths])[by_eye]
    toi = np.array([np.nan if truth is None else float(truth.lower) for truth in truths])[by_eye]
    time, near = advance(FEATURES[kind], x0, x1)
    assert np.mean(near) > 0.3
    assert np.array_equal(near, hit)
    assert np.all(time[hit] <= toi[hit] + 1e-9)
    assert np.all(time[hit] >= toi[hit] - 1e-2)


# ---- whole meshes


def test_contacts_of_two_triangles_that_pass_through_each_other():
    lower = [(0, 0, 0), (4, 0, 0), (0, 4, 0)]
    upper = [(1, 1, 1), (9, 1, 2), (1, 9, 2)]
    x0 = np.array(lower + upper, dtype=np.float64)
    x1 = np.array(lower + upper, dtype=np.float64)
    x1[3:, 2] -= 2
    vertex_face, edge_edge = rational.contacts([(0, 1, 2), (3, 4, 5)], x0, x1)
    assert vertex_face == {(3, 0): (Fraction(1, 2), Fraction(1, 2))}
    assert list(edge_edge) == [((1, 2), (3, 4)), ((1, 2), (3, 5))]


def test_contacts_takes_loose_edges_points_and_degenerate_faces():
    x0 = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0), (1, 1, 1), (1, 1, 3), (9, 9, 9)], dtype=np.float64)
    x1 = x0.copy()
    x1[3, 2] = -1
    faces = [(0, 1, 2), (3, 3, 4)]
    vertex_face, edge_edge = rational.contacts(faces, x0, x1)
    assert list(vertex_face) == [(3, 0)]
    assert not edge_edge
    assert rational.contacts(faces[:1], x0, x1) == ({}, {})
    assert list(rational.contacts(faces[:1], x0, x1, points=[3])[0]) == [(3, 0)]
    assert list(rational.contacts(faces[:1], x0, x1, edges=[(4, 3)])[0]) == [(3, 0)]
    # Vertex 3 starts on the edge from the origin to (9, 9, 9).
    assert list(rational.contacts([], x0, x1, edges=[(4, 3), (5, 0)], points=[1])[1]) == [((0, 5), (3, 4))]
    assert list(rational.contacts([(3, 3, 4)], x0, x1, edges=[(5, 0)])[1]) == [((0, 5), (3, 4))]
    assert rational.contacts([], x0, x1, points=[0, 1]) == ({}, {})


@pytest.mark.parametrize("z", [-1, 1])
def test_contacts_where_boxes_only_touch(z):
    x0 = np.array([*TRIANGLE, (1, 1, z), (1, 2, z)], dtype=np.float64)
    x1 = np.array([*TRIANGLE, (1, 1, 0), (1, 3, 0)], dtype=np.float64)
    vertex_face, edge_edge = rational.contacts([(0, 1, 2)], x0, x1, edges=[(3, 4)])
    assert vertex_face == {(3, 0): (1, 1), (4, 0): (1, 1)}
    assert edge_edge == {((1, 2), (3, 4)): (1, 1)}


def test_contacts_equals_all_pairs_without_boxes():
    rng = np.random.default_rng(3)
    faces = rng.integers(0, 12, (10, 3)).tolist()
    x0, x1 = rng.integers(-2, 3, (2, 12, 3)).astype(np.float64)
    assert any(len(set(face)) < 3 for face in faces)
    vertices = {v for face in faces for v in face}
    edges = {tuple(sorted(side)) for face in faces for side in permutations(face, 2) if side[0] != side[1]}
    vertex_face = {(v, i): ([v], face) for v in vertices for i, face in enumerate(faces)}
    edge_edge = {(a, b): (a, b) for a in edges for b in edges if a < b}
    expected = []
    for test, pairs in (rational.vertex_face, vertex_face), (rational.edge_edge, edge_edge):
        truths = {key: test(x0[[*a, *b]], x1[[*a, *b]]) for key, (a, b) in pairs.items() if not set(a) & set(b)}
        expected.append({key: truth for key, truth in truths.items() if truth is not None})
    assert all(expected)
    assert rational.contacts(faces, x0, x1) == tuple(expected)


# ---- what may not change the answer


def test_order_and_direction_of_time(mixture):
    kind, _, x0, x1, truths = mixture
    rng = np.random.default_rng(11)
    for i in range(600):
        rows = [row for feature in FEATURES[kind] for row in rng.permutation(feature)]
        if kind == "edge_edge" and rng.random() < 0.5:
            rows = rows[2:] + rows[:2]
        axes = rng.permutation(3)
        assert TESTS[kind](x0[i][rows][:, axes], x1[i][rows][:, axes]) == truths[i]
        assert (TESTS[kind](x1[i], x0[i]) is None) == (truths[i] is None)


def test_affine_maps_and_a_common_motion(mixture):
    # Sheared, seen from a moving frame, then stretched by different powers of two: exact on short numbers.
    kind, names, x0, x1, truths = mixture
    rng = np.random.default_rng(12)
    short = ["integers", "at_start", "at_end", "on_border", "in_plane", "in_line", "hinged", "flat", "repeated"]
    for i in np.flatnonzero(np.isin(names, short))[:800]:
        shear = np.eye(3) + np.triu(rng.integers(-3, 4, (3, 3)), 1)
        stretch = np.ldexp(1.0, rng.choice([-900, -400, 0, 400, 900], 3))
        start, end = rng.integers(-9, 10, (2, 3))
        assert TESTS[kind]((x0[i] @ shear + start) * stretch, (x1[i] @ shear + end) * stretch) == truths[i]
