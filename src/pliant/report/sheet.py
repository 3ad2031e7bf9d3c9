"""Contact sheets: poses side by side, what collides in red."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.report.letters import letters
from pliant.report.picture import Shape, View, draw, png
from pliant.report.writing import write_atomically

_GAP, _SCALE = 12, 2  # pixels between tiles; of a dot of a letter
_LINE = 8 * _SCALE + 10  # of a caption
_INK = 60


class Tile(NamedTuple):
    shapes: list[Shape]
    view: View
    caption: str = ""  # of one line or more


def contact_sheet(
    path: str | Path, tiles: Sequence[Sequence[Tile]], sizes: Sequence[tuple[int, int]] = ((320, 320),)
) -> Path:
    """Write a PNG with rows of tiles.

    sizes : width and height of the tiles of each row, in pixels; the last serves all rows after it
    """
    rows = [row for row in tiles if row]
    sizes = [sizes[min(i, len(sizes) - 1)] for i in range(len(rows))]
    pieces = [_row(row, one) for row, one in zip(rows, sizes)]
    width = max(piece.shape[1] for piece in pieces)
    for i, piece in enumerate(pieces):
        paper = np.full((piece.shape[0], width, 3), 255, np.uint8)
        paper[:, : piece.shape[1]] = piece
        pieces[i] = paper
    sheet, path = np.concatenate(pieces), Path(path)
    write_atomically(path, lambda file: file.write(png(sheet)))
    return path


def _row(tiles: Sequence[Tile], size: tuple[int, int]) -> np.ndarray:
    width, height = size
    lines = max(len(tile.caption.split("\n")) for tile in tiles)
    out = np.full((height + lines * _LINE + _GAP, len(tiles) * (width + _GAP), 3), 255, np.uint8)
    for i, tile in enumerate(tiles):
        left = i * (width + _GAP) + _GAP // 2
        out[:height, left : left + width] = draw(tile.shapes, tile.view, size)
        for k, line in enumerate(tile.caption.split("\n")):
            ink = letters(line[: width // (6 * _SCALE)], _SCALE)
            top, start = height + k * _LINE + 5, left + (width - ink.shape[1]) // 2
            out[top : top + ink.shape[0], start : start + ink.shape[1]][ink] = _INK
    return out
