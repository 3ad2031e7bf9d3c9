"""The truth about clips: at some frames of all clips of the embedded scenes and of the real characters, every way of
detecting finds what exact orientation tests of all vertices and cells find. ``python -m bench truth`` goes through all
frames."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant
from pliant.characters.body.bodies import body_of
from pliant.characters.body.obstacles import Obstacle
from pliant.characters.detection.on_demand import CollisionDetector
from pliant.characters.playing import play
from pliant.characters.rig.blending import linear_blend
from tests.reference import insides, tetrahedra

REAL = ("Quaternius_Horse", "CesiumMan", "Fox")
FRAMES = 4  # of a clip, and between them steps as long as the clip is

load = cache(pliant.scenes.load_character)


def brute_force(volume, x):
    """All vertices against all cells, twice: by ``inside``, and by a reference that shares nothing with it."""
    found = pliant.inside(volume, x, depth=False, threads=2)
    pairs = np.stack((found.vertices, found.cells), axis=1)
    np.testing.assert_array_equal(pairs, tetrahedra.inside(volume.cells["tetra"], x)[0])
    return pairs


def compare(body, skeleton, frames, obstacle=None):
    """Detectors that see all frames, against one that sees each alone; returns how many pairs there were."""
    rigid = [] if obstacle is None else [Obstacle(obstacle.volume, obstacle.rest)]
    detectors = {u: CollisionDetector(body, skeleton, update=u, obstacles=rigid, threads=2) for u in ("full", "safe")}
    angles = CollisionDetector(body, skeleton, update="angles", obstacles=rigid, threads=2)
    count = 0
    for t, x, transforms in frames:
        moved = None if obstacle is None else obstacle.transform(t)[None]
        together = x if moved is None else np.concatenate((x, obstacle.rest @ moved[0, :3, :3].T + moved[0, :3, 3]))
        truth = brute_force(detectors["full"].volume, together)
        for update, detector in detectors.items():
            np.testing.assert_array_equal(detector.find(x, transforms, moved), truth, err_msg=f"{update} at {t}")
        guessed = {tuple(pair) for pair in angles.find(x, transforms, moved).tolist()}
        assert guessed <= {tuple(pair) for pair in truth.tolist()}
        count += len(truth)
    return count


def blended(character, body, clip, count=FRAMES):
    for t in np.linspace(0.0, character.clip(clip).duration, count):
        transforms = character.transforms(clip, t)
        yield t, linear_blend(body.rest, body.joints, body.weights, transforms), transforms


def close_together(character, body, clip):
    """A few frames of flesh in a row: what "safe" leaves out is left out here."""
    seconds = min(4 / 60, character.clip(clip).duration)
    for frame in play(character, clip, body=body, collisions=False, seconds=seconds, threads=2):
        yield frame.time, frame.x, character.transforms(clip, frame.time)


@pytest.mark.parametrize("name", pliant.scenes.character_names())
def test_embedded_scenes(name):
    scene, count = load(name), 0
    for clip in scene.character.clips:
        frames = [*blended(scene.character, scene.body, clip), *close_together(scene.character, scene.body, clip)]
        count += compare(scene.body, scene.character.skeleton, frames, scene.obstacle)
    assert count > 20


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_characters(data_folder, name):
    pytest.importorskip("tetgen")
    character = pliant.characters.load(data_folder / "characters" / f"{name}.glb")
    body, count = body_of(character), 0
    for clip in character.clips:
        count += compare(body, character.skeleton, blended(character, body, clip, 3))
    assert count > 20


def test_a_clip_in_fractions():
    """The elbow of the arm, in rationals: cells near the bend only, as the slow truth is slow."""
    scene = load("arm")
    body, cells = scene.body, scene.body.volume.cells["tetra"]
    x = linear_blend(body.rest, body.joints, body.weights, scene.character.transforms("bend", 0.5))
    inner = brute_force(body.volume, x)
    near = np.unique(np.concatenate((inner[:, 1], np.flatnonzero(np.isin(cells, inner[:, 0]).any(axis=1)))))[::3]
    blocks = {"tetra": cells[near]}
    truth, chosen_from = insides.inside(blocks, x)
    found = brute_force(pliant.VolumeMesh(blocks), x)
    assert [tuple(pair) for pair in found.tolist()] == truth
    assert 5 < len(truth) < chosen_from
