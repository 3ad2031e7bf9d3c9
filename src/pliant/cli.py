"""The door of the command line: light to open, and errors end here, in one line. The verbs are in commands/."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Sequence

FAILED = 2
INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `pliant ...`; ends in SystemExit: 0 nothing found, 1 something found, 2 an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be text
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        message = _message(error)
        if message is None:
            traceback.print_exc()
            message = "this is a fault of pliant, not of yours; please report it with the lines above"
        print(f"pliant: {' '.join(message.split())}", file=sys.stderr)
        code = FAILED
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    from pliant._extras import needed

    with needed("typer", "the command line"), needed("rich", "the command line"):
        from pliant.commands import app

        # Not standalone: typer's own errors take several lines.
        return int(app(args=arguments or ["--help"], prog_name="pliant", standalone_mode=False) or 0)


def _message(error: Exception) -> str | None:
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
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if isinstance(error, MemoryError):
        return f"out of memory {error}; look at fewer frames or a smaller mesh"
    return None
