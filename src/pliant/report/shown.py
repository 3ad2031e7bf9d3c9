"""What of a large scan is shown in 3D: fewer frames and coarser triangles, but every face that collides."""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import NamedTuple

import numpy as np

from pliant.frames.sequence import Sequence
from pliant.report.findings import Findings, worst_frames
from pliant.report.regions import Regions

MOST_TRIANGLES = 250_000
MOST_NUMBERS = 12_000_000  # coordinates of all frames together, two bytes each before they are compressed
_LEAST_FRAMES = 8  # before triangles are given up too
_WORST = 12  # these frames are always shown


class Shown(NamedTuple):
    """frames : (s,) int64 places in the scan, ascending; faces : (t, 3) int32, of `vertices`; vertices : (v,) int64
    ids in the sequence; kept : (m,) int32 place of each face of the sequence in `faces`, -1 for one that is left out
    """

    frames: np.ndarray
    faces: np.ndarray
    vertices: np.ndarray
    kept: np.ndarray


def choose_shown(
    sequence: Sequence, regions: Regions, findings: Findings, triangles: int, numbers: int = MOST_NUMBERS
) -> Shown:
    """At most about so many triangles, where those that collide are no more, and coordinates."""
    faces = regions.faces
    if len(faces) > triangles and len(sequence):
        colliding = np.zeros(len(faces), bool)
        for region in findings.regions:
            colliding[region.faces] = True
        faces = _coarser(faces, sequence[0], regions.parts.of_vertex, colliding, triangles)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    if len(faces) == len(regions.faces) and np.array_equal(faces, regions.faces):
        whole[:] = True
    vertices, corners = np.unique(faces[whole], return_inverse=True)
    kept = np.full(len(faces), -1, np.int32)
    kept[whole] = np.arange(np.count_nonzero(whole))
    most = max(_LEAST_FRAMES, numbers // max(3 * len(vertices), 1))
    frames = choose_frames(findings.totals, most)
    return Shown(frames, corners.reshape(-1, 3).astype(np.int32), vertices, kept)


def choose_frames(totals: np.ndarray, most: int) -> np.ndarray:
    """The worst ones, the first and the last, and others at even distances."""
    if len(totals) <= most:
        return np.arange(len(totals))
    chosen = set(worst_frames(totals, min(_WORST, most // 2)))
    spread = np.linspace(0, len(totals) - 1, max(2, most - len(chosen))).round().astype(int)
    return np.array(sorted(chosen | set(spread.tolist())), np.int64)


def _coarser(faces: np.ndarray, x: np.ndarray, part: np.ndarray, colliding: np.ndarray, triangles: int) -> np.ndarray:
    """Vertices that are in one cell of a grid and of one part become one of them, unless a face at them collides.

    Each that stays is a vertex of the mesh and moves as it does; faces that lose a corner have one vertex twice.
    """
    x = x[: len(part)]
    fixed = np.zeros(len(x), bool)
    fixed[faces[colliding].ravel()] = True
    size = np.ptp(x, axis=0).max() or 1.0
    # Cells as large as two triangles of an even spread, then larger ones, until it is enough.
    cells = np.sqrt(triangles)
    while True:
        coarse = _clustered(x, part, fixed, size / cells)[faces]
        left = np.count_nonzero(
            (coarse[:, 0] != coarse[:, 1]) & (coarse[:, 1] != coarse[:, 2]) & (coarse[:, 2] != coarse[:, 0])
        )
        if left <= max(triangles, 1.2 * np.count_nonzero(colliding)) or cells < 4:
            return coarse
        cells *= 0.8


def _clustered(x: np.ndarray, part: np.ndarray, fixed: np.ndarray, cell: float) -> np.ndarray:
    """(n,) the vertex that each becomes."""
    place = np.floor((x - x.min(axis=0)) / cell).astype(np.int64)
    key = ((part.astype(np.int64) * 8192 + place[:, 0]) * 8192 + place[:, 1]) * 8192 + place[:, 2]
    target = np.arange(len(x))
    free = np.flatnonzero(~fixed)
    _, first, inverse = np.unique(key[free], return_index=True, return_inverse=True)
    target[free] = free[first[inverse]]
    return target


def describe(shown: Shown, frames: int, faces: int) -> Many[str]:
    """What a reader must know of what is not shown; nothing where all is."""
    notes = []
    if len(shown.frames) < frames:
        notes.append(
            f"3D shows {len(shown.frames):,} of {frames:,} frames: the worst ones, and others at even distances. "
            "Plots and tables show all."
        )
    if len(shown.faces) < faces:
        notes.append(
            f"3D shows {len(shown.faces):,} triangles instead of {faces:,}: every colliding face is kept, "
            "others are made larger. Numbers are of all."
        )
    return notes
