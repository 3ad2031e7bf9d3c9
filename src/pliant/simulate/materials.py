"""Materials of cloth: what a square metre weighs, how it stretches, shears and bends; SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from pliant.runtime.arrays import DtypeError, OptionError, as_number

# (lower, upper) of each number of a material: what no sheet of anything has is a wrong unit.
_RANGES = {
    "density": (1e-4, 1e2),
    "stretch_warp": (1e-3, 1e9),
    "stretch_weft": (1e-3, 1e9),
    "shear": (1e-4, 1e9),
    "poisson": (0.0, 0.95),
    "bend_warp": (0.0, 1e4),
    "bend_weft": (0.0, 1e4),
    "damping": (0.0, 1.0),
    "thickness": (1e-6, 1e-1),
    "most_strain": (1e-4, 1e3),
}


@dataclass(frozen=True)
class Material:
    """What a cloth is made of.

    Parameters
    ----------
    density : float
        Mass of a unit of area, kg/m2.
    stretch_warp, stretch_weft : float
        Membrane stiffness along the two directions of threads, N/m: force on a strip, divided by its width and strain.
    shear : float
        Membrane stiffness against shear, N/m: force, divided by width and angle.
    poisson : float
        How much a strip narrows as it stretches, the geometric mean of both directions.
    bend_warp, bend_weft : float
        Flexural rigidity of a strip of unit width, N m2/m = N m: moment on a width, divided by it and the curvature.
    damping : float
        Seconds: stress of a rate of strain is damping times the stiffness times that rate, of stretch and of bending.
    thickness : float
        m
    most_strain : float
        Green's strain of a direction of threads beyond which stiffness is added to limit it, ten times that of the
        stiffer direction; large for none.

    Raises
    ------
    OptionError, DtypeError
        Where a number is none, or out of every range of sheets.
    """

    density: float
    stretch_warp: float
    stretch_weft: float
    shear: float
    poisson: float = 0.2
    bend_warp: float = 1e-6
    bend_weft: float = 1e-6
    damping: float = 5e-4
    thickness: float = 5e-4
    most_strain: float = 1e3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = as_number(getattr(self, field.name), field.name, *_RANGES[field.name])
            object.__setattr__(self, field.name, value)


# Measured: density, thickness and Poisson's ratio of cotton, wool and polyester, plain weaves (Penava, Simic Penava and
# Knezic 2014, "Determination of the elastic constants of plain woven fabrics by a tensile test in various directions");
# density, and rigidity against bending along the warp, of denim (11 oz) and jersey (an interlock for T-shirts) (Wang,
# O'Brien and Ramamoorthi 2011, "Data-driven elastic models for cloth"). All others are typical orders of magnitude,
# rounded: of woven fabrics as the Kawabata Evaluation System and FAST measure them (stretch is the slope at loads of
# wear, 50 to 500 N/m, not at break), of canvas, felt and leather as makers state them. A fabric may be far from another
# of the same name: measure yours where it matters.
MATERIALS: Mapping[str, Material] = MappingProxyType(
    {
        "canvas": Material(0.400, 6000.0, 4500.0, 120.0, 0.20, 6.0e-5, 4.5e-5, 5e-4, 8.0e-4, 0.05),
        "cotton": Material(0.150, 1000.0, 800.0, 45.0, 0.243, 7.0e-6, 5.0e-6, 5e-4, 3.18e-4, 0.10),
        "denim": Material(0.324, 4000.0, 2500.0, 90.0, 0.20, 6.4e-5, 4.0e-5, 5e-4, 9.0e-4, 0.06),
        "felt": Material(0.300, 900.0, 900.0, 350.0, 0.30, 8.0e-5, 8.0e-5, 1e-3, 1.5e-3, 0.15),
        "jersey": Material(0.187, 120.0, 70.0, 35.0, 0.30, 2.3e-5, 1.7e-5, 1e-3, 6.0e-4, 0.40),
        "leather": Material(0.700, 9000.0, 8000.0, 3000.0, 0.40, 5.0e-4, 5.0e-4, 1e-3, 1.0e-3, 0.15),
        "polyester": Material(0.165, 1500.0, 1200.0, 35.0, 0.381, 5.0e-6, 4.0e-6, 5e-4, 2.52e-4, 0.08),
        "satin": Material(0.120, 1300.0, 900.0, 20.0, 0.30, 3.5e-6, 2.5e-6, 5e-4, 2.2e-4, 0.08),
        "silk": Material(0.080, 1100.0, 700.0, 15.0, 0.10, 1.8e-6, 1.2e-6, 5e-4, 1.8e-4, 0.10),
        "wool": Material(0.235, 700.0, 450.0, 40.0, 0.277, 1.2e-5, 9.0e-6, 8e-4, 5.68e-4, 0.15),
    }
)


def material_of(given: Any) -> Material:
    """A Material, or the one of a name."""
    if isinstance(given, Material):
        return given
    if not isinstance(given, str):
        raise DtypeError(f"material={given!r} must be a pliant.simulate.Material or the name of one")
    if given not in MATERIALS:
        raise OptionError(f"material={given!r} is not known; choose one of {', '.join(map(repr, MATERIALS))}")
    return MATERIALS[given]
