"""What is in a file: unpacked where gzip packed it, and text without the mark of its encoding."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from pliant.io.mesh import FileError
from pliant.runtime.reading import current

PACKED = ".gz"
_PIECE = 2**20


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == PACKED


def ending_of(path: Path) -> str:
    """What the name says of the format, in lower case: .obj of a.obj and of a.OBJ.gz."""
    return Path(path.stem).suffix.lower() if is_packed(path) else path.suffix.lower()


def read_bytes(path: Path) -> bytes:
    """All of a file, unpacked. One that is read for a second time is as much more to hold."""
    try:
        if is_packed(path):
            return b"".join(_pieces(path))
        current().charge(path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path.name}: {error.strerror or error}") from error


def read_text(path: Path) -> bytes:
    """All of a text, without the mark that some editors begin it with; UTF-16 becomes UTF-8."""
    return unmarked(path, read_bytes(path))


def unmarked(path: Path, content: bytes) -> bytes:
    """Content that may be text, without the mark of an encoding."""
    if content.startswith(codecs.BOM_UTF8):
        return content[len(codecs.BOM_UTF8) :]
    if not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content
    try:
        return content.decode("utf-16").encode()
    except UnicodeError as error:
        raise FileError(f"{path.name}: begins as text in UTF-16, but is not ({error})") from error


def read_beginning(path: Path, size: int = 64) -> bytes:
    """The first bytes, unpacked."""
    try:
        if is_packed(path):
            return next(_pieces(path), b"")[:size]
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise FileError(f"{path.name}: {error.strerror or error}") from error


@contextlib.contextmanager
def plain_file(path: Path) -> Iterator[Path]:
    """For packages that open files themselves: the file, or a copy of it that is unpacked and has no mark."""
    begin = read_beginning(path, 3)
    is_marked = begin.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not is_packed(path) and not is_marked:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="pliant-", ignore_cleanup_errors=True) as folder:
        copy = unpack(path, Path(folder))
        if is_marked:
            copy.write_bytes(read_text(path))
        yield copy


def unpack(path: Path, folder: Path) -> Path:
    """A copy in a folder, under the name of what was packed."""
    copy = folder / (path.stem if is_packed(path) else path.name)
    with copy.open("wb") as file:
        for piece in _pieces(path) if is_packed(path) else ():
            file.write(piece)
    return copy


def _pieces(path: Path) -> Iterator[bytes]:
    """What is packed, piece by piece: a megabyte can stand for a gigabyte."""
    try:
        with gzip.open(path, "rb") as file:
            while piece := file.read(_PIECE):
                current().charge(len(piece))
                yield piece
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise FileError(f"{path.name}: cannot be unpacked; cut off or damaged ({error})") from error
