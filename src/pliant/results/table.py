"""What all tables of results have in common: rows to count, to select, and to hand over to pandas."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pliant.results.exports import frame_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """A frozen dataclass of columns, the first of which has one entry for each row."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def _columns(self) -> dict[str, Any]:
        """Names and columns of one dimension, as ``to_pandas`` has them."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """The same for pandas, a row for each row of this table.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            Where pandas is not installed.
        """
        return frame_of(self._columns())


_Rows = TypeVar("_Rows", bound="Rows")


@dataclass(frozen=True, repr=False, eq=False)
class Rows(Table):
    """A table of what was found, of which some rows are a table, too."""

    def __getitem__(self: _Rows, rows: Any) -> _Rows:
        """The rows that a mask, a slice or an array of row numbers selects; one number gives a table of one."""
        if isinstance(rows, int | np.integer):
            rows = [rows]
        chosen = {f.name: getattr(self, f.name)[rows] for f in fields(self) if f.name != "stages"}
        return replace(self, **chosen)
