"""OBJ, PLY, STL and OFF: every way to write them, in the order of the file and with nothing merged."""

import struct
from pathlib import Path

import numpy as np
import pytest

from pliant import io as pio
from pliant.io.polygons import fan
from tests.shapes.known_files import KNOWN, READERS

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.unit]
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\n"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.data
@pytest.mark.parametrize("name", KNOWN)
def test_files_with_known_intersections_keep_their_order(name, data_folder):
    path = data_folder / "selfint" / name
    faces, x = READERS[Path(name).suffix](path)
    mesh = pio.read(path)
    assert list(mesh.cells) == ["triangle"]
    assert np.array_equal(mesh.cells["triangle"], faces)
    assert np.array_equal(mesh.points, x)


@pytest.mark.parametrize(
    "faces",
    [
        "f 1 2 3 4 5",
        "f 1/1 2/2 3/3 4/4 5/5",
        "f 1//1 2//2 3//3 4//4 5//5",
        "f 1/1/1 2/2/2 3/3/3 4/4/4 5/5/5",
        "f -5 -4 -3 -2 -1",
        "f -5//-1 -4//-1 -3//-1 -2//-1 -1//-1",
        "f 1 2 3 \\\n 4 5",
        "g part\no thing\nusemtl red\ns off\n  f\t1 2 3 4 5  # a comment\r",
    ],
)
def test_polygons_of_obj(tmp_path, faces):
    mesh = pio.read(write(tmp_path, "a.obj", f"# head\nmtllib a.mtl\n{SQUARE}vt 0 0\nvn 0 0 1\n{faces}\n"))
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4]]
    assert len(mesh.points) == 5


def test_negative_numbers_count_from_where_they_stand(tmp_path):
    first, second = SQUARE.split("v 1 1 0\n")
    mesh = pio.read(write(tmp_path, "a.obj", f"{first}v 1 1 0\nf -3 -2 -1\n{second}f -3 -2 -1\nf 5 4 1\n"))
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [2, 3, 4], [4, 3, 0]]


def test_obj_with_colours_weights_lines_and_vertices_that_coincide(tmp_path):
    text = "v 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\nv 0 0 0\nv 0.1 1e-3 -2E+4\nl 1 2\nf 1 2 3\nf 3 4 2\n"
    with pytest.warns(UserWarning, match=r"a\.obj: left out: 1 line"):
        mesh = pio.read(write(tmp_path, "a.obj", text))
    assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0.1, 1e-3, -2e4]]
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [2, 3, 1]]


def test_an_error_after_a_continued_line_names_its_line(tmp_path):
    with pytest.raises(pio.FileError, match=r"a\.obj:8: refers to vertex 9"):
        pio.read(write(tmp_path, "a.obj", SQUARE + "f 1 2 \\\n3\nf 1 2 9\n"))


HEAD = """ply
format {}
comment made by hand
obj_info nothing
element vertex 5
property {} x
property uchar red
property {} y
property {} z
element face {}
property uchar flags
property list {} {} vertex_index
property list uchar float texcoord
{}end_header
"""
X = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]])
POLYGONS = {"mixed": [(0, 1, 2, 3), (0, 1, 4), (4, 3, 2, 1, 0)], "equal": [(0, 1, 2), (0, 2, 3), (0, 1, 4)]}
EXPECTED = {
    "mixed": [[0, 1, 2], [0, 2, 3], [0, 1, 4], [4, 3, 2], [4, 2, 1], [4, 1, 0]],
    "equal": [[0, 1, 2], [0, 2, 3], [0, 1, 4]],
}


@pytest.mark.parametrize("kind", POLYGONS)
@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("form", ["ascii 1.0", "binary_little_endian 1.0", "binary_big_endian 1.0"])
def test_ply(tmp_path, form, real, kind):
    polygons = POLYGONS[kind]
    edges = "element edge 1\nproperty int vertex1\n"
    head = HEAD.format(form, real, real, real, len(polygons), "uchar", "uint", edges)
    if form.startswith("ascii"):
        rows = [f"{x} 9 {y} {z}" for x, y, z in X]
        rows += [f"7 {len(p)} {' '.join(map(str, p))} 2 0.5 0.5" for p in polygons]
        body = ("\n".join(rows) + "\n0\n").encode()
    else:
        order, letter = "<>"["big" in form], real[0]
        body = b"".join(struct.pack(f"{order}{letter}B{letter}{letter}", x, 9, y, z) for x, y, z in X)
        body += b"".join(struct.pack(f"{order}BB{len(p)}IB2f", 7, len(p), *p, 2, 0.5, 0.5) for p in polygons)
        body += bytes(4)
    with pytest.warns(UserWarning, match=r"a\.ply: left out: 1 edge"):
        mesh = pio.read(write(tmp_path, "a.ply", head.encode() + body))
    assert np.array_equal(mesh.points, X)
    assert mesh.cells["triangle"].tolist() == EXPECTED[kind]


def test_text_of_a_ply_is_rounded_as_its_header_says(tmp_path):
    head = HEAD.format("ascii 1.0", "float", "double", "float", 1, "uchar", "int", "")
    mesh = pio.read(write(tmp_path, "a.ply", head + "0.1 0 0.1 0.3\n" * 5 + "0 3 0 1 2 0\n"))
    assert mesh.points[0].tolist() == [float(np.float32(0.1)), 0.1, float(np.float32(0.3))]


FACET = "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1e0 0.1\n endloop\nendfacet\n"


def test_stl_as_text_and_binary_with_a_misleading_header(tmp_path):
    mesh = pio.read(write(tmp_path, "a.stl", f"solid a\n{FACET}{FACET.upper()}endsolid a\n"))
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert mesh.points[5].tolist() == [0, 1, 0.1]
    corners = np.arange(9, dtype="<f4")
    binary = b"solid with a facet".ljust(80) + struct.pack("<I3f9fH", 1, 0, 0, 1, *corners, 0)
    mesh = pio.read(write(tmp_path, "b.stl", binary))
    assert mesh.points.tolist() == corners.reshape(3, 3).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "OFF\n5 2 0\n{}4 0 1 2 3\n3 0 1 4\n",
        "OFF 5 2 0\n{}4 0 1 2 3 255 0 0\n3 0 1 4 0.5 0.5 0.5\n",
        "# head\nCOFF\n# more\n5 2 0 # counts\n{}4 0 1 2 3\n\n3 0 1 4\n",
    ],
)
def test_off(tmp_path, text):
    points = "".join(f"{x} {y} {z} 255 0 0 255\n" for x, y, z in X)
    mesh = pio.read(write(tmp_path, "a.off", text.format(points)))
    assert np.array_equal(mesh.points, X)
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 4]]


def test_fans_are_those_of_a_plain_loop():
    rng = np.random.default_rng(0)
    counts = rng.integers(3, 8, 50)
    corners = rng.integers(0, 100, counts.sum())
    polygons = np.split(corners, np.cumsum(counts)[:-1])
    expected = [[p[0], p[k], p[k + 1]] for p in polygons for k in range(1, len(p) - 1)]
    assert fan(counts, corners).tolist() == np.array(expected).tolist()
