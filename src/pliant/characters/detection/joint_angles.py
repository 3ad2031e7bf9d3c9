"""The policy of paper 003, section 4.2: rehash where the skeleton closes. A heuristic, which misses collisions.

A part is examined where the angle between its bone and the one before it decreases and is below the tolerance angle
(flexion), or its bone comes closer to the midline of the body and its angle with it is below the tolerance (adduction).
The midline is the middle axis of the body's box along its longest side, and a part that it goes through, the trunk, is
not examined for that. Only vertices and cells in each other's boxes are hashed, of such a part and another: for
flexion the part before it, for adduction all parts that do not adjoin. Parts here are those that a joint carries; their
boxes are those of the clusters that they consist of. Obstacles have no angles, and are always examined.

Missed is what no such angle tells (errata 15): collisions above the tolerance angle, of flesh that moves by itself, and
contact that lasts while the angle opens or rests. ``update="safe"`` misses nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import dot, row, sub
from pliant.characters.body.body import Body
from pliant.characters.body.bones import bones_of
from pliant.characters.detection.parts import Parts
from pliant.characters.detection.rehashing import Keep, Rehashing
from pliant.characters.detection.surroundings import bound_parts, boxes_for
from pliant.characters.rig.rig import Skeleton
from pliant.hierarchy.cell_boxes import box_holds, box_of_cell
from pliant.runtime.arrays import OptionError, ShapeError, as_floats
from pliant.runtime.jit import helper, kernel
from pliant.runtime.tally import Tally


class Bones(NamedTuple):
    joints: np.ndarray  # (b,) int32 that carry them
    heads: np.ndarray  # (b, 3) as bound
    tails: np.ndarray  # (b, 3)
    before: np.ndarray  # (b,) int64 the bone that ends where this one begins, or -1


class Posture(NamedTuple):
    """Of b bones, in the frame before; infinite before the first."""

    flexion: np.ndarray  # (b,) angle with the bone before, pi where the two are in line
    distance: np.ndarray  # (b,) of the tail from the midline


class JointAngles:
    def __init__(
        self, parts: Parts, body: Body, skeleton: Skeleton, tolerance_angle: float, rehashing: Rehashing
    ) -> None:
        self._parts, self._rehashing, self._tolerance = parts, rehashing, tolerance_angle
        self._joint_count = len(skeleton.joints)
        self._bones = _bones(skeleton, body)
        groups = int(parts.groups.max(initial=0)) + 1
        self._boxes = boxes_for(parts)
        self._group_boxes, self._close = np.empty((groups, 6)), np.zeros((groups, groups), np.bool_)
        bones = len(self._bones.joints)
        self._posture = Posture(np.full(bones, np.inf), np.full(bones, np.inf))
        self._seen = False
        self._chosen = np.empty(len(parts.vertices), np.int32), np.empty(len(parts.cells), np.int32)

    def look(self, x: np.ndarray, transforms: Any, keep: Keep, tally: Tally) -> None:
        """x : (n, 3) by the numbers of the parts. transforms : (j, 4, 4)."""
        if transforms is None:
            raise OptionError('update="angles" needs the transforms of the joints')
        matrices = as_floats(transforms, "transforms")
        if matrices.shape != (self._joint_count, 4, 4):
            raise ShapeError(f"transforms must have shape ({self._joint_count}, 4, 4), but have {matrices.shape}")
        bound_parts(x, self._parts, self._boxes)
        bound_groups(self._parts.groups, self._boxes.cells, self._group_boxes)
        self._close[:] = False
        self._close[self._joint_count :] = True
        find_closing(matrices, self._bones, self._posture, self._group_boxes, self._tolerance, self._close)
        if not self._seen:  # there is nothing to compare angles with
            self._seen = True
            self._rehashing.look(x, None, keep, tally)
            return
        counts = choose_closing(x, self._parts, self._boxes, self._close, *self._chosen)
        vertices, cells = (chosen[:count] for chosen, count in zip(self._chosen, counts))
        tally.add("hashed", len(self._parts.cells), len(cells), 0.0)
        if len(vertices) and len(cells):
            self._rehashing.look_at(x, vertices, cells, keep)


def _bones(skeleton: Skeleton, body: Body) -> Bones:
    joints, heads, tails = bones_of(skeleton, body)
    # Both ends are copies of the same position of a joint.
    ends = (heads[:, None] == tails[None]).all(axis=2)
    before = np.where(ends.any(axis=1), ends.argmax(axis=1), -1)
    return Bones(joints, heads, tails, before)


@kernel
def bound_groups(groups, boxes, out):
    """Boxes of parts together, by group."""
    for i in range(0, 6, 2):
        out[:, i], out[:, i + 1] = np.inf, -np.inf
    for p in range(len(groups)):
        for i in range(0, 6, 2):
            out[groups[p], i] = min(out[groups[p], i], boxes[p, i])
            out[groups[p], i + 1] = max(out[groups[p], i + 1], boxes[p, i + 1])


@kernel
def find_closing(transforms, bones, posture, boxes, tolerance, close):
    """Mark pairs of joints of which the first closes in on the second: close, (g, g) bool. The posture becomes that
    of this frame."""
    middle, axis = _midline(boxes)
    count = len(bones.joints)
    for i in range(count):
        j, b = bones.joints[i], bones.before[i]
        head, tail = _moved(transforms, j, row(bones.heads, i)), _moved(transforms, j, row(bones.tails, i))
        along = sub(tail, head)
        distance = _distance_from_line(tail, middle, axis)
        if distance < posture.distance[i] and _slant(along, axis) < tolerance and not _is_on(middle, axis, boxes[j]):
            for k in range(len(close)):
                close[j, k] = True
            for k in range(count):
                if k == b or bones.before[k] == i or bones.joints[k] == j:
                    close[j, bones.joints[k]] = False
        posture.distance[i] = distance
        if b >= 0:
            p = bones.joints[b]
            start, end = _moved(transforms, p, row(bones.heads, b)), _moved(transforms, p, row(bones.tails, b))
            flexion = _angle(along, sub(start, end))
            if flexion < posture.flexion[i] and flexion < tolerance:
                close[j, p] = True
            posture.flexion[i] = flexion


@helper
def _midline(boxes):
    """A point of the line, and which axis it is parallel to."""
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for g in range(len(boxes)):
        for k in range(3):
            lower[k], upper[k] = min(lower[k], boxes[g, 2 * k]), max(upper[k], boxes[g, 2 * k + 1])
    axis = 0
    for k in range(1, 3):
        if upper[k] - lower[k] > upper[axis] - lower[axis]:
            axis = k
    return (0.5 * (lower[0] + upper[0]), 0.5 * (lower[1] + upper[1]), 0.5 * (lower[2] + upper[2])), axis


@helper
def _is_on(middle, axis, box):
    """The midline goes through a box: of the trunk, which is no limb."""
    on = True
    for k in range(3):
        on = on and (k == axis or box[2 * k] <= middle[k] <= box[2 * k + 1])
    return on


@helper
def _distance_from_line(p, middle, axis):
    d = sub(p, middle)
    return math.sqrt(max(dot(d, d) - d[axis] * d[axis], 0.0))


@helper
def _angle(a, b):
    length = math.sqrt(dot(a, a) * dot(b, b))
    return math.acos(min(1.0, max(-1.0, dot(a, b) / length))) if length > 0.0 else math.pi


@helper
def _slant(a, axis):
    """The angle between a vector and an axis, whichever way these point."""
    length = math.sqrt(dot(a, a))
    return math.acos(min(1.0, abs(a[axis]) / length)) if length > 0.0 else 0.5 * math.pi


@helper
def _moved(transforms, j, p):
    m = transforms[j]
    return (
        m[0, 0] * p[0] + m[0, 1] * p[1] + m[0, 2] * p[2] + m[0, 3],
        m[1, 0] * p[0] + m[1, 1] * p[1] + m[1, 2] * p[2] + m[1, 3],
        m[2, 0] * p[0] + m[2, 1] * p[1] + m[2, 2] * p[2] + m[2, 3],
    )


@kernel
def choose_closing(x, parts, boxes, close, vertices, cells):
    """Vertices and cells of closing joints that are in each other's boxes, part by part of the body, each once; how
    many."""
    vertex_marks, cell_marks = np.zeros(len(vertices), np.bool_), np.zeros(len(cells), np.bool_)
    for b in range(len(parts.groups)):
        t = boxes.cells[b]
        for a in range(len(parts.groups)):
            if not (close[parts.groups[a], parts.groups[b]] or close[parts.groups[b], parts.groups[a]]):
                continue
            if not _meet(boxes.vertices[a], t):
                continue
            for v in range(parts.vertex_start[a], parts.vertex_start[a + 1]):
                vertex_marks[v] |= box_holds((t[0], t[1], t[2], t[3], t[4], t[5]), x, v)
            for cell in range(parts.cell_start[b], parts.cell_start[b + 1]):
                if not cell_marks[cell]:
                    cell_marks[cell] = _meet(boxes.vertices[a], box_of_cell(x, parts.corners, cell, 4))
    return _write_marked(vertex_marks, vertices), _write_marked(cell_marks, cells)


@helper
def _write_marked(marks, out):
    count = 0
    for i in range(len(marks)):
        out[count] = i
        count += marks[i]
    return count


@helper
def _meet(a, b):
    return (a[0] <= b[1]) & (a[1] >= b[0]) & (a[2] <= b[3]) & (a[3] >= b[2]) & (a[4] <= b[5]) & (a[5] >= b[4])
