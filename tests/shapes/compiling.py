"""Processes that run tests side by side begin with the same kernels: one compiles each, the others wait and load it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

try:
    import fcntl
except ImportError:  # Windows: each process compiles for itself
    fcntl = None


@contextmanager
def compiling_once(folder: Path) -> Iterator[None]:
    """Of all processes with the same folder, one at a time compiles a kernel that is cached."""
    if fcntl is None:
        yield
        return
    before, Dispatcher.compile = Dispatcher.compile, _locked(Dispatcher.compile, folder)
    try:
        yield
    finally:
        Dispatcher.compile = before


def _locked(compiled: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    def compile_once(self: Any, sig: Any) -> Any:
        if isinstance(self._cache, NullCache):
            return compiled(self, sig)
        # The lock of this process first, as everywhere else: two threads that take two locks take them in one order.
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}"
        with global_compiler_lock, (folder / name).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed  # pyright: ignore[reportOptionalMemberAccess]
            return compiled(self, sig)

    return compile_once
