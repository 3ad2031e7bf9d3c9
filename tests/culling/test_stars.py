"""Stars that are called free do not meet themselves, whatever their shape, how their faces follow and how they move."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import pliant
from pliant.arithmetic.vec3 import dot
from pliant.culling.stars import SIDE_ERROR, TURN_ERROR, free_stars
from pliant.filters.axes.elements import scaled_ends
from pliant.mesh.links import MOST_WEDGES, links_of
from tests.reference import rational
from tests.reference.rounding import corners, exact, worst_share

NO_OTHERS = np.empty(0, np.int32)


def wheel(wedges, is_closed, first=0):
    """Faces around a vertex, whose link are the vertices after it."""
    rim = np.arange(1, wedges + 1 + (not is_closed))
    around = np.append(rim, 1) if is_closed else rim
    return first + np.array([(0, p, q) for p, q in itertools.pairwise(around.tolist())], np.int32)


def link_of(faces, vertex=0):
    links = links_of(np.asarray(faces, np.int32), NO_OTHERS, int(np.max(faces)) + 1)
    return links.vertex[links.start[vertex] : links.start[vertex + 1]].tolist()


def are_free(faces, x0, x1):
    points = scaled_ends(x0, x1, 1.0, 1.0)
    return free_stars(links_of(faces, NO_OTHERS, len(x0)), points, float(np.abs(points).max())) != 0


def wheels(seed, count=60):
    """(faces, x0, x1) of stars of all kinds: flat to steep, turning less or more than once, moving little or much."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        wedges, is_closed = int(rng.integers(3, 9)), bool(rng.integers(2))
        faces, turn = wheel(wedges, is_closed), rng.choice((1, 1, 1, 2)) if is_closed else rng.uniform(0.2, 1.3)
        rim = wedges + (not is_closed)
        angle = 2 * np.pi * turn * (np.arange(rim) + rng.uniform(-0.3, 0.3, rim)) / wedges
        away = rng.uniform(0.5, 1.5, rim)
        x0 = np.zeros((rim + 1, 3))
        x0[1:] = np.stack((away * np.cos(angle), away * np.sin(angle), rng.uniform(-1, 1) * rng.random(rim)), axis=1)
        x0 = x0 @ np.linalg.qr(rng.standard_normal((3, 3)))[0] + rng.standard_normal(3)
        yield faces, x0, x0 + 10.0 ** rng.uniform(-2, 0.3) * rng.standard_normal(x0.shape)


def feature_pairs(faces):
    """Quads of vertices of (vertices and faces, edges and edges) that have none in common."""
    edges = sorted({tuple(sorted(pair)) for face in faces.tolist() for pair in itertools.combinations(face, 2)})
    vertex_face = [(v, *face) for v in range(faces.max() + 1) for face in faces.tolist() if v not in face]
    return vertex_face, [(*e, *f) for e, f in itertools.combinations(edges, 2) if not set(e) & set(f)]


def meets(faces, x0, x1):
    vertex_face, edge_edge = (np.array(quads).reshape(-1, 4) for quads in feature_pairs(faces))
    return bool(
        pliant.vertex_face(x0[vertex_face], x1[vertex_face]).hit.any()
        or pliant.edge_edge(x0[edge_edge], x1[edge_edge]).hit.any()
    )


def test_free_stars_do_not_meet_themselves():
    found = [(are_free(faces, x0, x1)[0], meets(faces, x0, x1)) for faces, x0, x1 in wheels(1, 150)]
    free, met = np.array(found).T
    assert 0.2 < free.mean() < 0.7
    assert 0.2 < met.mean() < 0.7
    assert not (free & met).any()
    assert free.sum() > 0.5 * (~met).sum()


