"""Arrays in a zip archive, as numpy writes them, read without trust: sizes are compared before memory is allocated."""

from __future__ import annotations

import copy
import io
import struct
import tokenize
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from pliant.io.mesh import FileError
from pliant.io.opening import LARGEST_ARRAY
from pliant.runtime.reading import current

_LONGEST_HEADER = 2**16
_MOST_ARRAYS = 100_000
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class Header(NamedTuple):
    """What an array is, before any of it is read."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype
    begin: int  # of its numbers, from the begin of its .npy


class Archive:
    """Arrays by name. The file is reopened for each: none is left open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opened() as archive:
            infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            if len(infos) > _MOST_ARRAYS:
                raise FileError(f"{path.name}: {len(infos)} arrays are too many")
            self.headers = {
                name: header
                for name, header in ((info.filename[:-4], self._header(archive, info)) for info in infos)
                if header is not None
            }

    def within(self, folder: str) -> Archive:
        """The arrays of a folder, which ends in a slash, by their names in it."""
        other = copy.copy(self)
        other.headers = {name[len(folder) :]: one for name, one in self.headers.items() if name.startswith(folder)}
        return other

    def _opened(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
            raise FileError(f"{self.path.name}: is not a whole zip archive ({error})") from error

    def _header(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Header | None:
        """None for arrays that are not of numbers, such as text."""
        where = f"{self.path.name}: {info.filename[:80]}"
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError(f"{where}: is encrypted, or compressed otherwise than numpy does")
        try:
            with archive.open(info) as file:
                head = io.BytesIO(file.read(_LONGEST_HEADER))
            shape, is_fortran, dtype = _npy_header(head)
            begin = head.tell()
        # A header is parsed as Python, as numpy of old wrote it, if it is nothing else.
        except (
            ValueError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error, EOFError, OSError,
            NotImplementedError,
        ) as error:  # fmt: skip
            raise FileError(f"{where}: is not a numpy array ({error})") from error
        if dtype.hasobject:
            raise FileError(f"{where}: holds Python objects, which are never loaded")
        if dtype.kind not in "iufb":
            return None
        if begin + prod(shape) * dtype.itemsize != info.file_size:
            raise FileError(
                f"{where}: an array {shape} of {dtype} has {prod(shape) * dtype.itemsize} bytes, but "
                f"{info.file_size - begin} are there"
            )
        return Header(info, shape, is_fortran, dtype, begin)

    def array(self, name: str) -> np.ndarray:
        """One array, all of it."""
        header = self.headers[name]
        current().charge(header.info.file_size, name)
        if header.info.compress_type == zipfile.ZIP_STORED:
            return np.array(self.mapped(name))
        try:
            with self._opened() as archive, archive.open(header.info) as file:
                content = file.read(header.info.file_size + 1)  # asked for all, it would inflate what is not announced
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise FileError(f"{self.path.name}: {name}: cut off or damaged ({error})") from error
        flat = np.frombuffer(content, header.dtype, offset=header.begin)
        return flat.reshape(header.shape, order="F" if header.is_fortran else "C")

    def mapped(self, name: str) -> np.ndarray:
        """One array that is stored as it is, read from the file where it is touched."""
        header = self.headers[name]
        with self.path.open("rb") as file:
            file.seek(header.info.header_offset)
            raw = file.read(_LOCAL_HEADER.size)
            size = file.seek(0, 2)
        mark, name_length, extra_length = _LOCAL_HEADER.unpack(raw) if len(raw) == _LOCAL_HEADER.size else (b"", 0, 0)
        begin = header.info.header_offset + _LOCAL_HEADER.size + name_length + extra_length + header.begin
        if mark != b"PK\x03\x04" or begin + prod(header.shape) * header.dtype.itemsize > size:
            raise FileError(f"{self.path.name}: {name}: cut off or damaged")
        if prod(header.shape) == 0:
            return np.empty(header.shape, header.dtype)
        order: Any = "F" if header.is_fortran else "C"
        return np.memmap(self.path, header.dtype, "r", begin, header.shape, order)

    def stream(self, name: str) -> IO[bytes]:
        return self._opened().open(self.headers[name].info)


def _npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"version {version} of the format")


class StoredFrames:
    """Frames (f, n, 3) of one array: at once if it is small, else from where they stand in the file."""

    def __init__(self, archive: Archive, name: str) -> None:
        self._archive, self._name = archive, name
        self._header = header = archive.headers[name]
        self._stream: IO[bytes] | None = None
        self._whole: np.ndarray | None = None
        if header.info.compress_type == zipfile.ZIP_STORED:
            self._whole = archive.mapped(name)
        elif header.info.file_size <= min(LARGEST_ARRAY, current().left):
            self._whole = archive.array(name)
        elif header.is_fortran:
            raise FileError(f"{archive.path.name}: {name} is too large for frames in the order of Fortran")

    def __len__(self) -> int:
        return self._header.shape[0]

    def __getitem__(self, frame: int) -> np.ndarray:
        if self._whole is not None:
            return self._whole[frame]
        size = prod(self._header.shape[1:]) * self._header.dtype.itemsize
        current().charge(size, self._name)
        try:
            if self._stream is None:
                self._stream = self._archive.stream(self._name)
            # Forward it reads on, backward it begins anew: made for frames that are asked for in their order.
            self._stream.seek(self._header.begin + frame * size)
            content = self._stream.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise FileError(f"{self._archive.path.name}: frame {frame}: cut off or damaged ({error})") from error
        if len(content) < size:
            raise FileError(f"{self._archive.path.name}: frame {frame}: cut off")
        return np.frombuffer(content, self._header.dtype).reshape(self._header.shape[1:])
