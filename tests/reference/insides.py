"""The slow truth about vertices in cells, in fractions; and how deep they are, in plain loops over all faces."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np

from tests.reference.volumes import SHELLS, SIDES, topology, triangulated


def _sub(a, b):
    return [p - q for p, q in zip(a, b)]


def _dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def exactly(x):
    """Rows of fractions."""
    return [[Fraction(float(c)) for c in point] for point in x]


def on_segment(p, a, b):
    e, w = _sub(b, a), _sub(p, a)
    if not any(e):
        return not any(w)
    return not any(_cross(e, w)) and 0 <= _dot(e, w) <= _dot(e, e)


def on_triangle(p, a, b, c):
    e, f, w = _sub(b, a), _sub(c, a), _sub(p, a)
    n = _cross(e, f)
    if not any(n):
        return on_segment(p, a, b) or on_segment(p, b, c) or on_segment(p, c, a)
    if _dot(n, w) != 0:
        return False
    u, v = _dot(_cross(w, f), n), _dot(_cross(e, w), n)
    return u >= 0 and v >= 0 and u + v <= _dot(n, n)


def winding_number(p, triangles):
    """By a ray in a direction at random, another one where it meets an edge; p is on no triangle."""
    rng = random.Random(7)
    while True:
        d = [Fraction(rng.randrange(-1000, 1000), rng.randrange(1, 1000)) for _ in range(3)]
        counts = [_crossing(p, d, *triangle) for triangle in triangles]
        if None not in counts:
            return sum(counts)


def _crossing(p, d, a, b, c):
    """+1 where the ray leaves through the triangle, -1 where it enters, 0 past it, None where that is not clear."""
    e, f, w = _sub(b, a), _sub(c, a), _sub(p, a)
    n = _cross(e, f)
    slope, height = _dot(n, d), _dot(n, w)
    if slope == 0:
        return 0 if height != 0 or not any(n) else None
    if height * slope >= 0:  # behind the point, or at it: there the triangle is elsewhere in its plane
        return 0
    hit = [q - height / slope * r for q, r in zip(w, d)]
    u, v, total = _dot(_cross(hit, f), n), _dot(_cross(e, hit), n), _dot(n, n)
    if u < 0 or v < 0 or u + v > total:
        return 0
    if u == 0 or v == 0 or u + v == total:
        return None
    return 1 if slope > 0 else -1


def surface_of(name, cell):
    return [t for side in SIDES[name] for t in triangulated([cell[int(i)] for i in side])]


def holds(name, cell, at, p):
    """at : positions of all vertices, as fractions."""
    corners = [at[v] for v in cell]
    if any(p[k] < min(c[k] for c in corners) or p[k] > max(c[k] for c in corners) for k in range(3)):
        return False
    triangles = [[at[v] for v in triangle] for triangle in surface_of(name, cell)]
    return any(on_triangle(p, *t) for t in triangles) or winding_number(p, triangles) != 0


def inside(blocks, x) -> tuple[list[tuple[int, int]], int]:
    """Pairs (vertex, cell), sorted; and how many there were to choose from: not a corner, but in the box."""
    cells, at = topology(blocks).cells, exactly(x)
    box = [(x[list(cell)].min(axis=0), x[list(cell)].max(axis=0)) for _, cell in cells]
    found, count = [], 0
    for v in sorted({v for _, cell in cells for v in cell}):
        for i, (name, cell) in enumerate(cells):
            if name in SHELLS or v in cell or (x[v] < box[i][0]).any() or (x[v] > box[i][1]).any():
                continue
            count += 1
            if holds(name, cell, at, at[v]):
                found.append((v, i))
    return found, count


def enclosed(faces, x, points):
    """{row of points: winding number, None on the surface}, of those inside of a closed surface or on it."""
    at, found = exactly(x), {}
    triangles = [[at[v] for v in face] for face in faces]
    for i, p in enumerate(exactly(points)):
        if any(on_triangle(p, *t) for t in triangles):
            found[i] = None
        elif winding := winding_number(p, triangles):
            found[i] = winding
    return found


# ---- depth, as the documentation says it


def exits_of(top, x, label):
    """{label: [(corners, positions, outward unit normal)]} of faces with exactly one solid."""
    out = {}
    for f, face in enumerate(top.faces):
        solids = [i for i in top.face_cells[f] if top.cells[i][0] not in SHELLS]
        if len(solids) == 1:
            corners = x[list(face)]
            n = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            middle = x[list(top.cells[solids[0]][1])].mean(axis=0)
            n = n if n @ (corners[0] - middle) > 0 else -n
            out.setdefault(label[face[0]], []).append((set(face), corners, n / np.linalg.norm(n)))
    return out


def leaves_at(p, q, corners, n):
    """Part of the way from p to q where it goes out through a triangle, or infinite."""
    slope = n @ (q - p)
    if slope <= 1e-12:
        return math.inf
    t = n @ (corners[0] - p) / slope
    if not -1e-9 <= t <= 1 + 1e-9:
        return math.inf
    hit = p + t * (q - p)
    basis = np.stack([corners[1] - corners[0], corners[2] - corners[0]], axis=1)
    u, v = np.linalg.lstsq(basis, hit - corners[0], rcond=None)[0]
    return min(1.0, max(0.0, t)) if min(u, v, 1 - u - v) > -1e-9 else math.inf


def nearest_on(p, corners):
    """The point of a triangle that is nearest to p: in it, or else on one of its sides."""
    a, b, c = corners
    u, v = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), p - a, rcond=None)[0]
    if min(u, v, 1 - u - v) >= 0:
        return a + u * (b - a) + v * (c - a)
    on_sides = []
    for s, e in ((a, b), (b, c), (c, a)):
        t = (p - s) @ (e - s) / ((e - s) @ (e - s))
        on_sides.append(s + min(1.0, max(0.0, t)) * (e - s))
    return min(on_sides, key=lambda q: np.linalg.norm(p - q))


def _means(terms):
    weights = np.array([w for w, _, _ in terms])
    depth = sum(w * d for w, d, _ in terms) / weights.sum()
    r = sum(w * n for w, _, n in terms) / weights.sum()
    return depth, r / np.linalg.norm(r)


def depths(blocks, x, label, pairs):
    """{(vertex, label): (depth, direction)} of pairs (vertex, cell)."""
    top = topology(blocks)
    exits = exits_of(top, x, label)
    rows = {(v, label[top.cells[i][1][0]]) for v, i in pairs}
    near = {v: set() for v in top.vertex_cells}
    for a, b in top.edges:
        near[a].add(b)
        near[b].add(a)
    own = {v: {w for i in at for w in top.cells[i][1]} for v, at in top.vertex_cells.items()}

    def ways_out(v, object_):
        return [exit for exit in exits[object_] if label[v] != object_ or not exit[0] & own[v]]

    known = {}
    for v, object_ in rows:
        terms = []
        for w in near[v]:
            if (w, object_) not in rows:
                at = [(leaves_at(x[v], x[w], corners, n), n) for _, corners, n in ways_out(v, object_)]
                t, n = min(at, key=lambda pair: pair[0], default=(math.inf, None))
                if t < math.inf:
                    terms.append((1 / max((t * (x[w] - x[v])) @ (t * (x[w] - x[v])), 1e-24), t * (x[w] - x[v]) @ n, n))
        if terms:
            known[v, object_] = _means(terms)
    while True:
        ring = {}
        for v, object_ in rows - set(known):
            terms = [(x[w] - x[v], *known[w, object_]) for w in near[v] if (w, object_) in known]
            if terms:
                depth, r = _means([(1 / (d @ d), d @ n + deep, n) for d, deep, n in terms])
                if depth > 1e-12:
                    ring[v, object_] = depth, r
        if not ring:
            break
        known |= ring
    for v, object_ in rows - set(known):
        points = [nearest_on(x[v], corners) for _, corners, _ in ways_out(v, object_)]
        q = min(points, key=lambda q: np.linalg.norm(x[v] - q))
        known[v, object_] = np.linalg.norm(q - x[v]), (q - x[v]) / np.linalg.norm(q - x[v])
    return known
