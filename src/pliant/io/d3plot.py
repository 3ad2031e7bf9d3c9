"""Results of LS-DYNA over time: a family of files d3plot, d3plot01, ..., read with lasso-python."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np

from .mesh import FileError, FileMesh, make, warn
from .solids import split_solids

# Places in the control section of a d3plot, which begins with 64 words: how many nodes and elements there are.
_COUNTS = {"nodes": 16, "solids": 23, "beams": 28, "shells": 31, "thick shells": 40}
_WORDS = {"nodes": 3, "solids": 9, "beams": 6, "shells": 5, "thick shells": 9}


def read(path: Path) -> FileMesh:
    _check_sizes(path)
    arrays = _arrays(path)
    points = np.asarray(arrays.get("node_coordinates", np.empty((0, 3))), np.float64)
    frames = arrays.get("node_displacement")  # positions, whatever the name says
    if frames is not None:
        frames = np.asarray(frames, np.float64)
    shells = np.asarray(arrays.get("element_shell_node_indexes", np.empty((0, 4), np.int32)))
    is_triangle = shells[:, 2] == shells[:, 3]
    blocks = [("triangle", shells[is_triangle][:, :3]), ("quad", shells[~is_triangle])]
    for name in ("element_solid_node_indexes", "element_tshell_node_indexes"):
        solids, wrong = split_solids(np.asarray(arrays.get(name, np.empty((0, 8), np.int32)))[:, :8])
        if len(wrong):
            raise FileError(f"{path.name}: row {wrong[0]} of {name} is none of tetra, pyramid, wedge and hexahedron")
        blocks += solids
    beams = len(arrays.get("element_beam_node_indexes", ()))
    warn(path, {"beam": beams} if beams else {}, "left out:")
    deleted = {
        f"{kind} of its cells": int((np.asarray(arrays[f"element_{kind}_is_alive"])[-1] == 0).sum())
        for kind in ("solid", "tshell", "shell")
        if len(arrays.get(f"element_{kind}_is_alive", ()))
    }
    warn(path, {kind: count for kind, count in deleted.items() if count}, "kept, though deleted by the last frame:")
    return make(path, blocks, points, frames)


def _check_sizes(path: Path) -> None:
    """What the file announces must fit into it: lasso-python makes room before it reads."""
    size = sum(part.stat().st_size for part in path.parent.glob(path.name + "*") if part.is_file())
    with path.open("rb") as file:
        head = file.read(64 * 8)
    for word in (4, 8):
        if len(head) < 64 * word:
            continue
        for order in "<>":
            values = np.frombuffer(head, f"{order}i{word}", 64)
            # The number of dimensions is a small number only if words are read as they were written.
            if not 2 <= values[15] <= 7:
                continue
            need = sum(abs(int(values[place])) * _WORDS[what] * word for what, place in _COUNTS.items())
            if need > size:
                raise FileError(f"{path.name}: announces a mesh of {need} bytes, but the files have {size}; cut off?")
            return
    raise FileError(f"{path.name}: is not a d3plot")


def _arrays(path: Path) -> dict:
    try:
        from lasso.dyna import D3plot
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "lasso":
            raise
        raise ModuleNotFoundError(
            f"pliant.io needs lasso-python for {path.name}, which is in an extra: pip install 'pliant[io]'",
            name="lasso",
        ) from error
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return D3plot(str(path)).arrays
    # lasso-python raises whatever the first wrong word of a cut or foreign file led to.
    except (Exception, SystemExit) as error:
        raise FileError(f"{path.name}: lasso-python cannot read it ({type(error).__name__}: {error})") from error
