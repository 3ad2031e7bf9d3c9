"""Readers: files that the test writes itself, one for every format, every option, and every way to be wrong."""

import builtins
import struct
import warnings
from itertools import permutations

import numpy as np
import pytest

from pliant import MeshError
from pliant import io as pio
from pliant.io.solids import split_solids

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.unit]
POINTS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
IDS = [7, 3, 1000000, 5, 12, 11, 10, 9]


def write(folder, name, text):
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def gmsh1_text(elements, ids=IDS):
    nodes = "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in zip(ids, POINTS))
    rows = "".join(f"{n} {row}\n" for n, row in enumerate(elements, 1))
    return f"$NOD\n{len(ids)}\n{nodes}$ENDNOD\n$ELM\n{len(elements)}\n{rows}$ENDELM\n"


HEX = "5 1 1 8 7 3 1000000 5 12 11 10 9"


def test_gmsh1_with_numbers_of_its_own(tmp_path):
    path = write(tmp_path, "a.msh", gmsh1_text([HEX, "4 1 1 4 7 3 5 12", "2 1 1 3 7 3 5", "3 1 1 4 7 3 1000000 5"]))
    mesh = pio.read(path)
    assert {kind: rows.tolist() for kind, rows in mesh.cells.items()} == {
        "tetra": [[0, 1, 3, 4]],
        "hexahedron": [list(range(8))],
        "triangle": [[0, 1, 3]],
        "quad": [[0, 1, 2, 3]],
    }
    assert list(mesh.cells) == ["tetra", "hexahedron", "triangle", "quad"]
    assert (mesh.points == POINTS).all()
    assert mesh.points.dtype == np.float64
    assert all(rows.dtype == np.int32 for rows in mesh.cells.values())
    assert mesh.frames is None
    assert repr(mesh) == "FileMesh(1 tetra, 1 hexahedron, 1 triangle, 1 quad; 8 points)"


def test_high_order_cells_keep_their_corners(tmp_path):
    path = write(tmp_path, "a.msh", gmsh1_text(["9 1 1 6 7 3 1000000 5 12 11", "1 1 1 2 7 3"]))
    with pytest.warns(UserWarning, match=r"a\.") as said:
        mesh = pio.read(path)
    assert [str(w.message) for w in said] == [
        "a.msh: only the corners are kept of 1 triangle6",
        "a.msh: left out: 1 line",
    ]
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("$NOD\n", "a.msh:1: the file ends after"),
        ("$NOD\nx\n", "a.msh:2: 'x' is not a whole number"),
        ("$NOD\n1000000000000\n1 0 0 0\n", "a.msh:2: 1000000000000 nodes are declared, but 1 lines follow"),
        ("$NOD\n-1\n1 0 0 0\n", "a.msh:2: -1 nodes"),
        ("$NOD\n1\n1 0 0\n$ENDNOD\n", "a.msh:3: needs at least 4 numbers"),
        ("$NOD\n1\n1 0 0 q\n$ENDNOD\n", "a.msh:3: 'q' is not a number"),
        ("$NOD\n1\n1 0 0 0\n2 0 0 0\n$ENDNOD\n", "a.msh:4: after 1 nodes there should be"),
        ("$NOD\n2\n1 0 0 0\n1 0 0 0\n$ENDNOD\n", "a.msh:4: node 1 is given a second time"),
        ("$NOD\n1\n1 0 0 0\n$ENDNOD\n", "there is no"),
        (gmsh1_text([HEX]).replace("$ENDELM\n", ""), "there should be"),
        (gmsh1_text([HEX.replace("12", "13")]), "a.msh:14: refers to node 13,"),
        (gmsh1_text([HEX.replace("12", str(2**70))]), "a.msh:14: a number of a node needs more than 64 bits"),
        (gmsh1_text(["99 1 1 1 7"]), "a.msh:14: 99 is not the number of a type"),
        (gmsh1_text(["4 1 1 4 7 3 5"]), "a.msh:14: a tetra has 4 nodes, but the line gives 3"),
        (gmsh1_text([]), "no cells of the kinds"),
        (gmsh1_text(["4 1 1 4 7 3 5 12"]).replace("3 1 0 0", "3 nan 0 0"), "point 1 has a x that is not finite"),
    ],
)
def test_gmsh1_errors_name_the_line(tmp_path, text, says):
    with pytest.raises(pio.FileError) as caught:
        pio.read(write(tmp_path, "a.msh", text))
    assert says in str(caught.value)
    assert isinstance(caught.value, MeshError)


