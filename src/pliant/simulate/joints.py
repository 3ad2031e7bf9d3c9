"""Seams and springs: vertices that are pulled together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.runtime.arrays import OptionError, ShapeError, as_floats, as_indices, as_number
from pliant.simulate.links import Links, joined, springs_of

SEWN = 0.5  # of the thickness, that a stitch pulls to: contacts on both sides of it pull the other way
# Of the membrane's stiffness, that of a stitch: with 1, sides with stitches that are not equally far apart stayed 3 mm
# open at a thickness of 2 mm, since cloth is as stiff as the stitch that stretches it; with 10, 1.4 mm.
STITCH = 10.0


@dataclass(frozen=True)
class Seam:
    """Pairs of vertices that are sewn: pulled together to within the thickness.

    pairs : (k, 2) integers
    stiffness : N/m of a stitch; default: ten times that of the stiffer of the two materials along its warp
    """

    pairs: Any
    stiffness: float | None = None


@dataclass(frozen=True)
class Spring:
    """Pairs of vertices that are joined by springs.

    pairs : (k, 2) integers
    stiffness : N/m
    length : at rest, a number or (k,), in units of length; default: where they start
    """

    pairs: Any
    stiffness: float = 100.0
    length: Any = None


def listed_joints(given: Any) -> list[Seam | Spring]:
    """From what users have: None, a joint, or several."""
    if given is None or isinstance(given, Seam | Spring):
        return [] if given is None else [given]
    joints = list(given) if isinstance(given, Iterable) else [given]
    for one in joints:
        if not isinstance(one, Seam | Spring):
            raise OptionError(f"joints must be of pliant.simulate.Seam or Spring, not {one!r}")
    return joints


def links_of_joints(joints: list[Seam | Spring], x: np.ndarray, thickness: float, stiffness: np.ndarray) -> Links:
    """x : (n, 3) at the start; stiffness : (n,) N/m along the warp, that stitches without one of their own have"""
    return joined([_links(joint, x, thickness, stiffness) for joint in joints])


def sewn_pairs(joints: list[Seam | Spring]) -> np.ndarray:
    """(k, 2), of all seams."""
    pairs = [as_indices(one.pairs, "pairs", 2) for one in joints if isinstance(one, Seam)]
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)


def _links(joint: Seam | Spring, x: np.ndarray, thickness: float, stiffness: np.ndarray) -> Links:
    pairs = as_indices(joint.pairs, "pairs", 2)
    if pairs.max(initial=-1) >= len(x):
        raise OptionError(f"a joint names vertex {pairs.max()}, but the cloth has {len(x)}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise OptionError(f"a joint joins vertex {pairs[pairs[:, 0] == pairs[:, 1]][0, 0]} to itself")
    if isinstance(joint, Seam):
        length = np.full(len(pairs), SEWN * thickness)
        given = joint.stiffness
        strength = STITCH * stiffness[pairs].max(axis=1) if given is None else as_number(given, "stiffness", 0.0, 1e9)
    else:
        length = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1) if joint.length is None else joint.length
        length = as_floats(length, "length")
        if length.shape not in ((), (len(pairs),)):
            raise ShapeError(f"length must be a number or have shape ({len(pairs)},), but has {length.shape}")
        if (length < 0.0).any():
            raise OptionError(f"length={float(length.min())} of a spring must not be negative")
        strength = as_number(joint.stiffness, "stiffness", 0.0, 1e9)
    return springs_of(pairs, np.broadcast_to(length, len(pairs)), np.broadcast_to(strength, len(pairs)))
