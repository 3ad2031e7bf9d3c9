"""Kernels that a query will call, found without compiling any, so that several processes can share them out.

The list cannot drift from the truth: it is what the query itself calls, with the types that it calls it with, while it
runs interpreted. Only for processes that do nothing else: meanwhile every kernel of the process is interpreted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numba.core.dispatcher import Dispatcher

from pliant.runtime import jit, simd


class Wanted(NamedTuple):
    """A kernel, and the types that it is called with."""

    kernel: Any
    types: tuple[Any, ...]

    @property
    def name(self) -> str:
        return f"{self.kernel.py_func.__module__}.{self.kernel.py_func.__qualname__}"

    def compile(self, patience: float = jit.PATIENCE) -> None:
        """Load it, or compile and keep it; wait so long where another process does."""
        jit.compile_once(self.kernel, self.types, patience)


def kernels_of(queries: Iterable[Callable[[], object]]) -> list[Wanted]:
    """In the order in which they are called for the first time."""
    found: dict[Wanted, None] = {}
    with _interpreted(lambda one: found.setdefault(one)):
        for query in queries:
            query()
    return list(found)


@contextmanager
def _interpreted(note: Callable[[Wanted], object]) -> Iterator[None]:
    here = threading.local()  # kernels that kernels call are compiled with them

    def instead(kernel: Any, *arguments: Any) -> Callable[..., Any]:
        depth = getattr(here, "depth", 0)
        if not depth:
            note(Wanted(kernel, tuple(kernel.typeof_pyval(one) for one in arguments)))

        def call(*arguments: Any) -> Any:
            here.depth = depth + 1
            try:
                return kernel.py_func(*arguments)
            finally:
                here.depth = depth

        return call

    compiled: Any = Dispatcher
    markers = type(jit.prefetch)  # what helpers call that makes no code: Python has nothing to do for it
    before = compiled._compile_for_args, markers.__call__
    compiled._compile_for_args, markers.__call__ = instead, _plainly
    try:
        yield
    finally:
        compiled._compile_for_args, markers.__call__ = before


def _plainly(marker: Any, *arguments: Any) -> Any:
    plain = simd.IN_PYTHON.get(marker)
    return None if plain is None else plain(*arguments)
