"""Frames of built-in scenes on disk: simulated once. Arrays only, nothing is unpickled, no file is half written."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.engine.plan import Tuning
from pliant.frames.changing import ChangingSequence
from pliant.frames.sequence import Sequence
from pliant.io import FileError, open_changing, open_sequence, write_sequence
from pliant.io.mesh import TopologyError
from pliant.io.zipped import Archive
from pliant.runtime.caches import user_cache
from pliant.runtime.reading import reading
from pliant.runtime.threads import Progress
from pliant.runtime.writing import write_atomically
from pliant.simulated.plan import Setup
from pliant.simulated.recording import Recording, Row

# What frames depend on. Detection is exact: another version of it gives the same ones.
_ROOMS = ("simulate", "response", "simulated", "scenes")


class Kept(NamedTuple):
    """Frames of cloth and obstacles, what happened in them, seconds it took, and whether they were on disk."""

    sequence: Sequence | ChangingSequence
    rows: list[Row]
    seconds: float
    was_there: bool


def kept_or_made(
    setup: Setup, frames: int, *, cache: bool = True, threads: int | None = None, progress: Progress | None = None
) -> Kept:
    """The first frames of a scene: from disk, where so many are there, or simulated and put there."""
    path = place_of(setup) if cache else None
    found = None if path is None else read_kept(path, frames)
    if found is not None:
        return found
    recording = Recording(setup, tuning=Tuning(), threads=threads)
    recording.run(frames, setup.rate, progress=progress)
    if path is not None:
        keep(path, recording)
    return Kept(recording.sequence(), recording.rows, recording.seconds, False)


def place_of(setup: Setup) -> Path | None:
    """Where the frames of a scene are; None where nothing is kept between runs.

    The name has a digest of everything that they depend on: the simulator, and where everything starts.
    """
    folder = user_cache("simulated")
    if folder is None:
        return None
    sha = hashlib.sha256(f"{_simulator()} {setup.rate!r} {setup.settings!r}".encode())
    arrays = setup.arrays()
    for one in setup.listed_obstacles:
        arrays += [one.mesh.faces, one.x]
        if one.path is not None:
            arrays += [np.asarray(one.path(time)) for time in (0.3, setup.frames / setup.rate)]
    for array in arrays:
        sha.update(f"{array.dtype} {array.shape}".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    return folder / f"{setup.name}-{len(setup.faces)}-{sha.hexdigest()[:24]}.npz"


@lru_cache(maxsize=1)
def _simulator() -> str:
    """A digest of the sources."""
    package = Path(__file__).parents[1]
    sha = hashlib.sha256()
    for room in _ROOMS:
        for file in sorted((package / room).rglob("*.py")):
            sha.update(f"{file.relative_to(package).as_posix()}\n".encode())
            sha.update(file.read_bytes())
    return sha.hexdigest()


def keep(path: Path, recording: Recording) -> None:
    """Put frames on disk; rows come first, so that frames without them are never found."""
    table = {"rows": np.array(recording.rows, np.float64), "seconds": np.float64(recording.seconds)}
    write_atomically(_rows_of(path), lambda file: np.savez(file, **table))
    write_sequence(path, recording.sequence())


def read_kept(path: Path, frames: int) -> Kept | None:
    """What ``keep`` wrote, if it has so many frames and is whole."""
    if not path.is_file() or not _rows_of(path).is_file():
        return None
    try:
        try:
            sequence: Sequence | ChangingSequence = open_sequence(path)
        except TopologyError:
            sequence = open_changing(path)
        with reading(_rows_of(path)):
            archive = Archive(_rows_of(path))
            rows, seconds = archive.array("rows"), float(archive.array("seconds"))
        if len(sequence) < frames or rows.shape != (len(sequence), len(Row._fields)):
            return None
        known = [Row.of(row) for row in rows[:frames].tolist()]
    except (FileError, KeyError, ValueError):  # damaged: made once more
        return None
    return Kept(sequence[:frames], known, seconds * frames / len(sequence), True)


def _rows_of(path: Path) -> Path:
    return path.with_suffix(".rows.npz")
