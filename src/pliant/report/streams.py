"""Positions and regions of a scan as one compressed stream, for a page."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pliant.frames.scanning import Scan
from pliant.report.findings import Findings
from pliant.report.regions import Regions
from pliant.report.shown import Shown

STEPS = 65535  # positions are rounded to so many parts of the box of the sequence
_LEVEL = 6


class Stream(NamedTuple):
    """data : compressed by zlib; arrays : name, type and length of each array in it, one after the other;
    lower, upper : (3,) the box in which positions are rounded
    tints : name, least and largest of each number at cells, in their order
    """

    data: bytes
    arrays: list[tuple[str, str, int]]
    lower: np.ndarray
    upper: np.ndarray
    tints: list[tuple[str, float, float]]


def make_stream(scan: Scan, regions: Regions, findings: Findings, shown: Shown) -> Stream:
    lower, upper = box_of(scan, shown)
    positions = np.empty((len(shown.frames), 3, len(shown.vertices)), np.uint16)
    # Halves: the span of extreme coordinates overflows.
    half, span = 0.5 * lower, np.where(upper > lower, 0.5 * upper - 0.5 * lower, 1.0)
    for i, x in enumerate(_frames(scan, shown)):
        part = (0.5 * x - half) / span
        positions[i] = np.rint(part.T * STEPS).astype(np.uint16)
    start, faces, layers = _red(findings, shown)
    tints, tinted = _tints(scan, shown)
    arrays = {
        "faces": shown.faces.astype(np.uint32).ravel(),
        "parts": np.maximum(regions.parts.of_vertex[shown.vertices], 0).astype(np.uint32),
        "shown": shown.frames.astype(np.uint32),
        "red_start": start,
        "red_faces": faces,
        "red_layers": layers,
        "tints": tinted,
        "positions": differences(positions),
    }
    types = {"uint32": "u4", "uint8": "u1"}
    listed = [(name, types[array.dtype.name], len(array)) for name, array in arrays.items()]
    packer = zlib.compressobj(_LEVEL)
    pieces = [packer.compress(_padded(array)) for array in arrays.values()]
    return Stream(b"".join([*pieces, packer.flush()]), listed, lower, upper, tints)


def box_of(scan: Scan, shown: Shown) -> tuple[np.ndarray, np.ndarray]:
    """(3,) lower and upper corner of all that is shown, in all frames that are."""
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for x in _frames(scan, shown):
        if len(x):
            lower, upper = np.minimum(lower, x.min(axis=0)), np.maximum(upper, x.max(axis=0))
    if not np.isfinite(lower).all():
        return np.zeros(3), np.zeros(3)
    return lower, upper


def _frames(scan: Scan, shown: Shown) -> Iterator[np.ndarray]:
    """(v, 3) float64 of each frame that is shown."""
    return (scan.sequence[scan.frames[place].place][shown.vertices] for place in shown.frames.tolist())


def differences(positions: np.ndarray) -> np.ndarray:
    """Bytes of each frame less the frame before, modulo 65536: all low ones, then all high ones, which are mostly 0.

    positions : (s, 3, v) uint16; in the first frame, each vertex less the one before it
    """
    change = positions.copy()
    change[1:] -= positions[:-1]
    if len(change):
        change[0, :, 1:] -= positions[0, :, :-1]
    # Up and down alike: 0, -1, 1, -2 ... become 0, 1, 2, 3 ..., so that small changes have a high byte of 0.
    signed = change.view(np.int16)
    folded = ((signed << 1) ^ (signed >> 15)).view(np.uint16)
    return np.concatenate(((folded & 255).astype(np.uint8), (folded >> 8).astype(np.uint8)), axis=1).ravel()


def _tints(scan: Scan, shown: Shown) -> tuple[list[tuple[str, float, float]], np.ndarray]:
    """Numbers at the cells of the faces that are shown, as parts of 255 of their range in all frames: for each name and
    each frame a byte a face."""
    places = [scan.frames[place].place for place in shown.frames.tolist()]
    cells = scan.sequence.cells_at_faces() if places and scan.sequence.cell_data(places[0]) else None
    if cells is None:
        return [], np.zeros(0, np.uint8)
    of_shown = cells[np.flatnonzero(shown.kept >= 0)]
    rows = [{name: row[of_shown] for name, row in scan.sequence.cell_data(place).items()} for place in places]
    tints, pieces = [], []
    for name in rows[0]:
        values = np.stack([row[name] for row in rows])
        finite = values[np.isfinite(values)]
        lower, upper = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
        part = np.nan_to_num((values - lower) / (upper - lower or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
        tints.append((name, lower, upper))
        pieces.append(np.rint(255.0 * part).astype(np.uint8).ravel())
    return tints, np.concatenate(pieces)


def _red(findings: Findings, shown: Shown) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Colliding faces of the frames that are shown: where each frame begins, faces, layers."""
    start, faces, layers = [0], [], []
    for frame in shown.frames:
        region = findings.regions[int(frame)]
        places = shown.kept[region.faces]
        there = places >= 0  # one that has a vertex twice has no area to show
        faces.append(places[there].astype(np.uint32))
        layers.append(region.layers[there])
        start.append(start[-1] + len(faces[-1]))
    empty = np.zeros(0, np.uint32)
    return (
        np.array(start, np.uint32),
        np.concatenate([empty, *faces]),
        np.concatenate([empty.astype(np.uint8), *layers]),
    )


def _padded(array: np.ndarray) -> bytes:
    """Little-endian, and a multiple of 4 bytes long, so that every array begins at one."""
    data: Any = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return data + bytes(-len(data) % 4)
