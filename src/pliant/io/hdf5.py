"""HDF5 without its dangers: arrays that claim to be larger than the file could hold, and links to other files."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pliant._extras import needed

from .mesh import FileError
from .opening import LARGEST_ARRAY

_MOST_EXPANSION = 100  # positions hardly get smaller; see `zipped`
_HARMLESS_SIZE = 2**24


def h5py_for(path: Path) -> ModuleType:
    with needed("h5py", "pliant.io", path.name):
        import h5py
    return h5py


def require_harmless(path: Path) -> None:
    """Every array of the file is in the file, and about as large as what is stored of it."""
    h5py = h5py_for(path)
    try:
        with h5py.File(path, "r") as file:
            _look_at(path, h5py, file, 0)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path.name}: is not a whole HDF5 file ({error})") from error


def _look_at(path: Path, h5py: ModuleType, group: Any, depth: int) -> None:
    if depth > 64:
        raise FileError(f"{path.name}: groups are nested more than 64 deep, or in a circle")
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise FileError(f"{path.name}: {name[:80]} is a link, which is not followed")
        item = group[name]
        if isinstance(item, h5py.Dataset):
            _require_harmless(path, item)
        elif isinstance(item, h5py.Group):
            _look_at(path, h5py, item, depth + 1)


def _require_harmless(path: Path, data: Any) -> None:
    if data.external or data.is_virtual:
        raise FileError(f"{path.name}: {data.name[:80]} is in another file, which is not read")
    size, stored = int(data.size or 0) * data.dtype.itemsize, int(data.id.get_storage_size())
    if size > LARGEST_ARRAY * 8 or size > max(_HARMLESS_SIZE, _MOST_EXPANSION * stored):
        raise FileError(f"{path.name}: {data.name[:80]} has {size} bytes, of which {stored} are stored")


def read_dataset(path: Path, name: str) -> np.ndarray:
    """One array of a file that `require_harmless` has seen."""
    h5py = h5py_for(path)
    try:
        with h5py.File(path, "r") as file:
            data = file[name]
            if not isinstance(data, h5py.Dataset):
                raise KeyError("not an array")
            return data[()]
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        raise FileError(f"{path.name}: {name[:80]!r} cannot be read ({error})") from error
