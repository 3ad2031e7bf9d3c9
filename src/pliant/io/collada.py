"""COLLADA (.dae): all that the scene shows, as one surface, by pycollada; skins as they were bound."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from pliant._extras import needed
from pliant._reading import current
from pliant.mesh.parts import parts_from
from pliant.mesh.space import Space

from .content import read_bytes
from .mesh import FileError, FileMesh, make
from .xml import parse

_MOST_INSTANCES = 2**16  # nodes can be used many times over, by few bytes


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


def _require_countable(path: Path, root: Element) -> None:
    """Nodes that show others are not so many, nor do they show themselves; nothing of it is read."""
    uses = {
        node.get("id", ""): [one.get("url", "")[1:] for one in node.iter() if _local(one.tag) == "instance_node"]
        for node in root.iter()
        if _local(node.tag) == "node"
    }
    counts: dict[str, int] = {}

    def count(name: str, above: tuple[str, ...]) -> int:
        if name in above or len(above) > 100:
            raise FileError(f"{path.name}: node {name[:40]!r} shows itself, or others too deeply")
        if name not in counts:
            counts[name] = 1 + sum(count(other, (*above, name)) for other in uses.get(name, ()))
        return counts[name]

    if sum(count(name, ()) for name in uses) > _MOST_INSTANCES + len(uses):
        raise FileError(f"{path.name}: nodes are used more than {_MOST_INSTANCES} times")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


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
