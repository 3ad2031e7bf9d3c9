"""Characters from files."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from pliant.characters.rig.errors import SkinError
from pliant.characters.rig.rig import Character
from pliant.io.gltf.accessors import Accessors
from pliant.io.gltf.clips import read_clips
from pliant.io.gltf.document import Document
from pliant.io.gltf.nodes import read_skeleton
from pliant.io.gltf.skins import choose_skin, read_surface
from pliant.io.gltf.skins import weld as welded
from pliant.mesh.triangles import TriMesh
from pliant.runtime.reading import reading


def load(
    path: str | os.PathLike[str],
    *,
    weld: bool = True,
    skin: str | int | None = None,
    budget: int | None = None,
    outside: bool = False,
) -> Character:
    """Read a skinned character from a .glb or .gltf file.

    weld : make one vertex of all that are at exactly one position, with the mean of their weights, and leave out
        vertices and faces that nothing is left of; False keeps the vertices of the file
    skin : name or number of the skin, where the file has several; by default the one that carries most vertices
    budget : bytes that the file may expand to; 64 times its size if not given, and 256 MB at least
    outside : read buffers outside of the folder of the file too

    All primitives and meshes that the skin carries become one surface; the skeleton has its joints and all nodes above
    them; clips are the animations that move any of these. What is left out is said in a warning. What cannot be read
    raises a `RigError` that names the file and the place in it.
    """
    with reading(path, budget, outside):
        return _load(Document(Path(path)), weld, skin)


def _load(document: Document, weld: bool, skin: str | int | None) -> Character:
    accessors = Accessors(document)
    notes: list[str] = []
    chosen = choose_skin(document, accessors, skin)
    skeleton, place = read_skeleton(document, accessors, chosen)
    surface = read_surface(document, accessors, chosen, notes)
    _note_others(document, chosen, skin is not None, notes)
    if weld:
        surface = welded(surface)
        if len(surface.faces) == 0:
            raise SkinError(f"{document.name}: skins[{chosen}]: all its triangles have collapsed to points or lines")
    character = Character(
        document.path.stem,
        TriMesh(surface.faces),
        surface.positions,
        surface.joints.astype(np.int32),
        surface.weights,
        skeleton,
        read_clips(document, accessors, place),
    )
    for note in notes:
        warnings.warn(f"{document.name}: left out: {note}", stacklevel=3)
    return character


def _note_others(document: Document, chosen: int, by_name: bool, notes: list[str]) -> None:
    names = [skin.text("name", f"skin {i}") for i, skin in enumerate(document.root.entries("skins"))]
    others = [repr(name) for i, name in enumerate(names) if i != chosen]
    if others and not by_name:
        notes.append(f"skins {', '.join(others)}; {names[chosen]!r} carries most vertices")
    shown = [node for node in document.root.entries("nodes") if "mesh" in node]
    rigid = sum("skin" not in node for node in shown)
    if rigid:
        notes.append(f"{rigid} meshes without a skin")
