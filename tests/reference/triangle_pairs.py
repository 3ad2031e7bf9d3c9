"""Random pairs of triangles, most of them in special position.

Most coordinates are small multiples of a power of two: sums and products with the few binary weights used here are
exact, so what is built to touch does touch.
"""

from __future__ import annotations

from itertools import count as counter

import numpy as np

APART = (0, 1, 2), (3, 4, 5)
VERTEX = (0, 1, 2), (0, 3, 4)
EDGE = (0, 1, 2), (0, 1, 3)


def random_pairs(rng, count):
    """Yields count times x, ids_a, ids_b, family: the families in turn, corners, sides and vertex ids shuffled.

    x : (6, 3) float64, positions of vertices 0 to 5; not all of them need be in use.
    """
    names = list(FAMILIES)
    for k in range(count):
        name = names[k % len(names)]
        x, a, b = FAMILIES[name](rng)
        order = rng.permutation(6)
        shuffled = np.empty((6, 3))
        shuffled[order] = np.concatenate([x, _small(rng, 6 - len(x))])
        a, b = (tuple(rng.permutation(order[list(ids)]).tolist()) for ids in (a, b))
        yield (shuffled, a, b, name) if rng.random() < 0.5 else (shuffled, b, a, name)


# ---- building blocks


def _small(rng, n, size=4):
    return rng.integers(-size, size, size=(n, 3), endpoint=True).astype(np.float64)


def _solid(rng):
    """Three corners not on a line."""
    return next(p for p in (_small(rng, 3) for _ in counter()) if np.cross(p[1] - p[0], p[2] - p[0]).any())


def _plane(rng):
    """Point and directions (3, 3) of a random plane: (1, i, j) @ plane is a point of it."""
    p = _solid(rng)
    return np.stack([p[0], p[1] - p[0], p[2] - p[0]])


def _in_plane(plane, i, j):
    return np.stack([np.ones(len(i)), i, j], axis=1) @ plane


def _line(rng):
    """Three points on a line, any two of which may be equal."""
    return _small(rng, 1) + rng.integers(-3, 3, size=(3, 1), endpoint=True) * _small(rng, 1, 2)


def _weights(rng, corners):
    """Barycentric coordinates, in quarters, of a point inside a face (3 corners) or its first side, or of a corner."""
    choices = {1: [(4, 0, 0)], 2: [(1, 3, 0), (2, 2, 0), (3, 1, 0)], 3: [(1, 1, 2), (1, 2, 1), (2, 1, 1)]}[corners]
    return np.array(choices[rng.integers(len(choices))]) / 4


def _meet(rng, a, b, corners_a, corners_b):
    """Moves b so that a point inside a, or of its first side or corner, falls on such a point of b."""
    return np.concatenate([a, b + (_weights(rng, corners_a) @ a - _weights(rng, corners_b) @ b)])


# ---- families: rng -> positions (up to 6, 3), ids_a, ids_b


def _generic(rng):
    x = rng.normal(size=(6, 3))
    x[3:] += x[:3].mean(axis=0) - x[3:].mean(axis=0) + 0.5 * rng.normal(size=3)
    return x, *APART


def _integers(rng):
    return rng.integers(0, 3, size=(6, 3), endpoint=True).astype(np.float64), *APART


def _integers_sharing(rng):
    return rng.integers(0, 3, size=(6, 3), endpoint=True).astype(np.float64), *(VERTEX if rng.random() < 0.7 else EDGE)


def _coplanar_overlap(rng):
    plane = _plane(rng)
    a, b = (_in_plane(plane, *rng.integers(-3, 3, size=(2, 3), endpoint=True)) for _ in range(2))
    return _meet(rng, a, b, 3, 3), *APART


def _coplanar_apart(rng):
    plane = _plane(rng)
    i = rng.integers(1, 3, size=6, endpoint=True) * np.repeat((-1, 1), 3)
    j = rng.integers(-3, 3, size=6, endpoint=True)
    # Sheared, so that the gap is not along a direction of the grid.
    return _in_plane(plane, i + 2 * j, i + j), *APART


def _coplanar_rounded(rng):
    directions = rng.normal(size=(2, 3))
    return rng.normal(size=(6, 2)) @ directions + rng.normal(size=3), *APART


def _touching(corners_a, corners_b):
    return lambda rng: (_meet(rng, _solid(rng), _solid(rng), corners_a, corners_b), *APART)


def _vertex_hitting(rng):
    a = _solid(rng)
    # A point of a other than the shared corner 0, on the opposite side of b.
    s = np.array(((0, 1, 3), (1, 1, 2), (2, 1, 1), (0, 4, 0), (1, 3, 0), (-4, 4, 4))[rng.integers(6)]) / 4 @ a
    d = _small(rng, 1)
    return np.concatenate([a, s + d * rng.integers(0, 2), s - d]), *VERTEX


def _vertex_missing(rng):
    # On two sides of a plane through vertex 0.
    for _ in counter():
        n, others = _small(rng, 1)[0], _small(rng, 4)
        if (others @ n).all():
            others *= (np.sign(others @ n) * (1, 1, -1, -1))[:, None]
            shared = _small(rng, 1)
            return np.concatenate([shared, shared + others]), *VERTEX
    raise AssertionError


def _vertex_coplanar(rng):
    plane = _plane(rng)
    return _in_plane(plane, *rng.integers(-3, 3, size=(2, 5), endpoint=True)), *VERTEX


def _edge_in_plane(side):
    def family(rng):
        i = rng.integers(-3, 3, size=4, endpoint=True)
        i[1] = i[0] + rng.integers(1, 3, endpoint=True)
        j = rng.integers(1, 3, size=2, endpoint=True) * (1, side)
        return _in_plane(_plane(rng), i, np.array((0, 0, *j))), *EDGE

    return family


