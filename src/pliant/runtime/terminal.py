"""What people read: one line on standard error, without characters that a terminal obeys; and streams that fail."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

# C0, DEL and C1; marks and overrides that turn the direction of text, and separators of lines that are none here.
_OBEYED = (*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_ESCAPED = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _OBEYED}
_ESCAPED |= {code: f"\\x{code - 0xDC00:02x}" for code in range(0xDC80, 0xDD00)}  # a byte of a name that is not UTF-8
_ESCAPED |= {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", 0x1B: "\\x1b"}


def printable(text: str) -> str:
    """The same text, on one line, with everything escaped that moves a cursor, hides or reorders what is shown.

    Names in files may hold anything, and whoever sends a file must not write to the terminal of who looks at it.
    """
    return text.translate(_ESCAPED).encode("utf-8", "backslashreplace").decode("utf-8")


def complain(message: str) -> None:
    """One line on standard error, where there is one: it may be closed, and that is no reason to fail."""
    if sys.stderr is None:  # print() would write to standard output then
        return
    with contextlib.suppress(OSError, ValueError):
        print(f"pliant: {printable(' '.join(message.split()))}", file=sys.stderr, flush=True)


class Nowhere(io.TextIOWrapper):
    """In place of a stream that was closed before Python began, as by `>&-`: what goes there is lost."""

    def __init__(self) -> None:
        super().__init__(io.FileIO(os.devnull, "r+"), encoding="utf-8", errors="backslashreplace")


@contextlib.contextmanager
def to_standard_output() -> Iterator[None]:
    """Errors of writing say where."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.strerror and not isinstance(error, BrokenPipeError):
            error.filename = "standard output"
        raise


def flushed(stream: TextIO | None) -> OSError | None:
    """Write what is left in a stream; where that fails, the error, and it is lost.

    Python would try again at its end, and then end in a code of its own.
    """
    if stream is None:
        return None
    try:
        stream.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        return error
    except ValueError:  # closed by somebody
        pass
    return None
