"""Where things are kept between runs, and which folders may be trusted: what is loaded from there is machine code."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import sys
import tempfile
from pathlib import Path

from pliant.runtime.terminal import complain

_PRIVATE = 0o700
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
MOST_LINKS = 40  # as many as Linux follows
_REMEDY = "set PLIANT_CACHE_DIR to a folder that only you can write"

_told: set[str] = set()


class _Untrusted(Exception):
    """Why a folder is no cache."""


def user_cache(kind: str, *inside: str) -> Path | None:
    """The folder for things of a kind, made if it is not there; None where there is none to be trusted.

    With PLIANT_CACHE_DIR, kernels are in that folder itself. A folder is used only if it belongs to the user and nobody
    else can write it or put another one in its place; else one line on standard error says why it is not.
    """
    place = _place(kind)
    if place is None:
        _tell(f"nothing is kept between runs: there is no home folder ({_REMEDY})")
        return None
    folder = place.joinpath(*inside)
    try:
        _prepare(folder, root=_folder_in("PLIANT_CACHE_DIR") or place.parent)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except _Untrusted as error:
        _tell(f"nothing is kept between runs: {error}")
    except OSError as error:
        _tell(f"nothing is kept between runs: {error.filename or folder}: {error.strerror or error}")
    return None


def _tell(line: str) -> None:
    if line not in _told:
        _told.add(line)
        complain(line)


def _place(kind: str) -> Path | None:
    chosen = _folder_in("PLIANT_CACHE_DIR")
    if chosen is not None:
        return chosen / ("" if kind == "kernels" else kind)
    if os.environ.get("PLIANT_CACHE_DIR"):
        _tell(f"PLIANT_CACHE_DIR={os.environ['PLIANT_CACHE_DIR']} is ignored: it is not an absolute path")
    home = _home()
    if sys.platform == "win32":
        base = _folder_in("LOCALAPPDATA") or (home and home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home and home / "Library" / "Caches"
    else:
        base = _folder_in("XDG_CACHE_HOME") or (home and home / ".cache")
    return base and base / "pliant" / kind


def _folder_in(variable: str) -> Path | None:
    """Empty and relative values do not count: they would mean the current folder, which may be anybody's."""
    value = os.environ.get(variable, "")
    return Path(value) if Path(value).is_absolute() else None


def _home() -> Path | None:
    """HOME, where it is absolute; else what the system knows of the user."""
    with contextlib.suppress(RuntimeError):
        if Path.home().is_absolute() and os.environ.get("HOME") != "":
            return Path.home()
    if sys.platform != "win32":
        import pwd

        with contextlib.suppress(KeyError):
            known = Path(pwd.getpwuid(os.getuid()).pw_dir)
            return known if known.is_absolute() else None
    return None


def _prepare(folder: Path, root: Path) -> None:
    """Make what is missing on the way down, each for the user alone, and see that nobody else can change the way.

    root : the first folder on it that is pliant's alone

    On Windows others have no access to the profile of a user, where the cache is by default, and mode 0700 keeps them
    out of folders that are made (as of Python 3.10.15, 3.11.10, 3.12.4); who may write a folder that is there already
    cannot be seen with what comes with Python.
    """
    if sys.platform == "win32":
        for above in (*reversed(folder.parents), folder):
            if not above.is_dir():
                above.mkdir(mode=_PRIVATE)
        return
    place, links = Path(folder.anchor), 0
    waiting = [(part, i >= len(root.parts) - 1) for i, part in enumerate(folder.parts)][:0:-1]
    while waiting:
        name, own = waiting.pop()
        if name == "..":
            place = place.parent  # not a link itself: those have been followed
            continue
        found = _look_at(place / name)
        if stat.S_ISLNK(found.st_mode):
            if links == MOST_LINKS or found.st_uid not in _owners():
                raise _Untrusted(f"{place / name} is a link in a circle, or belongs to somebody else")
            target, links = (place / name).readlink(), links + 1
            place = Path(target.anchor) if target.is_absolute() else place
            parts = target.parts[target.is_absolute() :]
            waiting += [(part, own and i == len(parts) - 1) for i, part in enumerate(parts)][::-1]
            continue
        place /= name
        _require_safe(place, found, own)


def _look_at(place: Path) -> os.stat_result:
    """At the folder itself, which is made if it is not there."""
    try:
        return os.lstat(place)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another process was faster
            place.mkdir(mode=_PRIVATE)
        return os.lstat(place)


def _require_safe(place: Path, found: os.stat_result, own: bool) -> None:
    """Whoever may write a folder may put another one in the place of those in it; not of other users if it is sticky.

    A folder of pliant's own belongs to the user, and nobody else may write it at all.
    """
    if not stat.S_ISDIR(found.st_mode):
        raise _Untrusted(f"{place} is not a folder")
    if found.st_uid != os.geteuid() and (own or found.st_uid not in _owners()):
        raise _Untrusted(f"{place} belongs to somebody else ({_REMEDY})")
    if found.st_mode & _OTHERS_MAY_WRITE and (own or not found.st_mode & stat.S_ISVTX):
        raise _Untrusted(f"others may write {place} (chmod go-w there, or {_REMEDY})")


@functools.cache
def _owners() -> frozenset[int]:
    """Who may own folders above the cache: the user and root."""
    owners = {0, os.geteuid()}
    with contextlib.suppress(OSError, ValueError, IndexError):
        # In a container of the user's own, root of the machine has no number and is shown as this one.
        if int(Path("/proc/self/uid_map").read_text("utf-8").split()[2]) < 2**32 - 1:
            owners.add(int(Path("/proc/sys/kernel/overflowuid").read_text("utf-8")))
    return frozenset(owners)
