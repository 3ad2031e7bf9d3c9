"""Bodies for tests of detection: bars of tetrahedra with bones, made by hand, and how they move."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.characters.body.body import Body
from pliant.characters.rig.rig import Pose, Skeleton
from tests.shapes.solids import grid


def bar(size=(12, 2, 2), jitter=0.12, seed=0):
    """A bar along x of unit cubes in tetrahedra, its middle at 0, and two bones that share what is near the middle."""
    length = float(size[0])
    blocks, x = grid(size, (-length / 2, 0, 0), (length / 2, size[1], size[2]), split=True)
    x = x + np.random.default_rng(seed).uniform(-jitter, jitter, x.shape)
    second = np.clip(0.5 + x[:, 0] / 2.0, 0.0, 1.0)
    joints = np.tile(np.array([[0, 1]], np.int32), (len(x), 1))
    weights = np.stack((1.0 - second, second), axis=1)
    volume = pliant.VolumeMesh(blocks)
    return Body(volume, x, joints, weights, np.empty(0, np.int32), np.empty((0, 4)))


def two_bones(half=6.0, height=1.0):
    """The skeleton of a bar: from its left end to its middle, and from there on."""
    at = np.array([[-half, height, height], [0.0, height, height]])
    inverse_bind = np.tile(np.eye(4), (2, 1, 1))
    inverse_bind[:, :3, 3] = -at
    rest = Pose(np.array([at[0], at[1] - at[0]]), np.tile([0.0, 0.0, 0.0, 1.0], (2, 1)), np.ones((2, 3)))
    return Skeleton(("upper", "lower"), np.array([-1, 0]), rest, np.array([0, 1]), inverse_bind)


def turn(angle, axis=2, pivot=(0.0, 0.6, 0.0)):
    """(4, 4): around an axis through a point."""
    m, (i, j) = np.eye(4), [k for k in range(3) if k != axis]
    m[i, i] = m[j, j] = np.cos(angle)
    m[i, j], m[j, i] = -np.sin(angle), np.sin(angle)
    m[:3, 3] = np.asarray(pivot) - m[:3, :3] @ pivot
    return m


def bend(angle):
    """(2, 4, 4) transforms: the second bone turns around a line in the middle, towards the first one."""
    return np.stack((np.eye(4), turn(angle)))


def posed(body, transforms):
    """Linear blend skinning, in plain numpy."""
    moved = np.einsum("jab,vb->vja", transforms[:, :3, :3], body.rest) + transforms[None, :, :3, 3]
    return np.einsum("vw,vwa->va", body.weights, np.take_along_axis(moved, body.joints[:, :, None], axis=1))


def folding(body, degrees=150.0, frames=24):
    """Positions and transforms of a bar that folds and opens again."""
    for i in range(frames):
        transforms = bend(np.radians(degrees) * 0.5 * (1.0 - np.cos(2.0 * np.pi * i / frames)))
        yield posed(body, transforms), transforms


def expected(volume, x):
    """(k, 2) of ``pliant.inside``."""
    found = pliant.inside(volume, x, depth=False, threads=1)
    return np.stack((found.vertices, found.cells), axis=1)
