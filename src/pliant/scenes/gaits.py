"""Clips: what the joints do in the course of a second."""

import math
from collections.abc import Mapping

import numpy as np

from pliant.characters.rig import Channel, Clip

KEYS = 24  # of a cycle
Turns = Mapping[str, np.ndarray]  # name of a bone to its rotations, (m, 3): axis times degrees


def clip_of(name: str, names: tuple[str, ...], turns: Turns, lift: tuple[str, np.ndarray] | None = None) -> Clip:
    """A clip of evenly spaced keys over one second, from rotations, and positions (m, 3) of one bone.

    names : of all bones
    """
    channels = []
    for bone, vectors in turns.items():
        times = np.linspace(0.0, 1.0, len(vectors))
        channels.append(Channel(names.index(bone), "rotation", times, quaternions(vectors)))
    if lift is not None:
        bone, positions = lift
        channels.append(Channel(names.index(bone), "translation", np.linspace(0.0, 1.0, len(positions)), positions))
    return Clip(name, tuple(channels), 1.0)


def quaternions(vectors: np.ndarray) -> np.ndarray:
    """(m, 4) unit quaternions x y z w of rotations (m, 3), axis times degrees; neighbours in the same half."""
    angle = np.linalg.norm(vectors, axis=1, keepdims=True)
    half = np.radians(angle) / 2
    axis = np.divide(vectors, angle, out=np.zeros_like(vectors), where=angle > 0)
    out = np.concatenate([axis * np.sin(half), np.cos(half)], axis=1)
    turned = np.cumsum(np.sum(out[1:] * out[:-1], axis=1) < 0) % 2 == 1
    out[1:][turned] *= -1
    return out


def phases() -> np.ndarray:
    """(25,) of a cycle, in radians, both ends."""
    return np.linspace(0, 2 * math.pi, KEYS + 1)


def there_and_back(axis: tuple[float, float, float], degrees: float) -> np.ndarray:
    """(25, 3) rotations around a unit axis from 0 to an angle and back, slow at the ends."""
    return np.outer((1 - np.cos(phases())) / 2 * degrees, axis)
