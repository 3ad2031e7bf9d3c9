"""A human of 25 bones, who walks, squats, and folds the arms."""

import math

import numpy as np

from .character_scene import CharacterScene
from .flesh import Bone, Piece, mirrored
from .gaits import clip_of, phases
from .rigging import Sizes, rigged

# y is up, z to the front, the left side at positive x; metres. Arms hang off to the sides, legs stand apart, so that no
# flesh is near to other flesh at rest.
_TRUNK = [
    Bone("hips", "", (0.0, 0.98, 0.0), (
        Piece((-0.062, 0.95, -0.012), (-0.055, 1.04, -0.006), 0.1, 0.09),
        Piece((0.062, 0.95, -0.012), (0.055, 1.04, -0.006), 0.1, 0.09),
        Piece((-0.06, 0.93, -0.045), (-0.06, 0.96, -0.045), 0.082, 0.08),
        Piece((0.06, 0.93, -0.045), (0.06, 0.96, -0.045), 0.082, 0.08),
    ), 0.05, 0.1),
    Bone("spine", "hips", (0.0, 1.07, -0.01), (
        Piece((-0.05, 1.08, 0.0), (-0.055, 1.2, 0.0), 0.086, 0.092),
        Piece((0.05, 1.08, 0.0), (0.055, 1.2, 0.0), 0.086, 0.092),
    ), 0.05, 0.1),
    Bone("chest", "spine", (0.0, 1.22, -0.01), (
        Piece((-0.062, 1.24, 0.0), (-0.08, 1.35, 0.0), 0.096, 0.094),
        Piece((0.062, 1.24, 0.0), (0.08, 1.35, 0.0), 0.096, 0.094),
        Piece((-0.1, 1.4, -0.008), (0.1, 1.4, -0.008), 0.066, 0.066),
        Piece((-0.06, 1.34, 0.05), (-0.085, 1.345, 0.042), 0.052, 0.05),
        Piece((0.06, 1.34, 0.05), (0.085, 1.345, 0.042), 0.052, 0.05),
    ), 0.05, 0.1),
    Bone("neck", "chest", (0.0, 1.47, -0.012), (
        Piece((0.0, 1.43, -0.016), (0.0, 1.55, 0.0), 0.062, 0.054),
    ), 0.05, 0.05),
    Bone("head", "neck", (0.0, 1.56, 0.0), (
        Piece((0.0, 1.655, -0.012), (0.0, 1.665, 0.014), 0.092, 0.086),
        Piece((0.0, 1.585, 0.045), (0.0, 1.64, 0.035), 0.046, 0.066),
        Piece((0.0, 1.615, 0.096), (0.0, 1.645, 0.09), 0.014, 0.009),
        Piece((-0.088, 1.628, 0.0), (-0.092, 1.648, -0.006), 0.012, 0.014),
        Piece((0.088, 1.628, 0.0), (0.092, 1.648, -0.006), 0.012, 0.014),
    ), 0.025, 0.05),
]  # fmt: skip

_DOWN = (math.cos(math.radians(42)), -math.sin(math.radians(42)))  # where arms point


def _along(length: float, up: float = 0.0, front: float = 0.0) -> tuple[float, float, float]:
    """A point so far from the shoulder along the left arm, and off its axis."""
    return 0.185 + length * _DOWN[0] - up * _DOWN[1], 1.405 + length * _DOWN[1] + up * _DOWN[0], -0.012 + front


