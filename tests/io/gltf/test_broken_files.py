"""Files that are not what they should be: each a named error that says where, none a crash and none a surprise."""

from __future__ import annotations

import copy
import json
import math
import struct
import warnings

import numpy as np
import pytest

import pliant
from pliant.characters.rig.errors import (
    AccessorError,
    ClipError,
    FormatError,
    RigError,
    SkeletonError,
    SkinError,
    UnsupportedError,
)
from pliant.runtime.reading import FileError
from tests.shapes.rigs import Builder, assemble, overwrite, simple

JSON, BIN = 0x4E4F534A, 0x004E4942
POSITION, JOINTS, WEIGHTS = 0, 1, 2  # accessors of `simple()`
TIMES, TURNS, BINDS = 3, 4, 5


def load_bytes(folder, content, name="rig.glb"):
    path = folder / name
    path.write_bytes(content)
    return pliant.characters.load(path)


def primitive(builder: Builder) -> dict:
    return builder.json["meshes"][0]["primitives"][0]


def _set(*path_and_value):
    *path, last, value = path_and_value

    def change(builder: Builder) -> None:
        target = builder.json
        for key in path:
            target = target[key]
        target[last] = value

    return change


def _without(*path):
    def change(builder: Builder) -> None:
        target = builder.json
        for key in path[:-1]:
            target = target[key]
        del target[path[-1]]

    return change


def _over(*arguments):
    return lambda builder: overwrite(builder, *arguments)


