"""The one traversal: pairs of nodes in, blocks of pairs out, resumable, so that pairs stream and never pile up."""

from __future__ import annotations

import numpy as np

from pliant._jit import helper, kernel
from pliant.bounds.kdops import box, overlap

# Which pairs of objects are wanted: all, within one object, between different ones.
ALL, SELF, INTER = 0, 1, 2

# Four children for each pair on the way down, depth at most 31: the stack cannot overflow.
STACK_SIZE = 4 * 32


def seed_chunks(nodes, place_bounds, begin, free, label_range, wanted: int, most: int) -> np.ndarray:
    """Overlapping node pairs of one level, at least about ``most`` where the tree has them: chunks for the threads."""
    depth = (len(nodes) // 2).bit_length() - 1
    level, pairs = 0, np.full((0 if free[1] else 1, 2), 1, np.int32)
    while level < depth and 0 < len(pairs) < most:
        level += 1
        stack = np.empty((STACK_SIZE + 4 * len(pairs), 2), np.int32)
        stack[: len(pairs)] = pairs
        out = np.empty((4 * len(pairs), 2), np.int32)
        _, count, _ = traverse(nodes, place_bounds, begin, free, label_range, wanted, 1 << level, stack, len(pairs), out, 0)
        pairs = out[:count]
    return pairs


@kernel
def traverse(nodes, place_bounds, begin, free, label_range, wanted, first_stop, stack, top, out, count):
    """Go on with the node pairs on the stack until it is empty or the block, which holds count pairs already, is full.

    Emits pairs of nodes from heap index first_stop on; where that is beyond all nodes, pairs of places of the elements
    themselves, the smaller first. nodes: bounds by heap index; free: not 0 for nodes that surely do not meet themselves.
    Both nodes of a pair are on one level. Returns (top, pairs in the block, pairs of bounds compared).
    """
    capacity = len(out)
    compared = 0
    leaves = len(begin) - 1
    while top > 0:
        a, b = stack[top - 1, 0], stack[top - 1, 1]
        if first_stop <= leaves and a >= first_stop:
            if count == capacity:
                break
            top -= 1
            out[count, 0], out[count, 1] = a, b
            count += 1
        elif a >= leaves:
            a_begin, a_end = begin[a - leaves], begin[a - leaves + 1]
            b_begin, b_end = begin[b - leaves], begin[b - leaves + 1]
            if count + (a_end - a_begin) * (b_end - b_begin) > capacity:
                break
            top -= 1
            for i in range(a_begin, a_end):
                box_i = box(place_bounds, i)
                for j in range(i + 1 if a == b else b_begin, b_end):
                    compared += 1
                    if overlap(box_i, place_bounds, i, place_bounds, j):
                        out[count, 0], out[count, 1] = i, j
                        count += 1
        else:
            top -= 1
            for child_a in range(2 * a, 2 * a + 2):
                box_a = box(nodes, child_a)
                for child_b in range(child_a if a == b else 2 * b, 2 * b + 2):
                    if child_a == child_b and free[child_a] != 0:
                        continue
                    compared += 1
                    if overlap(box_a, nodes, child_a, nodes, child_b) and (
                        wanted == ALL or _is_wanted(label_range, wanted, child_a, child_b)
                    ):
                        stack[top, 0], stack[top, 1] = child_a, child_b
                        top += 1
    return top, count, compared


@helper
def _is_wanted(label_range, wanted, a, b):
    """Nodes a and b may hold elements of the wanted pairs of objects."""
    if wanted == SELF:
        return label_range[a, 0] <= label_range[b, 1] and label_range[b, 0] <= label_range[a, 1]
    return not (
        label_range[a, 0] == label_range[a, 1]
        and label_range[b, 0] == label_range[b, 1]
        and label_range[a, 0] == label_range[b, 0]
    )


@kernel
def every_pair(count, i, j, out):
    """Brute force: all pairs of places after (i, j) in turn, as many as fit; returns where to go on and how many."""
    emitted = 0
    while i < count - 1 and emitted < len(out):
        j += 1
        if j == count:
            i += 1
            j = i
            continue
        out[emitted, 0], out[emitted, 1] = i, j
        emitted += 1
    return i, j, emitted
