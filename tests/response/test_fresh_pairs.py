"""Pairs of features that are left out one by one: found whatever the order of their vertices, and no others."""

from __future__ import annotations

import itertools

import numpy as np

import pliant
from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.response.fresh import FreshFeatures, FreshPairs, no_fresh_pairs
from pliant.response.resolver import Resolver


def as_sets(kind, row):
    first, last = (row[:1], row[1:]) if kind == VERTEX_FACE else (row[:2], row[2:])
    sides = frozenset(map(int, first)), frozenset(map(int, last))
    return (VERTEX_FACE, *sides) if kind == VERTEX_FACE else (EDGE_EDGE, frozenset(sides))


def random_rows(rng, count):
    return np.array([rng.permutation(9)[:4] for _ in range(count)])


def test_as_sets_of_sets():
    rng = np.random.default_rng(0)
    given = {kind: random_rows(rng, 60) for kind in (VERTEX_FACE, EDGE_EDGE)}
    pairs = FreshPairs(given[VERTEX_FACE], given[EDGE_EDGE])
    known = {as_sets(kind, row) for kind, rows in given.items() for row in rows}
    assert len(pairs) == len(known)
    for kind in given:
        asked = random_rows(rng, 400)
        found = pairs.have(kind, asked)
        assert found.tolist() == [as_sets(kind, row) in known for row in asked]
        assert 0.05 < found.mean() < 0.7


def test_two_triangles_have_fifteen_pairs():
    rng = np.random.default_rng(1)
    pairs = FreshPairs(random_rows(rng, 4), random_rows(rng, 4))
    known = {as_sets(kind, row) for kind, rows in pairs.rows.items() for row in rows}
    corners = np.array([rng.permutation(9)[:6].reshape(2, 3) for _ in range(300)])
    wanted = []
    for a, b in corners:
        sides = [[*itertools.combinations(t, 2)] for t in (a, b)]
        of_both = [as_sets(VERTEX_FACE, (v, *t)) for s, t in ((a, b), (b, a)) for v in s]
        of_both += [as_sets(EDGE_EDGE, (*e, *f)) for e in sides[0] for f in sides[1]]
        assert len(of_both) == 15
        wanted.append(not known.isdisjoint(of_both))
    assert pairs.between(corners).tolist() == wanted
    assert 0.1 < np.mean(wanted) < 0.9


def test_none():
    pairs = no_fresh_pairs()
    assert len(pairs) == 0
    assert not pairs.have(EDGE_EDGE, np.array([[0, 1, 2, 3]])).any()
    assert not pairs.between(np.zeros((2, 2, 3), int)).any()


def test_a_resolver_leaves_out_what_it_is_told_and_no_more():
    """Of two triangles that fall onto a third, one may pass."""
    x0 = np.array([(0, 0, 0), (4, 0, 0), (0, 4, 0), (0.2, 0.2, 1), (0.6, 0.2, 1), (0.2, 0.6, 1)], float)
    x0 = np.concatenate((x0, x0[3:] + (1.0, 0.5, 0.0)))
    mesh = pliant.TriMesh([[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    x1 = x0 - np.where(np.arange(9) > 2, 2.0, 0.0)[:, None] * (0, 0, 1)
    met = pliant.ccd(mesh, x0, x1)
    with_first = np.asarray(np.isin(met.vertices, (3, 4, 5)).any(axis=1))
    assert 0 < with_first.sum() < len(met)
    pairs = FreshPairs(met[with_first].vf.vertices, met[with_first].ee.vertices)
    assert np.array_equal(pairs.among(met), with_first)
    features = FreshFeatures(pairs, mesh)
    for kind in (VERTEX_FACE, EDGE_EDGE):
        some = met.kind == kind
        assert np.array_equal(features.have_features(kind, met.elements[some]), with_first[some])
    resolver = Resolver(mesh)
    whole = resolver.resolve(x0, x1).positions
    assert len(pliant.ccd(mesh, x0, whole)) == 0
    resolver._leave_out(pairs)
    rest = resolver.contacts(x0, x1)
    assert rest is not None
    assert len(rest) == len(met) - len(pairs)
    assert not pairs.among(rest).any()
    part = resolver.resolve(x0, x1).positions
    left = pliant.ccd(mesh, x0, part)
    assert len(left) > 0
    assert pairs.among(left).all()
    resolver._leave_out(no_fresh_pairs())
    assert np.array_equal(resolver.resolve(x0, x1).positions, whole)
