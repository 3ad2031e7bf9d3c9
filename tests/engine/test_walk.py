"""Parts that threads take one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant
from pliant.engine import walk
from pliant.engine.walk import BLOCK, CHUNKS, SHARE, UNEVEN, Walker, _ends, share_waiting
from tests.shapes.contours import crumpled
from tests.shapes.tables import assert_identical


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 5, 96, 97, 1000, 50_000])
def test_parts_make_up_the_whole_and_become_smaller(count, threads):
    ends = _ends(count, CHUNKS * threads, SHARE * threads, 0)
    assert ends[0] == 0
    assert ends[-1] == count
    sizes = [end - first for first, end in itertools.pairwise(ends)]
    assert all(size > 0 for size in sizes)
    assert sizes == sorted(sizes, reverse=True)
    if count >= 1000:
        assert sizes[0] <= count / (SHARE * threads)
        assert sizes[-2] < 2 * count / (CHUNKS * threads)


def test_a_few_triangles_are_one_part():
    assert _ends(200, 1, 2 * SHARE, 0) == [0, 200]


def test_parts_of_a_safe_step_are_small_at_first():
    ends = _ends(50_000, 2 * CHUNKS, 2 * SHARE, 2)
    sizes = [end - first for first, end in itertools.pairwise(ends)]
    least = 50_000 // (2 * CHUNKS)
    assert sizes[:6] == [least, least, 2 * least, 2 * least, 4 * least, 4 * least]
    assert sum(sizes) == 50_000
    assert max(sizes) <= 50_000 // (2 * SHARE)
    assert len(sizes) < CHUNKS


@pytest.mark.parametrize("counts", [(5000, 0), (0, 700, 3), (100, 90), (0, 0), (8192, 8192, 0, 1)])
def test_what_waits_in_the_end_is_dealt_out_evenly(counts):
    """One thread had all exact tests of a small scene where it had taken all chunks before another had begun."""
    walkers, at = [Walker(None, None, None, BLOCK) for _ in counts], 0
    for walker, count in zip(walkers, counts):
        walker.accept(np.arange(2 * at, 2 * (at + count), dtype=np.int32).reshape(-1, 2))
        at += count
    share_waiting(walkers)
    waiting = [walker.waiting for walker in walkers]
    assert max(waiting) - min(waiting) <= (1 if max(counts) - min(counts) > UNEVEN else max(counts) - min(counts))
    assert sum(waiting) == sum(counts)
    left = np.concatenate([walker.give_up() for walker in walkers])
    assert sorted(left[:, 0]) == list(range(0, 2 * sum(counts), 2))
    assert all(walker.waiting == 0 for walker in walkers)


def test_blocks_of_small_scenes_hold_all_pairs_of_a_leaf(monkeypatch):
    """Two tiles of this sheet are a leaf of 47 faces. No block held their 2,209 pairs: the walk never ended."""
    widest, go_on = [], walk.go_on
    monkeypatch.setattr(
        walk, "go_on", lambda tree, *rest: widest.append(np.diff(tree.begin).max()) or go_on(tree, *rest)
    )
    faces, x0, x1 = crumpled(0, 0.8, 37)
    found = pliant.Detector(faces, tuning=pliant.Tuning(culling="cones+front")).contacts(x0, x1)
    assert max(widest) ** 2 > 2048
    assert len(found) > 100
    assert_identical(found, pliant.ccd(faces, x0, x1))
