"""Cloths and obstacles of a scene file: from files or as simple shapes, put where they belong."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.io import read, surface_of
from pliant.io.mesh import FileMesh
from pliant.io.numbered import files_of, is_pattern
from pliant.io.sequences import open_sequence
from pliant.mesh.welding import merging_of
from pliant.runtime.reading import FileError, current
from pliant.scenes.shapes import grid, icosphere, weave
from pliant.simulated.paths import RigidKeys, path_of, turned
from pliant.simulated.tables import Table

_PLACING = ("scale", "turn", "move")
CLOTH_KEYS = ("name", "file", "size", "cells", "material", *_PLACING)
OBSTACLE_KEYS = (
    "name", "file", "ball", "plate", "rate", "friction", "keyframes", "centre", "triangles", *_PLACING,
)  # fmt: skip
_MOST_CELLS = 4000  # on one side of a sheet


class Piece(NamedTuple):
    """A cloth or an obstacle.

    faces : (m, 3); x : (n, 3); path : of an obstacle that moves; files : that were read
    copy_of : (n,) vertex that each is a copy of, where the file has vertices at equal positions
    """

    name: str
    table: Table
    faces: np.ndarray
    x: np.ndarray
    path: Any = None
    friction: float | None = None
    files: tuple[Path, ...] = ()
    copy_of: np.ndarray | None = None


def cloth_of(table: Table) -> Piece:
    """A mesh from a file, or a flat sheet."""
    number = table.where.rpartition(" ")[2]
    name = table.text("name", f"cloth {number}")
    if table.one_of("file", "size") == "size":
        faces, x = _sheet(table)
        return Piece(name, table, faces, placed(table, x))
    path = file_of(table, "file")
    with table.naming("file"):
        merged = merged_of(read(path))
    return Piece(name, table, merged[0], placed(table, merged[1]), files=(path,), copy_of=merged[2])


def obstacle_of(table: Table, rate: float) -> Piece:
    """A mesh or a sequence from files, a ball or a plate; rate : frames in a second, where a sequence has no times."""
    number = table.where.rpartition(" ")[2]
    name = table.text("name", f"obstacle {number}")
    kind = table.one_of("file", "ball", "plate")
    friction = table.number("friction", None, 0.0, 10.0) if "friction" in table else None
    path, files = None, ()
    if kind == "file":
        faces, x, path, files = _obstacle_from_files(table, rate)
    elif kind == "ball":
        faces, points = icosphere(max(1, round(math.sqrt(table.whole("triangles", 1280, 20) / 20))))
        radius = table.number("ball", None, 1e-9, 1e9)
        x = placed(table, radius * points)
    else:
        faces, uv = grid(1, 1)
        x = placed(table, np.column_stack(((uv - 0.5) * table.vector("plate", None, 2), np.zeros(len(uv)))))
    if "keyframes" in table:
        if path is not None:
            raise table.error("keyframes", "the file has frames of its own")
        path = rigid_path(table, x)
        x = path(0.0)
    return Piece(name, table, faces, x, path, friction, files)


def merged_of(file: FileMesh) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Faces, positions, and which vertex each is a copy of: vertices at equal positions of one part are one."""
    x = file.points
    objects = None if file.parts is None else file.parts.bodies(surface_of(file), len(x))
    merging = merging_of(file.cells, x, objects)
    if not len(merging.others):
        return surface_of(file), x, None
    cells = {kind: merging.first[rows] for kind, rows in file.cells.items()}
    return surface_of(FileMesh(cells, x)), x, merging.first


def rigid_path(table: Table, x: np.ndarray) -> RigidKeys:
    """x : (n, 3) where it is without motion"""
    keys = table.tables("keyframes", ("time", "move", "turn"))
    times = np.array([key.number("time", None, -1e6, 1e6) for key in keys])
    if not len(times) or (np.diff(times) <= 0).any():
        raise table.error("keyframes", "times must be ascending, one at least")
    moves = np.array([key.vector("move", (0.0, 0.0, 0.0)) for key in keys])
    turns = np.radians([key.vector("turn", (0.0, 0.0, 0.0)) for key in keys])
    centre = table.vector("centre") if "centre" in table else x.mean(axis=0)
    return RigidKeys(x, centre, times, moves, turns)


def _sheet(table: Table) -> tuple[np.ndarray, np.ndarray]:
    size, cells = table.vector("size", None, 2), table.vector("cells", (40, 40), 2)
    if (size <= 0).any():
        raise table.error("size", "must be two lengths above 0")
    if (cells != np.round(cells)).any() or cells.min() < 1 or cells.max() > _MOST_CELLS:
        raise table.error("cells", f"must be two whole numbers from 1 to {_MOST_CELLS}")
    nu, nv = (int(one) for one in cells)
    current().charge(400 * nu * nv, "cells of a sheet")
    faces, uv = weave(nu, nv)
    flat = (uv / cells - 0.5) * size
    return faces, np.column_stack((flat, np.zeros(len(flat))))


def _obstacle_from_files(table: Table, rate: float) -> tuple[np.ndarray, np.ndarray, Any, tuple[Path, ...]]:
    path = file_of(table, "file")
    rate = table.number("rate", rate, 1e-3, 1e6)
    members = tuple(files_of(path)) or (path,)
    with table.naming("file"):
        for member in members:
            current().require_inside(table.file, member)
        sequence = open_sequence(path, rate=rate)
        motion = path_of(sequence)
        if motion is not None:
            motion = type(motion)(motion.times, np.stack([placed(table, x) for x in motion.positions]))
        merging = merging_of(sequence.cells or {"triangle": sequence.faces}, sequence[0], sequence.objects)
        return merging.first[sequence.faces], placed(table, sequence[0]), motion, members


def file_of(table: Table, key: str) -> Path:
    """The path of a name, which may stand for numbered files."""
    name = table.text(key)
    place = table.file.parent / name
    with table.naming(key):
        if not place.is_file() and is_pattern(place) and not Path(name).is_absolute() and ".." not in Path(name).parts:
            if not files_of(place):
                raise FileError(f"refers to {name!r}, which does not exist")
            return place
        return current().beside(table.file, name)


def placed(table: Table, x: np.ndarray) -> np.ndarray:
    """Scaled and turned around the origin, then moved; turn is a rotation vector in degrees."""
    x = table.number("scale", 1.0, 1e-9, 1e9) * x
    return turned(x, np.radians(table.vector("turn", (0.0, 0.0, 0.0)))) + table.vector("move", (0.0, 0.0, 0.0))
