"""XDMF: a series over time, numbers as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.io.mesh import CORNERS
from pliant.io.xdmf_items import MIXED

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence

_NUMBER = {name: number for number, (name, _) in MIXED.items()}


def write_xdmf(file: IO[bytes], runs: Iterable[tuple[Sequence, Mapping[str, Any]]]) -> None:
    """Runs of frames with the same cells, which are written once, with the first step; later steps have those."""
    file.write(b'<?xml version="1.0"?>\n<Xdmf Version="3.0">\n<Domain>\n')
    file.write(b'<Grid Name="series" GridType="Collection" CollectionType="Temporal">\n')
    count = 0
    for sequence, cells in runs:
        for frame in range(len(sequence)):
            file.write(f'<Grid Name="frame {count}" GridType="Uniform">\n'.encode())
            _write_frame(file, sequence, frame, cells)
            count += 1
    file.write(b"</Grid>\n</Domain>\n</Xdmf>\n")


def _write_frame(file: IO[bytes], sequence: Sequence, frame: int, cells: Mapping[str, Any]) -> None:
    x = sequence[frame]
    file.write(f'<Time Value="{float(sequence.times[frame])!r}"/>\n'.encode())
    if frame == 0:
        _write_topology(file, cells)
    file.write(b'<Geometry GeometryType="XYZ">\n')
    file.write(f'<DataItem Dimensions="{len(x)} 3" NumberType="Float" Precision="8" Format="XML">\n'.encode())
    file.writelines(f"{a!r} {b!r} {c!r}\n".encode() for a, b, c in x.tolist())
    file.write(b"</DataItem>\n</Geometry>\n")
    for name, values in sequence.cell_data(frame).items():
        file.write(f'<Attribute Name={quoteattr(name)} AttributeType="Scalar" Center="Cell">\n'.encode())
        file.write(f'<DataItem Dimensions="{len(values)}" NumberType="Float" Precision="8" Format="XML">\n'.encode())
        file.writelines(f"{a!r}\n".encode() for a in values.tolist())
        file.write(b"</DataItem>\n</Attribute>\n")
    file.write(b"</Grid>\n")


def _write_topology(file: IO[bytes], cells: Mapping[str, Any]) -> None:
    rows = [
        np.column_stack([np.full(len(cells[kind]), _NUMBER[kind]), np.asarray(cells[kind])])
        for kind in CORNERS
        if len(cells.get(kind, ()))
    ]
    count, size = sum(map(len, rows)), sum(row.size for row in rows)
    file.write(f'<Topology TopologyType="Mixed" NumberOfElements="{count}">\n'.encode())
    file.write(f'<DataItem Dimensions="{size}" NumberType="Int" Precision="8" Format="XML">\n'.encode())
    for row in rows:
        file.writelines((" ".join(map(str, values)) + "\n").encode() for values in row.tolist())
    file.write(b"</DataItem>\n</Topology>\n")
