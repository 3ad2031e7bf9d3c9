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

from pliant.io.caches import write_mdd, write_pc2
from pliant.io.npz import CELL_DATA
from pliant.io.numbered import PLACE_OF_NUMBER
from pliant.io.writing import surfaces, usd, vtu, xdmf
from pliant.io.writing.meshes import USD, as_mesh, require_ending, write
from pliant.runtime.writing import OutputError, folder_atomically, through_file, write_atomically

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence


def write_sequence(path: str | os.PathLike[str], sequence: Sequence) -> None:
    """Write all frames of a sequence.

    path : numbered files, "cloth_%04d.obj", "cloth.####.obj" or "cloth_*.ply", in any format of `write`; .npz; .pc2 or
        .mdd, beside which
        the faces are written as .obj, if there is none yet; .usd / .usda / .usdc; .pvd, with its .vtu files in a new
        folder beside it; .xdmf

    .npz, .pvd and .xdmf keep every bit, cells, times and numbers at cells. Point caches and USD round to float32; in
    USD numbers at cells are those of the faces, primvars that vary over time.
    """
    path = Path(path)
    require_sequence_format(path)
    if len(sequence) == 0:
        raise OutputError(f"{path.name}: the sequence has no frames")
    ending = path.suffix.lower()
    if _is_numbered(path):
        _write_numbered(path, sequence)
    elif ending == ".npz":
        write_atomically(path, partial(_write_npz, sequence=sequence))
    elif ending in (".pc2", ".mdd"):
        write_atomically(path, partial(write_pc2 if ending == ".pc2" else write_mdd, frames=sequence))
        beside = path.with_suffix(".obj")
        if not beside.exists():
            write_atomically(beside, partial(surfaces.write_obj, faces=sequence.faces, x=sequence[0]))
    elif ending in USD:
        through_file(path, lambda unfinished: _write_usd(unfinished, sequence))
    elif ending == ".pvd":
        _write_pvd(path, sequence)
    else:
        write_atomically(path, partial(xdmf.write_xdmf, sequence=sequence, cells=_cells(sequence)))


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


def _write_usd(path: Path, sequence: Sequence) -> None:
    usd.write_usd(path, sequence.faces, sequence, sequence.times, space=sequence.space, numbers=_at_faces(sequence))


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


def _write_numbered(pattern: Path, sequence: Sequence) -> None:
    for frame, x in zip(sequence.numbers.tolist(), sequence):
        write(pattern.with_name(_numbered(pattern.name, frame)), as_mesh(x, _cells(sequence)))


def _numbered(name: str, frame: int) -> str:
    def written(match: re.Match[str]) -> str:
        return f"{frame:0{len(match[0])}d}" if match[0].startswith("#") else match[0] % frame

    return PLACE_OF_NUMBER.sub(written, name).replace("*", f"{frame:04d}")


def _write_npz(file: IO[bytes], sequence: Sequence) -> None:
    """Not compressed: frames can be read where they stand."""
    shape = (len(sequence), *sequence[0].shape)
    others: dict[str, np.ndarray] = {"faces": sequence.faces, "times": sequence.times, "numbers": sequence.numbers}
    if sequence.objects is not None:
        others["objects"] = sequence.objects
    others.update({kind: np.asarray(rows) for kind, rows in (sequence.cells or {}).items()})
    names = list(sequence.cell_data(0))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        with archive.open("frames.npy", "w", force_zip64=True) as member:
            header = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(member, header)
            for x in sequence:
                member.write(x.astype("<f8").tobytes())
        for name in names:
            with archive.open(f"{CELL_DATA}{name}.npy", "w", force_zip64=True) as member:
                header = {"descr": "<f8", "fortran_order": False, "shape": (len(sequence), sequence.cell_count)}
                np.lib.format.write_array_header_1_0(member, header)
                for frame in range(len(sequence)):
                    member.write(sequence.cell_data(frame)[name].astype("<f8").tobytes())
        for name, array in others.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _write_pvd(path: Path, sequence: Sequence) -> None:
    lines = ['<?xml version="1.0"?>', '<VTKFile type="Collection" version="1.0">', "<Collection>"]
    folder = path.with_name(f"{path.stem}_frames")
    with folder_atomically(folder) as unfinished:
        for frame, x in enumerate(sequence):
            name = f"{frame:06d}.vtu"
            data = sequence.cell_data(frame)
            write_atomically(unfinished / name, partial(vtu.write_vtu, cells=_cells(sequence), x=x, data=data))
            time = float(sequence.times[frame])
            lines.append(f'<DataSet timestep="{time!r}" part="0" file="{_escaped(folder.name)}/{name}"/>')
    lines += ["</Collection>", "</VTKFile>", ""]
    write_atomically(path, lambda file: file.write("\n".join(lines).encode()))


def _escaped(name: str) -> str:
    return name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