ATTRIBUTES = ("meshes", 0, "primitives", 0, "attributes")
# name: what is done to a file that is right, the error, and what it has to say beside the name of the file
BROKEN = {
    "no skin": (_without("skins"), SkinError, "there are no skins"),
    "skin without joints": (_set("skins", 0, "joints", []), SkinError, r"skins\[0\]: has no joints"),
    "joint twice": (_set("skins", 0, "joints", [1, 1]), SkinError, r"nodes\[1\] is a joint twice"),
    "joint that is no node": (_set("skins", 0, "joints", [1, 70]), FormatError, r"nodes\[70\], but there are 4"),
    "skin on no mesh": (_without("nodes", 3, "skin"), SkinError, "carries no triangles"),
    "no POSITION": (_without(*ATTRIBUTES, "POSITION"), SkinError, "POSITION is missing"),
    "no JOINTS": (_without(*ATTRIBUTES, "JOINTS_0"), SkinError, "JOINTS_0 is missing"),
    "no WEIGHTS": (_without(*ATTRIBUTES, "WEIGHTS_0"), SkinError, "WEIGHTS_0 is missing"),
    "JOINTS_1 alone": (_set(*ATTRIBUTES, "JOINTS_1", JOINTS), SkinError, "WEIGHTS_1 is missing"),
    "NaN weight": (_over(WEIGHTS, 7, "f", math.nan), AccessorError, "WEIGHTS_0: element 7 holds nan"),
    "negative weight": (_over(WEIGHTS, 7, "2f", -0.5, 1.5), SkinError, "vertex 7 has a negative weight"),
    "weights of sum 0": (_over(WEIGHTS, 7, "4f", 0, 0, 0, 0), SkinError, "vertex 7 has weights that sum to 0"),
    "joint out of range": (_over(JOINTS, 5, "2B", 2, 2), SkinError, "vertex 5 has a joint that is not among the 2"),
    "infinite position": (_over(POSITION, 3, "f", math.inf), AccessorError, "POSITION: element 3 holds inf"),
    "fewer weights": (_set("accessors", WEIGHTS, "count", 50), SkinError, "WEIGHTS_0 has 50 elements"),
    "corners left over": (
        lambda b: [_set("accessors", i, "count", 58)(b) for i in (POSITION, JOINTS, WEIGHTS)],
        SkinError,
        "58 corners are not a whole number",
    ),
    "cyclic skeleton": (_set("nodes", 2, "children", [0]), SkeletonError, "is above itself"),
    "node that is its own parent": (_set("nodes", 2, "children", [2]), SkeletonError, r"child nodes\[2\]"),
    "node with two parents": (_set("nodes", 0, "children", [1, 2, 3]), SkeletonError, r"child of nodes\[0\] already"),
    "child that is no node": (_set("nodes", 2, "children", [4]), SkeletonError, r"nodes\[4\], but there are 4"),
    "zero rotation": (_set("nodes", 1, "rotation", [0, 0, 0, 0]), SkeletonError, r"nodes\[1\].*of length 0"),
    "singular matrix": (
        _set("nodes", 1, "matrix", [0] * 15 + [1]),
        SkeletonError,
        r"nodes\[1\]: the matrix is singular",
    ),
    "shearing matrix": (
        _set("nodes", 1, "matrix", [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
        SkeletonError,
        "is not a translation, rotation and scale",
    ),
    "projective matrix": (_set("nodes", 1, "matrix", [1] * 16), SkeletonError, r"nodes\[1\]"),
    "infinite translation": (_set("nodes", 1, "translation", [0, 1e999, 0]), FormatError, r"Infinity|finite"),
    "text for numbers": (_set("nodes", 1, "scale", "big"), FormatError, "scale has to be a list of 3 numbers"),
    "singular bind matrix": (_over(BINDS, 1, "16f", *[0] * 15, 1), SkinError, "inverse bind matrix 1 is singular"),
    "bind matrix with another last row": (_over(BINDS, 0, "4f", 1, 0, 0, 5), SkinError, "has no last row 0 0 0 1"),
    "NaN in a bind matrix": (_over(BINDS, 1, "f", math.nan), AccessorError, "inverseBindMatrices: element 1 holds nan"),
    "fewer bind matrices": (_set("accessors", BINDS, "count", 1), SkinError, "1 inverseBindMatrices for 2 joints"),
    "times that go back": (_over(TIMES, 2, "f", 0.5), ClipError, r"animations\[0\].*key 2 is earlier"),
    "NaN time": (_over(TIMES, 1, "f", math.nan), AccessorError, "input: element 1 holds nan"),
    "zero quaternion": (_over(TURNS, 1, "4f", 0, 0, 0, 0), ClipError, "key 1 is a quaternion of length zero"),
    "fewer values than times": (_set("accessors", TURNS, "count", 2), ClipError, "2 values for 3 times"),
    "cubic without tangents": (
        _set("animations", 0, "samplers", 0, "interpolation", "CUBICSPLINE"),
        ClipError,
        "3 values for 3 times, where 9 are needed",
    ),
    "unknown interpolation": (
        _set("animations", 0, "samplers", 0, "interpolation", "ELASTIC"),
        ClipError,
        "'ELASTIC' is not known",
    ),
    "unknown path": (_set("animations", 0, "channels", 0, "target", "path", "colour"), ClipError, "'colour'"),
    "no such sampler": (_set("animations", 0, "channels", 0, "sampler", 3), ClipError, "sampler 3, but there are 1"),
    "one path by two channels": (
        lambda b: b.json["animations"][0]["channels"].append(b.json["animations"][0]["channels"][0]),
        ClipError,
        "channel 1: a second one for the rotation of node 2",
    ),
    "huge count": (_set("accessors", POSITION, "count", 2**31 - 2), AccessorError, "elements need .* bytes"),
    "more than can be counted": (_set("accessors", POSITION, "count", 10**12), FormatError, "at most"),
    "huge count without data": (
        lambda b: [_set("accessors", POSITION, "count", 10**9)(b), _without("accessors", POSITION, "bufferView")(b)],
        FileError,
        "would become more than",
    ),
    "count of zero": (_set("accessors", POSITION, "count", 0), FormatError, "count is 0"),
    "negative offset": (_set("accessors", POSITION, "byteOffset", -4), FormatError, "byteOffset is -4"),
    "accessor past its view": (_set("accessors", POSITION, "byteOffset", 4), AccessorError, r"accessors\[0\]: 60"),
    "view past its buffer": (_set("bufferViews", 0, "byteLength", 10**9), AccessorError, "of a buffer that has"),
    "stride too small": (_set("bufferViews", 0, "byteStride", 8), AccessorError, "byteStride 8 is less than the 12"),
    "stride of zero": (_set("bufferViews", 0, "byteStride", 0), AccessorError, "byteStride 0"),
    "wrong type": (_set("accessors", POSITION, "type", "VEC2"), AccessorError, "has to be VEC3, but is VEC2"),
    "unknown component": (_set("accessors", POSITION, "componentType", 5124), AccessorError, "5124 is not known"),
    "joints as floats": (_set("accessors", JOINTS, "componentType", 5126), AccessorError, "unsigned integers"),
    "no such accessor": (_set(*ATTRIBUTES, "POSITION", 99), FormatError, r"accessors\[99\], but there are 6"),
    "no such view": (_set("accessors", POSITION, "bufferView", 99), FormatError, r"bufferViews\[99\], but there are 6"),
    "no such buffer": (_set("bufferViews", 0, "buffer", 1), FormatError, r"buffers\[1\], but there are 1"),
    "no such mesh": (_set("nodes", 3, "mesh", 7), FormatError, r"meshes\[7\], but there are 1"),
    "buffer longer than its chunk": (_set("buffers", 0, "byteLength", 10**6), FormatError, "the binary chunk has"),
    "unknown mode": (_set("meshes", 0, "primitives", 0, "mode", 9), FormatError, "mode is 9"),
    "only lines": (_set("meshes", 0, "primitives", 0, "mode", 1), SkinError, "carries no triangles"),
    "Draco": (
        _set("extensionsRequired", ["KHR_draco_mesh_compression"]),
        UnsupportedError,
        "KHR_draco_mesh_compression is not supported",
    ),
    "meshopt": (
        _set("extensionsRequired", ["KHR_mesh_quantization", "EXT_meshopt_compression"]),
        UnsupportedError,
        "EXT_meshopt_compression is not supported",
    ),
    "Draco that is not required, without a copy": (
        lambda b: [
            _set("meshes", 0, "primitives", 0, "extensions", {"KHR_draco_mesh_compression": {}})(b),
            _without("accessors", POSITION, "bufferView")(b),
        ],
        UnsupportedError,
        r"primitives\[0\]: is compressed by KHR_draco_mesh_compression",
    ),
    "glTF 1": (_set("asset", "version", "1.0"), UnsupportedError, "version '1.0'"),
    "no asset": (_without("asset"), FormatError, "asset: version has to be text"),
    "a list for an object": (_set("nodes", 1, []), FormatError, r"nodes\[1\]: has to be an object"),
    "an object for a list": (_set("nodes", {}), FormatError, "nodes has to be a list"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.unit
def test_a_broken_file(tmp_path, name):
    change, error, message = BROKEN[name]
    builder = simple()
    change(builder)
    with pytest.raises(error, match=rf"(?s)^rig\.glb: .*{message}"):
        pliant.characters.load(builder.write(tmp_path))


def test_indices_out_of_range(tmp_path):
    builder = simple(split=False)
    overwrite(builder, primitive(builder)["indices"], 4, "H", 12)
    with pytest.raises(SkinError, match=r"primitives\[0\]: index 4 is vertex 12, but there are 12"):
        pliant.characters.load(builder.write(tmp_path))


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"", FormatError, "byte 0"),
        (b"glTF", FormatError, "cut off"),
        (b"gltF" + simple().glb()[4:], FormatError, "begins with"),
        (b"glTF" + struct.pack("<II", 1, 12), UnsupportedError, "version 1"),
        (simple().glb()[:-1], FormatError, "cut off"),
        (simple().glb() + b"\0", FormatError, "are declared"),
        (b"glTF" + struct.pack("<II", 2, 12), FormatError, "first chunk"),
        (assemble((BIN, b"1234")), FormatError, "first chunk"),
        (assemble((JSON, b"{}"))[:8] + struct.pack("<III", 22, 200, JSON) + b"{}", FormatError, "chunk 0 has 200"),
        (assemble((JSON, b"{}"), (BIN, b""))[:8] + struct.pack("<III", 25, 2, JSON) + b"{}abc", FormatError, "3 bytes"),
        (assemble((JSON, b"{'a': 1}")), FormatError, "JSON cannot be read"),
        (assemble((JSON, b'{"a": NaN}')), FormatError, "NaN is not a number"),
        (assemble((JSON, b"\xff\xfe{}")), FormatError, "JSON cannot be read"),
        (assemble((JSON, b"[" * 100_000)), FormatError, "JSON cannot be read"),
        (assemble((JSON, b"[1, 2]")), FormatError, "is not an object"),
        (assemble((JSON, json.dumps(simple().json).encode())), FormatError, r"buffers\[0\]"),
    ],
)
@pytest.mark.unit
def test_a_broken_container(tmp_path, content, error, message):
    with pytest.raises(error, match=rf"(?s)^rig\.glb: .*{message}"):
        load_bytes(tmp_path, content)


@pytest.mark.unit
def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FormatError, match=r"none\.glb: there is no such file"):
        pliant.characters.load(tmp_path / "none.glb")
    with pytest.raises(FormatError, match="this is a folder"):
        pliant.characters.load(tmp_path)


