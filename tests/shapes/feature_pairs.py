"""Pairs of features in motion, as arrays, and what a filter keeps of them."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.bounds.kdops import NO_PADDING
from pliant.filters.sieve import FILTERS, sieve
from tests.reference import queries

KINDS = {"vertex_face": VERTEX_FACE, "edge_edge": EDGE_EDGE}
FEATURES = {"vertex_face": queries.VERTEX_FACE, "edge_edge": queries.EDGE_EDGE}
TESTS = {"vertex_face": pliant.vertex_face, "edge_edge": pliant.edge_edge}


def kept_by(name, kind, x0, x1, horizon=1.0, position_error=0.0):
    """(k,) bool: the queries, (k, 4, 3) each, that the filter passes on."""
    count = len(x0)
    quads = np.arange(4 * count, dtype=np.int32).reshape(count, 4)
    if kind == "vertex_face":
        table, pairs = quads[:, 1:].copy(), np.column_stack((quads[:, 0], np.arange(count, dtype=np.int32)))
    else:
        table, pairs = quads.reshape(-1, 2), np.arange(2 * count, dtype=np.int32).reshape(count, 2)
    first = pairs[:, 0].copy()
    which, a, b = FILTERS.index(name), x0.reshape(-1, 3), x1.reshape(-1, 3)
    kept = sieve(KINDS[kind], which, a, b, NO_PADDING, table, pairs, count, horizon, position_error)
    assert (np.diff(pairs[:kept, 0]) > 0).all(), "the pairs that are kept are not in order"
    return np.isin(first, pairs[:kept, 0])


def mixed_queries(kind, count, seed):
    return {"vertex_face": queries.vertex_face_queries, "edge_edge": queries.edge_edge_queries}[kind](count, seed)


def near_misses(kind, count, seed):
    """What boxes pass on in a simulation: features about as large as the distance between them, small steps; in
    half of the queries moved so that they meet.
    """
    rng = np.random.default_rng([seed, KINDS[kind]])
    x0 = rng.standard_normal((count, 4, 3))
    x1 = x0 + rng.standard_normal((count, 4, 3)) * 10.0 ** rng.uniform(-3, 0.3, (count, 1, 1))
    first, second = FEATURES[kind]
    weights = np.zeros((count, 4, 1))
    weights[:, first, 0] = rng.dirichlet(np.ones(len(first)), count)
    weights[:, second, 0] = -rng.dirichlet(np.ones(len(second)), count)
    time = rng.random((count, 1, 1))
    gap = (weights * ((1 - time) * x0 + time * x1)).sum(axis=1, keepdims=True)
    gap[::2] = 0
    for x in (x0, x1):
        x[:, first] -= gap
    return x0, x1
