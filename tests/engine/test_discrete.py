"""Discrete detection: every pair of intersecting triangles, against fractions, and what users can ask for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.scenes.shapes import grid
from tests.reference import triangles
from tests.shapes.known_files import KNOWN, READERS
from tests.shapes.meshes import soup
from tests.shapes.options import grouped
from tests.shapes.tables import assert_identical


def pairs_of(found):
    return list(map(tuple, found.faces.tolist()))


def random_mesh(seed, faces=24, vertices=16, span=2):
    """Whole coordinates in a small box: coplanar, touching, degenerate, repeated and adjacent triangles."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, vertices, (faces, 3))
    corners[0] = corners[1]
    corners[2] = corners[3][::-1]
    corners[4, 1] = corners[4, 0]
    corners[5] = corners[5, 0]
    x = rng.integers(-span, span + 1, (vertices, 3)).astype(np.float64)
    x[1] = x[0]
    if seed % 3 == 0:
        x[:, 2] = 0
    if seed % 3 == 1:
        x += rng.standard_normal(x.shape)
    return corners, x


def assert_agrees(faces, x, **options):
    """With the reference in fractions: which pairs, whether coplanar, and segments inside both triangles."""
    found = pliant.dcd(faces, x, **options)
    assert pairs_of(found) == triangles.intersecting_faces(faces, x)
    scale = float(np.abs(x).max())
    for (i, j), segment, flat in zip(found.faces.tolist(), found.segments, found.coplanar):
        assert flat == triangles.coplanar(x[faces[i]], x[faces[j]])
        for end in segment:
            assert max(distance(end, x[faces[k]]) for k in (i, j)) < 1e-11 * scale
    return found


def distance(p, triangle) -> float:
    """From a point to a triangle, which may be a segment or a point; in doubles."""
    a, b, c = triangle
    u, v, w = b - a, c - a, p - a
    gram = np.array([[u @ u, u @ v], [u @ v, v @ v]])
    if np.linalg.det(gram) > 1e-9 * gram[0, 0] * gram[1, 1]:
        s, t = np.linalg.solve(gram, [w @ u, w @ v])
        if min(s, t, 1 - s - t) >= 0:
            return float(np.linalg.norm(w - s * u - t * v))
    ends = [(a, b), (b, c), (c, a)]
    shares = [np.clip((p - q) @ (r - q) / max((r - q) @ (r - q), 1e-300), 0, 1) for q, r in ends]
    return float(min(np.linalg.norm(p - q - s * (r - q)) for (q, r), s in zip(ends, shares)))


def test_random_meshes_agree_with_fractions():
    counts = np.zeros(3, int)
    for seed in range(20):
        faces, x = random_mesh(seed)
        found = assert_agrees(faces, x)
        counts += len(found), np.count_nonzero(found.coplanar), len(faces) * (len(faces) - 1) // 2
    assert 0.2 * counts[2] < counts[0] < 0.8 * counts[2]
    assert 100 < counts[1] < counts[0]


@pytest.mark.unit
@pytest.mark.bounds
def test_a_small_mesh():
    faces, x = random_mesh(2, faces=8, vertices=9)
    found = assert_agrees(faces, x, threads=1)
    assert 3 < len(found) < 28


def test_scenes_agree_with_fractions():
    """Most triangles are apart there, and many are neighbours."""
    for name, count in (("crumpled_sheet", 20), ("twisted_cloth", 20), ("flat_sheets", 0), ("squishy_ball", 10)):
        made = pliant.scenes.load(name, triangles=150, frames=3)
        found = [assert_agrees(made.faces, x, tuning=pliant.Tuning(culling="cones")) for x in made.frames[1:]]
        total = sum(map(len, found))
        assert total >= count if count else total == 0


def test_segments_are_what_the_triangles_share():
    """From end to end: no point that both share is farther along it, and its ends are what fractions give."""
    lengths = 0
    for seed in range(1, 40, 3):  # in general position
        faces, x = random_mesh(seed)
        found = pliant.dcd(faces, x)
        for (i, j), segment in zip(found.faces.tolist(), found.segments):
            if len(set(faces[i]) | set(faces[j])) < 6 or len(set(faces[i])) < 3 or len(set(faces[j])) < 3:
                continue
            shared = triangles.overlap(x[faces[i]], x[faces[j]])
            ends = np.array([[float(c) for c in p] for p in shared])
            assert len(ends) in (1, 2)
            forward = max(np.abs(ends[0] - segment[0]).max(), np.abs(ends[-1] - segment[1]).max())
            backward = max(np.abs(ends[0] - segment[1]).max(), np.abs(ends[-1] - segment[0]).max())
            assert min(forward, backward) < 1e-12
            lengths += len(ends) == 2
    assert lengths > 100