def _edge_not_flat(rng):
    return np.concatenate([_solid(rng), _small(rng, 1)]), *EDGE


def _duplicate(rng):
    return (_solid(rng) if rng.random() < 0.7 else _line(rng)), (0, 1, 2), (0, 1, 2)


def _segment(rng):
    other = _line(rng) if rng.random() < 0.4 else _solid(rng)
    if rng.random() < 0.4:
        return np.concatenate([_line(rng), other]), *APART
    return _meet(rng, _line(rng), other, *rng.integers(1, 3, size=2, endpoint=True)), *APART


def _segments_in_line(rng):
    line = _small(rng, 1) + rng.integers(-4, 4, size=(6, 1), endpoint=True) * _small(rng, 1, 2)
    return line, *(APART, VERTEX, EDGE)[rng.integers(3)]


def _segment_sharing(rng):
    x = np.concatenate([_line(rng), _small(rng, 2)])
    if rng.random() < 0.5:
        x[4] = 2 * x[1] - x[3]
    return x, *(VERTEX if rng.random() < 0.7 else EDGE)


def _point(rng):
    a, b = np.repeat(_small(rng, 1), 3, axis=0), (_solid, _line)[rng.integers(2)](rng)
    if rng.random() < 0.6:
        return _meet(rng, a, b, 1, rng.integers(1, 3, endpoint=True)), *APART
    b = a + _small(rng, 1, 1) if rng.random() < 0.5 else b
    return np.concatenate([a, b]), *(APART, VERTEX)[rng.integers(2)]


def _repeated_ids(rng):
    x, _, b = _segment(rng) if rng.random() < 0.3 else _touching(2, rng.integers(1, 3, endpoint=True))(rng)
    a = ((0, 0, 1), (0, 1, 1), (0, 1, 1), (0, 0, 0))[rng.integers(4)]
    if rng.random() < 0.5:
        return x, a, (b, b, (3, 4, 4), (3, 3, 3))[rng.integers(4)]
    if rng.random() < 0.3:
        x[1] = (x[4] + x[5]) / 2
    return x, a, ((0, 4, 5), (0, 4, 5), (0, 1, 5), (0, 1, 1), (0, 4, 4))[rng.integers(5)]


def _equal_positions(rng):
    x, a, b = FAMILIES[("shared vertex missing", "shared edge not flat", "duplicate")[rng.integers(3)]](rng)
    return x[[*a, *b]], *APART


def _equal_in_one(rng):
    """Two corners of one triangle, or the third corners of two with a common side, at one place."""
    x, a, b = (_generic, _integers, _vertex_missing, _edge_not_flat)[rng.integers(4)](rng)
    x[a[2]] = x[a[1] if b != EDGE[1] else b[2]]
    return x, a, b


BASE = {
    "generic": _generic,
    "integers": _integers,
    "integers, sharing": _integers_sharing,
    "coplanar overlap": _coplanar_overlap,
    "coplanar apart": _coplanar_apart,
    "coplanar, rounded": _coplanar_rounded,
    "vertex on vertex": _touching(1, 1),
    "vertex on edge": _touching(1, 2),
    "vertex in face": _touching(1, 3),
    "edge on edge": _touching(2, 2),
    "shared vertex hitting": _vertex_hitting,
    "shared vertex missing": _vertex_missing,
    "shared vertex coplanar": _vertex_coplanar,
    "shared edge folded": _edge_in_plane(1),
    "shared edge spread flat": _edge_in_plane(-1),
    "shared edge not flat": _edge_not_flat,
    "duplicate": _duplicate,
    "segment": _segment,
    "segments in line": _segments_in_line,
    "segment, sharing": _segment_sharing,
    "point": _point,
    "repeated ids": _repeated_ids,
    "equal positions": _equal_positions,
    "equal positions in one": _equal_in_one,
}


def _any(rng):
    return BASE[list(BASE)[rng.integers(len(BASE))]](rng)


def _scaled(*factors):
    """Any of the base families times one of the factors: a power of two keeps a touch, others may round it away."""

    def family(rng):
        x, a, b = _any(rng)
        return x * factors[rng.integers(len(factors))], a, b

    return family


def _axes_scaled(rng):
    x, a, b = _any(rng)
    return x * rng.permutation((2.0**498, 1.0, 2.0**-498)), a, b


def _offset(rng):
    x, a, b = _any(rng)
    return x * (1.0, 1 / 3, 2.0**-20)[rng.integers(3)] + 1e8 * rng.integers(-1, 1, size=3, endpoint=True), a, b


def _nearly(rng):
    """One coordinate of one vertex of a touch moved by one float."""
    touching = ("vertex on vertex", "vertex on edge", "vertex in face", "edge on edge", "shared vertex hitting")
    others = ("shared edge folded", "segment", "coplanar overlap", "equal positions")
    x, a, b = BASE[(*touching, *touching, *others)[rng.integers(14)]](rng)
    # Away from 0, where the next float is a denormal: there the move is in the range of rounding errors.
    x = x + (0.0, 8.0, 100.0)[rng.integers(3)]
    place = rng.integers(len(x)), rng.integers(3)
    x[place] = np.nextafter(x[place], rng.choice((-np.inf, np.inf)))
    return x, a, b


FAMILIES = BASE | {
    "times 1e150": _scaled(1e150, 2.0**498),
    "times 1e-150": _scaled(1e-150, 2.0**-498),
    "times 1e-310": _scaled(1e-310, 2.0**-1030),
    "times 5e-324": _scaled(5e-324, 3e-323),
    "axes scaled": _axes_scaled,
    "offset": _offset,
    "nearly touching": _nearly,
}