def spoiled(seed, count):
    """(faces, x0, x1) of wheels to which something was done: no longer one star, and seldom a manifold."""
    rng = np.random.default_rng(seed)
    for faces, x0, x1 in wheels(seed, count):
        p, q = rng.choice(np.arange(1, len(x0)), 2, replace=False)
        match int(rng.integers(6)):
            case 0:  # two vertices of the rim are one
                faces = np.where(faces == p, q, faces)
            case 1:  # or are at one place, at the start or at the end
                x = x0 if rng.random() < 0.5 else x1
                x[p] = x[q]
            case 2:  # a face that comes twice, in either direction
                faces = np.vstack((faces, faces[:1, :: rng.choice((1, -1))]))
            case 3:  # one that may have no area
                faces = np.vstack((faces, [rng.choice((0, p, q), 3)]))
            case 4:  # another wheel at the same vertex, which may be in the way of the first
                more, y0, y1 = next(wheels(seed + int(rng.integers(1000)), 1))
                faces = np.vstack((faces, np.where(more > 0, more + len(x0) - 1, 0)))
                x0, x1 = np.vstack((x0, y0[1:] - y0[0] + x0[0])), np.vstack((x1, y1[1:] - y1[0] + x1[0]))
            case _:  # a face across the wheel
                faces = np.vstack((faces, [(p, 0, q)]))
        yield faces.astype(np.int32), x0, x1


def test_free_stars_of_meshes_that_are_no_manifolds():
    """Vertices that coincide, faces twice, without area, and the wrong way round, pinched vertices, edges of three
    faces: of each vertex that is called free, whatever its star has become."""
    free, met = 0, 0
    for faces, x0, x1 in spoiled(5, 150):
        met += len(pliant.ccd(faces, x0, x1)) > 0
        for v in np.flatnonzero(are_free(faces, x0, x1)).tolist():
            ids, star = np.unique(faces[(faces == v).any(axis=1)], return_inverse=True)
            if star.size > 3:  # more than one face
                assert not meets(star.reshape(-1, 3), x0[ids], x1[ids])
                free += 1
    assert free > 200
    assert met > 50


def test_free_stars_do_not_meet_themselves_in_rational_arithmetic():
    free = [(faces, x0, x1) for faces, x0, x1 in wheels(2, 40) if len(faces) < 5 and are_free(faces, x0, x1)[0]]
    assert len(free) > 4
    for faces, x0, x1 in free[:5]:
        for test, quads in zip((rational.vertex_face, rational.edge_edge), feature_pairs(faces)):
            assert not any(test(x0[list(quad)].tolist(), x1[list(quad)].tolist()) for quad in quads)


def test_free_stars_on_a_grid_do_not_meet_themselves():
    rng, count = np.random.default_rng(3), 0
    for _ in range(300):
        faces = wheel(int(rng.integers(3, 7)), bool(rng.integers(2)))
        x0, x1 = rng.integers(-2, 3, (2, faces.max() + 1, 3)).astype(np.float64)
        if are_free(faces, x0, x0 + 0.25 * (x1 - x0))[0]:
            assert not meets(faces, x0, x0 + 0.25 * (x1 - x0))
            count += 1
    assert count > 5


@pytest.mark.parametrize(("turns", "is_free"), [(1, True), (2, False)])
def test_closed_stars_turn_once(turns, is_free):
    """A cone that winds around its tip twice turns the same way everywhere, and passes through itself."""
    angle = 2 * np.pi * turns * np.arange(7) / 7
    x = np.vstack((np.zeros(3), np.stack((np.cos(angle), np.sin(angle), 0.1 * np.arange(7)), axis=1)))
    assert are_free(wheel(7, True), x, x + 1e-3)[0] == is_free


@pytest.mark.parametrize(("turns", "is_free"), [(0.5, True), (0.75, True), (1.2, False)])
def test_open_stars_turn_less_than_once(turns, is_free):
    angle = 2 * np.pi * turns * np.arange(7) / 6
    x = np.vstack((np.zeros(3), np.stack((np.cos(angle), np.sin(angle), 0.01 * np.arange(7)), axis=1)))
    assert are_free(wheel(6, False), x, x + 1e-3)[0] == is_free


