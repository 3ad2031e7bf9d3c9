"""Built-in scenes: frames in which cloth, garments and heaps cut through themselves and each other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np

import pliant
from bench.inputs import curled_sheet, torus_chain
from bench.untangling.case import Given, Recipe
from pliant.scenes.scene import Scene

KIND = "scenes"
# Name, triangles, seed of the scene, frames: those in which something intersects.
FRAMES = (
    ("crumpled_sheet", 2_000, 0, (2, 4)),
    ("crumpled_sheet", 4_000, 1, (3,)),
    ("ball_heap", 8_000, 0, (2, 4, 7)),
    ("ball_heap", 16_000, 1, (3,)),
    ("flowing_cloth", 10_000, 0, (2, 5)),
    ("twisted_cloth", 10_000, 0, (5, 8)),
    ("twisting", 10_000, 0, (4, 8)),
    ("funnel", 10_000, 0, (3, 6)),
    ("bishop", 12_000, 0, (2, 5)),
    ("falling", 12_000, 0, (2, 5)),
    ("flamenco", 12_000, 0, (2, 5)),
    ("squishy_ball", 10_000, 0, (3, 6)),
    ("hanging_cloth", 10_000, 0, (3, 6)),
)


def recipes() -> Iterator[Recipe]:
    seed = 0
    for name, triangles, of_scene, frames in FRAMES:
        for frame in frames:
            give = partial(_frame, name, triangles, of_scene, frame)
            yield Recipe(f"{name} {triangles:,}, seed {of_scene}, frame {frame}", KIND, seed, give)
            seed += 1
    for name, make in (("curled sheet", curled_sheet), ("chain of tori", torus_chain)):
        yield Recipe(name, KIND, seed, partial(_still, make))
        seed += 1


@lru_cache(maxsize=2)
def _scene(name: str, triangles: int, seed: int, frames: int) -> Scene:
    return pliant.scenes.load(name, triangles, frames, seed)


def _frame(name: str, triangles: int, seed: int, frame: int) -> Given:
    scene = _scene(name, triangles, seed, 9)
    return Given(scene.faces, np.array(scene.frames[frame]))


def _still(make) -> Given:
    still = make(10_000)
    return Given(still.faces, still.x)
