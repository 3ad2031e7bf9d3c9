"""Which files a call reads and which it writes: none is both, and none is written twice. Said before any work."""

from __future__ import annotations

import glob
import inspect
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from pliant.commands.options import STANDARD

# Of all parameters that are paths, arguments are read and options are written; but for these.
_READ_OPTIONS = {"mesh", "baseline", "of", "on", "restore", "fixed", "reference"}
_WRITTEN_ARGUMENTS = {"target"}
_OUT = "out"  # where a verb has an option of this name and it is not given, the last of several arguments is written
_NUMBER = re.compile(r"%0?\d*d|\*|#+")


class Place(NamedTuple):
    """A path that the user gave, and what for."""

    path: Path
    name: str  # of the option or the argument
    written: bool
    run: int = 0  # of several runs, the one whose file has a name made from what the user gave

    @property
    def whose(self) -> str:
        return f"{self.name} of run {self.run}" if self.run else self.name

    @property
    def words(self) -> str:
        return f"{self.whose}, {self.path}," if self.run else f"{self.name} {self.path}"


def places_of(parameters: Iterable[inspect.Parameter], given: dict[str, Any]) -> list[Place]:
    """All that the user named, but for standard input and output."""
    last_is_written = _OUT in given and given[_OUT] is None
    return [
        place
        for one in parameters
        for place in _places(one, given.get(one.name), last_is_written)
        if place.path != STANDARD
    ]


def require_apart(places: Iterable[Place]) -> None:
    """An error where a file would be read and written, or written twice."""
    places = list(places)
    written = [place for place in places if place.written]
    if not written:
        return
    for i, place in enumerate(written):
        for other in written[:i]:
            if (_same(place.path, other.path) or _same(other.path, place.path)) and not _same(
                place.path, Path(os.devnull)
            ):
                raise _fault(f"{other.whose} and {place.whose} name the same file, {place.path}; give each its own")
    for place in places:
        for member in () if place.written else _members(place.path):
            for output in written:
                if _same(output.path, member):
                    raise _fault(f"{output.words} would replace a file that is read; name another one")


def _places(parameter: inspect.Parameter, value: Any, last_is_written: bool) -> Iterator[Place]:
    info = next((one for one in get_args(parameter.annotation) if isinstance(one, ParameterInfo)), None)
    argument = isinstance(info, ArgumentInfo)
    written = parameter.name in _WRITTEN_ARGUMENTS if argument else parameter.name not in _READ_OPTIONS
    every = value if isinstance(value, list | tuple) else (value,)
    for number, one in enumerate(every, 1):
        is_last = argument and last_is_written and number == len(every) > 1
        if isinstance(one, Path) or (argument and isinstance(one, str)):
            yield Place(Path(one), "OUT" if is_last else _name(parameter, info), written or is_last)


def _name(parameter: inspect.Parameter, info: ParameterInfo | None) -> str:
    if isinstance(info, ArgumentInfo):
        return str(info.metavar or parameter.name.upper())
    declared = info.param_decls if isinstance(info, OptionInfo) else None
    return next(iter(declared or ()), "--" + parameter.name.replace("_", "-"))


def _members(path: Path) -> Iterator[Path]:
    """The files that an input stands for: itself, those of a pattern, those of a folder."""
    if path.is_dir():
        yield from path.iterdir()
    elif path.exists():
        yield path
    elif glob.has_magic(str(path)):
        yield from map(Path, glob.glob(str(path), recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
    if not path.exists() and path.parent.is_dir() and _NUMBER.search(path.name):
        fits = _pattern(path.name)
        yield from (other for other in path.parent.iterdir() if fits.fullmatch(other.name))


def _pattern(name: str) -> re.Pattern[str]:
    """What names the files of a pattern may have: more rather than fewer."""
    return re.compile(".*".join(map(re.escape, _NUMBER.split(name))), re.DOTALL)


def _same(a: Path, b: Path) -> bool:
    """Whether writing to a would write to b; the name of a may stand for numbered files."""
    try:
        return a.samefile(b)  # hard links and other spellings too
    except OSError:
        pass
    if _key(a) == _key(b):
        return True
    numbered = _NUMBER.search(a.name) and not a.exists()
    return bool(numbered and _key(a.parent) == _key(b.parent) and _pattern(a.name).fullmatch(b.name))


def _key(path: Path) -> str:
    """Equal for paths of one file that need not be there yet."""
    real = os.path.normcase(os.path.realpath(path))
    return unicodedata.normalize("NFC", real).casefold() if sys.platform == "darwin" else real


def _fault(message: str) -> ValueError:
    from pliant.runtime.arrays import OptionError

    return OptionError(message)