@pytest.mark.parametrize(
    "uri",
    ["../data.bin", "a/../../data.bin", "%2e%2e/data.bin", "/data.bin", "C:/data.bin", "C%3A/data.bin", "..\\data.bin"]
    + ["\\\\host\\data.bin", "//host/data.bin", "file:///data.bin", "https://example.com/data.bin", "", "missing.bin"]
    + ["data.bin%00", "x" * 5000, "data:,abc", "data:;base64,$$$$", "data:;base64,AAAA"],
)
@pytest.mark.unit
def test_a_buffer_that_cannot_be_read(tmp_path, uri):
    inner = tmp_path / "inner"
    inner.mkdir()
    builder = simple()
    (tmp_path / "data.bin").write_bytes(builder.data)
    (inner / "rig.gltf").write_text(builder.gltf(uri))
    with pytest.raises((FormatError, UnsupportedError), match=r"^rig\.gltf: buffers\[0\]: "):
        pliant.characters.load(inner / "rig.gltf")


@pytest.mark.unit
def test_a_buffer_beside_the_file_that_is_cut_off(tmp_path):
    builder = simple()
    (tmp_path / "rig.gltf").write_text(builder.gltf("data.bin"))
    (tmp_path / "data.bin").write_bytes(builder.data[:-1])
    with pytest.raises(FormatError, match=r"buffers\[0\]: cut off"):
        pliant.characters.load(tmp_path / "rig.gltf")


