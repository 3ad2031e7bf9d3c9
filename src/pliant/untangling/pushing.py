"""Which way intersecting surfaces are pushed: out of regions that are on the wrong side."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import add, cross, dot, lerp, row, scale, sub
from pliant.mesh.rings import enclosed_by
from pliant.runtime.jit import helper, kernel
from pliant.untangling.window import Tangle, Window

GAP = 0.1  # of the size of a vertex: what is aimed at beyond contact
DEEPEST = 3.0  # sizes: the furthest that one step moves
_FACING = -0.3  # cosine of the angle between normals below which two surfaces face each other
_LEAST_RING, _MOST_RING = 3, 40  # of vertices that a depth is handed on to


class Push:
    """Where some vertices want to go.

    wanted : (n, 3) displacements
    weight : (n,) how much they want it, 0 to 1
    """

    def __init__(self, count: int) -> None:
        self.wanted: np.ndarray = np.zeros((count, 3))
        self.weight: np.ndarray = np.zeros(count)


def push_regions(window: Window, x: np.ndarray, tangle: Tangle, oriented: bool = True) -> tuple[Push, np.ndarray]:
    """Out of what is on the wrong side: where closed surfaces or layers tell, unless told otherwise; elsewhere the
    smaller side of each contour. Returns also which crossings, (c,) bool, nothing is known about."""
    found, faces = tangle.crossings, window.mesh._faces
    side = np.zeros(len(found.edges), np.int8)
    if oriented:
        known = window.sides
        normals = vertex_normals(x, faces, known.solid), vertex_normals(x, faces, known.cover)
        judge_ends(
            (x, faces, window.edges, *normals), (found.edges, found.faces),
            (known.objects, known.layer, known.solid, known.outward, known.cover), side,
        )  # fmt: skip
    open_ = np.flatnonzero(side == 0)
    if len(open_):
        order = open_[np.argsort(tangle.contour[open_], kind="stable")]
        contour = np.unique(tangle.contour[order], return_inverse=True)[1].astype(np.int32)
        there, region = np.zeros(len(order), np.int8), np.full(len(x), np.int32(-1))
        enclosed_by(window.rings, window.edges, found.edges[order], contour, len(x), there, region)
        side[order] = there
    push = Push(len(x))
    sums, reaction = np.zeros((len(x), 6)), np.zeros((len(x), 4))
    blocked = np.zeros(len(x), bool)
    collect_borders(
        (x, faces, window.edges), (found.edges, found.faces, found.parameter, found.weights), side,
        (window.held, window.size, blocked), sums, reaction,
    )  # fmt: skip
    rings = min(_MOST_RING, max(_LEAST_RING, len(found.edges) // 4))
    hand_on(x, window.rings, blocked, rings, sums, (window.size, window.held), push.wanted, push.weight)
    rest = (push.weight == 0.0) & (reaction[:, 3] > 0.0)
    push.wanted[rest] = reaction[rest, :3] / reaction[rest, 3:]
    push.weight[rest] = np.minimum(reaction[rest, 3], 1.0)
    return push, side == 0


def push_flat(window: Window, x: np.ndarray, tangle: Tangle, push: Push) -> None:
    """Adds to a push what pairs without a crossing want: to move apart along a normal."""
    crossed = np.unique(np.concatenate((tangle.crossings.faces, window.edge_faces[tangle.crossings.edges].ravel())))
    lone = tangle.pairs[~np.isin(tangle.pairs, crossed).all(axis=1)]
    faces = window.mesh._faces
    for a, b in lone.tolist():
        u, v, w = x[faces[a]]
        n = np.cross(v - u, w - u)
        length = float(np.linalg.norm(n))
        if not length > 0.0:
            u, v, w = x[faces[b]]
            n = np.cross(v - u, w - u)
            length = float(np.linalg.norm(n))
        n = n / length if length > 0.0 else np.array((0.0, 0.0, 1.0))
        shared = set(faces[a].tolist()) & set(faces[b].tolist())
        for face, way in ((a, 1.0), (b, -1.0)):
            for corner in faces[face].tolist():
                if corner not in shared and push.weight[corner] == 0.0:
                    push.wanted[corner], push.weight[corner] = 2.0 * way * GAP * window.size[corner] * n, 1.0


def vertex_normals(x: np.ndarray, faces: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """(n, 3) sums of the normals of faces, times their signs; not of unit length."""
    out = np.zeros_like(x)
    _add_normals(x, faces, sign, out)
    return out


@kernel
def _add_normals(x, faces, sign, out):
    for f in range(len(faces)):
        if sign[f] == 0:
            continue
        u = row(x, faces[f, 0])
        n = cross(sub(row(x, faces[f, 1]), u), sub(row(x, faces[f, 2]), u))
        for k in range(3):
            for c in range(3):
                out[faces[f, k], c] += sign[f] * n[c]


@helper
def unit_normal(x, faces, f):
    u = row(x, faces[f, 0])
    n = cross(sub(row(x, faces[f, 1]), u), sub(row(x, faces[f, 2]), u))
    length = np.sqrt(dot(n, n))
    return scale(n, 1.0 / length) if length > 0.0 else (0.0, 0.0, 0.0)


@kernel
def judge_ends(surface, crossings, known, side):
    """side : (c,) int8, becomes 1 or 2: which end of the edge is on the wrong side of the face; 0 where nobody knows.

    Of two layers, the inner one belongs behind the faces of the outer one. Behind faces of a closed surface nothing
    belongs. An edge of a closed surface that crosses an open one: the open one belongs outside, so its face is turned
    as the closed surface is there, and the end in front of it is wrong. Two parts of what covers a closed surface that
    face each other: nothing belongs behind them.
    """
    x, faces, edges, normals, covering = surface
    objects, layer, solid, outward, cover = known
    for k in range(len(side)):
        e, f = crossings[0][k], crossings[1][k]
        a, b = edges[e, 0], edges[e, 1]
        n = unit_normal(x, faces, f)
        along = dot(sub(row(x, b), row(x, a)), n)
        other = faces[f, 0]
        if objects[a] != objects[other] and layer[a] >= 0 and layer[other] >= 0 and layer[a] != layer[other]:
            if outward[f] == 0:
                continue
            behind_is_wrong = layer[a] > layer[other]
            along *= outward[f]
        elif solid[f] != 0:
            behind_is_wrong = True
            along *= solid[f]
        else:
            m = add(row(normals, a), row(normals, b))
            if dot(m, m) > 0.0:
                behind_is_wrong = False
                along *= 1.0 if dot(m, n) >= 0.0 else -1.0
            else:
                m = add(row(covering, a), row(covering, b))
                if cover[f] == 0 or not cover[f] * dot(m, n) < _FACING * np.sqrt(dot(m, m)):
                    continue
                behind_is_wrong = True
                along *= cover[f]
        first_is_behind = along >= 0.0
        side[k] = 1 if first_is_behind == behind_is_wrong else 2


@kernel
def collect_borders(surface, crossings, side, vertices, sums, reaction):
    """Depths and directions at the ends of edges that are on the wrong side, and what their faces do in return.

    sums : (n, 6) weights, depths, directions, shares; reaction : (n, 4) displacements and weights. blocked : (n,)
    becomes True for ends on the right side.
    """
    x, faces, edges = surface
    held, size, blocked = vertices
    for k in range(len(side)):
        if side[k] == 0:
            continue
        e, f = crossings[0][k], crossings[1][k]
        s, o = edges[e, side[k] - 1], edges[e, 2 - side[k]]
        blocked[o] = True
        n = unit_normal(x, faces, f)
        a, b = row(x, s), row(x, o)
        if dot(sub(b, a), n) < 0.0:
            n = scale(n, -1.0)
        p = lerp(row(x, edges[e, 0]), row(x, edges[e, 1]), crossings[2][k])
        d = sub(p, a)
        depth = max(dot(d, n), 0.0)
        u, v, w = faces[f, 0], faces[f, 1], faces[f, 2]
        face_is_held, end_is_held = held[u] and held[v] and held[w], held[s]
        share = 1.0 if face_is_held else 0.5
        weight = 1.0 / max(dot(d, d), 1e-4 * size[s] * size[s])
        sums[s, 0] += weight
        sums[s, 1] += weight * depth
        for c in range(3):
            sums[s, 2 + c] += weight * n[c]
        sums[s, 5] += weight * share
        moved = (1.0 if end_is_held else 0.5) * (min(depth, DEEPEST * size[s]) + GAP * size[s])
        for c in range(3):
            corner, part = faces[f, c], crossings[3][k, c]
            if part > 0.0:
                for axis in range(3):
                    reaction[corner, axis] -= part * moved * n[axis]
                reaction[corner, 3] += part
    for v in range(len(x)):
        if sums[v, 0] > 0.0:
            blocked[v] = False


@kernel
def hand_on(x, rings, blocked, most, sums, vertices, wanted, weight):
    """Depths at the borders become displacements, and are handed on inwards, ring by ring, as ``depths`` does."""
    size, held = vertices
    n = len(x)
    depth, share, normal = np.zeros(n), np.zeros(n), np.zeros((n, 3))
    ring = np.full(n, np.int32(-1))
    known, count = np.empty(n, np.int64), 0
    for v in range(n):
        if sums[v, 0] > 0.0 and _mean(sums, v, depth, share, normal):
            ring[v] = 0
            known[count] = v
            count += 1
    first, number = 0, 0
    while first < count and number < most:
        number += 1
        last = count
        for i in range(first, last):
            v = known[i]
            for s in range(rings.start[v], rings.start[v + 1]):
                w = rings.neighbours[s]
                if ring[w] == -1 and not blocked[w]:
                    ring[w] = -2
                    known[count] = w
                    count += 1
        reached = last
        for i in range(last, count):
            w = known[i]
            for c in range(6):
                sums[w, c] = 0.0
            for s in range(rings.start[w], rings.start[w + 1]):
                v = rings.neighbours[s]
                if ring[v] >= 0:
                    _gather(x, v, w, depth, share, normal, size, sums)
        for i in range(last, count):
            w = known[i]
            ring[w] = -3  # examined, to no avail
            if _mean(sums, w, depth, share, normal) and depth[w] > 0.0:
                known[reached] = w
                reached += 1
        for i in range(last, reached):
            ring[known[i]] = number
        first, count = last, reached
    for i in range(count):
        v = known[i]
        if held[v]:
            continue
        far = share[v] * (min(depth[v], DEEPEST * size[v]) + GAP * size[v])
        weight[v] = 1.0
        for c in range(3):
            wanted[v, c] = far * normal[v, c]


@helper
def _gather(x, v, w, depth, share, normal, size, sums):
    d = sub(row(x, v), row(x, w))
    weight = 1.0 / max(dot(d, d), 1e-4 * size[w] * size[w])
    sums[w, 0] += weight
    sums[w, 1] += weight * (dot(d, row(normal, v)) + depth[v])
    for c in range(3):
        sums[w, 2 + c] += weight * normal[v, c]
    sums[w, 5] += weight * share[v]


@helper
def _mean(sums, v, depth, share, normal):
    total = sums[v, 0]
    n = sums[v, 2], sums[v, 3], sums[v, 4]
    length = np.sqrt(dot(n, n))
    if not (total > 0.0 and length > 1e-6 * total and sums[v, 1] >= 0.0):
        return False
    depth[v], share[v] = sums[v, 1] / total, sums[v, 5] / total
    for c in range(3):
        normal[v, c] = n[c] / length
    return True
