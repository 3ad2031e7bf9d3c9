"""The real characters of the shared data: every clip, against the formulas of the specification in plain loops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant
from tests.reference import gltf

# vertices of the file, after welding, faces, joints, clips
HELD = {
    "CesiumMan": (3273, 2338, 4672, 19, 1),
    "Fox": (1728, 290, 576, 24, 3),
    "Quaternius_Horse": (4400, 1093, 2182, 50, 13),
    "RiggedFigure": (370, 130, 256, 19, 1),
    "RiggedSimple": (160, 96, 188, 2, 1),
}
NAMES = pytest.mark.parametrize("name", HELD)
pytestmark = pytest.mark.data


def load(data_folder, name, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pliant.characters.load(data_folder / "characters" / f"{name}.glb", **options)


@NAMES
def test_what_it_holds(data_folder, name):
    kept, character = load(data_folder, name, weld=False), load(data_folder, name)
    counts = len(kept.rest), len(character.rest), len(character.mesh.faces), len(character.skeleton.joints)
    assert (*counts, len(character.clips)) == HELD[name]
    positions, _, faces = gltf.File(data_folder / "characters" / f"{name}.glb").vertices()
    np.testing.assert_array_equal(kept.rest, positions)
    np.testing.assert_array_equal(kept.mesh.faces, faces)
    np.testing.assert_allclose(character.weights.sum(axis=1), 1.0, atol=1e-14)


@NAMES
def test_it_is_one_closed_body(data_folder, name):
    mesh = load(data_folder, name).mesh
    sides = np.concatenate([mesh.faces[:, (i, (i + 1) % 3)] for i in range(3)])
    directed = {tuple(side) for side in sides.tolist()}
    assert len(directed) == len(sides)
    assert directed == {(b, a) for a, b in directed}
    assert set(mesh.components) == {0}


@NAMES
def test_every_clip_against_the_formulas(data_folder, name):
    kept = load(data_folder, name, weld=False)
    file = gltf.File(data_folder / "characters" / f"{name}.glb")
    positions, influences, _ = file.vertices()
    for place, (clip_name, clip) in enumerate(kept.clips.items()):
        for step, t in enumerate((-1.0, 0.0, 0.2371, 0.5 * clip.duration, 0.93 * clip.duration, clip.duration + 1.0)):
            matrices = file.joint_matrices(place, t)
            found = kept.transforms(clip_name, t)
            np.testing.assert_allclose(found, matrices, atol=1e-11 * (1.0 + np.abs(matrices).max()))
            some = slice((7 * place + step) % 29, None, 29)
            wanted = [gltf.skinned(p, i, matrices) for p, i in zip(positions[some], influences[some])]
            size = 1.0 + np.abs(wanted).max()
            np.testing.assert_allclose(kept.pose(clip_name, t)[some], wanted, atol=1e-11 * size)


@NAMES
def test_welded_vertices_are_in_the_middle_of_those_of_the_file(data_folder, name):
    kept, character = load(data_folder, name, weld=False), load(data_folder, name)
    place = {tuple(p): i for i, p in enumerate(character.rest.tolist())}
    row = np.array([place[tuple(p)] for p in kept.rest.tolist()])
    parts = np.bincount(row)
    for clip_name, clip in character.clips.items():
        t = 0.4 * clip.duration
        x, moved = character.pose(clip_name, t), kept.pose(clip_name, t)
        middle = np.stack([np.bincount(row, moved[:, c]) / parts for c in range(3)], axis=1)
        np.testing.assert_allclose(x, middle, atol=1e-12 * (1.0 + np.abs(x).max()))


@NAMES
def test_the_bind_pose_is_the_mesh(data_folder, name):
    """By identities, with any character; by its pose of rest too, but for one matrix that puts it into the world, where
    that is how it was bound. The Horse rests in another pose."""
    character = load(data_folder, name)
    skeleton = character.skeleton
    identity = np.tile(np.eye(4), (len(skeleton.joints), 1, 1))
    for blend in (pliant.characters.linear_blend, pliant.characters.dual_quaternion_blend):
        x = blend(character.rest, character.joints, character.weights, identity)
        np.testing.assert_allclose(x, character.rest, atol=1e-12 * (1.0 + np.abs(character.rest).max()))
    transforms = character.transforms()
    common = transforms[0]
    size = np.abs(character.rest @ common[:3, :3].T).max()
    if np.abs(transforms - common).max() < 1e-4 * np.abs(common).max():
        wanted = character.rest @ common[:3, :3].T + common[:3, 3]
        np.testing.assert_allclose(character.pose(), wanted, atol=1e-6 * size)
        np.testing.assert_allclose(character.pose(method="dual quaternion"), wanted, atol=1e-6 * size)
    else:
        assert name == "Quaternius_Horse"


@NAMES
def test_dual_quaternions_stay_close_to_matrices(data_folder, name):
    """Where joints bend little the two agree; nowhere does a vertex run away."""
    character = load(data_folder, name)
    for clip_name, clip in character.clips.items():
        linear = character.pose(clip_name, 0.3 * clip.duration)
        dual = character.pose(clip_name, 0.3 * clip.duration, "dual quaternion")
        size = np.ptp(linear, axis=0).max()
        assert np.abs(dual - linear).max() < 0.1 * size
