"""The scenes keep what their descriptions promise: sizes, labels, where there is contact and where there cannot be."""

import inspect
import math
import re
import subprocess
import sys

import numpy as np
import pytest

import pliant
from pliant import scenes
from pliant.scenes.bodies import PASSING_GAP, TILT
from pliant.scenes.shapes import grid, icosphere, spindle, weave
from pliant.scenes.tentacles import _Cut

pytestmark = pytest.mark.filterwarnings("error")
every_scene = pytest.mark.parametrize("name", scenes.names())
# The benchmarks of the paper, with the numbers of triangles that it gives them, and how many objects they are here.
BENCHMARKS = {
    "twisting": (64_000, 2),
    "funnel": (64_000, 2),
    "bishop": (124_000, 8),
    "falling": (172_000, 8),
    "flamenco": (49_000, 10),
    "squishy_ball": (1_000_000, 1),
    "hanging_cloth": (50_000, 1),
}
every_benchmark = pytest.mark.parametrize("name", BENCHMARKS)


def edges_of(faces):
    """The undirected edges (e, 2) of faces (m, 3), each once, and how many faces each has (e,)."""
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return np.unique(pairs, axis=0, return_counts=True)


def component_roots(faces, n):
    """The smallest vertex id (n,) in the connected component of every vertex."""
    root = np.arange(n)
    edges, _ = edges_of(faces)
    while True:
        low = np.minimum(root[edges[:, 0]], root[edges[:, 1]])
        before = root.copy()
        np.minimum.at(root, edges[:, 0], low)
        np.minimum.at(root, edges[:, 1], low)
        root = root[root]
        if (root == before).all():
            return root


@every_scene
def test_arrays_have_the_documented_shapes(name):
    scene = scenes.load(name, triangles=300, frames=3)
    n = len(scene.objects)
    assert scene.name == name
    assert scene.faces.shape[1:] == (3,)
    assert scene.frames.shape == (3, n, 3)
    assert (scene.faces.dtype, scene.frames.dtype, scene.objects.dtype) == (np.int64, np.float64, np.int64)
    assert np.isfinite(scene.frames).all()
    assert (np.unique(scene.faces) == np.arange(n)).all()
    assert (scene.x0 == scene.frames[0]).all()
    assert (scene.x1 == scene.frames[1]).all()
    steps = list(scene.steps())
    assert len(steps) == 2
    assert (steps[1][0] == scene.frames[1]).all()
    assert (steps[1][1] == scene.frames[2]).all()
    assert "\n" not in repr(scene)
    assert name in repr(scene)


@every_scene
def test_same_seed_same_numbers(name):
    first, again = (scenes.load(name, triangles=400, frames=3, seed=5) for _ in range(2))
    other = scenes.load(name, triangles=400, frames=3, seed=6)
    assert (first.faces == again.faces).all()
    assert (first.frames == again.frames).all()
    assert (first.faces == other.faces).all()
    assert (first.frames == other.frames).all() == (name == "flat_sheets")


@every_scene
def test_more_frames_continue_the_same_motion(name):
    short, long = (scenes.load(name, triangles=400, frames=frames) for frames in (2, 4))
    assert (long.frames[:2] == short.frames).all()


@every_scene
def test_size_is_close_to_what_was_asked(name):
    for triangles in (100, 112, 150, 333, 1_000, 4_999, 5_000):
        count = len(scenes.load(name, triangles, frames=2).faces)
        assert abs(count - triangles) <= 0.15 * triangles
    for triangles in (10_000, 30_000):
        count = len(scenes.load(name, triangles, frames=2).faces)
        assert abs(count - triangles) <= 0.02 * triangles


@every_scene
def test_smallest_size_is_a_scene(name):
    scene = scenes.load(name, triangles=2, frames=2)
    assert 2 <= len(scene.faces) <= 22
    assert np.isfinite(scene.frames).all()


