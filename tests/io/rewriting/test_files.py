"""Files with other positions: everything else in them comes out byte for byte, in every format."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant import io as pio
from pliant.runtime.writing import OutputError

pytestmark = pytest.mark.unit

OBJ = b"""# made by hand\r
mtllib a.mtl
o body
v  1.0 2.0\t3.00 0.5 0.5 0.5  # with a colour
v 0 1 0
vt 0.25 0.75
vn 0 0 1
v 1e0 1 \\
  0
g left arm
usemtl red
s 1
f 1/1/1 2/1/1 3/1/1
v 5 5 5 1.0
v +7. 5 6
f -1 2 -2 1
l 1 2
"""


def elsewhere(path: Path, rows: list[int]) -> np.ndarray:
    """Positions of a file with some vertices moved, by numbers that float32 holds too."""
    x = pio.read(path).points.copy()
    x[rows] += np.array([0.125, -0.5, 2.0**-20])
    return x


def rewritten(tmp_path: Path, name: str, content: bytes, rows: list[int]) -> tuple[bytes, np.ndarray]:
    source, target = tmp_path / name, tmp_path / f"out.{name}"
    source.write_bytes(content)
    x = elsewhere(source, rows)
    pio.rewrite(target, source, x)
    np.testing.assert_array_equal(pio.read(target).points, x)
    assert source.read_bytes() == content
    return target.read_bytes(), x


@pytest.mark.filterwarnings("ignore:.*left out")
def test_obj_keeps_all_but_the_numbers(tmp_path: Path):
    out, _ = rewritten(tmp_path, "a.obj", OBJ, [0, 2, 3])
    expected = OBJ.replace(b"v  1.0 2.0\t3.00 0.5", b"v  1.125 1.5\t3.00000095367431640625 0.5")
    expected = expected.replace(b"3.00000095367431640625", repr(3 + 2.0**-20).encode())
    expected = expected.replace(b"v 1e0 1 \\\n  0", b"v 1.125 0.5 \\\n  " + repr(2.0**-20).encode())
    expected = expected.replace(b"v 5 5 5 1.0", b"v 5.125 4.5 " + repr(5 + 2.0**-20).encode() + b" 1.0")
    assert out == expected


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_marks_of_encodings_stay(tmp_path: Path, encoding: str):
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    out, _ = rewritten(tmp_path, "a.obj", (mark + OBJ.decode()).encode(encoding), [1])
    plain, _ = rewritten(tmp_path, "b.obj", OBJ, [1])
    assert out == (mark + plain.decode()).encode(encoding)


@pytest.mark.filterwarnings("ignore:.*left out")
def test_packed_files_are_packed_again(tmp_path: Path):
    out, _ = rewritten(tmp_path, "a.obj.gz", gzip.compress(OBJ), [1])
    plain, _ = rewritten(tmp_path, "b.obj", OBJ, [1])
    assert gzip.decompress(out) == plain


OFF = b"""COFF # a comment
# another
4 2 0
0 0 0 255 0 0 255
1 0 0\t0 255 0 255   # green

