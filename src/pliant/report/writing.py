"""Files and folders that are whole or not there."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from pliant._arrays import MeshError


class OutputError(MeshError):
    """What was asked for cannot be written there."""


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Whoever looks sees the old file or the whole new one, never a part of it."""
    unfinished = _unfinished(path)
    try:
        with unfinished.open("wb") as file:
            write(file)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def folder_atomically(path: Path) -> Iterator[Path]:
    """A folder to write into, that gets its name when all is written; one that has that name must be empty."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise OutputError(f"{path} exists and is not an empty folder")
    unfinished = _unfinished(path)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        if path.is_dir():
            path.rmdir()
        unfinished.rename(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")