_LEFT = [
    Bone("left_clavicle", "chest", (0.03, 1.42, -0.01), (
        Piece((0.06, 1.43, -0.014), (0.16, 1.415, -0.012), 0.052, 0.054),
    ), 0.06, 0.06),
    Bone("left_upper_arm", "left_clavicle", _along(0.0), (
        Piece(_along(-0.005), _along(0.07), 0.058, 0.052),
        Piece(_along(0.07), _along(0.28), 0.05, 0.04),
        Piece(_along(0.12, 0.0, 0.012), _along(0.19, 0.0, 0.012), 0.038, 0.036),
    ), 0.04, 0.06),
    Bone("left_forearm", "left_upper_arm", _along(0.285), (
        Piece(_along(0.285), _along(0.34), 0.04, 0.041),
        Piece(_along(0.34), _along(0.52), 0.041, 0.028),
    ), 0.03, 0.045),
    Bone("left_hand", "left_forearm", _along(0.53), (
        Piece(_along(0.53, 0.0, 0.004), _along(0.615, 0.0, 0.02), 0.024, 0.02),
        Piece(_along(0.53, 0.0, -0.004), _along(0.615, 0.0, -0.02), 0.024, 0.02),
    ), 0.02, 0.03),
    Bone("left_fingers", "left_hand", _along(0.625), (
        Piece(_along(0.62, 0.0, 0.021), _along(0.69, -0.006, 0.023), 0.0165, 0.0115),
        Piece(_along(0.62, 0.0, 0.0), _along(0.705, -0.008, 0.0), 0.0165, 0.0115),
        Piece(_along(0.62, 0.0, -0.021), _along(0.685, -0.006, -0.023), 0.0165, 0.0115),
    ), 0.015, 0.02),
    Bone("left_thumb", "left_hand", _along(0.555, 0.0, 0.018), (
        Piece(_along(0.555, -0.004, 0.02), _along(0.615, -0.012, 0.056), 0.019, 0.0135),
    ), 0.015, 0.02),
    Bone("left_thigh", "hips", (0.092, 0.93, 0.0), (
        Piece((0.095, 0.92, -0.002), (0.115, 0.73, 0.006), 0.088, 0.078),
        Piece((0.115, 0.73, 0.006), (0.147, 0.52, 0.008), 0.077, 0.054),
    ), 0.05, 0.09),
    Bone("left_shin", "left_thigh", (0.15, 0.505, 0.0), (
        Piece((0.15, 0.51, 0.01), (0.158, 0.43, 0.002), 0.053, 0.05),
        Piece((0.158, 0.43, 0.002), (0.19, 0.12, -0.008), 0.049, 0.036),
        Piece((0.16, 0.42, -0.02), (0.168, 0.32, -0.018), 0.042, 0.038),
    ), 0.04, 0.06),
    Bone("left_foot", "left_shin", (0.193, 0.085, -0.01), (
        Piece((0.192, 0.095, -0.012), (0.193, 0.045, -0.032), 0.038, 0.036),
        Piece((0.193, 0.075, 0.0), (0.212, 0.036, 0.1), 0.038, 0.03),
        Piece((0.193, 0.04, -0.025), (0.188, 0.03, 0.095), 0.034, 0.027),
    ), 0.03, 0.045),
    Bone("left_toes", "left_foot", (0.203, 0.03, 0.105), (
        Piece((0.191, 0.028, 0.1), (0.197, 0.022, 0.165), 0.028, 0.02),
        Piece((0.216, 0.026, 0.095), (0.222, 0.02, 0.145), 0.026, 0.018),
    ), 0.02, 0.03),
]  # fmt: skip

BONES = (*_TRUNK, *_LEFT, *mirrored(_LEFT))


def human() -> CharacterScene:
    names = tuple(bone.name for bone in BONES)
    clips = [_walk(names), _squat(names)]
    return CharacterScene(*rigged("human", BONES, Sizes(0.0168, 0.0525, 0.036), clips))


def _turns(x: np.ndarray | float = 0.0, y: np.ndarray | float = 0.0, z: np.ndarray | float = 0.0) -> np.ndarray:
    """(25, 3) rotations, in degrees around axes."""
    return np.stack([np.broadcast_to(np.asarray(a, float), len(phases())) for a in (x, y, z)], axis=1)


def _walk(names: tuple[str, ...]):
    """Two steps. Arms come down to the sides and brush the trunk, thighs pass close to each other."""
    p = phases()
    turns = {
        "spine": _turns(y=6 * np.cos(p)),
        "chest": _turns(x=3, y=6 * np.cos(p)),
        "neck": _turns(y=-5 * np.cos(p)),
        "hips": _turns(y=-6 * np.cos(p), z=2.5 * np.sin(p)),
    }
    for side, sign, q in (("left", 1.0, p), ("right", -1.0, p + math.pi)):
        swing = 26 * np.cos(q)
        knee = 8 + 26 * np.maximum(0, np.cos(q - 1.35 * math.pi)) ** 2 * 2
        turns[f"{side}_thigh"] = _turns(x=-swing - 6, z=-sign * 8)
        turns[f"{side}_shin"] = _turns(x=knee)
        turns[f"{side}_foot"] = _turns(x=-6 + 14 * np.cos(q - 1.1 * math.pi), z=sign * 1)
        turns[f"{side}_toes"] = _turns(x=-18 * np.maximum(0, np.cos(q - math.pi)))
        turns[f"{side}_clavicle"] = _turns(z=-sign * 6)
        turns[f"{side}_upper_arm"] = _turns(x=24 * np.cos(q), z=-sign * 38)
        turns[f"{side}_forearm"] = _turns(y=-sign * (22 - 12 * np.cos(q)))
    hips = np.array([0.0, 0.98, 0.0]) + np.stack([0.012 * np.sin(p), 0.012 * np.cos(2 * p) - 0.012, 0 * p], axis=1)
    return clip_of("walk", names, turns, ("hips", hips))


def _squat(names: tuple[str, ...]):
    """Down until the thighs press against the belly and the calves, arms crossed in front, and up again."""
    down = (1 - np.cos(phases())) / 2
    turns = {
        "hips": _turns(x=20 * down),
        "spine": _turns(x=12 * down),
        "chest": _turns(x=10 * down),
        "neck": _turns(x=-22 * down),
    }
    for side, sign in (("left", 1.0), ("right", -1.0)):
        turns[f"{side}_thigh"] = _turns(x=-118 * down)
        turns[f"{side}_shin"] = _turns(x=125 * down)
        turns[f"{side}_foot"] = _turns(x=-27 * down)
        turns[f"{side}_upper_arm"] = _turns(y=-sign * 60 * down)
        turns[f"{side}_forearm"] = _turns(y=-sign * 100 * down)
    hips = np.array([0.0, 0.98, 0.0]) + np.outer(down, (0.0, -0.55, -0.1))
    return clip_of("squat", names, turns, ("hips", hips))
