"""Barriers: faces of the skin that vertices may not be behind. Inequality constraints with friction.

A vertex behind its face, and the corners of the face, give way, each as freely as it moves, until it is in front. What
slides along is held back, up to a share of what the barrier has pushed so far in this step (Coulomb's law for
positions: Macklin et al., Unified particle physics for real-time applications, 2014).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import cross, dot, row, scale, sub
from pliant.characters.solver.flanks import face_over
from pliant.characters.solver.skin_tree import at_weights, weights_of_closest
from pliant.runtime.jit import helper, kernel

_PATIENCE = 8  # steps for which a barrier stays that has nothing to push: without, flesh in contact trembled
_LIFE = 40  # steps after which it goes in any case: what is still in the way is found again in the same step
_MOST_OF_ONE = 3  # barriers of one vertex
_RING, _BRIEF, _CALM = 3, 4.0, 3.0  # trouble of some steps is none: it mostly goes by itself
HOPELESS = 12  # steps at the end of which a vertex was still inside


class Barriers(NamedTuple):
    """Row i keeps vertices[i] in front of faces[i]; the first used[0] rows are in use."""

    vertices: np.ndarray  # (capacity,) int32
    faces: np.ndarray  # (capacity, 4) int32: corners, outward, and the vertex behind the face in its cell
    push: np.ndarray  # (capacity,) how far this barrier has pushed in this step
    idle: np.ndarray  # (capacity,) int32 steps since it last pushed
    age: np.ndarray  # (capacity,) int32 steps since it was put up
    used: np.ndarray  # (1,) int64


def no_barriers(capacity: int) -> Barriers:
    return Barriers(
        np.zeros(capacity, np.int32), np.zeros((capacity, 4), np.int32), np.zeros(capacity),
        np.zeros(capacity, np.int32), np.zeros(capacity, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip


def grown(barriers: Barriers, more: int) -> Barriers:
    """The same, with a capacity for so many more."""
    count = int(barriers.used[0])
    if count + more <= len(barriers.vertices):
        return barriers
    out = no_barriers(2 * (count + more))
    for old, new in zip(barriers[:-1], out[:-1]):
        new[:count] = old[:count]
    out.used[0] = count
    return out


@kernel
def skin_normals(x, faces, out):
    """(n, 3) sums of normals of the faces at each vertex, by area."""
    out[:] = 0.0
    for f in range(len(faces)):
        n = _normal(x, faces[f])
        for k in range(3):
            for c in range(3):
                out[faces[f, k], c] += n[c]


@helper
def _normal(x, face):
    a = row(x, face[0])
    return cross(sub(row(x, face[1]), a), sub(row(x, face[2]), a))


@kernel
def mark_inverted(x, flanks, inverted):
    """(n,) bool: corners of cells that are inverted. Nothing around them is a side that one could be on: barriers
    there pushed into what is inverted, and the tangle grew."""
    inverted[:] = False
    for cell in range(len(flanks.cells)):
        c = flanks.cells[cell]
        six = -dot(_normal(x, c), sub(row(x, c[0]), row(x, c[3])))
        if not six * flanks.volumes[cell] > 0.0:
            for k in range(4):
                inverted[c[k]] = True


@kernel
def mark_lost(x, target, limit, trouble, lost):
    """(n,) bool: vertices further than ``limit`` from where their bones have them, and those that no barrier has got
    out for so long that there is no way: trouble (n,) int32. Of obstacles, which have no targets, none is lost."""
    for v in range(len(target)):
        d = sub(row(x, v), row(target, v))
        lost[v] = dot(d, d) > limit * limit or trouble[v] >= HOPELESS


@kernel
def count_trouble(pairs, trouble):
    """One more for each vertex that is still inside after a step, one less for the others."""
    for v in range(len(trouble)):
        trouble[v] = max(trouble[v] - 1, 0)
    last = -1
    for p in range(len(pairs)):
        v = pairs[p, 0]
        if v != last:
            trouble[v] = min(trouble[v] + 2, 2 * HOPELESS)
        last = v


@kernel
def calm_down(edges, trouble, calm):
    """(n,) part of its way that each vertex goes: less in trouble, and around it, each ring of neighbours by ``_RING``
    less so. Where there is no solution, constraints would throw flesh from one attempt to the next."""
    most = 0
    for v in range(len(calm)):
        calm[v] = trouble[v]
        most = max(most, trouble[v])
    for _ in range(most // _RING):
        for e in range(len(edges)):
            i, j = edges[e, 0], edges[e, 1]
            calm[i], calm[j] = max(calm[i], calm[j] - _RING), max(calm[j], calm[i] - _RING)
    for v in range(len(calm)):
        calm[v] = 1.0 / (1.0 + max(0.0, calm[v] - _BRIEF) / _CALM)


@kernel
def put_up(x, flanks, pairs, skin, barriers):
    """New barriers for vertices in cells, pairs (k, 2); skin : normals (n, 3), what is inverted, what is lost (n,)."""
    normals, inverted, lost = skin
    for p in range(len(pairs)):
        v, c = pairs[p, 0], flanks.cells[pairs[p, 1]]
        if lost[v] or inverted[v] or inverted[c[0]] or inverted[c[1]] or inverted[c[2]] or inverted[c[3]]:
            continue
        place = face_over(x, flanks, v, pairs[p, 1], row(normals, flanks.guides[v]))
        if place < 0 or not _lacks(barriers, v, flanks.tree.faces[place]):
            continue
        i = barriers.used[0]
        barriers.vertices[i], barriers.push[i], barriers.idle[i], barriers.age[i] = v, 0.0, 0, 0
        for k in range(4):
            barriers.faces[i, k] = flanks.tree.faces[place, k]
        barriers.used[0] = i + 1


@helper
def _lacks(barriers, v, face):
    """Vertex v has no barrier at this face, and fewer than it may have."""
    own = 0
    for i in range(barriers.used[0]):
        if barriers.vertices[i] == v:
            own += 1
            if barriers.faces[i, 0] == face[0] and barriers.faces[i, 1] == face[1] and barriers.faces[i, 2] == face[2]:
                return False
    return own < _MOST_OF_ONE


@kernel
def keep_near(x, lost, barriers, near):
    """Before a step: only barriers that have pushed lately and are still in front of their vertex, at most so far."""
    kept = 0
    for i in range(barriers.used[0]):
        v, face, age = barriers.vertices[i], barriers.faces[i], barriers.age[i] + 1
        idle = 0 if barriers.push[i] > 0.0 else barriers.idle[i] + 1
        if idle > _PATIENCE or age > _LIFE or lost[v] or not _is_near(x, v, face, near):
            continue
        barriers.vertices[kept], barriers.push[kept], barriers.idle[kept], barriers.age[kept] = v, 0.0, idle, age
        for k in range(4):
            barriers.faces[kept, k] = face[k]
        kept += 1
    barriers.used[0] = kept


@helper
def _is_near(x, v, face, near):
    """Vertex v is less than ``near`` above the plane of the face, and beside the face."""
    p, a, b, c = row(x, v), row(x, face[0]), row(x, face[1]), row(x, face[2])
    n = cross(sub(b, a), sub(c, a))
    length = np.sqrt(dot(n, n))
    if not length > 0.0:
        return False
    away = sub(p, at_weights(a, b, c, weights_of_closest(p, a, b, c)))
    height = dot(away, n) / length
    return height < near and dot(away, away) - height * height < near * near


@kernel
def push_out(x, start, freedom, barriers, limits):
    """Every barrier once, in order; x in place.

    start : (n, 3) positions at the start of the step, from where sliding counts
    limits : how far in front of its face a vertex has to be, how far it is pushed at once at most, and friction
    """
    margin, most, friction = limits
    for i in range(barriers.used[0]):
        v, f = barriers.vertices[i], barriers.faces[i]
        p, a, b, c = row(x, v), row(x, f[0]), row(x, f[1]), row(x, f[2])
        n = cross(sub(b, a), sub(c, a))
        length = np.sqrt(dot(n, n))
        if not length > 0.0:
            continue
        n = scale(n, 1.0 / length)
        height = dot(n, sub(p, a))
        if height >= margin or dot(n, sub(row(x, f[3]), a)) > 0.0:  # or inverted: its front is not outside
            continue
        w = weights_of_closest(p, a, b, c)
        share = freedom[v]
        for k in range(3):
            share += w[k] * w[k] * freedom[f[k]]
        if not share > 0.0:
            continue
        push = min(margin - height, most)
        barriers.push[i] += push
        _move(x, freedom, (v, f, w), scale(n, push / share))
        slide = sub(sub(row(x, v), row(start, v)), sub(_mean(x, f, w), _mean(start, f, w)))
        slide = sub(slide, scale(n, dot(slide, n)))
        far = np.sqrt(dot(slide, slide))
        if far > 0.0 and friction > 0.0:
            _move(x, freedom, (v, f, w), scale(slide, -min(1.0, friction * barriers.push[i] / far) / share))


@helper
def _mean(x, f, w):
    return at_weights(row(x, f[0]), row(x, f[1]), row(x, f[2]), w)


@helper
def _move(x, freedom, barrier, s):
    """Vertex and face apart by s, divided among them."""
    v, f, w = barrier
    for c in range(3):
        x[v, c] += freedom[v] * s[c]
        for k in range(3):
            x[f[k], c] -= freedom[f[k]] * w[k] * s[c]
