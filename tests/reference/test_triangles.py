"""The reference against obvious answers, and two methods that share nothing with it."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from tests.reference.triangle_pairs import FAMILIES, random_pairs
from tests.reference.triangles import coplanar, intersect, intersecting_faces, overlap

TINY = 5e-324
BASE = [(0, 0, 0), (4, 0, 0), (0, 4, 0)]
SEGMENT = [(0, 0, 0), (4, 0, 0), (2, 0, 0)]
POINT = [(1, 1, 0)] * 3

# name: triangle b against a, the extreme points of what they share
OVERLAPS = {
    "through": (BASE, [(1, 1, -1), (1, 1, 1), (9, 9, 0)], [(1, 1, 0), (2, 2, 0)]),
    "through, a third": (BASE, [(1, 1, -1), (1, 1, 2), (1, 4, -1)], [(1, 1, 0), (1, 3, 0)]),
    "through, within": (BASE, [(1, 1, -1), (2, 1, -1), (1, 1, 2)], [(1, 1, 0), (Fraction(5, 3), 1, 0)]),
    "above": (BASE, [(1, 1, 1), (2, 1, 1), (1, 2, 1)], []),
    "above by the smallest float": (BASE, [(1, 1, TINY), (2, 1, 1), (1, 2, 1)], []),
    "beside": (BASE, [(3, 3, -1), (3, 3, 1), (4, 4, 0)], []),
    "beside by the smallest float": (BASE, [(-TINY, 1, -1), (-TINY, 1, 1), (-1, 1, 0)], []),
    "vertex in face": (BASE, [(1, 1, 0), (1, 2, 1), (2, 1, 1)], [(1, 1, 0)]),
    "vertex on side": (BASE, [(2, 2, 0), (1, 2, 1), (2, 1, 1)], [(2, 2, 0)]),
    "vertex on vertex": (BASE, [(4, 0, 0), (4, 0, 1), (5, 0, 1)], [(4, 0, 0)]),
    "side across side": (BASE, [(1, 0, -1), (1, 0, 1), (1, -1, 0)], [(1, 0, 0)]),
    "side in face": (BASE, [(1, 1, 0), (1, 2, 0), (1, 1, 1)], [(1, 1, 0), (1, 2, 0)]),
    "side along side": (BASE, [(-1, 0, 0), (2, 0, 0), (0, 0, 1)], [(0, 0, 0), (2, 0, 0)]),
    "in plane, six corners": (
        [(0, 0, 0), (6, 0, 0), (0, 6, 0)],
        [(4, 4, 0), (4, -2, 0), (-2, 4, 0)],
        [(0, 2, 0), (2, 0, 0), (4, 0, 0), (4, 2, 0), (2, 4, 0), (0, 4, 0)],
    ),
    "in plane, within": (BASE, [(1, 1, 0), (2, 1, 0), (1, 2, 0)], [(1, 1, 0), (2, 1, 0), (1, 2, 0)]),
    "in plane, the same": (BASE, BASE, BASE),
    "in plane, touching at a vertex": (BASE, [(2, 2, 0), (4, 4, 0), (4, 3, 0)], [(2, 2, 0)]),
    "in plane, touching along a side": (BASE, [(1, 0, 0), (9, 0, 0), (2, -1, 0)], [(1, 0, 0), (4, 0, 0)]),
    "in plane, apart, boxes not": (BASE, [(4, 4, 0), (3, 2, 0), (2, 3, 0)], []),
    "segment through": (BASE, [(1, 1, -1), (1, 1, 1), (1, 1, 0)], [(1, 1, 0)]),
    "segment within": (BASE, SEGMENT, [(0, 0, 0), (4, 0, 0)]),
    "segment in plane, sticking out": (BASE, [(1, 1, 0), (7, 1, 0), (5, 1, 0)], [(1, 1, 0), (3, 1, 0)]),
    "segment in plane, apart": (BASE, [(3, 2, 0), (7, 1, 0), (5, 1.5, 0)], []),
    "segment above": (BASE, [(1, 1, 1), (1, 1, 2), (1, 1, 3)], []),
    "segments crossing": (SEGMENT, [(1, -1, 0), (1, 1, 0), (1, 0, 0)], [(1, 0, 0)]),
    "segments passing": (SEGMENT, [(1, -1, 1), (1, 1, 1), (1, 0, 1)], []),
    "segments in line": (SEGMENT, [(9, 0, 0), (3, 0, 0), (4, 0, 0)], [(3, 0, 0), (4, 0, 0)]),
    "segments end to end": (SEGMENT, [(9, 0, 0), (4, 0, 0), (5, 0, 0)], [(4, 0, 0)]),
    "segments in line, apart": (SEGMENT, [(9, 0, 0), (5, 0, 0), (6, 0, 0)], []),
    "segments parallel": (SEGMENT, [(0, 1, 0), (4, 1, 0), (2, 1, 0)], []),
    "point in face": (BASE, POINT, [(1, 1, 0)]),
    "point beside": (BASE, [(3, 2, 0)] * 3, []),
    "point on segment": (SEGMENT, [(3, 0, 0)] * 3, [(3, 0, 0)]),
    "point in line with segment": (SEGMENT, [(5, 0, 0)] * 3, []),
    "point off segment": (SEGMENT, POINT, []),
    "points": (POINT, POINT, [(1, 1, 0)]),
    "points apart": (POINT, [(1, 1, TINY)] * 3, []),
}

# name: positions, ids of a, ids of b, whether they intersect
SHARING = {
    "vertex only": ([*BASE, (-1, 0, 1), (-1, -1, 1)], (0, 1, 2), (0, 3, 4), False),
    "vertex only, in plane": ([*BASE, (-1, 0, 0), (-1, -1, 0)], (0, 1, 2), (0, 3, 4), False),
    "vertex, overlap in plane": ([*BASE, (1, 1, 0), (-1, -1, 0)], (0, 1, 2), (0, 3, 4), True),
    "vertex, through the face": ([*BASE, (1, 1, -1), (1, 1, 1)], (0, 1, 2), (0, 3, 4), True),
    "vertex, through the far side": ([*BASE, (3, 3, -1), (3, 3, 1)], (0, 1, 2), (0, 3, 4), True),
    "vertex, other vertex in the face": ([*BASE, (1, 1, 0), (1, 1, 1)], (0, 1, 2), (0, 3, 4), True),
    "vertex, other vertex on a side": ([*BASE, (1, 0, 0), (1, 0, 1)], (0, 1, 2), (0, 3, 4), True),
    "vertex, other vertex below the face": ([*BASE, (1, 1, -TINY), (1, 1, -1)], (0, 1, 2), (0, 3, 4), False),
    "vertex, common side in position": ([*BASE, (4, 0, 0), (0, 0, 1)], (0, 1, 2), (0, 3, 4), True),
    "vertex, sides in line, apart": ([*BASE, (-4, 0, 0), (0, -4, 0)], (0, 1, 2), (0, 3, 4), False),
    "edge, folded flat": ([*BASE, (4, 4, 0)], (0, 1, 2), (1, 0, 3), True),
    "edge, spread flat": ([*BASE, (4, -4, 0)], (0, 1, 2), (1, 0, 3), False),
    "edge, nearly folded": ([*BASE, (4, 4, TINY)], (0, 1, 2), (1, 0, 3), False),
    "edge, upright": ([*BASE, (4, 0, 4)], (0, 1, 2), (1, 0, 3), False),
    "edge, third on top": ([*BASE, (0, 4, 0)], (0, 1, 2), (1, 0, 3), True),
    "edge, third in line within": ([*BASE, (2, 0, 0)], (0, 1, 2), (1, 0, 3), False),
    "edge, third in line beyond": ([*BASE, (6, 0, 0)], (0, 1, 2), (1, 0, 3), False),
    "edge, segment along the far side": ([(0, 0, 0), (2, 0, 0), (4, 0, 0), (6, 0, 0)], (0, 1, 2), (0, 1, 3), True),
    "edge, segments to either side": ([(0, 0, 0), (2, 0, 0), (4, 0, 0), (-6, 0, 0)], (0, 1, 2), (0, 1, 3), False),
    "edge of no length, else apart": ([(0, 0, 0), (0, 0, 0), (4, 0, 0), (0, 4, 0)], (0, 1, 2), (0, 1, 3), False),
    "three": (BASE, (0, 1, 2), (2, 1, 0), True),
    "three of a segment": (SEGMENT, (0, 1, 2), (0, 1, 2), True),
    "three of a point": (POINT, (0, 1, 2), (0, 1, 2), True),
    "same positions, other ids": ([*BASE, *BASE], (0, 1, 2), (3, 4, 5), True),
    "same position of one": ([*BASE, (0, 0, 0), (-1, 0, 1), (-1, -1, 1)], (0, 1, 2), (3, 4, 5), True),
    "repeated, side of the other": (BASE, (0, 0, 1), (0, 1, 2), False),
    "repeated, the same segment": (BASE, (0, 0, 1), (0, 1, 1), False),
    "repeated, corner of the other": (BASE, (0, 0, 0), (0, 1, 2), False),
    "repeated, from a corner into the face": ([*BASE, (1, 1, 0)], (0, 0, 3), (0, 1, 2), True),
    "repeated, from a corner away": ([*BASE, (1, 1, 1)], (0, 0, 3), (0, 1, 2), False),
    "repeated, through": ([*BASE, (1, 1, 1), (1, 1, -1)], (3, 4, 3), (0, 1, 2), True),
    "repeated, in the face": ([*BASE, (1, 1, 0)], (3, 3, 3), (0, 1, 2), True),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlap(name):
    a, b, expected = OVERLAPS[name]
    for p, q in product(permutations(a), permutations(b)):
        for points in (overlap(p, q), overlap(q, p)):
            assert len(points) == len(expected)
            assert set(points) == set(expected)
        assert intersect(p, q) == intersect(q, p) == bool(expected)


@pytest.mark.parametrize("name", SHARING)
def test_sharing(name):
    x, ids_a, ids_b, expected = SHARING[name]
    x = np.array(x, dtype=np.float64)
    for a, b in product(permutations(ids_a), permutations(ids_b)):
        assert intersect(x[list(a)], x[list(b)], a, b) == expected
        assert intersect(x[list(b)], x[list(a)], b, a) == expected


def test_one_vertex_has_one_place():
    with pytest.raises(ValueError, match="two places"):
        intersect(BASE, np.add(BASE, 1), (0, 1, 2), (0, 3, 4))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_only_finite_coordinates(bad):
    with pytest.raises((ValueError, OverflowError)):
        intersect(BASE, [(bad, 0, 0), (1, 0, 0), (0, 1, 0)])


def test_coplanar():
    assert coplanar(BASE, np.add(BASE, (9, 2, 0)))
    assert not coplanar(BASE, np.add(BASE, (0, 0, TINY)))
    assert not coplanar(BASE, [(0, 0, 0), (1, 0, 0), (0, 0, TINY)])
    assert coplanar(SEGMENT, [(0, 1, 1), (0, 2, 2), (1, 3, 3)])
    assert not coplanar(SEGMENT, [(0, 1, 1), (0, 2, 2), (1, 3, 4)])
    assert coplanar(SEGMENT, POINT)


def test_no_rounding():
    # The exact sum of the floats 0.1 and 0.2 lies between 0.3 and their rounded sum.
    slope = [(0, 0, 0), (1, 0, 1), (0, 1, 1)]
    assert not intersect(slope, [(0.1, 0.2, 0.1 + 0.2), (0, 0, 1), (0.5, 0.5, 2)])
    assert intersect(slope, [(0.1, 0.2, 0.3), (0, 0, 1), (0.5, 0.5, 2)])


def test_intersecting_faces():
    tetrahedron = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
    x = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)], dtype=np.float64)
    assert intersecting_faces(tetrahedron, x) == []
    # A second one, from within the first out through its slanted face, 2.
    faces, both = [*tetrahedron, *np.add(tetrahedron, 4).tolist()], np.concatenate([x, x + 1])
    assert intersecting_faces(faces, both) == [(2, 4), (2, 5), (2, 7)]
    assert intersecting_faces(faces, np.concatenate([x, x + 2])) == []
    assert intersecting_faces(np.empty((0, 3), dtype=np.int64), x) == []


# ---- the random pairs, and other methods


def test_random_pairs_are_varied():
    hits = {name: [] for name in FAMILIES}
    for x, a, b, name in random_pairs(np.random.default_rng(7), 40 * len(FAMILIES)):
        assert x.shape == (6, 3)
        assert np.isfinite(x).all()
        hits[name].append(intersect(x[list(a)], x[list(b)], a, b))
    always = {"coplanar overlap", "vertex on vertex", "vertex on edge", "vertex in face", "edge on edge"}
    always |= {"shared vertex hitting", "shared edge folded", "duplicate", "equal positions"}
    never = {"coplanar apart", "shared vertex missing", "shared edge spread flat"}
    for name, outcomes in hits.items():
        assert len(outcomes) == 40
        assert name not in always or all(outcomes), name
        assert name not in never or not any(outcomes), name
    assert 0.3 < np.mean(list(hits.values())) < 0.7


def test_random_pairs_repeat():
    first, second = (list(random_pairs(np.random.default_rng(3), 50)) for _ in range(2))
    for (x, *names), (y, *again) in zip(first, second):
        np.testing.assert_array_equal(x, y)
        assert names == again


def test_against_separation():
    for x, a, b, name in random_pairs(np.random.default_rng(11), 20 * len(FAMILIES)):
        p, q = x[list(a)], x[list(b)]
        points = overlap(p, q)
        assert bool(points) != separated(p, q), (name, p, q)
        assert set(points) == set(overlap(q, p)), (name, p, q)
        shared = set(a) & set(b)
        if not shared:
            assert intersect(p, q, a, b) == bool(points)
        elif len({*a, *b}) == 6 - len(shared):
            expected = beyond_shared(x, a, b, shared)
            assert expected is None or intersect(p, q, a, b) == expected, (name, p, q)


def separated(a, b):
    """Whether the hulls of up to three points each are apart.

    Then the direction between the points where they are nearest separates them strictly. There a corner, side or face
    is opposite a corner, side or face: of each such pair the direction is tried.
    """
    a, b = exact(a), exact(b)
    sides_a, sides_b = sides(a), sides(b)
    directions = [minus(p, q) for p, q in product(a, b)]
    directions += [cross(d, e) for (_, d), (_, e) in product(sides_a, sides_b)]
    for corners, others in ((a, sides_b), (b, sides_a)):
        # The part of q - p across d, times d . d.
        directions += [cross(cross(d, minus(q, p)), d) for q, (p, d) in product(corners, others)]
    directions += [cross(s[0][1], s[1][1]) for s in (sides_a, sides_b) if len(s) == 3]
    for n in directions:
        along_a, along_b = [dot(n, p) for p in a], [dot(n, p) for p in b]
        if max(along_a) < min(along_b) or max(along_b) < min(along_a):
            return True
    return False


def beyond_shared(x, a, b, shared):
    """What intersect should say of two faces with common vertices, by other means; None for some degenerate ones.

    Common vertex v, common point q: the ray from v through q leaves one triangle first, or both at once, and does so
    through the side opposite v. Common side: where faces that have an area are folded flat.
    """
    if len(shared) == 3:
        return True
    if len(shared) == 1:
        (v,) = shared
        ends_a, ends_b = ([i for i in ids if i != v] for ids in (a, b))
        if not (separated(x[[v]], x[ends_a]) and separated(x[[v]], x[ends_b])):
            return None
        return not (separated(x[ends_a], x[list(b)]) and separated(x[ends_b], x[list(a)]))
    v, w = shared
    (c,), (d,) = set(a) - shared, set(b) - shared
    v, w, c, d = exact(x[[v, w, c, d]])
    m, n = cross(minus(w, v), minus(c, v)), cross(minus(w, v), minus(d, v))
    if not (any(m) and any(n)):
        return None
    return not any(cross(m, n)) and dot(m, n) > 0


def exact(points):
    return [tuple(map(Fraction, p)) for p in np.asarray(points).tolist()]


def sides(points):
    if len(points) == 1:
        return []
    ends = zip(points, points[1:] + points[:1]) if len(points) == 3 else [points]
    return [(p, minus(q, p)) for p, q in ends]


def minus(p, q):
    return tuple(s - t for s, t in zip(p, q))


def dot(p, q):
    return sum(s * t for s, t in zip(p, q))


def cross(p, q):
    return tuple(p[i - 2] * q[i - 1] - p[i - 1] * q[i - 2] for i in range(3))
