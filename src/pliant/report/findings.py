"""A scan in numbers: frame by frame, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.frames.scanning import Scan, ScannedFrame
from pliant.report.regions import Region, Regions
from pliant.runtime.tally import Stage

_OF_NODES = ("cones", "contours")  # these count nodes of the tree, not pairs
_DETAIL = ": "  # a stage named "exact: doubles" is a part of the stage "exact"


class Funnel(NamedTuple):
    """Pairs that went into each stage and came out of it, frame by frame."""

    stages: tuple[str, ...]
    pairs_in: np.ndarray  # (stages, f) int64
    pairs_out: np.ndarray


class Findings(NamedTuple):
    """counts : (f, 3) int64, vertex-face and edge-edge contacts, intersections; faces : (f,) int64 that collide;
    first : (f,) float64, the first time of contact on the way to each frame, NaN where there is none
    """

    counts: np.ndarray
    faces: np.ndarray
    first: np.ndarray
    regions: tuple[Region, ...]

    @property
    def totals(self) -> np.ndarray:
        """(f,) int64, contacts and intersections"""
        return self.counts.sum(axis=1)


def findings_of(scan: Scan, regions: Regions) -> Findings:
    counts = np.zeros((len(scan), 3), np.int64)
    first = np.full(len(scan), np.nan)
    places = []
    for i, frame in enumerate(scan.frames):
        for meetings in regions.meetings(frame):
            counts[i, meetings.kind] = len(meetings.parts)
        if frame.contacts is not None and len(frame.contacts):
            first[i] = frame.contacts.toi.min()
        places.append(regions.of(frame))
    faces = np.array([len(one.faces) for one in places], np.int64)
    return Findings(counts, faces, first, tuple(places))


def worst_frames(totals: np.ndarray, count: int) -> list[int]:
    """Places of the frames with most of it, the first one first among equals; none in which nothing was found."""
    order = np.argsort(-totals, kind="stable")[:count]
    return [int(i) for i in order if totals[i] > 0]


def looked_for(frames: Sequence[ScannedFrame]) -> tuple[bool, bool]:
    """Whether contacts and whether intersections were."""
    return any(f.contacts is not None for f in frames), any(f.intersections is not None for f in frames)


def funnel_of(tables: Sequence[tuple[Stage, ...]]) -> Funnel:
    """The stages that handle pairs, in the order in which they do; a frame that had no such stage has zeros."""
    names: list[str] = []
    for stages in tables:
        names += [s.name for s in stages if s.name not in names and s.name not in _OF_NODES and _DETAIL not in s.name]
    table = np.zeros((2, len(names), len(tables)), np.int64)
    for i, stages in enumerate(tables):
        for stage in stages:
            if stage.name in names:
                table[:, names.index(stage.name), i] += (stage.pairs_in, stage.pairs_out)
    busy = table.any(axis=(0, 2))
    return Funnel(tuple(np.array(names, object)[busy]), table[0, busy], table[1, busy])
