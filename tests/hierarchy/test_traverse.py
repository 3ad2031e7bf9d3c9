"""The tree over elements, and the traversal against all pairs."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from pliant.bounds.kdops import bound_union, bound_vertices
from pliant.hierarchy.build import (
    LARGEST_LEAF,
    LARGEST_OF_PAIRS,
    LEAF_OF_PAIRS,
    LEAF_SIZE,
    REBUILD_RATIO,
    fit_nodes,
    label_ranges,
    split_elements,
    tree_cost,
)
from pliant.hierarchy.front import Front
from pliant.hierarchy.traverse import (
    ALL,
    INTER,
    SELF,
    STACK_SIZE,
    PairTree,
    State,
    Walk,
    all_roles,
    cut_through,
    every_pair,
    go_on,
)
from pliant.runtime.threads import ThreadPool

COUNTS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 23, 100, 257]


def boxes(count, seed, bounds="aabb", size=1.5):
    """Bounds of moving triangles, (k, 2 axes), in a cube of width 8: of this size, some percent of them overlap."""
    rng = np.random.default_rng(seed)
    x0 = rng.uniform(-4, 4, (count, 1, 3)) + rng.uniform(-size, size, (count, 3, 3))
    x1 = x0 + rng.uniform(-size, size, (count, 1, 3))
    corners = np.arange(3 * count, dtype=np.int32).reshape(count, 3)
    return bound_union(bound_vertices(x0.reshape(-1, 3), x1.reshape(-1, 3), bounds), corners)


def pair_tree_of(tree, element_bounds, labels=None, free=None):
    place_bounds = element_bounds[tree.order]
    labels = np.zeros(len(tree.order), np.int32) if labels is None else labels[tree.order]
    nodes = fit_nodes(place_bounds, tree.begin)
    free = np.zeros(len(nodes), np.int8) if free is None else free
    return PairTree(
        nodes, place_bounds, tree.begin, free, label_ranges(labels, tree.begin), all_roles(len(place_bounds))
    )


def tree_of(element_bounds, labels=None, leaf_size=LEAF_SIZE):
    """A tree, and the pair_tree that the traversal looks at."""
    tree = split_elements(element_bounds, ThreadPool(2), leaf_size)
    return tree.order, pair_tree_of(tree, element_bounds, labels)


def overlapping(element_bounds):
    lower, upper = element_bounds[:, 0::2], element_bounds[:, 1::2]
    pairs = combinations(range(len(element_bounds)), 2)
    return {(i, j) for i, j in pairs if (lower[i] <= upper[j]).all() and (lower[j] <= upper[i]).all()}


def traversed(tree, wanted=ALL, block=64, start=((1, 1),), part=None, lowest=1, notes=None):
    """Pairs of elements, as a list, and how many blocks it took; notes: a list for the new front."""
    order, pair_tree = tree
    found, blocks = [], 0
    stops = np.empty((0 if notes is None else 16, 2), np.int32)
    out = np.empty((block, 2), np.int32)
    front = np.array(start, np.int32).reshape(-1, 2)
    first, end = part or (0, len(front))
    walk, state = Walk(front, first, end, np.empty((STACK_SIZE, 2), np.int32), out, stops), State(taken=first)
    while not state.done:
        state = go_on(pair_tree, wanted, len(pair_tree.nodes), lowest, walk, state)
        found += np.sort(order[out[: state.emitted]], axis=1).tolist()
        if notes is not None:
            notes += stops[: state.stopped].tolist()
        blocks += 1
        assert blocks < 10_000
        state = state._replace(emitted=0, stopped=0)
    return [tuple(pair) for pair in found], blocks


@pytest.mark.parametrize("count", COUNTS)
def test_every_element_is_in_one_leaf(count):
    tree = split_elements(boxes(count, 1), ThreadPool(2))
    assert sorted(tree.order.tolist()) == list(range(count))
    assert len(tree.begin) == (1 << tree.depth) + 1
    sizes = np.diff(tree.begin)
    assert sizes.sum() == count
    assert sizes.max() <= 8
    assert count < 8 or sizes.min() >= 1


@pytest.mark.bounds
@pytest.mark.parametrize("bounds", ["aabb", "18-dop"])
@pytest.mark.parametrize(("count", "size"), [(12, 1.5), (47, 4.0), (100, 1.5), (257, 0.6), (390, 0.5)])
def test_large_leaves_are_compared_side_by_side(count, size, bounds):
    """With roles: of two elements without vertices, both have to have edges."""
    element_bounds = boxes(count, 15, bounds, size)
    order, pair_tree = tree_of(element_bounds, leaf_size=LEAF_OF_PAIRS)
    assert np.diff(pair_tree.begin).max() > LARGEST_LEAF
    roles = np.random.default_rng(count).choice([1, 3, 5, 7], count).astype(np.int8)
    found, _ = traversed((order, pair_tree._replace(roles=roles[order])), block=LARGEST_OF_PAIRS**2)
    assert len(found) == len(set(found))
    expected = {(i, j) for i, j in overlapping(element_bounds) if (roles[i] | roles[j]) & 2 or roles[i] & roles[j] & 4}
    assert set(found) == expected
    assert len(expected) > count / 4


@pytest.mark.bounds
@pytest.mark.parametrize("count", [1, 2, 63, 64, 300])
@pytest.mark.parametrize("kind", ["anywhere", "equal", "two places", "in order", "far away", "infinite", "huge"])
def test_halves_are_at_the_median_of_the_widest_axis(kind, count):
    rng = np.random.default_rng([count, len(kind)])
    x = {
        "anywhere": rng.standard_normal((count, 3)), "equal": np.ones((count, 3)),
        "two places": rng.integers(0, 2, (count, 3)) * 1.0, "in order": np.arange(3.0 * count).reshape(count, 3),
        "far away": 1e9 + rng.standard_normal((count, 3)), "infinite": np.full((count, 3), np.inf),
        "huge": 1.7e308 * rng.uniform(-1, 1, (count, 3)),
    }[kind]  # fmt: skip
    bounds = np.repeat(x, 2, axis=1)
    bounds[:, 0::2] = -bounds[:, 1::2] if kind == "infinite" else bounds[:, 0::2]
    tree, exact = split_elements(bounds, ThreadPool(2)), kind not in ("infinite", "huge", "far away")
    assert sorted(tree.order.tolist()) == list(range(count))
    if exact and tree.depth:
        at, middle = x[tree.order], tree.begin[1 << (tree.depth - 1)]
        axis = int(np.argmax(np.ptp(x, axis=0)))
        step = np.ptp(x, axis=0).max() * 2.0**-29
        assert at[:middle, axis].max() <= at[middle:, axis].min() + step


@pytest.mark.bounds
@pytest.mark.parametrize("bounds", ["aabb", "24-dop"])
@pytest.mark.parametrize("count", [5, 100, 257])
def test_nodes_contain_what_is_below_them(count, bounds):
    nodes, place_bounds, begin = tree_of(boxes(count, 2, bounds))[1][:3]
    leaves = len(begin) - 1
    for node in range(1, 2 * leaves):
        if node >= leaves:
            below = place_bounds[begin[node - leaves] : begin[node - leaves + 1]]
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
    front, level = cut_through(tree[1], ALL, most)
    leaves = len(tree[1].begin) - 1
    every = [(i, j) for i in range(leaves, 2 * leaves) for j in range(i, 2 * leaves)]
    assert sorted(pairs_of_leaves(tree[1], front.tolist())) == every
    found, _ = traversed(tree, start=front)
    assert len(found) == len(set(found))
    assert set(found) == overlapping(element_bounds)
    assert np.count_nonzero(front[:, 0] >= 1 << level) >= min(most, 100)


@pytest.mark.parametrize("wanted", [SELF, INTER])
def test_labels_cull_and_never_too_much(wanted):
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
    tree = split_elements(boxes(257, 8), ThreadPool(2))
    other = boxes(257, 9)
    found, _ = traversed((tree.order, pair_tree_of(tree, other)))
    assert len(found) == len(set(found))
    assert set(found) == overlapping(other)


def test_a_mixed_up_tree_is_worn_out():
    element_bounds = boxes(257, 10, size=0.1)
    order, (nodes, place_bounds, begin, *_) = tree_of(element_bounds)
    cost = tree_cost(nodes)
    assert tree_cost(fit_nodes(place_bounds + 3.0, begin)) == pytest.approx(cost)
    mixed = fit_nodes(np.random.default_rng(1).permutation(place_bounds), begin)
    assert tree_cost(mixed) > REBUILD_RATIO * cost
    assert sorted(order.tolist()) == list(range(257))


def pairs_of_leaves(pair_tree, front, wanted=ALL):
    """Every pair of leaves below the pairs of a front, with how often it is there."""
    leaves, below = len(pair_tree.begin) - 1, []
    for a, b in front:
        step = leaves // (1 << (a.bit_length() - 1))
        for i in range(a * step, (a + 1) * step):
            below += [(i, j) for j in range(i if a == b else b * step, (b + 1) * step)]
    return below


@pytest.mark.bounds
@pytest.mark.parametrize("lowest", [1, 8, 64])
def test_a_front_is_a_cut_through_all_pairs_and_stays_one(lowest):
    """However things move, descending and ascending leave every pair of leaves below exactly one pair of the front."""
    start = [(1, 1)]
    tree = split_elements(boxes(257, 11), ThreadPool(2))
    leaves = 1 << tree.depth
    sizes = []
    for size in (0.5, 3.0, 0.3, 0.1, 1.0, 0.1):
        bounds = boxes(257, 11, size=size)
        pair_tree = pair_tree_of(tree, bounds)
        notes = []
        found, _ = traversed((tree.order, pair_tree), start=start, lowest=lowest, notes=notes)
        assert len(found) == len(set(found))
        assert set(found) == overlapping(bounds)
        below = pairs_of_leaves(pair_tree, notes)
        assert sorted(below) == [(i, j) for i in range(leaves, 2 * leaves) for j in range(i, 2 * leaves)]
        start = notes
        sizes.append(len(notes))
    assert lowest < 64 or (sizes[1] > sizes[2] > sizes[3] and sizes[4] > sizes[5]), sizes  # it grows and shrinks


def test_a_front_with_free_patches_skips_and_finds_them_again():
    bounds = boxes(257, 12)
    tree = split_elements(bounds, ThreadPool(2))
    rng = np.random.default_rng(5)
    start = [(1, 1)]
    for _ in range(6):
        free = np.zeros(2 << tree.depth, np.int8)
        for node in range(2, len(free)):
            free[node] = 2 if free[node >> 1] else int(node > 3 and rng.random() < 0.3)
        pair_tree = pair_tree_of(tree, bounds, free=free)
        expected, notes = traversed((tree.order, pair_tree))[0], []
        found, _ = traversed((tree.order, pair_tree), start=start, lowest=1 << tree.depth, notes=notes)
        assert sorted(found) == sorted(expected)
        assert set(found) < overlapping(bounds)
        assert len(pairs_of_leaves(pair_tree, notes)) == len(set(pairs_of_leaves(pair_tree, notes)))
        start = notes


@pytest.mark.parametrize("parts", [2, 5, 40])
def test_parts_of_a_front_make_the_next_one(parts):
    """Walks from parts of a front, as threads take them: together they find everything, and leave a cut again."""
    tree = split_elements(boxes(257, 13), ThreadPool(2))
    every = range(1 << tree.depth, 2 << tree.depth)
    front = Front(pair_tree_of(tree, boxes(257, 13)), ALL, 40)
    for size in (1.5, 0.2, 0.1, 2.0, 0.1):
        bounds = boxes(257, 13, size=size)
        pair_tree, found = pair_tree_of(tree, bounds), []
        ends = np.linspace(0, len(front), parts + 1).astype(int).tolist()
        for part in reversed(list(pairwise(ends))):
            notes = []
            found += traversed((tree.order, pair_tree), start=front.pairs, part=part, lowest=front.lowest, notes=notes)[
                0
            ]
            front.keep(part[0], [np.array(notes, np.int32).reshape(-1, 2)])
        front.renew()
        assert len(found) == len(set(found))
        assert set(found) == overlapping(bounds)
        assert sorted(pairs_of_leaves(pair_tree, front.pairs.tolist())) == [
            (i, j) for i in every for j in every if i <= j
        ]


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