VEGA = """# a comment
*VERTICES
4 3 0 0
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1

*ELEMENTS
TET
1 4 0
1 1 2 3 4
*MATERIAL m
ENU, 1000, 1, 0.45
*REGION
allElements, m
"""


def test_vega(tmp_path):
    mesh = pio.read(write(tmp_path, "a.veg", VEGA))
    assert mesh.cells["tetra"].tolist() == [[0, 1, 2, 3]]
    assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_vega_cubes_in_included_files(tmp_path):
    nodes = "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(POINTS))
    write(tmp_path, "a.node", f"8 3 0 0\n{nodes}# made by hand\n")
    write(tmp_path, "a.ele", "1 8 0\n0 0 1 2 3 4 5 6 7\n")
    mesh = pio.read(write(tmp_path, "a.veg", "*VERTICES\n*INCLUDE a.node\n*ELEMENTS\nCUBIC\n*INCLUDE a.ele\n"))
    assert mesh.cells["hexahedron"].tolist() == [list(range(8))]
    assert (mesh.points == POINTS).all()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 2 3\n", "a.veg:1: a file of VEGA begins"),
        ("*VERTICES\n", "*VERTICES is missing or empty"),
        (VEGA.replace("TET", "OCTA"), "a.veg:10: elements are TET or CUBIC, not 'OCTA'"),
        (VEGA.replace("1 4 0", "1 8 0"), "a.veg:11: elements need 4 nodes here, not 8"),
        (VEGA.replace("1 4 0", "7000 4 0"), "a.veg:11: 7000 elements are declared"),
        (VEGA.replace("4 3 0 0", "4 2 0 0"), "a.veg:3: points need 3 coordinates"),
        (VEGA.replace("4 3 0 0", "4"), "a.veg:3: a table of points begins"),
        (VEGA.replace("1 1 2 3 4", "1 1 2 3"), "a.veg:12: needs 5 numbers, but has 4"),
        (VEGA.replace("1 1 2 3 4", "1 1 2 3 9"), "a.veg:12: refers to node 9,"),
        (VEGA.partition("TET")[0] + "TET\n", "a.veg:10: no table of elements follows"),
        (VEGA + "*VERTICES\n", "a.veg:17: *VERTICES comes a second time"),
        ("*INCLUDE ../b.veg\n", "a.veg:1: includes ../b.veg, which is outside"),
        ("*INCLUDE b.veg\n", "a.veg:1: includes b.veg, which does not exist"),
        ("*INCLUDE a.veg\n", "more than 16 files deep"),
        ("*VERTICES\n\0\n", "holds binary data"),
    ],
)
def test_vega_errors(tmp_path, text, says):
    with pytest.raises(pio.FileError) as caught:
        pio.read(write(tmp_path, "a.veg", text))
    assert says in str(caught.value)


@pytest.mark.parametrize("asked", ["a.node", "a.ele"])
def test_tetgen_pairs(tmp_path, asked):
    write(tmp_path, "a.node", "4 3 1 1\n0 0 0 0 5 1\n1 1 0 0 5 1 # attributes and markers\n2 0 1 0 5 1\n3 0 0 1 5 1\n")
    write(tmp_path, "a.ele", "1 4 0\n0 0 1 2 3\n")
    mesh = pio.read(tmp_path / asked)
    assert mesh.cells["tetra"].tolist() == [[0, 1, 2, 3]]
    assert mesh.points[3].tolist() == [0, 0, 1]


def test_tetgen_errors(tmp_path):
    path = write(tmp_path, "a.node", "1 3 0 0\n0 0 0 0\n")
    with pytest.raises(pio.FileError, match=r"a\.node: there is no a\.ele beside it"):
        pio.read(path)
    write(tmp_path, "a.ele", "1 5 0\n0 0 1 2 3 4\n")
    with pytest.raises(pio.FileError, match=r"a\.ele:1: tetrahedra have 4 or 10 nodes, not 5"):
        pio.read(path)
    write(tmp_path, "a.ele", "# only a comment\n")
    with pytest.raises(pio.FileError, match="no table of elements"):
        pio.read(path)


