"""An arm and a leg that bend as far as they go: three bones each, and the flesh at the joint has to make way."""

import math
from dataclasses import replace

import numpy as np

from pliant.mesh.volumes import VolumeMesh
from pliant.scenes.character_scene import CharacterScene, RigidBody
from pliant.scenes.flesh import Bone, Piece, flesh_of
from pliant.scenes.gaits import X, Z, around, clip_of, there_and_back
from pliant.scenes.rigging import Sizes, rigged
from pliant.scenes.stuffing import stuffed

ELBOW, KNEE = 120.0, 130.0  # degrees

# The arm points along x, its palm up; the elbow turns around z. Metres.
ARM = (
    Bone("upper_arm", "", (0.0, 0.0, 0.0), (
        Piece((0.0, 0.004, 0.0), (0.09, 0.0, 0.0), 0.056, 0.05),
        Piece((0.09, 0.0, 0.0), (0.295, -0.004, 0.0), 0.044, 0.036),
        Piece((0.11, 0.016, 0.0), (0.2, 0.012, 0.0), 0.032, 0.032),
        Piece((0.1, -0.016, 0.0), (0.2, -0.012, 0.0), 0.034, 0.028),
    ), 0.05),
    Bone("forearm", "upper_arm", (0.3, 0.0, 0.0), (
        Piece((0.3, -0.006, 0.0), (0.365, 0.0, 0.0), 0.036, 0.038),
        Piece((0.365, 0.0, 0.0), (0.55, 0.0, 0.0), 0.038, 0.024),
        Piece((0.355, 0.002, 0.014), (0.44, 0.0, 0.008), 0.028, 0.022),
    ), 0.045, 0.02),
    Bone("hand", "forearm", (0.56, 0.0, 0.0), (
        Piece((0.56, 0.0, 0.006), (0.66, 0.0, 0.026), 0.02, 0.014),
        Piece((0.56, 0.0, -0.006), (0.66, 0.0, -0.026), 0.02, 0.014),
        Piece((0.65, 0.0, 0.026), (0.73, 0.008, 0.032), 0.0135, 0.009),
        Piece((0.65, 0.0, 0.009), (0.745, 0.008, 0.011), 0.0135, 0.009),
        Piece((0.65, 0.0, -0.009), (0.745, 0.008, -0.011), 0.0135, 0.009),
        Piece((0.65, 0.0, -0.026), (0.72, 0.008, -0.033), 0.0125, 0.008),
        Piece((0.59, 0.006, 0.022), (0.645, 0.016, 0.062), 0.017, 0.011),
    ), 0.03, 0.012, 0.012),
)  # fmt: skip

# The leg hangs along -y, the knee cap towards z; the knee turns around x.
LEG = (
    Bone("thigh", "", (0.0, 0.0, 0.0), (
        Piece((0.0, 0.0, 0.0), (0.0, -0.2, 0.005), 0.088, 0.075),
        Piece((0.0, -0.2, 0.005), (0.0, -0.41, 0.01), 0.074, 0.05),
        Piece((0.012, -0.12, 0.03), (0.012, -0.3, 0.025), 0.06, 0.05),
    ), 0.09, 0.0, 0.04),
    Bone("shin", "thigh", (0.0, -0.42, 0.0), (
        Piece((0.0, -0.425, 0.014), (0.0, -0.5, 0.004), 0.049, 0.046),
        Piece((0.0, -0.5, 0.004), (0.0, -0.8, 0.0), 0.046, 0.032),
        Piece((0.008, -0.47, -0.008), (0.014, -0.55, -0.02), 0.03, 0.036),
        Piece((0.014, -0.55, -0.02), (0.006, -0.68, -0.008), 0.036, 0.03),
        Piece((-0.008, -0.47, -0.008), (-0.014, -0.54, -0.02), 0.03, 0.036),
        Piece((-0.014, -0.54, -0.02), (-0.006, -0.7, -0.008), 0.036, 0.03),
    ), 0.06, 0.01, 0.02),
    Bone("foot", "shin", (0.0, -0.83, 0.0), (
        Piece((0.0, -0.82, 0.0), (0.0, -0.865, -0.025), 0.034, 0.03),
        Piece((0.0, -0.835, 0.01), (0.012, -0.872, 0.12), 0.035, 0.022),
        Piece((0.0, -0.868, -0.02), (-0.018, -0.876, 0.11), 0.027, 0.018),
        Piece((0.012, -0.874, 0.1), (0.016, -0.878, 0.165), 0.021, 0.015),
        Piece((-0.016, -0.876, 0.1), (-0.012, -0.88, 0.145), 0.019, 0.013),
    ), 0.04, 0.03),
)  # fmt: skip


def arm() -> CharacterScene:
    """An arm whose elbow bends, to 120 degrees, and stretches again."""
    bend = clip_of("bend", ARM, {"forearm": around(Z, ELBOW * there_and_back())})
    return CharacterScene(*rigged("arm", ARM, Sizes(0.0082, 0.0214, 0.017), [bend]))


def leg() -> CharacterScene:
    """A leg whose knee bends, to 130 degrees, and stretches again."""
    bend = clip_of("bend", LEG, {"shin": around(X, KNEE * there_and_back())})
    return CharacterScene(*rigged("leg", LEG, Sizes(0.0121, 0.0319), [bend]))


def arm_with_body() -> CharacterScene:
    """The arm, and a ball that lies on it: the forearm closes on the ball, which rolls to and fro."""
    scene = arm()
    return replace(scene, character=replace(scene.character, name="arm_with_body"), obstacle=_ball())


_BALL, _BALL_RADIUS = (0.178, 0.092, 0.0), 0.036
_ROLL = 0.012  # metres to either side


def _ball() -> RigidBody:
    """Of 134 tetrahedra: the place in the lattice and the radius are such that it is."""
    middle, radius = (0.125, 0.25, 0.0), 1.55
    cells, x = stuffed(flesh_of([Bone("ball", "", middle, (Piece(middle, middle, radius, radius),), 1.0)]), 1.0)
    return RigidBody(VolumeMesh({"tetra": cells}), _BALL + (x - middle) * (_BALL_RADIUS / radius), _roll)


def _roll(t: float) -> np.ndarray:
    """(4, 4) where the ball is at a time, from where it was at 0."""
    way = _ROLL * math.sin(2 * math.pi * t)
    s, c = math.sin(-way / _BALL_RADIUS), math.cos(-way / _BALL_RADIUS)
    out = np.eye(4)
    out[:2, :2] = [[c, -s], [s, c]]
    out[:3, 3] = _BALL - out[:3, :3] @ _BALL + (way, 0.0, 0.0)
    return out
