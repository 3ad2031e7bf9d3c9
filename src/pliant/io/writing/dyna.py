"""Keyword decks of LS-DYNA: nodes, shells and solids, separated by commas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO

import numpy as np

# Corners of a hexahedron that stand for each corner of other solids, as `solids.split_solids` reads them.
_AS_HEXAHEDRON = {
    "tetra": (0, 1, 2, 3, 3, 3, 3, 3),
    "pyramid": (0, 1, 2, 3, 4, 4, 4, 4),
    "wedge": (0, 2, 5, 3, 1, 1, 4, 4),
    "hexahedron": tuple(range(8)),
}
_AS_SHELL = {"triangle": (0, 1, 2, 2), "quad": (0, 1, 2, 3)}


def write_deck(file: IO[bytes], cells: Mapping[str, np.ndarray], x: np.ndarray) -> None:
    file.writelines(line.encode() for line in _lines(cells, x))


def _lines(cells: Mapping[str, np.ndarray], x: np.ndarray) -> Iterator[str]:
    yield "*KEYWORD\n*NODE\n"
    yield from (f"{i},{a!r},{b!r},{c!r}\n" for i, (a, b, c) in enumerate(x.tolist(), 1))
    number = 0
    for keyword, order in (("*ELEMENT_SOLID", _AS_HEXAHEDRON), ("*ELEMENT_SHELL", _AS_SHELL)):
        for kind, corners in order.items():
            if len(cells.get(kind, ())):
                yield f"{keyword}\n"
                for row in (cells[kind][:, corners].astype(np.int64) + 1).tolist():
                    number += 1
                    yield f"{number},1,{','.join(map(str, row))}\n"
    yield "*END\n"
