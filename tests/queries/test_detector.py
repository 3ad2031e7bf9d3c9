"""Culling changes the time, never the result: in every query and every frame of a detector, with any threads."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import pliant
from tests.shapes.meshes import soup
from tests.shapes.options import grouped
from tests.shapes.patches import PATCHES, sheet
from tests.shapes.tables import CULLINGS, assert_identical, assert_same_everywhere

SCENES = pliant.scenes.names()


def frames_of(name, frames=4, triangles=220):
    made = pliant.scenes.load(name, triangles=triangles, frames=frames)
    return pliant.TriMesh(made.faces), made.frames


@cache
def fresh_results(name):
    """Intersections and contacts of each of four frames, by queries of their own: one truth for all detectors."""
    mesh, frames = frames_of(name, 4)
    return [(pliant.dcd(mesh, x0), pliant.ccd(mesh, x0, x1)) for x0, x1 in pairwise(frames)]


@pytest.fixture
def deep_front(monkeypatch):
    """Fronts from the root down to the leaves: with the usual numbers those of small scenes have one or two levels."""
    monkeypatch.setattr("pliant.engine.memory.SEEDS", 1)
    monkeypatch.setattr("pliant.engine.memory.Engine.above_leaves", 0)


@pytest.mark.parametrize("name", SCENES)
def test_every_culling_gives_the_result_of_brute_force(name):
    mesh, frames = frames_of(name)
    found = crossing = 0
    for threads, (x0, x1) in enumerate(pairwise(frames), start=1):
        contacts, crossings = assert_same_everywhere(mesh, x0, x1, threads)
        found, crossing = found + len(contacts), crossing + len(crossings)
    assert (found > 0) == (name != "passing_sheets")
    assert (crossing > 0) == (name not in ("passing_sheets", "flat_sheets"))


def test_cones_cull_something():
    culled, pairs, pairs_without = {}, 0, 0
    for name in SCENES:
        mesh, frames = frames_of(name, 8, triangles=1000)
        frames = frames[:2]
        stages = {s.name: s for s in pliant.ccd(mesh, *frames, tuning=pliant.Tuning(culling="cones")).stages}
        without = {s.name: s for s in pliant.ccd(mesh, *frames).stages}
        tests = stages["contours"]
        culled[name] = tests.pairs_in - tests.pairs_out
        if culled[name] > 20:  # another tree has other owners, so that single scenes may differ either way
            pairs += stages["traversal"].pairs_out
            pairs_without += without["traversal"].pairs_out
    assert pairs < 0.95 * pairs_without
    assert sum(count > 5 for count in culled.values()) > 9, culled


@pytest.mark.parametrize("culling", CULLINGS)
@pytest.mark.parametrize("name", SCENES)
def test_each_frame_is_that_of_a_fresh_query(name, culling, deep_front):
    mesh, frames = frames_of(name, 4)
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling), threads=2)
    assert len(detector.advance(frames[0])) == 0
    for (x0, x1), (crossing, contacts) in zip(pairwise(frames), fresh_results(name), strict=True):
        assert_identical(detector.intersections(x0), crossing)
        assert_identical(detector.advance(x1), contacts)
    assert (detector.front_size > 0) == ("front" in culling)


@pytest.mark.parametrize("culling", CULLINGS)
def test_back_and_forth_and_standing_still(culling, deep_front):
    """Fronts go down and up again: what is closed in one frame opens in the next."""
    for name in ("crumpled_sheet", "twisting", "flowing_cloth"):
        mesh, frames = frames_of(name, 4)
        detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling))
        detector.advance(frames[0])
        at, found = frames[0], 0
        for k in (1, 0, 3, 3, 0, 2, 1, 3, 0):
            contacts = detector.advance(frames[k])
            assert_identical(contacts, pliant.ccd(mesh, at, frames[k]))
            at, found = frames[k], found + len(contacts)
        assert found > 20


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    "options", [{"bounds": "18-dop"}, {"assignment": "dynamic"}, {"filters": ()}, {"pairs": "self"}, {"pairs": "inter"}]
)
def test_options_of_the_detector(options, threads):
    for name in ("ball_heap", "squishy_ball"):
        mesh, frames = frames_of(name, 4)
        detectors = [
            pliant.Detector(mesh, threads=threads, **grouped(culling=c, **options)) for c in ("cones", "cones+front")
        ]
        fresh = [pliant.ccd(mesh, x0, x1, **grouped(**options)) for x0, x1 in pairwise(frames)]
        for detector in detectors:
            detector.advance(frames[0])
            for x, expected in zip(frames[1:], fresh):
                assert_identical(detector.advance(x), expected)


@pytest.mark.parametrize("culling", ["cones", "cones+front"])
@pytest.mark.parametrize("name", PATCHES)
def test_patches_that_cones_must_not_cull(name, culling, deep_front):
    """Frame after frame, out of a position in which everything is free and back."""
    mesh, x0, x1, _ = PATCHES[name]
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling))
    at, found = x0, 0
    detector.advance(x0)
    for x in (x1, x0, (x0 + x1) / 2, x1, x1 + 0.25, x0):
        contacts = detector.advance(x)
        assert_identical(contacts, pliant.ccd(mesh, at, x, tuning=pliant.Tuning(culling="brute")))
        assert_identical(detector.intersections(x), pliant.dcd(mesh, x, tuning=pliant.Tuning(culling="brute")))
        at, found = x, found + len(contacts)
    assert found > 20


def flat_then_curled(frame, n=14):
    """A sheet that is flat, a half pipe, flat again, and crumpled through itself."""
    faces, x = sheet(n, n)
    if frame % 4 == 1:
        angle = np.pi * x[:, 0] / n
        x = np.column_stack((np.cos(angle) * 4, x[:, 1], np.sin(angle) * 4))
    if frame % 4 == 3:
        x = x + np.random.default_rng(frame).uniform(-0.9, 0.9, x.shape)
    return faces, x


def test_a_patch_that_is_culled_opens_and_closes_again(deep_front):
    """The whole sheet is one free patch, and the front one pair, or none; then it is not, and again."""
    faces = flat_then_curled(0)[0]
    detector = pliant.Detector(faces, tuning=pliant.Tuning(culling="cones+front"))
    at, sizes, found = flat_then_curled(0)[1], [], 0
    detector.advance(at)
    for frame in (0, 0, 1, 2, 3, 0, 3, 7, 1, 0):
        x = flat_then_curled(frame)[1]
        contacts = detector.advance(x)
        assert_identical(contacts, pliant.ccd(faces, at, x, tuning=pliant.Tuning(culling="brute")))
        at, found = x, found + len(contacts)
        sizes.append(detector.front_size)
    assert found > 100
    assert min(sizes) <= 1 < 50 < max(sizes)


def rebuilds(detector, monkeypatch):
    """Counts how often the tree is built."""
    count = []
    build = detector._engine._build
    monkeypatch.setattr(detector._engine, "_build", lambda *args: count.append(1) or build(*args))
    return count


@pytest.mark.parametrize("culling", CULLINGS)
def test_a_tree_that_is_worn_out_is_built_anew(culling, monkeypatch):
    """Balls that change places: nodes of the old tree reach across the scene, and its front is worth nothing
    (errata 23)."""
    made = pliant.scenes.load("ball_heap", triangles=400, frames=2)
    mesh, rng = pliant.TriMesh(made.faces), np.random.default_rng(1)
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling))
    count = rebuilds(detector, monkeypatch)
    label = made.objects
    middle = np.array([made.x0[label == k].mean(axis=0) for k in range(label.max() + 1)])
    at, found = made.x0, 0
    detector.advance(at)
    for frame in range(6):
        mixed = made.x0 + (middle[rng.permutation(len(middle))] - middle)[label] if frame % 2 else made.frames[1]
        scatter = rng.permutation(len(at)) if frame == 4 else np.arange(len(at))
        x = mixed[scatter]
        contacts = detector.advance(x)
        assert_identical(contacts, pliant.ccd(mesh, at, x))
        assert_identical(detector.intersections(x), pliant.dcd(mesh, x))
        at, found = x, found + len(contacts)
    assert found > 100
    assert len(count) >= 2


def test_soups():
    """Non-manifold, degenerate, repeated and loose elements, at whole coordinates."""
    for seed in range(3):
        mesh, x0, x1 = soup(seed)
        assert len(assert_same_everywhere(mesh, x0, x1)[0]) > 50
        for culling in CULLINGS:
            detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling))
            detector.advance(x0)
            for a, b in ((x0, x1), (x1, x0), (x0, x0), (x0, x1)):
                assert_identical(detector.advance(b), pliant.ccd(mesh, a, b))


# ---- what a user may do


@pytest.mark.unit
def test_the_first_frame_has_nothing_to_move_from():
    mesh, x0, x1 = soup(5, faces=8, vertices=9, span=3)
    detector = pliant.Detector(mesh, threads=1)
    first = detector.advance(x0)
    assert len(first) == 0
    assert first.vertices.shape == (0, 4)
    assert "none" in repr(first)
    assert_identical(detector.advance(x1), pliant.ccd(mesh, x0, x1, threads=1))


@pytest.mark.bounds
@pytest.mark.unit
def test_an_empty_mesh():
    for x in (np.empty((0, 3)), np.zeros((4, 3))):
        for culling in CULLINGS:
            detector = pliant.Detector(pliant.TriMesh(), tuning=pliant.Tuning(culling=culling), threads=1)
            for _ in range(3):
                assert len(detector.advance(x)) == 0
                assert len(detector.intersections(x)) == 0
            assert detector.front_size == 0
            assert len(pliant.ccd([], x, x, tuning=pliant.Tuning(culling=culling), threads=1)) == 0
            assert len(pliant.dcd([], x, tuning=pliant.Tuning(culling=culling), threads=1)) == 0
            assert pliant.safe_step([], x, x, tuning=pliant.Tuning(culling=culling), threads=1).t == 1.0


def test_one_face_or_two():
    x0 = np.array([(0, 0, 0), (2, 0, 0), (0, 2, 0), (0.5, 0.5, 1), (0.5, 0.6, 2), (0.6, 0.5, 2)], np.float64)
    x1 = x0 - np.repeat([[0, 0, 0], [0, 0, 1.5]], 3, axis=0)
    for culling in CULLINGS:
        for faces, count in (([(0, 1, 2)], 0), ([(0, 1, 2), (3, 4, 5)], 1)):
            detector = pliant.Detector(faces, tuning=pliant.Tuning(culling=culling))
            detector.advance(x0)
            contacts = detector.advance(x1)
            assert len(contacts) == count
            assert_identical(contacts, pliant.ccd(faces, x0, x1, tuning=pliant.Tuning(culling="brute")))
            assert len(detector.intersections(x1)) == count


def test_positions_may_be_changed_afterwards():
    """The detector keeps a copy: simulators move vertices in place."""
    mesh, frames = frames_of("twisting", 3)
    detector, x = pliant.Detector(mesh), frames[0].copy()
    detector.advance(x)
    for before, now in pairwise(frames):
        x[:] = now
        contacts = detector.advance(x)
        assert_identical(contacts, pliant.ccd(mesh, before, now))
        assert len(contacts) > 0


def test_tables_of_frames_before_stay_as_they_are():
    """Bounds of one frame are filled in where those of the frame before were, of both queries: no table may see it."""
    mesh, frames = frames_of("twisting")
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling="cones+front"), threads=2)
    contacts, crossings = [], []
    for x in frames:
        contacts.append(detector.advance(x))
        crossings.append(detector.intersections(x))
    for table, (x0, x1) in zip(contacts[1:], pairwise(frames), strict=True):
        assert_identical(table, pliant.ccd(mesh, x0, x1))
    for table, x in zip(crossings, frames, strict=True):
        assert_identical(table, pliant.dcd(mesh, x))
    assert sum(map(len, contacts)) > 0
    assert sum(map(len, crossings)) > 0


def test_intersections_leave_the_motion_alone():
    mesh, frames = frames_of("crumpled_sheet", 3)
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling="cones+front"))
    assert_identical(detector.intersections(frames[2]), pliant.dcd(mesh, frames[2]))  # before any motion
    detector.advance(frames[0])
    detector.intersections(frames[2])
    assert_identical(detector.advance(frames[1]), pliant.ccd(mesh, frames[0], frames[1]))


@pytest.mark.parametrize("first", ["advance", "intersections"])
def test_errors_are_named(first):
    faces, x = sheet(3, 3)
    bad = x.copy()
    bad[7, 1] = np.nan
    for culling in CULLINGS:
        detector = pliant.Detector(faces, tuning=pliant.Tuning(culling=culling))
        for _ in range(2):  # in the first frame and after it
            with pytest.raises(pliant.MeshError, match=r"x\[7, 1\] is nan"):
                detector.advance(bad)
            with pytest.raises(pliant.MeshError, match=r"x\[7, 1\] is nan"):
                detector.intersections(bad)
            getattr(detector, first)(x)
        for wrong in (x[:-1], np.concatenate((x, x[:1]))):
            with pytest.raises(pliant.MeshError, match=rf"x has {len(wrong)} rows.* {len(x)}"):
                detector.advance(wrong)
            with pytest.raises(pliant.MeshError, match=rf"x has {len(wrong)} rows.* {len(x)}"):
                detector.intersections(wrong)
        with pytest.raises(pliant.MeshError, match=r"shape \(n, 3\)"):
            detector.advance(x[:, :2])
        # After an error it goes on from where it was.
        detector.advance(x)
        assert_identical(detector.advance(x + 1), pliant.ccd(faces, x, x + 1))
    with pytest.raises(pliant.MeshError, match="face 0 refers to vertex 5, but there are 4"):
        pliant.Detector([(0, 1, 5)]).advance(np.zeros((4, 3)))
    with pytest.raises(pliant.MeshError, match="culling='cone' is not known"):
        pliant.Detector(faces, tuning=pliant.Tuning(culling="cone"))


def test_repr_and_labels():
    faces, x = sheet(2, 2)
    detector = pliant.Detector(
        faces, objects=np.zeros(len(x), int), pairs="inter", tuning=pliant.Tuning(culling="front")
    )
    assert "front" in repr(detector)
    detector.advance(x)
    assert len(detector.advance(x[::-1])) == 0
    with pytest.raises(pliant.MeshError, match="one label for each"):
        pliant.Detector(faces, objects=np.zeros(3, int)).advance(x)


def test_intersections_with_dynamic_assignment():
    """Orphans are pairs of features; the discrete query once stopped at them with NotImplementedError."""
    scene = pliant.scenes.load("crumpled_sheet", 400, frames=3)
    detector = pliant.Detector(scene.faces, tuning=pliant.Tuning(assignment="dynamic"))
    detector.advance(scene.frames[1])
    assert_identical(detector.advance(scene.frames[2]), pliant.ccd(scene.faces, scene.frames[1], scene.frames[2]))
    crossing = detector.intersections(scene.frames[2])
    assert len(crossing) > 10
    assert_identical(crossing, pliant.dcd(scene.faces, scene.frames[2]))


def test_labels_may_be_changed_afterwards():
    """The detector once read the caller's array again whenever its tree was built."""
    scene = pliant.scenes.load("flat_sheets", 200, frames=2)
    labels = scene.objects.copy()
    detector = pliant.Detector(scene.faces, objects=labels, pairs="inter")
    detector.advance(scene.x0)
    labels[:] = 0
    contacts = detector.advance(scene.x1)
    assert len(contacts) > 100
    assert_identical(contacts, pliant.ccd(scene.faces, scene.x0, scene.x1, objects=scene.objects, pairs="inter"))


