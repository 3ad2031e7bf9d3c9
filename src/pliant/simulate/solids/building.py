"""The physics of solids, from what users give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.mesh.cells import MOST_CORNERS, TYPES
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError, OptionError, as_number
from pliant.simulate.scene import of_vertices
from pliant.simulate.settings import Settings
from pliant.simulate.solids.materials import LAWS, SolidMaterial, solid_material_of
from pliant.simulate.solids.quadrature import InvertedCellError, lumped_mass, points_of
from pliant.simulate.solids.stresses import Solids, solids_of

LEAST_THICKNESS = 0.05  # of the mean edge, where none is given
MOST_PRESSURE = 1e12  # N/m2


class Physics(NamedTuple):
    """mass : (n,) kg; solids; stiffness : (n,) kg/s2, of the stiffest cell at each vertex; edge : mean length"""

    mass: np.ndarray
    solids: Solids
    stiffness: np.ndarray
    edge: float


def physics_of(mesh: VolumeMesh, x: np.ndarray, given: Any, settings: Settings) -> Physics:
    """given : a material, its name, or a sequence of them, one for each component"""
    _require_upright(mesh, x)
    kinds, materials = _materials_of(mesh, given)
    points, scale = points_of(mesh, x), settings.scale
    # Stress is kg/(m s2), density kg/m3: in the units of the simulation, positions stay as they are.
    constants = np.array([(*one.lame, one.yield_stress, one.hardening) for one in materials])[kinds] / scale
    law = np.array([LAWS[one.law] for one in materials], np.int32)[kinds]
    density = np.array([one.density for one in materials])[kinds] / scale**3
    damping = np.array([one.damping for one in materials])[kinds]
    corners = np.where(np.arange(MOST_CORNERS) < mesh._corner_count[:, None], mesh._corners, -1).astype(np.int32)
    ends = x[mesh.edges]
    edge = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean())
    young = np.array([one.young for one in materials])[kinds] / scale
    return Physics(
        lumped_mass(mesh, points, density, len(x)), solids_of(corners, points, law, constants, len(x), damping),
        edge * of_vertices(mesh._corners, young, len(x)), edge,
    )  # fmt: skip


def _require_upright(mesh: VolumeMesh, x: np.ndarray) -> None:
    if mesh.solid_count == 0:
        raise MeshError("the solid has no cells, hence no mass")
    bad = inverted(mesh, x)
    if len(bad):
        kind = TYPES[mesh._types[bad[0]]]
        raise InvertedCellError(
            f"cell {bad[0]}, a {kind}, is inverted or has no volume, as {len(bad)} of the cells are"
        )


def _materials_of(mesh: VolumeMesh, given: Any) -> tuple[np.ndarray, list[SolidMaterial]]:
    if isinstance(given, str | SolidMaterial):
        return np.zeros(len(mesh._types), np.int64), [solid_material_of(given)]
    try:
        materials = [solid_material_of(one) for one in given]
    except TypeError:
        materials = [solid_material_of(given)]  # which names what it should be
    components = mesh.components[mesh._corners[:, 0]]
    count = int(components.max(initial=-1)) + 1
    if len(materials) != count:
        raise OptionError(f"materials has {len(materials)} entries, but the solid has {count} components")
    return components.astype(np.int64), materials


def pressure_of(given: Any, settings: Settings) -> Callable[[float], float]:
    """A function of the time, in the units of the simulation, from a number of N/m2 or a function that gives one."""

    def at(time: float) -> float:
        value = given(time) if callable(given) else given
        return as_number(value, "pressure", -MOST_PRESSURE, MOST_PRESSURE) / settings.scale

    at(0.0)
    return at
