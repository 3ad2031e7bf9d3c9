"""Pixels of a screenshot, without an imaging library: PNG as browsers write it, 8 bits, no interlace."""

from __future__ import annotations

import struct
import zlib

import numpy as np


def pixels(png: bytes) -> np.ndarray:
    """(h, w, c) uint8."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, width, height, channels = 8, b"", 0, 0, 0
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        chunk, at = png[at + 8 : at + 8 + size], at + 12 + size
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">2I5B", chunk)
            channels = {2: 3, 6: 4}[colour]
            assert (depth, interlace) == (8, 0)
        elif kind == b"IDAT":
            data += chunk
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    out = np.zeros((height + 1, (width + 1) * channels), np.uint8)
    for i, (kind, *_) in enumerate(rows[:, :1].tolist()):
        _undo(kind, rows[i, 1:], out[i], out[i + 1], channels)
    return out[1:, channels:].reshape(height, width, channels)


def _undo(kind: int, line: np.ndarray, above: np.ndarray, out: np.ndarray, channels: int) -> None:
    """One of the five filters of PNG; above and out have one pixel of zeros before the first."""
    if kind in (0, 2):
        out[channels:] = line + (above[channels:] if kind == 2 else 0)
        return
    for i in range(channels, len(out)):
        left, up, corner = int(out[i - channels]), int(above[i]), int(above[i - channels])
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        else:
            away = [abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)]
            guess = (left, up, corner)[away.index(min(away))]
        out[i] = (int(line[i - channels]) + guess) & 255


def coloured(png: bytes) -> float:
    """The share of pixels that are not white."""
    return float((pixels(png)[:, :, :3].min(axis=2) < 240).mean())
