"""Files that verbs write beside the list of what was found."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.commands.inputs import Mesh
from pliant.commands.options import STANDARD
from pliant.commands.running import Run
from pliant.frames.changing import ChangingSequence
from pliant.frames.scanning import Scan
from pliant.frames.sequence import Sequence
from pliant.io.writing.meshes import as_mesh
from pliant.io.writing.sequences import require_sequence_format
from pliant.mesh.space import Space
from pliant.runtime.arrays import OptionError
from pliant.runtime.terminal import to_standard_output
from pliant.runtime.writing import folder_atomically


def write_report(run: Run, path: Path, scan: Scan, looks: dict[str, Any], options: dict[str, object]) -> None:
    """One page that opens offline; `options` are listed on it, `looks` is which axis is up."""
    from pliant.report import write_page

    to_path(run, path, lambda file: write_page(scan, file, options=options, **looks), "html")


def write_sheet(run: Run, path: Path, scan: Scan, looks: dict[str, Any]) -> None:
    """Pictures of frames."""
    from pliant.report import write_contact_sheet

    to_path(run, path, lambda file: write_contact_sheet(scan, file, **looks), "png")


def write_offenders(
    run: Run, path: Path, mesh: tuple[np.ndarray, np.ndarray], counts: np.ndarray, space: Space | None = None
) -> None:
    """The triangles of a mesh, (faces, x), those with a count in red."""
    to_path(run, path, lambda file: pliant.io.write_offenders(file, *mesh, counts, space=space), "ply")


def write_face_list(run: Run, path: Path, counts: np.ndarray) -> None:
    """Ids of the faces with a count, from 0 on, one a line."""
    lines = "".join(f"{face}\n" for face in np.flatnonzero(counts).tolist())
    run.write(path, lambda file: file.write(lines.encode()))


def write_mesh(run: Run, path: Path, mesh: Mesh, x: np.ndarray, ending: str | None = None) -> None:
    """The cells of a mesh, at positions x."""
    to_path(run, path, lambda file: pliant.io.write(file, replace(as_mesh(x, mesh.cells), space=mesh.space)), ending)


def require_frames_format(path: Path) -> None:
    """Said before frames are computed: whether ``write_sequence`` can write them there, of a verb without --format."""
    if path == STANDARD:
        raise OptionError("--output -: frames do not go to standard output; name a file")
    if path.suffix:
        require_sequence_format(path)


def write_sequence(run: Run, path: Path, sequence: Sequence | ChangingSequence, ending: str | None = None) -> None:
    """All frames: a file, numbered files, or a folder of PLY files."""
    if path != STANDARD and not path.suffix:
        with folder_atomically(path) as folder:
            pliant.io.write_sequence(folder / "frame_%04d.ply", sequence)
        run.wrote(path)
        return
    to_path(run, path, lambda file: pliant.io.write_sequence(file, sequence), ending)


def holds_frames(path: Path, ending: str | None) -> bool:
    """Whether the format is one of sequences only."""
    known = (".npz", ".pc2", ".mdd", ".pvd")
    return (
        (path != STANDARD and not path.suffix)
        or "*" in path.name
        or "%" in path.name
        or "##" in path.name
        or f".{ending}" in known
        or path.suffix.lower() in known
    )


def to_path(run: Run, path: Path, write: Callable[[Path], object], ending: str | None = None) -> None:
    """Call ``write``, which leaves whole files or none, with the path, or with one that goes to standard output."""
    if path != STANDARD:
        write(path)
        run.wrote(path)
        return
    if not ending:
        raise OptionError("say which format standard output should have: --format obj, ply, stl ...")
    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        file = Path(folder) / f"stdout.{ending.lstrip('.')}"
        write(file)
        with file.open("rb") as content, to_standard_output():
            shutil.copyfileobj(content, sys.stdout.buffer)
