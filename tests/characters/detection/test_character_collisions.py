"""The characters of the shared data and the built-in ones: "safe" is "full" is what is there, in every clip."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.characters.detection.on_demand import CollisionDetector
from pliant.characters.rig.blending import linear_blend
from tests.shapes.bodies import expected


def follow(body, character, clip, frames, obstacle=None):
    """How many pairs there are in all, and which share of them angles find. Agreement is asserted."""
    obstacles = [] if obstacle is None else [obstacle]
    safe, full, angles = (
        CollisionDetector(body, character.skeleton, update=u, obstacles=obstacles, threads=1)
        for u in ("safe", "full", "angles")
    )
    there = found = 0
    for t in frames:
        transforms = character.transforms(clip, t)
        moved = None if obstacle is None else [obstacle.transform(t)]
        x = linear_blend(body.rest, body.joints, body.weights, transforms)
        pairs = full.find(x, transforms, moved)
        np.testing.assert_array_equal(safe.find(x, transforms, moved), pairs)
        if obstacle is None:
            np.testing.assert_array_equal(expected(body.volume, x), pairs)
        some = {tuple(row) for row in angles.find(x, transforms, moved).tolist()}
        assert some <= {tuple(row) for row in pairs.tolist()}
        there, found = there + len(pairs), found + len(some)
    return there, found


@pytest.mark.parametrize("name", ["human", "horse", "arm", "leg", "arm_with_body"])
def test_built_in_characters(name):
    scene = pliant.scenes.load_character(name)
    for clip in scene.character.clips.values():
        frames = np.arange(0.0, clip.duration, 1.0 / 30.0)
        there, found = follow(scene.body, scene.character, clip, frames, scene.obstacle)
        assert 0 < found <= there


@pytest.mark.data
@pytest.mark.parametrize("name", ["CesiumMan", "Fox", "Quaternius_Horse"])
def test_characters_from_files(name, data_folder):
    pytest.importorskip("tetgen", reason="bodies of characters need tetgen")
    from pliant.characters.body.bodies import body_of

    character = pliant.characters.load(data_folder / "characters" / f"{name}.glb")
    body, total = body_of(character), 0
    for clip in character.clips.values():
        total += follow(body, character, clip, np.linspace(0.0, clip.duration, 12))[0]
    assert total > 0
