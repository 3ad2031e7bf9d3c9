"""Paths of what is driven: rigid keyframes, and the frames of a sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.frames.sequence import Sequence
from pliant.runtime.reading import current
from pliant.simulate.driven import Keyframes


@dataclass(frozen=True, eq=False)
class RigidKeys:
    """Positions moved and turned as one, through keyframes; at rest before the first and after the last.

    x : (n, 3) positions without motion
    centre : (3,) that it is turned around
    times : (k,) s, ascending
    moves : (k, 3) how far, in units of length
    turns : (k, 3) rotation vectors: around which axis, as long as the angle in radians. They are interpolated as
        vectors, so that an axis that stays the same turns at constant rates, as often as wanted.
    """

    x: np.ndarray
    centre: np.ndarray
    times: np.ndarray
    moves: np.ndarray
    turns: np.ndarray

    def __call__(self, time: float) -> np.ndarray:
        move, turn = (
            np.array([np.interp(time, self.times, way[:, axis]) for axis in range(3)])
            for way in (self.moves, self.turns)
        )
        return self.centre + move + turned(self.x - self.centre, turn)


def turned(arms: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) turned by a rotation vector (3,), by Rodrigues' formula."""
    angle = float(np.sqrt(turn @ turn))
    if angle == 0.0:
        return arms
    axis = turn / angle
    along = np.outer(arms @ axis, axis)
    return along + np.cos(angle) * (arms - along) + np.sin(angle) * np.cross(axis, arms)


def path_of(sequence: Sequence) -> Keyframes | None:
    """Through all frames of a sequence, of which the first is at time 0; None where there is but one."""
    if len(sequence) < 2:
        return None
    current().charge(len(sequence) * sequence[0].nbytes, "frames of an obstacle")
    return Keyframes(sequence.times - sequence.times[0], np.stack(list(sequence)))
