"""3MF and COLLADA: what they show, with the ids and places that the files give."""

import contextlib
import re
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pytest

from pliant import io as pio
from tests.io.packages import DAE, MESH, TURNED, archive, model

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.unit]
X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


def one_model(folder, objects, items, **more):
    return archive(folder / "a.3mf", {"3D/3dmodel.model": model(objects, items, **more)})


def test_3mf_shows_what_is_to_be_built(tmp_path):
    objects = f'<object id="1" name="cap">{MESH}</object><object id="9">{MESH}</object>'
    objects += f'<object id="2"><components><component objectid="1" transform="{TURNED}"/></components></object>'
    items = '<item objectid="2" transform="2 0 0 0 2 0 0 0 2 0 0 0"/><item objectid="1"/>'
    mesh = pio.read(one_model(tmp_path, objects, items, unit="inch"))
    turned = X @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [5, 6, 7]
    assert np.array_equal(mesh.points, np.concatenate([2 * turned, X]))
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [0, 1, 3], [4, 5, 6], [4, 5, 7]]
    assert mesh.space == pio.Space("z", 0.0254)
    assert mesh.parts is not None
    assert [name.partition(" ")[0] for name in mesh.parts.names] == ["cap", "cap"]


def test_3mf_of_several_models(tmp_path):
    """As slicers write it: the root has components whose objects are in other files of the archive."""
    component = '<component objectid="1" p:path="/3D/Objects/a.model"/>'
    root = model(f'<object id="1"><components>{component}</components></object>', '<item objectid="1"/>')
    inner = model(f'<object id="1">{MESH}</object>', "")
    root = root.replace("<model ", '<model xmlns:p="http://schemas.microsoft.com/3dmanufacturing/production/2015/06" ')
    path = archive(tmp_path / "a.3mf", {"3D/3dmodel.model": root, "3D/Objects/a.model": inner})
    assert np.array_equal(pio.read(path).points, X)


@pytest.mark.parametrize(
    ("objects", "items", "why"),
    [
        ("", "", "nothing is to be built"),
        ("", '<item objectid="7"/>', "refers to object '7', which is not there"),
        (f'<object id="1">{MESH}</object>', '<item objectid="1" transform="1 2 3"/>', "a transform cannot be read"),
        ('<object id="1"><mesh/></object>', '<item objectid="1"/>', "no cells"),
        (f'<object id="1">{MESH.replace("v3=" + chr(34) + "3", "v3=" + chr(34) + "4")}</object>',
         '<item objectid="1"/>', "triangle 1 refers to a vertex that is not there"),
        (f'<object id="1">{MESH.replace("x=" + chr(34) + "1", "x=" + chr(34) + "one")}</object>',
         '<item objectid="1"/>', "a vertex or a triangle cannot be read"),
        ('<object id="1"><components><component objectid="1"/></components></object>', '<item objectid="1"/>',
         "nested too deeply, or holds itself"),
        ('<!DOCTYPE a [<!ENTITY a "a">]>', "", "a.3mf: "),
    ],
)  # fmt: skip
def test_3mf_that_is_wrong(tmp_path, objects, items, why):
    with pytest.raises(pio.FileError, match=re.escape(why)):
        pio.read(one_model(tmp_path, objects, items))


def test_3mf_that_grows_without_bound(tmp_path):
    """Each object shows the one before it twice."""
    shown = [2 * f'<component objectid="{i - 1}"/>' for i in range(2, 30)]
    twice = "".join(f'<object id="{i}"><components>{one}</components></object>' for i, one in enumerate(shown, 2))
    path = one_model(tmp_path, f'<object id="1">{MESH}</object>{twice}', '<item objectid="29"/>')
    with pytest.raises(pio.FileError, match="would become more"):
        pio.read(path)
    with pytest.raises(pio.FileError, match="would become"):
        pio.read(archive(tmp_path / "b.3mf", {"3D/3dmodel.model": " " * 2**26}))
    (tmp_path / "c.3mf").write_bytes(b"PK\3\4 and no more")
    with pytest.raises(pio.FileError, match="is not a whole zip archive"):
        pio.read(tmp_path / "c.3mf")


