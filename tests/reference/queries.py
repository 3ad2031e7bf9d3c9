"""Seeded queries for the elementary tests: a shuffled mixture of families, most of them degenerate on purpose.

One description serves both kinds. A query has two features, tuples of rows; a contact is a time and two sets of weights
for which the weighted points agree. What has to be exact is built from small dyadic numbers, where floats do not round.
"""

from __future__ import annotations

import numpy as np

VERTEX_FACE = ((0,), (1, 2, 3))
EDGE_EDGE = ((0, 1), (2, 3))


def vertex_face_queries(count, seed):
    """x0, x1 : (count, 4, 3) float64, rows v f0 f1 f2."""
    return _queries(VERTEX_FACE, count, seed)


def edge_edge_queries(count, seed):
    """x0, x1 : (count, 4, 3) float64, rows a0 a1 b0 b1."""
    return _queries(EDGE_EDGE, count, seed)


def family_names(count, seed):
    """The family of each query of that count and seed, the same for both kinds."""
    shares = np.array(list(FAMILIES.values()), dtype=np.float64)
    chosen = np.random.default_rng(seed).choice(len(shares), size=count, p=shares / shares.sum())
    names = [family.__name__.strip("_") for family in FAMILIES]
    return [names[i] for i in chosen]


def _queries(features, count, seed):
    rng = np.random.default_rng([seed, len(features[0])])
    build = {family.__name__.strip("_"): family for family in FAMILIES}
    x = np.empty((2, count, 4, 3))
    for i, name in enumerate(family_names(count, seed)):
        x[:, i] = _disguise(rng, features, build[name](rng, features))
    return x[0], x[1]


# ---- what the families are made of; a query is x : (2, 4, 3), positions at t = 0 and t = 1


def _disguise(rng, features, x):
    # Permuted and mirrored axes, another order of the vertices: nothing may depend on either, and nothing is rounded.
    rows = [row for feature in features for row in rng.permutation(feature)]
    return (x[:, rows][:, :, rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)) + 0.0


def _whole(rng, limit=4):
    return rng.integers(-limit, limit + 1, (2, 4, 3)).astype(np.float64)


def _dyadic_weights(rng, features, inner=False):
    """(4,), multiples of 1/8 that sum to 1 over the first feature and to -1 over the second; inner: none is zero."""
    weights = np.zeros(4)
    for side, feature in zip((1.0, -1.0), features):
        size = len(feature)
        shares = rng.multinomial(8 - size * inner, rng.dirichlet(np.full(size, 0.5))) + inner
        weights[list(feature)] = side * shares / 8
    return weights


def _border_weights(rng, features, beyond):
    """Weights of a contact on the border of the second feature, or that far beyond it."""
    weights = _dyadic_weights(rng, features)
    row, *others = rng.permutation(features[1])
    weights[others[0]] += weights[row] - beyond
    weights[row] = beyond
    return weights


def _plant(rng, features, x, time, weights):
    """Moves one feature so that the weighted points agree at that time. Exact if all numbers are dyadic and short."""
    gap = weights @ ((1 - time) * x[0] + time * x[1])
    moved = rng.integers(2)
    x[:, list(features[moved])] += gap if moved else -gap
    return x


def _some_time(rng):
    return rng.integers(1, 8) / 8


def _touching(rng, features, time=None):
    """A contact that no rounding blurs, anywhere on the two features, corners and borders included."""
    time = _some_time(rng) if time is None else time
    return _plant(rng, features, _whole(rng), time, _dyadic_weights(rng, features))


def _one_ulp(rng, x):
    end, row, axis = rng.integers(2), rng.integers(4), rng.integers(3)
    x[end, row, axis] = np.nextafter(x[end, row, axis], rng.choice([-np.inf, np.inf]))
    return x


def _away(rng):
    # Features that start apart, or they would nearly all meet at t = 0.
    return rng.choice([0, 0, 5, 9])


def _often(rng, share=0.5):
    return rng.random() < share


# ---- the families


def _generic(rng, features):
    return rng.standard_normal((2, 4, 3))


def _integers(rng, features):
    return _whole(rng, 2)


