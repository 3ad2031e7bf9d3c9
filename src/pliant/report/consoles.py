"""A console of rich that shows text from files as it is, and obeys none of it."""

from __future__ import annotations

from typing import Any

from pliant.runtime.extras import needed
from pliant.runtime.terminal import printable

with needed("rich", "pliant.report"):
    from rich.console import Console
    from rich.text import Text


class PlainConsole(Console):
    """Every string that is printed, measured or put in a cell of a table becomes a Text here, on one line."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)