@pytest.mark.parametrize("exponent", [-1060, -600, 500, 1015])
def test_units(exponent):
    for seed in (0, 2):
        faces, x = random_mesh(seed)
        found, scaled = pliant.dcd(faces, x), pliant.dcd(faces, np.ldexp(x, exponent))
        assert len(found) > 50
        np.testing.assert_array_equal(scaled.faces, found.faces)
        np.testing.assert_array_equal(scaled.coplanar, found.coplanar)


def test_sorted_and_each_once():
    for seed in range(3):
        mesh, x, _ = soup(seed)
        pairs = pairs_of(pliant.dcd(mesh, x, threads=3))
        assert pairs == sorted(set(pairs))
        assert all(i < j for i, j in pairs)
        assert len(pairs) > 100


@pytest.mark.parametrize("culling", ["boxes", "front", "cones", "cones+front", "brute"])
def test_options_change_nothing(culling):
    """Segments too, bit for bit. They once came out an ulp apart where the tree had two faces in another order: the
    pair was decided in the order of places, and only its name sorted.
    """
    for mesh, x in ((pliant.TriMesh(faces), x) for faces, x in map(random_mesh, range(3))):
        found = pliant.dcd(mesh, x, threads=1)
        for options in ({"bounds": "18-dop"}, {"bounds": "24-dop", "threads": 2}, {"threads": 3}):
            assert_identical(pliant.dcd(mesh, x, **grouped(culling=culling, **options)), found)


def test_names_do_not_matter():
    """Another order of faces, corners and vertices: the same pairs by their new names."""
    rng = np.random.default_rng(1)
    for seed in range(6):
        faces, x = random_mesh(seed)
        expected = {frozenset(pair) for pair in pairs_of(pliant.dcd(faces, x))}
        order, new = rng.permutation(len(faces)), rng.permutation(len(x))
        renamed = rng.permuted(new[faces[order]], axis=1)
        y = np.empty_like(x)
        y[new] = x
        found = pairs_of(pliant.dcd(renamed, y))
        assert {frozenset(order[list(pair)].tolist()) for pair in found} == expected


def two_sheets(gap=0.0):
    """Two sheets, the second across the first; each is one component, as 1 and 2."""
    faces, points = grid(4, 4)
    flat = np.column_stack((points, np.zeros(len(points))))
    upright = np.column_stack((np.full(len(points), 1.7), points[:, 0] + 0.1, points[:, 1] - 1.6 + gap))
    folded = flat.copy()
    folded[:, 2] = -0.1
    folded[20:, :2] = flat[:5, :2] + (0.3, 0.2)
    folded[15:20, 2], folded[20:, 2] = 0.1, -0.3
    x = np.concatenate((folded, upright))
    return np.concatenate((faces, faces + len(points))), x, np.repeat([5, -3], len(points))


@pytest.mark.parametrize("culling", ["boxes", "cones+front", "brute"])
def test_within_and_between_objects(culling):
    faces, x, objects = two_sheets()
    label = objects[faces[:, 0]]
    every = pliant.dcd(faces, x)
    same = label[every.faces[:, 0]] == label[every.faces[:, 1]]
    assert 0 < np.count_nonzero(same) < len(every)
    for options in ({}, {"objects": objects}):
        assert_identical(
            pliant.dcd(faces, x, pairs="self", tuning=pliant.Tuning(culling=culling), **options), every[same]
        )
        assert_identical(
            pliant.dcd(faces, x, pairs="inter", tuning=pliant.Tuning(culling=culling), **options), every[~same]
        )
        assert_identical(pliant.dcd(faces, x, tuning=pliant.Tuning(culling=culling), **options), every)
    one = np.zeros(len(x), int)
    assert len(pliant.dcd(faces, x, objects=one, pairs="inter", tuning=pliant.Tuning(culling=culling))) == 0
    assert_identical(pliant.dcd(faces, x, objects=one, pairs="self", tuning=pliant.Tuning(culling=culling)), every)


