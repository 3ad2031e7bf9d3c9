"""Ways from one pose to another: bones turn in their joints, and flesh that follows comes in from outside.

Flesh that is put into a pose at once can be anywhere in itself, and what is past the middle of a limb is pushed on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.characters.body.bones import parent_joints
from pliant.characters.rig.quaternions import quaternions_of
from pliant.characters.rig.rig import Skeleton

_LARGEST = 1e100  # beyond it, products of a few would overflow


def approach(skeleton: Skeleton, transforms: np.ndarray, steps: int) -> Iterator[np.ndarray]:
    """Transforms (j, 4, 4) of steps + 1 poses, from the bind pose, carried to where the roots are, to the given one.

    Each joint turns, shifts and stretches evenly in the frame of the joint above it. Where such a frame is flat, all
    poses are the last one.
    """
    above, inverse = parent_joints(skeleton), skeleton.inverse_bind
    bound = np.linalg.inv(inverse)
    try:
        last = _in_frames(above, transforms, bound)
    except np.linalg.LinAlgError:
        yield from [transforms] * (steps + 1)
        return
    first = np.array([last[j] if above[j] < 0 else inverse[above[j]] @ bound[j] for j in range(len(last))])
    yield from _poses(skeleton, first, last, np.arange(steps) / steps)
    yield transforms


def way_between(skeleton: Skeleton, before: np.ndarray, now: np.ndarray, steps: int) -> Iterator[np.ndarray]:
    """Transforms (j, 4, 4) of so many poses from one to another, without the first and with the last; as above."""
    above, bound = parent_joints(skeleton), np.linalg.inv(skeleton.inverse_bind)
    try:
        first, last = _in_frames(above, before, bound), _in_frames(above, now, bound)
    except np.linalg.LinAlgError:
        yield from [now] * steps
        return
    yield from _poses(skeleton, first, last, np.arange(1, steps) / steps)
    yield now


def matrices_between(before: np.ndarray, now: np.ndarray, steps: int) -> Iterator[np.ndarray]:
    """The same of matrices (o, 4, 4) that do not depend on each other."""
    a, b = _parts(before), _parts(now)
    for i in range(1, steps):
        yield _between(a, b, i / steps)
    yield now


def _in_frames(above: np.ndarray, transforms: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """(j, 4, 4) joints in the frames of the joints above them; raises LinAlgError where one is flat, or nearly so."""
    with np.errstate(over="ignore", invalid="ignore"):
        world = transforms @ bound
        inverse = np.linalg.inv(world)
        local = np.array([world[j] if above[j] < 0 else inverse[above[j]] @ world[j] for j in range(len(world))])
    if not np.abs(local).max(initial=0.0) < _LARGEST:
        raise np.linalg.LinAlgError
    return local


def _poses(skeleton: Skeleton, first: np.ndarray, last: np.ndarray, times: np.ndarray) -> Iterator[np.ndarray]:
    """Transforms at times from 0 to 1, between joints in the frames of those above them."""
    above, order = parent_joints(skeleton), np.argsort(skeleton.joints, kind="stable")  # parents before children
    a, b = _parts(first), _parts(last)
    for t in times.tolist():
        local = _between(a, b, t)
        for j in order:
            if above[j] >= 0:
                local[j] = local[above[j]] @ local[j]
        yield local @ skeleton.inverse_bind


def _parts(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shifts (j, 3), rotations (j, 4), and stretches (j, 3, 3) that come before them and hold what mirrors."""
    u, sizes, v = np.linalg.svd(matrices[:, :3, :3])
    sign = np.where(np.linalg.det(u @ v) < 0.0, -1.0, 1.0)[:, None, None]
    stretch = sign * (np.swapaxes(v, 1, 2) @ (sizes[..., None] * v))
    return matrices[:, :3, 3], quaternions_of(sign * (u @ v)), stretch


def _between(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...], t: float) -> np.ndarray:
    """(j, 4, 4) at t from 0 to 1 between shifts, rotations and stretches."""
    cosine = np.clip(np.einsum("ij,ij->i", a[1], b[1]), -1.0, 1.0)
    other = np.where(cosine < 0.0, -1.0, 1.0)[:, None] * b[1]  # the shorter way round
    angle = np.arccos(np.abs(cosine))
    wide = angle > 1e-6
    sine = np.where(wide, np.sin(angle), 1.0)
    p = np.where(wide, np.sin((1.0 - t) * angle) / sine, 1.0 - t)[:, None]
    q = np.where(wide, np.sin(t * angle) / sine, t)[:, None]
    out = np.tile(np.eye(4), (len(cosine), 1, 1))
    out[:, :3, :3] = _rotations(p * a[1] + q * other) @ ((1.0 - t) * a[2] + t * b[2])
    out[:, :3, 3] = (1.0 - t) * a[0] + t * b[0]
    return out


def _rotations(quaternions: np.ndarray) -> np.ndarray:
    """(j, 3, 3)"""
    x, y, z, w = (quaternions / np.linalg.norm(quaternions, axis=1)[:, None]).T
    rows = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
        (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
        (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), 2, 0)
