"""NavCCD (paper 004, section 6.1): our hierarchy, then every elementary test of cells whose bounds overlap.

Adjacent cells and each cell against itself are included, and a test is made again for every pair of cells that has it.
The hierarchy is ours, of 16-DOPs as in the paper unless told otherwise; what differs is all that follows it. The second
version has our filters of feature pairs before the exact test: what is left to win there is the culling of cells and
of repeated tests alone, and not that our exact test takes long where features stay in one plane.
"""

from __future__ import annotations

from dataclasses import replace

from bench.baselines.all_features import NO_FILTERS, EveryTest, Moving, all_of, each_alone
from pliant.engine.plan import DEFAULT_FILTERS, Plan
from pliant.engine.scene import build
from pliant.engine.sinks import Found
from pliant.engine.walk import walk
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool


def find(moving: Moving, bounds: str, pool: ThreadPool, tally: Tally) -> list[Found]:
    return _find(moving, replace(NO_FILTERS, bounds=bounds), pool, tally)


def find_after_filters(moving: Moving, bounds: str, pool: ThreadPool, tally: Tally) -> list[Found]:
    return _find(moving, replace(NO_FILTERS, bounds=bounds, filters=DEFAULT_FILTERS), pool, tally)


def _find(moving: Moving, plan: Plan, pool: ThreadPool, tally: Tally) -> list[Found]:
    scene, fitted = build(moving.topology, moving.travel, plan, ThreadPool(pool.threads), tally, features=False)
    sinks = [EveryTest(moving, plan) for _ in range(pool.threads)]
    each_alone(sinks, len(moving.mesh.corners), ThreadPool(pool.threads))
    walk(scene, lambda: fitted, plan, sinks, pool, tally)
    return all_of(sinks, tally)