@every_scene
def test_objects_are_the_connected_components(name):
    scene = scenes.load(name, triangles=700, frames=2)
    roots = component_roots(scene.faces, len(scene.objects))
    _, labels = np.unique(roots, return_inverse=True)
    assert (labels == scene.objects).all()


@every_scene
@pytest.mark.parametrize("triangles", [2_000, 20_000])
def test_steps_are_a_fraction_of_an_edge_to_a_few_edges(name, triangles):
    scene = scenes.load(name, triangles, frames=4)
    edges, _ = edges_of(scene.faces)
    for x0, x1 in scene.steps():
        edge = np.median(np.linalg.norm(x0[edges[:, 0]] - x0[edges[:, 1]], axis=1))
        motion = np.linalg.norm(x1 - x0, axis=1)
        assert 0.1 < motion.mean() / edge < 4
        assert motion.max() / edge < 7


@every_benchmark
def test_benchmark_has_the_size_that_the_paper_names(name):
    triangles, objects = BENCHMARKS[name]
    default = inspect.signature(scenes._SCENES[name]).parameters["triangles"].default
    assert default == triangles
    assert scenes.load(name, triangles=5_000, frames=2).objects.max() + 1 == objects


@every_benchmark
@pytest.mark.parametrize("seed", range(2))
def test_benchmark_touches_itself_in_every_step(name, seed):
    scene = scenes.load(name, triangles=20_000, frames=4, seed=seed)
    for x0, x1 in scene.steps():
        contacts = pliant.ccd(scene.faces, x0, x1)
        labels = scene.objects[contacts.vertices]
        of_one_object = (labels == labels[:, :1]).all(axis=1)
        assert 0.01 < np.count_nonzero(of_one_object) / len(scene.faces) < 0.3
        assert len(contacts) < 0.4 * len(scene.faces)


@every_benchmark
def test_triangles_of_a_benchmark_are_well_shaped(name):
    scene = scenes.load(name, triangles=20_000, frames=3)
    for x in scene.frames:
        a, b, c = np.moveaxis(x[scene.faces], 1, 0)
        squares = sum((side**2).sum(axis=1) for side in (b - a, c - b, a - c))
        # 1 if equilateral, 0 if degenerate.
        quality = 2 * math.sqrt(3) * np.linalg.norm(np.cross(b - a, c - a), axis=1) / squares
        assert np.median(quality) > 0.7
        assert np.quantile(quality, 0.05) > 0.3


@pytest.mark.parametrize("name", ["twisting", "funnel", "hanging_cloth"])
def test_single_cloth_starts_free_of_contact(name):
    for seed in range(3):
        scene = scenes.load(name, triangles=5_000, frames=2, seed=seed)
        assert len(pliant.dcd(scene.faces, scene.x0)) == 0


@every_scene
def test_no_triangle_is_degenerate_at_rest(name):
    scene = scenes.load(name, triangles=2_000, frames=2)
    a, b, c = np.moveaxis(scene.x0[scene.faces], 1, 0)
    assert (np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0).all()


def test_flat_sheets_are_flat_and_alike_and_pass_through_each_other():
    scene = scenes.load("flat_sheets")
    assert len(scene.faces) == 13_924
    lower, upper = (scene.frames[:, scene.objects == label] for label in (0, 1))
    assert (lower[:, :, :2] == upper[:, :, :2]).all()
    for sheet in (lower, upper):
        assert (np.ptp(sheet[:, :, 2], axis=1) == 0).all()
    side = np.sign(upper[:, 0, 2] - lower[:, 0, 2])
    assert side[0] == 1
    assert (side[1:] == -side[:-1]).all()


