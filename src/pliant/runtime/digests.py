"""What the kernels of a module depend on, in one number: sources, layouts of named tuples, versions and flags."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_LAYOUT = re.compile(rb"^class \w+\(NamedTuple\):\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)
_NAME = re.compile(r"\w+")
_IMPORT = re.compile(rb"^[ \t]*(?:from|import) (\w[\w.]*)(?: import (\([^)]*\)|[^\n]*))?", re.MULTILINE)


def common(package: Path, *versions: object) -> str:
    """What all compiled code depends on: versions, flags, and the layouts of tuples, which kernels are given by others
    and need not import; numba's own cache sees neither."""
    sha = hashlib.sha256(f"{versions} {sys.version_info[:2]}".encode())
    sha.update(os.environ.get("NUMBA_BOUNDSCHECK", "0").encode())
    for _, path in sorted(modules(package).items()):
        content = path.read_bytes()
        for layout in _LAYOUT.findall(content) if b"(NamedTuple)" in content else ():
            sha.update(layout)
    return sha.hexdigest()[:16]


@functools.cache
def modules(package: Path) -> dict[str, Path]:
    """The files of all modules of the package, by name. Listed once: to ask for each name that is imported whether it
    is a module takes longer than all the rest."""
    found, top = dict[str, Path](), len(str(package.parent)) + 1
    for folder, _, files in os.walk(package):
        inside = folder[top:].replace(os.sep, ".")
        for name in files:
            if name.endswith(".py"):
                module = inside if name == "__init__.py" else f"{inside}.{name[:-3]}"
                found[module] = Path(folder, name)
    return found


def digest(module: str, file: Path, package: Path = PACKAGE) -> str:
    """What the kernels of a module depend on beside that: its source and those of all that it imports."""
    sha = hashlib.sha256()
    for name, content in sorted(behind(module, file, package).items()):
        sha.update(name.encode() + content)
    return sha.hexdigest()[:16]


def behind(module: str, file: Path, package: Path = PACKAGE) -> dict[str, bytes]:
    """Digests of the sources of a module and of all that it imports from its own top folder and from the package:
    constants and helpers are compiled in. numba's own cache sees no edits in other files."""
    own = (file.parent if file.name == "__init__.py" else file).parents[module.count(".")]
    top, found, new = module.partition(".")[0], dict[str, bytes](), [(module, file)]
    while new:
        name, path = new.pop()
        if name not in found:
            found[name], imported = _seen(path, top, own, package)
            new += imported
    return found


@functools.cache
def _seen(path: Path, top: str, own: Path, package: Path) -> tuple[bytes, tuple[tuple[str, Path], ...]]:
    """The digest of a source, and what it imports from the two folders: most sources are behind many others."""
    content, imported = read(path)
    places = ((name, _file_of(name, top, own, package)) for name in imported)
    return content, tuple((name, place) for name, place in places if place is not None)


@functools.cache
def read(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """The digest of a source, and names of what it imports; of some, only their beginnings are modules."""
    content = path.read_bytes()
    found = dict[str, None]()
    for match in _IMPORT.finditer(content):
        module, names = match[1].decode(), (match[2] or b"").decode()
        found |= dict.fromkeys((module, *(f"{module}.{one}" for one in _NAME.findall(names))))
    return hashlib.sha256(content).digest(), tuple(found)


@functools.cache
def _file_of(name: str, top: str, own: Path, package: Path) -> Path | None:
    """Of a module in one of two folders: the package, and what the module with the kernels is in. None of others."""
    first = name.partition(".")[0]
    if first == package.name:
        return modules(package).get(name)
    if first == top:
        place = own.joinpath(*name.split("."))
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
    return None
