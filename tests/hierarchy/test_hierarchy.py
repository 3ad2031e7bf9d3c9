"""The tree over elements, and the traversal against all pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pliant._threads import Crew
from pliant.bounds.kdops import bound_union, bound_vertices
from pliant.hierarchy.build import fit_nodes, is_worn_out, label_ranges, split_elements, tree_cost
from pliant.hierarchy.traverse import ALL, INTER, SELF, STACK_SIZE, every_pair, seed_chunks, traverse

COUNTS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 23, 100, 257]


def boxes(count, seed, bounds="aabb", size=1.5):
    """Bounds of moving triangles, (k, 2 axes), in a cube of width 8: of this size, some percent of them overlap."""
    rng = np.random.default_rng(seed)
    x0 = rng.uniform(-4, 4, (count, 1, 3)) + rng.uniform(-size, size, (count, 3, 3))
    x1 = x0 + rng.uniform(-size, size, (count, 1, 3))
    corners = np.arange(3 * count, dtype=np.int32).reshape(count, 3)
    return bound_union(bound_vertices(x0.reshape(-1, 3), x1.reshape(-1, 3), bounds), corners)


def tree_of(element_bounds, labels=None):
    order, depth = split_elements(element_bounds, Crew(2))
    place_bounds = element_bounds[order]
    labels = np.zeros(len(order), np.int32) if labels is None else labels[order]
    return order, depth, fit_nodes(place_bounds, depth), place_bounds, label_ranges(labels, depth)


def overlapping(element_bounds):
    lower, upper = element_bounds[:, 0::2], element_bounds[:, 1::2]
    pairs = combinations(range(len(element_bounds)), 2)
    return {(i, j) for i, j in pairs if (lower[i] <= upper[j]).all() and (lower[j] <= upper[i]).all()}


def traversed(tree, wanted=ALL, block=64, seeds=None):
    """Pairs of elements, as a list, and how many blocks it took."""
    order, depth, nodes, place_bounds, label_range = tree
    found, blocks = [], 0
    for seed in np.array([[1, 1]], np.int32) if seeds is None else seeds:
        stack, out = np.empty((STACK_SIZE, 2), np.int32), np.empty((block, 2), np.int32)
        stack[0], top = seed, 1
        while top:
            top, count, _ = traverse(nodes, place_bounds, label_range, wanted, depth, depth + 1, stack, top, out, 0)
            found += np.sort(order[out[:count]], axis=1).tolist()
            blocks += 1
            assert blocks < 10_000
    return [tuple(pair) for pair in found], blocks


@pytest.mark.parametrize("count", COUNTS)
def test_every_element_is_in_one_leaf(count):
    order, depth = split_elements(boxes(count, 1), Crew(2))
    assert sorted(order.tolist()) == list(range(count))
    sizes = np.diff([(i * count) >> depth for i in range((1 << depth) + 1)])
    assert sizes.sum() == count
    assert sizes.max() <= 8
    assert count < 8 or sizes.min() >= 1


@pytest.mark.bounds
@pytest.mark.parametrize("bounds", ["aabb", "24-dop"])
@pytest.mark.parametrize("count", [5, 100, 257])
def test_nodes_contain_what_is_below_them(count, bounds):
    _, depth, nodes, place_bounds, _ = tree_of(boxes(count, 2, bounds))
    leaves = 1 << depth
    for node in range(1, 2 * leaves):
        if node >= leaves:
            begin, end = ((node - leaves) * count) >> depth, ((node - leaves + 1) * count) >> depth
            below = place_bounds[begin:end]
        else:
            below = nodes[2 * node : 2 * node + 2]
        np.testing.assert_array_equal(nodes[node, 0::2], below[:, 0::2].min(axis=0))
        np.testing.assert_array_equal(nodes[node, 1::2], below[:, 1::2].max(axis=0))


@pytest.mark.parametrize("bounds", ["aabb", "16-dop", "18-dop", "24-dop"])
@pytest.mark.parametrize("count", [c for c in COUNTS if c > 1])
def test_traversal_finds_each_overlapping_pair_once(count, bounds):
    element_bounds = boxes(count, 3, bounds)
    found, _ = traversed(tree_of(element_bounds))
    expected = overlapping(element_bounds)
    assert len(found) == len(set(found))
    assert set(found) == expected
    if count >= 100:
        assert 0.01 < len(expected) / (count * (count - 1) / 2) < 0.7, len(expected)


@pytest.mark.bounds
@pytest.mark.unit
def test_a_small_tree():
    element_bounds = boxes(20, 4)
    found, _ = traversed(tree_of(element_bounds), block=40)
    assert len(found) == len(set(found)) > 10
    assert set(found) == overlapping(element_bounds)


@pytest.mark.parametrize("block", [16, 17, 40, 1000, 100_000])
def test_blocks_of_any_size_make_the_same_pairs(block):
    tree = tree_of(boxes(257, 5))
    found, blocks = traversed(tree, block=block)
    assert found == traversed(tree, block=100_000)[0]
    assert (blocks > 1) == (len(found) > block)


@pytest.mark.parametrize("most", [1, 7, 64, 10_000])
def test_chunks_cover_everything_once(most):
    element_bounds = boxes(257, 6)
    tree = tree_of(element_bounds)
    _, depth, nodes, place_bounds, label_range = tree
    seeds = seed_chunks(nodes, place_bounds, label_range, ALL, depth, most)
    found, _ = traversed(tree, seeds=seeds)
    assert len(found) == len(set(found))
    assert set(found) == overlapping(element_bounds)
    assert len(seeds) >= min(most, 100)


@pytest.mark.parametrize("wanted", [SELF, INTER])
def test_labels_prune_and_never_too_much(wanted):
    # By place in space, so that whole nodes have one label.
    element_bounds = boxes(257, 7)
    labels = (element_bounds[:, 0] > 0).astype(np.int32)
    found = set(traversed(tree_of(element_bounds, labels), wanted)[0])
    everything = overlapping(element_bounds)
    assert found >= {(i, j) for i, j in everything if (labels[i] == labels[j]) == (wanted == SELF)}
    assert found < everything


@pytest.mark.parametrize("wanted", [ALL, SELF, INTER])
def test_everything_at_one_place(wanted):
    element_bounds = np.zeros((50, 6))
    labels = (np.arange(50) % 3).astype(np.int32)
    found = set(traversed(tree_of(element_bounds, labels), wanted)[0])
    assert found >= {(i, j) for i, j in combinations(range(50), 2)
                     if wanted == ALL or (labels[i] == labels[j]) == (wanted == SELF)}  # fmt: skip


def test_a_tree_fitted_to_other_bounds():
    order, depth, *_ = tree_of(boxes(257, 8))
    other = boxes(257, 9)
    place_bounds = other[order]
    tree = order, depth, fit_nodes(place_bounds, depth), place_bounds, label_ranges(np.zeros(257, np.int32), depth)
    found, _ = traversed(tree)
    assert len(found) == len(set(found))
    assert set(found) == overlapping(other)


def test_a_mixed_up_tree_is_worn_out():
    element_bounds = boxes(257, 10, size=0.1)
    order, depth, nodes, place_bounds, _ = tree_of(element_bounds)
    cost = tree_cost(nodes)
    assert not is_worn_out(nodes, cost)
    assert not is_worn_out(fit_nodes(place_bounds + 3.0, depth), cost)
    mixed = fit_nodes(np.random.default_rng(1).permutation(place_bounds), depth)
    assert is_worn_out(mixed, cost)
    assert sorted(order.tolist()) == list(range(257))


@pytest.mark.bounds
@pytest.mark.unit
@pytest.mark.parametrize("block", [1, 3, 100])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 9])
def test_brute_force_visits_every_pair_once(count, block):
    out = np.empty((block, 2), np.int32)
    i, j, found = 0, 0, []
    while True:
        i, j, emitted = every_pair(count, i, j, out)
        found += [tuple(pair) for pair in out[:emitted].tolist()]
        if emitted == 0:
            break
    assert found == list(combinations(range(count), 2))
