"""Reports for people: tables in a terminal, pictures, and a page that shows a scan in a browser.

Names are resolved on first use, as in `pliant` itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.report.pages import write_page
    from pliant.report.plots import write_plots
    from pliant.report.scan_sheet import write_contact_sheet

_HOME = {"write_contact_sheet": "scan_sheet", "write_page": "pages", "write_plots": "plots"}

__all__ = ["write_contact_sheet", "write_page", "write_plots"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"pliant.report.{_HOME[name]}"), name)
    raise AttributeError(f"module 'pliant.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
