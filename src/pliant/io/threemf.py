"""3MF: all that is to be built, as one surface; a zip archive of XML. Materials and slices are passed over."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.xml import local, parse
from pliant.mesh.parts import parts_from
from pliant.mesh.space import Space
from pliant.runtime.reading import current

_ROOT = "3d/3dmodel.model"
_METRES = {"micron": 1e-6, "millimeter": 1e-3, "centimeter": 1e-2, "inch": 0.0254, "foot": 0.3048, "meter": 1.0}
_TREE_SIZE = 8  # bytes for each of a text, in the tree that is made of it
_ITEM_SIZE = 512  # bytes of an item that is shown, beside its mesh
_DEEPEST = 32


class _Placed(NamedTuple):
    """A mesh where one item shows it."""

    name: str
    points: np.ndarray
    faces: np.ndarray


class _Archive:
    """Objects of all models, by the model that they are in and their id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._models: dict[str, dict[str, Element]] = {}
        self._meshes: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                names = {info.filename.lower().lstrip("/"): info for info in archive.infolist()}
                contents = {name: self._read(archive, info) for name, info in names.items() if name.endswith(".model")}
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path.name}: is not a whole zip archive ({error})") from error
        self.roots = {name: parse(path, content) for name, content in contents.items()}
        for name, root in self.roots.items():
            self._models[name] = {one.get("id", ""): one for one in _inside(root, "resources", "object")}

    def _read(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
        current().charge(_TREE_SIZE * info.file_size, info.filename[:80])
        with archive.open(info) as file:
            return file.read(info.file_size + 1)  # asked for all, it would inflate what is not announced

    def shown(self, model: str, holder: Element, matrix: np.ndarray, depth: int = 0) -> list[_Placed]:
        """What an item or a component places, (4, 3) rows times points with a 1."""
        model = _attribute(holder, "path").lower().lstrip("/") or model
        number = holder.get("objectid", "")
        one = self._models.get(model, {}).get(number)
        if one is None:
            raise FileError(f"{self.path.name}: refers to object {number[:40]!r}, which is not there")
        if depth > _DEEPEST:
            raise FileError(f"{self.path.name}: object {number[:40]!r} is nested too deeply, or holds itself")
        whole = _matrix(self.path, holder.get("transform"))
        matrix = np.vstack([whole[:3] @ matrix[:3], whole[3] @ matrix[:3] + matrix[3]])
        found = []
        for mesh in _children(one, "mesh"):
            points, faces = self._mesh(mesh)
            current().charge(24 * (len(points) + len(faces)) + _ITEM_SIZE, f"object {number[:40]}")
            found.append(_Placed(one.get("name") or f"object {number}", points @ matrix[:3] + matrix[3], faces))
        for component in _inside(one, "components", "component"):
            current().charge(_ITEM_SIZE, "components")
            found += self.shown(model, component, matrix, depth + 1)
        return found

    def _mesh(self, mesh: Element) -> tuple[np.ndarray, np.ndarray]:
        if id(mesh) not in self._meshes:
            try:
                rows = [[float(one.get(axis, "")) for axis in "xyz"] for one in _inside(mesh, "vertices", "vertex")]
                corners = ("v1", "v2", "v3")
                cells = [[int(one.get(v, "")) for v in corners] for one in _inside(mesh, "triangles", "triangle")]
                points, faces = np.array(rows, np.float64).reshape(-1, 3), np.array(cells, np.int64).reshape(-1, 3)
            except (ValueError, OverflowError) as error:
                raise FileError(f"{self.path.name}: a vertex or a triangle cannot be read ({error})") from error
            bad = ((faces < 0) | (faces >= len(points))).any(axis=1)
            if bad.any():
                triangle = int(np.argmax(bad))
                raise FileError(f"{self.path.name}: triangle {triangle} refers to a vertex that is not there")
            self._meshes[id(mesh)] = points, faces
        return self._meshes[id(mesh)]


def read(path: Path) -> FileMesh:
    """Vertices and triangles in the order of the items, and in that of the file within each."""
    archive = _Archive(path)
    name = _ROOT if _ROOT in archive.roots else next(iter(archive.roots), "")
    if not name:
        raise FileError(f"{path.name}: there is no model in it")
    root = archive.roots[name]
    unmoved = np.vstack([np.eye(3), np.zeros(3)])
    placed = [one for item in _inside(root, "build", "item") for one in archive.shown(name, item, unmoved)]
    if not placed:
        raise FileError(f"{path.name}: nothing is to be built")
    begins = np.cumsum([0, *(len(one.points) for one in placed)]).tolist()
    faces = np.concatenate([one.faces + begin for one, begin in zip(placed, begins)])
    parts = parts_from(_told_apart([one.name for one in placed]), [len(one.faces) for one in placed])
    space = Space("z", _METRES.get(root.get("unit", "millimeter")))
    return make(path, [("triangle", faces)], np.concatenate([one.points for one in placed]), parts=parts, space=space)


def _told_apart(names: list[str]) -> list[str]:
    """Several of one name are different parts."""
    often = Counter(names)
    return [name if often[name] == 1 else f"{name} ({place})" for place, name in enumerate(names)]


def _matrix(path: Path, text: str | None) -> np.ndarray:
    """(4, 3), by which points with a 1 are multiplied from the left."""
    if text is None:
        return np.vstack([np.eye(3), np.zeros(3)])
    try:
        numbers = np.array([float(field) for field in text.split()])
        return numbers.reshape(4, 3)
    except ValueError as error:
        raise FileError(f"{path.name}: a transform cannot be read ({error})") from error


def _children(element: Element, name: str) -> list[Element]:
    return [child for child in element if local(child.tag) == name]


def _inside(element: Element, group: str, name: str) -> list[Element]:
    return [child for one in _children(element, group) for child in _children(one, name)]


def _attribute(element: Element, name: str) -> str:
    """Of any prefix."""
    text = next((value for key, value in element.items() if local(key) == name), "")
    return str(PurePosixPath(text)) if text else ""
