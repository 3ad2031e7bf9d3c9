"""Clips frame by frame: what is reported is what there is, and summaries say so."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant
from pliant import MeshError
from pliant.characters.playing import frame_times, play
from pliant.characters.summaries import summarise

load = cache(pliant.scenes.load_character)


@cache
def played(name="arm", **options):
    scene = load(name)
    obstacles = () if scene.obstacle is None else (scene.obstacle,)
    return list(play(scene.character, "bend", body=scene.body, obstacles=obstacles, rate=10, **options))


def test_times_of_frames():
    clip = load("arm").character.clip("bend")
    np.testing.assert_array_equal(frame_times(clip, 10), np.arange(11) / 10)
    assert len(frame_times(clip, 60)) == 61
    np.testing.assert_array_equal(frame_times(clip, 10, 0.25), [0.0, 0.1, 0.2])
    assert frame_times(None).tolist() == [0.0]


@pytest.mark.parametrize("skinning", ["linear", "dual quaternion"])
def test_blended_frames_are_poses(skinning):
    character = load("arm").character
    for frame in played(skinning=skinning):
        np.testing.assert_array_equal(frame.skin, character.pose("bend", frame.time, skinning))


@pytest.mark.parametrize("name", ["arm", "arm_with_body"])
def test_penetrations_are_those_of_inside(name):
    """With depths and ways out; and corners, weighted, give the vertex."""
    scene = load(name)
    body, hits = scene.body, 0
    for frame in played(name, skinning="linear"):
        x, volume = frame.x, body.volume
        if scene.obstacle is not None:
            m = scene.obstacle.transform(frame.time)
            cells = scene.obstacle.volume.cells["tetra"] + np.int32(len(x))
            x = np.concatenate((x, scene.obstacle.rest @ m[:3, :3].T + m[:3, 3]))
            volume = pliant.VolumeMesh({"tetra": np.concatenate((volume.cells["tetra"], cells))})
        truth, found = pliant.inside(volume, x), frame.penetrations
        for column in ("vertices", "cells", "depth", "direction"):
            np.testing.assert_array_equal(getattr(found, column), getattr(truth, column))
        at = np.einsum("ki,kij->kj", found.weights, x[volume.cells["tetra"][found.cells]])
        np.testing.assert_allclose(at, x[found.vertices], atol=1e-12)
        hits += len(found)
    assert hits > 50


def test_bones_are_those_that_carry():
    scene, deep = load("arm"), max(played(skinning="linear"), key=lambda frame: len(frame.penetrations))
    found, body = deep.penetrations, scene.body
    names = [scene.character.skeleton.names[node] for node in scene.character.skeleton.joints]
    for i in range(len(found)):
        weights = np.zeros(len(names))
        np.add.at(weights, body.joints[found.vertices[i]], body.weights[found.vertices[i]])
        assert weights[found.bones[i, 0]] == weights.max()
        weights[:] = 0.0
        for v in body.volume.cells["tetra"][found.cells[i]]:
            np.add.at(weights, body.joints[v], body.weights[v])
        assert weights[found.bones[i, 1]] == pytest.approx(weights.max())
    assert ("forearm", "upper_arm") in found.bone_pairs()
    assert repr(found).startswith("Penetrations(")
    assert "\n" not in repr(found)


def test_obstacles_have_names():
    pairs = {pair for frame in played("arm_with_body", skinning="linear") for pair in frame.penetrations.bone_pairs()}
    assert any("obstacle 0" in pair for pair in pairs)


def test_flesh_penetrates_less_than_bones_want():
    """An elbow at 120 degrees, in frames of up to 48: without response the flesh is in itself."""
    without, response = summarise(played(collisions=False)), summarise(played())
    assert without.colliding > 2
    assert response.deepest < 0.1 * without.deepest
    assert response.colliding < without.colliding


@pytest.mark.parametrize("update", ["safe", "full"])
@pytest.mark.parametrize("collisions", [True, False])
def test_flesh_reports_what_is_there(collisions, update):
    body = load("arm").body
    for frame in played(collisions=collisions, update=update):
        truth = pliant.inside(body.volume, frame.x, depth=False, threads=1)
        np.testing.assert_array_equal(frame.penetrations.vertices, truth.vertices)
        np.testing.assert_array_equal(frame.penetrations.cells, truth.cells)


def test_skin_is_where_its_cells_are():
    body = load("arm").body
    for frame in played(collisions=False)[::5]:
        corners = frame.x[body.volume.cells["tetra"][body.skin_cells]]
        np.testing.assert_allclose(frame.skin, (body.skin_weights[..., None] * corners).sum(axis=1), atol=1e-12)


def test_the_bind_pose_is_clean():
    scene = load("arm")
    (frame,) = play(scene.character, body=scene.body)
    assert frame.time == 0.0
    assert repr(summarise([frame])) == "Summary(no collisions in 1 frames)"


def test_safe_reports_what_full_does():
    for a, b in zip(played(skinning="linear", update="full"), played(skinning="linear", update="safe")):
        np.testing.assert_array_equal(a.penetrations.vertices, b.penetrations.vertices)
        np.testing.assert_array_equal(a.penetrations.cells, b.penetrations.cells)


def test_summary_counts():
    pytest.importorskip("pandas")
    frames = played(skinning="linear")
    summary = summarise(iter(frames))
    assert summary.colliding == sum(len(frame.penetrations) > 0 for frame in frames) > 3
    assert summary.deepest == max(frame.penetrations.deepest for frame in frames)
    assert summary.bones["forearm", "upper_arm"] <= summary.colliding
    assert "\n" not in repr(summary)
    assert "forearm and upper_arm" in repr(summary)
    table = summary.to_pandas()
    assert len(table) == len(frames)
    assert table["pairs"].sum() == sum(len(frame.penetrations) for frame in frames)
    deep = max(frames, key=lambda frame: len(frame.penetrations)).penetrations
    assert list(deep.to_pandas()["bone_of_vertex"].unique()) != []
    assert "none" in repr(frames[0].penetrations)


def test_colliding_skin_is_near_colliding_vertices():
    scene = load("arm")
    for frame in played(skinning="linear"):
        red, inner = frame.colliding(scene.body), np.unique(frame.penetrations.vertices)
        cells = scene.body.volume.cells["tetra"][scene.body.skin_cells[red]]
        assert np.isin(cells, inner).any(axis=1).all()
        assert red.any() == (len(inner) > 0) or len(inner) < 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skinning": "cubic"}, "skinning"),
        ({"rate": 0}, "rate"),
        ({"seconds": -1}, "seconds"),
        ({"update": "x"}, "update"),
    ],
)
def test_options_are_checked_before_the_first_frame(options, message):
    scene = load("arm")
    with pytest.raises(MeshError, match=message):
        play(scene.character, "bend", body=scene.body, **options)
