"""What is read from files of all kinds, against the formulas of the specification in plain loops."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import pliant
from pliant.characters.errors import ClipError, SkinError
from tests.reference import gltf
from tests.rigs import Builder, bind_matrices, carried, simple, tube

TIMES = (-1.0, 0.0, 0.3, 1.0, 1.7, 2.0, 9.0)


def expected_positions(path, clip, t, skin=0):
    """Where linear blend skinning puts the vertices of the file."""
    file = gltf.File(path)
    matrices = file.joint_matrices(clip, t, skin)
    return np.array([gltf.skinned(p, i, matrices) for p, i in zip(*file.vertices(skin)[:2])])


def agrees_with_the_formulas(path, *, tolerance=1e-12, skin=0):
    """Vertices and faces as in the file, and all positions at all times."""
    kept = pliant.characters.load(path, weld=False, skin=skin)
    positions, _, faces = gltf.File(path).vertices(skin)
    np.testing.assert_array_equal(kept.rest, positions)
    np.testing.assert_array_equal(kept.mesh.faces, faces)
    size = np.abs(positions).max() + 1.0
    np.testing.assert_allclose(kept.pose(), expected_positions(path, None, 0.0, skin), atol=tolerance * size)
    for place, clip in enumerate(kept.clips):
        for t in TIMES:
            wanted = expected_positions(path, place, t, skin)
            np.testing.assert_allclose(kept.pose(clip, t), wanted, atol=tolerance * size * (1 + np.abs(wanted).max()))
    return kept


def is_closed(mesh):
    """Each edge has two faces, which run along it in opposite directions."""
    sides = np.concatenate([mesh.faces[:, (i, (i + 1) % 3)] for i in range(3)])
    directed = {tuple(side) for side in sides.tolist()}
    return len(directed) == len(sides) and all((b, a) in directed for a, b in directed)


@pytest.mark.unit
@pytest.mark.parametrize("split", [True, False])
def test_a_tube(tmp_path, split):
    path = simple(split).write(tmp_path)
    kept = agrees_with_the_formulas(path)
    assert len(kept.rest) == (60 if split else 12)
    character = pliant.characters.load(path)
    assert len(character.rest) == 12
    assert is_closed(character.mesh)
    assert character.skeleton.names == ("armature", "lower", "upper")
    assert list(character.skeleton.parents) == [-1, 0, 1]
    assert list(character.skeleton.joints) == [1, 2]
    np.testing.assert_allclose(character.pose(), character.bind_pose, atol=1e-15)
    assert repr(character) == "Character('rig', 12 vertices, 20 faces, 2 joints, 1 clips)"
    assert repr(character.skeleton) == "Skeleton(3 nodes, 2 joints)"
    assert repr(character.clips["Bend"]) == "Clip('Bend', 1 channels, 2 s)"


@pytest.mark.unit
def test_data_in_the_text_and_beside_it(tmp_path):
    expected = pliant.characters.load(simple().write(tmp_path)).pose("Bend", 0.7)
    builder = simple()
    (tmp_path / "inline.gltf").write_text(builder.gltf(), encoding="utf-8-sig")
    (tmp_path / "part of it").mkdir()
    (tmp_path / "part of it" / "däta.bin").write_bytes(builder.data + b"more")
    (tmp_path / "beside.gltf").write_text(builder.gltf("part%20of%20it/d%C3%A4ta.bin"))
    for name in ("inline.gltf", "beside.gltf"):
        np.testing.assert_array_equal(pliant.characters.load(tmp_path / name).pose("Bend", 0.7), expected)


def random_quaternions(rng, count):
    q = rng.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def random_rig(rng) -> Builder:
    """Five nodes, of which two matrices, with clips of all interpolations in all kinds of numbers; positions with a
    stride, weights of eight joints as bytes."""
    builder = Builder()
    x, faces = tube(4)
    parts = rng.dirichlet(np.ones(8), len(x)) * 255
    weights = np.floor(parts)
    weights[:, 0] += 255 - weights.sum(axis=1)
    joints = rng.integers(0, 3, (len(x), 8))
    primitive = {
        "attributes": {
            "POSITION": builder.accessor(x + rng.normal(size=x.shape), stride=20),
            "JOINTS_0": builder.accessor(joints[:, :4], "u1"),
            "JOINTS_1": builder.accessor(joints[:, 4:], "u2", stride=12),
            "WEIGHTS_0": builder.accessor(weights[:, :4], "u1", normalized=True, stride=8),
            "WEIGHTS_1": builder.accessor(weights[:, 4:], "u1", normalized=True),
        },
        "indices": builder.accessor(faces.ravel(), "u4"),
    }
    turned = np.eye(4)  # written row by row, it is read as its transpose
    turned[:3, :3] = rng.uniform(0.5, 2.0, (3, 1)) * np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned[1, :3] *= rng.choice([-1.0, 1.0])  # some mirror
    turned[3, :3] = rng.normal(size=3)
    matrices = rng.normal(size=(3, 4, 4))
    matrices[:, :, 3] = (0.0, 0.0, 0.0, 1.0)
    builder.json |= {
        "meshes": [{"primitives": [primitive]}],
        "nodes": [
            {"children": [3]},
            {"name": "b", "mesh": 0, "skin": 0},
            {"name": "c", "rotation": random_quaternions(rng, 1)[0].tolist(), "scale": [1.0, -2.0, 0.5]},
            {"name": "d", "matrix": turned.ravel().tolist(), "children": [2, 4]},
            {"name": "e", "translation": rng.normal(size=3).tolist()},
        ],
        "skins": [{"joints": [4, 2, 3], "inverseBindMatrices": builder.accessor(matrices.reshape(3, 16))}],
        "animations": [random_clip(builder, rng, mode) for mode in ("LINEAR", "STEP", "CUBICSPLINE")],
    }
    return builder


def random_clip(builder: Builder, rng, mode: str) -> dict:
    times = builder.accessor(np.sort(rng.uniform(0.0, 2.0, 5)), stride=8)
    count = 15 if mode == "CUBICSPLINE" else 5
    turns = random_quaternions(rng, count)
    outputs = [
        ("rotation", 2, builder.accessor(turns)),
        ("rotation", 0, builder.accessor(np.round(turns * 32767), "i2", normalized=True, stride=12)),
        ("rotation", 4, builder.accessor(np.round(turns * 127), "i1", normalized=True)),
        ("translation", 4, builder.accessor(rng.normal(size=(count, 3)))),
        ("translation", 0, builder.sparse(count, 3, [1, 3], rng.normal(size=(2, 3)))),
        ("scale", 2, builder.accessor(rng.uniform(-2.0, 2.0, (count, 3)))),
        # -128 stands for -1, as -127 does
        ("scale", 4, builder.accessor(rng.choice([-128, -127, 0, 127], (count, 3)), "i1", normalized=True, stride=4)),
    ]
    return {
        "samplers": [{"input": times, "output": output, "interpolation": mode} for _, _, output in outputs],
        "channels": [
            {"sampler": i, "target": {"node": node, "path": path}} for i, (path, node, _) in enumerate(outputs)
        ],
    }


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("seed", range(4))
def test_a_random_rig(tmp_path, seed):
    kept = agrees_with_the_formulas(random_rig(np.random.default_rng(seed)).write(tmp_path), tolerance=1e-11)
    assert list(kept.clips) == ["clip 0", "clip 1", "clip 2"]
    assert kept.skeleton.names == ("node 0", "d", "c", "e")


@pytest.mark.unit
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("mode", [5, 6])
def test_strips_and_fans(tmp_path, mode, indexed):
    builder = simple(split=False)
    primitive = builder.json["meshes"][0]["primitives"][0]
    primitive["mode"] = mode
    primitive["indices"] = builder.accessor([0, 4, 1, 5, 5, 2, 2, 6, 3, 7, 0, 4], "u1")
    if not indexed:
        del primitive["indices"]
    agrees_with_the_formulas(builder.write(tmp_path))


@pytest.mark.unit
def test_a_strip_turns_its_faces_alike(tmp_path):
    """Around the sides of a tube every edge between two faces is run along in opposite directions."""
    builder = simple(split=False)
    builder.json["meshes"][0]["primitives"][0] |= {
        "mode": 5,
        "indices": builder.accessor([0, 4, 1, 5, 2, 6, 3, 7, 0, 4], "u1"),
    }
    faces = pliant.characters.load(builder.write(tmp_path)).mesh.faces
    sides = {(int(f[i]), int(f[(i + 1) % 3])) for f in faces for i in range(3)}
    assert len(faces) == 8
    assert len(sides) == 24


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


@pytest.mark.unit
def test_quantized_positions_and_rounded_weights(tmp_path):
    """KHR_mesh_quantization: positions are integers, and the bind matrices take them to their size. Weights of one byte
    that were each rounded do not sum to 255."""
    builder = simple()
    x, faces = tube()
    corners = faces.ravel()
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(4), 12)
    rounded = np.round(weights * 255)
    assert (rounded.sum(axis=1) != 255).any()
    matrices = bind_matrices().reshape(2, 4, 4)
    matrices[:, :3, :3] /= 1000.0
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["POSITION"] = builder.accessor(x[corners] * 1000, "i2", stride=8)
    attributes["WEIGHTS_0"] = builder.accessor(rounded[corners], "u1", normalized=True)
    builder.json["skins"][0]["inverseBindMatrices"] = builder.accessor(matrices.reshape(2, 16))
    builder.json["extensionsRequired"] = ["KHR_mesh_quantization", "KHR_materials_unlit", "KHR_texture_transform"]
    path = builder.write(tmp_path)
    agrees_with_the_formulas(path)
    character = pliant.characters.load(path)
    np.testing.assert_allclose(character.weights.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(character.pose(), x, atol=1e-6)
    np.testing.assert_allclose(character.pose(method="dual quaternion"), x, atol=1e-6)


@pytest.mark.unit
def test_sparse_positions(tmp_path):
    """Zeros with some rows replaced, and rows of an accessor replaced."""
    builder = simple(split=False)
    x, _ = tube()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["POSITION"] = builder.sparse(12, 3, np.arange(12), x * 1.5)
    agrees_with_the_formulas(builder.write(tmp_path))
    base = builder.accessor(x)
    builder.json["accessors"][base]["sparse"] = builder.json["accessors"][builder.sparse(12, 3, [3], x[:1])]["sparse"]
    attributes["POSITION"] = base
    kept = agrees_with_the_formulas(builder.write(tmp_path))
    assert kept.rest[3].tolist() == x[0].tolist()


@pytest.mark.unit
def test_no_bind_matrices_are_identities(tmp_path):
    builder = simple()
    del builder.json["skins"][0]["inverseBindMatrices"]
    agrees_with_the_formulas(builder.write(tmp_path))


@pytest.mark.unit
def test_a_joint_of_weight_zero_may_be_any(tmp_path):
    builder = simple(split=False)
    x, _ = tube()
    joints, _ = carried(x)
    joints[:, 3] = 255
    builder.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = builder.accessor(joints, "u1")
    character = pliant.characters.load(builder.write(tmp_path), weld=False)
    np.testing.assert_allclose(character.pose(), x, atol=1e-15)


@pytest.mark.unit
def test_clips_by_name(tmp_path):
    builder = simple()
    clip = builder.json["animations"][0]
    names = ("Rig|Walk", "Rig|Run", "Other|Run", "Walk 2", None, "Rig|Walk")
    builder.json["animations"] = [clip | {"name": name} for name in names]
    del builder.json["animations"][4]["name"]
    character = pliant.characters.load(builder.write(tmp_path))
    assert list(character.clips) == ["Rig|Walk", "Rig|Run", "Other|Run", "Walk 2", "clip 4", "Rig|Walk 2"]
    assert character.clip("Walk") is character.clips["Rig|Walk"]
    assert character.clip("Walk 2") is character.clips["Walk 2"]
    for name in ("Run", "walk", ""):
        with pytest.raises(ClipError, match=r"rig has no clip .*, but 'Rig\|Walk', 'Rig\|Run'"):
            character.pose(name, 0.0)
    del builder.json["animations"]
    with pytest.raises(ClipError, match="rig has no clip 'Walk', but none at all"):
        pliant.characters.load(builder.write(tmp_path)).transforms("Walk", 0.0)


@pytest.mark.unit
def test_a_deep_skeleton(tmp_path):
    builder = simple()
    depth = 3 * sys.getrecursionlimit()
    chain = [{"children": [5 + i]} for i in range(depth)]
    chain[-1]["children"] = [0]
    builder.json["nodes"] += chain
    character = pliant.characters.load(builder.write(tmp_path))
    assert len(character.skeleton.names) == depth + 3
    np.testing.assert_allclose(character.pose(), character.rest, atol=1e-15)