def split_faces(faces, x):
    """Every face with vertices of its own, as in an STL file."""
    return np.arange(3 * len(faces)).reshape(-1, 3), x[faces.ravel()]


def test_merge_takes_equal_positions_for_one():
    faces, x, _ = two_sheets()
    own_faces, own_x = split_faces(faces, x)
    own_x = np.where(own_x == 0.0, np.random.default_rng(1).choice([0.0, -0.0], own_x.shape), own_x)
    expected = pliant.dcd(faces, x)
    assert len(expected) > 10
    for culling in ("boxes", "cones", "brute"):
        merged = pliant.dcd(own_faces, own_x, merge=True, tuning=pliant.Tuning(culling=culling))
        np.testing.assert_array_equal(merged.faces, expected.faces)
        np.testing.assert_array_equal(merged.coplanar, expected.coplanar)
        np.testing.assert_allclose(merged.segments, expected.segments, rtol=0, atol=1e-15)
    # Without it, neighbours touch along the edge that they no longer have in common.
    assert len(pliant.dcd(own_faces, own_x)) > len(expected) + len(faces)


def test_merge_keeps_objects_apart():
    """Two boxes with a corner, an edge and a face at one place: parts of one body, or two that touch."""
    faces, points = grid(2, 2)
    x = np.column_stack((points, np.zeros(len(points))))
    both = np.concatenate((faces, faces + len(x)))
    beside = np.concatenate((x, x + (2, 0, 0)))
    objects = np.repeat([0, 1], len(x))
    assert len(pliant.dcd(both, beside, merge=True)) == 0
    touching = pliant.dcd(both, beside, merge=True, objects=objects)
    assert len(touching) > 0
    assert_identical(touching, pliant.dcd(both, beside))
    assert len(pliant.dcd(both, beside, merge=True, objects=objects, pairs="self")) == 0
    assert_identical(pliant.dcd(both, beside, merge=True, objects=objects, pairs="inter"), touching)
    # Without labels components count, and what is merged is one.
    assert len(pliant.dcd(both, beside, merge=True, pairs="inter")) == 0
    assert len(pliant.dcd(both, beside, pairs="inter")) == len(touching)


def test_loose_edges_and_points_take_no_part():
    faces, x = random_mesh(2)
    mesh = pliant.TriMesh(faces, [(0, len(x)), (len(x), len(x) + 1)], [len(x) + 2])
    longer = np.concatenate((x, [(0, 0, 0), (1, 1, 1), (0, 0, 0)]))
    for culling in ("boxes", "cones", "brute"):
        for merge in (False, True):
            expected = pliant.dcd(faces, x, merge=merge)
            assert_identical(pliant.dcd(mesh, longer, tuning=pliant.Tuning(culling=culling), merge=merge), expected)


@pytest.mark.unit
def test_neighbours():
    """Those that share an edge or a vertex count where they are folded onto each other or cross elsewhere."""
    x = np.array(
        [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, -2, 0), (1, 1, 0), (0.5, 0.5, 1), (0.5, 0.5, -1), (3, 3, 0)], float
    )
    for faces, count, coplanar in (
        ([(0, 1, 2), (0, 1, 3)], 0, None),  # an edge, unfolded
        ([(0, 1, 2), (0, 1, 4)], 1, True),  # an edge, folded flat
        ([(0, 1, 2), (0, 1, 5)], 0, None),  # an edge, half open
        ([(0, 1, 2), (0, 5, 6)], 1, False),  # a vertex, and through it elsewhere
        ([(0, 1, 2), (0, 3, 5)], 0, None),  # a vertex only
        ([(0, 1, 2), (2, 0, 1)], 1, True),  # all three
        ([(0, 1, 2), (0, 0, 7)], 1, True),  # a segment from a vertex across
        ([(0, 1, 2), (7, 7, 7)], 0, None),
        ([(0, 1, 2), (4, 4, 4)], 1, True),  # a point on an edge
    ):
        found = pliant.dcd(faces, x, threads=1)
        assert len(found) == count, faces
        assert pairs_of(found) == triangles.intersecting_faces(faces, x)
        assert found.coplanar.tolist() == [coplanar] * count


