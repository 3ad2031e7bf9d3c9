"""Seeded, named scenes of any size, as arrays: for tests, benchmarks, examples and the viewer.

    scene = pliant.scenes.load("twisted_cloth", triangles=200_000, frames=2)
    contacts = pliant.ccd(scene.faces, scene.x0, scene.x1)

All motion is by formula: a name, a size and a seed always give the same numbers. From frame to frame, vertices move
between a fraction of an edge and a few edges at any size, like those of a simulator that takes large steps.
"""

import difflib

import numpy as np

from .bodies import ball_heap, flat_sheets, passing_sheets
from .cloth import crumpled_sheet, flowing_cloth, twisted_cloth, twisting
from .drapes import funnel, hanging_cloth
from .explosion import exploding
from .garments import bishop, falling, flamenco
from .scene import Scene
from .tentacles import squishy_ball

__all__ = ["Scene", "load", "names"]

_SCENES = {
    "flat_sheets": flat_sheets,
    "twisted_cloth": twisted_cloth,
    "flowing_cloth": flowing_cloth,
    "ball_heap": ball_heap,
    "crumpled_sheet": crumpled_sheet,
    "passing_sheets": passing_sheets,
    "twisting": twisting,
    "funnel": funnel,
    "bishop": bishop,
    "falling": falling,
    "flamenco": flamenco,
    "squishy_ball": squishy_ball,
    "hanging_cloth": hanging_cloth,
    "exploding": exploding,
}


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(_SCENES)


def load(name: str, triangles: int | None = None, frames: int | None = None, seed: int = 0) -> Scene:
    """Make a scene.

    triangles : about how many; off by at most 15% from 100 on and 2% from 10,000 on (the smallest scenes have 2 to 22)
    frames : how many, at least 2; scenes with more frames have more steps, not shorter ones
    seed : another seed, another scene of the same kind (`flat_sheets` has but one)

    None stands for the scene's own default.
    """
    if name not in _SCENES:
        close = difflib.get_close_matches(str(name), _SCENES, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(f"no scene is called {name!r}; {hint}there are {', '.join(_SCENES)}")
    sizes = {"triangles": triangles, "frames": frames}
    for key, value in sizes.items():
        if value is not None and (not isinstance(value, (int, np.integer)) or value < 2):
            raise ValueError(f"{key} must be a whole number of at least 2, not {value!r}")
    return _SCENES[name](seed=seed, **{key: int(value) for key, value in sizes.items() if value is not None})
