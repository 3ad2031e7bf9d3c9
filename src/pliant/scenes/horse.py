"""A horse of 43 bones, which walks and gallops."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pliant.characters.rig.rig import Clip
from pliant.scenes.character_scene import CharacterScene
from pliant.scenes.flesh import Bone, Piece, Point, mirrored
from pliant.scenes.gaits import X, Y, Z, around, bump, clip_of, phases, then
from pliant.scenes.rigging import Sizes, rigged


# y is up, z to the front, the left side at positive x; metres.
def _barrel(name: str, parent: str, head: Point, ends: tuple[tuple[float, ...], tuple[float, ...]]) -> Bone:
    """A bone of the back, with a part of the barrel below it, from section to section.

    A section: z; height, distance from the middle, and radius of its sides; height and radius of its top.
    """
    (za, ya, xa, ra, ta, sa), (zb, yb, xb, rb, tb, sb) = ends
    sides = [Piece((x * xa, ya, za), (x * xb, yb, zb), ra, rb) for x in (-1, 1)]
    return Bone(name, parent, head, (*sides, Piece((0.0, ta, za), (0.0, tb, zb), sa, sb)), 0.16, 0.005, 0.08)


_SECTIONS = (
    (-0.62, 1.21, 0.085, 0.18, 1.3, 0.14),
    (-0.36, 1.19, 0.055, 0.205, 1.31, 0.145),
    (-0.16, 1.16, 0.04, 0.22, 1.28, 0.15),
    (0.04, 1.15, 0.04, 0.222, 1.27, 0.152),
    (0.22, 1.14, 0.04, 0.222, 1.3, 0.152),
    (0.4, 1.14, 0.05, 0.21, 1.36, 0.145),
    (0.58, 1.16, 0.045, 0.165, 1.33, 0.14),
)
_TAIL = (
    (1.36, -0.72, 0.078),
    (1.37, -0.92, 0.066),
    (1.24, -1.07, 0.072),
    (1.04, -1.12, 0.078),
    (0.84, -1.13, 0.074),
    (0.62, -1.11, 0.045),
)


def _tail() -> list[Bone]:
    bones, parent = [], "hips"
    for i, ((ya, za, ra), (yb, zb, rb)) in enumerate(pairwise(_TAIL), 1):
        bones.append(
            Bone(f"tail_{i}", parent, (0.0, ya, za), (Piece((0.0, ya, za), (0.0, yb, zb), ra, rb),), 0.07, 0.01)
        )
        parent = f"tail_{i}"
    return bones


_TRUNK = [
    _barrel("hips", "", (0.0, 1.36, -0.5), _SECTIONS[0:2]),
    _barrel("spine_1", "hips", (0.0, 1.36, -0.34), _SECTIONS[1:3]),
    _barrel("spine_2", "spine_1", (0.0, 1.35, -0.16), _SECTIONS[2:4]),
    _barrel("spine_3", "spine_2", (0.0, 1.35, 0.04), _SECTIONS[3:5]),
    _barrel("spine_4", "spine_3", (0.0, 1.37, 0.22), _SECTIONS[4:6]),
    _barrel("chest", "spine_4", (0.0, 1.38, 0.4), _SECTIONS[5:7]),
    Bone("neck_1", "chest", (0.0, 1.36, 0.56), (
        Piece((0.0, 1.38, 0.5), (0.0, 1.56, 0.68), 0.145, 0.122),
        Piece((0.0, 1.22, 0.6), (0.0, 1.42, 0.78), 0.145, 0.112),
    ), 0.14, 0.06, 0.05),
    Bone("neck_2", "neck_1", (0.0, 1.5, 0.73), (
        Piece((0.0, 1.56, 0.68), (0.0, 1.71, 0.81), 0.122, 0.106),
        Piece((0.0, 1.42, 0.78), (0.0, 1.58, 0.89), 0.112, 0.098),
    ), 0.11, 0.005, 0.05),
    Bone("neck_3", "neck_2", (0.0, 1.645, 0.85), (
        Piece((0.0, 1.71, 0.81), (0.0, 1.85, 0.92), 0.106, 0.096),
        Piece((0.0, 1.58, 0.89), (0.0, 1.73, 0.98), 0.098, 0.09),
    ), 0.1, 0.005, 0.05),
    Bone("neck_4", "neck_3", (0.0, 1.79, 0.95), (
        Piece((0.0, 1.85, 0.92), (0.0, 1.95, 1.02), 0.096, 0.092),
        Piece((0.0, 1.73, 0.98), (0.0, 1.82, 1.05), 0.09, 0.088),
    ), 0.09, 0.005, 0.05),
    Bone("head", "neck_4", (0.0, 1.92, 1.05), (
        Piece((0.0, 1.93, 1.1), (0.0, 1.6, 1.44), 0.104, 0.07),
        Piece((-0.03, 1.83, 1.13), (-0.018, 1.7, 1.28), 0.09, 0.068),
        Piece((0.03, 1.83, 1.13), (0.018, 1.7, 1.28), 0.09, 0.068),
    ), 0.08, 0.03, 0.04),
    Bone("jaw", "head", (0.0, 1.78, 1.14), (Piece((0.0, 1.76, 1.16), (0.0, 1.55, 1.38), 0.062, 0.05),), 0.06, 0.03),
    *_tail(),
]  # fmt: skip

_LEFT = [
    Bone("left_ear", "head", (0.055, 1.99, 1.06), (
        Piece((0.055, 1.99, 1.06), (0.062, 2.06, 1.06), 0.045, 0.043),
        Piece((0.062, 2.06, 1.06), (0.068, 2.13, 1.07), 0.043, 0.022, True),
    ), 0.04, 0.03),
    Bone("left_shoulder", "chest", (0.1, 1.36, 0.42), (
        Piece((0.11, 1.32, 0.44), (0.145, 1.12, 0.57), 0.1, 0.11),
    ), 0.12, 0.06),
    Bone("left_upper_arm", "left_shoulder", (0.16, 1.1, 0.59), (
        Piece((0.15, 1.1, 0.57), (0.165, 0.98, 0.46), 0.11, 0.1),
    ), 0.1, 0.04),
    Bone("left_forearm", "left_upper_arm", (0.165, 0.96, 0.45), (
        Piece((0.165, 0.96, 0.46), (0.165, 0.76, 0.46), 0.098, 0.07),
        Piece((0.165, 0.76, 0.46), (0.165, 0.57, 0.47), 0.07, 0.058),
    ), 0.08, 0.04, 0.01),
    Bone("left_cannon", "left_forearm", (0.165, 0.55, 0.465), (
        Piece((0.165, 0.57, 0.47), (0.165, 0.5, 0.468), 0.062, 0.052),
        Piece((0.165, 0.5, 0.468), (0.165, 0.28, 0.46), 0.05, 0.048),
    ), 0.05, 0.01, 0.01),
    Bone("left_pastern", "left_cannon", (0.165, 0.26, 0.46), (
        Piece((0.165, 0.26, 0.458), (0.165, 0.15, 0.51), 0.056, 0.05),
    ), 0.045, 0.02),
    Bone("left_hoof", "left_pastern", (0.165, 0.13, 0.52), (
        Piece((0.165, 0.12, 0.52), (0.165, 0.06, 0.545), 0.056, 0.068),
        Piece((0.165, 0.05, 0.5), (0.165, 0.05, 0.56), 0.055, 0.058),
    ), 0.045, 0.02),
    Bone("left_hip", "hips", (0.09, 1.28, -0.48), (
        Piece((0.1, 1.2, -0.54), (0.13, 1.12, -0.54), 0.165, 0.165),
    ), 0.25, 0.06),
    Bone("left_thigh", "left_hip", (0.14, 1.12, -0.52), (
        Piece((0.14, 1.08, -0.57), (0.16, 0.92, -0.46), 0.16, 0.122),
        Piece((0.145, 1.08, -0.66), (0.16, 0.9, -0.58), 0.115, 0.085),
    ), 0.14, 0.04, 0.06),
    Bone("left_gaskin", "left_thigh", (0.165, 0.9, -0.44), (
        Piece((0.165, 0.9, -0.47), (0.166, 0.76, -0.6), 0.112, 0.08),
        Piece((0.166, 0.76, -0.6), (0.168, 0.6, -0.72), 0.08, 0.06),
    ), 0.1, 0.04, 0.01),
    Bone("left_hind_cannon", "left_gaskin", (0.168, 0.58, -0.72), (
        Piece((0.168, 0.61, -0.745), (0.168, 0.52, -0.725), 0.06, 0.056),
        Piece((0.168, 0.52, -0.725), (0.168, 0.29, -0.705), 0.054, 0.05),
    ), 0.05, 0.015, 0.01),
    Bone("left_hind_pastern", "left_hind_cannon", (0.168, 0.27, -0.705), (
        Piece((0.168, 0.27, -0.707), (0.168, 0.155, -0.655), 0.058, 0.051),
    ), 0.045, 0.02),
    Bone("left_hind_hoof", "left_hind_pastern", (0.168, 0.13, -0.645), (
        Piece((0.168, 0.12, -0.645), (0.168, 0.06, -0.62), 0.057, 0.068),
        Piece((0.168, 0.05, -0.665), (0.168, 0.05, -0.605), 0.055, 0.058),
    ), 0.045, 0.02),
]  # fmt: skip

BONES = (*_TRUNK, *_LEFT, *mirrored(_LEFT))


def horse() -> CharacterScene:
    """A horse that walks and gallops; in the gallop thighs press into the belly, and forelegs fold."""
    return CharacterScene(*rigged("horse", BONES, Sizes(0.0465, 0.096, 0.07), [_walk(), _gallop()]))


class _Reach(NamedTuple):
    """Of legs, in degrees."""

    far: float
    folded: float
    apart: float  # hind legs to the outside, where they would meet the forelegs


def _legs(fore: dict[str, float], hind: dict[str, float], reach: _Reach) -> dict[str, np.ndarray]:
    """Rotations of all legs, from when in the cycle each is in front, and how far they reach.

    A foreleg folds at the knee to the back while it comes to the front; a hind leg at the stifle to the back, and at
    the hock to the front.
    """
    turns, p = {}, phases()
    far, folded, apart = reach
    outward = {"left": Z, "right": (0.0, 0.0, -1.0)}
    for side, start in fore.items():
        q = p - 2 * math.pi * start
        swing, fold = np.cos(q), bump(q, 0.82, 0.55)
        turns[f"{side}_shoulder"] = around(X, -0.25 * far * swing)
        forward = around(X, -0.35 * far * swing + 0.25 * folded * fold)
        turns[f"{side}_upper_arm"] = then(forward, around(outward[side], -0.5 * apart))
        turns[f"{side}_forearm"] = around(X, -0.65 * far * swing - 0.55 * folded * fold)
        turns[f"{side}_cannon"] = around(X, 1.2 * folded * fold)
        turns[f"{side}_pastern"] = around(X, 0.5 * folded * fold - 12 * bump(q, 0.3, 0.5))
        turns[f"{side}_hoof"] = around(X, 0.2 * folded * fold)
    for side, start in hind.items():
        q = p - 2 * math.pi * start
        swing, fold = np.cos(q), bump(q, 0.8, 0.55)
        forward = around(X, -far * swing - 0.25 * folded * fold)
        turns[f"{side}_thigh"] = then(forward, around(outward[side], apart))
        turns[f"{side}_gaskin"] = around(X, 0.35 * far * swing + 0.75 * folded * fold)
        turns[f"{side}_hind_cannon"] = around(X, -0.15 * far * swing - 0.8 * folded * fold)
        turns[f"{side}_hind_pastern"] = around(X, 0.6 * folded * fold - 10 * bump(q, 0.3, 0.5))
        turns[f"{side}_hind_hoof"] = around(X, 0.2 * folded * fold)
    return turns


def _trunk(nod: float, bend: float, wag: float) -> dict[str, np.ndarray]:
    """Rotations of back, neck and tail, in degrees: the neck nods, the back bends, the tail wags."""
    p = phases()
    turns = {f"spine_{i}": around(X, bend * np.cos(p)) for i in range(1, 5)}
    turns |= {f"neck_{i}": around(X, nod * np.cos(p + 0.6)) for i in range(1, 5)}
    turns["jaw"] = around(X, 3 - 3 * np.cos(p))
    for i in range(1, 6):
        turns[f"tail_{i}"] = then(around(Y, wag * np.sin(p - 0.5 * i)), around(X, 2 * np.cos(p - 0.5 * i)))
    return turns


def _walk() -> Clip:
    """Four beats: left hind, left fore, right hind, right fore."""
    legs = _legs({"left": 0.25, "right": 0.75}, {"left": 0.0, "right": 0.5}, _Reach(20.0, 30.0, 0.0))
    p = phases()
    lift = np.stack([0 * p, 0.012 * np.cos(2 * p) - 0.012, 0 * p], axis=1)
    return clip_of("walk", BONES, _trunk(2.0, 0.0, 6.0) | legs, lift)


def _gallop() -> Clip:
    """Hind legs together, then forelegs; the back bends when the legs are under the belly."""
    legs = _legs({"left": 0.45, "right": 0.55}, {"left": 0.0, "right": 0.1}, _Reach(30.0, 65.0, 6.0))
    p = phases()
    lift = np.stack([0 * p, 0.05 * np.sin(p) + 0.03, 0 * p], axis=1)
    turns = _trunk(-5.0, 3.0, 10.0) | legs | {"hips": around(X, -8 * np.cos(p))}
    return clip_of("gallop", BONES, turns, lift)
