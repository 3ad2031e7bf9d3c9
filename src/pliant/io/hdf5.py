"""HDF5 without its dangers: arrays that claim to be larger than the file could hold, and links to other files."""

from __future__ import annotations

import zlib
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pliant.io.mesh import FileError
from pliant.runtime.extras import needed
from pliant.runtime.reading import current

# Filters whose results are bounded by what is stored, or by what is examined here: deflate, shuffle, fletcher32, szip,
# lzf. Others allocate whatever a number in the file says.
_DEFLATE, _FILTERS = 1, (1, 2, 3, 4, 32000)
_MOST_EXPANSION = 1032  # of deflate
_PIECE = 2**20


def h5py_for(path: Path) -> ModuleType:
    with needed("h5py", "pliant.io", path.name):
        import h5py
    return h5py


def require_harmless(path: Path) -> None:
    """Every array of the file is in the file, and about as large as what is stored of it."""
    h5py = h5py_for(path)
    try:
        with h5py.File(path, "r") as file:
            _look_at(path, h5py, file, set())
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, zlib.error) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path.name}: is not a whole HDF5 file ({error})") from error


def _look_at(path: Path, h5py: ModuleType, root: Any, seen: set[int]) -> None:
    """Everything in a group; what has several names is examined once."""
    waiting = [root]
    while waiting:
        group = waiting.pop()
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise FileError(f"{path.name}: {name[:80]} is a link, which is not followed")
            item = group[name]
            place = h5py.h5o.get_info(item.id).addr
            if place in seen:
                continue
            seen.add(place)
            if isinstance(item, h5py.Dataset):
                _require_harmless(path, item)
            elif isinstance(item, h5py.Group):
                waiting.append(item)


def _require_harmless(path: Path, data: Any) -> None:
    if data.external or data.is_virtual:
        raise FileError(f"{path.name}: {data.name[:80]} is in another file, which is not read")
    plan = data.id.get_create_plist()
    filters = [plan.get_filter(i)[0] for i in range(plan.get_nfilters())]
    if any(one not in _FILTERS for one in filters):
        raise FileError(f"{path.name}: {data.name[:80]} is packed in a way that is not read")
    size, stored = int(data.size or 0) * data.dtype.itemsize, int(data.id.get_storage_size())
    current().require(size, f"{data.name[:80]}, of which {stored} bytes are stored")
    if data.chunks is not None:
        chunk = prod(data.chunks) * data.dtype.itemsize
        current().require(chunk, f"a chunk of {data.name[:80]}")
        if _DEFLATE in filters and _MOST_EXPANSION * stored > current().left:
            _require_chunks(path, data, chunk)


def _require_chunks(path: Path, data: Any, size: int) -> None:
    """HDF5 inflates a chunk to its end, however far that is from the size of a chunk."""
    for i in range(data.id.get_num_chunks()):
        stored = data.id.get_chunk_info(i)
        if _MOST_EXPANSION * stored.size <= current().left:
            continue
        mask, content = data.id.read_direct_chunk(stored.chunk_offset)
        if mask:
            raise FileError(f"{path.name}: {data.name[:80]} is packed in a way that is not read")
        inflater, out = zlib.decompressobj(), 0
        while content and not inflater.eof:
            out += len(inflater.decompress(content, _PIECE))
            content = inflater.unconsumed_tail
            current().require(0 if out <= 2 * size + _PIECE else _MOST_EXPANSION * stored.size, data.name[:80])


def read_dataset(path: Path, name: str) -> np.ndarray:
    """One array of a file that `require_harmless` has seen."""
    h5py = h5py_for(path)
    try:
        with h5py.File(path, "r") as file:
            data = file[name]
            if not isinstance(data, h5py.Dataset):
                raise KeyError("not an array")
            current().charge(8 * int(data.size or 0), name)
            return data[()]
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        raise FileError(f"{path.name}: {name[:80]!r} cannot be read ({error})") from error
