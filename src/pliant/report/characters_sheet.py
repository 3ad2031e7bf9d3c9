"""The contact sheet of characters: blended, as flesh without response, and with it; what collides in red."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import place
from pliant.characters.playing import Frame, play
from pliant.characters.rig.rig import Character
from pliant.report.picture import OBSTACLE, Shape, View
from pliant.report.sheet import Tile, contact_sheet
from pliant.scenes import load_character

COLUMNS: dict[str, dict[str, Any]] = {
    "blended": {"skinning": "linear"},
    "flesh": {"collisions": False},
    "with response": {},
}


class Shot(NamedTuple):
    """One row: a scene at a time of a clip, seen from somewhere."""

    scene: str
    clip: str
    time: float
    view: View
    size: tuple[int, int]


SHOTS = (
    Shot("human", "squat", 0.5, View(turn=0.6, tilt=0.1), (336, 430)),
    Shot("horse", "gallop", 0.1, View(turn=1.2, tilt=0.1), (336, 270)),
    Shot("arm", "bend", 0.5, View(turn=0.0), (336, 270)),
    Shot("leg", "bend", 0.5, View(turn=-1.3), (336, 270)),
)


def characters_sheet(path: str | Path, shots: Sequence[Shot] = SHOTS) -> Path:
    """Human, horse, arm and leg, before and after response."""
    rows = []
    for shot in shots:
        scene = load_character(shot.scene)
        obstacles = () if scene.obstacle is None else (scene.obstacle,)
        frames = []
        for options in COLUMNS.values():
            played = play(
                scene.character, shot.clip, body=scene.body, obstacles=obstacles, seconds=shot.time, **options
            )
            *_, last = played
            frames.append(last)
        captions = [f"{shot.scene}, {name}" if i == 0 else name for i, name in enumerate(COLUMNS)]
        rows.append(tiles_of(scene.character, scene.body, frames, captions, shot.view, obstacles))
    return contact_sheet(path, rows, [shot.size for shot in shots])


def tiles_of(
    character: Character,
    body: Body,
    frames: Sequence[Frame],
    captions: Sequence[str],
    view: View,
    obstacles: Sequence[Any] = (),
) -> list[Tile]:
    """One tile for each frame, all seen alike."""
    view = view.around(*(frame.skin for frame in frames))
    tiles = []
    for frame, caption in zip(frames, captions):
        red = frame.colliding(body)
        shapes = [Shape(frame.skin, character.mesh.faces, marked=red)]
        for o in obstacles:
            moved = [o.transform(frame.time)] if hasattr(o, "transform") else None
            shapes.append(Shape(place([o], moved)[0], o.volume.surface().faces, OBSTACLE))
        count = len(np.unique(frame.penetrations.vertices))
        tiles.append(Tile(shapes, view, f"{caption}: {count} inside"))
    return tiles
