"""Cloth and solids that end every step free of contact.

    cloth = pliant.simulate.Cloth(faces, x, material="silk", obstacles=[pliant.simulate.Obstacle(ball, ball_x)])
    for frame in cloth.frames(240):
        show(frame.positions)

Names are resolved on first use, as in `pliant` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.simulate.cloth import Cloth
    from pliant.simulate.driven import Keyframes, Obstacle, Pin, Turning
    from pliant.simulate.frames import Balance, Counts, Energies, Frame, StepStats, StepTimes
    from pliant.simulate.joints import Seam, Spring
    from pliant.simulate.materials import MATERIALS, Material
    from pliant.simulate.settings import Settings
    from pliant.simulate.solid import Solid
    from pliant.simulate.solids.chambers import Chamber
    from pliant.simulate.solids.changing.options import Blade, Fracture
    from pliant.simulate.solids.materials import SOLID_MATERIALS, SolidMaterial
    from pliant.simulate.welding import Welded

_HOME = {
    "Balance": "pliant.simulate.frames",
    "Chamber": "pliant.simulate.solids.chambers",
    "Blade": "pliant.simulate.solids.changing.options",
    "Counts": "pliant.simulate.frames",
    "Fracture": "pliant.simulate.solids.changing.options",
    "SOLID_MATERIALS": "pliant.simulate.solids.materials",
    "Solid": "pliant.simulate.solid",
    "SolidMaterial": "pliant.simulate.solids.materials",
    "MATERIALS": "pliant.simulate.materials",
    "Cloth": "pliant.simulate.cloth",
    "Energies": "pliant.simulate.frames",
    "Frame": "pliant.simulate.frames",
    "Keyframes": "pliant.simulate.driven",
    "Material": "pliant.simulate.materials",
    "Obstacle": "pliant.simulate.driven",
    "Pin": "pliant.simulate.driven",
    "Seam": "pliant.simulate.joints",
    "Settings": "pliant.simulate.settings",
    "Spring": "pliant.simulate.joints",
    "StepStats": "pliant.simulate.frames",
    "StepTimes": "pliant.simulate.frames",
    "Turning": "pliant.simulate.driven",
    "Welded": "pliant.simulate.welding",
}

__all__ = [
    "MATERIALS",
    "SOLID_MATERIALS",
    "Balance",
    "Blade",
    "Chamber",
    "Cloth",
    "Counts",
    "Energies",
    "Fracture",
    "Frame",
    "Keyframes",
    "Material",
    "Obstacle",
    "Pin",
    "Seam",
    "Settings",
    "Solid",
    "SolidMaterial",
    "Spring",
    "StepStats",
    "StepTimes",
    "Turning",
    "Welded",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant.simulate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
