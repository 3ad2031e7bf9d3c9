"""Skins that follow their joints: by the mean of matrices, or of dual quaternions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import add, cross, row, scale
from pliant.characters.rig.errors import SkinError
from pliant.characters.rig.quaternions import dot4, quaternion_row, quaternions_of
from pliant.runtime.arrays import ShapeError, as_floats, as_positions
from pliant.runtime.jit import helper, kernel

METHODS = ("linear", "dual quaternion")
SUM_TOLERANCE = 1e-4  # of weights that were float32 and have been added up


def linear_blend(rest: Any, joints: Any, weights: Any, transforms: Any, out: np.ndarray | None = None) -> np.ndarray:
    """Linear blend skinning: each vertex is the mean of where its joints would take it.

    rest : (n, 3) positions as bound
    joints : (n, w) integers, rows of transforms; weights : (n, w) of sum 1
    transforms : (j, 4, 4) affine, from the bind pose to the world
    out : (n, 3) float64, contiguous, to be filled and returned

    Exact for the matrices, scaled and sheared ones too. Between joints that twist against each other the mean shrinks,
    at half a turn to nothing.
    """
    rest, joints, weights, transforms, out = _gate(rest, joints, weights, transforms, out)
    _linear_blend(rest, joints, weights, transforms, out)
    return out


def dual_quaternion_blend(
    rest: Any, joints: Any, weights: Any, transforms: Any, out: np.ndarray | None = None
) -> np.ndarray:
    """Dual quaternion skinning (Kavan et al. 2008): each vertex moves by a rigid motion between those of its joints.

    Parameters as in `linear_blend`. Quaternions q and -q are one rotation: for each vertex, they are taken on the
    side of its strongest joint.

    Transforms that are not rigid are divided, by polar decomposition, into a stretch followed by a rigid motion.
    Stretches are blended as matrices and come first, in the bind pose; a vertex of one joint goes where its transform
    takes it, whatever that is. A transform that mirrors counts as a point reflection and a rotation.
    """
    rest, joints, weights, transforms, out = _gate(rest, joints, weights, transforms, out)
    _dual_quaternion_blend(rest, joints, weights, _motions_of(transforms), out)
    return out


def _gate(
    rest: Any, joints: Any, weights: Any, transforms: Any, out: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rest = as_positions(rest, "rest")
    weights, transforms = as_floats(weights, "weights"), as_floats(transforms, "transforms")
    if transforms.ndim != 3 or transforms.shape[1:] != (4, 4):
        raise ShapeError(f"transforms must have shape (j, 4, 4), but have {transforms.shape}")
    joints = np.require(joints, np.int32, ("C", "A", "W"))
    if joints.ndim != 2 or joints.shape != weights.shape or len(joints) != len(rest):
        raise ShapeError(f"joints {joints.shape} and weights {weights.shape} must have shape ({len(rest)}, w)")
    if joints.size and not (joints.min() >= 0 and joints.max() < len(transforms)):
        vertex = int(np.argmax(((joints < 0) | (joints >= len(transforms))).any(axis=1)))
        raise SkinError(f"vertex {vertex} has a joint that is not among the {len(transforms)} transforms")
    if weights.min(initial=0.0) < 0.0 or (np.abs(weights.sum(axis=1) - 1.0) > SUM_TOLERANCE).any():
        raise SkinError(weight_fault(joints, weights, len(transforms), SUM_TOLERANCE))
    filled = np.empty_like(rest) if out is None else out
    if filled.shape != rest.shape or filled.dtype != np.float64 or not filled.flags.c_contiguous:
        raise ShapeError(f"out must be a contiguous float64 array of shape {rest.shape}")
    return rest, joints, weights, transforms, filled


def weight_fault(joints: np.ndarray, weights: np.ndarray, joint_count: int, tolerance: float) -> str:
    """What is wrong with weights (n, w) of joints (n, w), or nothing. Joints of weight 0 are not examined."""
    total = weights.sum(axis=1)
    for bad, why in (
        (~np.isfinite(weights), "a weight that is not finite"),
        (weights < 0.0, "a negative weight"),
        (((joints < 0) | (joints >= joint_count)) & (weights != 0.0), f"a joint that is not among the {joint_count}"),
    ):
        if bad.any():
            vertex, place = np.argwhere(bad)[0]
            return f"vertex {vertex} has {why}: {weights[vertex, place]:g} for joint {joints[vertex, place]}"
    off = np.abs(total - 1.0) > tolerance
    if off.any():
        vertex = int(np.argmax(off))
        return f"vertex {vertex} has weights that sum to {total[vertex]:.6g}, not to 1"
    return ""


@kernel
def _linear_blend(rest, joints, weights, transforms, out):
    for v in range(len(rest)):
        x, y, z = row(rest, v)
        a = b = c = 0.0
        for k in range(joints.shape[1]):
            w, j = weights[v, k], joints[v, k]
            if w != 0.0:
                m = transforms[j]
                a += w * (m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3])
                b += w * (m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3])
                c += w * (m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3])
        out[v, 0], out[v, 1], out[v, 2] = a, b, c


class _Motions(NamedTuple):
    """Transforms as a stretch and a rigid motion after it."""

    real: np.ndarray  # (j, 4) unit quaternions of the rotation
    dual: np.ndarray  # (j, 4) half of translation times rotation
    stretch: np.ndarray  # (j, 3, 3) symmetric


def _motions_of(transforms: np.ndarray) -> _Motions:
    linear = transforms[:, :3, :3]
    # -A instead of A where A mirrors: the choice is the same for all joints, so that neighbours blend.
    sign = np.where(np.linalg.det(linear) < 0.0, -1.0, 1.0)[:, None]
    u, sizes, v = np.linalg.svd(sign[..., None] * linear)
    # A flat transform has no sign: its last direction is turned so that the rest is a rotation.
    turned = np.linalg.det(u @ v) < 0.0
    u[turned, :, 2] *= -1.0
    sizes[turned, 2] *= -1.0
    stretch = sign[..., None] * (np.swapaxes(v, 1, 2) @ (sizes[..., None] * v))
    real = quaternions_of(u @ v)
    shift, axis = transforms[:, :3, 3], real[:, :3]
    dual = np.empty_like(real)
    dual[:, :3] = real[:, 3:] * shift + np.cross(shift, axis)
    dual[:, 3] = -np.einsum("ij,ij->i", shift, axis)
    return _Motions(real, 0.5 * dual, np.ascontiguousarray(stretch))


@kernel
def _dual_quaternion_blend(rest, joints, weights, motions, out):
    for v in range(len(rest)):
        strongest = 0
        for k in range(1, joints.shape[1]):
            if weights[v, k] > weights[v, strongest]:
                strongest = k
        pivot = quaternion_row(motions.real, joints[v, strongest])
        real, dual = (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)
        stretched = (0.0, 0.0, 0.0)
        for k in range(joints.shape[1]):
            w, j = weights[v, k], joints[v, k]
            if w != 0.0:
                q = quaternion_row(motions.real, j)
                signed = -w if dot4(pivot, q) < 0.0 else w
                real = _add_scaled(real, q, signed)
                dual = _add_scaled(dual, quaternion_row(motions.dual, j), signed)
                stretched = add(stretched, scale(product(motions.stretch, j, row(rest, v)), w))
        out[v, 0], out[v, 1], out[v, 2] = _moved(real, dual, stretched)


@helper
def _add_scaled(a, b, s):
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3]


@helper
def product(m, j, p):
    """The linear part of matrix j times a vector."""
    return (
        m[j, 0, 0] * p[0] + m[j, 0, 1] * p[1] + m[j, 0, 2] * p[2],
        m[j, 1, 0] * p[0] + m[j, 1, 1] * p[1] + m[j, 1, 2] * p[2],
        m[j, 2, 0] * p[0] + m[j, 2, 1] * p[1] + m[j, 2, 2] * p[2],
    )


@helper
def _moved(real, dual, p):
    """The point after the rigid motion of real + epsilon dual, of any length.

    The length is not zero: along the quaternion of the strongest joint, the sum is at least its weight.
    """
    length = math.sqrt(dot4(real, real))
    x, y, z, w = real[0] / length, real[1] / length, real[2] / length, real[3] / length
    a, b, c, d = dual[0] / length, dual[1] / length, dual[2] / length, dual[3] / length
    axis = (x, y, z)
    turned = add(p, scale(cross(axis, add(cross(axis, p), scale(p, w))), 2.0))
    shift = add(add(scale((a, b, c), w), scale(axis, -d)), cross(axis, (a, b, c)))
    return add(turned, scale(shift, 2.0))
