"""Options of a query from one flat set of names, as tests are parametrized with."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pliant import Accuracy, Tuning


def grouped(**options: Any) -> dict[str, Any]:
    """The same options, those of ``Tuning`` and ``Accuracy`` in one object each."""
    for name, kind in (("tuning", Tuning), ("accuracy", Accuracy)):
        known = {field.name for field in fields(kind)} & options.keys()
        if known:
            options[name] = kind(**{one: options.pop(one) for one in known})
    return options
