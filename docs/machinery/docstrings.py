"""Docstrings as Markdown: lines `name : what it is` and sections of numpydoc become lists. An extension of griffe.

Both kinds are read here, and not by the parser of griffe: a docstring need not have sections.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ENTRY = re.compile(r"^([*\w][\w.*, ]*?) : (.*)$")
# Sections whose unindented lines are entries; the text of others (Notes, Examples) stays as it is.
_LISTS = ("Parameters", "Other Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes", "Methods")


class Entries(griffe.Extension):
    """Changes the docstring of every object that is loaded."""

    def on_instance(self, *, obj: Any, **kwargs: Any) -> None:
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """A list in place of the lines that name a parameter or an attribute; what is indented below one belongs to it."""
    lines: list[str] = []
    inside, section = False, ""
    given = docstring.splitlines()
    for number, line in enumerate(given):
        below = given[number + 1] if number + 1 < len(given) else ""
        if re.fullmatch(r"-{3,}", line) and section:
            continue
        if line and re.fullmatch(r"-{3,}", below):
            section, inside = line, False
            lines += [f"**{line}**", ""]
            continue
        entry = _entry(line, below, section)
        if entry:
            if not inside and not section:
                lines.append("")
            lines.append(entry)
        else:
            if inside and line.strip() and not line.startswith(" "):
                lines.append("")
            lines.append(line)
        inside = bool(entry) or (inside and line.startswith(" "))
    return "\n".join(lines)


def _entry(line: str, below: str, section: str) -> str:
    """An item of a list, or nothing."""
    found = _ENTRY.match(line)
    end = "<br>" if section and below.startswith(" ") else ""
    if found:
        names = ", ".join(f"`{name.strip()}`" for name in found[1].split(","))
        return f"- {names}: {found[2]}{end}"
    if section in _LISTS and line.strip() and not line.startswith(" "):
        return f"- `{line.strip()}`{end}"
    return ""
