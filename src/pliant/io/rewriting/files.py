"""A file with other positions: which format is rewritten how, and what is said where something is lost."""

from __future__ import annotations

import codecs
import gzip
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from pliant.io.content import ending_of, is_packed, plain_file, read_bytes, unmarked
from pliant.io.mesh import FileMesh
from pliant.io.readers import read
from pliant.io.rewriting import gltf, ply, stl, texts
from pliant.io.writing.meshes import require_ending, write
from pliant.runtime.arrays import as_positions
from pliant.runtime.reading import carrying, current, reading
from pliant.runtime.writing import OutputError, write_atomically

# Each takes the path, for messages, the content without the mark of an encoding, positions before and after (n, 3);
# and returns the content after.
_REWRITE: dict[str, Callable[[Path, bytes, np.ndarray, np.ndarray], bytes]] = {
    ".obj": texts.rewrite_obj,
    ".off": texts.rewrite_off,
    ".ply": ply.rewrite,
    ".stl": stl.rewrite,
}
_GLTF = (".glb", ".gltf")


def rewrite(path: str | os.PathLike[str], source: str | os.PathLike[str], x: np.ndarray) -> None:
    """Write a file again, with its vertices elsewhere and all else as it was.

    path : where to; with the ending of `source`
    source : .obj, .off, .ply, .stl, .glb or .gltf, also packed by gzip: groups, materials, texture coordinates,
        colours, polygons, comments and their order stay, byte for byte, and so does the text of vertices that do not
        move. Of STL, normals of faces that change are computed again; of glTF, limits of positions. Any other format,
        or another ending, is written by ``write``, with a warning of what is lost.
    x : (n, 3) positions of all vertices, in the order in which ``read`` gives them

    Numbers in text are the shortest that give the same float64 again; STL, PLY of floats and glTF round to float32.
    """
    path, source = Path(path), Path(source)
    ending = ending_of(source)
    with reading(source):
        before = read(source, displacement="none")
        x = as_positions(x, "x", len(before.points))
        require_rewritable(path, source)
        if not _keeps_all(path, source):
            _write_without(path, source, before, x)
            return
        if ending in _GLTF:
            with plain_file(source) as plain, carrying(current().moved(plain)):
                content = gltf.rewrite(plain, x)
        else:
            content = _marked(source, read_bytes(source), before.points, x)
    write_atomically(path, lambda file: file.write(gzip.compress(content, mtime=0) if is_packed(path) else content))


def require_rewritable(path: Path, source: Path) -> None:
    """Raises OutputError where ``rewrite`` would, for the names alone."""
    if _keeps_all(path, source):
        return
    if is_packed(path):
        raise OutputError(f"{path.name}: files of this kind are not packed here; leave .gz out of the name")
    require_ending(path)


def _keeps_all(path: Path, source: Path) -> bool:
    """Whether nothing is lost: the format is the same one, and one that is rewritten."""
    ending = ending_of(source)
    return ending_of(path) == ending and (ending in _REWRITE or ending in _GLTF)


def _marked(source: Path, content: bytes, before: np.ndarray, x: np.ndarray) -> bytes:
    """Rewritten, in the encoding that it was in."""
    body = unmarked(source, content)
    after = _REWRITE[ending_of(source)](source, body, before, x)
    if content.startswith(codecs.BOM_UTF8):
        return codecs.BOM_UTF8 + after
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark) and body is not content:
            return mark + after.decode().encode(encoding)
    return after


def _write_without(path: Path, source: Path, mesh: FileMesh, x: np.ndarray) -> None:
    """By the writer of the ending of `path`: cells and positions, and nothing else."""
    warnings.warn(
        f"{path.name}: holds cells and positions only; what {source.name} has besides them is kept in files of the "
        f"same kind: .obj, .off, .ply, .stl, .glb and .gltf",
        stacklevel=3,
    )
    write(path, replace(mesh, points=x, frames=None))
