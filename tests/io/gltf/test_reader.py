"""What is read from files of all kinds, against the formulas of the specification in plain loops."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import pliant
from pliant.characters.rig.errors import ClipError
from tests.shapes.formulas import agrees_with_the_formulas, is_closed
from tests.shapes.rigs import Builder, bind_matrices, carried, overwrite, simple, tube


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
def test_weights_of_another_sum_are_divided_by_it(tmp_path):
    """Exporters write weights that sum to 1.07; every viewer shows them, and they were refused here."""
    plain = pliant.characters.load(simple().write(tmp_path))
    builder = simple()
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    overwrite(builder, attributes["WEIGHTS_0"], 7, "2f", 1.07, 0.0)
    overwrite(builder, attributes["WEIGHTS_0"], 8, "2f", 0.3, 0.3)
    path = builder.write(tmp_path)
    said = r"vertices do not sum to 1, those of vertex 8 to 0\.6; they are divided by their sum"
    with pytest.warns(UserWarning, match=rf"{path.name}: .*weights of 2 {said}"):
        character = pliant.characters.load(path)
    np.testing.assert_allclose(character.weights.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(character.pose(), plain.pose(), atol=1e-6)
    with pytest.warns(UserWarning, match=said):
        assert np.isfinite(pliant.io.read(path).points).all()


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
