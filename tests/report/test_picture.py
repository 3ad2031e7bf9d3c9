"""Pictures: what is drawn is where it is, in the right order; the file is what PNG readers expect."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from pliant.report.letters import fitted, letters, width_of
from pliant.report.picture import RED, Shape, View, draw, png
from pliant.report.sheet import Tile, contact_sheet

SQUARE = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])


def decoded(data):
    """(h, w, 3) of a PNG, by the specification, in plain loops."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + body),)
        chunks[kind], at = body, at + 12 + length
    width, height, depth, colour, *rest = struct.unpack(">2I5B", chunks[b"IHDR"])
    assert (depth, colour, rest) == (8, 2, [0, 0, 0])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, 1 + 3 * width)
    out = np.zeros((height + 1, width + 1, 3), int)
    for r in range(height):
        assert rows[r, 0] == 4
        for c in range(width):
            for k in range(3):
                a, b, d = out[r + 1, c, k], out[r, c + 1, k], out[r, c, k]
                guess = a + b - d
                near = min((abs(guess - a), 0, a), (abs(guess - b), 1, b), (abs(guess - d), 2, d))[2]
                out[r + 1, c + 1, k] = (rows[r, 1 + 3 * c + k] + near) % 256
    return out[1:, 1:]


def test_png_is_lossless():
    image = np.random.default_rng(1).integers(0, 256, (9, 13, 3), dtype=np.uint8)
    image[3:6] = 17
    np.testing.assert_array_equal(decoded(png(image)), image)


def test_a_square_is_where_it_is():
    image = draw([Shape(*SQUARE, colour=(0.2, 0.4, 0.8))], View(span=(4.0, 4.0)), (40, 40))
    inked = (image != 255).any(axis=2)
    assert inked[10:30, 10:30].all()
    assert inked.sum() == 400


@pytest.mark.parametrize("turn", [0.0, 1.0, 2.5])
def test_views_hold_what_they_are_put_around(turn):
    x = np.random.default_rng(2).normal(size=(50, 3)) * (1, 2, 3) + (5, 6, 7)
    view = View(turn=turn, tilt=0.3).around(x)
    seen = (x - view.centre) @ view.axes.T
    assert (np.abs(seen[:, :2]) <= 0.5 * np.array(view.span)).all()
    np.testing.assert_allclose(view.axes @ view.axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(view.axes) == pytest.approx(1.0)


def test_what_is_in_front_hides_what_is_behind_whatever_the_order():
    x, faces = SQUARE
    green = Shape(x + (0, 0, 1), faces, (0.0, 1.0, 0.0))
    blue = Shape(x, faces, (0.0, 0.0, 1.0))
    for shapes in ([green, blue], [blue, green]):
        middle = draw(shapes, View(span=(4.0, 4.0)), (20, 20))[10, 10]
        assert middle[1] > 100
        assert middle[2] == 0


def test_what_is_marked_is_red_and_seen_through_the_rest():
    x, faces = SQUARE
    marked = Shape(x, faces, marked=np.ones(4, bool))
    cover = Shape(x + (0, 0, 1), faces, (0.0, 1.0, 0.0))
    plain = draw([marked], View(span=(4.0, 4.0)), (20, 20))[10, 10]
    assert plain[0] > 3 * plain[1]
    np.testing.assert_allclose(plain / plain[0], np.array(RED) / RED[0], atol=0.02)
    covered = draw([marked, cover], View(span=(4.0, 4.0)), (20, 20))[10, 10]
    assert covered[0] > covered[1] > 20


def test_letters_are_all_different():
    known = [chr(c) for c in range(33, 127) if chr(c) != "l"]  # which is an I
    assert len({letters(c, 12.0).tobytes() for c in known}) == len(known)
    ink = letters("Ab", 12.0)
    assert ink.shape[1] == width_of("Ab", 12.0)
    assert ((ink > 0.05) & (ink < 0.95)).any()  # edges are smooth
    assert ink.max() == 1.0
    assert not letters(" ", 12.0).any()
    assert letters("\u4e2d", 12.0).any()  # a box
    assert (letters("\u00e9", 12.0) == letters("e", 12.0)).all()
    assert width_of(fitted("a long name of a file", 12.0, 90), 12.0) <= 90


def test_a_sheet_has_all_tiles(tmp_path):
    tile = Tile([Shape(*SQUARE)], View(span=(4.0, 4.0)), "one: 1")
    path = contact_sheet(tmp_path / "sheet.png", [[tile, tile], [tile]], [(40, 40)])
    image = decoded(path.read_bytes())
    inked = (image != 255).any(axis=2)
    assert inked[20, 26]
    assert inked[20, 78]
    assert inked[20 + image.shape[0] // 2, 26]
    assert not inked[20 + image.shape[0] // 2, 78]
    assert [p.name for p in tmp_path.iterdir()] == ["sheet.png"]
