"""What people read: one line on standard error, without characters that a terminal would obey."""

from __future__ import annotations

import contextlib
import sys

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
