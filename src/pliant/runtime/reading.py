"""What reading a file may take: the bytes that it may expand to, and the files that it may refer to.

One rule for all formats. What is read later, such as a frame of a sequence, carries the `Reading` of its file along;
readers find it by `current()`, wherever they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

from pliant.runtime.arrays import MeshError, OptionError

# Whatever a small file expands to fits into the memory of any machine, copies on the way included.
LEAST_BUDGET = 2**28
# Numbers of a mesh shrink to a tenth at best, and become twice as large as float64. What shrinks more is a constant.
MOST_EXPANSION = 64


class FileError(MeshError):
    """A file is missing, cut off or not what its name says; the message names the file, and the line where it can."""


class Allowed(NamedTuple):
    """What the user asked for.

    budget : bytes that a file may expand to; None for a multiple of its size
    outside : whether files outside of its folder may be read
    """

    budget: int | None = None
    outside: bool = False


class Reading:
    """One file that is read, with all that it refers to.

    path : as the user named it. It may be a symbolic link; its folder is the one that the name is in.
    """

    def __init__(self, path: Path, allowed: Allowed = Allowed()) -> None:  # noqa: B008 (a tuple of constants)
        self.name, self.allowed = path.name, allowed
        self._folder = Path(os.path.normpath(Path.cwd() / path)).parent
        self._sizes: dict[Path, int] = {}
        self._spent = 0
        self.count(path)

    def count(self, path: Path) -> None:
        """A file that is read: what all may expand to together depends on their sizes."""
        if path not in self._sizes:
            try:
                self._sizes[path] = path.stat().st_size
            except OSError:  # named later, by who opens it
                self._sizes[path] = 0

    def again(self) -> Reading:
        """The same file, of which nothing is held: frames are read one by one."""
        copy = Reading.__new__(Reading)
        copy.__dict__.update(self.__dict__, _sizes=dict(self._sizes), _spent=0)
        return copy

    def moved(self, copy: Path) -> Reading:
        """The same file, unpacked in another folder: what that expands to is still held against what was packed."""
        other = self.again()
        other._folder, other._spent = Path(os.path.normpath(Path.cwd() / copy)).parent, self._spent
        other._sizes[copy] = 0
        return other

    @property
    def budget(self) -> int:
        """Bytes in all."""
        if self.allowed.budget is not None:
            return self.allowed.budget
        return max(LEAST_BUDGET, MOST_EXPANSION * sum(self._sizes.values()))

    @property
    def left(self) -> int:
        return self.budget - self._spent

    def charge(self, size: int, what: str = "") -> None:
        """Called before so many bytes are allocated: an error where that is more than is left of the budget."""
        if size < 0:  # else a file could give itself more
            raise FileError(f"{self.name}: {f'{what}: ' * bool(what)}declares {size:,} bytes")
        self.require(size, what)
        self._spent += size

    def require(self, size: int, what: str = "") -> None:
        """The same of what is only announced, or held for a moment."""
        if size > self.left:
            whole = sum(self._sizes.values())
            raise FileError(
                f"{self.name}: {f'{what}: ' * bool(what)}{whole:,} bytes would become more than {self.budget:,}; "
                "a larger budget= (--budget) reads it"
            )

    def beside(self, file: Path, name: str) -> Path:
        """The file of a name that `file` gives, relative to its folder. It must exist, and be where it may be."""
        # Names are those of any system: a file that is harmless here must not be a way out of the folder elsewhere.
        windows, own = PureWindowsPath(name), Path(name)
        foreign = (bool(windows.anchor) and not own.is_absolute()) or (".." in windows.parts and ".." not in own.parts)
        if not name or "\0" in name:
            raise FileError(f"{file.name}: refers to {name[:80]!r}, which is no name of a file")
        found = Path(os.path.normpath(file.parent / name))
        if not self.allowed.outside and (foreign or not self._names_inside(found)):
            raise self._refused(file, name)
        try:
            exists = found.is_file()
        except (OSError, ValueError):  # a name that is too long, on some systems
            exists = False
        if not exists:
            raise FileError(f"{file.name}: refers to {name[:80]!r}, which does not exist")
        self.require_inside(file, found)
        self.count(found)
        return found

    def require_inside(self, file: Path, found: Path) -> None:
        """What `file` refers to, links followed to their ends, is in the folder of the file that was asked for."""
        if self.allowed.outside:
            return
        folder = os.path.realpath(self._folder)
        if not self._names_inside(found) or not _is_in(os.path.realpath(found), folder):
            raise self._refused(file, found.name)

    def _names_inside(self, path: Path) -> bool:
        """By the name alone: nothing is asked of another folder, which may be on another machine."""
        named = os.path.normpath(Path.cwd() / path)
        return _is_in(named, str(self._folder)) or _is_in(named, os.path.realpath(self._folder))

    def _refused(self, file: Path, name: str) -> FileError:
        return FileError(
            f"{file.name}: refers to {name[:80]!r}, which is outside of its folder; "
            "outside=True (--allow-outside) reads it"
        )


def _is_in(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([os.path.normcase(path), os.path.normcase(folder)]) == os.path.normcase(folder)
    except ValueError:  # on another drive
        return False


_ALLOWED: ContextVar[Allowed] = ContextVar("allowed", default=Allowed())  # noqa: B039 (a tuple of constants)
_CURRENT: ContextVar[Reading | None] = ContextVar("reading", default=None)


def current() -> Reading:
    """What is being read; where nothing was said about it, each part by itself."""
    return _CURRENT.get() or Reading(Path("file"), _ALLOWED.get())


@contextmanager
def allowing(budget: int | None = None, outside: bool = False) -> Iterator[None]:
    """For all files that are opened inside."""
    token = _ALLOWED.set(Allowed(checked_budget(budget), outside))
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def checked_budget(budget: Any) -> int | None:
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget < 2**63:
        raise OptionError(f"budget={budget!r} must be a positive number of bytes")
    return int(budget)


@contextmanager
def reading(path: str | os.PathLike[str], budget: int | None = None, outside: bool = False) -> Iterator[Reading]:
    """Read a file that was asked for: by the user, or, with what was allowed then, by another that is being read."""
    above = _CURRENT.get()
    before = _ALLOWED.get() if above is None else above.allowed
    given = checked_budget(budget)
    allowed = Allowed(before.budget if given is None else given, before.outside or outside)
    with carrying(Reading(Path(path), allowed)) as one:
        yield one


@contextmanager
def carrying(one: Reading) -> Iterator[Reading]:
    """Inside, `current()` is `one`. What the system says is wrong becomes an error that names the file."""
    token = _CURRENT.set(one)
    try:
        yield one
    except OSError as error:
        raise FileError(f"{one.name}: {error.strerror or error or type(error).__name__}") from error
    except MemoryError as error:
        raise FileError(f"{one.name}: there is not enough memory for it") from error
    except RecursionError as error:
        raise FileError(f"{one.name}: is nested too deeply") from error
    finally:
        _CURRENT.reset(token)
