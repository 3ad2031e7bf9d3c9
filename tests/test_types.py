"""What users can name is annotated to the last parameter: editors and type checkers know what goes in and comes out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import pliant

MODULES = (pliant, pliant.characters, pliant.io, pliant.scenes, pliant.simulate, pliant.view)


def public_functions() -> Iterator[tuple[str, Any]]:
    """Functions and methods behind the public names, as they were written."""
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing
            elif inspect.isclass(thing) and thing.__module__.startswith("pliant"):
                for attribute, value in vars(thing).items():
                    value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                    value = getattr(value, "func", value)  # of a cached property
                    written = inspect.isfunction(value) and value.__code__.co_filename.endswith(".py")
                    if written and (not attribute.startswith("_") or attribute in ("__init__", "__call__")):
                        yield f"{module.__name__}.{name}.{attribute}", value


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_annotated(name: str):
    signature = inspect.signature(FUNCTIONS[name])
    missing = [
        p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")
    ]
    assert missing == []
    assert signature.return_annotation is not signature.empty


def test_there_are_many():
    assert len(FUNCTIONS) > 100