def _inner(rng, features):
    weights = np.zeros(4)
    for side, feature in zip((1.0, -1.0), features):
        weights[list(feature)] = side * rng.dirichlet(np.ones(len(feature)))
    return _plant(rng, features, rng.standard_normal((2, 4, 3)), rng.random(), weights)


def _at_start(rng, features):
    return _touching(rng, features, 0.0)


def _at_end(rng, features):
    return _touching(rng, features, 1.0)


def _on_border(rng, features):
    """On a side or a corner of the triangle, at an end of an edge."""
    return _plant(rng, features, _whole(rng), _some_time(rng), _border_weights(rng, features, 0.0))


def _outside(rng, features):
    """Coplanar at that time, and beyond the border by 1/8, 2^-10 or 2^-40 of the feature."""
    weights = _border_weights(rng, features, 2.0 ** -rng.choice([3, 10, 40]))
    return _plant(rng, features, _whole(rng, 2), rng.integers(0, 3) / 2, weights)


def _nearly(rng, features):
    """One coordinate is one ulp off a contact at a border or at an end of the interval."""
    if _often(rng):
        return _one_ulp(rng, _touching(rng, features, rng.choice([0.0, 1.0])))
    return _one_ulp(rng, _on_border(rng, features))


def _nearly_planted(rng, features):
    # Rounded positions do not meet the border they were planted on: a contact a rounding error away, to whichever side.
    x = rng.standard_normal((2, 4, 3))
    return _plant(rng, features, x, rng.random(), _border_weights(rng, features, 0.0))


def _slow(rng, features):
    """What a simulation makes: steps much smaller than the features, whether they meet or not."""
    x = rng.standard_normal((2, 4, 3))
    x[1] = x[0] + (x[1] - x[0]) * 10.0 ** -rng.integers(1, 13)
    if _often(rng):
        return _plant(rng, features, x, rng.random(), _dyadic_weights(rng, features, inner=True))
    return _plant(rng, features, x, rng.random() * 4 - 1.5, _dyadic_weights(rng, features, inner=True))


def _hinged(rng, features):
    """Three points stay in a plane, so one is in line with the other two at the roots of a quadratic, seldom rational:
    an inside condition that has such a root in common with the cubic and is zero there."""
    x = _whole(rng, 3)
    x[:, [0, 1, 2] if len(features[0]) == 1 else [0, 2, 3], 2] = 0.0
    return x


def _in_plane(rng, features):
    """A cubic that is identically zero: all move in one plane, which in half of the cases turns about a line."""
    u, w = rng.integers(-3, 4, (2, 2, 4, 1))
    u[0, list(features[0])] += _away(rng)
    along, across = rng.integers(-2, 3, (2, 3)), rng.integers(-2, 3, (2, 3))
    if _often(rng):
        w[1] = w[0]
        return (u * along[0] + w * across[:, None]).astype(np.float64)
    return (u * along[0] + w * across[0] + along[1]).astype(np.float64)


def _in_line(rng, features):
    """All on one line, which moves, and turns where each keeps its place on it."""
    u = rng.integers(-4, 5, (2, 4, 1))
    u[0, list(features[0])] += _away(rng)
    along, shift = rng.integers(-2, 3, (2, 3)), rng.integers(-2, 3, (2, 1, 3))
    if _often(rng, 0.3):
        return (u[0] * along[:, None] + shift).astype(np.float64)
    return (u * along[0] + shift).astype(np.float64)


def _flat(rng, features):
    """The normal vanishes, all the time or at one: parallel edges, or a triangle that is a segment."""
    x = _whole(rng, 3)
    p, q, r, s = (x[:, row] for row in range(4))
    share = rng.integers(-4, 9) / 4
    time = rng.integers(0, 9) / 8
    direction = q - p if len(features[0]) == 2 else r - q
    if _often(rng):
        # Zero at that time only: before and after, the normal does not vanish.
        turn = rng.integers(-2, 3, 3) * 8.0
        bend = np.array([[-time], [1 - time]]) * turn
    else:
        bend = 0.0
    s[:] = (r if len(features[0]) == 2 else q) + share * direction + bend
    return _plant(rng, features, x, time, _dyadic_weights(rng, features)) if _often(rng, 0.7) else x


