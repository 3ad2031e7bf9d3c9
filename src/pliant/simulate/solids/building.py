"""The physics of solids, from what users give: mass, cells and shells as terms of one body."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.mesh.cells import MOST_CORNERS, SOLID_TYPES, TYPES
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError, OptionError, ShapeError, as_floats
from pliant.runtime.threads import ThreadPool
from pliant.simulate.rows import Rows, rows_of
from pliant.simulate.scene import of_vertices
from pliant.simulate.settings import Settings
from pliant.simulate.solids.changing.cauchy import cell_stresses
from pliant.simulate.solids.materials import LAWS, SolidMaterial, solid_material_of
from pliant.simulate.solids.quadrature import InvertedCellError, lumped_mass, points_of
from pliant.simulate.solids.shells import shell_constants, shell_mass, shells_of
from pliant.simulate.solids.shells_step import ShellStep
from pliant.simulate.solids.stresses import SolidStep, solids_of

LEAST_THICKNESS = 0.05  # of the mean edge, where no gap is given


class Physics(NamedTuple):
    """mass : (n,) kg; rows : of all terms; cells, shells : these, the first one of a body first

    stiffness : (n,) kg/s2, of the stiffest cell at each vertex; edge : mean length
    """

    mass: np.ndarray
    rows: Rows
    cells: SolidStep | None
    shells: ShellStep | None
    stiffness: np.ndarray
    edge: float

    @property
    def terms(self) -> tuple[SolidStep | ShellStep, ...]:
        return tuple(term for term in (self.cells, self.shells) if term is not None)

    def stretch(self, x: np.ndarray) -> np.ndarray:
        """(p,) largest principal stretch at each point of all terms, at x, (n, 3)."""
        return np.concatenate([term.stretch(x) for term in self.terms])

    def plastic_strain(self) -> np.ndarray:
        """(c,) equivalent plastic strain of each cell, the largest of its points and layers."""
        parts = []
        if self.cells is not None:
            parts.append(np.maximum.reduceat(self.cells.plastic.strain, self.cells.solids.points.start[:-1]))
        if self.shells is not None:
            of_points = self.shells.plastic.equivalent.max(axis=1)
            parts.append(self._of_shells(np.maximum.reduceat(of_points, self.shells.shells.start[:-1])))
        return np.concatenate(parts)

    def stress(self, x: np.ndarray) -> np.ndarray:
        """(c,) of von Mises, at x, (n, 3): of solids, of the mean of Cauchy's stress over the cell; of shells, the
        largest of their points and layers."""
        parts = []
        if self.cells is not None:
            stress = cell_stresses(self.cells.solids, self.cells.plastic, x, self.cells._pool)
            shear = stress - np.eye(3) * (np.trace(stress, axis1=1, axis2=2) / 3.0)[:, None, None]
            parts.append(np.sqrt(1.5 * (shear**2).sum(axis=(1, 2))))
        if self.shells is not None:
            parts.append(self._of_shells(self.shells.stresses(x).max(axis=1)))
        return np.concatenate(parts)

    def _of_shells(self, of_elements: np.ndarray) -> np.ndarray:
        """(s,) the largest of the elements of each shell."""
        assert self.shells is not None
        cell = self.shells.shells.cell
        return of_vertices(cell[:, None], of_elements, int(cell.max()) + 1)


def part_of(mesh: VolumeMesh, is_shell: bool) -> VolumeMesh:
    """The solid cells, or the shells of a mesh, in their order."""
    names = TYPES[SOLID_TYPES:] if is_shell else TYPES[:SOLID_TYPES]
    return VolumeMesh({name: mesh.cells[name] for name in names}, ranks=mesh.ranks)


def physics_of(
    mesh: VolumeMesh, x: np.ndarray, given: Any, thickness: Any, settings: Settings, pool: ThreadPool
) -> Physics:
    """given : a material, its name, or several, one for each component or each cell; thickness : of shells"""
    _require_upright(mesh, x)
    kinds, materials = _materials_of(mesh, given)
    count, scale = mesh.solid_count, settings.scale
    young = np.array([one.young for one in materials])[kinds] / scale
    # Stress is kg/(m s2), density kg/m3: in the units of the simulation, positions stay as they are.
    density = np.array([one.density for one in materials])[kinds] / scale**3
    ends = x[mesh.edges]
    edge = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean())
    mass, stiffness, stencils = np.zeros(len(x)), edge * young, []
    points = made = None
    corners = np.where(np.arange(MOST_CORNERS) < mesh._corner_count[:, None], mesh._corners, -1).astype(np.int32)
    if count:
        solid = part_of(mesh, False)
        points = points_of(solid, x)
        mass += lumped_mass(solid, points, density[:count], len(x))
        stencils.append(corners[:count])
    if count < len(kinds):
        shell = part_of(mesh, True)
        thick = _shell_thickness(thickness, len(kinds) - count)
        stiffness[count:] = young[count:] * thick
        constants = shell_constants([materials[kind] for kind in kinds[count:]], thick)
        constants[:, [0, 2, 3]] /= scale
        made = shells_of(shell, x, constants)
        mass += shell_mass(shell, x, density[count:] * thick)
        stencils.append(np.pad(made.stencil, ((0, 0), (0, 2)), constant_values=-1))
    elif thickness is not None:
        raise OptionError("shell_thickness= is of shells, and the solid has none")
    rows, _ = rows_of(np.concatenate(stencils), len(x))
    shells = None if made is None else ShellStep(made, pool, rows, points is None)
    cells = None
    if points is not None:
        constants = np.array([(*one.lame, one.yield_stress, one.hardening) for one in materials])[kinds] / scale
        law = np.array([LAWS[one.law] for one in materials], np.int32)[kinds]
        damping = np.array([one.damping for one in materials])[kinds]
        own = corners[:count], points, law[:count], constants[:count], len(x), damping[:count], rows
        cells = SolidStep(solids_of(*own), pool)
    return Physics(mass, rows, cells, shells, of_vertices(mesh._corners, stiffness, len(x)), edge)


def _require_upright(mesh: VolumeMesh, x: np.ndarray) -> None:
    if len(mesh.types) == 0:
        raise MeshError("the solid has no cells, hence no mass")
    bad = inverted(mesh, x)
    if len(bad):
        kind = TYPES[mesh._types[bad[0]]]
        raise InvertedCellError(
            f"cell {bad[0]}, a {kind}, is inverted or has no volume, as {len(bad)} of the cells are"
        )


def _shell_thickness(given: Any, count: int) -> np.ndarray:
    """(count,) of each shell."""
    if given is None:
        raise OptionError("the solid has shells: shell_thickness= says how thick they are")
    thickness = as_floats(given, "shell_thickness")
    if thickness.shape not in ((), (count,)):
        raise ShapeError(f"shell_thickness must be one number or have shape ({count},), but has {thickness.shape}")
    return np.broadcast_to(thickness, (count,)).copy()


def _materials_of(mesh: VolumeMesh, given: Any) -> tuple[np.ndarray, list[SolidMaterial]]:
    cells = len(mesh._types)
    if isinstance(given, str | SolidMaterial):
        return np.zeros(cells, np.int64), [solid_material_of(given)]
    try:
        materials = [solid_material_of(one) for one in given]
    except TypeError:
        materials = [solid_material_of(given)]  # which names what it should be
    components = mesh.components[mesh._corners[:, 0]]
    count = int(components.max(initial=-1)) + 1
    if len(materials) == cells and cells != count:
        return np.arange(cells), materials
    if len(materials) != count:
        raise OptionError(
            f"materials has {len(materials)} entries, but the solid has {count} components and {cells} cells"
        )
    return components.astype(np.int64), materials
