"""What was examined, and what was found in it, as continuous integration sees it: cases, each with its offences."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

# What the two of a pair are: of one kind, the second is not named again.
NOUNS = {
    "face-face": ("faces", ""),
    "vertex-face": ("vertex", "face"),
    "edge-edge": ("edges", ""),
    "inverted-cell": ("cell", ""),
}
STANDARD_INPUT = "standard input"


class Key(NamedTuple):
    """Where offences are: in a file, or between two; of a sequence in one frame."""

    files: tuple[str, ...]
    kind: str  # of NOUNS
    clip: str | None = None
    frame: int | None = None


class Offences(NamedTuple):
    """Pairs of one kind, in one frame."""

    kind: str  # of NOUNS
    ids: np.ndarray  # (k, 2) integers, by the numbers of the file; of two files, one in each; of a cell, twice its own
    at: np.ndarray | None  # (k, 3) where, if that is known
    frame: int | None = None
    parts: np.ndarray | None = None  # (k, 2) names of those that the two belong to, where they have names

    def chosen(self, rows: np.ndarray) -> Offences:
        """Some of them, by a mask."""
        at, parts = (None if some is None else some[rows] for some in (self.at, self.parts))
        return self._replace(ids=self.ids[rows], at=at, parts=parts)


class Case(NamedTuple):
    """One file, two files against each other, or one clip of a file."""

    files: tuple[str, ...]
    offences: tuple[Offences, ...] = ()
    clip: str | None = None
    error: str = ""  # why it could not be examined
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return " with ".join(self.files) + (f", clip {self.clip}" if self.clip is not None else "")

    @property
    def total(self) -> int:
        return sum(len(some.ids) for some in self.offences)

    def key(self, some: Offences) -> Key:
        return Key(self.files, some.kind, self.clip, some.frame)


def words_of(case: Case, some: Offences, row: int) -> str:
    """One offence in words."""
    a, b = some.ids[row].tolist()
    frame = "" if some.frame is None else f"frame {some.frame}: "
    at = "" if some.at is None else f" at ({', '.join(f'{value:.6g}' for value in some.at[row])})"
    if some.kind == "inverted-cell":
        return f"{frame}cell {a} is inverted or flat{at}"
    does = "intersect" if some.kind == "face-face" else "touch"
    (first, second), (noun, other) = _owners(case, some, row), NOUNS[some.kind]
    other = f"{other} {b}".lstrip()
    return f"{frame}{noun} {a}{first if first != second else ''} and {other}{second} {does}{at}"


def _owners(case: Case, some: Offences, row: int) -> list[str]:
    """What the two of a pair belong to, in words: their files where these differ, and parts where they have names."""
    parts = ("", "") if some.parts is None else some.parts[row].tolist()
    files = ("", "") if case.files[0] == case.files[-1] else case.files
    both = (" of ".join(name for name in pair if name) for pair in zip(parts, files))
    return [f" of {words}" if words else "" for words in both]


def first_words(case: Case, most: int) -> Iterator[str]:
    """The first offences in words, and how many there are besides."""
    left = most
    for some in case.offences:
        for row in range(min(left, len(some.ids))):
            yield words_of(case, some, row)
        left -= min(left, len(some.ids))
    if case.total > most:
        yield f"... and {case.total - most:,} more"


def summary(case: Case) -> str:
    """ "430 pairs of triangles intersect, 12 contacts"."""
    crossing = sum(len(some.ids) for some in case.offences if some.kind == "face-face")
    inverted = sum(len(some.ids) for some in case.offences if some.kind == "inverted-cell")
    contacts = case.total - crossing - inverted
    pairs = "1 pair of triangles intersects" if crossing == 1 else f"{crossing:,} pairs of triangles intersect"
    touching = "1 contact" if contacts == 1 else f"{contacts:,} contacts"
    turned = "1 cell is inverted or flat" if inverted == 1 else f"{inverted:,} cells are inverted or flat"
    said = [pairs] * (crossing > 0) + [touching] * (contacts > 0) + [turned] * (inverted > 0)
    return ", ".join(said) or "clean"


def relative_name(name: str, folder: Path) -> str:
    """How a file is called from a folder, with slashes on every system."""
    if name == STANDARD_INPUT:
        return name
    try:
        return Path(os.path.relpath(name, folder)).as_posix()
    except ValueError:  # on another drive
        return Path(name).absolute().as_posix()


def total_of(cases: Iterable[Case]) -> int:
    return sum(case.total for case in cases)
