"""Several primitives, nodes and skins of a file; vertices that are welded."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant
from pliant.characters.rig.errors import SkinError
from tests.shapes.formulas import agrees_with_the_formulas, expected_positions, is_closed
from tests.shapes.rigs import Builder, carried, simple, tube


@pytest.mark.unit
def test_several_primitives_meshes_and_nodes_of_one_skin(tmp_path):
    builder = simple(split=False)
    _, faces = tube()
    primitive = builder.json["meshes"][0]["primitives"][0]
    parts = [builder.accessor(part.ravel(), "u2") for part in (faces[:7], faces[7:11], faces[11:])]
    builder.json["meshes"] = [
        {"primitives": [primitive | {"indices": parts[0]}, primitive | {"indices": parts[1]}]},
        {"primitives": [primitive | {"indices": parts[2]}]},
    ]
    builder.json["nodes"] += [{"mesh": 1, "skin": 0}, {"mesh": 1, "skin": 0, "scale": [3, 3, 3]}]
    path = builder.write(tmp_path)
    character = pliant.characters.load(path)
    assert len(character.rest) == 12
    assert is_closed(character.mesh)
    # Accessors that primitives share are read once.
    kept = pliant.characters.load(path, weld=False)
    assert len(kept.rest) == 12
    assert len(kept.mesh.faces) == 20


@pytest.mark.unit
def test_vertices_of_one_position_and_other_weights_are_welded_to_their_mean(tmp_path):
    x, faces = tube()
    corners = faces.ravel()
    _, weights = carried(x)
    rng = np.random.default_rng(3)
    mixed = weights[corners] + np.pad(rng.uniform(0.0, 1.0, (60, 1)), ((0, 0), (0, 3)))
    mixed /= mixed.sum(axis=1)[:, None]
    builder = simple()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = builder.accessor(mixed)
    position = x[corners].astype("f4")
    position[position == 0.0] *= rng.choice([-1.0, 1.0], np.count_nonzero(position == 0.0))  # -0.0 is at 0.0 too
    attributes["POSITION"] = builder.accessor(position)
    path = builder.write(tmp_path)
    character = pliant.characters.load(path)
    assert is_closed(character.mesh)
    assert len(character.rest) == 12
    np.testing.assert_allclose(character.weights.sum(axis=1), 1.0, atol=1e-15)
    assert (np.diff(character.weights, axis=1) <= 0.0).all()
    parts = expected_positions(path, 0, 0.8)
    for vertex, place in enumerate(character.rest):
        wanted = parts[(position == place).all(axis=1)].mean(axis=0)
        np.testing.assert_allclose(character.pose("Bend", 0.8)[vertex], wanted, atol=1e-7)


@pytest.mark.unit
def test_welding_leaves_out_what_has_collapsed_and_what_is_unused(tmp_path):
    builder = simple(split=False)
    x, faces = tube()
    joints, weights = carried(x)
    more = np.concatenate([[(7, 7, 7)], x, x[:1], [(8, 8, 8)]])  # vertices 0 and 14 have no face but a collapsed one
    rows = np.r_[0, np.arange(12), 0, 0]
    builder.json["meshes"][0]["primitives"][0] = {
        "attributes": {
            "POSITION": builder.accessor(more),
            "JOINTS_0": builder.accessor(joints[rows], "u1"),
            "WEIGHTS_0": builder.accessor(weights[rows]),
        },
        "indices": builder.accessor(np.concatenate([(faces + 1).ravel(), [1, 13, 2, 14, 14, 3]]), "u2"),
    }
    path = builder.write(tmp_path)
    character = pliant.characters.load(path)
    assert character.rest.tolist() == x.tolist()
    assert is_closed(character.mesh)
    assert len(pliant.characters.load(path, weld=False).rest) == 15


@pytest.mark.unit
def test_a_surface_of_which_welding_leaves_nothing(tmp_path):
    builder = simple()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["POSITION"] = builder.accessor(np.ones((60, 3)))
    path = builder.write(tmp_path)
    assert len(pliant.characters.load(path, weld=False).mesh.faces) == 20
    with pytest.raises(SkinError, match=r"rig\.glb: skins\[0\]: all its triangles have collapsed"):
        pliant.characters.load(path)


def two_skins() -> Builder:
    """The tube, and a single triangle on another skin."""
    builder = simple()
    primitive = builder.json["meshes"][0]["primitives"][0]
    short = {
        name: builder.accessor(np.eye(3) if name == "POSITION" else [[0, 0, 0, 0]] * 3, kind)
        for name, kind in (("POSITION", "f4"), ("JOINTS_0", "u1"))
    }
    short["WEIGHTS_0"] = builder.accessor([[1, 0, 0, 0]] * 3)
    builder.json["meshes"] = [{"primitives": [primitive | {"attributes": short}]}, {"primitives": [primitive]}]
    builder.json["skins"] = [{"name": "badge", "joints": [2]}, builder.json["skins"][0]]
    builder.json["nodes"][3] |= {"mesh": 1, "skin": 1}
    builder.json["nodes"].append({"mesh": 0, "skin": 0})
    return builder


@pytest.mark.unit
def test_of_several_skins_the_largest_or_the_one_that_is_named(tmp_path):
    path = two_skins().write(tmp_path)
    with pytest.warns(UserWarning, match=r"rig\.glb: left out: skins 'badge'; 'skin 1' carries most vertices"):
        assert len(pliant.characters.load(path).rest) == 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for skin in (1, "skin 1"):
            assert len(pliant.characters.load(path, skin=skin).rest) == 12
        for skin in (0, "badge"):
            badge = pliant.characters.load(path, skin=skin)
            assert len(badge.rest) == 3
            assert badge.skeleton.names == ("armature", "lower", "upper")  # the nodes above its joint, too
        agrees_with_the_formulas(path, skin=0)
    for skin in ("hat", 2, True):
        with pytest.raises(SkinError, match="there are 'badge', 'skin 1'"):
            pliant.characters.load(path, skin=skin)


@pytest.mark.unit
def test_what_is_left_out_is_said(tmp_path):
    builder = simple()
    primitive = builder.json["meshes"][0]["primitives"][0]
    lines = dict(primitive) | {"mode": 1}
    primitive["targets"] = [{"POSITION": 0}]
    builder.json["meshes"][0]["primitives"].append(lines)
    builder.json["nodes"].append({"mesh": 0})
    builder.json["animations"] += [
        {"name": "Smile", "samplers": [], "channels": [{"sampler": 0, "target": {"node": 3, "path": "weights"}}]},
        {"name": "Camera", "samplers": [], "channels": [{"sampler": 0, "target": {"node": 3, "path": "scale"}}]},
    ]
    with pytest.warns(UserWarning, match="left out") as caught:
        character = pliant.characters.load(builder.write(tmp_path))
    said = sorted(str(warning.message).removeprefix("rig.glb: left out: ") for warning in caught)
    assert said == ["1 meshes without a skin", "1 primitives of points or lines", "morph targets of 1 primitives"]
    assert list(character.clips) == ["Bend"]
    assert all(warning.filename == __file__ for warning in caught)
