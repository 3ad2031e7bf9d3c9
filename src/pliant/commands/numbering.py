"""Files that are frames of one sequence: whether they look so, and one name for all ways to spell them."""

from __future__ import annotations

import re
from pathlib import Path

from pliant.commands.options import STANDARD
from pliant.io.numbered import files_of, pattern_of
from pliant.runtime.arrays import OptionError

_NUMBER = re.compile(r"\d+(\.\d+)?")  # of a frame, or its time
_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")


def require_numbered(files: list[Path]) -> None:
    """An error where files differ in more than one number: they are meshes that have little to do with each other."""
    if len(files) < 2 or _are_numbered(files):
        return
    first = _without_numbers(files[0])
    other = next((path for path in files if _without_numbers(path) != first), files[1])
    raise OptionError(
        f"{files[0].as_posix()} and {other.as_posix()}: these do not look like one numbered sequence; look at meshes "
        "with pliant check A B ..., at each as a sequence with pliant scan --each, at one motion with pliant ccd A B"
    )


def _are_numbered(files: list[Path]) -> bool:
    before, _, after = pattern_of(files).partition("*")
    numbers = [path.name[len(before) : len(path.name) - len(after)] for path in files]
    one_folder = len({path.parent.resolve() for path in files}) == 1
    return one_folder and all(map(_NUMBER.fullmatch, numbers))


def _without_numbers(path: Path) -> tuple[Path, str]:
    return path.parent, _NUMBER.sub("*", path.name)


def shown(path: Path) -> str:
    """How messages call a file."""
    return "standard input" if path == STANDARD else path.as_posix()


def shown_all(files: list[Path]) -> str:
    """How the files of a sequence are called: with * for the number, whether the user wrote that, #### or %04d, named
    their folder, or had a shell list them."""
    found = files
    if len(files) == 1 and files[0] != STANDARD and not (files[0] / "d3plot").is_file():
        found = files_of(files[0])
    if len(found) == 1 and not files[0].exists():  # the only one that fits
        stem = _LAST_NUMBER.sub("*", found[0].stem)
        return found[0].with_name(stem + found[0].suffix).as_posix()
    return (found[0].parent / pattern_of(found)).as_posix() if len(found) > 1 else shown(files[0])
