"""A jointed doll, to wear clothes: a torso with a head, and limbs that swing from it without touching it."""

import math

import numpy as np

from pliant.scenes.shapes import grid_cells, spindle, unit

# Heights and radii of the torso, from below; it is 0.8 times as deep as wide.
TORSO_Z = [0.82, 0.86, 0.94, 1.08, 1.28, 1.41, 1.46, 1.52, 1.55, 1.6, 1.65, 1.7, 1.74, 1.76]
TORSO_R = [0.0, 0.11, 0.15, 0.115, 0.145, 0.115, 0.05, 0.05, 0.075, 0.095, 0.1, 0.088, 0.055, 0.0]
DEPTH = 0.8
# Joints of arms and legs on the right (on the left, x changes sign), and lengths and radii from there.
SHOULDER, ARM, ARM_R = (0.2, 0.0, 1.38), 0.6, (0.045, 0.03)
HIP, LEG, LEG_R = (0.08, 0.0, 0.78), 0.76, (0.07, 0.04)


def doll(triangles: int, arms: np.ndarray, legs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The parts of the doll, each (faces (m, 3), frames (f, n, 3)): torso, arms, legs, right before left.

    arms, legs : (2, f, 3) float64, directions in which they point, right and left, in every frame
    Under 120 triangles there is a torso only.
    """
    limbs = [(SHOULDER, ARM, ARM_R, arms), (HIP, LEG, LEG_R, legs)]
    share = triangles // 10 if triangles >= 120 else 0
    parts = []
    for (x, y, z), length, radii, pointing in limbs if share else []:
        faces, points = _spindle(share, aspect=0.5)
        for side, directions in zip((1, -1), pointing):
            joint = np.array([side * x, y, z])
            parts.append((faces, np.stack([joint + _limb(points, length, radii, unit(d)) for d in directions])))

    faces, points = _spindle(triangles - sum(len(faces) for faces, _ in parts), aspect=0.8)
    torso = _torso(points)
    return [(faces, np.repeat(torso[None], arms.shape[1], axis=0)), *parts]


def torso_radius(z: np.ndarray) -> np.ndarray:
    """Half the width (n,) of the torso at heights z (n,)."""
    return np.interp(z, TORSO_Z, TORSO_R)


def _spindle(triangles: int, aspect: float) -> tuple[np.ndarray, np.ndarray]:
    nu = max(3, grid_cells(triangles, aspect)[0])
    return spindle(nu, max(2, round(triangles / 2 / nu) + 1))


def _torso(points: np.ndarray) -> np.ndarray:
    """Positions (n, 3) of the torso from points (n, 2) of a spindle, at even distances along its profile."""
    way = np.concatenate([[0], np.cumsum(np.hypot(np.diff(TORSO_Z), np.diff(TORSO_R)))])
    z = np.interp(points[:, 1] * way[-1], way, TORSO_Z)
    r = torso_radius(z)
    return np.stack([r * np.cos(points[:, 0]), DEPTH * r * np.sin(points[:, 0]), z], axis=1)


def _limb(points: np.ndarray, length: float, radii: tuple[float, float], direction: np.ndarray) -> np.ndarray:
    """Positions (n, 3) of a limb with round ends that points from the origin in a unit `direction` (3,)."""
    angle, t = points.T
    wide = radii[0] + (radii[1] - radii[0]) * t
    r = wide * np.sqrt(np.clip(1 - np.maximum(1 - t * length / wide, 0) ** 2, 0, 1))
    r *= np.sqrt(np.clip(1 - np.maximum(1 - (1 - t) * length / wide, 0) ** 2, 0, 1))
    one = unit(np.cross(direction, (0.3, 1.0, 0.1)))
    two = np.cross(direction, one)
    return length * t[:, None] * direction + (r * np.cos(angle))[:, None] * one + (r * np.sin(angle))[:, None] * two


def swing(angles: np.ndarray, outward: float, side: int) -> np.ndarray:
    """Directions (f, 3) of a limb that hangs down, swings by angles (f,) to the front, and stands off the body."""
    return unit(np.stack([np.full(len(angles), side * math.sin(outward)), np.sin(angles), -np.cos(angles)], axis=1))
