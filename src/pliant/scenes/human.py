"""A human of 25 bones, who walks, squats, and folds up the arms."""

import math

import numpy as np

from pliant.characters.rig.rig import Clip
from pliant.scenes.character_scene import CharacterScene
from pliant.scenes.flesh import Bone, Piece, Point, mirrored
from pliant.scenes.gaits import X, Y, Z, around, bump, clip_of, phases, then, there_and_back
from pliant.scenes.rigging import Sizes, rigged

# y is up, z to the front, the left side at positive x; metres. Arms hang off to the sides, legs stand apart, so that no
# flesh is near to other flesh at rest.
_TRUNK = [
    Bone("hips", "", (0.0, 0.98, 0.0), (
        Piece((-0.062, 0.95, -0.012), (-0.05, 1.06, -0.002), 0.098, 0.088),
        Piece((0.062, 0.95, -0.012), (0.05, 1.06, -0.002), 0.098, 0.088),
        Piece((-0.06, 0.93, -0.045), (-0.06, 0.96, -0.045), 0.082, 0.08),
        Piece((0.06, 0.93, -0.045), (0.06, 0.96, -0.045), 0.082, 0.08),
    ), 0.1, 0.0, 0.05),
    Bone("spine", "hips", (0.0, 1.07, -0.01), (
        Piece((-0.05, 1.06, -0.002), (-0.06, 1.23, 0.0), 0.088, 0.096),
        Piece((0.05, 1.06, -0.002), (0.06, 1.23, 0.0), 0.088, 0.096),
    ), 0.1, 0.01, 0.06),
    Bone("chest", "spine", (0.0, 1.22, -0.01), (
        Piece((-0.06, 1.23, 0.0), (-0.08, 1.35, -0.002), 0.096, 0.094),
        Piece((0.06, 1.23, 0.0), (0.08, 1.35, -0.002), 0.096, 0.094),
        Piece((-0.1, 1.4, -0.008), (0.1, 1.4, -0.008), 0.066, 0.066),
        Piece((-0.06, 1.34, 0.05), (-0.085, 1.345, 0.042), 0.052, 0.05),
        Piece((0.06, 1.34, 0.05), (0.085, 1.345, 0.042), 0.052, 0.05),
    ), 0.1, 0.01, 0.05),
    Bone("neck", "chest", (0.0, 1.47, -0.012), (
        Piece((0.0, 1.43, -0.016), (0.0, 1.55, 0.0), 0.062, 0.054),
    ), 0.05, 0.05),
    Bone("head", "neck", (0.0, 1.56, 0.0), (
        Piece((0.0, 1.655, -0.014), (0.0, 1.665, 0.014), 0.092, 0.086),
        Piece((0.0, 1.58, 0.05), (0.0, 1.64, 0.035), 0.043, 0.066),
        Piece((0.0, 1.612, 0.1), (0.0, 1.648, 0.092), 0.015, 0.009, True),
        Piece((-0.09, 1.622, 0.0), (-0.095, 1.648, -0.008), 0.012, 0.016, True),
        Piece((0.09, 1.622, 0.0), (0.095, 1.648, -0.008), 0.012, 0.016, True),
    ), 0.05, 0.03, 0.02),
]  # fmt: skip

_DOWN = (math.cos(math.radians(42)), -math.sin(math.radians(42)))  # where arms point


def _along(length: float, up: float = 0.0, front: float = 0.0) -> tuple[float, float, float]:
    """A point so far from the shoulder along the left arm, and off its axis."""
    return 0.185 + length * _DOWN[0] - up * _DOWN[1], 1.405 + length * _DOWN[1] + up * _DOWN[0], -0.012 + front


