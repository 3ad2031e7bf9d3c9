"""Scenes of shells: a car body that folds up at a wall, an airbag that inflates against a wheel. Metres, z is up.

As crash codes simulate them: with central differences, in thousands of steps.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pliant.scenes.airbag import folded, wheel_parts
from pliant.scenes.lattices import box_shell, quad_grid, rounded
from pliant.scenes.shapes import smoothstep
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
_WHEEL = 0.28  # m, of which its rim has 0.6
_FILLED = 0.03  # s, until all gas is in it
_GAS = 1.2 * AMBIENT * 0.035  # J, absolute pressure times volume, then
_LAYERS = 0.004  # m, from the middle of the bag to each of its layers
_OPEN, _FOLDS, _CELLS = 0.35, 7, 7  # part of the width that is not folded, folds, and cells in each of them at least
_SWING = 1.8  # of the direction of a folded layer, in radians
_MOUTH = 0.06  # m, its radius
_CUP = 0.04  # m, how much deeper the mouth is than what is around it
_GAP = 0.006  # m, to the wheel


def airbag(cells: int = 9_100, seed: int = 0) -> SolidSetup:
    """A folded airbag of coated fabric that a gas inflates against a steering wheel (Airbag of paper 004).

    Two layers that are sewn together at their rim, 0.7 m wide and folded on both sides of the middle; the lower one is
    held at its mouth, which is below the rim of the wheel. The wheel is rigid. The bag lies on it while it unfolds;
    from about 20 ms on, its own speed takes it off, as far as the neck at its mouth lets it.
    """
    wheel = wheel_parts(max(60, round(0.15 * cells)))
    left = max(50, cells - sum(len(quads) for quads, _ in wheel))
    n = max(5, round(math.sqrt(left / 2)))
    quads, at = quad_grid(n, n)
    uv = at * (2 / n) - 1
    on_rim = (np.abs(uv) == 1).any(axis=1)
    below = np.arange(len(uv))
    below[~on_rim] = len(uv) + np.arange(np.count_nonzero(~on_rim))
    side = np.concatenate([np.ones(len(uv)), -np.ones(np.count_nonzero(~on_rim))])
    side[: len(uv)][on_rim] = 0.0
    x = _folded_bag(np.concatenate([uv, uv[~on_rim]]), side, n, np.random.default_rng(seed))
    from_mouth = np.hypot(x[:, 0], x[:, 1])
    mouth = np.flatnonzero((side < 0.0) & (from_mouth <= max(_MOUTH, from_mouth[side < 0.0].min())))
    top = x[from_mouth > 2.0 * _MOUTH, 2].min() - _GAP
    obstacles = []
    for rows, points in wheel:
        points = _WHEEL * points
        points[:, 2] += top - points[:, 2].max() - (_CUP if obstacles else 0.0)  # hub and spokes are below the rim
        obstacles.append(Obstacle(np.concatenate([rows[:, [0, 1, 2]], rows[:, [0, 2, 3]]]), points))
    cells_of_bag = {"quad": np.concatenate([quads, below[quads][:, ::-1]])}
    start = AMBIENT * _volume(cells_of_bag["quad"], x)
    options = {
        "pins": mouth,
        "materials": "airbag fabric",
        "shell_thickness": 3.5e-4,
        "obstacles": obstacles,
        "gravity": (0.0, 0.0, 0.0),
        "pressure": Chamber(gas=lambda time: start + _GAS * min(time / _FILLED, 1.0)),
        "scheme": "explicit",
    }
    names = tuple(f"wheel {k + 1}" for k in range(len(obstacles)))
    return solid_setup("airbag", cells_of_bag, x, options, 41, 1000.0, (("bag", len(x)),), names)


def _folded_bag(uv: np.ndarray, side: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of places in a square, (k, 2) from -1 to 1, on both sides of a bag of n cells a side."""
    disc = rounded(uv, 0.8)
    folds = min(_FOLDS, n // _CELLS)
    along, height, direction = folded(uv[:, 0], _OPEN, folds, _SWING) if folds > 1 else folded(uv[:, 0], _OPEN, 1, 0.35)
    narrow = np.sqrt(1.0 - 0.3 * uv[:, 1] ** 2)
    away = _LAYERS * side * rng.uniform(0.8, 1.0, len(uv))
    x = np.column_stack([_BAG * along * narrow, _BAG * disc[:, 1], _BAG * height * narrow])
    x += away[:, None] * np.column_stack([-np.sin(direction), np.zeros(len(uv)), np.cos(direction)])
    x[:, 2] -= _CUP * (1.0 - smoothstep(np.hypot(x[:, 0], x[:, 1]), _MOUTH, 2.0 * _MOUTH))
    return x


def _volume(quads: np.ndarray, x: np.ndarray) -> float:
    a, b, c, d = (x[quads[:, k]] for k in range(4))
    return (
        float(np.einsum("ij,ij->", np.cross(b - a, c - a), a) + np.einsum("ij,ij->", np.cross(c - a, d - a), a)) / 6.0
    )
