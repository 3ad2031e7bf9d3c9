"""Docstrings of the public names: sections in numpydoc form that match the signature."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import pliant

MODULES = {"characters", "io", "scenes", "simulate", "simulated", "view"}
NAMES = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in (pliant, pliant.simulate, pliant.simulated)
    for name in sorted(set(module.__all__) - MODULES)
]
_SECTION = re.compile(r"^([A-Z][a-z]+)\n-+$", re.MULTILINE)
# `x : ...`, `x0, x1 : ...`; or a name alone on its line, as in a section Returns.
_ENTRY = re.compile(r"^((?:\*{0,2}\w+)(?:, \*{0,2}\w+)*)(?: : .*)?$", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """Text of each section by its heading; what comes before the first one is under ""."""
    parts = _SECTION.split(inspect.cleandoc(text))
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2]))


def documented(section: str) -> set[str]:
    """Names of the entries of a section."""
    return {name.strip(" *") for entry in _ENTRY.findall(section) for name in entry.split(",")}


def parameters(function: Callable[..., Any]) -> set[str]:
    """Names of the parameters of a function that a user gives; ``**old`` are deprecated names of others."""
    return set(inspect.signature(function).parameters) - {"self", "cls", "old"}


def faults(name: str, function: Callable[..., Any], text: str | None, returns: bool) -> list[str]:
    if not text:
        return [f"{name}: no docstring"]
    found, expected = sections(text), parameters(function)
    given = documented(found.get("Parameters", ""))
    out = [f"{name}: parameter {one} is not documented" for one in sorted(expected - given)]
    out += [f"{name}: documents {one}, which is no parameter" for one in sorted(given - expected)]
    if returns and "Returns" not in found and "Yields" not in found:
        out.append(f"{name}: no section Returns")
    return out


def has_result(function: Callable[..., Any]) -> bool:
    return inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty)


def methods(name: str, kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Methods that users call, those of bases in this package too."""
    for attribute in dir(kind):
        member = inspect.getattr_static(kind, attribute)
        if isinstance(member, staticmethod | classmethod):
            member = member.__func__
        if attribute.startswith("_") or not inspect.isfunction(member):
            continue
        if member.__module__.startswith("pliant."):
            yield f"{name}.{attribute}", member


def doc_of(kind: type, method: str) -> str | None:
    """Its docstring; that of the method which it overrides, where it has none of its own."""
    found = (getattr(vars(base).get(method), "__doc__", None) for base in kind.__mro__ if method in vars(base))
    return next(filter(None, found), None)


def faults_of(module: ModuleType, name: str) -> list[str]:
    member = getattr(module, name)
    if inspect.isfunction(member):
        return faults(name, member, member.__doc__, has_result(member))
    if not inspect.isclass(member) or issubclass(member, BaseException):
        return []
    out = []
    if dataclasses.is_dataclass(member):
        given = documented(inspect.cleandoc(member.__doc__ or ""))
        fields = {one.name for one in dataclasses.fields(member) if not one.name.startswith("_")}
        out += [f"{name}: field {one} is not documented" for one in sorted(fields - given)]
    elif "__init__" in vars(member):
        out += faults(name, vars(member)["__init__"], member.__doc__, returns=False)
    for called, method in methods(name, member):
        out += faults(called, method, doc_of(member, method.__name__), has_result(method))
    return out


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_docstrings_match_signatures(module: ModuleType, name: str):
    assert faults_of(module, name) == []


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_class_and_function_has_a_docstring(module: ModuleType, name: str):
    member = getattr(module, name)
    assert not callable(member) or inspect.cleandoc(member.__doc__ or "")


class TestTheCheckItself:
    def test_a_parameter_that_is_missing_and_one_that_is_gone(self):
        def function(x, *, threads=None, **old) -> int:
            """What it does.

            Parameters
            ----------
            x : (n, 3) floats
            tolerance : float
            """
            return len(x)

        assert faults("f", function, function.__doc__, has_result(function)) == [
            "f: parameter threads is not documented",
            "f: documents tolerance, which is no parameter",
            "f: no section Returns",
        ]

    def test_a_method_without_a_docstring_has_that_of_its_base(self):
        class Base:
            def both(self) -> int:
                """Of the base."""
                return 0

        class Derived(Base):
            def both(self) -> int:
                return 1

            def own(self) -> int:
                return 2

        assert doc_of(Derived, "both") == "Of the base."
        assert doc_of(Derived, "own") is None

    def test_several_names_in_one_entry(self):
        def function(x0, x1) -> None:
            """What it does.

            Parameters
            ----------
            x0, x1 : (n, 3) floats
                Positions.
            """

        assert faults("f", function, function.__doc__, has_result(function)) == []
