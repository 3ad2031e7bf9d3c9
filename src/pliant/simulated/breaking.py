"""Scenes of solids that break: a bullet that goes through a plate, a liver that is cut. Metres, z is up."""

from __future__ import annotations

import math

import numpy as np

from pliant.scenes.lattices import cubes, rounded, tetrahedra
from pliant.scenes.liver import NORMAL, THROUGH, liver_body
from pliant.simulate.driven import Keyframes, Pin, Turning
from pliant.simulate.solids.changing.options import Blade, Fracture
from pliant.simulated.sheets import RATE, SETTINGS
from pliant.simulated.solid_plan import SolidSetup, solid_setup

_WIDTH, _THICK = 0.05, 0.002  # of the plate
_RADIUS, _LENGTH, _NOSE = 0.004, 0.0144, 0.0024  # of the bullet
_SPEED = 800.0
# Metals bear more for a microsecond than for a second: tension at which steel and copper spall.
_SPALL = (2.5e9, 1.5e9)
_WORN = (0.5, 1.0)
_INTERVAL = 2e-7  # s between two searches for what breaks


def bullet(cells: int = 12_000, seed: int = 0) -> SolidSetup:
    """A copper bullet that goes through a steel plate at 800 m/s (Bullet of paper 004).

    Hexahedra, with central differences, as crash codes do it: both flow, cells that have flowed enough erode, and what
    is under too much tension splits.
    """
    rng = np.random.default_rng(seed)
    scale = (cells / 12_000) ** (1 / 3)
    across, along, layers = max(3, round(10 * scale)), max(4, round(18 * scale)), max(2, round(4 * scale))
    wide = max(6, round(math.sqrt(max(1, cells - across**2 * along) / layers)))
    plate, x = cubes(np.ones((wide, wide, layers), bool))
    x = x / (wide, wide, layers)
    is_rim = (np.abs(x[:, :2] - 0.5) == 0.5).any(axis=1)
    x[~is_rim, :2] += rng.uniform(-0.05, 0.05, (np.count_nonzero(~is_rim), 2)) / wide
    x = (x - (0.5, 0.5, 1.0)) * (_WIDTH, _WIDTH, _THICK)
    body, y = _bullet(across, along)
    turn = rng.uniform(0.0, 2.0 * math.pi)
    spin = np.array([(math.cos(turn), math.sin(turn), 0.0), (-math.sin(turn), math.cos(turn), 0.0), (0.0, 0.0, 1.0)])
    y = y @ spin + (*rng.uniform(-3e-4, 3e-4, 2), 0.05 * _THICK)
    options = {
        "materials": ("steel", "copper"),
        "pins": np.flatnonzero(is_rim),
        "gravity": (0.0, 0.0, 0.0),  # of no account within some 1e-5 s
        "velocities": np.concatenate((np.zeros_like(x), np.tile((0.0, 0.0, -_SPEED), (len(y), 1)))),
        "scheme": "explicit",
        "fracture": Fracture(failure_stress=_SPALL, erosion_strain=_WORN, interval=_INTERVAL),
    }
    both = {"hexahedron": np.concatenate((plate, body + len(x)))}
    named = (("plate", len(x)), ("bullet", len(y)))
    return solid_setup("bullet", both, np.concatenate((x, y)), options, 31, 1e6, named)


def _bullet(across: int, along: int) -> tuple[np.ndarray, np.ndarray]:
    """Hexahedra and points of a bullet, with its tip at z = 0 and the rest above."""
    cells, x = cubes(np.ones((across, across, along), bool))
    z = x[:, 2] * (_LENGTH / along)
    # Half as thick at its tip: a pointed one would have flat cells, which need short steps.
    width = np.sqrt(1.0 - 0.75 * np.clip(1.0 - z / _NOSE, 0.0, 1.0) ** 2)
    disc = rounded(x[:, :2] * (2.0 / across) - 1.0, 0.85) * (_RADIUS * width)[:, None]
    return cells, np.column_stack((disc, z))


_UNIT = 0.06  # m, of a liver that is 3.2 units long
_PULL = 0.5  # units by which its ends are pulled apart
_DEEP = 1.9  # units that the blade goes, of 2.4


def liver(cells: int = 3_874, seed: int = 0) -> SolidSetup:
    """A liver that is held at both ends, and cut: it opens behind the blade (Liver of paper 004).

    Tetrahedra. The ends are pulled apart, then a blade goes through from the side, for most of the way. Its weight is
    left out: it floats.
    """
    rng = np.random.default_rng(seed)
    hexahedra, rest = liver_body(cells)
    rest = rest + rng.uniform(-0.01, 0.01, rest.shape)
    x = _UNIT * rest
    left, right = (np.flatnonzero(side * rest[:, 0] > 1.3) for side in (-1.0, 1.0))
    way = np.array([(0.0, 0.0, 0.0), (0.5 * _PULL * _UNIT, 0.0, 0.0)])
    pins = [
        Pin(ids, Keyframes((0.0, 0.25), x[ids] + side * way[:, None])) for ids, side in ((left, -1.0), (right, 1.0))
    ]  # fmt: skip
    along, up = (np.eye(3)[axis] - NORMAL[axis] * NORMAL for axis in (1, 2))
    along, up = along / np.linalg.norm(along), up / np.linalg.norm(up)
    edge = _UNIT * (THROUGH - 1.25 * along + np.linspace(-1.3, 1.3, 3)[:, None] * up)
    begin, end = 0.2, 0.7
    path = Turning(edge, velocity=_UNIT * _DEEP / (end - begin) * along, begin=begin, end=end)
    options = {
        "materials": "liver",
        "pins": pins,
        "gravity": (0.0, 0.0, 0.0),
        "settings": SETTINGS,
        "fracture": Fracture(blades=Blade(edge, path)),
    }
    return solid_setup("liver", {"tetra": tetrahedra(hexahedra)}, x, options, 91, RATE, (("liver", len(x)),))
