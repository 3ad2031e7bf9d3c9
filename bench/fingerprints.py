"""Hashes of results: of every column that they have, so that a new one is covered by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def columns_of(answer: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name and value of everything that a result says: its fields and those of tables in it, but not what its stages
    took; an array, a number or None each."""
    if is_dataclass(answer):
        named = [(field.name, getattr(answer, field.name)) for field in fields(answer)]
    elif hasattr(answer, "_fields"):
        named = list(zip(answer._fields, answer))
    else:
        raise TypeError(f"{type(answer).__name__} is no result with columns")
    for name, value in named:
        if name == "stages":
            continue
        if is_dataclass(value) or hasattr(value, "_fields"):
            yield from columns_of(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


class Hashes:
    """A hash for each column of the results that were added, one after the other."""

    def __init__(self) -> None:
        self.rows = 0
        self._columns: dict[str, Any] = {}

    def add(self, answer: Any) -> None:
        self.rows += len(answer) if hasattr(answer, "__len__") else 1
        for name, value in columns_of(answer):
            column = np.ascontiguousarray(np.nan if value is None else value)
            sha = self._columns.setdefault(name, hashlib.sha256())
            sha.update(f"{column.dtype.str} {column.shape} {value is None}".encode())
            sha.update(column.tobytes())

    def columns(self) -> dict[str, str]:
        return {name: sha.hexdigest()[:10] for name, sha in self._columns.items()}


def fingerprint(answer: Any) -> str:
    """One hash of all columns: two runs with the same one gave the same answer, to the bit."""
    hashes = Hashes()
    hashes.add(answer)
    return hashlib.sha256(repr(sorted(hashes.columns().items())).encode()).hexdigest()[:12]
