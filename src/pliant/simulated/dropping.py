"""Meshes of solids that fall onto meshes or a floor, as the command line names them."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io import FileError, read
from pliant.mesh.volumes import VolumeMesh
from pliant.mesh.welding import merging_of
from pliant.runtime.arrays import OptionError
from pliant.scenes.volume_scene import KINDS
from pliant.simulate.driven import Obstacle
from pliant.simulate.settings import UP
from pliant.simulate.solids.materials import SOLID_MATERIALS
from pliant.simulated.draping import material_named, obstacle_from, settings_from
from pliant.simulated.solid_plan import SolidSetup, solid_setup

_ABOVE = 0.1  # of its height, that a solid starts above a floor
_WIDE = 4.0  # a floor, in sizes of what falls onto it


def dropped(
    solids: SequenceOf[Path],
    on: SequenceOf[Path],
    *,
    pins: SequenceOf[int] = (),
    units: str | None = None,
    up: str | None = None,
    rate: float = 60.0,
    material: str = "rubber",
    **options: Any,
) -> SolidSetup:
    """A simulation of solids from files.

    solids : volume meshes; on : meshes or sequences, whose frames move them; a floor below the solids if there are none
    pins : vertices, numbered through all solids
    rate : frames in a second, also of sequences without times
    options : thickness, friction
    """
    material_named(material, SOLID_MATERIALS)
    pieces, x, copies, names, space, begin = [], [], [], [], None, 0
    for path in solids:
        file = read(path)
        cells, first = cells_of(path, file.cells, file.points)
        pieces.append({kind: rows + begin for kind, rows in cells.items()})
        x.append(file.points)
        copies.append(first + begin)
        names.append((path.name, len(file.points)))
        space, begin = space or file.space, begin + len(file.points)
    copy_of = np.concatenate(copies)
    points, settings = np.concatenate(x), settings_from(space, units, up)
    held = np.asarray(list(pins), np.int64)
    if len(held) and not 0 <= held.min() <= held.max() < begin:
        raise OptionError(f"--pins: there is no vertex {held.max()}; the solids have {begin}")
    obstacles = [obstacle_from(path, rate) for path in on] or [floor_below(points, settings.up)]
    made: dict[str, Any] = options | {"materials": material, "settings": settings, "obstacles": obstacles}
    if len(held):
        made["pins"] = np.unique(copy_of[held])
    cells = {kind: np.concatenate([one[kind] for one in pieces if kind in one])
             for kind in KINDS if any(kind in one for one in pieces)}  # fmt: skip
    return solid_setup(
        solids[0].stem, cells, points, made, rate=rate, solids=tuple(names),
        obstacles=tuple(path.name for path in on) or ("floor",),
        copy_of=None if (copy_of == np.arange(begin)).all() else copy_of,
    )  # fmt: skip


def cells_of(path: Path, cells: dict[str, np.ndarray], x: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The solid cells of a file, and which vertex each is a copy of: those at equal positions are one.

    Other cells, such as the triangles that many files have on boundaries, are no bodies of their own, and left out.
    """
    solid = {kind: rows for kind, rows in cells.items() if kind in VolumeMesh.type_names[:4]}
    if not solid:
        has = ", ".join(cells) or "nothing"
        raise FileError(f"{path.name}: has no solid cells (tetra, hexahedron, wedge, pyramid), but {has}")
    first = merging_of(solid, x, None).first
    return {kind: first[rows] for kind, rows in solid.items()}, first


def floor_below(x: np.ndarray, up: str) -> Obstacle:
    """A square, a tenth of their height below points (n, 3)."""
    axis = tuple(UP).index(up)
    lower, upper = x.min(axis=0), x.max(axis=0)
    sides = [k for k in range(3) if k != axis]
    corners = np.tile(0.5 * (lower + upper), (4, 1))
    half = 0.5 * _WIDE * (upper - lower).max()
    corners[:, sides] += half * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    corners[:, axis] = lower[axis] - _ABOVE * (upper - lower)[axis]
    return Obstacle([(0, 1, 2), (0, 2, 3)], corners)
