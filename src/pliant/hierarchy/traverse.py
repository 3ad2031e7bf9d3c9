"""The one traversal: pairs of nodes in, blocks of pairs out, resumable, so that pairs stream and never pile up."""

from __future__ import annotations

import numpy as np

from pliant._jit import helper, kernel
from pliant.bounds.kdops import box, overlap

# Which pairs of objects are wanted: all, within one object, between different ones.
ALL, SELF, INTER = 0, 1, 2

# Four children for each pair on the way down, depth at most 31: the stack cannot overflow.
STACK_SIZE = 4 * 32


def seed_chunks(nodes, place_bounds, label_range, wanted: int, depth: int, most: int) -> np.ndarray:
    """Overlapping node pairs of one level, at least about ``most`` where the tree has them: chunks for the threads."""
    level, pairs = 0, np.array([[1, 1]], np.int32)
    while level < depth and len(pairs) < most:
        level += 1
        stack = np.empty((STACK_SIZE + 4 * len(pairs), 2), np.int32)
        stack[: len(pairs)] = pairs
        out = np.empty((4 * len(pairs), 2), np.int32)
        _, count, _ = traverse(nodes, place_bounds, label_range, wanted, depth, level, stack, len(pairs), out, 0)
        pairs = out[:count]
    return pairs


@kernel
def traverse(nodes, place_bounds, label_range, wanted, depth, stop_level, stack, top, out, count):
    """Go on with the node pairs on the stack until it is empty or the block, which holds count pairs already, is full.

    Emits pairs of nodes at stop_level; at stop_level = depth + 1, pairs of places of the elements themselves, the
    smaller first. nodes: bounds by heap index. Both nodes of a pair are on one level. Returns (top, pairs in
    the block, pairs of bounds compared).
    """
    capacity = len(out)
    compared = 0
    leaves = 1 << depth
    elements = len(place_bounds)
    first_stop = 1 << stop_level
    while top > 0:
        a, b = stack[top - 1, 0], stack[top - 1, 1]
        if first_stop <= leaves and a >= first_stop:
            if count == capacity:
                break
            top -= 1
            out[count, 0], out[count, 1] = a, b
            count += 1
        elif a >= leaves:
            a_begin, a_end = ((a - leaves) * elements) >> depth, ((a - leaves + 1) * elements) >> depth
            b_begin, b_end = ((b - leaves) * elements) >> depth, ((b - leaves + 1) * elements) >> depth
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
