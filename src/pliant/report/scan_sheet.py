"""The contact sheet of a scan: its worst frames side by side, what collides in red."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from pliant._arrays import choose
from pliant.report.findings import Findings, findings_of, worst_frames
from pliant.report.pages import UPS
from pliant.report.picture import Shape, View
from pliant.report.regions import Regions
from pliant.report.sheet import Tile, contact_sheet
from pliant.scanning import Scan

_VIEW = View(turn=0.55, tilt=0.3)
_IN_A_ROW, _SIZE = 4, (340, 320)
# Rows: which coordinates become right, up and towards the eye.
_AXES = {
    "x": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "y": np.eye(3),
    "z": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
}
_PAINTS = np.array([(0.80, 0.77, 0.72), (0.62, 0.70, 0.79), (0.74, 0.77, 0.66), (0.82, 0.74, 0.65), (0.70, 0.67, 0.78)])


def write_contact_sheet(
    scan: Scan,
    path: str | os.PathLike[str],
    *,
    up: str = "y",
    frames: int = 8,
) -> None:
    """Write a PNG of the worst frames, in the order of time; of frames at even distances where nothing was found.

    up : the axis that is shown upwards, "x", "y" or "z"
    frames : how many at most
    """
    choose(up, "up", UPS)
    regions = Regions(scan.sequence)
    findings = findings_of(scan, regions)
    chosen = sorted(worst_frames(findings.totals, frames))
    if not chosen:
        chosen = sorted(set(np.linspace(0, len(scan) - 1, min(frames, len(scan))).round().astype(int).tolist()))
    captions = [_caption(scan.frames[place].number, findings.counts[place]) for place in chosen]
    tiles = [_tile(scan, regions, findings, place, up, words) for place, words in zip(chosen, captions)]
    tiles = tiles or [Tile([], _VIEW, "no frames")]
    contact_sheet(Path(path), [tiles[i : i + _IN_A_ROW] for i in range(0, len(tiles), _IN_A_ROW)], [_SIZE])


def _tile(scan: Scan, regions: Regions, findings: Findings, place: int, up: str, words: str) -> Tile:
    part = regions.parts.of_vertex
    x = scan.sequence[scan.frames[place].place][: len(part)] @ _AXES[up].T
    marked = np.zeros(len(regions.faces), bool)
    marked[findings.regions[place].faces] = True
    used = x[part >= 0] if (part >= 0).any() else np.zeros((1, 3))
    shape = Shape(x, regions.faces, _PAINTS[part % len(_PAINTS)], marked_faces=marked)
    return Tile([shape], _VIEW.around(used), words)


def _caption(number: int, counts: np.ndarray) -> str:
    contacts, crossings = int(counts[0] + counts[1]), int(counts[2])
    return f"frame {number}: {contacts:,} contacts\n{crossings:,} intersections"
