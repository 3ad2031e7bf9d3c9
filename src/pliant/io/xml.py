"""XML without its dangers: nothing that a document type could declare; names of files that stay in their folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree import ElementTree
from xml.parsers import expat

from .mesh import FileError


def parse(path: Path, content: bytes) -> ElementTree.Element:
    """The root. A document type may be named, and is not looked for; what it declares is refused before it is looked
    at: entities can grow without bound, or name other files, and so can the defaults of attributes."""

    def refuse(*_: object) -> None:
        raise FileError(f"{path.name}: its document type declares entities or the like; that is not read")

    guard = expat.ParserCreate()
    guard.EntityDeclHandler = refuse
    guard.AttlistDeclHandler = refuse
    guard.ElementDeclHandler = refuse
    guard.NotationDeclHandler = refuse
    guard.SkippedEntityHandler = refuse  # one that the document type would have declared
    builder = ElementTree.TreeBuilder()
    guard.StartElementHandler = builder.start
    guard.EndElementHandler = builder.end
    guard.CharacterDataHandler = builder.data
    guard.buffer_text = True
    try:
        guard.Parse(content, True)
        return builder.close()
    except (expat.ExpatError, AssertionError, ValueError, LookupError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path.name}: is not XML ({error})") from error


def beside(path: Path, name: str) -> Path:
    """The file of a name that `path` gives, in its folder or below; it must exist."""
    # Names are those of any system: a file that is harmless here must not be a way out of the folder elsewhere.
    windows = PureWindowsPath(name)
    if not name or "\0" in name or ".." in windows.parts or windows.anchor or PurePosixPath(name).is_absolute():
        raise FileError(f"{path.name}: refers to {name[:80]!r}, which is outside of its folder")
    found = path.parent / name
    try:
        exists = found.is_file()
    except OSError:  # a name that is too long, on some systems
        exists = False
    if not exists:
        raise FileError(f"{path.name}: refers to {name[:80]!r}, which does not exist")
    return found


def count(path: Path, element: ElementTree.Element, key: str, default: str | None = None) -> int:
    """A number that is not negative, of an attribute."""
    text = element.get(key, default)
    try:
        value = int(text if text is not None else "")
    except ValueError:
        raise FileError(f"{path.name}: {element.tag} has {key}={text!r}, which is no number") from None
    if value < 0:
        raise FileError(f"{path.name}: {element.tag} has {key}={value}")
    return value
