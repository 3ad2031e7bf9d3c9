"""Python's collector of garbage, switched off while something makes many objects and keeps most of them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No collections meanwhile, in any thread; those of a program that has switched them off stay off.

    What is in no circle is freed all the same. The compiler makes some million objects for a kernel, most of which it
    keeps: to go through them again and again took 5 % of the time, and leaving it took 3 % more memory.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
