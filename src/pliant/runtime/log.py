"""The logger "pliant": silent until a program asks for it; a line for each query, and at DEBUG one for each stage."""

from __future__ import annotations

import logging
from typing import TypeVar

from pliant.runtime.tally import Tally

LOG = logging.getLogger("pliant")
LOG.addHandler(logging.NullHandler())

Result = TypeVar("Result")


def logged(name: str, about: object, result: Result, tally: Tally) -> Result:
    """A result, after its line: the query, what it was about, what was found, and the seconds since the tally began."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("%s of %r: %r, %.4f s", name, about, result, tally.elapsed)
    if LOG.isEnabledFor(logging.DEBUG):
        for stage in tally.stages():
            LOG.debug("%s, %s: %d pairs in, %d out, %.4f s of all threads", name, *stage)
    return result