def deck(elements, head="*KEYWORD", end="*END\n", comma=False, whole=8, real=16):
    def card(*fields, widths=None):
        if comma:
            return ",".join(str(f) for f in fields)
        return "".join(f"{f:>{w}}" for f, w in zip(fields, widths or [whole] * 10))

    nodes = [card(i, *p, widths=[whole, real, real, real]) for i, p in zip(IDS, POINTS)]
    body = []
    for keyword, *rows in elements:
        body += [keyword, *(card(*row) for row in rows)]
    return "\n".join([head, "$ a comment", "*NODE", "$#   nid", *nodes, *body, end])


TWO_SHELLS = ("*ELEMENT_SHELL", (1, 1, 7, 3, 1000000, 5), (2, 1, 12, 11, 10, 10), (3, 1, 12, 11, 9))
SOLID = ("*element_solid", (1, 1, *IDS))


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"comma": True},
        {"head": "*KEYWORD LONG=Y", "whole": 20, "real": 20},
        {"head": "*KEYWORD  long=s", "whole": 20, "real": 20},
        {"head": "*KEYWORD I10=Y", "whole": 10},
    ],
)
def test_dyna_in_every_format_of_cards(tmp_path, form):
    mesh = pio.read(write(tmp_path, "a.k", deck([TWO_SHELLS, SOLID], **form)))
    assert mesh.cells["hexahedron"].tolist() == [list(range(8))]
    assert mesh.cells["quad"].tolist() == [[0, 1, 2, 3]]
    assert mesh.cells["triangle"].tolist() == [[4, 5, 6], [4, 5, 7]]
    assert (mesh.points == POINTS).all()


def test_dyna_long_cards_by_a_sign_at_the_keyword(tmp_path):
    text = deck([("*ELEMENT_SOLID +", (1, 1, *IDS))], whole=20, real=20).replace("*NODE", "*NODE+")
    assert pio.read(write(tmp_path, "a.k", text)).cells["hexahedron"].tolist() == [list(range(8))]


@pytest.mark.parametrize(
    ("nodes", "kind", "corners"),
    [
        ((0, 1, 3, 4, 4, 4, 4, 4), "tetra", [0, 1, 3, 4]),
        ((0, 1, 3, 3, 4, 4, 4, 4), "tetra", [0, 1, 3, 4]),
        ((0, 1, 3, 4), "tetra", [0, 1, 3, 4]),
        ((0, 1, 2, 3, 4, 4, 4, 4), "pyramid", [0, 1, 2, 3, 4]),
        ((0, 1, 2, 3, 4), "pyramid", [0, 1, 2, 3, 4]),
        ((0, 1, 2, 3, 4, 4, 7, 7), "wedge", [0, 4, 1, 3, 7, 2]),
        ((0, 1, 2, 2, 4, 5, 6, 6), "wedge", [0, 1, 2, 4, 5, 6]),
    ],
)
def test_dyna_degenerate_solids(tmp_path, nodes, kind, corners):
    path = write(tmp_path, "a.k", deck([("*ELEMENT_SOLID", (1, 1, *(IDS[n] for n in nodes)))]))
    mesh = pio.read(path)
    assert list(mesh.cells) == [kind]
    (got,) = mesh.cells[kind].tolist()
    assert sorted(got) == sorted(corners)
    assert volume(kind, mesh.points[got]) == pytest.approx(volume(kind, mesh.points[corners]))
    assert volume(kind, mesh.points[got]) > 0


def volume(kind, x):
    """Volume of a cell of meshio's order, (c, 3), by tetrahedra of which it is made."""
    cut = {
        "tetra": [(0, 1, 2, 3)],
        "pyramid": [(0, 1, 2, 4), (0, 2, 3, 4)],
        "wedge": [(0, 1, 2, 5), (0, 1, 5, 4), (0, 4, 5, 3)],
    }[kind]
    return sum(np.linalg.det(x[[b, c, d]] - x[a]) for a, b, c, d in cut) / 6


def test_every_turned_pyramid_and_wedge_keeps_its_orientation():
    """A hexahedron can be numbered in 24 ways without being mirrored; what is collapsed in it must not depend on it."""
    x = np.array(POINTS, float)
    turns = [p for p in permutations(range(8)) if np.linalg.det(x[list(p)][[1, 3, 4]] - x[p[0]]) == 1 and is_turn(p)]
    assert len(turns) == 24
    for same in ({5: 4, 6: 4, 7: 4}, {5: 4, 6: 7}):
        kinds = set()
        for turn in turns:
            row = np.array([[same.get(n, n) for n in turn]])
            ((kind, cells),), wrong = split_solids(row)
            assert len(wrong) == 0
            assert volume(kind, x[cells[0]]) == pytest.approx(1 / 3 if kind == "pyramid" else 1 / 2)
            kinds.add(kind)
        assert kinds == {"pyramid" if len(same) == 3 else "wedge"}


