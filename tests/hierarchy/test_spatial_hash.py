"""Spatial hashing: every vertex in the box of a cell, each pair once, at any size; what the literal version does."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pliant
from pliant.hierarchy.spatial_hash import PRIMES, SpatialHash, hash_of, list_noted, place_of, place_size, prime_above
from pliant.queries.insides import Choice, find_inside
from pliant.queries.points import BROAD
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool
from tests.reference import insides as truth
from tests.shapes.solids import SOLIDS, both, grid, random_mix


def pairs_in_boxes(volume, x):
    """In plain loops."""
    found = []
    for cell in range(volume.solid_count):
        corners = x[volume.corners[cell]]
        inside = (x[volume.vertices] >= corners.min(axis=0)) & (x[volume.vertices] <= corners.max(axis=0))
        own = set(volume.corners[cell].tolist())
        found += [(v, cell) for v in volume.vertices[inside.all(axis=1)].tolist() if v not in own]
    return sorted(found)


def noted_pairs(volume, x, table, capacity=1 << 16):
    out, found, at = np.empty((capacity, 2), np.int32), [], 0
    while at < volume.solid_count:
        count, after = list_noted(x, table, (volume._corners, volume.corner_count), at, volume.solid_count, out)
        assert after > at
        found, at = found + [tuple(row) for row in out[:count].tolist()], after
    return found


def soup(seed, names=("tetra",)):
    blocks, x = random_mix(seed, names, 40, 25)
    return pliant.VolumeMesh(blocks), x


@pytest.mark.unit
@pytest.mark.bounds
@pytest.mark.parametrize("names", [("tetra",), SOLIDS])
def test_every_vertex_in_a_box_once(names):
    count = 0
    for seed in range(8):
        volume, x = soup(seed, names)
        for size in (0.05, 0.4, 1.0, 30.0):
            table = SpatialHash(len(x)).note(x, volume._vertices, size)
            found = noted_pairs(volume, x, table)
            assert sorted(found) == pairs_in_boxes(volume, x)
            count += len(found)
    assert count > 500


@pytest.mark.unit
def test_a_table_serves_the_next_frame_without_being_cleared():
    volume, x = soup(3)
    rng, table = np.random.default_rng(0), SpatialHash(len(x))
    for _ in range(6):
        x = x + rng.normal(0.0, 0.5, x.shape)
        assert sorted(noted_pairs(volume, x, table.note(x, volume._vertices, 0.7))) == pairs_in_boxes(volume, x)


def test_only_noted_vertices_are_found():
    volume, x = soup(5)
    some = volume.vertices[::2].copy()
    found = noted_pairs(volume, x, SpatialHash(len(x)).note(x, some, 0.7))
    assert sorted(found) == [pair for pair in pairs_in_boxes(volume, x) if pair[0] in set(some.tolist())]


@pytest.mark.unit
def test_little_room_takes_several_calls():
    volume, x = soup(1)
    table = SpatialHash(len(x)).note(x, volume._vertices, 0.7)
    most = max(np.bincount([cell for _, cell in noted_pairs(volume, x, table)])) + 4  # its corners are among them first
    assert noted_pairs(volume, x, table, capacity=2 * most) == noted_pairs(volume, x, table)


@pytest.mark.parametrize("scale", [1e-310, 1e-160, 1e-9, 1e9, 1e160, 1e300])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_any_size_and_place(scale, shift):
    for seed in (1, 2):
        volume, x = soup(seed)
        x = scale * (x + shift)
        table = SpatialHash(len(x)).note(x, volume._vertices, place_size(x, volume._corners, volume.corner_count))
        assert sorted(noted_pairs(volume, x, table)) == pairs_in_boxes(volume, x)


def test_a_cell_that_is_torn_apart():
    """One vertex far away: its cells touch more places than can be examined."""
    blocks, x = grid((4, 4, 4), (0, 0, 0), (4, 4, 4), split=True)
    x = x + np.random.default_rng(1).normal(0.0, 0.05, x.shape)
    x[31] = 1e7, -3e6, 2e6
    volume = pliant.VolumeMesh(blocks)
    found = noted_pairs(volume, x, SpatialHash(len(x)).note(x, volume._vertices, 1.0))
    assert sorted(found) == pairs_in_boxes(volume, x)
    assert len(found) > 100


def test_the_broad_phases_agree_and_the_table_is_one_of_them():
    assert "hash" in BROAD
    hits = 0
    for seed in range(12):
        blocks, x = both(random_mix(seed, SOLIDS, 20, 6), grid((2, 2, 2), (-2, -2, -2), (2, 2, 2), split=seed % 2 == 0))
        volume, choice = pliant.VolumeMesh(blocks), Choice(np.zeros(len(x), np.int32))
        rows = [find_inside(volume, x, choice._replace(broad=name), ThreadPool(2), Tally()).tolist() for name in BROAD]
        assert rows[0] == rows[1] == rows[2] == [list(pair) for pair in truth.inside(blocks, x)[0]]
        hits += len(rows[0])
    assert hits > 300


@pytest.mark.unit
def test_the_size_of_a_place_is_about_that_of_an_edge():
    blocks, x = grid((3, 3, 3), (0, 0, 0), (6, 6, 6))
    volume = pliant.VolumeMesh(blocks)
    assert 1.0 < place_size(x, volume.corners, volume.corner_count) / 2.0 < 1.5
    assert place_size(np.zeros_like(x), volume.corners, volume.corner_count) == 1.0


def test_tables_have_a_prime_size():
    for count in (0, 1, 10, 100, 1000, 12345):
        prime = prime_above(count)
        assert prime >= max(count, 3)
        assert all(prime % d for d in range(2, math.isqrt(prime) + 1))


# ---- errata 16


def literal_hash(x, y, z, hashes):
    """As languages with truncating division compute it: the remainder has the sign of the product."""
    return int(math.fmod((x * PRIMES[0]) ^ (y * PRIMES[1]) ^ (z * PRIMES[2]), hashes))


@pytest.mark.unit
def test_hashes_of_negative_places_are_rows_of_the_table():
    places, hashes = list(itertools.product(range(-6, 7), repeat=3)), 211
    assert all(0 <= hash_of(*place, hashes) < hashes for place in places)
    assert min(literal_hash(*place, hashes) for place in places) < 0  # the literal version would leave the table


@pytest.mark.unit
def test_truncation_makes_the_places_around_zero_larger():
    values = np.linspace(-2.0, 2.0, 4001)
    assert np.bincount([place_of(v, 1.0) + 2 for v in values])[:4].tolist() == [1000, 1000, 1000, 1000]
    assert np.bincount([math.trunc(v) + 2 for v in values])[1:4].tolist() == [1000, 1999, 1000]


def test_two_places_of_a_cell_with_one_hash_would_give_a_pair_twice():
    """Counted without asking whether the vertex is at the place that is examined, as the paper says it."""
    volume, x = soup(2)
    size, hashes = 0.1, prime_above(4 * len(x))
    at = {v: tuple(place_of(c, 1.0 / size) for c in x[v]) for v in volume.vertices.tolist()}
    literal = []
    for v, cell in pairs_in_boxes(volume, x):
        corners = x[volume.corners[cell]]
        ends = [
            (place_of(a, 1 / size), place_of(b, 1 / size)) for a, b in zip(corners.min(axis=0), corners.max(axis=0))
        ]
        places = itertools.product(*(range(a, b + 1) for a, b in ends))
        literal += [(v, cell)] * sum(hash_of(*p, hashes) == hash_of(*at[v], hashes) for p in places)
    found = noted_pairs(volume, x, SpatialHash(len(x)).note(x, volume._vertices, size))
    assert len(literal) > len(set(literal)) == len(found) == len(set(found))
