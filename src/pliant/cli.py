"""The door of the command line: light to open, and it says what is missing. The verbs are in commands.py."""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `pliant ...`; ends in SystemExit, with a message instead of a traceback where it is not our fault."""
    try:
        from pliant.commands import app

        app(args=None if arguments is None else list(arguments), prog_name="pliant")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(f"The command line of pliant needs {package}, which is in an extra: pip install 'pliant[cli]'")
    except ValueError as error:
        from pliant import MeshError

        if not isinstance(error, MeshError):
            raise
        sys.exit(f"pliant: {error}")