_LEFT = [
    Bone("left_clavicle", "chest", (0.03, 1.42, -0.01), (
        Piece((0.06, 1.43, -0.014), (0.165, 1.413, -0.012), 0.052, 0.054),
    ), 0.06, 0.06),
    Bone("left_upper_arm", "left_clavicle", _along(0.0), (
        Piece(_along(-0.005), _along(0.07), 0.057, 0.051),
        Piece(_along(0.07), _along(0.28), 0.051, 0.04),
        Piece(_along(0.12, 0.0, 0.012), _along(0.19, 0.0, 0.012), 0.038, 0.036),
    ), 0.06, 0.03),
    Bone("left_forearm", "left_upper_arm", _along(0.285), (
        Piece(_along(0.28), _along(0.34), 0.04, 0.042),
        Piece(_along(0.34), _along(0.52), 0.042, 0.028),
    ), 0.045, 0.015),
    Bone("left_hand", "left_forearm", _along(0.53), (
        Piece(_along(0.53, 0.0, 0.004), _along(0.615, 0.0, 0.02), 0.025, 0.02),
        Piece(_along(0.53, 0.0, -0.004), _along(0.615, 0.0, -0.02), 0.025, 0.02),
    ), 0.03, 0.01, 0.03),
    Bone("left_fingers", "left_hand", _along(0.625), (
        Piece(_along(0.615, 0.0, 0.02), _along(0.695, -0.006, 0.017), 0.02, 0.015),
        Piece(_along(0.615, 0.0, -0.02), _along(0.69, -0.006, -0.016), 0.02, 0.015),
    ), 0.02, 0.008, 0.03),
    Bone("left_thumb", "left_hand", _along(0.555, 0.0, 0.018), (
        Piece(_along(0.555, -0.004, 0.02), _along(0.6, -0.014, 0.062), 0.02, 0.015),
    ), 0.02, 0.015),
    Bone("left_thigh", "hips", (0.092, 0.93, 0.0), (
        Piece((0.095, 0.92, -0.002), (0.115, 0.73, 0.006), 0.088, 0.077),
        Piece((0.115, 0.73, 0.006), (0.147, 0.52, 0.008), 0.077, 0.053),
    ), 0.09, 0.04, 0.015),
    Bone("left_shin", "left_thigh", (0.15, 0.505, 0.0), (
        Piece((0.148, 0.515, 0.008), (0.158, 0.43, 0.002), 0.053, 0.049),
        Piece((0.158, 0.43, 0.002), (0.19, 0.12, -0.008), 0.049, 0.036),
        Piece((0.16, 0.42, -0.02), (0.168, 0.3, -0.016), 0.042, 0.036),
    ), 0.06, 0.015, 0.03),
    Bone("left_foot", "left_shin", (0.193, 0.085, -0.01), (
        Piece((0.192, 0.095, -0.012), (0.193, 0.045, -0.032), 0.037, 0.036),
        Piece((0.193, 0.075, 0.0), (0.212, 0.036, 0.1), 0.037, 0.03),
        Piece((0.193, 0.04, -0.025), (0.188, 0.03, 0.095), 0.034, 0.027),
    ), 0.045, 0.02, 0.03),
    Bone("left_toes", "left_foot", (0.203, 0.03, 0.105), (
        Piece((0.19, 0.029, 0.095), (0.195, 0.023, 0.165), 0.028, 0.021),
        Piece((0.214, 0.029, 0.09), (0.22, 0.022, 0.145), 0.027, 0.02),
    ), 0.03, 0.02, 0.03),
]  # fmt: skip

BONES = (*_TRUNK, *_LEFT, *mirrored(_LEFT))


def human() -> CharacterScene:
    """A human who walks and squats, until thighs meet belly and calves, and folds up the arms."""
    return CharacterScene(*rigged("human", BONES, Sizes(0.0166, 0.053, 0.037), [_walk(), _squat(), _arms()]))


def _sides(phase: np.ndarray) -> list[tuple[str, float, np.ndarray]]:
    """Name, sign of x, and phase of the left and the right side, which is half a cycle behind."""
    return [("left", 1.0, phase), ("right", -1.0, phase + math.pi)]


def _elbow(sign: float) -> Point:
    """The axis around which a forearm bends to the front."""
    return _DOWN[1], -sign * _DOWN[0], 0.0


def _walk() -> Clip:
    """Two steps. Arms come down to the sides and brush the trunk, thighs pass close to each other."""
    p = phases()
    turns = {
        "hips": then(around(Z, 2.5 * np.sin(p)), around(Y, -6 * np.cos(p))),
        "spine": around(Y, 6 * np.cos(p)),
        "chest": then(around(X, 3.0), around(Y, 6 * np.cos(p))),
        "neck": around(Y, -5 * np.cos(p)),
    }
    for side, sign, q in _sides(p):
        turns[f"{side}_thigh"] = then(around(Z, -sign * 10.0), around(X, -6 - 25 * np.cos(q)))
        turns[f"{side}_shin"] = around(X, 6 + 54 * bump(q, 0.72, 0.6) + 8 * bump(q, 0.12, 0.3))
        turns[f"{side}_foot"] = around(X, 12 * bump(q, 0.6, 0.4) - 8 * bump(q, 0.95, 0.5))
        turns[f"{side}_toes"] = around(X, -25 * bump(q, 0.52, 0.3))
        turns[f"{side}_clavicle"] = around(Z, -sign * 5.0)
        turns[f"{side}_upper_arm"] = then(around(Z, -sign * 32.0), around(X, -4 + 24 * np.cos(q)))
        turns[f"{side}_forearm"] = around(_elbow(sign), 22 - 12 * np.cos(q))
    lift = np.stack([0.012 * np.sin(p), -0.015 - 0.015 * np.cos(2 * p), 0 * p], axis=1)
    return clip_of("walk", BONES, turns, lift)


def _squat() -> Clip:
    down = there_and_back()
    turns = {
        "hips": around(X, 25 * down),
        "spine": around(X, 12 * down),
        "chest": around(X, 8 * down),
        "neck": around(X, -25 * down),
    }
    for side, sign, _ in _sides(down):
        turns[f"{side}_thigh"] = around(X, -120 * down)
        turns[f"{side}_shin"] = around(X, 125 * down)
        turns[f"{side}_foot"] = around(X, -30 * down)
        turns[f"{side}_upper_arm"] = then(around(Z, -sign * 30 * down), around(X, -75 * down))
        turns[f"{side}_forearm"] = around(_elbow(sign), 20 * down)
    return clip_of("squat", BONES, turns, np.outer(down, (0.0, -0.52, -0.12)))


def _arms() -> Clip:
    """Upper arms are pressed to the trunk, and forearms fold up to them."""
    fold = there_and_back()
    turns = {}
    for side, sign, _ in _sides(fold):
        turns[f"{side}_upper_arm"] = then(around(Z, -sign * 38 * fold), around(X, -15 * fold))
        turns[f"{side}_forearm"] = around(_elbow(sign), 125 * fold)
    return clip_of("arms", BONES, turns)
