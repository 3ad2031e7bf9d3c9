"""STL with other positions: corners of the triangles that move, and their normals."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.io.rewriting.texts import moved, shortest, with_fields
from pliant.io.stl import FACET, HEADER, is_binary


def rewrite(path: Path, content: bytes, before: np.ndarray, x: np.ndarray) -> bytes:
    rows = moved(before, x)
    return _binary(content, rows, x) if is_binary(content) else _text(content, rows, x)


def _binary(content: bytes, rows: np.ndarray, x: np.ndarray) -> bytes:
    facets = np.frombuffer(content, FACET, offset=HEADER).copy()
    facets["corners"][rows // 3, rows % 3] = x[rows]
    changed = np.unique(rows // 3)
    facets["normal"][changed] = _normals(facets["corners"][changed].astype(np.float64))
    return content[:HEADER] + facets.tobytes()


def _text(content: bytes, rows: np.ndarray, x: np.ndarray) -> bytes:
    lines = content.split(b"\n")
    words = [line.split(maxsplit=1)[:1] for line in lines]
    corners = [number for number, row in enumerate(words) if row and row[0].lower() == b"vertex"]
    facets = [number for number, row in enumerate(words) if row and row[0].lower() == b"facet"]
    for row in rows.tolist():
        lines[corners[row]] = with_fields(lines[corners[row]], (1, 2, 3), shortest(x[row]))
    changed = np.unique(rows // 3)
    for facet, normal in zip(changed.tolist(), _normals(x.reshape(-1, 3, 3)[changed])):
        if len(lines[facets[facet]].split()) == 5:  # facet normal x y z; some write none
            lines[facets[facet]] = with_fields(lines[facets[facet]], (2, 3, 4), shortest(normal))
    return b"\n".join(lines)


def _normals(corners: np.ndarray) -> np.ndarray:
    """(m, 3) unit vectors; 0 where a triangle has no area."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
