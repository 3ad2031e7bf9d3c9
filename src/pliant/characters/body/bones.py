"""Where bones are in a body: how near to one each vertex is, which says how firmly it is held."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, dot, row, scale, sub
from pliant.characters.body.body import Body
from pliant.characters.rig.errors import SkeletonError
from pliant.characters.rig.rig import Skeleton
from pliant.runtime.jit import helper, kernel

_CARRIES = 0.05  # a joint with less than this share of a vertex does not hold it


def bones_of(skeleton: Skeleton, body: Body) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segments of all bones as bound: joint (b,) int32, head and tail (b, 3).

    A bone leads from a joint to each of the next joints below it. A joint without any has a bone through the middle of
    what it carries, as far behind that as the joint is in front of it.
    """
    heads = _heads(skeleton)
    above = parent_joints(skeleton)
    segments = [(int(above[j]), heads[above[j]], heads[j]) for j in range(len(heads)) if above[j] >= 0]
    for j in np.setdiff1d(np.arange(len(heads)), above):
        share = np.where(body.joints == j, body.weights, 0.0).sum(axis=1)
        middle = share @ body.rest / share.sum() if share.sum() > 0.0 else heads[j]
        segments.append((int(j), heads[j], 2.0 * middle - heads[j]))
    joint, head, tail = zip(*segments)
    return np.array(joint, np.int32), np.array(head), np.array(tail)


def parent_joints(skeleton: Skeleton) -> np.ndarray:
    """(j,) int64: the next joint above each joint, or -1."""
    joint_of = np.full(len(skeleton.parents), -1, np.int64)
    joint_of[skeleton.joints] = np.arange(len(skeleton.joints))
    out = np.full(len(skeleton.joints), -1, np.int64)
    for j, node in enumerate(skeleton.joints):
        above = skeleton.parents[node]
        while above >= 0 and joint_of[above] < 0:
            above = skeleton.parents[above]
        out[j] = joint_of[above] if above >= 0 else -1
    return out


def _heads(skeleton: Skeleton) -> np.ndarray:
    """(j, 3) where joints are as bound."""
    out = np.empty((len(skeleton.joints), 3))
    for j, matrix in enumerate(skeleton.inverse_bind):
        try:
            out[j] = np.linalg.solve(matrix[:3, :3], -matrix[:3, 3])
        except np.linalg.LinAlgError as error:
            raise SkeletonError(f"joint {j} has an inverse bind matrix that has no inverse") from error
    return out


def nearness_of(skeleton: Skeleton, body: Body, surface: np.ndarray) -> np.ndarray:
    """(v,) from 0 at the skin to 1 at a bone: the part of the way from the nearest skin to the nearest bone of its own.

    surface : (s,) vertices of the skin
    """
    joint, head, tail = bones_of(skeleton, body)
    order = np.argsort(joint, kind="stable")
    start = np.searchsorted(joint[order], np.arange(len(skeleton.joints) + 1))
    out = np.zeros(len(body.rest))
    _measure(body.rest, body.joints, body.weights, body.rest[surface], (head[order], tail[order], start), out)
    return out


@kernel
def _measure(rest, joints, weights, skin, bones, out):
    head, tail, start = bones
    for v in range(len(rest)):
        p, to_bone, to_skin = row(rest, v), np.inf, np.inf
        for k in range(joints.shape[1]):
            if weights[v, k] < _CARRIES:
                continue
            for b in range(start[joints[v, k]], start[joints[v, k] + 1]):
                to_bone = min(to_bone, _to_segment(p, row(head, b), row(tail, b)))
        for s in range(len(skin)):
            d = sub(row(skin, s), p)
            to_skin = min(to_skin, dot(d, d))
        to_skin, to_bone = np.sqrt(to_skin), np.sqrt(to_bone)
        if to_skin > 0.0:
            out[v] = 0.0 if to_bone == np.inf else to_skin / (to_skin + to_bone)


@helper
def _to_segment(p, a, b):
    """Squared distance."""
    d, r = sub(b, a), sub(p, a)
    length = dot(d, d)
    t = min(1.0, max(0.0, dot(r, d) / length)) if length > 0.0 else 0.0
    away = sub(p, add(a, scale(d, t)))
    return dot(away, away)
