"""Names of options before 1.0: they work for one more version, with a warning."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from pliant.engine.plan import Accuracy, Tuning
from pliant.runtime.log import warn

_TUNING, _ACCURACY = Tuning(), Accuracy()  # both are frozen: a tenth of a query about four triangles was making them


def tuning_from(tuning: Tuning | None, old: dict[str, Any], name: str) -> Tuning:
    """The tuning that was given, with what was given under its old name; the last of the options of a
    function."""
    given: Tuning = _TUNING if tuning is None else _required(tuning, Tuning, "tuning")
    if old:
        given = replace(given, **_taken(Tuning, "tuning", old))
        refuse_rest(old, name)
    return given


def refuse_rest(old: dict[str, Any], name: str) -> None:
    """What is still in ``old`` has never been an option."""
    if old:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(old))!r}")


def accuracy_from(accuracy: Accuracy | None, old: dict[str, Any]) -> Accuracy:
    given: Accuracy = _ACCURACY if accuracy is None else _required(accuracy, Accuracy, "accuracy")
    return replace(given, **_taken(Accuracy, "accuracy", old)) if old else given


def initial_from(initial: str | float, old: dict[str, Any]) -> str | float:
    if "keep" not in old:
        return initial
    keep = old.pop("keep")
    warn("keep= is deprecated: give the number itself, as initial=", DeprecationWarning)
    return keep if initial == "relative" and keep is not None else initial


def _required(value: Any, kind: type, name: str) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{name}={value!r} must be a pliant.{kind.__name__}")
    return value


def _taken(kind: Any, name: str, old: dict[str, Any]) -> dict[str, Any]:
    given = {f.name: old.pop(f.name) for f in fields(kind) if f.name in old}
    for one in given:
        warn(f"{one}= is deprecated: use {name}=pliant.{kind.__name__}({one}=...)", DeprecationWarning)
    return {one: value for one, value in given.items() if value is not None}  # None was a default
