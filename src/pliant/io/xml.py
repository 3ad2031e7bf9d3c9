"""XML without its dangers: nothing that a document type could declare."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from pliant.io.mesh import FileError


def parse(path: Path, content: bytes) -> ElementTree.Element:
    """The root. A document type may be named, and is not searched for; what it declares is refused before it is looked
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


def local(name: str) -> str:
    """The name of an element or an attribute without its prefix."""
    return name.rpartition(":")[2]


def count(path: Path, element: ElementTree.Element, key: str, default: str | None = None) -> int:
    """A number that is not negative, of an attribute."""
    text = element.get(key, default)
    try:
        value = int(text if text is not None else "")
    except ValueError:
        raise FileError(f"{path.name}: {element.tag} has {key}={text!r}, which is not a number") from None
    if value < 0:
        raise FileError(f"{path.name}: {element.tag} has {key}={value}")
    return value
