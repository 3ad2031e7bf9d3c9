"""The one place where files are written: whole or not at all, without harm to what is at the path already."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from pliant.runtime.arrays import MeshError
from pliant.runtime.caches import MOST_LINKS

# Files that stand for descriptors of this process: what the shell makes of `--csv >(sort)`, and standard output.
_DESCRIPTOR = re.compile(r"(?:/dev|/proc/(self|\d+))/fd/(\d+)")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class OutputError(MeshError):
    """What was asked for cannot be written there."""


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Whoever looks sees the old file or the whole new one, never a part of it.

    A file that is there keeps its mode, and a new one has that of the umask. A link stays, and what it points to is
    written. A device, a pipe or a descriptor of the process is written to as it is. Errors name `path`.
    """
    with _named(path):
        if is_stream(path):
            with _opened_stream(path) as file:
                write(file)
            return
        target, before = _target(path)
        unfinished = _unfinished(target)
        # For the user alone until it is whole, if the file that it replaces may be so.
        handle = os.open(unfinished, _NEW, 0o666 if before is None else 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            _replace(unfinished, target, before)
        finally:
            unfinished.unlink(missing_ok=True)


def through_file(path: Path, write_to: Callable[[Path], object]) -> None:
    """For libraries that want a path: they get one of the same ending, in a new folder that nobody else can write."""
    with _named(path):
        target, before = (None, None) if is_stream(path) else _target(path)
        folder = Path(tempfile.mkdtemp(prefix=".pliant-", dir=None if target is None else target.parent))
        try:
            whole = folder / f"file{path.suffix}"
            try:
                write_to(whole)
            except RuntimeError as error:  # what usd-core raises where a disk is full
                raise OutputError(f"{path} cannot be written: {error}") from error
            if target is not None:
                _replace(whole, target, before)
            else:
                with whole.open("rb") as content, _opened_stream(path) as file:
                    shutil.copyfileobj(content, file)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def folder_atomically(path: Path) -> Iterator[Path]:
    """A folder to write into, that gets its name when all is written; one that has that name must be empty."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise OutputError(f"{path} exists and is not an empty folder")
    with _named(path):
        target = _resolved(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = _unfinished(target)
        unfinished.mkdir()
        try:
            yield unfinished
            if target.is_dir():
                unfinished.chmod(stat.S_IMODE(target.stat().st_mode))
                target.rmdir()
            unfinished.rename(target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def is_stream(path: Path) -> bool:
    """Whether there is something that is written to and not replaced: a device, a pipe, a descriptor."""
    if descriptor_of(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def descriptor_of(path: Path) -> int | None:
    """The number, where a path or what it links to stands for a descriptor of this process.

    Such files look like what is behind them: after `>> log`, /dev/stdout is the log, which is not to be replaced.
    """
    if sys.platform == "win32":
        return None
    place = Path(os.path.abspath(path))  # noqa: PTH100 (resolve would follow the last link too)
    for _ in range(MOST_LINKS):
        for known in (place, _resolved(place.parent) / place.name):
            match = _DESCRIPTOR.fullmatch(str(known))
            if match and match[1] in (None, "self", str(os.getpid())):
                return int(match[2])
        if not place.is_symlink():
            return None
        place = _resolved(place.parent) / place.readlink()
    return None


def _opened_stream(path: Path) -> IO[bytes]:
    number = descriptor_of(path)
    if number is None:
        return os.fdopen(os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb")
    if number == 1 and sys.stdout is not None:
        sys.stdout.flush()
    return os.fdopen(os.dup(number), "wb")  # not reopened, which would begin at the start of a file


def _target(path: Path) -> tuple[Path, os.stat_result | None]:
    """What is to be written, links followed, and what is there."""
    try:
        before = path.stat()  # follows links as far as the system allows it
    except FileNotFoundError:
        return _resolved(path), None
    if stat.S_ISDIR(before.st_mode):
        raise OutputError(f"{path} cannot be written: it is a folder")
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path))
    return _resolved(path), before


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _unfinished(target: Path) -> Path:
    """A name beside the target that cannot be guessed; without its own, which may be as long as names can be."""
    return target.with_name(f".pliant-{secrets.token_hex(8)}")


def _replace(whole: Path, target: Path, before: os.stat_result | None) -> None:
    if before is not None:
        mode = stat.S_IMODE(before.st_mode) & 0o777
        if sys.platform != "win32":
            now = whole.stat()
            if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
                try:
                    os.chown(whole, before.st_uid, before.st_gid)
                except OSError:
                    mode &= 0o707  # what the group of the old file might do is not for another one
        whole.chmod(mode)
    whole.replace(target)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name the file that the user named, and not one that we made."""
    try:
        yield
    except OSError as error:
        about = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes | os.PathLike) else ""
        ours = not about or ".pliant-" in about or about == os.path.realpath(path)
        if error.errno is None or not ours:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error  # of the same kind: the number tells