@pytest.fixture
def _pycollada():
    pytest.importorskip("collada")


@pytest.mark.usefixtures("_pycollada")
def test_collada_shows_its_scene(tmp_path):
    (tmp_path / "a.dae").write_text(DAE, "utf-8")
    mesh = pio.read(tmp_path / "a.dae")
    assert np.array_equal(mesh.points, np.concatenate([X + [0, 0, 5], X]))
    one = [[0, 1, 2], [0, 1, 2], [0, 2, 3]]
    assert mesh.cells["triangle"].tolist() == one + (np.array(one) + 4).tolist()
    assert mesh.space == pio.Space("z", 0.01)


@pytest.mark.usefixtures("_pycollada")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("<asset>", "<asset><<"), "is not XML"),
        (('<?xml version="1.0"?>', '<!DOCTYPE a [<!ENTITY a "a">]>'), "its document type declares"),
        (('<instance_geometry url="#tent"/></node>', '<instance_node url="#n"/></node>'), "shows itself"),
        (("<p>0 1 2</p>", "<p>0 1 9</p>"), "a.dae"),
    ],
)
def test_collada_that_is_wrong(tmp_path, change, why):
    (tmp_path / "a.dae").write_text(DAE.replace(*change, 1), "utf-8")
    with pytest.raises(pio.FileError, match=re.escape(why)):
        pio.read(tmp_path / "a.dae")


def test_names_of_3mf_are_told_apart_in_one_pass():
    """Each name was compared with all others."""
    from pliant.io.threemf import _told_apart

    compared = 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str(self) == str(other)

    names = [*map(str, range(400)), "7"]
    assert _told_apart([Name(one) for one in names]) == [
        f"{one} ({place})" if one == "7" else one for place, one in enumerate(names)
    ]
    assert compared < 2 * len(names)


def test_nodes_of_collada_are_looked_at_once(tmp_path):
    """Nested as deeply as they are; each was examined for all that are above it."""
    from pliant.io.collada import _require_countable

    seen = 0

    class Node(Element):
        def __iter__(self):
            nonlocal seen
            seen += len(self)
            return (self[i] for i in range(len(self)))

        def iter(self, tag=None):
            nonlocal seen
            waiting = [self]
            while waiting:
                seen += 1
                yield waiting[-1]
                waiting += list(waiting.pop())

    nodes = [Node("node", {"id": f"n{i}"}) for i in range(2000)]
    for above, below in pairwise(nodes):
        above.append(below)
    _require_countable(tmp_path / "a.dae", nodes[0])
    assert seen < 3 * len(nodes)
    nodes[-1].append(Node("instance_node", {"url": "#n5"}))
    with pytest.raises(pio.FileError, match="shows itself"):
        _require_countable(tmp_path / "a.dae", nodes[0])


@pytest.mark.parametrize(("levels", "refused"), [(14, False), (18, True), (120, True)])
def test_nodes_of_collada_that_grow_without_bound(tmp_path, levels, refused):
    """Each shows the one before it twice, from a node inside of it."""
    from pliant.io.collada import _require_countable

    root = Element("library_nodes")
    for level in range(levels):
        inner = SubElement(SubElement(root, "node", {"id": f"n{level}"}), "node")
        for _ in range(2 * (level > 0)):
            SubElement(inner, "instance_node", {"url": f"#n{level - 1}"})
    with pytest.raises(pio.FileError, match=r"nodes are used|too deeply") if refused else contextlib.nullcontext():
        _require_countable(tmp_path / "a.dae", root)


def test_verbs_read_3mf(tmp_path, call):
    """The message was that meshio could not deduce the format."""
    ended = call("check", one_model(tmp_path, f'<object id="1">{MESH}</object>', '<item objectid="1"/>'))
    assert ended.code == 0
