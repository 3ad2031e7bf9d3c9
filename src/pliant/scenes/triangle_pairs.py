"""Random pairs of moving triangles in the unit cube, as paper 002 compares its methods on (sections 8.1 and 8.2).

Which pairs touch is decided here, by halving intervals of time with plain numpy: pairs that leave any doubt (contact
within 1e-3 of the rim of a feature, or grazing) are not used, and the choice does not lean towards any method.
"""

from typing import NamedTuple

import numpy as np

MOTIONS = {"small": 0.05, "medium": 0.2, "large": 1.0}  # how far a triangle moves, in units of its size

_BATCH = 8192
_HALVINGS = 20
_TINY = 1e-12  # of a volume: far more than its rounding error
_MARGIN = 1e-3  # of a feature
_PAIRS = (
    *((v, 3, 4, 5) for v in (0, 1, 2)), *((v, 0, 1, 2) for v in (3, 4, 5)),
    *((a, (a + 1) % 3, 3 + b, 3 + (b + 1) % 3) for a in range(3) for b in range(3)),
)  # fmt: skip


class TrianglePairs(NamedTuple):
    """Pairs of triangles that move straight from x0 to x1."""

    x0: np.ndarray  # (k, 6, 3) float64, a0 a1 a2 b0 b1 b2
    x1: np.ndarray
    touching: np.ndarray  # (k,) bool, whether they do at any time


def random_pairs(
    count: int, motion: str = "medium", apart: float = 1.0, seed: int = 0, size: float = 0.25
) -> TrianglePairs:
    """Pairs of triangles that do not cross each other at the start.

    motion : of MOTIONS: how far triangles move in units of their size, each in a direction of its own, and corners 0.3
        times as much of theirs
    apart : the share of pairs that never touch (the "false positive rate" of the boxes); exact to one pair
    size : corners are anywhere in a cube of this size, which is anywhere in the unit cube; 1.0: all in the same cube

    Boxes of the two motions overlap, as of the pairs that a hierarchy leaves.
    """
    rng = np.random.default_rng([seed, round(1000 * size), *motion.encode()])
    wanted = {False: round(apart * count), True: count - round(apart * count)}
    found: dict[bool, list[np.ndarray]] = {False: [], True: []}
    while any(sum(map(len, found[kind])) < number for kind, number in wanted.items()):
        x = _candidates(rng, MOTIONS[motion], size)
        touches, doubtful = _touching(x)
        for kind in wanted:
            found[kind].append(x[(touches == kind) & ~doubtful])
    x = np.concatenate([np.concatenate(found[kind])[:number] for kind, number in wanted.items()])
    order = rng.permutation(count)
    touching = np.arange(count) >= wanted[False]
    return TrianglePairs(x[order, 0].copy(), x[order, 1].copy(), touching[order])


def _candidates(rng: np.random.Generator, motion: float, size: float) -> np.ndarray:
    """Pairs (k, 2, 6, 3), start and end, which do not cross at the start, and of which swept boxes overlap."""
    corner = np.repeat(rng.uniform(size=(_BATCH, 2, 3)), 3, axis=1)
    start = size * rng.uniform(size=(_BATCH, 6, 3)) + (1.0 - size) * corner
    shift = np.repeat(_directions(rng, (_BATCH, 2)), 3, axis=1)
    x = np.stack([start, start + size * motion * (shift + 0.3 * _directions(rng, (_BATCH, 6)))], axis=1)
    lower, upper = (
        extreme(x.reshape(_BATCH, 2, 2, 3, 3), axis=(1, 3)) for extreme in (np.min, np.max)
    )  # of both triangles: (k, 2, 3)
    overlapping = (lower.max(axis=1) <= upper.min(axis=1)).all(axis=1)
    return x[overlapping & ~_crossing(start)]


