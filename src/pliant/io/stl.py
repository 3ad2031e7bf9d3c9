"""STL, binary or text: three points for each triangle, in the order of the file, not merged."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.io.content import read_bytes, unmarked
from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.text import as_floats

FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
HEADER = 84


def read(path: Path) -> FileMesh:
    content = read_bytes(path)
    text = unmarked(path, content)
    content = text if text.lstrip().startswith(b"solid") else content
    points = _binary_points(path, content) if is_binary(content) else _text_points(path, content)
    return make(path, [("triangle", np.arange(len(points)).reshape(-1, 3))], points)


def is_binary(content: bytes) -> bool:
    """The header of a binary file may begin with "solid" too: then its size decides."""
    if not content.lstrip().startswith(b"solid"):
        return True
    return _announced(content) == len(content) or b"facet" not in content


def _announced(content: bytes) -> int:
    """Bytes that a binary file of this header has."""
    return HEADER + FACET.itemsize * int.from_bytes(content[80:84], "little")


def _binary_points(path: Path, content: bytes) -> np.ndarray:
    if len(content) < HEADER:
        raise FileError(f"{path.name}: neither text that begins with 'solid' nor a binary header of {HEADER} bytes")
    if _announced(content) != len(content):
        raise FileError(
            f"{path.name}: declares {_announced(content)} bytes of triangles, but has {len(content)}; cut off?"
        )
    facets = np.frombuffer(content, FACET, offset=HEADER)
    return facets["corners"].reshape(-1, 3).astype(np.float64)


def _text_points(path: Path, content: bytes) -> np.ndarray:
    lines = content.split(b"\n")
    words = [line.split() for line in lines]
    numbers = [number for number, row in enumerate(words) if row and row[0].lower() == b"vertex"]
    facets = sum(1 for row in words if row and row[0].lower() == b"facet")
    if len(numbers) != 3 * facets:
        raise FileError(f"{path.name}: {facets} facets have {len(numbers)} vertices, not 3 each; cut off?")
    if not any(row and row[0].lower() == b"endsolid" for row in words):
        raise FileError(f"{path.name}: there is no endsolid; cut off?")
    return as_floats(path, lines, numbers, [words[number][1:] for number in numbers], "a vertex")
