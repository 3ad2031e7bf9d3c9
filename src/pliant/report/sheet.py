"""Contact sheets: poses side by side, what collides in red, a title above and captions below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.report.letters import fitted, letters, put, stroke, width_of
from pliant.report.picture import Shape, View, draw, png
from pliant.runtime.writing import write_atomically

GAP, LINE = 14, 24  # pixels between tiles; of a line of a caption
TITLE_LINE = 34
_MARGIN = 16
_TITLE, _CAPTION = 17.0, 11.5  # how tall capitals are
_INK, _SOFT = (30, 33, 38), (95, 100, 108)
_RED = (200, 20, 12)
_RING = 13.0  # pixels


class Tile(NamedTuple):
    """A picture with a caption; rings are (3,) positions of what is too small to be seen."""

    shapes: list[Shape]
    view: View
    caption: str = ""  # of one line or more
    rings: tuple[np.ndarray, ...] = ()


def contact_sheet(
    path: str | Path,
    tiles: Sequence[Sequence[Tile]],
    sizes: Sequence[tuple[int, int]] = ((320, 320),),
    title: str = "",
) -> Path:
    """Write a PNG with rows of tiles.

    sizes : width and height of the tiles of each row, in pixels; the last serves all rows after it
    title : above them; its first line is large
    """
    rows = [row for row in tiles if row]
    sizes = [sizes[min(i, len(sizes) - 1)] for i in range(len(rows))]
    pieces = [_row(row, one) for row, one in zip(rows, sizes)]
    width = max(piece.shape[1] for piece in pieces)
    if title:
        pieces.insert(0, _heading(title, width))
    for i, piece in enumerate(pieces):
        paper = np.full((piece.shape[0], width, 3), 255, np.uint8)
        paper[:, : piece.shape[1]] = piece
        pieces[i] = paper
    sheet, path = np.concatenate(pieces), Path(path)
    write_atomically(path, lambda file: file.write(png(sheet)))
    return path


def heading_height(title: str) -> int:
    return _MARGIN + TITLE_LINE + LINE * (len(title.split("\n")) - 1) + 8 if title else 0


def _heading(title: str, width: int) -> np.ndarray:
    out = np.full((heading_height(title), width, 3), 255, np.uint8)
    first, *others = title.split("\n")
    room = width - 2 * _MARGIN
    put(out, letters(fitted(first, _TITLE, room), _TITLE, 2.2), (_MARGIN - 6, _MARGIN), _INK)
    for i, line in enumerate(others):
        put(out, letters(fitted(line, _CAPTION, room), _CAPTION), (_MARGIN + TITLE_LINE + i * LINE - 4, _MARGIN), _SOFT)
    return out


def _row(tiles: Sequence[Tile], size: tuple[int, int]) -> np.ndarray:
    width, height = size
    lines = max(len(tile.caption.split("\n")) for tile in tiles)
    out = np.full((height + lines * LINE + GAP, len(tiles) * (width + GAP), 3), 255, np.uint8)
    for i, tile in enumerate(tiles):
        left = i * (width + GAP) + GAP // 2
        out[:height, left : left + width] = _ringed(draw(tile.shapes, tile.view, size), tile)
        for k, line in enumerate(tile.caption.split("\n")):
            words = fitted(line, _CAPTION, width)
            ink, start = letters(words, _CAPTION), left + (width - width_of(words, _CAPTION)) // 2
            put(out, ink, (height + k * LINE + 2, start), _SOFT if k else _INK)
    return out


def _ringed(image: np.ndarray, tile: Tile) -> np.ndarray:
    """With a ring around each of the places, red with a white edge."""
    for ring in tile.rings:
        middle = on_picture(tile.view, ring, (image.shape[1], image.shape[0]))
        for pen, colour in ((5.5, (255, 255, 255)), (2.5, _RED)):
            ink = np.zeros(image.shape[:2])
            turns = np.linspace(0.0, 2.0 * np.pi, 49)
            points = middle + _RING * np.stack((np.cos(turns), np.sin(turns)), axis=1)
            for a, b in pairwise(points):
                stroke(ink, a, b, pen)
            put(image, ink, (0, 0), colour)
    return image


def on_picture(view: View, point: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(2,) x and y in pixels."""
    x, y, _ = view.axes @ (point - np.array(view.centre))
    scale = pixels_of(view, size)
    return np.array((0.5 * size[0] + scale * x, 0.5 * size[1] - scale * y))


def pixels_of(view: View, size: tuple[int, int]) -> float:
    """How many a length of 1 takes."""
    return min(size[0] / view.span[0], size[1] / view.span[1])
