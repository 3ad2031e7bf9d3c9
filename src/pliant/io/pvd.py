"""PVD: a list of VTK files in XML, with their times."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.io.content import ending_of, read_bytes
from pliant.io.displacement import times_of_two
from pliant.io.mesh import FileError
from pliant.io.numbered import FileFrames
from pliant.io.opening import Options, sequence_of
from pliant.io.xml import parse
from pliant.runtime.reading import current

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence

_ENDINGS = (".vtu", ".vtp", ".vtk")


def files_of(path: Path) -> list[tuple[float, Path]]:
    """Times and files, ascending."""
    root = parse(path, read_bytes(path))
    entries = root.findall("Collection/DataSet")
    if root.tag != "VTKFile" or root.get("type") != "Collection" or not entries:
        raise FileError(f"{path.name}: is not a collection of files")
    found: list[tuple[float, Path]] = []
    for frame, entry in enumerate(entries):
        file = current().beside(path, entry.get("file", ""))
        if ending_of(file) not in _ENDINGS:
            raise FileError(f"{path.name}, frame {frame}: {file.name} is none of {', '.join(_ENDINGS)}")
        found.append((_time(path, entry.get("timestep", str(frame))), file))
    found.sort(key=lambda one: one[0])
    times = np.array([time for time, _ in found])
    if (np.diff(times) <= 0.0).any():
        raise FileError(f"{path.name}: time {times[int(np.argmin(np.diff(times)))]} has several files: join them first")
    return found


def open_frames(path: Path, options: Options) -> Sequence:
    found = files_of(path)
    times = np.array([time for time, _ in found])
    files = FileFrames([file for _, file in found], options.displacement)
    frames = files.frames()
    names = [file.name for _, file in found]
    if len(frames) > len(times):  # at rest, and at the only time that is given
        names *= 2
        times = times_of_two(times[0])
    by_rate = options.times(len(frames))
    return sequence_of(path, files.mesh, frames, times=times if by_rate is None else by_rate, files=names)


def _time(path: Path, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FileError(f"{path.name}: {text!r} is not a time")
    return value