def test_a_file_that_is_cut_off_anywhere(tmp_path):
    content = simple().glb()
    for length in [*range(64), *range(64, len(content), 97)]:
        with pytest.raises(RigError):
            load_bytes(tmp_path, content[:length])


JUNK = (None, True, -1, 3, 2**31, 10**400, 1.5, 1e300, "x", "", [], [[]], {}, [None], [0, 0], {"x": 1})


def junk_everywhere(value):
    """Every JSON that differs from this one by junk in one place, or by one entry that is missing."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            for other in [*JUNK, *junk_everywhere(value[key])]:
                changed = copy.copy(value)
                changed[key] = other
                yield changed
            changed = copy.copy(value)
            del changed[key]
            yield changed


def test_junk_anywhere_in_the_json(tmp_path):
    builder = simple()
    builder.glb()
    count, messages = 0, []
    text = json.dumps(builder.json)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for changed in junk_everywhere(json.loads(text)):
            content = json.dumps(changed, allow_nan=False).encode() if changed else b"{}"
            count += 1
            try:
                character = load_bytes(tmp_path, assemble((JSON, content), (BIN, bytes(builder.data))))
            except RigError as error:
                messages.append(str(error))
            else:
                # What is read is fit for use, huge numbers apart.
                assert "1e+300" in content.decode() or np.isfinite(character.pose()).all()
    assert count > 1500
    assert 0.3 < len(messages) / count < 0.95
    assert [message for message in messages if not message.startswith("rig.glb: ")] == []


def test_junk_anywhere_in_the_bytes(tmp_path):
    content = simple().glb()
    rng = np.random.default_rng(0)
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(400):
            changed = bytearray(content)
            for place in rng.integers(0, len(content), 2):
                changed[place] = rng.integers(0, 256)
            try:
                load_bytes(tmp_path, bytes(changed))
            except RigError:
                refused += 1
    assert 100 < refused < 390