@pytest.mark.parametrize("seed", range(5))
def test_crumpled_sheet_starts_as_a_height_field(seed):
    scene = scenes.load("crumpled_sheet", triangles=500, frames=3, seed=seed)
    a, b, c = np.moveaxis(scene.x0[scene.faces][:, :, :2], 1, 0)
    # Vertices over a regular grid and all triangles turned the same way: the projection is one to one.
    signed_area = np.cross(np.pad(b - a, ((0, 0), (0, 1))), np.pad(c - a, ((0, 0), (0, 1))))[:, 2] / 2
    nu = round(1 / np.diff(np.unique(scene.x0[:, 0].round(9)))[0])
    np.testing.assert_allclose(signed_area, 0.5 / nu**2, rtol=1e-9)
    assert np.ptp(scene.x0[:, 2]) > 0.1

    # And does not stay one: sideways motion turns some triangles over, which is where contacts come from.
    a, b, c = np.moveaxis(scene.x1[scene.faces], 1, 0)
    upright = np.cross(b - a, c - a)[:, 2] > 0
    assert 0.3 < upright.mean() < 0.97


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("triangles", [100, 2_000, 20_000])
def test_passing_sheets_keep_their_gap(triangles, seed):
    """Every premise of the proof in the description of the scene, on the numbers themselves."""
    scene = scenes.load("passing_sheets", triangles, seed=seed)
    layers = scene.frames.reshape(len(scene.frames), 4, -1, 3) @ TILT
    x, y, z = np.moveaxis(layers, -1, 0)
    h = np.ptp(x[0, 0]) / (len(np.unique(x[0, 0].round(9))) - 1)
    nv = len(np.unique(y[0, 0].round(9))) - 1
    tiny = 1e-12

    # All layers share their lines of constant y, for good; x moves rigidly, by whole layers.
    assert np.abs(y - y[:1, :1]).max() < tiny
    assert np.abs(np.ptp(x - x[:1], axis=2)).max() < tiny
    # On every line, heights of a layer stay within 0.3 gap of one common height and their own multiple of the gap.
    gap = PASSING_GAP * h
    lines = z.reshape(*z.shape[:2], -1, nv + 1) - gap * np.arange(4)[:, None, None]
    assert np.ptp(lines, axis=(1, 2)).max() < 0.6 * gap + tiny
    # Every triangle lies between two neighbouring lines.
    assert np.ptp(y[0].ravel()[scene.faces], axis=1).max() < h + tiny
    # It is not trivially free: layers overlap in projection, and pass by more than an edge.
    assert np.abs(x[:, 0, 0] - x[:, 1, 0]).max() <= 2 * max(0.15, h)
    assert np.abs(x[1, 0, 0] - x[0, 0, 0]) > 1.5 * h


@pytest.mark.parametrize("triangles", [300, 2_000, 20_000])
def test_balls_are_apart_at_first_and_press_into_each_other_later(triangles):
    scene = scenes.load("ball_heap", triangles, frames=6)
    count = scene.objects.max() + 1
    balls = scene.frames.reshape(len(scene.frames), count, -1, 3)
    centers = balls.mean(axis=2)
    radius = np.linalg.norm(balls[0] - centers[0, :, None], axis=2).max(axis=1)
    rank = np.triu_indices(count, 1)
    room = [np.linalg.norm(c[rank[0]] - c[rank[1]], axis=1) - (radius[rank[0]] + radius[rank[1]]) for c in centers]
    assert room[0].min() > 0
    assert np.count_nonzero(room[-1] < 0) > count / 2


def test_heap_grows_by_balls():
    small, large = (scenes.load("ball_heap", triangles, frames=2) for triangles in (10_000, 100_000))
    assert (small.objects.max() + 1, large.objects.max() + 1) == (31, 312)


def test_cloth_starts_clear_of_the_ball_and_is_pressed_later():
    scene = scenes.load("twisted_cloth", frames=3)
    cloth, ball = (scene.frames[:, scene.objects == label] for label in (0, 1))
    centers = ball.mean(axis=1, keepdims=True)
    closest = np.linalg.norm(cloth - centers, axis=2).min(axis=1)
    assert closest[0] > 1
    assert closest[1] < 1