@pytest.mark.parametrize("query", [pliant.ccd, pliant.safe_step])
def test_starting_tangled(query):
    """An edge through a face at rest makes no contact: whoever wants to know is told."""
    faces = np.array([(0, 1, 2), (3, 4, 5)])
    x = np.array([(0, 0, 0), (2, 0, 0), (0, 2, 0), (0.5, 0.5, -1), (0.5, 0.5, 1), (3, 3, 1.0)])
    query(faces, x, x)
    with pytest.warns(UserWarning, match="faces 0 and 1 intersect at x0"):
        query(faces, x, x, tangled="warn")
    with pytest.raises(pliant.MeshError, match="starts tangled: faces 0 and 1"):
        query(faces, x, x, tangled="raise", pairs="inter")
    query(faces, x, x, tangled="raise", pairs="self")
    with pytest.raises(pliant.MeshError, match="tangled='perhaps'"):
        query(faces, x, x, tangled="perhaps")


# ---- shared data


@pytest.mark.data
@pytest.mark.parametrize("name", ["armadillo-rollers", "cloth-ball", "n-body"])
def test_frames_with_exact_truth(name, data_folder):
    with np.load(data_folder / "ccd" / f"{name}.npz") as file:
        mesh, x0, x1 = pliant.TriMesh(file["faces"]), file["vertices_t0"], file["vertices_t1"]
        counts = len(file["vf"]), len(file["ee"])
    contacts = pliant.ccd(mesh, x0, x1)
    assert (len(contacts.vf), len(contacts.ee)) == counts
    assert_identical(pliant.ccd(mesh, x0, x1, tuning=pliant.Tuning(culling="cones")), contacts)
    assert pliant.safe_step(mesh, x0, x1, tuning=pliant.Tuning(culling="cones")).t == contacts.toi.min()
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling="cones+front"))
    detector.advance(x0)
    for _ in range(2):
        assert_identical(detector.advance(x1), contacts)
        detector.place(x0)  # once more, now with a front
    crossing = pliant.dcd(mesh, x1)
    assert_identical(pliant.dcd(mesh, x1, tuning=pliant.Tuning(culling="cones")), crossing)


@pytest.mark.data
def test_a_sequence_of_frames(data_folder):
    with np.load(data_folder / "sequences" / "codimipc_Kick_unfixed_30_65.npz") as file:
        frames, mesh = file["V"].astype(np.float64), pliant.TriMesh(file["F"])
    detectors = {
        culling: pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling))
        for culling in ("front", "cones", "cones+front")
    }
    for detector in detectors.values():
        detector.advance(frames[0])
    found = 0
    for x0, x1 in pairwise(frames[:6]):
        contacts = pliant.ccd(mesh, x0, x1)
        found += len(contacts)
        for detector in detectors.values():
            assert_identical(detector.advance(x1), contacts)
    assert found > 20
    assert min(detectors[culling].front_size for culling in ("front", "cones+front")) > 1000
