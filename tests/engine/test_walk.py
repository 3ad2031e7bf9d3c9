"""Parts that threads take one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pliant.engine.walk import BLOCK, CHUNKS, SHARE, UNEVEN, Walker, _ends, share_waiting


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
