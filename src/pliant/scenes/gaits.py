"""Clips: what the joints do in the course of a second."""

import math
from collections.abc import Mapping

import numpy as np

from pliant.characters.rig.rig import Channel, Clip
from pliant.scenes.flesh import Bone, Point

KEYS = 24  # of a cycle
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def clip_of(
    name: str, bones: tuple[Bone, ...], turns: Mapping[str, np.ndarray], lift: np.ndarray | None = None
) -> Clip:
    """A clip of evenly spaced keys over one second.

    turns : names of bones, and their rotations (25, 4); lift : (25, 3), how far the root is moved
    """
    names, times = [bone.name for bone in bones], np.linspace(0.0, 1.0, KEYS + 1)
    channels = [Channel(names.index(bone), "rotation", times, _continuous(values)) for bone, values in turns.items()]
    if lift is not None:
        channels.append(Channel(0, "translation", times, lift + bones[0].head))
    return Clip(name, tuple(channels), 1.0)


def phases() -> np.ndarray:
    """(25,) of a cycle, in radians, both ends."""
    return np.linspace(0, 2 * math.pi, KEYS + 1)


def there_and_back() -> np.ndarray:
    """(25,) from 0 to 1 and back, slow at the ends."""
    return (1 - np.cos(phases())) / 2


def bump(phase: np.ndarray, middle: float, width: float) -> np.ndarray:
    """1 where a phase is at `middle`, both in parts of a cycle, and 0 from half the `width` on; smooth."""
    off = np.abs((phase / (2 * math.pi) - middle + 0.5) % 1.0 - 0.5)
    return np.where(off < width / 2, np.cos(np.minimum(off / width, 0.5) * math.pi) ** 2, 0.0)


def around(axis: Point, degrees: np.ndarray | float) -> np.ndarray:
    """(25, 4) unit quaternions x y z w: rotations around an axis, at every key."""
    half = np.radians(np.broadcast_to(np.asarray(degrees, float), KEYS + 1)) / 2
    unit = np.asarray(axis) / np.linalg.norm(axis)
    return np.concatenate([np.sin(half)[:, None] * unit, np.cos(half)[:, None]], axis=1)


def then(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(25, 4) the first rotation, and after it the second one, around axes that did not turn with it."""
    a, b, s, t = second[:, :3], first[:, :3], second[:, 3:], first[:, 3:]
    return np.concatenate([s * b + t * a + np.cross(a, b), s * t - np.sum(a * b, axis=1, keepdims=True)], axis=1)


def _continuous(q: np.ndarray) -> np.ndarray:
    """The same rotations, each quaternion in the same half as the one before."""
    turned = np.cumsum(np.sum(q[1:] * q[:-1], axis=1) < 0) % 2 == 1
    return q * np.where(np.concatenate([[False], turned]), -1.0, 1.0)[:, None]
