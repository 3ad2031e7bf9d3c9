"""Flesh on bones: a smooth implicit body of tapered capsules. It is blended where bones join, and only there: an arm
beside the trunk stays apart from it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel

Point = tuple[float, float, float]
_STEP = 1e-5  # of differences, in metres
_FURTHEST = 0.15  # no blending goes further


class Piece(NamedTuple):
    """A capsule from a to b, with a radius at either end."""

    a: Point
    b: Point
    radius_a: float
    radius_b: float
    detail: bool = False  # too small for the body: of the skin only


class Bone(NamedTuple):
    """A joint at `head`, and the flesh that it carries."""

    name: str
    parent: str  # "" for the root
    head: Point
    pieces: tuple[Piece, ...]
    width: float  # of the joint, to either side: how far weights go over into those of the parent
    # How far flesh is blended with that of the parent, and its pieces with each other. What goes on straight, with the
    # same radius, needs little: blending adds a ring there.
    blend: float = 0.02
    inner: float = 0.02


class Flesh(NamedTuple):
    """Bones as arrays, for kernels."""

    pieces: np.ndarray  # (m, 8): a, b, and the two radii
    start: np.ndarray  # (k + 1,) int64, pieces of each bone
    parents: np.ndarray  # (k,) int64, -1 for the root
    width: np.ndarray  # (k,)
    blend: np.ndarray  # (k,)
    inner: np.ndarray  # (k,)
    balls: np.ndarray  # (k, 4): a point and a radius, around all pieces of a bone with what blending adds


def thickened(bones: Sequence[Bone], least: float, fat: float) -> list[Bone]:
    """Without details, with more of a radius everywhere, and at least so much."""
    return [
        bone._replace(
            pieces=tuple(
                p._replace(radius_a=max(p.radius_a + fat, least), radius_b=max(p.radius_b + fat, least))
                for p in bone.pieces
                if not p.detail
            )
        )
        for bone in bones
    ]


def flesh_of(bones: Sequence[Bone]) -> Flesh:
    """Parents come before their children, and every bone has a piece."""
    names, start = [bone.name for bone in bones], np.cumsum([0, *(len(bone.pieces) for bone in bones)])
    pieces = np.array([[*p.a, *p.b, p.radius_a, p.radius_b] for bone in bones for p in bone.pieces], float)
    return Flesh(
        pieces,
        start,
        np.array([names.index(bone.parent) if bone.parent else -1 for bone in bones]),
        np.array([bone.width for bone in bones]),
        np.array([bone.blend for bone in bones]),
        np.array([bone.inner for bone in bones]),
        np.array([_ball(pieces[a:b], bone.inner) for a, b, bone in zip(start, start[1:], bones)]),
    )


def _ball(pieces: np.ndarray, inner: float) -> tuple[float, float, float, float]:
    ends, radii = pieces[:, :6].reshape(-1, 3), pieces[:, 6:].ravel()
    middle = (ends.min(axis=0) + ends.max(axis=0)) / 2
    # Each blending of two adds at most a quarter of what it blends over.
    reach = (np.linalg.norm(ends - middle, axis=1) + radii).max() + inner * len(pieces) / 4
    return *middle.tolist(), float(reach)


def box_of(flesh: Flesh) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corner of a box around it, which holds what blending adds."""
    ends = flesh.pieces[:, :6].reshape(-1, 3)
    reach = flesh.pieces[:, 6:].reshape(-1, 1) + flesh.blend.max()
    return (ends - reach).min(axis=0), (ends + reach).max(axis=0)


def mirrored(bones: Sequence[Bone]) -> list[Bone]:
    """The same on the other side of the plane x = 0; "left" in names becomes "right"."""

    def over(p: Point) -> Point:
        return -p[0], p[1], p[2]

    return [
        bone._replace(
            name=bone.name.replace("left", "right"),
            parent=bone.parent.replace("left", "right"),
            head=over(bone.head),
            pieces=tuple(p._replace(a=over(p.a), b=over(p.b)) for p in bone.pieces),
        )
        for bone in bones
    ]


def depths_below(flesh: Flesh, points: np.ndarray) -> np.ndarray:
    """(n,) about how far points (n, 3) are outside of the flesh; negative inside."""
    out = np.empty(len(points))
    _measure_depths(flesh, points, out)
    return out


