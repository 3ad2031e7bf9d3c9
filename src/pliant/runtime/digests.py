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
_IMPORT = re.compile(rb"^[ \t]*(?:from|import) (\w[\w.]*)(?: import (\([^)]*\)|[^\n]*))?", re.MULTILINE)


def common(package: Path, *versions: object) -> str:
    """What all compiled code depends on: versions, flags, and the layouts of tuples, which kernels are given by others
    and need not import; numba's own cache sees neither."""
    sha = hashlib.sha256(f"{versions} {sys.version_info[:2]}".encode())
    sha.update(os.environ.get("NUMBA_BOUNDSCHECK", "0").encode())
    for path in sorted(package.rglob("*.py")):
        for layout in _LAYOUT.findall(path.read_bytes()):
            sha.update(layout)
    return sha.hexdigest()[:16]


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
    folders = (module.partition(".")[0], own), ("pliant", package.parent)
    found, new = dict[str, bytes](), [(module, file)]
    while new:
        name, path = new.pop()
        if name not in found:
            found[name], imported = read(path, folders)
            new += imported
    return found


@functools.cache
def read(path: Path, folders: tuple[tuple[str, Path], ...]) -> tuple[bytes, tuple[tuple[str, Path], ...]]:
    """The digest of a source; names and files of the modules that it imports from folders, (name, where it is) each."""
    content, found = path.read_bytes(), dict[str, Path]()
    for match in _IMPORT.finditer(content):
        module, names = match[1].decode(), (match[2] or b"").decode()
        for folder in (folder for top, folder in folders if module.partition(".")[0] == top):
            for name in (module, *(f"{module}.{one}" for one in re.findall(r"\w+", names))):
                file = folder.joinpath(*name.split("."), "__init__.py")
                for one in (file.parent.with_suffix(".py"), file):
                    if one.is_file():
                        found[name] = one
    return hashlib.sha256(content).digest(), tuple(found.items())
