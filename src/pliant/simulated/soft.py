"""A scene of an elastic skin: a ball with tentacles that bounces. Metres, z is up."""

from __future__ import annotations

import numpy as np

from pliant.scenes.tentacles import straight
from pliant.simulate.driven import Obstacle
from pliant.simulate.materials import Material
from pliant.simulated.plan import Setup
from pliant.simulated.sheets import RATE, SETTINGS, floor_of

# A sheet of soft foam, 2 mm thick: it keeps the shape that it has at rest by bending, since there is nothing in it.
RUBBER = Material(
    density=1.0, stretch_warp=2000.0, stretch_weft=2000.0, shear=700.0, poisson=0.4, bend_warp=4e-3, bend_weft=4e-3,
    damping=1e-3, thickness=2e-3,
)  # fmt: skip
_RADIUS = 0.15


def squishy_ball(triangles: int = 1_000_000, seed: int = 0) -> Setup:
    """A ball with 820 tentacles that falls and bounces: an elastic skin, hollow.

    Its volume is not kept: what is simulated is a sheet of rubber. From 200,000 triangles on there are 820 tentacles.
    """
    faces, points = straight(triangles)
    turn = np.random.default_rng(seed).uniform(0, 2 * np.pi)
    cos, sin = np.cos(turn), np.sin(turn)
    x = _RADIUS * points @ np.array([(cos, sin, 0.0), (-sin, cos, 0.0), (0.0, 0.0, 1.0)])
    x[:, 2] += 0.15 - x[:, 2].min()
    options = {"obstacles": [Obstacle(*floor_of(1.2, 0.0))], "settings": SETTINGS, "material": RUBBER, "friction": 0.5}
    return Setup("squishy_ball", faces, x, options, 120, RATE, (("ball", len(faces)),), ("ground",))
