"""A sequence to files, one frame in memory at a time."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pliant.frames.sequence import Sequence
from pliant.io.caches import write_mdd, write_pc2
from pliant.io.npz import CELL_DATA, RUN
from pliant.io.numbered import PLACE_OF_NUMBER
from pliant.io.writing import surfaces, usd, vtu, xdmf
from pliant.io.writing.meshes import USD, as_mesh, require_ending, write
from pliant.runtime.writing import OutputError, folder_atomically, through_file, write_atomically

if TYPE_CHECKING:
    from pliant.frames.changing import ChangingSequence


def write_sequence(path: str | os.PathLike[str], sequence: Sequence | ChangingSequence) -> None:
    """Write all frames of a sequence.

    path : numbered files, "cloth_%04d.obj", "cloth.####.obj" or "cloth_*.ply", in any format of `write`; .npz; .pc2 or
        .mdd, beside which
        the faces are written as .obj, if there is none yet; .usd / .usda / .usdc; .pvd, with its .vtu files in a new
        folder beside it; .xdmf

    .npz, .pvd and .xdmf keep every bit, cells, times and numbers at cells. Point caches and USD round to float32; in
    USD numbers at cells are those of the faces, primvars that vary over time.

    Of a sequence whose mesh changes, each frame has its own in all of them but point caches, which have one.
    """
    path = Path(path)
    require_sequence_format(path)
    if len(sequence) == 0:
        raise OutputError(f"{path.name}: the sequence has no frames")
    ending = path.suffix.lower()
    if _is_numbered(path):
        _write_numbered(path, sequence)
    elif ending == ".npz":
        write_atomically(path, partial(_write_npz, runs=_runs(sequence)))
    elif ending in (".pc2", ".mdd"):
        if not isinstance(sequence, Sequence):
            raise OutputError(f"{path.name}: has one mesh for all frames, and this sequence changes its own")
        write_atomically(path, partial(write_pc2 if ending == ".pc2" else write_mdd, frames=sequence))
        beside = path.with_suffix(".obj")
        if not beside.exists():
            write_atomically(beside, partial(surfaces.write_obj, faces=sequence.faces, x=sequence[0]))
    elif ending in USD:
        through_file(path, lambda unfinished: _write_usd(unfinished, sequence))
    elif ending == ".pvd":
        _write_pvd(path, sequence)
    else:
        write_atomically(path, partial(xdmf.write_xdmf, runs=[(run, _cells(run)) for run in _runs(sequence)]))


def require_sequence_format(path: Path) -> None:
    """OutputError where sequences are not written in the format of the name: to be known before frames are computed."""
    ending = path.suffix.lower()
    if _is_numbered(path):
        require_ending(path)
    elif ending not in (".npz", ".pc2", ".mdd", *USD, ".pvd", ".xdmf"):
        raise OutputError(
            f"{path.name}: sequences are written as .npz, .pc2, .mdd, {', '.join(USD)}, .pvd, .xdmf, or numbered "
            f"files, as {path.stem}_%04d{ending or '.obj'}"
        )


def _is_numbered(path: Path) -> bool:
    return "*" in path.name or PLACE_OF_NUMBER.search(path.name) is not None


def _runs(sequence: Sequence | ChangingSequence) -> tuple[Sequence, ...]:
    """Frames with the same mesh."""
    return (sequence,) if isinstance(sequence, Sequence) else sequence.runs


def _write_usd(path: Path, sequence: Sequence | ChangingSequence) -> None:
    runs = _runs(sequence)
    numbers = [_at_faces(run) for run in runs]
    known = None if None in numbers else (values for of_run in numbers for values in of_run or ())
    meshes = [(float(run.times[0]), run.faces) for run in runs]
    usd.write_usd(path, runs[0].faces, sequence, sequence.times, space=sequence.space, numbers=known, meshes=meshes)


def _at_faces(sequence: Sequence) -> Iterator[dict[str, np.ndarray]] | None:
    """For each frame, the numbers at the cells that the faces belong to; None where there are none."""
    if not sequence.cell_data(0):
        return None
    cells = sequence.cells_at_faces()
    if cells is None:
        warnings.warn("numbers at cells are left out: the faces are not the boundary of the cells", stacklevel=2)
        return None
    return ({name: row[cells] for name, row in sequence.cell_data(k).items()} for k in range(len(sequence)))


def _cells(sequence: Sequence) -> dict[str, Any]:
    return {"triangle": sequence.faces} if sequence.cells is None else sequence.cells


def _write_numbered(pattern: Path, sequence: Sequence | ChangingSequence) -> None:
    number = iter(sequence.numbers.tolist())
    for run in _runs(sequence):
        for x in run:
            write(pattern.with_name(_numbered(pattern.name, next(number))), as_mesh(x, _cells(run)))


def _numbered(name: str, frame: int) -> str:
    def written(match: re.Match[str]) -> str:
        return f"{frame:0{len(match[0])}d}" if match[0].startswith("#") else match[0] % frame

    return PLACE_OF_NUMBER.sub(written, name).replace("*", f"{frame:04d}")


def _write_npz(file: IO[bytes], runs: tuple[Sequence, ...]) -> None:
    """Not compressed: frames can be read where they stand. Runs after the first are in folders."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for number, run in enumerate(runs):
            _write_run(archive, run, RUN.format(number) if number else "")


def _write_run(archive: zipfile.ZipFile, sequence: Sequence, folder: str) -> None:
    shape = (len(sequence), *sequence[0].shape)
    others: dict[str, np.ndarray] = {"faces": sequence.faces, "times": sequence.times, "numbers": sequence.numbers}
    for name in ("objects", "ranks", "past"):
        if getattr(sequence, name) is not None:
            others[name] = getattr(sequence, name)
    others.update({kind: np.asarray(rows) for kind, rows in (sequence.cells or {}).items()})
    with archive.open(f"{folder}frames.npy", "w", force_zip64=True) as member:
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, header)
        for x in sequence:
            member.write(x.astype("<f8").tobytes())
    for name in sequence.cell_data(0):
        with archive.open(f"{folder}{CELL_DATA}{name}.npy", "w", force_zip64=True) as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": (len(sequence), sequence.cell_count)}
            np.lib.format.write_array_header_1_0(member, header)
            for frame in range(len(sequence)):
                member.write(sequence.cell_data(frame)[name].astype("<f8").tobytes())
    for name, array in others.items():
        with archive.open(f"{folder}{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, array, allow_pickle=False)


def _write_pvd(path: Path, sequence: Sequence | ChangingSequence) -> None:
    lines = ['<?xml version="1.0"?>', '<VTKFile type="Collection" version="1.0">', "<Collection>"]
    folder, count = path.with_name(f"{path.stem}_frames"), 0
    with folder_atomically(folder) as unfinished:
        for run in _runs(sequence):
            for frame, x in enumerate(run):
                name, data = f"{count:06d}.vtu", run.cell_data(frame)
                write_atomically(unfinished / name, partial(vtu.write_vtu, cells=_cells(run), x=x, data=data))
                time = float(run.times[frame])
                lines.append(f'<DataSet timestep="{time!r}" part="0" file="{_escaped(folder.name)}/{name}"/>')
                count += 1
    lines += ["</Collection>", "</VTKFile>", ""]
    write_atomically(path, lambda file: file.write("\n".join(lines).encode()))


def _escaped(name: str) -> str:
    return name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
