"""Kernels compiled ahead of their first use, by several processes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.runtime.ahead import Wanted


def kernels(pieces: Iterable[str]) -> list[Wanted]:
    """Those that these queries call (names in ``pieces``), each once, in the order of their first call."""
    import numpy as np

    from pliant.runtime.ahead import kernels_of
    from pliant.warming.pieces import PIECES

    with np.errstate(all="ignore"):  # interpreted, numpy warns of what kernels compute without
        return kernels_of([PIECES[name] for name in pieces])


def compile_kernels(wanted: Sequence[Wanted]) -> None:
    """All but those that other processes are compiling."""
    for one in wanted:
        one.compile(patience=0.0)


def warm(pieces: Sequence[str], progress: Callable[[int, int], object] | None = None) -> int:
    """Compile all kernels of these queries, in as many processes as there are cores, and load them.

    progress : called with (kernels done, kernels in all)
    """
    from pliant.runtime import jit
    from pliant.runtime.processes import process_count, started

    jit.ANNOUNCER.is_done = True
    others = [started(*pieces) for _ in range(process_count() - 1)]
    try:
        wanted = kernels(pieces)
        for done, one in enumerate(wanted):
            if progress:
                progress(done, len(wanted))
            one.compile()
        if progress:
            progress(len(wanted), len(wanted))
    finally:
        for process in others:
            process.kill()
            process.wait()
    return len(wanted)
