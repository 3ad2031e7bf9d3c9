"""How a simulation is run: units, time steps, tolerances."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from pliant.runtime.arrays import OptionError, as_number, choose
from pliant.simulate.materials import Material

UNITS = {"m": 1.0, "cm": 100.0, "mm": 1000.0, "in": 1.0 / 0.0254, "ft": 1.0 / 0.3048}
UP = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
GRAVITY = 9.81  # m/s2
ADAPTIVE = "adaptive"
STEPS = (1e-9, 1.0)  # s, the shortest and the longest
_RANGES = {
    "step": STEPS,
    "newton": (1, 1000),
    "tolerance": (1e-14, 10.0),
    "linear_tolerance": (1e-14, 0.5),
    "slip_speed": (1e-9, 1.0),
    "air_density": (0.0, 1e4),
}


class Effort(NamedTuple):
    """How exactly implicit steps are solved: fields of ``Settings``."""

    newton: int
    tolerance: float
    linear_tolerance: float


OF_CLOTH = Effort(4, 0.05, 0.2)
# What is left unsolved is energy that no account has. Of three sheets that buckle between two moving pins, that was
# more than all that had been put in with 4 Newton steps, 3 % or more with 20, and 0.1 to 0.6 % with these.
OF_SOLIDS = Effort(50, 1e-3, 0.05)


@dataclass(frozen=True)
class Settings:
    """How a simulation is run.

    Parameters
    ----------
    units : {"m", "cm", "mm", "in", "ft"}
        Of all positions and of ``thickness``, ``wind`` and paths, in and out; materials and gravity stay in SI units.
    up : {"x", "y", "z"}
        The axis that points up: where gravity that is not given points down.
    step : float or "adaptive"
        s, the longest time step; frames are divided into steps of equal length. "adaptive": as long as no vertex of the
        cloth moves further than the mean edge, 1/1920 to 1/60 s; with ``scheme="explicit"``, 0.65 of the longest stable
        step.
    newton : int, optional
        Newton steps in a time step, at most; up to three times as many while they still move a vertex further than the
        mean edge. Default: 4 for cloth, 50 for solids.
    tolerance : float, optional
        They end when the next one would gain less energy than the cloth has when it moves by this part of the mean
        length of the edges in a step, or at half of the speed of a fall of one step. With the default, 0.05, cloth that
        falls onto a ball gains at most a thousandth of its energy in a step, as measured on a few meshes. Default for
        solids: 0.001, with which their balance of energies closes within 1 %, of stiff sheets that buckle too.
    linear_tolerance : float, optional
        Of the linear solver, relative. Default: 0.2 for cloth, 0.05 for solids. With 0.3, two of sixteen heaps of
        spinning scraps of cloth gained 2 and 4% of their energy in a step, with 0.2 at most 0.2% (of six); more exact
        steps do not need fewer Newton steps.
    slip_speed : float
        m/s: friction holds what would creep more slowly than this.
    air_density : float
        kg/m3; 0 for none.
    rest_angles : {"rest", "flat"}
        Whether the cloth is bent at rest as its rest positions are, or flat everywhere.
    pinched : {"wait", "raise"}
        What obstacles do where the cloth between them cannot give way.
    """

    units: str = "m"
    up: str = "z"
    step: float | str = 0.01
    newton: int | None = None
    tolerance: float | None = None
    linear_tolerance: float | None = None
    slip_speed: float = 1e-3
    air_density: float = 1.2
    rest_angles: str = "rest"
    pinched: str = "wait"

    def __post_init__(self) -> None:
        choose(self.units, "units", tuple(UNITS))
        choose(self.up, "up", tuple(UP))
        choose(self.rest_angles, "rest_angles", ("rest", "flat"))
        choose(self.pinched, "pinched", ("wait", "raise"))
        if isinstance(self.step, str):
            choose(self.step, "step", (ADAPTIVE,))
        for field in fields(self):
            given = getattr(self, field.name)
            if field.name in _RANGES and given is not None and not isinstance(given, str):
                as_number(given, field.name, *_RANGES[field.name])
        if self.newton is not None and int(self.newton) != self.newton:
            raise OptionError(f"newton={self.newton!r} must be an integer")

    @property
    def scale(self) -> float:
        """Units of length in a metre.

        Positions are never converted: rounding would make the proof one of other positions. Constants are.
        """
        return UNITS[self.units]

    def effort(self, default: Effort) -> Effort:
        """How exactly implicit steps are solved, where nothing is given as by default.

        Parameters
        ----------
        default : Effort

        Returns
        -------
        Effort
        """
        given = {name: getattr(self, name) for name in Effort._fields}
        return default._replace(**{name: value for name, value in given.items() if value is not None})

    def scaled(self, material: Material) -> Material:
        """The constants of a material in these units; stiffness, kg/s2, has no length in it.

        Parameters
        ----------
        material : Material
            In SI units.

        Returns
        -------
        Material
            In units of these settings.
        """
        values: dict[str, Any] = {field.name: getattr(material, field.name) for field in fields(material)}
        s = self.scale
        values |= {"density": material.density / s**2, "thickness": material.thickness * s}
        values |= {"bend_warp": material.bend_warp * s**2, "bend_weft": material.bend_weft * s**2}
        scaled = object.__new__(Material)  # of these units, the ranges are not those of SI
        for name, value in values.items():
            object.__setattr__(scaled, name, value)
        return scaled


def settings_of(given: Any) -> Settings:
    """From what users have: None for the defaults, or Settings."""
    if given is not None and not isinstance(given, Settings):
        raise OptionError(f"settings must be pliant.simulate.Settings(...), not a {type(given).__name__}")
    return given or Settings()
