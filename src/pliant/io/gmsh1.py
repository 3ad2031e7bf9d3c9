"""Files of gmsh 1: plain text, $NOD ... $ENDNOD and $ELM ... $ENDELM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.io.content import read_beginning, unmarked
from pliant.io.mesh import FileMesh, make
from pliant.io.text import Line, Nodes, numbers, read_lines, section

# Number of the type in the file: name and nodes.
_TYPES = {
    1: ("line", 2),
    2: ("triangle", 3),
    3: ("quad", 4),
    4: ("tetra", 4),
    5: ("hexahedron", 8),
    6: ("wedge", 6),
    7: ("pyramid", 5),
    8: ("line3", 3),
    9: ("triangle6", 6),
    10: ("quad9", 9),
    11: ("tetra10", 10),
    12: ("hexahedron27", 27),
    13: ("wedge18", 18),
    14: ("pyramid14", 14),
    15: ("vertex", 1),
    16: ("quad8", 8),
    17: ("hexahedron20", 20),
    18: ("wedge15", 15),
    19: ("pyramid13", 13),
}


def is_gmsh1(path: Path) -> bool:
    return unmarked(path, read_beginning(path)).lstrip().startswith((b"$NOD\n", b"$NOD\r", b"$NOD "))


def read(path: Path) -> FileMesh:
    lines = read_lines(path, comment="//")
    node_lines = _block(lines, "$NOD", "nodes")
    rows = [_fields(line, 4) for line in node_lines]
    ids = [numbers(line, row[:1], int)[0] for line, row in zip(node_lines, rows)]
    nodes = Nodes.of(node_lines, ids, [numbers(line, row[1:4], float) for line, row in zip(node_lines, rows)])

    of_type: dict[int, tuple[list[Line], list[list[int]]]] = {}
    for line in _block(lines, "$ELM", "elements"):
        row = numbers(line, _fields(line, 6), int)
        name, count = _TYPES.get(row[1], ("", 0))
        if not name:
            raise line.error(f"{row[1]} is not the number of a type of element")
        if row[4] != count or len(row) != 5 + count:
            raise line.error(f"a {name} has {count} nodes, but the line gives {len(row) - 5} and announces {row[4]}")
        kept, cells = of_type.setdefault(row[1], ([], []))
        kept.append(line)
        cells.append(row[5:])
    blocks: list[tuple[str, np.ndarray]] = [
        (_TYPES[number][0], nodes.rows(kept, cells, _TYPES[number][1])) for number, (kept, cells) in of_type.items()
    ]
    return make(path, blocks, nodes.points)


def _block(lines: Sequence[Line], name: str, what: str) -> Sequence[Line]:
    """The lines between $NAME, with the number of them, and $ENDNAME."""
    start = next((place for place, line in enumerate(lines) if line.text.split()[0] == name), None)
    if start is None:
        raise lines[-1].error(f"there is no {name}")
    if start + 1 >= len(lines):
        raise lines[start].error(f"the file ends after {name}")
    count = numbers(lines[start + 1], lines[start + 1].text.split()[:1], int)[0]
    block = section(lines, start + 2, count, what)
    end = start + 2 + count
    if end >= len(lines) or lines[end].text.strip() != "$END" + name[1:]:
        raise lines[min(end, len(lines) - 1)].error(f"after {count} {what} there should be $END{name[1:]}")
    return block


def _fields(line: Line, least: int) -> list[str]:
    fields = line.text.split()
    if len(fields) < least:
        raise line.error(f"needs at least {least} numbers, but has {len(fields)}")
    return fields