0 1 0 0 0 255 255
0 0 1 9 9 9 9
3 0 1 2 0.5 0.5 0.5
3 0 1 3
"""


def test_off_keeps_colours_and_comments(tmp_path: Path):
    out, _ = rewritten(tmp_path, "a.off", OFF, [1])
    assert out == OFF.replace(b"1 0 0\t0", b"1.125 -0.5 " + repr(2.0**-20).encode() + b"\t0")


PLY = b"""ply
format %s 1.0
comment made by hand
obj_info kept
element extra 2
property list uchar short numbers
element vertex 4
property uchar red
property float x
property double z
property float y
property float quality
element face 2
property list uchar int vertex_indices
property uchar flag
end_header
"""


def ply_body(order: str) -> bytes:
    vertices = [(255, 0.5, 3.0, 1.0, 0.1), (1, 1, 0, 0, 0.2), (2, 0, 0, 1, 0.3), (3, 0, 1, 0, 0.4)]
    if not order:
        lines = ["2 5 6", "1 7", "", *(" ".join(map(str, row)) + " " for row in vertices), "3 0 1 2 9", "4 0 1 2 3 8"]
        return ("\n".join(lines) + "\n").encode()
    body = struct.pack(order + "BhhBh", 2, 5, 6, 1, 7)
    body += b"".join(struct.pack(order + "Bfdff", *row) for row in vertices)
    return body + struct.pack(order + "B3iB", 3, 0, 1, 2, 9) + struct.pack(order + "B4iB", 4, 0, 1, 2, 3, 8)


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize(
    ("name", "order"), [(b"ascii", ""), (b"binary_little_endian", "<"), (b"binary_big_endian", ">")]
)
def test_ply_keeps_all_other_properties_and_elements(tmp_path: Path, name: bytes, order: str):
    head, body = PLY % name, ply_body(order)
    out, x = rewritten(tmp_path, "a.ply", head + body, [0])
    if order:
        row = struct.pack(order + "Bfdff", 255, *x[0, [0, 2, 1]], 0.1)
        assert out == head + body.replace(struct.pack(order + "Bfdff", 255, 0.5, 3.0, 1.0, 0.1), row)
    else:
        text = f"255 0.625 {float(x[0, 2])!r} 0.5 0.1 ".encode()
        assert out == head + body.replace(b"255 0.5 3.0 1.0 0.1 ", text)


@pytest.mark.filterwarnings("ignore:.*left out")
def test_ply_of_whole_numbers_is_refused(tmp_path: Path):
    head = (PLY % b"ascii").replace(b"property float x", b"property int x").replace(b"property float quality\n", b"")
    (tmp_path / "a.ply").write_bytes(head + b"0\n0\n" + 4 * b"1 2 3 4\n" + b"3 0 1 2 9\n3 0 1 2 9\n")
    x = elsewhere(tmp_path / "a.ply", [0])
    with pytest.raises(OutputError, match="whole numbers"):
        pio.rewrite(tmp_path / "b.ply", tmp_path / "a.ply", x)
    assert not (tmp_path / "b.ply").exists()


def test_stl_keeps_attributes_and_normals_of_what_stays(tmp_path: Path):
    facet = struct.Struct("<12fH")
    head = b"solid? no".ljust(80) + struct.pack("<I", 2)
    still = facet.pack(9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 77)  # a normal that is wrong stays as it is
    moves = facet.pack(9, 9, 9, 0, 0, 4, 1, 0, 4, 0, 1, 4, 78)
    out, x = rewritten(tmp_path, "a.stl", head + still + moves, [3, 4, 5])
    assert out[: 84 + 50] == head + still
    assert facet.unpack(out[84 + 50 :]) == (0, 0, 1, *x[3:].reshape(-1).tolist(), 78)


def test_stl_in_text(tmp_path: Path):
    facets = (
        "facet normal 9 9 9\n outer loop\n  vertex 0 0 {z}\n  vertex  1 0 {z}\n  vertex 0 1 {z}\n endloop\nendfacet\n"
    )
    content = "solid a b\n" + facets.format(z=0) + facets.format(z=4).replace("9 9 9", "0 0 -1") + "endsolid a b\n"
    out, x = rewritten(tmp_path, "a.stl", content.encode(), [4])
    lines = out.decode().split("\n")
    assert lines[:8] == content.split("\n")[:8]
    assert lines[11] == "  vertex  " + " ".join(map(repr, x[4].tolist()))
    normal = np.cross(x[4] - x[3], x[5] - x[3])
    np.testing.assert_allclose(np.array(lines[8].split()[2:], float), normal / np.linalg.norm(normal), rtol=1e-15)
    assert [line for i, line in enumerate(lines) if i not in (8, 11)] == [
        line for i, line in enumerate(content.split("\n")) if i not in (8, 11)
    ]


@pytest.mark.parametrize("name", ["a.vtu", "a.npz"])
def test_other_formats_are_written_with_a_warning(tmp_path: Path, name: str):
    pio.write(tmp_path / name, np.eye(3), [[0, 1, 2]])
    with pytest.warns(UserWarning, match="holds cells and positions only"):
        pio.rewrite(tmp_path / f"b{name}", tmp_path / name, 2 * np.eye(3))
    np.testing.assert_array_equal(pio.read(tmp_path / f"b{name}").points, 2 * np.eye(3))


def test_another_ending_is_written_with_a_warning(tmp_path: Path):
    (tmp_path / "a.off").write_bytes(OFF)
    with pytest.warns(UserWarning, match=r"b\.ply: holds cells and positions only; what a\.off has besides them"):
        pio.rewrite(tmp_path / "b.ply", tmp_path / "a.off", elsewhere(tmp_path / "a.off", [0]))
    with pytest.raises(OutputError, match="not packed here"):
        pio.rewrite(tmp_path / "b.ply.gz", tmp_path / "a.off", elsewhere(tmp_path / "a.off", [0]))


@pytest.mark.parametrize("name", ["a.off", "a.obj", "a.stl", "a.ply", "a.glb"])
def test_without_a_motion_nothing_changes(tmp_path: Path, name: str):
    pio.write(tmp_path / name, np.eye(3), [[0, 1, 2]])
    pio.rewrite(tmp_path / f"b{name}", tmp_path / name, np.eye(3))
    assert (tmp_path / f"b{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_wrong_positions_are_named(tmp_path: Path):
    (tmp_path / "a.off").write_bytes(OFF)
    with pytest.raises(pliant.MeshError, match="x has 3 rows"):
        pio.rewrite(tmp_path / "b.off", tmp_path / "a.off", np.eye(3))
    with pytest.raises(pliant.MeshError, match=r"x\[1, 0\] is nan"):
        pio.rewrite(tmp_path / "b.off", tmp_path / "a.off", np.where(np.eye(4, 3, -1) > 0, np.nan, 0.0))
    assert not (tmp_path / "b.off").exists()


# --- glTF ------------------------------------------------------------------------------------------------------------


def gltf(tmp_path: Path, nodes: list[dict], *, name: str = "a.glb", **more) -> Path:
    """Interleaved positions and normals of a square, a morph target, and a skin of two joints that nodes may use."""
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], "<f4")
    both = np.concatenate((x, np.full((4, 3), 0.25, "<f4")), axis=1)
    corners = np.array([0, 1, 2, 0, 2, 3], "<u4")
    delta = np.full((4, 3), 0.5, "<f4")
    joints = np.tile(np.array([0, 1, 0, 0], "u1"), (4, 1))
    weights = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.75, 0, 0], [0, 1, 0, 0]], "<f4")
    bind = np.tile(np.eye(4, dtype="<f4"), (2, 1, 1))
    parts = [a.tobytes() for a in (both, corners, delta, joints, weights, bind)]
    begins = np.cumsum([0, *map(len, parts)]).tolist()
    views = [{"buffer": 0, "byteOffset": a, "byteLength": len(p)} for a, p in zip(begins, parts)]
    views[0]["byteStride"] = 24
    root = {
        "asset": {"version": "2.0", "generator": "a tool, ünicode"}, "extras": {"kept": [1, 2.5, None]},
        "nodes": nodes, "meshes": [{"primitives": [], "weights": [0.5]}],
        "buffers": [{"byteLength": begins[-1]}], "bufferViews": views,
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"},
            {"bufferView": 1, "byteOffset": 12, "componentType": 5125, "count": 3, "type": "SCALAR"},
            {"bufferView": 2, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 3, "componentType": 5121, "count": 4, "type": "VEC4"},
            {"bufferView": 4, "componentType": 5126, "count": 4, "type": "VEC4"},
            {"bufferView": 5, "componentType": 5126, "count": 2, "type": "MAT4"},
        ],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": 7}], **more,
    }  # fmt: skip
    for k in range(2):
        attributes = {"POSITION": 0, "NORMAL": 1, "JOINTS_0": 5, "WEIGHTS_0": 6}
        one = {"attributes": attributes, "indices": 2 + k, "targets": [{"POSITION": 4}], "material": 3}
        root["meshes"][0]["primitives"].append(one)
    data = b"".join(parts)
    path = tmp_path / name
    if path.suffix == ".gltf":
        (tmp_path / "a.bin").write_bytes(data)
        root["buffers"][0]["uri"] = "a.bin"
        path.write_text(json.dumps(root, indent=2, ensure_ascii=False) + "\n", "utf-8")
        return path
    text = json.dumps(root, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 4)
    unknown = struct.pack("<I4s", 4, b"ODD\0") + b"kept"
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data + unknown
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)
    return path


TURNED = {"rotation": [0, 0, 0.6, 0.8], "translation": [1, 2, 3], "scale": [2, 2, 2]}


def moved_together(path: Path, corner: int) -> np.ndarray:
    """One corner of the square moves, in both primitives that have it."""
    x = pio.read(path).points.copy()
    for begin in (0, 4):
        x[begin + corner] += (0.25, -0.125, 0.75)
    return x


@pytest.mark.parametrize("skinned", [False, True])
def test_glb_moves_positions_alone(tmp_path: Path, skinned: bool):
    """Through a node, joints, a morph target; interleaved with normals, and shared by two primitives."""
    nodes = [TURNED, {"translation": [0, 0, 5]}, {"mesh": 0, "skin": 0}] if skinned else [{}, {}, {"mesh": 0} | TURNED]
    path = gltf(tmp_path, nodes)
    x = moved_together(path, 2)
    pio.rewrite(tmp_path / "b.glb", path, x)
    np.testing.assert_allclose(pio.read(tmp_path / "b.glb").points, x, atol=2e-6)
    before, after = path.read_bytes(), (tmp_path / "b.glb").read_bytes()
    (old, data), (new, changed) = (parsed(content) for content in (before, after))
    limits = new["accessors"][0].pop("min"), new["accessors"][0].pop("max")
    del old["accessors"][0]["min"], old["accessors"][0]["max"]
    assert new == old
    assert list(new) == list(old)
    differ = np.flatnonzero(np.frombuffer(data, "u1") != np.frombuffer(changed, "u1"))
    assert set(differ.tolist()) <= set(range(48, 60))
    assert len(differ) > 3
    table = np.frombuffer(changed, "<f4", 24).reshape(4, 6)[:, :3]
    assert [table.min(axis=0).tolist(), table.max(axis=0).tolist()] == list(limits)
    assert after.endswith(struct.pack("<I4s", 4, b"ODD\0") + b"kept")


def parsed(content: bytes) -> tuple[dict, bytes]:
    length = struct.unpack_from("<I", content, 12)[0]
    size = struct.unpack_from("<I", content, 20 + length)[0]
    assert struct.unpack_from("<I", content, 8)[0] == len(content)
    return json.loads(content[20 : 20 + length]), content[28 + length :][:size]


def test_gltf_in_text_takes_the_buffer_in(tmp_path: Path):
    path = gltf(tmp_path, [{}, {}, {"mesh": 0}], name="a.gltf")
    x = moved_together(path, 1)
    (tmp_path / "out").mkdir()
    pio.rewrite(tmp_path / "out" / "b.gltf", path, x)
    np.testing.assert_allclose(pio.read(tmp_path / "out" / "b.gltf").points, x, atol=2e-6)
    new, old = (json.loads(one.read_text("utf-8")) for one in (tmp_path / "out" / "b.gltf", path))
    assert new["buffers"][0].pop("uri").startswith("data:")
    del old["buffers"][0]["uri"], old["accessors"][0], new["accessors"][0]
    assert new == old
    assert '\n  "asset"' in (tmp_path / "out" / "b.gltf").read_text("utf-8")


def test_vertices_that_two_nodes_show_cannot_go_two_ways(tmp_path: Path):
    path = gltf(tmp_path, [{}, {}, {"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0]}])
    x = moved_together(path, 2)
    with pytest.raises(OutputError, match="show the same vertices, and vertex 2 would have to be at two places"):
        pio.rewrite(tmp_path / "b.glb", path, x)
    x[8:] = x[:8] + np.array([5.0, 0, 0])
    pio.rewrite(tmp_path / "b.glb", path, x)  # both move alike
    np.testing.assert_allclose(pio.read(tmp_path / "b.glb").points, x, atol=2e-6)


def test_positions_that_are_packed_are_named(tmp_path: Path):
    path = gltf(tmp_path, [{}, {}, {"mesh": 0}])
    root, data = parsed(path.read_bytes())
    root["accessors"][0] |= {"componentType": 5122, "normalized": True}
    root |= {"extensionsRequired": ["KHR_mesh_quantization"], "extensionsUsed": ["KHR_mesh_quantization"]}
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body)
    with pytest.raises(OutputError, match=r"accessors\[0\]: positions are packed or sparse"):
        pio.rewrite(tmp_path / "b.glb", path, moved_together(path, 2))
