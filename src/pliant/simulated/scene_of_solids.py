"""Scene files that name solids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from pliant.io import read
from pliant.mesh.volumes import VolumeMesh
from pliant.scenes.volume_scene import KINDS
from pliant.simulate.driven import Turning
from pliant.simulate.solids.changing.options import Blade, Fracture
from pliant.simulate.solids.materials import SOLID_MATERIALS, SolidMaterial
from pliant.simulated.bodies import Piece, file_of, placed
from pliant.simulated.dropping import cells_of
from pliant.simulated.solid_plan import SolidSetup, solid_setup
from pliant.simulated.tables import Table

SOLID_KEYS = ("name", "file", "material", "scale", "turn", "move")
FRACTURE_KEYS = ("failure_stress", "erosion_strain", "merging_force", "merging_distance", "interval")
BLADE_KEYS = ("edge", "velocity", "begin", "end")
_MATERIAL = tuple(one.name for one in fields(SolidMaterial))


def require_no_cloth(top: Table) -> None:
    """It is another simulation, and so is what is sewn."""
    for key in ("cloth", "seam", "spring"):
        if key in top:
            raise top.error(key, "there is a [[solid]], too: cloth and solids are not simulated together")


def solid_of(table: Table) -> tuple[Piece, dict[str, np.ndarray]]:
    """A piece, with the vertices that its cells have for faces, and its cells."""
    number = table.where.rpartition(" ")[2]
    path = file_of(table, "file")
    with table.naming("file"):
        file = read(path)
        cells, first = cells_of(path, file.cells, file.points)
    used = np.unique(np.concatenate([rows.ravel() for rows in cells.values()]))[:, None]
    copy_of = None if (first == np.arange(len(first))).all() else first
    piece = Piece(
        table.text("name", f"solid {number}"), table, used, placed(table, file.points), files=(path,), copy_of=copy_of
    )
    return piece, cells


def materials_of_solids(top: Table, solids: Sequence[tuple[Piece, dict[str, np.ndarray]]]) -> list[SolidMaterial]:
    """One for each component of the mesh of all solids, in their order."""
    own = {name: _material(table) for name, table in top.named_tables("materials", ("like", *_MATERIAL)).items()}
    known = dict(SOLID_MATERIALS) | own
    out = []
    for piece, cells in solids:
        material = known[piece.table.choice("material", "rubber", known)]
        labels = VolumeMesh(cells).components
        out += [material] * len(np.unique(labels[labels >= 0]))
    return out


def breaking_of(top: Table) -> dict[str, Any]:
    """Options of ``Solid`` from [fracture] and [[blade]]; none without them."""
    blades = [_blade(table) for table in top.tables("blade", BLADE_KEYS)]
    if "fracture" not in top and not blades:
        return {}
    table = top.table("fracture", FRACTURE_KEYS)
    keys = (key for key in FRACTURE_KEYS if key in table)
    given: dict[str, Any] = {key: table.number(key, None, 0.0 if key == "interval" else 1e-12, 1e15) for key in keys}
    with table.naming(next(iter(given), "interval")):
        return {"fracture": Fracture(blades=blades, **given)}


def _blade(table: Table) -> Blade:
    edge = table.rows("edge", 3)
    begin, end = (table.number(key, default, 0.0, 1e6) for key, default in (("begin", 0.0), ("end", 1e6)))
    with table.naming("edge"):
        return Blade(edge, Turning(edge, velocity=table.vector("velocity"), begin=begin, end=end))


def _material(table: Table) -> SolidMaterial:
    base = SOLID_MATERIALS[table.choice("like", "rubber", SOLID_MATERIALS)]
    if "like" not in table:
        for key in ("density", "young", "poisson"):
            table.number(key)  # an error where it is missing
    numbers = (key for key in _MATERIAL if key in table and key != "law")
    given: dict[str, Any] = {key: table.number(key, None, -1e15, 1e15) for key in numbers}
    if "law" in table:
        given["law"] = table.text("law")
    with table.naming(next(iter(given), "like")):
        return replace(base, **given)


def setup_of_solids(
    name: str,
    solids: Sequence[tuple[Piece, dict[str, np.ndarray]]],
    options: dict[str, Any],
    how_long: tuple[int, float],
    obstacles: tuple[str, ...],
    copy_of: np.ndarray | None,
) -> SolidSetup:
    """how_long : frames, and how many in a second"""
    begins = np.cumsum([0, *(len(piece.x) for piece, _ in solids)])
    cells = {
        kind: np.concatenate([one[kind] + first for (_, one), first in zip(solids, begins) if kind in one])
        for kind in KINDS
        if any(kind in one for _, one in solids)
    }
    x = np.concatenate([piece.x for piece, _ in solids])
    names = tuple((piece.name, len(piece.x)) for piece, _ in solids)
    return solid_setup(name, cells, x, options, *how_long, names, obstacles, copy_of)
