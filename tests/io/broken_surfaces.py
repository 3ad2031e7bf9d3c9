"""Broken OBJ, PLY, STL, OFF and glTF."""

import json
import struct

from tests.io.broken import HUGE, broken

V = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
broken("empty.obj", "the file is empty", b"")
broken("beyond.obj", ":4: refers to vertex 9", V + "f 1 2 9\n")
broken("zero.obj", ":4: refers to vertex 0", V + "f 1 2 0\n")
broken("back.obj", ":4: refers to vertex -9", V + "f -1 -2 -9\n")
broken("digits.obj", ":4:", V + f"f 1 2 {'9' * 30}\n")
broken("many_digits.obj", ":4:", V + f"f 1 2 {'9' * 100000}\n")
broken("nan.obj", "not finite", V.replace("1 0 0", "nan 0 0") + "f 1 2 3\n")
broken("overflow.obj", "not finite", V.replace("1 0 0", "1e999 0 0") + "f 1 2 3\n")
broken("flat.obj", ":2: a vertex has 3", V.replace("1 0 0", "1 0") + "f 1 2 3\n")
broken("word.obj", ":2: 'one' is not a number", V.replace("1 0 0", "one 0 0") + "f 1 2 3\n")
broken("two_corners.obj", ":4: a face has 3 corners", V + "f 1 2\n")
broken("points_only.obj", "no cells", V)
broken("noise.obj", "no cells", bytes(range(256)) * 40)

PLY = "ply\nformat {}\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face {}\n"
PLY += "property list {} int vertex_indices\nend_header\n"
BINARY = "binary_little_endian 1.0"


def ply(form=BINARY, vertices=3, faces=1, count="uchar", body=b""):
    return PLY.format(form, vertices, faces, count).encode() + body


CORNERS = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
FACE = struct.pack("<B3i", 3, 0, 1, 2)
broken("magic.ply", "begins with 'ply'", b"plyx" + ply(body=CORNERS + FACE)[3:])
broken("no_end.ply", "the header has no end", b"ply\nformat ascii 1.0\nelement vertex 3\n")
broken("many_vertices.ply", "declares 4000000000 of vertex", ply(vertices=HUGE, body=CORNERS + FACE))
broken("many_faces.ply", "declares 4000000000 of face", ply(faces=HUGE, body=CORNERS + FACE))
broken(
    "many_in_text.ply", "declares 4000000000 of vertex", ply("ascii 1.0", HUGE, body=b"0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
)
broken("twice.ply", "'property float x' is not", ply(body=CORNERS + FACE).replace(b"float y\n", b"float x\n"))
broken("negative_count.ply", ":3:", ply(vertices=-1, body=CORNERS + FACE))
broken("cut.ply", "cut off", ply(body=CORNERS + FACE[:-2]))
broken("cut_text.ply", "too few numbers", ply("ascii 1.0", body=b"0 0 0\n1 0 0\n0 1 0\n3 0 1\n"))
broken("long_list.ply", "cut off", ply(count="uint", body=CORNERS + struct.pack("<I3i", HUGE, 0, 1, 2)))
broken("negative_list.ply", "cut off", ply(count="char", body=CORNERS + struct.pack("<b3i", -3, 0, 1, 2)))
broken("beyond.ply", "face 0 refers to vertex 7", ply(body=CORNERS + struct.pack("<B3i", 3, 0, 1, 7)))
broken("negative.ply", "face 0 refers to vertex -7", ply(body=CORNERS + struct.pack("<B3i", 3, 0, 1, -7)))
broken("nan.ply", "not finite", ply(body=struct.pack("<f", float("nan")) + CORNERS[4:] + FACE))
broken("type.ply", ":4:", ply().replace(b"float x", b"quad x"))
broken("no_x.ply", "no x, y and z", ply(body=CORNERS + FACE).replace(b"float x", b"float w"))
broken("orphan.ply", ":2:", b"ply\nproperty float x\nend_header\n")

broken("many.stl", "declares 200000000084 bytes", b"\0" * 80 + struct.pack("<I", HUGE) + b"\0" * 50)
broken("cut.stl", "cut off", b"\0" * 80 + struct.pack("<I", 2) + b"\0" * 70)
broken("short.stl", "neither text", b"hello")
broken("nan.stl", "not finite", b"\0" * 80 + struct.pack("<I12fH", 1, *[float("nan")] * 12, 0))
SOLID = (
    "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"
)
broken("cut_text.stl", "cut off", SOLID[:70])
broken("no_end.stl", "no endsolid", SOLID.replace("endsolid a\n", ""))
broken("word.stl", ":5: 'one'", SOLID.replace("1 0 0", "one 0 0"))

OFF = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
broken("magic.off", "begins with OFF", OFF.replace("OFF", "FFO"))
broken("many.off", "4000000000 points are declared", OFF.replace("3 1 0", f"{HUGE} 1 0"))
broken("negative.off", "-3 points are declared", OFF.replace("3 1 0", "-3 1 0", 1))
broken("cut.off", "a face of 3 corners", OFF[:-3])
broken("beyond.off", ":6: refers to point 9", OFF.replace("0 1 2", "0 1 9"))
broken("long_face.off", ":6: a face of 4000000000", OFF.replace("3 0 1 2", f"{HUGE} 0 1 2"))
broken("nan.off", "not finite", OFF.replace("1 0 0\n0 1", "nan 0 0\n0 1"))


def gltf(**changes):
    """One triangle, with entries replaced; the buffer is of 36 bytes of positions."""
    root = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
    }
    return {**root, **changes}


def glb(root, body=CORNERS):
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(body))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body


broken("magic.glb", "a GLB begins with", b"flTg" + glb(gltf())[4:])
broken("cut.glb", "cut off", glb(gltf())[:-10])
broken("beyond.glb", "elements need", glb(gltf(accessors=[{**gltf()["accessors"][0], "count": 300}])))
ZEROS = {"componentType": 5126, "count": 20_000_000, "type": "VEC3"}
broken("zeros.glb", "would become more", glb(gltf(accessors=[ZEROS])))
broken("nan.glb", "nan", glb(gltf(), struct.pack("<f", float("nan")) + CORNERS[4:]))
broken("cycle.glb", "above itself", glb(gltf(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}])))
broken("json.gltf", "the JSON cannot be read", "{" * 100000)
OUTSIDE = [{"byteLength": 36, "uri": "../../secret.bin"}]
broken("outside.gltf", "outside of its folder", json.dumps(gltf(buffers=OUTSIDE)))
broken("nothing_shown.glb", "no node shows triangles", glb(gltf(nodes=[{}])))


@broken("instances.glb", "would become more")
def _instances(path):
    """A mesh of a million vertices without bytes, on a hundred nodes."""
    zeros = {"componentType": 5126, "count": 3 * 10**6, "type": "VEC3"}
    return glb(gltf(accessors=[zeros], nodes=[{"mesh": 0}] * 100))


@broken("targets.glb", "morph targets")
def _targets(path):
    """Thousands of morph targets without bytes."""
    accessors = [gltf()["accessors"][0], {"componentType": 5126, "count": 4_000_000, "type": "VEC3"}]
    primitive = {"attributes": {"POSITION": 1}, "targets": [{"POSITION": 1}] * 5000}
    return glb(gltf(accessors=accessors, meshes=[{"primitives": [primitive]}]))
