"""Folds by formula: around an axis, as in skirts and gathered cloth, and along a sleeve."""

import math
from typing import NamedTuple

import numpy as np

# The curve x = t + a sin 2t, y = cos t overhangs for a > 1/2. At this a its waves touch themselves and each other.
TOUCHING = 0.75 * math.pi


class Rings(NamedTuple):
    """The surface around the z axis on which cloth lies in folds; all (n,) float64, an entry for every vertex.

    r, z : distance from the axis, height
    slope : angle of the way down along the surface: 0 is outwards, pi / 2 straight down
    s : the radius that a ring of this cloth would have without folds
    """

    r: np.ndarray
    z: np.ndarray
    slope: np.ndarray
    s: np.ndarray

    @staticmethod
    def along(v: np.ndarray, r: list[float], z: list[float], fullness: list[float]) -> "Rings":
        """Rings at v (n,), 0 to 1, of a surface whose profile goes through the points (r, z), at even distances in v;
        its cloth is `fullness` times as wide as the surface there.
        """
        knots = np.linspace(0, 1, len(r))
        table = np.linspace(0, 1, 401)
        # Averages over a knot round the corners.
        width = max(3, 400 // len(r))
        smooth = [np.convolve(np.pad(np.interp(table, knots, q), width, "edge"), np.ones(width) / width, "same")
                  [width:-width] for q in (r, z)]  # fmt: skip
        slope = np.arctan2(-np.gradient(smooth[1]), np.gradient(smooth[0]))
        at_r, at_z, at_slope = (np.interp(v, table, q) for q in (*smooth, slope))
        return Rings(at_r, at_z, at_slope, at_r * np.interp(v, np.linspace(0, 1, len(fullness)), fullness))


def pleats(around: np.ndarray, folds: int, phases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Uneven folds around an axis: how far around its fold each angle (n,) is, and what one radian of that is there.

    Returns (n,) radians, which grow by 2 pi from fold to fold, and (n,) radians around the axis a radian of these.
    """
    theta = folds * around + 0.5 * np.sin(2 * around + phases[0]) + 0.4 * np.sin(3 * around + phases[1])
    return theta, 1 / (folds + np.cos(2 * around + phases[0]) + 1.2 * np.cos(3 * around + phases[1]))


def gathered(around: np.ndarray, rings: Rings, folds: int, phases: np.ndarray, h: float, k: int) -> np.ndarray:
    """Positions (n, 3) in frame k of cloth that is gathered in folds on the outside of a surface.

    around : (n,) float64, angles around the axis, for the cloth without folds
    phases : (4,) float64, where folds are, and which of them touch
    h : edge length; patches of the cloth open and close their folds by a part of it, from frame 1 on
    """
    r, z, slope, s = rings
    theta, pitch = pleats(around + 0.3 * np.sin(3 * z + phases[3]) / folds, folds, phases[:2])
    # A fold that is `full` times as long as the arc on which it stands is as round as its length allows, up to touching
    # its neighbours, when it goes three times to and fro; what is left of its length goes out and back.
    full = np.maximum(s / np.maximum(r, 1e-3), 1)
    rounding = np.minimum(0.4 * (full - 1), 1)
    reach = np.minimum(r * math.pi / (2 * folds) * np.sqrt(full**2 - (1 + 2 * rounding) ** 2), 0.45 * r)
    edge = h / (pitch * np.maximum(r, 5 * h))
    patch = np.sin(3 * around + 4 * z / max(np.ptp(z), h) + phases[2] - 0.6 * k)
    touching = TOUCHING * (1 + edge * (0.25 * min(1, k) * patch - 0.1))
    angle = around + rounding * touching * pitch * np.sin(2 * theta)
    out = reach * (1 + np.cos(theta))
    rim = r + out * np.sin(slope)
    return np.stack([rim * np.cos(angle), rim * np.sin(angle), z + out * np.cos(slope)], axis=1)


def bellows(v: np.ndarray, folds: int, wander: np.ndarray, close: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Folds across a tube, as in a sleeve pushed up: how far along, 0 to 1, and how far out points v (n,) come to lie.

    wander : (n,) float64, by how much folds are shifted, in radians of a fold
    close : (n,) float64, 0 for no folds, 1 for folds that touch
    Distances out are 0 to 1.
    """
    theta = 2 * math.pi * folds * v + wander
    return v + TOUCHING * close * np.sin(2 * theta) / (2 * math.pi * folds), 0.5 * close * (1 - np.cos(theta))
