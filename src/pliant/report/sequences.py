"""Sequences of a deforming skin, with the vertices that collide, in files that other tools read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.frames.sequence import Sequence as Frames
from pliant.report.picture import RED, SKIN
from pliant.runtime.writing import OutputError, folder_atomically, write_atomically

# Written by ``pliant.io.write_sequence``; what they have no place for, which vertices collide, is left out.
OF_OTHER_TOOLS = (".pc2", ".mdd", ".usd", ".usda", ".usdc", ".pvd", ".xdmf")


class Played(NamedTuple):
    """A clip that has been played."""

    times: np.ndarray  # (f,) seconds
    positions: np.ndarray  # (f, n, 3) of the skin
    colliding: np.ndarray  # (f, n) bool
    faces: np.ndarray  # (m, 3) int32


def require_writable(path: Path) -> None:
    """Before anything is computed: whether the path can be written to as far as can be known."""
    if path.suffix and path.is_dir():
        raise OutputError(f"{path} is a folder")
    if path.suffix not in (".npz", "", *OF_OTHER_TOOLS):
        raise OutputError(
            f"{path}: sequences are written to a .npz file, to a folder with a .ply file for each frame, or to a file "
            f"that ends in {', '.join(OF_OTHER_TOOLS)}"
        )
    if path.suffix == "" and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise OutputError(f"{path} exists and is not an empty folder")
    if not path.parent.is_dir():
        raise OutputError(f"{path.parent} is not a folder")


def write(path: Path, played: Played) -> None:
    """A .npz file of all arrays, that numpy reads without pickle; a folder of PLY files, frame by frame; or positions
    alone, in a format of other tools."""
    require_writable(path)
    if path.suffix == ".npz":
        write_atomically(path, lambda file: np.savez(file, **played._asdict()))
        return
    if path.suffix in OF_OTHER_TOOLS:
        from pliant.io import write_sequence  # pyright: ignore[reportAttributeAccessIssue]

        write_sequence(path, Frames(played.faces, played.positions, times=played.times, name=path.stem))
        return
    with folder_atomically(path) as folder:
        digits = max(4, len(str(len(played.times))))
        for i, (x, red) in enumerate(zip(played.positions, played.colliding)):
            (folder / f"frame_{i:0{digits}}.ply").write_bytes(ply(x, played.faces, red))


def ply(x: np.ndarray, faces: np.ndarray, red: Sequence[bool] | np.ndarray) -> bytes:
    """A binary PLY file: positions as doubles, colours, and whether each vertex collides."""
    vertices = np.empty(len(x), [("x", "<f8", 3), ("colour", "u1", 3), ("colliding", "u1")])
    vertices["x"], vertices["colliding"] = x, red
    vertices["colour"] = np.where(np.asarray(red)[:, None], _bytes(RED), _bytes(SKIN))
    corners = np.empty(len(faces), [("count", "u1"), ("corners", "<i4", 3)])
    corners["count"], corners["corners"] = 3, faces
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(x)}"]
    head += [f"property double {axis}" for axis in "xyz"]
    head += [f"property uchar {name}" for name in ("red", "green", "blue", "colliding")]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header\n"]
    return "\n".join(head).encode() + vertices.tobytes() + corners.tobytes()


def _bytes(colour: tuple[float, float, float]) -> np.ndarray:
    return np.rint(255.0 * np.array(colour)).astype(np.uint8)