def test_the_table():
    faces, x = random_mesh(2)
    found = pliant.dcd(faces, x)
    assert found.faces.dtype == np.int32
    assert found.segments.shape == (len(found), 2, 3)
    assert found.coplanar.dtype == bool
    assert f"{len(found)} pairs of triangles" in repr(found)
    assert f"{np.count_nonzero(found.coplanar)} coplanar" in repr(found)
    assert "none" in repr(found[:0])
    assert len(found[0]) == 1
    assert len(found[found.coplanar]) == np.count_nonzero(found.coplanar)
    table = pytest.importorskip("pandas") and found.to_pandas()
    assert len(table) == len(found)
    assert table["face_1"].tolist() == found.faces[:, 1].tolist()
    names = [stage.name for stage in pliant.dcd(faces, x, tuning=pliant.Tuning(culling="cones")).stages]
    assert {"topology", "hierarchy", "fit", "cones", "contours", "traversal"} <= set(names)
    stages = {stage.name: stage for stage in found.stages}
    assert "cones" not in stages
    assert stages["traversal"].pairs_out >= len(found)
    assert all(stage.seconds >= 0 for stage in found.stages)


def test_errors_are_named():
    faces, x = random_mesh(2)
    bad = x.copy()
    bad[3, 2] = np.inf
    for options, wrong, message in (
        ({}, bad, r"x\[3, 2\] is inf"),
        ({}, x[:5], "refers to vertex"),
        ({}, x[:, :2], r"shape \(n, 3\)"),
        ({"culling": "cone"}, x, "culling='cone'"),
        ({"pairs": "both"}, x, "pairs='both'"),
        ({"objects": np.arange(len(x))}, x, "different objects"),
    ):
        with pytest.raises(pliant.MeshError, match=message):
            pliant.dcd(faces, wrong, **grouped(**options))
    assert len(pliant.dcd([], np.empty((0, 3)))) == 0
    assert len(pliant.dcd([], np.empty((0, 3)), merge=True)) == 0


# ---- files with known self-intersections


@pytest.mark.data
@pytest.mark.parametrize("name", KNOWN)
def test_files_with_known_intersections(name, data_folder):
    path = data_folder / "selfint" / name
    faces, x = READERS[Path(name).suffix](path)
    found = pliant.dcd(faces, x, merge=True)
    count, split = KNOWN[name]
    assert len(found) == count
    _, same = np.unique(x + 0.0, axis=0, return_inverse=True)
    corners = same.ravel()[faces]
    if split is not None:
        shared = [len(set(corners[i]) & set(corners[j])) for i, j in pairs_of(found)]
        assert (shared.count(0), sum(k > 0 for k in shared)) == split
    for culling in ("cones",) if "7081" in name else ("front", "cones", "cones+front"):
        assert_identical(pliant.dcd(faces, x, merge=True, tuning=pliant.Tuning(culling=culling), threads=3), found)
    if "7081" not in name and len(faces) < 1200:  # fractions are slow
        place = np.empty((same.max() + 1, 3))
        place[same.ravel()] = x
        assert pairs_of(found) == triangles.intersecting_faces(corners, place)


@pytest.mark.data
def test_a_kicking_body(data_folder):
    with np.load(data_folder / "sequences" / "codimipc_Kick_unfixed_30_65.npz") as file:
        frames, faces = file["V"][[0, 17, 35]], file["F"]
    counts = []
    for x in frames:
        found = pliant.dcd(faces, x)
        counts.append(len(found))
        assert_identical(pliant.dcd(faces, x, tuning=pliant.Tuning(culling="cones")), found)
        assert_identical(pliant.dcd(faces, x.astype(np.float64)), found)
    assert max(counts) > 0


@pytest.mark.parametrize("face", [(0, 1, 1), (0, 0, 1), (1, 0, 1), (2, 2, 2), (0, 1, 2)])
@pytest.mark.parametrize("size", [1.0, 0.0, 1e-300, 1e300])
def test_duplicates_always_intersect(face, size):
    """Those of faces that name a vertex twice were no pair, where the page says always."""
    x = size * np.array([(0, 0, 0), (1, 2, 3), (3, 1, 0), (0, 5, 1)])
    faces = [face, np.roll(face, 1), face[::-1]]
    hits = pliant.dcd(faces, x)
    assert hits.faces.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert hits.coplanar.all()
    corners = x[list(face)]
    longest = max(np.linalg.norm((a - b) / (size or 1.0)) for a in corners for b in corners)
    lengths = np.linalg.norm((hits.segments[:, 0] - hits.segments[:, 1]) / (size or 1.0), axis=1)
    np.testing.assert_allclose(lengths, longest, rtol=1e-9)