def _directions(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    v = rng.normal(size=(*shape, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def _crossing(x: np.ndarray) -> np.ndarray:
    """(k,) an edge of one triangle goes through the other, or nearly so."""
    found = np.zeros(len(x), bool)
    for face, edges in (((3, 4, 5), (0, 1, 2)), ((0, 1, 2), (3, 4, 5))):
        a, b, c = (x[:, i] for i in face)
        for i in range(3):
            p, q = x[:, edges[i]], x[:, edges[(i + 1) % 3]]
            around = np.stack([_volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)])
            through = (around.min(axis=0) > -_TINY) | (around.max(axis=0) < _TINY)
            found |= through & (_volume(a, b, c, p) * _volume(a, b, c, q) < _TINY)
    return found


def _volume(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    return (np.cross(b - a, c - a) * (d - a)).sum(axis=-1)


def _touching(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k,) surely touching; (k,) not known: pairs (k, 2, 6, 3)."""
    surely, doubtful = np.zeros(len(x), bool), np.zeros(len(x), bool)
    for pair in _PAIRS:
        p = np.moveaxis(x[:, :, pair], 2, 0)  # (4, k, 2, 3)
        of_edges = pair[1] % 3 == (pair[0] + 1) % 3 and pair[1] // 3 == pair[0] // 3
        vectors = (p[1] - p[0], p[3] - p[2], p[2] - p[0]) if of_edges else (p[2] - p[1], p[3] - p[1], p[0] - p[1])
        rows, moving, root = _coplanar(*vectors)
        inside = _insideness(of_edges, *moving)
        surely[rows[root & (inside > _MARGIN)]] = True
        doubtful[rows[(abs(inside) <= _MARGIN) | (~root & (inside > _MARGIN))]] = True
    return surely, doubtful


def _coplanar(e1: np.ndarray, e2: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """(rows in which w . (e1 x e2) may vanish, the three vectors at that time, whether it surely does): each vector
    is (k, 2, 3), at the start and at the end."""
    rows, lower, width = np.arange(len(w)), np.zeros(len(w)), 1.0
    while True:
        ends = [_at(v[rows], lower, width) for v in (e1, e2, w)]
        c = _bernstein(*ends)
        kept = (c.min(axis=0) <= _TINY) & (c.max(axis=0) >= -_TINY)
        rows, lower = rows[kept], lower[kept]
        if width <= 0.5**_HALVINGS:
            return rows, [v[kept].mean(axis=1) for v in ends], (c[0] * c[3] < 0)[kept]
        width *= 0.5
        rows, lower = np.tile(rows, 2), np.concatenate([lower, lower + width])


def _at(v: np.ndarray, lower: np.ndarray, width: float) -> np.ndarray:
    """A vector that moves from v[:, 0] to v[:, 1], at both ends of the part of the motion from lower on."""
    t = np.stack([lower, lower + width], axis=1)[:, :, None]
    return (1.0 - t) * v[:, :1] + t * v[:, 1:]


def _bernstein(e1: np.ndarray, e2: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(4, k) Bernstein coefficients of w . (e1 x e2)."""
    n0, n2 = np.cross(e1[:, 0], e2[:, 0]), np.cross(e1[:, 1], e2[:, 1])
    n1 = (np.cross(e1[:, 0], e2[:, 1]) + np.cross(e1[:, 1], e2[:, 0])) / 2
    w0, w1 = w[:, 0], w[:, 1]
    return np.stack([
        (w0 * n0).sum(axis=1),
        (w0 * n1 * 2 + w1 * n0).sum(axis=1) / 3,
        (w0 * n2 + w1 * n1 * 2).sum(axis=1) / 3,
        (w1 * n2).sum(axis=1),
    ])  # fmt: skip


def _insideness(of_edges: bool, e1: np.ndarray, e2: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(k,) how far inside both features the point is in which plane or lines meet, as a part of them; else below 0."""
    n = np.cross(e1, e2)
    squared = np.maximum((n * n).sum(axis=1), _TINY)
    s, t = ((np.cross(*v) * n).sum(axis=1) / squared for v in ((w, e2), (e1, w)))
    weights = (s, 1 - s, -t, 1 + t) if of_edges else (s, t, 1 - s - t)
    return np.min(weights, axis=0)
