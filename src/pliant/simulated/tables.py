"""Tables of a scene file: what is wrong in one is an error that names file, table and key."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pliant.runtime.arrays import MeshError
from pliant.runtime.reading import FileError


class Table:
    """One table of a file: its values by their keys, each of which has to be known.

    where : the name of the table as people write it, such as [[cloth]] 2; "" for the file itself
    """

    def __init__(self, file: Path, where: str, values: Any, known: Iterable[str]) -> None:
        self.file, self.where, self.known = file, where, tuple(known)
        if not isinstance(values, Mapping):
            raise FileError(f"{file.name}: {where} must be a table, not {_shown(values)}")
        self._values = dict(values)
        for key in self._values:
            if key not in self.known:
                hint = f"did you mean {close!r}? " if (close := nearest(key, self.known)) else ""
                raise self.error(key, f"there is no such key; {hint}known are {', '.join(self.known)}")

    def error(self, key: str, what: str) -> FileError:
        table = f" {self.where}," if self.where else ""
        return FileError(f"{self.file.name}:{table} {key}: {what}")

    @contextmanager
    def naming(self, key: str) -> Iterator[None]:
        """Errors of what is made from a value name its key."""
        try:
            yield
        except FileError as error:
            text = str(error).removeprefix(f"{self.file.name}: ")
            if self.where and text.startswith(self.where):
                raise
            raise self.error(key, text) from error
        except MeshError as error:
            raise self.error(key, str(error)) from error

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def one_of(self, *keys: str) -> str:
        """The key that is there: one of these has to be, and only one."""
        given = [key for key in keys if key in self]
        if len(given) != 1:
            names = ", ".join(keys)
            raise self.error(given[1] if given else keys[0], f"one of {names} is needed, and only one")
        return given[0]

    def text(self, key: str, default: str | None = None) -> str:
        value = self._values.get(key, default)
        if not isinstance(value, str) or not value:
            raise self.error(key, f"must be a text in quotes, not {_shown(value)}")
        return value

    def choice(self, key: str, default: str, known: Iterable[str]) -> str:
        value, known = self.text(key, default), tuple(known)
        if value not in known:
            hint = f"did you mean {close!r}? " if (close := nearest(value, known)) else ""
            raise self.error(key, f"{value!r} is not known; {hint}choose one of {', '.join(known)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, not {_shown(value)}")
        return value

    def number(self, key: str, default: float | None = None, lower: float = -1e9, upper: float = 1e9) -> float:
        return self._number(key, self._values.get(key, default), lower, upper)

    def whole(self, key: str, default: int | None = None, lower: int = 0, upper: int = 1_000_000) -> int:
        value = self._values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not lower <= value <= upper:
            raise self.error(key, f"must be a whole number from {lower} to {upper}, not {_shown(value)}")
        return value

    def vector(self, key: str, default: Any = None, length: int = 3) -> np.ndarray:
        value = self._values.get(key, default)
        if not isinstance(value, list | tuple) or len(value) != length:
            raise self.error(key, f"must be a list of {length} numbers, not {_shown(value)}")
        return np.array([self._number(key, one) for one in value])

    def rows(self, key: str, length: int, kind: type = float) -> np.ndarray:
        """(k, length), at least one row."""
        value = self._values.get(key)
        if not isinstance(value, list) or not value:
            raise self.error(key, f"must be a list of lists of {length} numbers, not {_shown(value)}")
        for row in value:
            if not isinstance(row, list) or len(row) != length:
                raise self.error(key, f"must have {length} numbers in each list, not {_shown(row)}")
        return np.array([[self._entry(key, one, kind) for one in row] for row in value])

    def ids(self, key: str) -> np.ndarray:
        """(k,) integers, at least one."""
        value = self._values.get(key)
        if not isinstance(value, list) or not value:
            raise self.error(key, f"must be a list of vertex ids, not {_shown(value)}")
        return np.array([self._entry(key, one, int) for one in value], np.int64)

    def _entry(self, key: str, value: Any, kind: type) -> float:
        if kind is int and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31):
            raise self.error(key, f"must hold ids, which are whole numbers from 0 on, not {_shown(value)}")
        return self._number(key, value)

    def _number(self, key: str, value: Any, lower: float = -1e9, upper: float = 1e9) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.error(key, f"must be a number, not {_shown(value)}")
        if not lower <= value <= upper:
            raise self.error(key, f"must be from {lower:g} to {upper:g}, not {_shown(value)}")
        return float(value)

    def table(self, key: str, known: Iterable[str]) -> Table:
        return Table(self.file, f"{self.where}.{key}" if self.where else f"[{key}]", self._values.get(key, {}), known)

    def tables(self, key: str, known: Iterable[str]) -> list[Table]:
        """Those that are written as [[key]], or as a list in this table."""
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise self.error(key, f"must be a list of tables, [[{key}]], not {_shown(value)}")
        name = f"{self.where}, {key}" if self.where else f"[[{key}]]"
        known = tuple(known)
        return [Table(self.file, f"{name} {number}", one, known) for number, one in enumerate(value, 1)]

    def named_tables(self, key: str, known: Iterable[str]) -> dict[str, Table]:
        """Those that are written as [key.NAME]."""
        value = self._values.get(key, {})
        if not isinstance(value, Mapping):
            raise self.error(key, f"must be tables, [{key}.NAME], not {_shown(value)}")
        known = tuple(known)
        return {name: Table(self.file, f"[{key}.{name}]", one, known) for name, one in value.items()}

    def values(self) -> dict[str, Any]:
        return dict(self._values)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1)), None)


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
