"""Scenes of shells: a car body that folds up at a wall, an airbag that inflates against a wheel. Metres, z is up.

As crash codes simulate them: with central differences, in thousands of steps.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pliant.scenes.airbag import wheel_parts
from pliant.scenes.lattices import box_shell, quad_grid, rounded
from pliant.simulate.driven import Obstacle
from pliant.simulate.solids.chambers import AMBIENT, Chamber
from pliant.simulate.solids.materials import SOLID_MATERIALS
from pliant.simulated.solid_plan import SolidSetup, solid_setup

_LENGTH, _WIDTH = 4.0, 1.6
_ROOF = np.array([(0.0, 0.95), (0.4, 1.0), (1.1, 1.4), (2.1, 1.4), (2.8, 0.95), (3.8, 0.8), (4.0, 0.7)])  # x, z
_FLOOR = 0.25
_LOADED = 2.4  # from the rear on: the part of the body that carries everything that is in a car
_LOAD = 7.0  # times the mass of the sheet
_SPEED = 20.0


def car_crash(cells: int = 60_000, seed: int = 0) -> SolidSetup:
    """A car body of sheet steel that runs into a rigid wall at 20 m/s, and folds (Car crash of paper 004).

    One closed shell of quads, 1 mm thick, with beads in front where folds begin; what a car carries is the mass of its
    cabin. About a tonne: it has no frame, no engine and no wheels.
    """
    edge = math.sqrt(2 * (_LENGTH * _WIDTH + _LENGTH * 0.95 + _WIDTH * 0.95) / cells)
    counts = [max(2, round(size / edge)) for size in (_LENGTH, _WIDTH, 0.95)]
    quads, at = box_shell(*counts)
    u, v, w = (at / counts).T
    along = _LENGTH * u
    top = np.interp(along, *_ROOF.T)
    # Beads no shorter than cells can have.
    wave = np.sin(2 * math.pi * along / max(0.3, 4 * _LENGTH / counts[0]))
    bead = 0.015 * wave * np.clip((along - _LOADED) / 0.4, 0, 1) * np.clip((_LENGTH - along) / 0.2, 0, 1)
    z = _FLOOR + w * (top - _FLOOR)
    half = 0.5 * _WIDTH - 0.08 * np.abs(2 * u - 1) ** 3 - 0.12 * np.clip(z - 0.95, 0, 1) + bead
    x = np.column_stack([along - _LENGTH, (2 * v - 1) * half, z + (2 * w - 1) * bead])
    x += np.random.default_rng(seed).uniform(-0.002, 0.002, x.shape)
    steel = SOLID_MATERIALS["steel"]
    loaded = replace(steel, density=_LOAD * steel.density)
    is_loaded = x[quads, 0].mean(axis=1) < _LOADED - _LENGTH
    wall = np.array([(0.02, -2.0, -0.5), (0.02, 2.0, -0.5), (0.02, 2.0, 3.0), (0.02, -2.0, 3.0)])
    options = {
        "materials": [loaded if one else steel for one in is_loaded.tolist()],
        "shell_thickness": 1e-3,
        "obstacles": [Obstacle([(0, 1, 2), (0, 2, 3)], wall)],
        "gravity": (0.0, 0.0, 0.0),  # of no account within a tenth of a second
        "velocities": np.tile((_SPEED, 0.0, 0.0), (len(x), 1)),
        "scheme": "explicit",
    }
    return solid_setup("car_crash", {"quad": quads}, x, options, 31, 400.0, (("body", len(x)),), ("wall",))


_BAG = 0.35  # half width, m
_FILLED = 0.03  # s, until all gas is in it
_GAS = 1.3 * AMBIENT * 0.05  # J, absolute pressure times volume, then


def airbag(cells: int = 9_100, seed: int = 0) -> SolidSetup:
    """An airbag of coated fabric that a gas inflates against a steering wheel (Airbag of paper 004).

    Two flat layers that are sewn together at their rim, 0.7 m wide; the lower one is held at its mouth, above the hub.
    The wheel is rigid. In the paper the bag is folded.
    """
    wheel = wheel_parts(max(60, round(0.15 * cells)))
    left = max(50, cells - sum(len(quads) for quads, _ in wheel))
    n = max(5, round(math.sqrt(left / 2)))
    quads, at = quad_grid(n, n)
    uv = at * (2 / n) - 1
    on_rim = (np.abs(uv) == 1).any(axis=1)
    below = np.arange(len(uv))
    below[~on_rim] = len(uv) + np.arange(np.count_nonzero(~on_rim))
    flat = _BAG * rounded(np.concatenate([uv, uv[~on_rim]]), 0.8)
    side = np.repeat([1.0, -1.0], [len(uv), len(flat) - len(uv)])
    side[: len(uv)][on_rim] = 0.0
    rough = np.random.default_rng(seed).uniform(0.8, 1.0, len(flat))
    x = np.column_stack([flat, 0.004 * side * rough])
    obstacles = []
    for rows, points in wheel:
        points = _BAG * 0.8 * points
        obstacles.append(Obstacle(np.concatenate([rows[:, [0, 1, 2]], rows[:, [0, 2, 3]]]), points - (0.0, 0.0, 0.04)))
    volume = 2 * 0.004 * 0.9 * (2 * _BAG) ** 2
    start = AMBIENT * volume
    from_mouth = np.where(side < 0.0, np.hypot(x[:, 0], x[:, 1]), np.inf)
    options = {
        "pins": np.flatnonzero(from_mouth <= max(0.06, from_mouth.min())),
        "materials": "airbag fabric",
        "shell_thickness": 3.5e-4,
        "obstacles": obstacles,
        "gravity": (0.0, 0.0, 0.0),
        "pressure": Chamber(gas=lambda time: start + _GAS * min(time / _FILLED, 1.0)),
        "scheme": "explicit",
    }
    names = tuple(f"wheel {k + 1}" for k in range(len(obstacles)))
    cells_of_bag = {"quad": np.concatenate([quads, below[quads][:, ::-1]])}
    return solid_setup("airbag", cells_of_bag, x, options, 41, 1000.0, (("bag", len(x)),), names)
