"""Materials of solids: what a cubic metre weighs, how it deforms, flows and breaks; SI units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.runtime.arrays import DtypeError, OptionError, as_number, choose
from pliant.simulate.solids.laws import COROTATIONAL, HENCKY, NEO_HOOKEAN

LAWS = {"neo-Hookean": NEO_HOOKEAN, "corotational": COROTATIONAL, "Hencky": HENCKY}
_MOST_POISSON = 0.4999  # at 0.5 nothing can be compressed, which a law with one modulus for it cannot say


@dataclass(frozen=True)
class SolidMaterial:
    """What a solid is made of.

    Parameters
    ----------
    density : float
        kg/m3
    young : float
        Young's modulus, N/m2.
    poisson : float
        Poisson's ratio, -0.9 to below 0.5.
    law : {"neo-Hookean", "corotational", "Hencky"}
        Elasticity; "Hencky" where there is a yield stress.
    yield_stress : float
        N/m2, of von Mises; infinite for what does not flow.
    hardening : float
        N/m2: how much the yield stress grows with equivalent plastic strain.
    failure_stress : float
        N/m2, tension at which it splits; infinite for what does not.
    damping : float
        Seconds: stress of a rate of strain is damping times the stiffness times that rate.

    Raises
    ------
    OptionError, DtypeError
        Where a number is none, or out of every range of solids.
    """

    density: float
    young: float
    poisson: float
    law: str = "neo-Hookean"
    yield_stress: float = np.inf
    hardening: float = 0.0
    failure_stress: float = np.inf
    damping: float = 0.0

    def __post_init__(self) -> None:
        choose(self.law, "law", tuple(LAWS))
        as_number(self.density, "density", 1e-3, 1e6)
        as_number(self.young, "young", 1e-3, 1e14)
        if as_number(self.poisson, "poisson", -0.9, np.inf) > _MOST_POISSON:
            raise OptionError(f"poisson={self.poisson!r} must be below 0.5: nothing could be compressed")
        as_number(self.hardening, "hardening", 0.0, 1e14)
        as_number(self.damping, "damping", 0.0, 10.0)
        for name in ("yield_stress", "failure_stress"):
            as_number(getattr(self, name), name, 1e-6, np.inf)
        if self.yield_stress < np.inf and self.law != "Hencky":
            raise OptionError(f'law={self.law!r} knows no plastic flow: a yield_stress needs law="Hencky"')

    @property
    def lame(self) -> tuple[float, float]:
        """Lame's constants lambda and mu, N/m2."""
        nu = self.poisson
        return self.young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), self.young / (2.0 * (1.0 + nu))


# Density and elasticity as handbooks of metals and rubber state them; yield of structural steel (S235), of annealed
# copper, and of the aluminium alloy 6061-T6; hardening as a straight line through the first tenth of strain. Coated
# nylon for airbags, 0.35 mm thick, as a sheet that is alike in all directions. It, flesh and liver are of the order of
# magnitude that measurements find (of flesh by indentation and elastography), and differ by a factor of several from
# one sample to another.
SOLID_MATERIALS: Mapping[str, SolidMaterial] = MappingProxyType(
    {
        "steel": SolidMaterial(7850.0, 2.0e11, 0.29, "Hencky", 2.35e8, 1.0e9, 4.5e8),
        "copper": SolidMaterial(8960.0, 1.17e11, 0.34, "Hencky", 7.0e7, 6.0e8, 2.2e8),
        "aluminium": SolidMaterial(2700.0, 6.9e10, 0.33, "Hencky", 2.76e8, 3.4e8, 3.1e8),
        "rubber": SolidMaterial(1100.0, 1.5e6, 0.49, "neo-Hookean", damping=2e-3),
        "flesh": SolidMaterial(1050.0, 2.0e4, 0.47, "neo-Hookean", damping=5e-3),
        "liver": SolidMaterial(1060.0, 5.0e3, 0.45, "neo-Hookean", damping=5e-3),
        "airbag fabric": SolidMaterial(700.0, 4.0e8, 0.3, "Hencky", failure_stress=1.4e8),
    }
)


def solid_material_of(given: Any) -> SolidMaterial:
    """A SolidMaterial, or the one of a name."""
    if isinstance(given, SolidMaterial):
        return given
    if not isinstance(given, str):
        raise DtypeError(f"materials={given!r} must be a pliant.simulate.SolidMaterial or the name of one")
    if given not in SOLID_MATERIALS:
        raise OptionError(f"materials={given!r} is not known; choose one of {', '.join(map(repr, SOLID_MATERIALS))}")
    return SOLID_MATERIALS[given]
