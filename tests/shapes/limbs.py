"""Limbs for tests: bars of tetrahedra along x with a bone in each part, and transforms that bend and twist them."""

from __future__ import annotations

import itertools

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.rig.rig import Character, Pose, Skeleton
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from tests.shapes.solids import grid


def limb(size=(16, 4, 4), length=6.0, radius=0.75, blend=1.0, at=(0.0, 3.0)):
    """A bar of size (a, b, c) cubes, six tetrahedra each. Joints are at x = at; weights go over within ``blend``."""
    blocks, x = grid(size, (0.0, -radius, -radius), (length, radius, radius), split=True)
    steps = [np.ones(len(x)), *(np.clip((x[:, 0] - a) / blend + 0.5, 0.0, 1.0) for a in at[1:]), np.zeros(len(x))]
    weights = np.stack([a - b for a, b in itertools.pairwise(steps)], axis=1)
    joints = np.tile(np.arange(len(at), dtype=np.int32), (len(x), 1))
    volume = VolumeMesh(blocks)
    character = Character("limb", TriMesh(volume.surface().faces), x, joints, weights, chain(at))
    corner, k = np.unique(volume.cells["tetra"].ravel(), return_index=True)[1], np.arange(len(x))
    assert len(corner) == len(k)
    return character, Body(volume, x, joints, weights, (corner // 4).astype(np.int32), np.eye(4)[corner % 4])


def chain(at):
    count = len(at)
    bind = np.tile(np.eye(4), (count, 1, 1))
    bind[:, 0, 3] = -np.array(at)
    offsets = np.zeros((count, 3))
    offsets[:, 0] = np.diff(at, prepend=0.0)
    rest = Pose(offsets, np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.ones((count, 3)))
    names = tuple(f"bone {i}" for i in range(count))
    return Skeleton(names, np.arange(-1, count - 1, dtype=np.int32), rest, np.arange(count, dtype=np.int32), bind)


def turn(axis, degrees, centre=(0.0, 0.0, 0.0)):
    """(4, 4) rotation around an axis through a point."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    out = np.eye(4)
    out[i, i], out[j, j], out[i, j], out[j, i] = c, c, -s, s
    out[:3, 3] = centre - out[:3, :3] @ centre
    return out


def pose(degrees, axis=2, at=(0.0, 3.0)):
    """Transforms with the second joint, and what follows it, turned; axis 0 twists, 2 bends."""
    out = np.tile(np.eye(4), (len(at), 1, 1))
    out[1:] = turn(axis, degrees, np.array([at[1], 0.0, 0.0]))
    return out


def run(skinning, degrees, axis=2, frames=40, hold=10, at=(0.0, 3.0)):
    """Positions after the joint has been turned, and held."""
    x = skinning.reset(pose(0.0, axis, at))
    for i in range(frames + hold):
        x = skinning.advance(pose(degrees * min(1.0, (i + 1) / frames), axis, at))
    return x


def volumes(body, x):
    a, b, c, d = x[body.volume.cells["tetra"]].swapaxes(0, 1)
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0