def is_turn(p):
    """Whether the corners p of the unit cube have their edges where corners 0 to 7 have them."""
    x = np.array(POINTS)
    distance = np.abs(x[:, None] - x[None]).sum(axis=2)
    return (distance[np.ix_(p, p)] == distance).all()


def test_dyna_options_includes_and_new_solids(tmp_path):
    write(tmp_path, "part.k", deck([], end="").replace("*KEYWORD", "*TITLE\nnodes"))
    text = "\n".join([
        "*KEYWORD", "*INCLUDE", "part.k",
        "*ELEMENT_SHELL_THICKNESS", "1,1,7,3,1000000,5", "0.1,0.1,0.1,0.1", "2,1,7,3,12,12", "0.1,0.1,0.1",
        "*ELEMENT_SOLID", "1,1", "7,3,1000000,5,12,11,10,9",
        "*ELEMENT_SOLID_ORTHO", "2,1,7,3,5,12,12,12,12,12", "1,0,0", "0,1,0",
        "*END", "*NODE", "after the end",
    ])  # fmt: skip
    mesh = pio.read(write(tmp_path, "a.key", text))
    assert {kind: len(rows) for kind, rows in mesh.cells.items()} == {
        "tetra": 1, "hexahedron": 1, "triangle": 1, "quad": 1,
    }  # fmt: skip


def test_dyna_says_what_it_leaves_out(tmp_path):
    extra = [TWO_SHELLS, ("*ELEMENT_BEAM", (1, 1, 7, 3, 5)), ("*ELEMENT_SHELL", (4, 1, *IDS))]
    with pytest.warns(UserWarning, match=r"a\.") as said:
        mesh = pio.read(write(tmp_path, "a.k", deck(extra, end="")))
    assert [str(w.message) for w in said] == [
        "a.k: no *END; the file may be cut off",
        "a.k: left out: 1 *ELEMENT_BEAM",
        "a.k: only the corners are kept of 1 quad8",
    ]
    assert len(mesh.cells["quad"]) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello\n", "a deck of LS-DYNA begins with a keyword"),
        ("*KEYWORD\n*END\n", "there is no *NODE"),
        (deck([]), "no cells of the kinds"),
        ("*NODE\n       1             0.0             1.0\n*END\n", "a.k:2: a node has a number and 3 coordinates"),
        ("*NODE\n1,x,0,0\n*END\n", "a.k:2: 'x' is not a number"),
        (deck([("*ELEMENT_SHELL", (1, 1, 7, 3))]), "a.k:14: a shell with 2 nodes"),
        (deck([("*ELEMENT_SHELL", (1, 1, 7, 3, 4, 4))]), "a.k:14: refers to node 4,"),
        (deck([("*ELEMENT_SHELL_SHL4", (1, 1, 7, 3, 5, 5))]), "a.k:13: the option SHL4"),
        (deck([("*ELEMENT_SHELL_BETA", (1, 1, 7, 3, 5, 5))]), "a.k:14: cards are missing"),
        (deck([("*ELEMENT_SOLID", (1, 1, 7, 3, 1000000, 5, 12, 11, 10, 10))]), "a.k:14: this solid is none of"),
        (deck([("*ELEMENT_SOLID", (1, 1, 7, 3))]), "a.k:14: a solid with 2 nodes"),
        ("*KEYWORD\n*INCLUDE\nnone.k\n*END\n", "a.k:3: includes none.k, which does not exist"),
        ("*KEYWORD\n*INCLUDE\na.k\n*END\n", "more than 16 files deep"),
    ],
)
def test_dyna_errors_name_the_line(tmp_path, text, says):
    with pytest.raises(pio.FileError) as caught:
        pio.read(write(tmp_path, "a.k", text))
    assert says in str(caught.value)


def test_files_that_are_missing_or_empty(tmp_path):
    with pytest.raises(pio.FileError, match=r"nothing\.msh: there is no such file"):
        pio.read(tmp_path / "nothing.msh")
    with pytest.raises(pio.FileError, match="this is a folder; name a file in it"):
        pio.read(tmp_path)
    for name in ("a.msh", "a.k", "a.veg", "a.node", "a.vtu", "d3plot"):
        with pytest.raises(pio.FileError, match=f"{name}: the file is empty"):
            pio.read(write(tmp_path, name, ""))