def test_flowing_cloth_keeps_the_length_of_its_rows():
    scene = scenes.load("flowing_cloth", triangles=3_000, frames=4)
    rows = scene.frames[:, :, [0, 2]].reshape(4, 68, -1, 2)
    length = np.linalg.norm(np.diff(rows, axis=1), axis=3)
    np.testing.assert_allclose(length, 3 / 67, rtol=1e-9)


@pytest.mark.parametrize("triangles", [2, 30, 100, 400, 3_000, 30_000, 100_000])
def test_squishy_ball_is_one_closed_surface(triangles):
    scene = scenes.load("squishy_ball", triangles, frames=2)
    edges, face_counts = edges_of(scene.faces)
    assert (face_counts == 2).all()
    assert len(scene.objects) - len(edges) + len(scene.faces) == 2
    # Both faces of an edge run along it in opposite directions.
    directed = scene.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert len(np.unique(directed, axis=0)) == len(directed)
    assert (component_roots(scene.faces, len(scene.objects)) == 0).all()


@pytest.mark.parametrize("triangles", [200_000, 500_000, 1_000_000, 4_000_000])
def test_large_squishy_ball_has_820_tentacles(triangles):
    cut = _Cut.of(triangles)
    assert cut.tentacles == 820
    assert cut.triangles == pytest.approx(triangles, rel=0.02)
    # Rings about as far apart as columns: a tentacle is 0.45 long and 0.2 around.
    assert 0.3 < (0.45 / cut.rings) / (0.2 / (6 * cut.reach)) < 1.5


def test_squishy_ball_is_squished_and_bounces():
    scene = scenes.load("squishy_ball", triangles=3_000)
    heights = np.ptp(scene.frames[:, :, 2], axis=1)
    assert heights[0] > heights[5] < heights[9]


def test_hanging_cloth_hangs_by_two_corners_and_is_mostly_smooth():
    scene = scenes.load("hanging_cloth", triangles=20_000)
    moved = np.linalg.norm(scene.frames - scene.x0, axis=2).max(axis=0)
    u_end = np.flatnonzero(moved < 1e-3 * moved.max())
    assert len(np.unique(scene.x0[u_end, 0].round(1))) == 2
    assert scene.x0[u_end, 2].min() > scene.x0[:, 2].max() - 0.1
    for x0, x1 in scene.steps():
        touched = np.unique(pliant.ccd(scene.faces, x0, x1).vertices)
        assert 0.005 < len(touched) / len(scene.objects) < 0.2


def test_falling_figure_falls_by_edges_a_step():
    scene = scenes.load("falling", triangles=20_000)
    edges, _ = edges_of(scene.faces)
    edge = np.median(np.linalg.norm(scene.x0[edges[:, 0]] - scene.x0[edges[:, 1]], axis=1))
    assert (np.diff(scene.frames[:, :, 2].mean(axis=1)) < -1.3 * edge).all()


def test_exploding_has_the_size_of_the_benchmark():
    assert inspect.signature(scenes._SCENES["exploding"]).parameters["triangles"].default == 252_000


@pytest.mark.parametrize("seed", range(2))
def test_pieces_fly_through_each_other_in_every_step(seed):
    scene = scenes.load("exploding", triangles=20_000, frames=5, seed=seed)
    hitter = scene.objects.max()
    hits = 0
    for x0, x1 in scene.steps():
        contacts = pliant.ccd(scene.faces, x0, x1)
        labels = scene.objects[contacts.vertices]
        between_pieces = (labels != labels[:, :1]).any(axis=1) & (labels < hitter).all(axis=1)
        hits += np.count_nonzero((labels == hitter).any(axis=1))
        assert 0.01 < np.count_nonzero(between_pieces) / len(scene.faces) < 0.3
    assert hits > 20


