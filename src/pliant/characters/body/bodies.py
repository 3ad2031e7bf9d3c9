"""Bodies of characters, made once: what is filled with tetrahedra is kept on disk by what it was made of."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.body.bone_weights import carry_body
from pliant.characters.body.embedding import embed
from pliant.characters.body.tetrahedra import BodyError, fill, mean_edge
from pliant.characters.rig.rig import Character
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import MeshError
from pliant.runtime.caches import user_cache

_MADE_BY = 1  # one more whenever the same skin would give another body
_COARSER = 1.25  # edges inside over those of the skin: a quarter less tetrahedra than with 1
_PARTS = ("tetra", "rest", "joints", "weights", "skin_cells", "skin_weights")


def body_of(character: Character, *, edge: float | None = None, cache: bool = True) -> Body:
    """Tetrahedra that fill the skin of a character in its bind pose.

    A skin that is closed and does not meet itself is filled by tetgen, and its vertices are vertices of the body; any
    other by fTetWild, close to it, and follows that. Both are in the extra ``characters``.

    edge : about how long edges inside are, in units of the file; default: 1.25 times the mean edge of the skin
    cache : keep the body on disk, and take it from there if it has been made before
    """
    if len(character.mesh.faces) == 0:
        raise BodyError(f"{character.name} has no faces that could enclose a body")
    length = _COARSER * mean_edge(character.mesh, character.rest) if edge is None else float(edge)
    if not cache:
        return _make(character, length)
    folder = user_cache("bodies")
    if folder is None:
        return _make(character, length)
    path = folder / f"{_digest(character, length)}.npz"
    body = _read(path, len(character.rest))
    if body is None:
        body = _make(character, length)
        _write(path, body)
    return body


def _make(character: Character, edge: float) -> Body:
    cells, rest = fill(character.mesh, character.rest, edge)
    volume, n = VolumeMesh({"tetra": cells}), len(character.rest)
    on_skin = len(rest) >= n and np.array_equal(rest[:n], character.rest)
    joints, weights = carry_body(character, volume, rest, on_skin)
    skin_cells, skin_weights = _corners_of(cells, n) if on_skin else embed(volume, rest, character.rest)
    return Body(volume, rest, joints, weights, skin_cells, skin_weights)


def _corners_of(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each of the first vertices the first cell that has it, and 1 for that corner."""
    vertices, first = np.unique(cells.ravel(), return_index=True)
    first = first[np.searchsorted(vertices, np.arange(count))]
    return (first // 4).astype(np.int32), np.eye(4)[first % 4]


def _digest(character: Character, edge: float) -> str:
    """Everything that the body depends on."""
    sha = hashlib.sha256(f"{_MADE_BY} {edge!r} {_version('tetgen')} {_version('pytetwild')}".encode())
    for array in (character.mesh.faces, character.rest, character.joints, character.weights):
        sha.update(f"{array.dtype} {array.shape}".encode())
        sha.update(np.ascontiguousarray(array).tobytes())
    sha.update(str(len(character.skeleton.joints)).encode())
    return sha.hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _read(path: Path, vertex_count: int) -> Body | None:
    """None where there is nothing, or nothing that can be used: it is rebuilt."""
    try:
        with np.load(path, allow_pickle=False) as file:
            cells, rest, joints, weights, skin_cells, skin_weights = (file[name] for name in _PARTS)
        volume = VolumeMesh({"tetra": cells})
        volume.require_in_range(len(rest))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, MeshError):
        return None
    shapes = (len(rest), 3), (len(rest), joints.shape[-1]), (vertex_count,), (vertex_count, 4)
    if (rest.shape, weights.shape, skin_cells.shape, skin_weights.shape) != shapes or joints.shape != weights.shape:
        return None
    return Body(volume, rest, joints, weights, skin_cells, skin_weights)


def _write(path: Path, body: Body) -> None:
    """Written beside and then renamed: nobody ever reads half of a file. Where the folder is not writable, nothing."""
    parts = (body.volume.cells["tetra"], body.rest, body.joints, body.weights, body.skin_cells, body.skin_weights)
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".npz")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **dict(zip(_PARTS, parts)))
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
