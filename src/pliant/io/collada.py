"""COLLADA (.dae): all that the scene shows, as one surface, by pycollada; skins as they were bound."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from pliant.io.content import read_bytes
from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.xml import local, parse
from pliant.mesh.parts import parts_from
from pliant.mesh.space import Space
from pliant.runtime.extras import needed
from pliant.runtime.reading import current

_MOST_INSTANCES = 2**16  # nodes can be used many times over, by few bytes
_DEEPEST = 100  # of nodes that show others that show others


def read(path: Path) -> FileMesh:
    """Vertices of each geometry once for each time that it is shown; polygons as triangles."""
    content = read_bytes(path)
    root = parse(path, content)
    _require_countable(path, root)
    document = _document(path, content)
    points, faces, names = [np.empty((0, 3))], [np.empty((0, 3), np.int64)], []
    begin = 0
    with _named(path):
        for bound in _shown(document):
            first: dict[int, int] = {}  # where vertices begin, of each array that triangles of the geometry refer to
            for primitive in bound.primitives():
                triangles = primitive.triangleset() if hasattr(primitive, "triangleset") else primitive
                corners = getattr(triangles, "vertex_index", None)
                if corners is None or np.shape(corners)[1:] != (3,) or triangles.vertex is None:
                    continue  # lines
                key = id(primitive.original.vertex)
                if key not in first:
                    first[key] = begin
                    points.append(np.asarray(triangles.vertex, np.float64))
                    begin += len(points[-1])
                    current().charge(24 * len(points[-1]), str(bound.original.id)[:80])
                current().charge(24 * len(corners), str(bound.original.id)[:80])
                faces.append(np.asarray(corners, np.int64) + first[key])
                names.append(str(bound.original.id))
    parts = parts_from(names, [len(some) for some in faces[1:]]) if names else None
    blocks = [("triangle", np.concatenate(faces))]
    return make(path, blocks, np.concatenate(points), parts=parts, space=_space(document))


def _document(path: Path, content: bytes) -> Any:
    with needed("collada", "pliant.io", path.name):
        import collada
        from collada import common
    with _named(path):
        # Textures and effects that are broken or not known do not matter.
        document = collada.Collada(io.BytesIO(content), ignore=[common.DaeUnsupportedError, common.DaeBrokenRefError])
    said = [f"{type(error).__name__}: {error}" for error in document.errors]
    if said:
        warnings.warn(f"{path.name}: left out what pycollada cannot read: {len(said)} ({said[0][:200]})", stacklevel=3)
    if document.scene is None:
        raise FileError(f"{path.name}: there is no scene in it")
    return document


def _shown(document: Any) -> list[Any]:
    """Geometries where the scene shows them; those of skins as they were bound."""
    skinned = [bound.geometry for bound in document.scene.objects("controller") if hasattr(bound, "geometry")]
    return [*document.scene.objects("geometry"), *skinned]


def _space(document: Any) -> Space:
    asset = document.assetInfo
    axis = str(asset.upaxis or "Y_UP")[0].lower()
    metres = asset.unitmeter
    return Space(axis if axis in "xyz" else "y", float(metres) if metres and 0.0 < metres < np.inf else None)


class _Node:
    """What a node holds: others, and the names of those that it shows."""

    def __init__(self, name: str, above: _Node | None) -> None:
        self.name, self.above = name, above
        self.inside: list[_Node] = []
        self.shown: list[str] = []
        self.is_open = False  # what is below it is being counted
        self.count: int | None = None  # of all that it shows, directly or not
        self.depth = 0  # of nodes that show others


def _nodes(root: Element) -> list[_Node]:
    found: list[_Node] = []
    waiting: list[tuple[Element, _Node | None]] = [(root, None)]
    while waiting:
        element, above = waiting.pop()
        kind = local(element.tag)
        if kind == "instance_node" and above is not None:
            above.shown.append(element.get("url", "")[1:])
        if kind == "node":
            node = _Node(element.get("id", ""), above)
            if above is not None:
                above.inside.append(node)
            found.append(node)
            above = node
        waiting += [(child, above) for child in element]
    return found


def _require_countable(path: Path, root: Element) -> None:
    """Nodes that show others are not so many, nor do they show themselves; nothing of it is read."""
    nodes = _nodes(root)
    named = {node.name: node for node in nodes}
    total = 0
    for node in nodes:
        _count(path, node, named)
        total += node.count or 0 if node.above is None else 0
    if total > _MOST_INSTANCES:
        raise FileError(f"{path.name}: nodes are used more than {_MOST_INSTANCES} times")


def _count(path: Path, first: _Node, named: dict[str, _Node]) -> None:
    """A node and all below it; without recursion, since skeletons are nested deeply."""
    waiting = [first]
    while waiting:
        node = waiting[-1]
        shown = [named[name] for name in node.shown if name in named]
        below = node.inside + shown
        if node.count is not None:
            waiting.pop()
        elif not node.is_open:
            node.is_open = True
            waiting += [one for one in below if one.count is None]
        else:
            depths = [one.depth for one in node.inside] + [1 + one.depth for one in shown]
            node.depth = max(depths, default=0)
            if any(one.count is None for one in below) or node.depth > _DEEPEST:
                raise FileError(f"{path.name}: node {node.name[:40]!r} shows itself, or others too deeply")
            # More than are allowed need not be told apart: their numbers would grow without bound.
            node.count = min(len(node.shown) + sum(one.count or 0 for one in below), _MOST_INSTANCES + 1)
            waiting.pop()


@contextlib.contextmanager
def _named(path: Path):
    """What pycollada raises, as errors that name the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it uses what numpy advises against
            yield
    except FileError:
        raise
    except Exception as error:  # whatever the first wrong number led to
        raise FileError(f"{path.name}: pycollada cannot read it ({type(error).__name__}: {error})") from error
