"""Built-in scenes that are simulated: seeded, at any size, kept on disk."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pliant.frames.sequence import Sequence
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import OptionError
from pliant.runtime.threads import Progress
from pliant.scenes import Listed, first_words
from pliant.scenes.scene import Scene
from pliant.scenes.volume_scene import VolumeScene, VolumeStep, as_cells

if TYPE_CHECKING:  # the names of scenes are asked for by verbs that simulate nothing
    from pliant.simulated.plan import Setup

# Scenes by the modules that have them, which are imported for what is asked.
_SCENES = {
    "cloth_ball": "sheets",
    "twisting": "sheets",
    "funnel": "sheets",
    "flowing_cloth": "sheets",
    "bishop": "dressed",
    "falling": "dressed",
    "flamenco": "dressed",
    "squishy_ball": "soft",
    "octopi": "solids",
    "airbag": "shells",
    "car_crash": "shells",
    "bullet": "breaking",
    "liver": "breaking",
}
_OF_CELLS = ("solids", "shells", "breaking")
PREFIX = "simulated_"  # of the same scene beside those that move by formula


def names() -> tuple[str, ...]:
    """The names that ``load`` knows.

    Returns
    -------
    tuple of str
    """
    return tuple(name for name, module in _SCENES.items() if module not in _OF_CELLS)


def volume_names() -> tuple[str, ...]:
    """The names that ``load_volume`` knows.

    Returns
    -------
    tuple of str
    """
    return tuple(name for name, module in _SCENES.items() if module in _OF_CELLS)


def catalogue() -> tuple[Listed, ...]:
    """What there is, without making it.

    Returns
    -------
    tuple of pliant.scenes.Listed
    """
    rows = []
    for name in _SCENES:
        maker = _maker(name)
        size = next(iter(inspect.signature(maker).parameters.values())).default
        kind = "simulated solids" if _SCENES[name] in _OF_CELLS else "simulated"
        rows.append(Listed(PREFIX + name, kind, size, maker(700).frames, first_words(maker)))
    return tuple(rows)


def setup(name: str, triangles: int | None = None, seed: int = 0) -> Setup:
    """A built-in scene, before it is simulated.

    Parameters
    ----------
    name : str
        One of ``names()`` or ``volume_names()``.
    triangles : int, optional
        About how many, of cloth and obstacles; of solids, cells; default: as many as in the papers.
    seed : int
        Another seed, another scene of the same kind.

    Returns
    -------
    Setup
    """
    if triangles is not None and (not isinstance(triangles, int | np.integer) or triangles < 200):
        raise OptionError(f"triangles={triangles!r} must be a whole number of at least 200")
    maker = _maker(name)
    return maker(seed=int(seed)) if triangles is None else maker(int(triangles), int(seed))


def load(
    name: str,
    triangles: int | None = None,
    frames: int | None = None,
    seed: int = 0,
    *,
    cache: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Scene:
    """A built-in scene with all frames, simulated now or before.

    There is one time step from a frame to the next, which is free of contact, except between parts that move by
    themselves. The same numbers every time, for any number of threads.

    Parameters
    ----------
    name : str
        One of ``names()``.
    triangles : int, optional
        About how many, of cloth and obstacles; default: as many as in the papers.
    frames : int, optional
        How many, the start included; default: the whole scene.
    seed : int
        Another seed, another scene of the same kind.
    cache : bool
        Keep the frames on disk, and take them from there if they have been simulated before.
    threads : int, optional
        Changes the time, never the result.
    progress : callable, optional
        Called with (frames done, frames in all).

    Returns
    -------
    pliant.scenes.Scene
    """
    if str(name).removeprefix(PREFIX) in volume_names():
        raise OptionError(f"{name!r} is a scene of solids, for load_volume")
    from pliant.simulated.cache import kept_or_made
    from pliant.simulated.plan import checked_frames

    made = setup(name, triangles, seed)
    count = checked_frames(frames) or made.frames
    sequence = kept_or_made(made, count, cache=cache, threads=threads, progress=progress).sequence
    assert isinstance(sequence, Sequence)  # of cloth
    mesh = TriMesh(sequence.faces)
    x = np.stack([sequence[k] for k in range(count)])
    objects = np.zeros(x.shape[1], np.int64)
    objects[: mesh.vertex_limit] = np.maximum(mesh.components, 0)
    return Scene(PREFIX + made.name, sequence.faces, x, objects)


def load_volume(
    name: str,
    cells: int | None = None,
    frames: int | None = None,
    seed: int = 0,
    *,
    cache: bool = True,
    threads: int | None = None,
    progress: Progress | None = None,
) -> VolumeScene:
    """A built-in scene of solids with all steps, simulated now or before; the obstacles are shells of it.

    Parameters
    ----------
    name : str
        One of ``volume_names()``.
    cells : int, optional
        About how many; default: as many as in the paper.
    frames : int, optional
        How many, the start included; default: the whole scene.
    seed : int
        Another seed, another scene of the same kind.
    cache : bool
        Keep the frames on disk, and take them from there if they have been simulated before.
    threads : int, optional
        Changes the time, never the result.
    progress : callable, optional
        Called with (frames done, frames in all).

    Returns
    -------
    pliant.scenes.VolumeScene
    """
    from pliant.simulated.cache import kept_or_made
    from pliant.simulated.plan import checked_frames

    if str(name).removeprefix(PREFIX) not in volume_names():
        raise OptionError(f"no simulated scene of solids is called {name!r}; there are {', '.join(volume_names())}")
    made = setup(name, cells, seed)
    count = checked_frames(frames) or made.frames
    sequence = kept_or_made(made, count, cache=cache, threads=threads, progress=progress).sequence[:count]
    runs = (sequence,) if isinstance(sequence, Sequence) else sequence.runs
    steps = [step for before, run in zip((None, *runs), runs) for step in _steps(before, run)]
    return VolumeScene(PREFIX + made.name, tuple(steps))


def _steps(before: Sequence | None, sequence: Sequence) -> list[VolumeStep]:
    cells = as_cells(sequence.cells or {})
    known = VolumeMesh(cells).components
    objects = np.zeros(len(sequence[0]), np.int64)
    objects[: len(known)] = np.maximum(known, 0)
    steps = [VolumeStep(cells, a, b, objects) for a, b in pairwise(sequence)]
    if before is None or sequence.past is None:
        return steps
    known, remove, add, first = as_cells(before.cells or {}), [], {}, 0
    for kind, rows in known.items():
        stay, came = _told_apart(rows, cells[kind])
        remove.append(first + np.flatnonzero(~stay))
        add[kind], first = cells[kind][came], first + len(rows)
    return [VolumeStep(cells, sequence.past, sequence[0], objects, np.concatenate(remove), add), *steps]


def _told_apart(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows before are there after, and which after are new: new ones come last."""
    _, number = np.unique(np.concatenate((before, after)), axis=0, return_inverse=True)
    old, new = number.ravel()[: len(before)], number.ravel()[len(before) :]
    return np.isin(old, new), ~np.isin(new, old)


def _maker(name: str) -> Callable[..., Setup]:
    known = str(name).removeprefix(PREFIX)
    if known not in _SCENES:
        close = difflib.get_close_matches(known, _SCENES, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise OptionError(f"no simulated scene is called {name!r}; {hint}there are {', '.join(_SCENES)}")
    return getattr(import_module(f"pliant.simulated.{_SCENES[known]}"), known)