def test_an_open_star_that_closes_during_the_motion_is_not_free():
    """All wedges turn the same way throughout: only the ray tells."""
    ends = [2 * np.pi * turns * np.arange(7) / 6 for turns in (0.85, 1.15)]
    x0, x1 = (np.vstack((np.zeros(3), np.stack((np.cos(angle), np.sin(angle), np.zeros(7)), axis=1))) for angle in ends)
    faces = wheel(6, False)
    assert are_free(faces, x0, x0)[0]
    assert not are_free(faces, x0, x1)[0]
    assert meets(faces, x0, x1)


def test_what_is_not_finite_or_has_no_size_is_not_free():
    x = np.vstack((np.zeros(3), np.eye(3), -np.eye(3)))
    faces = wheel(6, True)
    for factor in (0.0, 1e-12, 1e30, np.nan):
        assert not are_free(faces, factor * x, factor * x)[0]


def test_links_follow_the_faces_in_turn():
    rng = np.random.default_rng(4)
    for wedges in (3, 6, MOST_WEDGES):
        faces = rng.permutation([np.roll(face, k) for face, k in zip(wheel(wedges, True), range(wedges))])
        link = link_of(faces)
        assert link[0] == link[-1]
        assert sorted(itertools.pairwise(link)) == sorted([*itertools.pairwise(range(1, wedges + 1)), (wedges, 1)])
        assert link_of(rng.permutation(wheel(wedges, False))) == list(range(1, wedges + 2))


def test_stars_that_are_not_one_row_of_faces_have_no_link():
    fan = wheel(3, False)
    assert link_of(fan) == [1, 2, 3, 4]
    assert link_of(np.vstack((fan, [(0, 6, 7)]))) == []  # two rows
    assert link_of(np.vstack((fan, [(0, 3, 2)]))) == []  # not oriented alike
    assert link_of(np.vstack((wheel(4, True), np.where(wheel(3, True) > 0, wheel(3, True) + 4, 0)))) == []  # two cones
    assert link_of(wheel(MOST_WEDGES + 1, True)) == []
    assert len(pliant.TriMesh(fan, edges=[(0, 4)])._links.vertex) < len(pliant.TriMesh(fan)._links.vertex)


def turn(p, u, w, number):
    """The middle coefficient of a wedge from p[0] to p[2] around p[1], p[3], p[4] at the end around p[1]; number: what
    coordinates are rounded to."""
    seen = [tuple(number(a - b) for a, b in zip(p[k], p[1])) for k in (0, 2, 3, 4)]
    (p0, q0), (a0, b0), (p1, q1), (a1, b1) = ((dot(x, u), dot(x, w)) for x in seen)
    return number(Fraction(1, 2) if number is Fraction else 0.5) * ((p0 * b1 - q0 * a1) + (p1 * b0 - q1 * a0))


def side(p, u, w, number):
    seen = tuple(number(a - b) for a, b in zip(p[0], p[1]))
    return u[1] * dot(seen, w) - w[1] * dot(seen, u)


@pytest.mark.parametrize(("value", "bound", "most"), [(turn, TURN_ERROR, 2), (side, SIDE_ERROR, 1)])
def test_error_bounds(value, bound, most):
    def share(x):
        p, u, w = x[0], *(tuple(np.float32(c) for c in axis) for axis in x[1])
        size = max(abs(a - b) for k in (0, 2, 3, 4) for a, b in zip(p[k], p[1]))
        sizes = [sum(abs(float(c)) for c in axis) for axis in (u, w)]
        scale = size**most * (sizes[0] * sizes[1] if most == 2 else sizes[1] * abs(u[1]) + sizes[0] * abs(w[1]))
        true = value(exact(p), exact(tuple(map(float, u))), exact(tuple(map(float, w))), Fraction)
        return abs(Fraction(float(value(p, u, w, np.float32))) - true) / Fraction(float(bound) * float(scale))

    found = worst_share(share, lambda rng: (corners(rng, 5), corners(rng, 2)), steps=500)
    assert 0.1 < found < 1 / 1.25
