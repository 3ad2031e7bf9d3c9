"""Seeded, named scenes of any size, as arrays: for tests, benchmarks, examples and the viewer.

    scene = pliant.scenes.load("twisted_cloth", triangles=200_000, frames=2)
    contacts = pliant.ccd(scene.faces, scene.x0, scene.x1)

All motion is by formula: a name, a size and a seed always give the same numbers. From frame to frame, vertices move
between a fraction of an edge and a few edges at any size, like those of a simulator that takes large steps.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.scenes.airbag import airbag
from pliant.scenes.bodies import ball_heap, flat_sheets, passing_sheets
from pliant.scenes.bullet import bullet
from pliant.scenes.car import car_crash
from pliant.scenes.cloth import crumpled_sheet, flowing_cloth, twisted_cloth, twisting
from pliant.scenes.drapes import funnel, hanging_cloth
from pliant.scenes.explosion import exploding
from pliant.scenes.garments import bishop, falling, flamenco
from pliant.scenes.liver import liver
from pliant.scenes.octopi import octopi
from pliant.scenes.scene import Scene
from pliant.scenes.tentacles import squishy_ball
from pliant.scenes.volume_scene import VolumeScene, VolumeStep

if TYPE_CHECKING:
    from pliant.scenes.character_scene import CharacterScene

__all__ = [
    "Listed",
    "Scene",
    "VolumeScene",
    "VolumeStep",
    "catalogue",
    "character_names",
    "load",
    "load_character",
    "load_volume",
    "names",
    "volume_names",
]

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
_VOLUME_SCENES = {"octopi": octopi, "bullet": bullet, "airbag": airbag, "car_crash": car_crash, "liver": liver}
# Modules that are loaded with the first character: they need compiled kernels, and the other scenes do not.
_CHARACTERS = {"human": "human", "horse": "horse", "arm": "limbs", "leg": "limbs", "arm_with_body": "limbs"}


class Listed(NamedTuple):
    """One line of the catalogue.

    kind : "surface", "volume" or "character"; "simulated" of `pliant.simulated.catalogue`
    size, frames : about how many triangles or cells, and how many frames, unless asked otherwise; None for characters
    """

    name: str
    kind: str
    size: int | None
    frames: int | None
    about: str


def catalogue() -> tuple[Listed, ...]:
    """What there is, without making it."""
    rows = []
    for kind, makers in (("surface", _SCENES), ("volume", _VOLUME_SCENES)):
        for name, maker in makers.items():
            size, frames, _ = (one.default for one in inspect.signature(maker).parameters.values())
            rows.append(Listed(name, kind, size, frames, first_words(maker)))
    for name, module in _CHARACTERS.items():
        maker = getattr(import_module(f"pliant.scenes.{module}"), name)
        rows.append(Listed(name, "character", None, None, first_words(maker)))
    return tuple(rows)


def first_words(maker: object) -> str:
    """What the docstring begins with, up to a comma that comes after some words: what is behind it may be left out."""
    text = " ".join((inspect.getdoc(maker) or "").split())
    first, *others = re.split(r"[.:;] |\.$", text.partition(" (")[0])[0].split(", ")
    while others and len(first.split()) < 3:
        first += f", {others.pop(0)}"
    return first


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
    _check_name(name, _SCENES)
    return _SCENES[name](seed=seed, **_checked_sizes({"triangles": triangles, "frames": frames}, least=2))


def volume_names() -> tuple[str, ...]:
    """The names that `load_volume` knows."""
    return tuple(_VOLUME_SCENES)


def load_volume(name: str, cells: int | None = None, frames: int = 12, seed: int = 0) -> VolumeScene:
    """Make a scene of tetrahedra, hexahedra or shells: the benchmarks of paper 004, of their kind and size.

    cells : about how many in the first step; None stands for as many as in the paper (car_crash: 60,000)
    frames : how many, at least 3; there is a step from each to the next
    seed : another seed, another scene of the same kind
    """
    _check_name(name, _VOLUME_SCENES)
    sizes = _checked_sizes({"cells": cells}, least=100) | _checked_sizes({"frames": frames}, least=3)
    return _VOLUME_SCENES[name](seed=seed, **sizes)


def character_names() -> tuple[str, ...]:
    """The names that `load_character` knows."""
    return tuple(_CHARACTERS)


def load_character(name: str) -> CharacterScene:
    """Make a character of the kind and size of those in paper 003: a skin with a skeleton and clips of one second, and
    a body of tetrahedra, in which the skin is embedded. The same numbers every time.
    """
    _check_name(name, _CHARACTERS)
    return getattr(import_module(f"pliant.scenes.{_CHARACTERS[name]}"), name)()


def _check_name(name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        close = difflib.get_close_matches(str(name), known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(f"no scene is called {name!r}; {hint}there are {', '.join(known)}")


def _checked_sizes(sizes: dict[str, int | None], least: int) -> dict[str, int]:
    for key, value in sizes.items():
        if value is not None and (not isinstance(value, (int, np.integer)) or value < least):
            raise ValueError(f"{key} must be a whole number of at least {least}, not {value!r}")
    return {key: int(value) for key, value in sizes.items() if value is not None}
