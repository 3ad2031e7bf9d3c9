"""Normal cones hold the exact normals of moving triangles, at all times, and cones above hold those below."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pliant.culling.cones import EVERYTHING, NOTHING, Faces, fit_cones, merge_cones

LEAVES = 64


def cones_of(points, flipped=None, begin=None, position_error=0.0):
    """All cones by heap index over faces, one for each leaf unless ``begin`` says otherwise. points : (k, 2, 3, 3)."""
    begin = np.arange(len(points) + 1, dtype=np.int64) if begin is None else begin
    flipped = np.zeros(len(points), bool) if flipped is None else flipped
    cones = np.full((2 * (len(begin) - 1), 4), np.nan)
    corners = np.arange(3 * len(points), dtype=np.int32).reshape(-1, 3)
    x0, x1 = (np.ascontiguousarray(points[:, end].reshape(-1, 3)) for end in range(2))
    fit_cones(Faces(corners, x0, x1, bool((x0 == x1).all()), 1.0, flipped, begin, position_error), cones, 1)
    return cones


def exact(x):
    return [Fraction(float(c)) for c in x]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def normal_at(points, t):
    """Of a moving triangle, (2, 3, 3), in fractions."""
    p = [[a + t * (b - a) for a, b in zip(exact(c0), exact(c1))] for c0, c1 in zip(*points)]
    u, v = ([b - a for a, b in zip(p[0], p[k])] for k in (1, 2))
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def holds(cone, vector) -> bool:
    """The cone contains a vector of any length but zero, without a rounding."""
    axis, cosine = exact(cone[:3]), Fraction(float(cone[3]))
    along = dot(axis, vector)
    return along > 0 and along * along >= cosine * cosine * dot(vector, vector) * dot(axis, axis)


def is_unit(cone) -> bool:
    return abs(float(np.linalg.norm(cone[:3])) - 1) < 1e-14


def triangles(rng, count):
    """(count, 2, 3, 3): of any shape and motion, nearly degenerate ones among them, far from the origin, and tiny."""
    x0 = rng.standard_normal((count, 3, 3))
    flat = rng.random(count) < 0.4
    share, height = rng.uniform(-1, 2, (count, 1)), 10.0 ** -rng.uniform(1, 17, (count, 1))
    x0[flat, 2] = (x0[:, 0] + share * (x0[:, 1] - x0[:, 0]) + height * x0[:, 2])[flat]
    motion = rng.standard_normal((count, 3, 3)) * 10.0 ** -rng.uniform(0, 16, (count, 1, 1))
    motion[rng.random(count) < 0.1] = 0
    x1 = x0 + motion + rng.standard_normal((count, 1, 3)) * rng.choice([0, 10], (count, 1, 1))
    size = rng.choice([1.0, 1.0, 1e-30, 1e-60], (count, 1, 1, 1))
    return (
        np.stack([x0, x1], axis=1) * size
        + rng.standard_normal((count, 1, 1, 3)) * rng.choice([0, 1], (count, 1, 1, 1)) * size
    )


def some_times(rng):
    return [Fraction(0), Fraction(1), Fraction(1, 2), *(Fraction(int(k), 997) for k in rng.integers(1, 997, 4))]


@pytest.mark.bounds
@pytest.mark.unit
def test_cones_of_faces_hold_their_normals_at_all_times():
    rng = np.random.default_rng(1)
    points = triangles(rng, 8 * LEAVES)
    cones = cones_of(points)[8 * LEAVES :]
    narrow = 0
    for face, cone in zip(points, cones):
        if cone[3] == EVERYTHING:
            continue
        narrow += 1
        assert is_unit(cone)
        assert 0 < cone[3] < 1
        assert all(holds(cone, normal_at(face, t)) for t in some_times(rng))
    assert 0.3 < narrow / len(points) < 0.9


@pytest.mark.unit
def test_no_cone_where_there_may_be_no_normal():
    """Degenerate, or degenerate on the way, or flipped on the way: everything is a normal (errata 4)."""
    rng = np.random.default_rng(2)
    points = rng.integers(-8, 9, (LEAVES, 2, 3, 3)).astype(np.float64)
    points[:16, 1] = points[:16, 0]
    points[:16, :, 2] = 2 * points[:16, :, 1] - points[:16, :, 0]  # a segment, always
    points[16:32, :, 1] = points[16:32, :, 0]  # two corners at one place
    third = points[32:48, 0]
    points[32:48, 1] = 2 * third.mean(axis=1, keepdims=True) - third  # half a turn: all in one point at t = 1/2
    points[48:, 1] = points[48:, 0][:, [0, 2, 1]]  # flipped
    assert (cones_of(points)[LEAVES:, 3] == EVERYTHING).all()


def test_narrow_cones_are_narrow():
    """The test above would pass with cones too wide to be of use."""
    rng = np.random.default_rng(3)
    points = np.repeat(rng.standard_normal((LEAVES, 1, 3, 3)), 2, axis=1)
    area = [float(np.linalg.norm(np.cross(p[0, 1] - p[0, 0], p[0, 2] - p[0, 0]))) for p in points]
    cones = cones_of(points)[LEAVES:]
    assert (cones[np.array(area) > 0.1, 3] > 1 - 2e-8).all()
    # A quarter of a turn about an axis in its plane: half an eighth to either side of the middle.
    at_start = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.float64)
    cone = cones_of(np.stack([at_start, at_start[:, [0, 2, 1]]])[None])[1]
    assert 0.69 < cone[3] < np.cos(np.pi / 4)


@pytest.mark.bounds
@pytest.mark.parametrize("spread", [0.02, 0.1, 0.3, 1.0])
def test_cones_above_hold_the_normals_of_all_faces_below(spread):
    """Faces that look about the same way, and some flipped; leaves of none to five faces."""
    rng = np.random.default_rng(4)
    inner = held = 0
    for _ in range(4):
        sizes = rng.integers(0, 6, 16)
        begin = np.concatenate(([0], np.cumsum(sizes)))
        flat = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.float64)
        x0 = flat + rng.normal(0, spread, (begin[-1], 3, 3))
        points = np.stack([x0, x0 + rng.normal(0, spread / 4, x0.shape)], axis=1)
        flipped = rng.random(len(points)) < 0.3
        points[flipped] = points[flipped][:, :, ::-1]
        cones = cones_of(points, flipped, begin)
        merged = cones.copy()
        merged[1:4] = np.nan
        merge_cones(merged, 4)
        np.testing.assert_array_equal(merged[1:], cones[1:])
        for node in range(1, 32):
            level = node.bit_length() - 1
            faces = range(begin[(node << (4 - level)) - 16], begin[((node + 1) << (4 - level)) - 16])
            if cones[node, 3] == NOTHING:
                assert len(faces) == 0
            if cones[node, 3] in (NOTHING, EVERYTHING):
                continue
            inner += node < 16
            for i in faces:
                for t in (Fraction(0), Fraction(1), Fraction(int(rng.integers(1, 99)), 99)):
                    n = normal_at(points[i], t)
                    assert holds(cones[node], [-c for c in n] if flipped[i] else n)
                    held += 1
    assert held > 100
    assert inner == 60 if spread < 0.05 else inner > 0
    assert inner < 60 if spread > 0.2 else True


def on_the_rim(rng, cone):
    """A vector just inside a cone."""
    axis = np.asarray(cone[:3])
    across = np.cross(axis, rng.standard_normal(3))
    across /= np.linalg.norm(across)
    angle = max(0.0, np.arccos(min(1.0, cone[3])) - 1e-9)
    return exact(np.cos(angle) * axis + np.sin(angle) * across)


def test_merged_cones_hold_both():
    """Directions on the rims of two cones are in the merged one, for wide and narrow, near and opposite cones."""
    rng = np.random.default_rng(5)
    kept = everything = 0
    for _ in range(600):
        axes = rng.standard_normal((2, 3))
        if rng.random() < 0.7:
            axes[1] = axes[0] + rng.standard_normal(3) * 10.0 ** -rng.uniform(0, 12)
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        cones = np.full((4, 4), np.nan)
        cones[2:, :3] = axes
        cones[2:, 3] = np.cos(rng.uniform(0, 1.5, 2) if rng.random() < 0.5 else 10.0 ** -rng.uniform(0, 9, 2))
        merge_cones(cones, 2)
        if cones[1, 3] == EVERYTHING:
            everything += 1
            continue
        kept += 1
        assert is_unit(cones[1])
        for child in cones[2:]:
            for _ in range(4):
                vector = on_the_rim(rng, child)
                if holds(child, vector):
                    assert holds(cones[1], vector)
    assert kept > 150
    assert everything > 20


@pytest.mark.unit
def test_nothing_and_everything():
    a = (0.0, 0.6, 0.8, 0.5)
    for left, right, expected in (
        (a, (0, 0, 0, NOTHING), a),
        ((0, 0, 0, NOTHING), a, a),
        ((0, 0, 0, NOTHING), (0, 0, 0, NOTHING), (0, 0, 0, NOTHING)),
        (a, (0, 0, 0, EVERYTHING), (0, 0, 0, EVERYTHING)),
        ((0, 0, 0, NOTHING), (0, 0, 0, EVERYTHING), (0, 0, 0, EVERYTHING)),
        (a, (0.0, -0.6, -0.8, 0.9), (0, 0, 0, EVERYTHING)),  # no cone below a right angle holds both
    ):
        cones = np.array([[np.nan] * 4, [np.nan] * 4, left, right], np.float64)
        merge_cones(cones, 2)
        assert tuple(cones[1]) == tuple(expected)


def test_cones_allow_for_vertices_that_are_off():
    """With position_error, a cone holds the normals of every triangle whose corners are off by at most that."""
    rng = np.random.default_rng(6)
    points = triangles(rng, 8 * LEAVES)
    points = points[np.abs(points).max(axis=(1, 2, 3)) > 1e-10][:LEAVES]
    narrow = {}
    for position_error in (1e-15, 1e-12, 1e-10, 1e-3):
        cones = cones_of(points, position_error=position_error)[LEAVES:]
        narrow[position_error] = 0
        for face, cone in zip(points, cones):
            if cone[3] == EVERYTHING:
                continue
            narrow[position_error] += 1
            for _ in range(3):
                off = face + rng.choice([-position_error, position_error], face.shape) * (1 - 1e-3)
                assert holds(cone, normal_at(off, Fraction(int(rng.integers(0, 98)), 97)))
    assert narrow[1e-15] > 20
    assert narrow[1e-15] >= narrow[1e-12] >= narrow[1e-10] > 5
    assert narrow[1e-3] == 0


def test_cones_of_tiny_faces_are_not_too_narrow():
    """The widest of some control vectors was found by comparing products of four areas. Those of faces smaller than
    1e-38 of the scene vanish, 0 < 0, and the first one counted as the widest: cones of several faces were too narrow,
    and contacts of a tiny sheet near the origin got lost (tests/culling/test_contours).
    """
    rng = np.random.default_rng(7)
    held = 0
    for size in (1.0, 1e-20, 1e-36, 1e-39, 1e-45, 1e-60):
        flat = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], np.float64)
        x0 = flat + rng.normal(0, 0.15, (4 * LEAVES, 3, 3))
        points = np.stack([x0, x0 + rng.normal(0, 0.05, x0.shape)], axis=1) * size
        cones = cones_of(points, begin=np.arange(0, 4 * LEAVES + 1, 4))[LEAVES:]
        for leaf, cone in enumerate(cones):
            if cone[3] == EVERYTHING:
                continue
            for face in points[4 * leaf : 4 * leaf + 4]:
                assert all(holds(cone, normal_at(face, t)) for t in (Fraction(0), Fraction(1, 3), Fraction(1)))
                held += size == 1.0
    assert held > 100


def test_at_rest_a_normal_is_its_own_cone():
    """The shorter way for faces that do not move gives cones as narrow as the longer one, and as safe."""
    rng = np.random.default_rng(8)
    points = triangles(rng, 4 * LEAVES)
    points[:, 1] = points[:, 0]
    cones = cones_of(points)[4 * LEAVES :]
    points[0, 1, 0, 0] += 1e-9  # one face moves: the longer way for all
    longer = cones_of(points)[4 * LEAVES :]
    np.testing.assert_array_equal(cones[1:, 3] == EVERYTHING, longer[1:, 3] == EVERYTHING)
    narrow = [(face, cone) for face, cone in zip(points[1:], cones[1:]) if cone[3] != EVERYTHING]
    assert all(holds(cone, normal_at(face, Fraction(0))) and cone[3] > 1 - 2e-8 for face, cone in narrow)
    assert 0.3 < len(narrow) / len(points) < 0.9
