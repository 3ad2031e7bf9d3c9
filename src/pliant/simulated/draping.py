"""Meshes of cloth that fall onto meshes, as the command line names them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io import open_sequence, read
from pliant.mesh.space import Space
from pliant.mesh.welding import merging_of
from pliant.runtime.arrays import OptionError
from pliant.simulate.driven import Obstacle
from pliant.simulate.materials import MATERIALS
from pliant.simulate.settings import UNITS, Settings
from pliant.simulated.bodies import merged_of
from pliant.simulated.paths import path_of
from pliant.simulated.plan import Setup
from pliant.simulated.tables import nearest


def draped(
    cloths: SequenceOf[Path],
    on: SequenceOf[Path],
    *,
    pins: SequenceOf[int] = (),
    units: str | None = None,
    up: str | None = None,
    rate: float = 60.0,
    **options: Any,
) -> Setup:
    """A simulation of cloth from files.

    cloths : meshes; on : meshes or sequences, whose frames move them
    pins : vertices, numbered through all cloths
    rate : frames in a second, also of sequences without times
    options : material, thickness, friction
    """
    material_named(options.get("material", "cotton"), MATERIALS)
    faces, x, copies, names, space, begin = [], [], [], [], None, 0
    for path in cloths:
        file = read(path)
        one, points, copy_of = merged_of(file)
        faces.append(one + begin)
        x.append(points)
        copies.append(begin + (np.arange(len(points)) if copy_of is None else copy_of))
        names.append((path.name, len(one)))
        space, begin = space or file.space, begin + len(points)
    copy_of = np.concatenate(copies)
    settings = settings_from(space, units, up)
    held = np.asarray(list(pins), np.int64)
    if len(held) and not 0 <= held.min() <= held.max() < begin:
        raise OptionError(f"--pins: there is no vertex {held.max()}; the cloth has {begin}")
    made: dict[str, Any] = dict(options) | {
        "settings": settings,
        "obstacles": [obstacle_from(path, rate) for path in on],
    }
    if len(held):
        made["pins"] = np.unique(copy_of[held])
    return Setup(
        cloths[0].stem, np.concatenate(faces), np.concatenate(x), made, rate=rate, cloths=tuple(names),
        obstacles=tuple(path.name for path in on),
        copy_of=None if (copy_of == np.arange(begin)).all() else copy_of,
    )  # fmt: skip


def material_named(material: str, known: Mapping[str, Any]) -> None:
    """An error where it is none of those."""
    if material not in known:
        hint = f"did you mean {close!r}? " if (close := nearest(material, known)) else ""
        raise OptionError(f"material {material!r} is not known; {hint}choose one of {', '.join(known)}")


def obstacle_from(path: Path, rate: float) -> Obstacle:
    sequence = open_sequence(path, rate=rate)
    x = sequence[0]
    merging = merging_of(sequence.cells or {"triangle": sequence.faces}, x, sequence.objects)
    return Obstacle(merging.first[sequence.faces], x, path_of(sequence))


def settings_from(space: Space | None, units: str | None, up: str | None) -> Settings:
    """As the user says, or the file."""
    if units is None and space is not None and space.metres is not None:
        units = next((name for name, per in UNITS.items() if abs(space.metres * per - 1.0) < 1e-6), None)
    return Settings(units=units or "m", up=up or (space.up if space is not None else "y"))
