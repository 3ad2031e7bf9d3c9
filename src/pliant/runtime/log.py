"""The logger "pliant": silent until a program asks for it; a line for each query, and at DEBUG one for each stage."""

from __future__ import annotations

import logging
import sys
import warnings
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


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning about the line outside of this package that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "pliant":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
