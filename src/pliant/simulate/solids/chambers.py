"""Chambers of solids: which faces enclose them, and what is inside, as users give it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError, OptionError, as_indices, as_number
from pliant.simulate.rows import Rows
from pliant.simulate.settings import Settings
from pliant.simulate.solids.building import part_of
from pliant.simulate.solids.pressure import Amount, Pressure
from pliant.simulate.solids.shells import faces_of_shells

AMBIENT = 101325.0  # N/m2
MOST_PRESSURE, MOST_GAS = 1e12, 1e15


@dataclass(frozen=True)
class Chamber:
    """A closed space, and what presses its walls from inside.

    Parameters
    ----------
    pressure : float or function of the time, s, optional
        N/m2 above the pressure outside.
    gas : float or function of the time, s, optional
        J, absolute pressure times volume, in place of a pressure: pressure falls where the chamber gets larger. As much
        as ``ambient`` times the volume is at rest; with less, the chamber is pressed together.
    ambient : float
        N/m2, the pressure outside, where there is a gas.
    faces : (m, 3) integers, optional
        Around the chamber, closed, oriented all outwards or all inwards; default: all closed cavities of solids and all
        closed components of shells, each by itself.

    Raises
    ------
    OptionError
        Where both or none of pressure and gas are given, or faces without any.
    """

    pressure: Amount | None = None
    gas: Amount | None = None
    ambient: float = AMBIENT
    faces: Any = None

    def __post_init__(self) -> None:
        if (self.pressure is None) == (self.gas is None):
            raise OptionError("a chamber needs either pressure= or gas=")
        as_number(self.ambient, "ambient", 0.0, MOST_PRESSURE)
        if self.faces is not None:
            object.__setattr__(self, "faces", as_indices(self.faces, "faces", 3))
            if not len(self.faces):
                raise OptionError("faces= of a chamber has no faces: without it, closed cavities and shells are found")


def loads_of(given: Any, mesh: VolumeMesh, x: np.ndarray, rows: Rows, settings: Settings) -> tuple[Pressure, ...]:
    """Of a number of N/m2, a function of the time that gives it, a Chamber, or several of them; of None, nothing."""
    if given is None:
        return ()
    listed: list[Any] = [given] if isinstance(given, Chamber | str) or not isinstance(given, Sequence) else list(given)
    chambers = [one if isinstance(one, Chamber) else Chamber(pressure=one) for one in listed]
    found = None
    loads = []
    for chamber in chambers:
        if chamber.faces is not None:
            walls = [chamber.faces]
            if chamber.faces.max(initial=-1) >= len(x):
                raise OptionError(f"a chamber names vertex {chamber.faces.max()}, but the solid has {len(x)}")
        else:
            walls = found = chambers_of(mesh, x) if found is None else found
        loads += [_load_of(chamber, faces, x, rows, settings.scale) for faces in walls]
    return tuple(loads)


def _load_of(chamber: Chamber, faces: np.ndarray, x: np.ndarray, rows: Rows, scale: float) -> Pressure:
    if chamber.pressure is not None:
        return Pressure(faces, x, rows, pressure=_scaled(chamber.pressure, "pressure", MOST_PRESSURE, 1.0 / scale))
    assert chamber.gas is not None
    gas = _scaled(chamber.gas, "gas", MOST_GAS, scale**2)
    return Pressure(faces, x, rows, gas=gas, ambient=chamber.ambient / scale)


def _scaled(given: Amount, name: str, most: float, scale: float) -> Amount:
    """In the units of the simulation."""

    def at(time: float) -> float:
        least = 0.0 if name == "gas" else -most
        return scale * as_number(given(time) if callable(given) else given, name, least, most)

    return at


def chambers_of(mesh: VolumeMesh, x: np.ndarray) -> list[np.ndarray]:
    """(k, 3) int32 walls of each closed cavity of solids, and of each closed component of shells.

    Raises
    ------
    MeshError
        Where there are none.
    """
    found = [walls[:, ::-1] for walls in _components(part_of(mesh, False).surface()) if _volume(x[walls]) < 0.0]
    # Not the surface of shells: where two of them have a triangle in common, at the rim of two sheets, both are walls.
    found += [walls for walls in _components(TriMesh(faces_of_shells(mesh))) if _is_closed(walls)]
    if not found:
        raise MeshError("pressure= needs a closed cavity or closed shells, and the solid has none")
    return [np.ascontiguousarray(walls) for walls in found]


def _components(surface: TriMesh) -> list[np.ndarray]:
    faces = surface._faces
    labels = surface.components[faces[:, 0]]
    return [faces[labels == label] for label in np.unique(labels)]


def _is_closed(faces: np.ndarray) -> bool:
    """Whether no edge has a face on one side only."""
    ends = np.sort(np.concatenate([faces[:, (i, (i + 1) % 3)] for i in range(3)]), axis=1)
    _, passed = np.unique(ends, axis=0, return_counts=True)
    return bool((passed > 1).all())


def _volume(corners: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0
