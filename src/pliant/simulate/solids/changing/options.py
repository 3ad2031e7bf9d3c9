"""What breaks a solid, as users say it: thresholds by material, and blades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.runtime.arrays import OptionError, ShapeError, as_number, as_positions
from pliant.simulate.driven import Path
from pliant.simulate.settings import Settings
from pliant.simulate.solids.changing.cutting import swept_by

_MOST = 1e15  # N/m2, N


@dataclass(frozen=True)
class Blade:
    """A cutting edge that moves: what it sweeps through is cut. It has no thickness, and touches nothing.

    edge : (m, 3) floats, points of a polyline at time 0, at least two
    path : a function of the time in seconds that gives their positions, (m, 3), as ``Keyframes`` and ``Turning`` are
    """

    edge: Any
    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "edge", as_positions(self.edge, "edge of a blade"))
        if len(self.edge) < 2:
            raise ShapeError(f"the edge of a blade has {len(self.edge)} points, but needs two")
        if not callable(self.path):
            raise OptionError(f"path={self.path!r} of a blade must be a function of the time")

    def at(self, time: float) -> np.ndarray:
        """(m, 3) positions of the edge.

        Parameters
        ----------
        time : float
            s

        Returns
        -------
        (m, 3) float64
        """
        x = as_positions(self.path(time), f"path({time:g}) of a blade")
        if x.shape != self.edge.shape:
            raise ShapeError(f"path({time:g}) of a blade has shape {x.shape}, but its edge has {len(self.edge)} points")
        return x


@dataclass(frozen=True)
class Fracture:
    """What breaks, and when; without any of it, what the materials say.

    Parameters
    ----------
    failure_stress : float or floats, optional
        N/m2: vertices under more tension split along faces of their cells. One for all cells, or one for each
        component or each cell; infinite for what does not split. Default: ``SolidMaterial.failure_stress``.
    erosion_strain : float or floats
        Equivalent plastic strain at which a cell is taken out; its mass stays at its vertices. One for all, or one for
        each component or each cell.
    merging_force : float
        N, of contact on a vertex: two vertices of the boundary that are pressed by more become one if near.
    merging_distance : float, optional
        How near, in units of length. Default: twice the gap that the solid keeps.
    blades : Blade or several
        What cuts tetrahedra; other cells part where their faces lie in the way of a blade.
    interval : float
        Seconds from one search for what erodes or fails to the next one; default: after every step, which in explicit
        ones of 1e-8 s may take longer than they do.
    """

    failure_stress: Any = None
    erosion_strain: Any = np.inf
    merging_force: float = np.inf
    merging_distance: float | None = None
    blades: Blade | Sequence[Blade] = ()
    interval: float = 0.0

    def __post_init__(self) -> None:
        blades = (self.blades,) if isinstance(self.blades, Blade) else tuple(self.blades)
        for blade in blades:
            if not isinstance(blade, Blade):
                raise OptionError(f"blades must be of pliant.simulate.Blade, not {blade!r}")
        object.__setattr__(self, "blades", blades)
        as_number(self.merging_force, "merging_force", 0.0, np.inf)
        as_number(self.interval, "interval", 0.0, 1e6)
        if self.merging_distance is not None:
            as_number(self.merging_distance, "merging_distance", 1e-12, 1e6)

    def is_due(self, begin: float, end: float) -> bool:
        """Whether a step from one time to another ends with a search for what erodes or fails.

        Parameters
        ----------
        begin, end : float
            s

        Returns
        -------
        bool
        """
        return self.interval == 0.0 or end // self.interval > begin // self.interval


class Thresholds(NamedTuple):
    """In the units of the simulation: failure : (c,); erosion : (c,); merging : (force, distance), or None"""

    failure: np.ndarray
    erosion: np.ndarray
    merging: tuple[float, float] | None


def thresholds_of(
    given: Fracture, of_materials: np.ndarray, components: np.ndarray, gap: float, settings: Settings
) -> Thresholds:
    """of_materials : (c,) N/m2, failure stress of each cell; components : (c,) of the cells; gap : thickness"""
    failure = of_materials
    if given.failure_stress is not None:
        failure = _of_cells(given.failure_stress, "failure_stress", components)
    merging = None
    if given.merging_force < np.inf:
        distance = 2.0 * gap if given.merging_distance is None else float(given.merging_distance)
        # N is kg m/s2: in the units of the simulation, positions stay as they are.
        merging = float(given.merging_force) * settings.scale, distance
    return Thresholds(failure / settings.scale, _of_cells(given.erosion_strain, "erosion_strain", components), merging)


def _of_cells(given: Any, name: str, components: np.ndarray) -> np.ndarray:
    values = np.asarray(given, np.float64) if np.ndim(given) else np.float64(as_number(given, name, 0.0, np.inf))
    if np.isnan(values).any() or (values <= 0.0).any():
        raise OptionError(f"{name} must be positive")
    count = int(components.max(initial=-1)) + 1
    if values.ndim == 0:
        return np.full(len(components), float(values))
    if values.shape == (len(components),):
        return values.copy()
    if values.shape == (count,):
        return values[components]
    raise ShapeError(f"{name} must be one number, or {count} of components, or {len(components)} of cells")


def swept_in(blades: Any, begin: float, end: float) -> np.ndarray | None:
    """(k, 3, 3) triangles that blades sweep from one time to another; None without blades."""
    if not blades:
        return None
    return np.concatenate([swept_by(blade.at(begin), blade.at(end)) for blade in blades])
