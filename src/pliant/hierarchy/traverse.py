"""The one traversal: pairs of nodes in, blocks of pairs out, resumable, so that pairs stream and never pile up.

It starts from a front (a cut through the tree of all pairs of nodes, BVTT), of which the pair of roots is the simplest,
and can note the front at which it ends: where the next frame, which is much like this one, may start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.bounds.kdops import box, overlap
from pliant.hierarchy.build import LARGEST_OF_PAIRS
from pliant.runtime.jit import helper, in_line, kernel, out_of_line

# Which pairs of objects are wanted: all, within one object, between different ones.
ALL, SELF, INTER = 0, 1, 2

# What an element does in a pair. One with vertices has something to test against any other; one with edges against
# others with edges; two others are not a pair.
PARTICIPANT, WITH_VERTICES, WITH_EDGES = 1, 2, 4
_ANY = PARTICIPANT | WITH_VERTICES | WITH_EDGES

# Boxes of a leaf that are compared at once, and the most that a leaf has: rows of a block, for lower and upper along
# each axis, and one for which of them overlap. One more column is written to, and not used.
AT_ONCE, _WIDEST = 8, LARGEST_OF_PAIRS + 8
_FOUND, _BLOCK = 6 * _WIDEST, 7 * _WIDEST

# Four children for each pair on the way down, depth at most 31: the stack cannot overflow.
STACK_SIZE = 4 * 32


class Beside(NamedTuple):
    """Pairs of leaves, of which some are together free of contact."""

    begin: np.ndarray  # (leaves + 1,) int32 partners of leaf i: partner[begin[i]:begin[i + 1]], later ones
    partner: np.ndarray  # (p,) int32 leaves
    free: np.ndarray  # (p,) int8, not 0: no element of the two meets another one of them


NOTHING_BESIDE = Beside(np.zeros(1, np.int32), np.empty(0, np.int32), np.empty(0, np.int8))


class PairTree(NamedTuple):
    """What the traversal looks at; nodes by heap index, both of a pair are on one level."""

    nodes: np.ndarray  # (2**(depth + 1), 2 axes) bounds
    places: np.ndarray  # (k, 2 axes) bounds of the elements by place
    begin: np.ndarray  # (2**depth + 1,) places where the leaves begin
    free: np.ndarray  # (2**(depth + 1),) int8, not 0: nothing below the node meets anything else below it
    labels: np.ndarray  # (2**(depth + 1), 2) int32 smallest and largest label of an object below
    roles: np.ndarray  # (k,) int8 PARTICIPANT, and what the elements own by place
    beside: Beside = NOTHING_BESIDE


class Walk(NamedTuple):
    """Buffers of one walk: where it starts, what is still to be examined, what comes out, and where it ends."""

    front: np.ndarray  # (f, 2) int32 pairs of nodes to start from, those below one pair next to each other
    first: int  # of them, and
    end: int  # the end of those that this walk starts from
    stack: np.ndarray  # (STACK_SIZE, 2) int32
    out: np.ndarray  # (capacity, 2) int32
    stops: np.ndarray  # (capacity, 2) int32 the new front; of length 0 where nobody wants to know


class State(NamedTuple):
    """How far a walk has come."""

    taken: int = 0  # pairs of the front
    top: int = 0  # of the stack
    emitted: int = 0  # pairs in out
    stopped: int = 0  # pairs in stops
    compared: int = 0  # pairs of bounds, since it went on
    done: bool = False


def all_roles(count: int) -> np.ndarray:
    """Of elements of which every two are a pair."""
    return np.full(count, _ANY, np.int8)


def cut_through(pair_tree: PairTree, wanted: int, most: int) -> tuple[np.ndarray, int]:
    """A front of pairs of nodes down to a level, at least about ``most`` of which overlap where the tree has them.

    Returns the front and the level. Pairs that overlap are of that level, the others of this one or higher ones.
    """
    depth = (len(pair_tree.begin) - 1).bit_length() - 1
    level = 0
    while level < depth and (1 << level) * ((1 << level) + 1) // 2 < most:  # more pairs than that there cannot be
        level += 1
    front, opened = _descend(pair_tree, wanted, np.ones((1, 2), np.int32), level)
    while level < depth and opened > 0 and np.count_nonzero(front[:, 0] >= 1 << level) < most:
        level += 1
        front, opened = _descend(pair_tree, wanted, front, level)
    return front, level


def _descend(pair_tree: PairTree, wanted: int, front: np.ndarray, level: int) -> tuple[np.ndarray, int]:
    """The front down to a level, and how many of its pairs overlap."""
    stops, out, noted, opened = np.empty((4096, 2), np.int32), np.empty((4096, 2), np.int32), [], 0
    walk, state = Walk(front, 0, len(front), np.empty((STACK_SIZE, 2), np.int32), out, stops), State()
    while not state.done:
        state = go_on(pair_tree, wanted, 1 << level, 1 << level, walk, state)
        noted.append(stops[: state.stopped].copy())
        opened += state.emitted
        state = state._replace(emitted=0, stopped=0)
    return np.concatenate(noted), opened


def go_on(pair_tree: PairTree, wanted: int, first_stop: int, lowest: int, walk: Walk, state: State) -> State:
    """Go on with a walk until it is done or one of its buffers is full.

    Emits pairs of nodes from heap index first_stop on; where that is beyond all nodes, pairs of places of the elements
    themselves, the smaller first. lowest: first node of the lowest level of the front that is noted.
    """
    return State(*traverse(pair_tree, wanted, first_stop, lowest, walk, state))


@kernel
def traverse(pair_tree, wanted, first_stop, lowest, walk, state):
    """The fields of the state then."""
    nodes, places, begin = pair_tree.nodes, pair_tree.places, pair_tree.begin
    free, roles, beside = pair_tree.free, pair_tree.roles, pair_tree.beside
    front, stack, out, stops = walk.front, walk.stack, walk.out, walk.stops
    taken, top, count, stopped, compared = state.taken, state.top, state.emitted, state.stopped, 0
    leaves, done = len(begin) - 1, False
    noting, oblique, block = len(stops) > 0, places.shape[1] > 6, np.empty(_BLOCK)
    chosen, theirs = np.empty(_WIDEST + 1, np.int32), np.empty(_WIDEST + 1, np.int32)
    while True:
        if noting and stopped + 4 > len(stops):
            break
        if top == 0:
            if taken == walk.end:
                done = True
                break
            a, b = front[taken, 0], front[taken, 1]
            taken += 1
            compared += 1
            if _is_closed(nodes, free, a, b):
                if noting:
                    a, b, steps = _highest_closed(nodes, free, a, b, walk, walk.first)
                    compared += steps
                    while taken < walk.end and _is_below(front[taken, 0], front[taken, 1], a, b):
                        taken += 1
                    stops[stopped, 0], stops[stopped, 1] = a, b
                    stopped += 1
                continue
            stack[0, 0], stack[0, 1] = a, b
            top = 1
        a, b = stack[top - 1, 0], stack[top - 1, 1]
        note_children = noting and a < lowest
        if first_stop <= leaves and a >= first_stop:
            if count == len(out):
                break
            top -= 1
            out[count, 0], out[count, 1] = a, b
            count += 1
            if noting:
                stops[stopped, 0], stops[stopped, 1] = a, b
                stopped += 1
        elif a >= leaves:
            a_begin, a_end = begin[a - leaves], begin[a - leaves + 1]
            b_begin, b_end = begin[b - leaves], begin[b - leaves + 1]
            if count + (a_end - a_begin) * (b_end - b_begin) > len(out):
                break
            top -= 1
            if noting and a < 2 * lowest:
                stops[stopped, 0], stops[stopped, 1] = a, b
                stopped += 1
            if len(beside.free) > 0 and _is_free_beside(beside, a - leaves, b - leaves):
                continue
            common = _common_box(nodes, a, b)
            count_a = _choose(places, a_begin, a_end, common, chosen)
            count_b = _lay_out(places, b_begin, b_end, common, block, theirs)
            groups = (count_b + AT_ONCE - 1) // AT_ONCE
            compared += a_end - a_begin + b_end - b_begin + count_a * groups
            for k in range(count_a):
                i = chosen[k]
                if _mark_overlapping(box(places, i), block, AT_ONCE * groups) > (a == b):  # which overlaps itself
                    partners = _partners(roles, i)
                    for m in range(k + 1 if a == b else 0, count_b):
                        j = theirs[m]
                        out[count, 0], out[count, 1] = i, j
                        found = ((roles[j] & partners) != 0) & (block[_FOUND + m] > 0.0)
                        count += found & _overlap_obliquely(places, i, j) if oblique else found
        else:
            top -= 1
            if noting and a >= lowest and a < 2 * lowest:
                stops[stopped, 0], stops[stopped, 1] = a, b
                stopped += 1
            for child_a in range(2 * a, 2 * a + 2):
                box_a = box(nodes, child_a)
                for child_b in range(child_a if a == b else 2 * b, 2 * b + 2):
                    compared += 1
                    closed = (child_a == child_b) & (free[child_a] != 0)
                    is_open = overlap(box_a, nodes, child_a, nodes, child_b) & (not closed)
                    if note_children and not is_open:
                        stops[stopped, 0], stops[stopped, 1] = child_a, child_b
                        stopped += 1
                    if wanted != ALL and is_open:
                        is_open = _is_wanted(pair_tree.labels, wanted, child_a, child_b)
                    stack[top, 0], stack[top, 1] = child_a, child_b  # as above: it counts if it is open
                    top += is_open
    return taken, top, count, stopped, compared, done


@helper
def _is_free_beside(beside, a, b):
    """Leaves a and b together are a patch that is free."""
    for p in range(beside.begin[a], beside.begin[a + 1]):
        if beside.partner[p] == b:
            return beside.free[p] != 0
    return False


@helper
def _partners(roles, i):
    """One of these is what an element has to have to be a pair with element i."""
    in_line()
    return _ANY if roles[i] & WITH_VERTICES else (roles[i] & WITH_EDGES) | WITH_VERTICES


@helper
def _common_box(nodes, a, b):
    """Where the boxes of two nodes overlap: what does not reach there has nothing to do with the other node."""
    in_line()
    p, q = box(nodes, a), box(nodes, b)
    return (
        max(p[0], q[0]), min(p[1], q[1]), max(p[2], q[2]), min(p[3], q[3]), max(p[4], q[4]), min(p[5], q[5])
    )  # fmt: skip


@helper
def _reaches(places, i, common):
    in_line()
    return (
        (places[i, 0] <= common[1]) & (common[0] <= places[i, 1])
        & (places[i, 2] <= common[3]) & (common[2] <= places[i, 3])
        & (places[i, 4] <= common[5]) & (common[4] <= places[i, 5])
    )  # fmt: skip


@helper
def _choose(places, begin, end, common, chosen):
    """The places of a leaf whose boxes overlap a box; returns how many."""
    in_line()
    count = 0
    for i in range(begin, end):
        chosen[count] = i
        count += _reaches(places, i, common)
    return count


@helper
def _lay_out(places, begin, end, common, block, chosen):
    """The same, and their boxes side by side, each coordinate a row of the block."""
    in_line()
    count = 0
    for i in range(begin, end):
        for c in range(6):
            block[c * _WIDEST + count] = places[i, c]
        chosen[count] = i
        count += _reaches(places, i, common)
    return count


@helper
def _mark_overlapping(this, block, rows):
    """Which boxes of a block overlap a box; returns how many."""
    in_line()
    count = 0
    for j in range(rows):
        together = (
            (this[0] <= block[_WIDEST + j]) & (block[j] <= this[1])
            & (this[2] <= block[3 * _WIDEST + j]) & (block[2 * _WIDEST + j] <= this[3])
            & (this[4] <= block[5 * _WIDEST + j]) & (block[4 * _WIDEST + j] <= this[5])
        )  # fmt: skip
        block[_FOUND + j] = 1.0 if together else 0.0
        count += together
    return count


@helper
def _overlap_obliquely(places, i, j):
    for c in range(6, places.shape[1], 2):
        if places[i, c] > places[j, c + 1] or places[j, c] > places[i, c + 1]:
            return False
    return True


@helper
def _is_closed(nodes, free, a, b):
    """Nothing below node a meets anything below node b: both are part of one free patch, or their bounds are apart."""
    if free[a] != 0 and free[b] != 0:
        x, y = a, b
        while x != y:
            x >>= 1
            y >>= 1
        if free[x] != 0:
            return True
    return a != b and not overlap(box(nodes, a), nodes, a, nodes, b)


@helper
def _highest_closed(nodes, free, a, b, walk, first):
    """Ascending: the highest pair above a closed pair that is closed too; and how many were examined.

    Not so high that it would hold pairs of the front before or after those of this walk: another one has them.
    """
    out_of_line()
    front, end, steps = walk.front, walk.end, 0
    while a > 1:
        up_a, up_b = a >> 1, b >> 1
        if (first > 0 and _is_below(front[first - 1, 0], front[first - 1, 1], up_a, up_b)) or (
            end < len(front) and _is_below(front[end, 0], front[end, 1], up_a, up_b)
        ):
            break
        steps += 1
        if not _is_closed(nodes, free, up_a, up_b):
            break
        a, b = up_a, up_b
    return a, b, steps


@helper
def _is_below(a, b, top_a, top_b):
    """The pair (a, b) is part of the pair (top_a, top_b)."""
    while a > top_a and a >= 2 * top_a:
        a >>= 1
        b >>= 1
    return a == top_a and b == top_b


@helper
def _is_wanted(labels, wanted, a, b):
    """Nodes a and b may hold elements of the wanted pairs of objects."""
    if wanted == SELF:
        return labels[a, 0] <= labels[b, 1] and labels[b, 0] <= labels[a, 1]
    return not (labels[a, 0] == labels[a, 1] and labels[b, 0] == labels[b, 1] and labels[a, 0] == labels[b, 0])


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