def _repeated(rng, features):
    """Points that coincide, within or between the features, all the time or at one end or in the middle."""
    x = _whole(rng, 2)
    x[0, list(features[0]), 0] += _away(rng)
    for _ in range(rng.integers(1, 4)):
        a, b = rng.choice(4, 2, replace=False)
        how = rng.integers(4)
        if how == 0:
            x[:, b] = x[:, a]
        elif how == 3:
            x[1, b] = x[0, a] + x[1, a] - x[0, b]
        else:
            x[how - 1, b] = x[how - 1, a]
    return x


def _static(rng, features):
    """Nothing moves, or one coordinate by one ulp."""
    x = _touching(rng, features, 0.0) if _often(rng, 0.7) else _whole(rng, 2)
    x[1] = x[0]
    return _one_ulp(rng, x) if _often(rng, 0.2) else x


def _translation(rng, features):
    """Features that keep their shape: the cubic is linear, or constant where both move alike."""
    x = _whole(rng, 3)
    moves = rng.integers(-6, 7, (2, 3)) * (1.0 if _often(rng, 0.8) else 0.0) + rng.integers(-4, 5, 3)
    for feature, move in zip(features, moves):
        x[1, list(feature)] = x[0, list(feature)] + move
    return _plant(rng, features, x, _some_time(rng), _dyadic_weights(rng, features)) if _often(rng) else x


def _grazing(rng, features):
    """A double root of the cubic. Two points are on the x axis; in (y, z) the others are (1, t) and a multiple of
    (t, 2 r t - r^2), so the four are coplanar where (t - r)^2 = 0. Some miss by little, or have two close roots."""
    r, side = rng.integers(0, 9) / 8, 1.0 if len(features[0]) == 1 else -1.0
    x = np.zeros((2, 4, 3))
    corner, far, other, moving = (1, 2, 3, 0) if side > 0 else (0, 1, 3, 2)
    x[:, [corner, far], 0] = rng.integers(-4, 5, (2, 2))
    x[:, [other, moving], 0] = rng.integers(-2, 3, (2, 2))
    x[:, other, 1:] = [[1, 0], [1, 1]]
    x[:, moving, 1:] = np.array([[0, -r * r], [1, 2 * r - r * r]]) * side * rng.choice([0.25, 0.5, 1.0])
    if _often(rng, 0.3):
        x[:, moving, 2] += rng.choice([-1, 1]) * 2.0 ** -rng.integers(4, 60)
    shear = np.eye(3) + np.triu(rng.integers(-2, 3, (3, 3)), 1)
    return x @ shear + rng.integers(-2, 3, 3)


def _any_exact(rng, features):
    families = (_integers, _touching, _in_plane, _in_line, _repeated, _static, _translation, _flat, _hinged)
    return families[rng.integers(len(families))](rng, features)


def _denormal(rng, features):
    # In units of 2^-1074 and a little more, so that nothing is rounded away.
    return np.ldexp(_any_exact(rng, features) * 64, -1074 + int(rng.integers(0, 20)))


def _huge(rng, features):
    return _scaled(rng, features, 1e150)


def _tiny(rng, features):
    return _scaled(rng, features, 1e-150)


def _scaled(rng, features, scale):
    if _often(rng):
        return (_inner if _often(rng) else _generic)(rng, features) * scale
    return _any_exact(rng, features) * 2.0 ** round(np.log2(scale))


def _mixed(rng, features):
    """Coordinates 300 decades apart in one query, per point, per axis or each for itself."""
    shape = [(1, 4, 1), (1, 1, 3), (2, 4, 3)][rng.integers(3)]
    return _any_exact(rng, features) * rng.choice([1e150, 1.0, 1e-150], shape)


# How many of each there are, relative to the others; the mixed scales need the most time by far.
# fmt: off
FAMILIES = {
    _generic: 8, _slow: 6, _integers: 8, _inner: 6, _at_start: 4, _at_end: 5, _on_border: 5, _outside: 8, _nearly: 6,
    _nearly_planted: 6, _in_plane: 8, _in_line: 6, _hinged: 6, _flat: 7, _repeated: 7, _static: 5, _translation: 6,
    _grazing: 6, _denormal: 4, _huge: 3, _tiny: 3, _mixed: 1,
}
# fmt: on
