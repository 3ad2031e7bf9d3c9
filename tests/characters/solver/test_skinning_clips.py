"""Named poses and walks: how deep flesh is at the end of a step, and what becomes of its volume."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.characters.body.bodies import body_of
from pliant.characters.solver.position_based import PositionBasedSkinning
from pliant.io.gltf.characters import load
from pliant.scenes import load_character
from tests.shapes.limbs import volumes

DEEPEST, DRIFT = 0.05, 0.03


def play(character, body, clip, frames, collisions):
    """Deepest penetration in mean edges, and smallest and largest volume, over the first frames of a clip."""
    skinning = PositionBasedSkinning(character, body, collisions=collisions, threads=1)
    skinning.reset(character.transforms(clip, 0.0))
    deepest, total, rest = 0.0, [], volumes(body, body.rest).sum()
    for i in range(frames):
        transforms = character.transforms(clip, i / 60.0)
        x, scale = skinning.advance(transforms), abs(np.linalg.det(transforms[0, :3, :3])) ** (1.0 / 3.0)
        total.append(volumes(body, x).sum() / (rest * scale**3))
        if i % 3 == 0 or i == frames - 1:
            depth = pliant.inside(body.volume, x, threads=1).depth.max(initial=0.0)
            deepest = max(deepest, depth / (skinning.edge * scale))
    return deepest, min(total), max(total)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "clip", "frames", "without"),
    [("arm", "bend", 34, 0.5), ("leg", "bend", 34, 0.5), ("human", "walk", 40, 0.0), ("horse", "walk", 40, 0.0)],
)
def test_scenes_end_without_penetration(name, clip, frames, without):
    scene = load_character(name)
    deepest, least, most = play(scene.character, scene.body, clip, frames, True)
    assert deepest <= DEEPEST
    assert 1.0 - DRIFT < least <= most < 1.0 + DRIFT
    if without:
        assert play(scene.character, scene.body, clip, frames, False)[0] > without


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "clip", "frames"),
    [
        ("CesiumMan", "clip 0", 60),
        ("Quaternius_Horse", "Walk", 40),
        ("Quaternius_Horse", "Gallop", 40),
        ("Fox", "Run", 60),
    ],
)
def test_shared_characters_end_without_penetration(data_folder, name, clip, frames):
    pytest.importorskip("tetgen")
    character = load(data_folder / "characters" / f"{name}.glb")
    deepest, least, most = play(character, body_of(character, cache=False), clip, frames, True)
    assert deepest <= DEEPEST
    assert 1.0 - DRIFT < least <= most < 1.0 + DRIFT
