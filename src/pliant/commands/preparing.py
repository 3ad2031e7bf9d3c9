"""A verb for images and CI: warm."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from pliant.commands.running import CLEAN, Run, fault, verb


@verb
def warm(
    run: Run,
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUERY...]", help="Only what these need, such as ccd, scan or simulate."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also response, simulation, volumes and the other queries.")
    ] = False,
) -> int:
    """Compile all kernels of check, ccd, step, near and scan now, not on their first use: for images and CI.

    They are kept for this version and this kind of processor, in PLIANT_CACHE_DIR or the cache of the user.
    """
    from pliant.runtime import jit
    from pliant.warming import warm as compile_all
    from pliant.warming.pieces import MAIN, PIECES

    if jit.INTERPRETED or jit.CACHE_FOLDER is None:
        raise fault("nothing is compiled: kernels are interpreted, or there is no folder to keep them in")
    for name in queries or ():
        if name not in PIECES:
            raise fault(f"{name}: kernels are compiled for {', '.join(PIECES)}")
    if queries and everything:
        raise fault("--all is for everything, or name what is needed")
    clock = time.perf_counter()
    with run.bar("Kernels") as progress:
        count = compile_all(tuple(queries or (PIECES if everything else MAIN)), progress)
    run.say(f"{count} kernels are compiled, in {time.perf_counter() - clock:.1f} s: {jit.CACHE_FOLDER}")
    return CLEAN
