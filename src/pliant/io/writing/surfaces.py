"""OBJ, PLY, STL and OFF. Coordinates in text are the shortest that give the same float64 again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np

from pliant.io.stl import FACET


def write_obj(file: IO[bytes], faces: np.ndarray, x: np.ndarray) -> None:
    _write_lines(file, _points("v ", x))
    _write_lines(file, (f"f {a} {b} {c}\n" for a, b, c in (faces.astype(np.int64) + 1).tolist()))


def write_off(file: IO[bytes], faces: np.ndarray, x: np.ndarray) -> None:
    file.write(f"OFF\n{len(x)} {len(faces)} 0\n".encode())
    _write_lines(file, _points("", x))
    _write_lines(file, (f"3 {a} {b} {c}\n" for a, b, c in faces.tolist()))


def _points(word: str, x: np.ndarray) -> Iterator[str]:
    return (f"{word}{a!r} {b!r} {c!r}\n" for a, b, c in x.tolist())


def _write_lines(file: IO[bytes], lines: Iterator[str]) -> None:
    file.writelines(line.encode() for line in lines)


def write_stl(file: IO[bytes], faces: np.ndarray, x: np.ndarray) -> None:
    """Binary; coordinates are rounded to float32, and every triangle has points of its own."""
    facets = np.zeros(len(faces), FACET)
    corners = x[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    facets["normal"] = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    facets["corners"] = corners
    file.write(b"triangles".ljust(80))
    file.write(len(faces).to_bytes(4, "little"))
    file.write(facets.tobytes())


def write_ply(
    file: IO[bytes],
    faces: np.ndarray,
    x: np.ndarray,
    colours: tuple[np.ndarray, np.ndarray] | None = None,
    counts: np.ndarray | None = None,
) -> None:
    """Binary, in float64.

    colours : (n, 3) of the vertices and (m, 3) of the faces, uint8
    counts : (m,) a number for each face, called collisions
    """
    points = [("x", "<f8"), ("y", "<f8"), ("z", "<f8")]
    rows = [("count", "u1"), ("corners", "<i4", 3)]
    rgb = [(name, "u1") for name in ("red", "green", "blue")] if colours else []
    rows += rgb + ([("collisions", "<i4")] if counts is not None else [])
    vertices, polygons = np.zeros(len(x), points + rgb), np.zeros(len(faces), rows)
    for k, axis in enumerate("xyz"):
        vertices[axis] = x[:, k]
    polygons["count"], polygons["corners"] = 3, faces
    for table, of in zip((vertices, polygons), colours or ()):
        for k, (name, _) in enumerate(rgb):
            table[name] = of[:, k]
    if counts is not None:
        polygons["collisions"] = counts
    names = {"<f8": "double", "u1": "uchar", "<i4": "int"}
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(x)}"]
    head += [f"property {names[kind]} {name}" for name, kind in points + rgb]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
    head += [f"property {names[kind]} {name}" for name, kind, *_ in rows[2:]]
    file.write("\n".join([*head, "end_header\n"]).encode())
    file.write(vertices.tobytes())
    file.write(polygons.tobytes())