def test_exploding_starts_whole_and_bursts():
    scene = scenes.load("exploding", triangles=20_000)
    pieces = scene.objects.max()
    assert 150 < pieces < 400
    assert len(pliant.dcd(scene.faces, scene.x0)) < 0.001 * len(scene.faces)
    assert len(pliant.dcd(scene.faces, scene.frames[5])) > 0.01 * len(scene.faces)
    # Every piece keeps its shape, and gets away from the others.
    edges, _ = edges_of(scene.faces)
    length = np.linalg.norm(scene.frames[:, edges[:, 0]] - scene.frames[:, edges[:, 1]], axis=2)
    np.testing.assert_allclose(length, length[:1].repeat(len(length), axis=0), rtol=1e-9)
    body = scene.frames[:, scene.objects < pieces]
    assert (np.diff(np.linalg.norm(body - body.mean(axis=1, keepdims=True), axis=2).mean(axis=1)) > 0).all()


@pytest.mark.parametrize("around", [False, True])
def test_weave_is_an_irregular_sheet(around):
    faces, points = weave(30, 20, around)
    assert len(faces) == 2 * 30 * 20
    corners = points[faces]
    # Across the seam of a tube, a face has corners at both ends.
    corners[..., 0] += 30 * (np.ptp(corners[..., 0], axis=1, keepdims=True) > 15) * (corners[..., 0] < 15)
    a, b, c = np.moveaxis(np.pad(corners, ((0, 0), (0, 0), (0, 1))), 1, 0)
    area = np.cross(b - a, c - a)[:, 2] / 2
    assert area.min() > 0.2
    assert area.sum() == pytest.approx(30 * 20)
    edges, face_counts = edges_of(faces)
    assert np.count_nonzero(face_counts == 1) == (60 if around else 100)
    assert len(np.unique(np.bincount(edges.ravel()))) >= 5


@pytest.mark.parametrize(("nu", "nv"), [(3, 2), (3, 5), (12, 9)])
def test_spindle_is_closed_and_faces_outwards(nu, nv):
    faces, points = spindle(nu, nv)
    assert (len(faces), len(points)) == (2 * nu * (nv - 1), nu * (nv - 1) + 2)
    edges, face_counts = edges_of(faces)
    assert (face_counts == 2).all()
    assert len(points) - len(edges) + len(faces) == 2
    around, polar = points[:, 0], math.pi * points[:, 1]
    ball = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), -np.cos(polar)], axis=1)
    a, b, c = np.moveaxis(ball[faces], 1, 0)
    assert ((np.cross(b - a, c - a) * a).sum(axis=1) > 0).all()


@pytest.mark.parametrize("frequency", [1, 2, 3, 7])
def test_icosphere_is_closed_and_faces_outwards(frequency):
    faces, points = icosphere(frequency)
    assert (len(faces), len(points)) == (20 * frequency**2, 10 * frequency**2 + 2)
    edges, face_counts = edges_of(faces)
    assert (face_counts == 2).all()
    assert len(points) - len(edges) + len(faces) == 2
    a, b, c = np.moveaxis(points[faces], 1, 0)
    assert ((np.cross(b - a, c - a) * a).sum(axis=1) > 0).all()


def test_grid_covers_its_rectangle_once():
    faces, points = grid(3, 5)
    assert points.shape == (24, 2)
    a, b, c = np.moveaxis(np.pad(points, ((0, 0), (0, 1)))[faces], 1, 0)
    assert (np.cross(b - a, c - a)[:, 2] == 1).all()


def test_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="did you mean 'flowing_cloth'") as error:
        scenes.load("flowing_clothes")
    assert all(name in str(error.value) for name in scenes.names())
    with pytest.raises(ValueError, match="no scene is called 'zzz'; there are"):
        scenes.load("zzz")


@pytest.mark.parametrize("size", [{"triangles": 1}, {"triangles": 1e6}, {"frames": 1}, {"frames": -3}, {"frames": "2"}])
def test_bad_sizes_are_named(size):
    ((key, value),) = size.items()
    message = re.escape(f"{key} must be a whole number of at least 2, not {value!r}")
    with pytest.raises(ValueError, match=message):
        scenes.load("flat_sheets", **size)


def test_import_brings_numpy_only():
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; import pliant.scenes; "
        "print([name for name in ('numba', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
