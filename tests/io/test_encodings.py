"""Marks at the beginning of text: editors on Windows put them there, and no format has a word for them."""

import numpy as np
import pytest

from pliant import io as pio
from tests.io.broken_volumes import TEXT
from tests.io.needs import needed_for

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.unit]
POINTS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
TETRA = "1 1 2 3 4"
FILES = {
    "a.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n",
    "a.off": "OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n",
    "a.ply": "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n",
    "a.k": "*KEYWORD\n*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT_SOLID\n1,1\n1,2,3,4,4,4,4,4\n*END\n",
    "a.veg": f"*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n{TETRA}\n",
    "a.msh": "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$ENDNOD\n$ELM\n1\n1 4 1 1 4 1 2 3 4\n$ENDELM\n",
    "a.inp": "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n",
    "a.mesh": "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
    "Tetrahedra\n1\n1 2 3 4 0\nEnd\n",
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", FILES)
def test_marks_of_encodings_are_not_part_of_the_text(tmp_path, name, encoding):
    """An OBJ with a mark lost its first vertex silently, since "v" was not what its line began with."""
    needed_for("." + name.rpartition(".")[2])
    path = tmp_path / name
    path.write_text(FILES[name], "utf-8")
    plain = pio.read(path)
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    path.write_bytes((mark + FILES[name]).encode(encoding))
    mesh = pio.read(path)
    assert mesh.points.tolist() == plain.points.tolist() == POINTS
    assert list(mesh.cells) == list(plain.cells)
    assert all(np.array_equal(mesh.cells[kind], plain.cells[kind]) for kind in plain.cells)


def test_marks_of_xml_and_stl(tmp_path):
    (tmp_path / "a.vtu").write_text(TEXT, "utf-8-sig")
    assert len(pio.read(tmp_path / "a.vtu").points) == 3
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    (tmp_path / "a.stl").write_text(f"solid a\n{facet}endsolid a\n", "utf-8-sig")
    assert pio.read(tmp_path / "a.stl").points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_text_of_half_characters(tmp_path):
    (tmp_path / "a.obj").write_bytes("\ufeffv 0 0 0\n".encode("utf-16-le")[:-1])
    with pytest.raises(pio.FileError, match=r"a\.obj: begins as text in UTF-16"):
        pio.read(tmp_path / "a.obj")