@pytest.mark.parametrize("ending", [".vtk", ".vtu", ".inp", ".msh", ".obj", ".mesh"])
def test_what_meshio_writes(tmp_path, ending):
    meshio = pytest.importorskip("meshio")
    cells = {"triangle": np.array([[0, 1, 3], [4, 5, 7]])}
    if ending != ".obj":
        cells["hexahedron"] = np.array([list(range(8))])
    path = tmp_path / f"a{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        meshio.write_points_cells(
            path, np.array(POINTS, float), cells, **({"binary": False} if ending == ".vtk" else {})
        )
    mesh = pio.read(path)
    assert {kind: rows.tolist() for kind, rows in mesh.cells.items()} == {
        kind: rows.tolist() for kind, rows in sorted(cells.items())
    }
    assert (mesh.points == POINTS).all()
    cut = tmp_path / f"cut{ending}"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    if ending != ".obj":  # a line of an .obj stands for itself
        with pytest.raises(pio.FileError, match="cut"):
            pio.read(cut)


def test_flat_points_and_high_order_through_meshio(tmp_path):
    meshio = pytest.importorskip("meshio")
    x = np.random.default_rng(0).uniform(size=(10, 3))
    path = tmp_path / "a.vtu"
    meshio.write_points_cells(path, x, {"tetra10": np.arange(10)[None], "vertex": np.array([[0]])})
    with pytest.warns(UserWarning, match=r"a\.") as said:
        mesh = pio.read(path)
    assert len(said) == 2
    assert mesh.cells["tetra"].tolist() == [[0, 1, 2, 3]]
    path = write(tmp_path, "flat.off", "OFF\n3 1 0\n0 0\n1 0\n0 1\n3 0 1 2\n")
    with pytest.raises(pio.FileError):
        pio.read(path)


def test_wrong_files_through_meshio_are_quiet_file_errors(tmp_path, capfd):
    for name in ("a.vtk", "a.vtu", "a.msh", "a.inp", "a.stl", "a.unknown"):
        with pytest.raises(pio.FileError, match=name):
            pio.read(write(tmp_path, name, "something else\n"))
    assert capfd.readouterr() == ("", "")


def test_d3plot_that_is_none_or_announces_too_much(tmp_path):
    with pytest.raises(pio.FileError, match="is not a d3plot"):
        pio.read(write(tmp_path, "d3plot", "hello"))
    words = [0] * 64
    words[15], words[16] = 4, 10**9
    (tmp_path / "d3plot").write_bytes(struct.pack("<64i", *words))
    with pytest.raises(pio.FileError, match="declares a mesh of 12000000000 bytes"):
        pio.read(tmp_path)
    words[16] = 1
    (tmp_path / "d3plot").write_bytes(struct.pack("<64i", *words))
    pytest.importorskip("lasso")
    with pytest.raises(pio.FileError, match="d3plot"):
        pio.read(tmp_path)


@pytest.mark.parametrize(("package", "name", "content"), [
    ("meshio", "a.vtk", b"x"), ("h5py", "a.med", b"x"), ("pxr", "a.usda", b"x"),
    ("lasso", "d3plot", struct.pack("<64i", *[0] * 15, 4, *[0] * 48)),
])  # fmt: skip
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, package, name, content):
    real = builtins.__import__

    def without(module, *args, **kwargs):
        if module.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return real(module, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install '.\[{'usd' if package == 'pxr' else 'io'}\]'"):
        pio.read(tmp_path / name)


def test_a_deck_that_includes_files_without_end(tmp_path):
    """Only the depth was bounded: a few small files that include each other many times over took forever."""
    (tmp_path / "b.k").write_text("*NODE\n")
    (tmp_path / "a.k").write_text("*KEYWORD\n*INCLUDE\n" + "b.k\n" * 1001 + "*END\n")
    with pytest.raises(MeshError, match=r"a.k:1003: includes b.k: more than 1000 files"):
        pio.read(tmp_path / "a.k")
    (tmp_path / "c.k").write_text(f"*KEYWORD\n*INCLUDE\n{'x' * 400}\n*END\n")
    with pytest.raises(MeshError, match="which does not exist"):
        pio.read(tmp_path / "c.k")
