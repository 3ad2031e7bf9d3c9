"""A process that compiles: ``python -m pliant.warming ccd step``. It ends when its input does, hence with who began it.

It starts with the kernels that are called last, since who began it starts with those that are called first. What
another process is compiling is left to that one.
"""

from __future__ import annotations

import os
import sys
import threading

from pliant.warming import compile_kernels, kernels


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_input, daemon=True).start()
    compile_kernels(kernels(sys.argv[1:])[::-1])