@kernel
def _measure_depths(flesh, points, out):
    buffer = np.empty(len(flesh.parents))
    for i in range(len(points)):
        out[i] = value_at(flesh, (points[i, 0], points[i, 1], points[i, 2]), buffer)


@kernel
def pull_to_surface(flesh, points, steps):
    """Move points (n, 3), in place, onto the surface: so many steps of Newton's method."""
    buffer = np.empty(len(flesh.parents))
    for i in range(len(points)):
        p = (points[i, 0], points[i, 1], points[i, 2])
        for _ in range(steps):
            p = pulled(flesh, p, buffer)
        points[i, 0], points[i, 1], points[i, 2] = p


@helper
def pulled(flesh, p, buffer):
    """One step of Newton's method towards the surface, along the gradient."""
    f = value_at(flesh, p, buffer)
    gx = (value_at(flesh, (p[0] + _STEP, p[1], p[2]), buffer) - f) / _STEP
    gy = (value_at(flesh, (p[0], p[1] + _STEP, p[2]), buffer) - f) / _STEP
    gz = (value_at(flesh, (p[0], p[1], p[2] + _STEP), buffer) - f) / _STEP
    # In a crease the gradient may vanish: no further than the value itself, which is about a distance.
    s = f / max(gx * gx + gy * gy + gz * gz, 0.25)
    return p[0] - s * gx, p[1] - s * gy, p[2] - s * gz


@helper
def value_at(flesh, p, buffer):
    """About the signed distance of the surface; buffer : (k,), for the values of the bones.

    A bone whose ball is further away than another's flesh, by more than it is blended over, changes nothing, nor does
    its blending: that lowers a value which is d above the least by at most d^2 / 4 blend.
    """
    best = np.inf
    for bone in range(len(flesh.parents)):
        dx, dy, dz = p[0] - flesh.balls[bone, 0], p[1] - flesh.balls[bone, 1], p[2] - flesh.balls[bone, 2]
        buffer[bone] = math.sqrt(dx * dx + dy * dy + dz * dz) - flesh.balls[bone, 3]
        if buffer[bone] > best + _FURTHEST:
            continue
        value = np.inf
        for i in range(flesh.start[bone], flesh.start[bone + 1]):
            squared, radius = _from_axis(flesh.pieces, i, p)
            value = _blended(value, math.sqrt(squared) - radius, flesh.inner[bone])
        buffer[bone] = value
        best = min(best, value)
    for bone in range(len(flesh.parents)):
        parent = flesh.parents[bone]
        if parent >= 0:
            best = min(best, _blended(buffer[bone], buffer[parent], flesh.blend[bone]))
    return best


@helper
def powers_at(flesh, p, buffer):
    """The power of p with respect to each bone, into buffer (k,): squared distance less squared radius; and the least.

    For a point that is s beyond the end of a bone and beside the next one, which goes on straight, the powers differ
    by the square of s, whatever the distance from the axis.
    """
    least = 0
    for bone in range(len(flesh.parents)):
        buffer[bone] = np.inf
        for i in range(flesh.start[bone], flesh.start[bone + 1]):
            squared, radius = _from_axis(flesh.pieces, i, p)
            buffer[bone] = min(buffer[bone], squared - radius * radius)
        if buffer[bone] < buffer[least]:
            least = bone
    return least


@helper
def _from_axis(pieces, i, p):
    """Squared distance of p from the axis of a capsule, and its radius there."""
    ux, uy, uz = pieces[i, 3] - pieces[i, 0], pieces[i, 4] - pieces[i, 1], pieces[i, 5] - pieces[i, 2]
    dx, dy, dz = p[0] - pieces[i, 0], p[1] - pieces[i, 1], p[2] - pieces[i, 2]
    length = ux * ux + uy * uy + uz * uz
    t = min(1.0, max(0.0, (dx * ux + dy * uy + dz * uz) / length)) if length > 0.0 else 0.0
    dx, dy, dz = dx - t * ux, dy - t * uy, dz - t * uz
    return dx * dx + dy * dy + dz * dz, pieces[i, 6] + t * (pieces[i, 7] - pieces[i, 6])


@helper
def _blended(a, b, k):
    """A smooth minimum, which differs from that of the two numbers only where they differ by less than k."""
    h = max(0.0, k - abs(a - b))
    return min(a, b) - (h * h / (4.0 * k) if h > 0.0 else 0.0)
