"""Point caches, PC2 and MDD: positions of all frames in one file, read where they stand; faces are in another."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from pliant.io.content import PACKED, ending_of, is_packed
from pliant.io.mesh import FileError, FileMesh
from pliant.io.opening import Options, sequence_of
from pliant.runtime.reading import current

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence

_PC2 = struct.Struct("<12siiffi")
_MAGIC = b"POINTCACHE2\0"
_MESHES = (".obj", ".ply", ".off", ".stl")


def open_pc2(path: Path, options: Options) -> Sequence:
    """Times are in frames where no rate is given: the format knows no seconds."""
    with path.open("rb") as file:
        raw = file.read(_PC2.size)
    if len(raw) < _PC2.size or not raw.startswith(_MAGIC):
        raise FileError(f"{path.name}: does not begin with the {_PC2.size} bytes of {_MAGIC[:-1].decode()}")
    _, version, points, start, step, frames = _PC2.unpack(raw)
    if version != 1:
        raise FileError(f"{path.name}: version {version}; 1 is known")
    positions = _mapped(path, "<f4", _PC2.size, (frames, points, 3))
    if not (np.isfinite(start) and np.isfinite(step)):
        raise FileError(f"{path.name}: the first frame is {start}, the step {step}")
    times = start + np.arange(frames) * (step or 1.0)
    return _opened(path, positions, times if options.rate is None else times / options.rate, options)


def open_mdd(path: Path, options: Options) -> Sequence:
    with path.open("rb") as file:
        head = file.read(8)
        if len(head) < 8:
            raise FileError(f"{path.name}: has {len(head)} bytes, too few for the numbers of frames and points")
        frames, points = struct.unpack(">ii", head)
        positions = _mapped(path, ">f4", 8 + 4 * frames, (frames, points, 3))
        times = np.frombuffer(file.read(4 * frames), ">f4").astype(np.float64)
    by_rate = options.times(frames)
    return _opened(path, positions, times if by_rate is None else by_rate, options)


def _mapped(path: Path, dtype: str, begin: int, shape: tuple[int, int, int]) -> np.ndarray:
    """(f, n, 3), in the file; that all of it is there is known before it is mapped."""
    frames, points, _ = shape
    if frames <= 0 or points <= 0:
        raise FileError(f"{path.name}: declares {frames} frames of {points} points")
    need, size = begin + 12 * frames * points, path.stat().st_size
    if need != size:
        raise FileError(
            f"{path.name}: {frames} frames of {points} points need {need} bytes, but the file has {size}"
            + ("; cut off?" if need > size else "")
        )
    return np.memmap(path, dtype, "r", begin, shape)


def _opened(path: Path, positions: np.ndarray, times: np.ndarray, options: Options) -> Sequence:
    mesh = _topology(path, options)
    if len(mesh.points) != positions.shape[1]:
        raise FileError(f"{path.name}: has {positions.shape[1]} points, but the mesh {len(mesh.points)}")
    return sequence_of(path, mesh, positions, times=times)


def _topology(path: Path, options: Options) -> FileMesh:
    """The mesh that was named, or else the one beside the cache that has its name."""
    return options._replace(mesh=options.mesh or mesh_beside(path)).topology(path)


def mesh_beside(path: Path) -> Path | None:
    """The only mesh beside a cache that has its name."""
    if ending_of(path) not in (".pc2", ".mdd"):
        return None
    name = Path(path.stem).stem if is_packed(path) else path.stem
    beside = [path.with_name(name + ending + packed) for ending in _MESHES for packed in ("", PACKED)]
    found = [file for file in beside if file.is_file()]
    if len(found) != 1:
        return None
    current().require_inside(path, found[0])
    return found[0]


def write_pc2(file: IO[bytes], frames: Sequence) -> None:
    """Positions are rounded to float32; the first time is kept, in frames, and their step is 1."""
    file.write(_PC2.pack(_MAGIC, 1, len(frames[0]), float(frames.times[0]), 1.0, len(frames)))
    for x in frames:
        file.write(x.astype("<f4").tobytes())


def write_mdd(file: IO[bytes], frames: Sequence) -> None:
    """Positions and times are rounded to float32."""
    file.write(struct.pack(">ii", len(frames), len(frames[0])))
    file.write(frames.times.astype(">f4").tobytes())
    for x in frames:
        file.write(x.astype(">f4").tobytes())
