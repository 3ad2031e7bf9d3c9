"""A whole sequence, looked at frame by frame with what the frames have in common kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant._arrays import choose, thread_count
from pliant._threads import Progress
from pliant.contacts import Contacts, Intersections
from pliant.detector import Detector
from pliant.exports import frame_of
from pliant.sequence import Sequence

if TYPE_CHECKING:
    import pandas

LOOKING_FOR = ("both", "contacts", "intersections")


class ScannedFrame(NamedTuple):
    """What one frame of a sequence showed.

    number : of the frame, from 0
    time : its time in the sequence
    contacts : of the motion from the frame before; None in the first frame, and where they were not asked for
    intersections : at rest in this frame; None where they were not asked for
    seconds : (2,) that the contacts and the intersections took
    """

    number: int
    time: float
    contacts: Contacts | None
    intersections: Intersections | None
    seconds: tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """What all frames of a sequence showed; rows of ``contact_counts`` and ``intersection_counts`` are frames."""

    sequence: Sequence
    frames: tuple[ScannedFrame, ...]
    seconds: float

    @property
    def contact_counts(self) -> np.ndarray:
        """(f,) int64"""
        return np.array([0 if one.contacts is None else len(one.contacts) for one in self.frames], np.int64)

    @property
    def intersection_counts(self) -> np.ndarray:
        """(f,) int64"""
        return np.array([0 if one.intersections is None else len(one.intersections) for one in self.frames], np.int64)

    def __len__(self) -> int:
        return len(self.frames)

    def __bool__(self) -> bool:
        """Whether anything was found, in any frame."""
        return bool(self.contact_counts.any() or self.intersection_counts.any())

    def __repr__(self) -> str:
        return (
            f"Scan({self.sequence.name!r}: {self.contact_counts.sum()} contacts, "
            f"{self.intersection_counts.sum()} intersections, {len(self)} frames, {self.seconds:.3g} s)"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per frame."""
        contacts = [one.contacts for one in self.frames]
        columns: dict[str, Any] = {"frame": [one.number for one in self.frames]}
        columns |= {"time": [one.time for one in self.frames], "contacts": self.contact_counts}
        columns["vertex-face"] = [0 if one is None else int(np.count_nonzero(one.kind == 0)) for one in contacts]
        columns["edge-edge"] = [0 if one is None else int(np.count_nonzero(one.kind == 1)) for one in contacts]
        columns["first_toi"] = [np.nan if one is None or len(one) == 0 else float(one.toi.min()) for one in contacts]
        columns["intersections"] = self.intersection_counts
        for i, name in enumerate(("contacts_seconds", "intersections_seconds")):
            columns[name] = [one.seconds[i] for one in self.frames]
        return frame_of(columns)

    def _repr_html_(self) -> str:
        from pliant.report.thumbnails import scan_card

        return scan_card(self)


def scan(
    sequence: Sequence,
    *,
    find: str = "both",
    pairs: str = "all",
    culling: str = "cones+front",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Scan:
    """Every contact between frames and every intersection in a frame, of a whole sequence.

    find : "both", "contacts" or "intersections"
    pairs, culling, threads : as in ``pliant.Detector``
    progress : called with the number of frames that are done, and of all of them
    """
    clock = time.perf_counter()
    frames = []
    for one in scan_frames(sequence, find=find, pairs=pairs, culling=culling, threads=threads):
        frames.append(one)
        if progress is not None:
            progress(len(frames), len(sequence))
    return Scan(sequence, tuple(frames), time.perf_counter() - clock)


def scan_frames(
    sequence: Sequence,
    *,
    find: str = "both",
    pairs: str = "all",
    culling: str = "cones+front",
    threads: int | None = None,
) -> Iterator[ScannedFrame]:
    """What ``scan`` finds, one frame at a time: nothing of earlier frames is kept."""
    choose(find, "find", LOOKING_FOR)
    detector = Detector(
        sequence.faces, objects=sequence.objects, pairs=pairs, culling=culling, threads=thread_count(threads)
    )
    for index, x in enumerate(sequence):
        clock = time.perf_counter()
        contacts = detector.advance(x) if find != "intersections" else None
        between = time.perf_counter()
        crossing = detector.intersections(x) if find != "contacts" else None
        seconds = (between - clock, time.perf_counter() - between)
        yield ScannedFrame(index, float(sequence.times[index]), contacts if index else None, crossing, seconds)
