"""Docstrings of the house as Markdown: lines `name : what it is` become a list. An extension of griffe."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ENTRY = re.compile(r"^([*\w][\w.*, ]*?) : (.*)$")


class Entries(griffe.Extension):
    """Changes the docstring of every object that is loaded."""

    def on_instance(self, *, obj: Any, **kwargs: Any) -> None:
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """A list in place of the lines that name a parameter or an attribute; what is indented below one belongs to it."""
    lines: list[str] = []
    inside = False
    for line in docstring.splitlines():
        entry = _ENTRY.match(line)
        if entry:
            if not inside:
                lines.append("")
            names = ", ".join(f"`{name.strip()}`" for name in entry[1].split(","))
            lines.append(f"- {names}: {entry[2]}")
        else:
            if inside and line.strip() and not line.startswith(" "):
                lines.append("")
            lines.append(line)
        inside = bool(entry) or (inside and line.startswith(" "))
    return "\n".join(lines)
