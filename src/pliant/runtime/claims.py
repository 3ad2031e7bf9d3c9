"""Locks on files: of all processes that need the same kernel, one compiles it, and the others wait and load it.

The system gives a lock back when its process ends, however it ends; the files stay, and are empty.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_PAUSE = 0.02  # seconds between two attempts


@contextlib.contextmanager
def claimed(path: Path, patience: float) -> Iterator[bool]:
    """False where another process still has it after so many seconds; it may have been suspended, and nobody waits
    longer. Where files cannot be locked (a cache that cannot be written, some network drives), all go ahead."""
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("ab"))
        except OSError:
            yield True
            return
        until = time.monotonic() + patience
        while not (is_mine := _take(file)) and time.monotonic() < until:
            time.sleep(_PAUSE)
        yield is_mine


def _take(file: IO[bytes]) -> bool:
    """Until it is closed."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # pyright: ignore
    except (BlockingIOError, PermissionError):  # the second on Windows
        return False
    except OSError:
        return True
    return True
