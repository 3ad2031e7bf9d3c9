"""Scenes of solids: octopuses that fall onto each other. Metres, z is up."""

from __future__ import annotations

import numpy as np

from pliant.scenes.octopi import three_octopuses
from pliant.scenes.volume_scene import joined
from pliant.simulate.driven import Obstacle
from pliant.simulated.sheets import RATE, SETTINGS, floor_of
from pliant.simulated.solid_plan import SolidSetup, solid_setup

_HEAD = 0.05  # radius of the head of an octopus
_GAP = 0.01


def octopi(cells: int = 17_600, seed: int = 0) -> SolidSetup:
    """Three soft octopuses that fall onto the ground and onto each other (Octopi of paper 004).

    Tetrahedra of flesh, which is soft enough for tentacles to hang over what they lie on.
    """
    parts, bottom = three_octopuses(cells, seed), _GAP
    shifts = np.random.default_rng(seed).uniform(-0.2, 0.2, (3, 2)) * _HEAD
    for number, part in enumerate(parts):
        x = _HEAD * part.frames
        x[0] += (*shifts[number], bottom - x[0, :, 2].min())
        bottom = x[0, :, 2].max() + _GAP
        parts[number] = part._replace(frames=x)
    mesh, frames, _ = joined(parts)
    options = {
        "materials": "flesh",
        "obstacles": [Obstacle(*floor_of(1.6, 0.0))],
        "settings": SETTINGS,
        "friction": 0.5,
    }
    names = tuple((f"octopus {k + 1}", part.frames.shape[1]) for k, part in enumerate(parts))
    return solid_setup("octopi", mesh, frames[0], options, 80, RATE, names, ("ground",))
