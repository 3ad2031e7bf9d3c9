"""Who wears the clothes of the scenes: a jointed doll, or the dancing body of the shared data; and how pins follow."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.io import open_sequence
from pliant.scenes.figure import doll, swing
from pliant.scenes.garments import danced
from pliant.simulate.driven import Keyframes, Obstacle

_RUMBA = "sequences/codimipc_Rumba_body.npz"
_RUMBA_RATE = 30.0
_KEYS = 60.0  # keyframes in a second


class Wearer(NamedTuple):
    """A body that moves: obstacles, their names, and the positions of what holds clothes at any time.

    trunk : (n, 3) of those vertices at time 0; trunk_at : a function of the time that gives them
    """

    obstacles: list[Obstacle]
    names: tuple[str, ...]
    trunk: np.ndarray
    trunk_at: Callable[[float], np.ndarray]

    @property
    def triangles(self) -> int:
        return sum(len(one.mesh.faces) for one in self.obstacles)


@dataclass(frozen=True, eq=False)
class Following:
    """Points that move as the vertices around them do, as one: the rigid motion that is nearest to theirs.

    x : (k, 3) points at time 0; near : (m,) ids of vertices; at : positions (n, 3) of all at a time
    """

    x: np.ndarray
    near: np.ndarray
    at: Callable[[float], np.ndarray]

    def __call__(self, time: float) -> np.ndarray:
        start, now = self.at(0.0)[self.near], self.at(time)[self.near]
        a, b = start - start.mean(axis=0), now - now.mean(axis=0)
        left, _, right = np.linalg.svd(np.einsum("ij,ik->jk", a, b))
        mirror = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
        return (self.x - start.mean(axis=0)) @ ((left * mirror) @ right) + now.mean(axis=0)


def following(wearer: Wearer, x: np.ndarray, within: float = 0.08) -> Following:
    """A path for points x, (k, 3), that are held by the part of the trunk at their height."""
    height = wearer.trunk[:, 2]
    near = np.flatnonzero((height >= x[:, 2].min() - within) & (height <= x[:, 2].max() + within))
    if len(near) < 12:  # a coarse doll, which moves as one
        near = np.arange(len(wearer.trunk))
    return Following(x, near, wearer.trunk_at)


class Dance(NamedTuple):
    """How a doll moves, by the time (f,) in seconds: arms and legs, and the whole body.

    arms, legs : (forward angle, outward angle) amplitudes; spin, tilt : rad/s; fall : when it begins to fall, s
    """

    arms: tuple[float, float, float] = (0.5, 0.6, 0.6)
    legs: tuple[float, float, float] = (0.1, 0.35, 0.1)
    beat: float = 5.0
    sway: float = 1.0
    spin: float = 0.0
    tilt: float = 0.0
    fall: float | None = None


def dancing_doll(triangles: int, seconds: float, phases: np.ndarray, dance: Dance) -> Wearer:
    """A doll of about so many triangles; it begins at rest, and dances from then on."""
    time = np.linspace(0.0, seconds, max(2, round(_KEYS * seconds)))
    begin = np.clip(time / 0.5, 0.0, 1.0)
    eased = begin * begin * (3.0 - 2.0 * begin)
    wave = eased * np.sin(dance.beat * time)
    limbs = []
    for mean, most, outward in (dance.arms, dance.legs):
        limbs.append(np.array([swing(mean + side * most * wave, outward, side) for side in (1, -1)]))
    parts = doll(triangles, *limbs)
    beat = 0.5 * dance.beat * np.cumsum(eased) * (time[1] - time[0])
    drop = np.zeros((len(time), 1, 3))
    if dance.fall is not None:
        drop[:, 0, 2] = -0.5 * 9.81 * np.maximum(time - dance.fall, 0.0) ** 2
    obstacles = []
    for faces, x in parts:
        moved = x if dance.sway == 0.0 else danced(x, dance.sway * beat, np.zeros(4), spin=dance.spin * beat)
        moved = _tilted(moved, dance.tilt * eased * np.maximum(time - 0.2, 0.0)) + drop
        obstacles.append(Obstacle(faces, moved[0], Keyframes(time, moved)))
    trunk = obstacles[0]
    names = ("torso", "right arm", "left arm", "right leg", "left leg")[: len(obstacles)]
    assert trunk.path is not None
    return Wearer(obstacles, names, trunk.x, trunk.path)


def _tilted(x: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Positions (f, n, 3) turned around the x axis through the hips."""
    cos, sin, hips = np.cos(angle)[:, None], np.sin(angle)[:, None], 0.95
    y, z = x[:, :, 1], x[:, :, 2] - hips
    return np.stack([x[:, :, 0], cos * y - sin * z, sin * y + cos * z + hips], axis=2)


def rumba() -> Wearer | None:
    """The dancing body of the shared data, z up; None where it is not there ($PLIANT_DATA, or beside the checkout)."""
    named = os.environ.get("PLIANT_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data"
    if not (folder / _RUMBA).is_file():
        return None
    sequence = open_sequence(folder / _RUMBA, rate=_RUMBA_RATE)
    x = np.stack(list(sequence))[:, :, [0, 2, 1]] * (-1.0, 1.0, 1.0)  # y to the front, z up
    path = Keyframes(np.arange(len(x)) / _RUMBA_RATE, x)
    body = Obstacle(sequence.faces, x[0], path)
    trunk = np.flatnonzero(abs(x[0, :, 0]) < 0.2)
    return Wearer([body], ("body",), x[0, trunk], lambda time: path(time)[trunk])
