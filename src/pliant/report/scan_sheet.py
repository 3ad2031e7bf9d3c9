"""The contact sheet of a scan: its worst frames side by side, what collides in red."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from pliant.frames.scanning import Scan
from pliant.report.findings import Findings, findings_of, looked_for, worst_frames
from pliant.report.pages import UPS
from pliant.report.picture import Shape, View
from pliant.report.places import Place, outwards, places_of
from pliant.report.regions import Regions
from pliant.report.sheet import Tile, contact_sheet, pixels_of
from pliant.runtime.arrays import choose

_VIEW = View(turn=0.55, tilt=0.3)
_IN_A_ROW, _SIZE = 4, (340, 320)
_LARGE, _CLOSE_UPS = (4 * 354 - 14, 640), 4  # of a mesh at one instant
_ALIKE = 0.004  # of a diagonal: frames in which nothing moves that far look alike
_TINY, _MOST_RINGS = 7.0, 12  # pixels; rings in a tile
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
    """Write a PNG of the worst frames that differ, in the order of time; of frames at even distances where nothing was
    found. Of one frame, all of it and its places in red from nearby. What is too small to be seen has a ring.

    up : the axis that is shown upwards, "x", "y" or "z"
    frames : how many at most
    """
    choose(up, "up", UPS)
    regions = Regions(scan.sequence)
    findings = findings_of(scan, regions)
    drawn = _Drawn(scan, regions, findings, up)
    if len(scan) == 1:
        overview, *closer = drawn.overview(), *drawn.close_ups(_CLOSE_UPS)
        rows, sizes = [[overview], closer], [_LARGE, _SIZE]
    else:
        tiles = [drawn.tile(place) for place in _chosen(scan, findings, frames)]
        tiles = tiles or [Tile([], _VIEW, "no frames")]
        rows, sizes = [tiles[i : i + _IN_A_ROW] for i in range(0, len(tiles), _IN_A_ROW)], [_SIZE]
    contact_sheet(Path(path), rows, sizes, _title(scan, findings))


def _title(scan: Scan, findings: Findings) -> str:
    contacts, crossings = looked_for(scan.frames)
    words = [_count(int(findings.counts[:, :2].sum()), "contact")] * contacts
    words += [_count(int(findings.counts[:, 2].sum()), "intersection")] * crossings
    size = f"{len(scan.sequence.faces):,} triangles"
    if len(scan) == 1:
        return f"{scan.sequence.name}\n{', '.join(words) or 'nothing was searched for'}; {size}"
    bad = int(np.count_nonzero(findings.totals))
    which = "the worst frames that differ, in order of time" if bad else "frames at even distances"
    found = f"{', '.join(words) or 'nothing'} in {bad:,} of {_count(len(scan), 'frame')}"
    return f"{scan.sequence.name}\n{found}; {size}; {which}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _chosen(scan: Scan, findings: Findings, most: int) -> list[int]:
    """The worst frames, but none next to another that is chosen, and none that looks like one of them."""
    order = worst_frames(findings.totals, len(scan))
    if not order:
        return sorted(set(np.linspace(0, len(scan) - 1, min(most, len(scan))).round().astype(int).tolist()))
    apart, chosen, seen = max(1, len(scan) // max(most, 1)), [], []
    for place in order:
        if len(chosen) == most:
            break
        if any(abs(place - other) < apart for other in chosen):
            continue
        x = scan.sequence[scan.frames[place].place]
        size = float(np.linalg.norm(np.ptp(x, axis=0)))
        if any(y.shape == x.shape and np.abs(y - x).max(initial=0.0) <= _ALIKE * size for y in seen):
            continue
        chosen.append(place)
        seen.append(x)
    return sorted(chosen)


class _Drawn:
    """Frames of a scan as tiles."""

    def __init__(self, scan: Scan, regions: Regions, findings: Findings, up: str) -> None:
        self._scan, self._regions, self._findings, self._up = scan, regions, findings, up

    def tile(self, place: int) -> Tile:
        shape, marked = self._shape(place)
        view = self._around(shape.x)
        rings = _tiny(places_of(shape.x, shape.faces, marked), view, _SIZE)
        counts = self._findings.counts[place]
        contacts, crossings = looked_for(self._scan.frames)
        words = [_count(int(counts[0] + counts[1]), "contact")] * contacts
        words += [_count(int(counts[2]), "intersection")] * crossings
        return Tile([shape], view, f"frame {self._scan.frames[place].number}\n{', '.join(words)}", rings)

    def overview(self) -> Tile:
        shape, marked = self._shape(0)
        view, places = self._around(shape.x), places_of(shape.x, shape.faces, marked)
        words = f"{_count(len(places), 'place')}, {_count(int(marked.sum()), 'face')} in red" if places else "clean"
        return Tile([shape], view, words, _tiny(places, view, _LARGE))

    def close_ups(self, most: int) -> list[Tile]:
        """The largest places, from outside."""
        shape, marked = self._shape(0)
        whole, tiles = self._around(shape.x), []
        for i, place in enumerate(places_of(shape.x, shape.faces, marked)[:most]):
            x, y, z = outwards(shape.x, shape.faces, place)
            turned = View(turn=float(np.arctan2(x, z)), tilt=float(np.clip(np.arcsin(y), -1.4, 1.4)))
            span = min(5.0 * place.reach or 1.0, max(whole.span))  # never from farther away than all of it
            view = turned._replace(centre=tuple(place.middle.tolist()), span=(span, span))
            tiles.append(Tile([shape], view, f"place {i + 1}\n{_count(len(place.faces), 'face')}"))
        return tiles

    def _shape(self, place: int) -> tuple[Shape, np.ndarray]:
        part = self._regions.parts.of_vertex
        x = self._scan.sequence[self._scan.frames[place].place][: len(part)] @ _AXES[self._up].T
        marked = np.zeros(len(self._regions.faces), bool)
        marked[self._findings.regions[place].faces] = True
        return Shape(x, self._regions.faces, _PAINTS[part % len(_PAINTS)], marked_faces=marked), marked

    def _around(self, x: np.ndarray) -> View:
        used = self._regions.parts.of_vertex >= 0
        return _VIEW.around(x[used] if used.any() else np.zeros((1, 3)))


def _tiny(places: list[Place], view: View, size: tuple[int, int]) -> tuple[np.ndarray, ...]:
    """Where rings are to be: what is red and smaller than them."""
    scale = pixels_of(view, size)
    return tuple(one.middle for one in places[:_MOST_RINGS] if scale * one.reach < _TINY)
