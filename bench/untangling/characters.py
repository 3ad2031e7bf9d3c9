"""Skinned characters in poses in which the skin cuts itself: those of the data folder, and the built-in ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

from bench.inputs import data_folder
from bench.untangling.case import Given, Recipe
from pliant.characters.rig.rig import Character
from pliant.io.gltf.characters import load
from pliant.scenes import load_character

KIND = "characters"
# Clips and times in parts of the clip, at which the skin cuts itself.
FILES = {
    "CesiumMan": {None: (0.05, 0.2, 0.35, 0.5, 0.65, 0.8)},
    "Quaternius_Horse": {"Gallop": (0.1, 0.2, 0.35, 0.5, 0.65, 0.8), "Attack_Kick": (0.7,)},
    "Fox": {"Run": (0.1, 0.25, 0.4, 0.7)},
}
BUILT_IN = {
    "human": {"squat": (0.2, 0.22, 0.3), "arms": (0.22, 0.25, 0.3), "walk": (0.1, 0.25)},
    "horse": {"gallop": (0.3, 0.35, 0.6), "walk": (0.25, 0.5)},
    "arm": {"bend": (0.35, 0.4, 0.5)},
    "leg": {"bend": (0.3, 0.4, 0.5)},
}


def recipes() -> Iterator[Recipe]:
    folder = data_folder()
    wanted = [(False, name, clip, t) for name, clips in BUILT_IN.items() for clip, at in clips.items() for t in at]
    for name, clips in FILES.items():
        if folder is not None and (folder / "characters" / f"{name}.glb").exists():
            wanted += [(True, name, clip, t) for clip, at in clips.items() for t in at]
    for seed, (is_file, name, clip, t) in enumerate(wanted):
        yield Recipe(
            f"{name} {clip or ''} {t:g}".replace("  ", " "), KIND, seed, partial(_posed, is_file, name, clip, t)
        )


@lru_cache(maxsize=8)
def character(is_file: bool, name: str) -> Character:
    if not is_file:
        return load_character(name).character
    folder = data_folder()
    assert folder is not None
    return load(folder / "characters" / f"{name}.glb")


def _posed(is_file: bool, name: str, clip: str | None, t: float) -> Given:
    who = character(is_file, name)
    played = who.clip(clip or next(iter(who.clips)))
    return Given(who.mesh.faces, who.pose(played, t * played.duration), reference=who.pose(None))
