"""The door of the command line: light to open, and errors end here, in one line. The verbs are in commands/.

Exit code 1 says that something was found, and nothing else does: not an error, not a full disk, not a closed pipe.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from types import FrameType

from pliant.runtime.terminal import Nowhere, complain, flushed

FOUND, FAILED = 1, 2
INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended
PIPE_CLOSED = 141  # for one that wrote to nobody
_ENDED_BY = 128  # for one that a signal ended: this and its number


class Terminated(BaseException):
    """A signal that asks the process to end, which it does after all that is unfinished is removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = _ENDED_BY + number


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `pliant ...`; ends in SystemExit: 0 nothing found, 1 something found, 2 an error."""
    _require_streams()
    try:
        with _signals():
            code = _code(sys.argv[1:] if arguments is None else list(arguments))
    except Terminated as ended:
        code = ended.code
    sys.exit(_after_flushing(code))


def _code(arguments: list[str]) -> int:
    """Run a verb: how it ended, in a number, whatever happened."""
    try:
        return _run(arguments)
    except Terminated:
        raise
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as ended:  # of a library: typer ends in 1 where nobody reads its help
        if isinstance(ended.__context__, OSError) and _nobody_reads(ended.__context__):
            return PIPE_CLOSED
        return FAILED if ended.code else 0
    except BaseException as error:
        return _explained(error)


def _explained(error: BaseException) -> int:
    """Say what went wrong, in one line if it is not our fault."""
    if isinstance(error, OSError) and _nobody_reads(error):
        return PIPE_CLOSED
    failed = flushed(sys.stdout)
    if failed is not None and isinstance(error, OSError) and error.filename is None:
        error = OSError(failed.errno, failed.strerror, "standard output")
    try:
        message = _message(error)
    except Exception:  # out of memory once more
        message = f"{type(error).__name__}"
    if message is None:
        with contextlib.suppress(OSError, ValueError):
            traceback.print_exc()
        message = "this is a fault of pliant, not of yours; please report it with the lines above"
    complain(message)
    return FAILED


def _after_flushing(code: int) -> int:
    """The code, unless what was said could not be written to the end."""
    failed = flushed(sys.stdout)
    if failed is not None and code in (0, FOUND):
        code = PIPE_CLOSED if _nobody_reads(failed) else FAILED
        if code == FAILED:
            complain(f"standard output: {failed.strerror}")
    flushed(sys.stderr)
    return code


def _nobody_reads(error: OSError) -> bool:
    windows = sys.platform == "win32" and error.errno == errno.EINVAL and error.filename in (None, "standard output")
    return isinstance(error, BrokenPipeError) or windows


def _require_streams() -> None:
    """Streams that are closed lead nowhere, and names that are not text can be printed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # or the next file that is opened would be standard output to some library
    sys.stdout = sys.stdout or Nowhere()
    sys.stderr = sys.stderr or Nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """SIGTERM and a terminal that is closed end the run as Ctrl-C does: nothing unfinished is left behind."""

    def end(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one must not end the clean-up
        raise Terminated(number)

    before = {}
    with contextlib.suppress(ValueError):  # in another thread than the main one
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(arguments: list[str]) -> int:
    from pliant.runtime.extras import needed

    with needed("typer", "the command line"), needed("rich", "the command line"):
        from pliant.commands import app

        # Not standalone: typer's own errors take several lines.
        return int(app(args=arguments or ["--help"], prog_name="pliant", standalone_mode=False) or 0)


def _message(error: BaseException) -> str | None:
    """What a user should read of an error; None where it is not the user's."""
    if hasattr(error, "format_message"):  # typer's: a wrong option or argument
        context = getattr(error, "ctx", None)
        where = context.command_path if context else "pliant"
        return f"{error.format_message().rstrip('.')} ({where} --help lists what there is)"  # pyright: ignore
    if isinstance(error, ModuleNotFoundError):
        return str(error) if "pip install" in str(error) else None
    from pliant import MeshError

    if isinstance(error, MeshError):
        return str(error)
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{error.filename}: there is no such file"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if isinstance(error, MemoryError):
        return f"out of memory {error}; look at fewer frames or a smaller mesh"
    return None
