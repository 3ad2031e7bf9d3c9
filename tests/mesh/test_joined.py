"""Leaves that are one disc together, against what a disc is: counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.mesh.features import Elements, elements_of
from pliant.mesh.patches import patches_of
from pliant.scenes.shapes import weave


def leaves_of(mesh, seed, leaves):
    """The elements in leaves of random sizes, most of which are in one piece, and where these begin."""
    rng, elements = np.random.default_rng(seed), elements_of(mesh)
    middle = rng.integers(0, len(mesh.faces), leaves)
    owner = nearest_seed(mesh, middle)
    order = np.argsort(owner, kind="stable")
    begin = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=leaves))))
    return Elements(*(a[order] for a in elements)), begin.astype(np.int64)


def nearest_seed(mesh, seeds):
    """Which of some faces is the nearest one of each face, by faces that share a side."""
    owner = np.full(len(mesh.faces), -1)
    owner[seeds] = np.arange(len(seeds))
    of_edge = {}
    for i, sides in enumerate(mesh.face_edges.tolist()):
        for e in sides:
            of_edge.setdefault(e, []).append(i)
    queue = list(dict.fromkeys(seeds.tolist()))
    for i in queue:
        for e in mesh.face_edges[i].tolist():
            for j in of_edge[e]:
                if owner[j] < 0:
                    owner[j] = owner[i]
                    queue.append(j)
    owner[owner < 0] = 0
    return owner


def border_of(faces):
    """The contour of a disc as a set of directed sides; None for what is no disc."""
    sides = {(f[k], f[(k + 1) % 3]) for f in faces for k in range(3)}
    edges = {tuple(sorted(side)) for side in sides}
    border = {(a, b) for a, b in sides if (b, a) not in sides}
    if not border or len(faces) - len(edges) + len({v for f in faces for v in f}) != 1:
        return None
    starts = [a for a, _ in border]
    if len(set(starts)) < len(starts):
        return None
    after, first = dict(border), starts[0]
    v, length = after[first], 1
    while v != first:
        v, length = after[v], length + 1
    return border if length == len(border) else None


@pytest.mark.bounds
@pytest.mark.unit
def test_two_leaves_are_joined_where_they_are_a_disc():
    joined_count = apart_count = 0
    for seed in range(6):
        faces, points = weave(4, 20, around=True) if seed % 2 else weave(9, 8)  # around a tube two meet on both sides
        mesh = pliant.TriMesh(faces)
        leaves, begin = leaves_of(mesh, seed, 16)
        patches = patches_of(leaves, begin, len(mesh.edges), len(points))
        joined = patches.joined
        for a in range(16):
            own = joined.partner[joined.begin[a] : joined.begin[a + 1]].tolist()
            assert len(set(own)) == len(own)
            for b in range(a + 1, 16):
                two = [leaves.corners[begin[k] : begin[k + 1]].tolist() for k in (a, b)]
                touching = {tuple(sorted(s)) for s in sides_of(two[0])} & {tuple(sorted(s)) for s in sides_of(two[1])}
                expected = border_of(two[0] + two[1]) if all(border_of(t) for t in two) and touching else None
                assert (b in own) == (expected is not None)
                joined_count, apart_count = joined_count + (b in own), apart_count + (b not in own and bool(touching))
                if expected is not None:
                    p = joined.begin[a] + own.index(b)
                    loop = joined.loop[joined.start[p] : joined.start[p + 1]].tolist()
                    assert set(zip(loop, loop[1:] + loop[:1], strict=True)) == expected
    assert joined_count > 100
    assert apart_count > 10


def sides_of(faces):
    return [(f[k], f[(k + 1) % 3]) for f in faces for k in range(3)]
