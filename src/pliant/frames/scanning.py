"""A whole sequence, examined frame by frame with what the frames have in common kept."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.engine.plan import Tuning
from pliant.frames.sequence import Sequence
from pliant.mesh.parts import Membership, membership_of
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.deprecated import tuning_from
from pliant.queries.detector import Detector
from pliant.results.contacts import Contacts
from pliant.results.exports import frame_of
from pliant.results.intersections import Intersections
from pliant.runtime.arrays import choose
from pliant.runtime.processes import expect
from pliant.runtime.tally import Stage, Tally
from pliant.runtime.threads import Progress

if TYPE_CHECKING:
    import pandas

LOOKING_FOR = ("both", "contacts", "intersections")


class ScannedFrame(NamedTuple):
    """What one frame of a sequence showed.

    number : that the frame is known by, as in the name of its file
    time : its time in the sequence
    contacts : of the motion from the frame before; None in the first frame, and where they were not asked for
    intersections : at rest in this frame; None where they were not asked for
    seconds : (2,) that the contacts and the intersections took
    place : in the sequence, from 0
    points : (k, 3) where the contacts happen; None where there are no contacts
    inverted : (c,) ids of the solid cells that are inverted or flat; None where there are no solids, or intersections
        were not asked for
    turned : (t,) ids of those that were not so in the frame before
    """

    number: int
    time: float
    contacts: Contacts | None
    intersections: Intersections | None
    seconds: tuple[float, float]
    place: int = 0
    points: np.ndarray | None = None
    inverted: np.ndarray | None = None
    turned: np.ndarray | None = None

    @property
    def contact_count(self) -> int:
        return 0 if self.contacts is None else len(self.contacts)

    @property
    def intersection_count(self) -> int:
        return 0 if self.intersections is None else len(self.intersections)

    @property
    def inverted_count(self) -> int:
        return 0 if self.inverted is None else len(self.inverted)

    @property
    def first_contact(self) -> float:
        """The smallest toi of its contacts; NaN where there are none."""
        return float(self.contacts.toi.min()) if self.contacts else float("nan")


class PartPair(NamedTuple):
    """How often two parts of a mesh, or one with itself, were found together.

    parts : their labels, the smaller first: places in ``sequence.parts.names``, else labels of ``sequence.objects``
        or of connected components
    names : of the same two
    frames : in how many frames
    worst : place in ``Scan.frames`` of the one with most of it
    """

    parts: tuple[int, int]
    names: tuple[str, str]
    contacts: int
    intersections: int
    frames: int
    worst: int


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """What all frames of a sequence showed; rows of ``contact_counts`` and ``intersection_counts`` are frames.

    sequence : the one that was examined, with vertices merged where that was asked for
    frames : a ``ScannedFrame`` for each frame, in their order
    seconds : how long all of it took
    """

    sequence: Sequence
    frames: tuple[ScannedFrame, ...]
    seconds: float

    @property
    def contact_counts(self) -> np.ndarray:
        """(f,) int64"""
        return np.array([one.contact_count for one in self.frames], np.int64)

    @property
    def intersection_counts(self) -> np.ndarray:
        """(f,) int64"""
        return np.array([one.intersection_count for one in self.frames], np.int64)

    @property
    def inverted_counts(self) -> np.ndarray:
        """(f,) int64, solid cells that are inverted or flat"""
        return np.array([one.inverted_count for one in self.frames], np.int64)

    @property
    def totals(self) -> np.ndarray:
        """(f,) int64, all that was found in each frame"""
        return self.contact_counts + self.intersection_counts + self.inverted_counts

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What every stage did for the contacts, summed over frames."""
        return _sum(one.contacts.stages for one in self.frames if one.contacts is not None)

    @property
    def intersection_stages(self) -> tuple[Stage, ...]:
        """What every stage did for the intersections, summed over frames."""
        return _sum(one.intersections.stages for one in self.frames if one.intersections is not None)

    @cached_property
    def mesh(self) -> TriMesh:
        """The triangles that were examined: edge ids of contacts are rows of its edges."""
        return TriMesh(self.sequence.faces)

    @cached_property
    def membership(self) -> Membership:
        """Which part each feature of the mesh belongs to."""
        return membership_of(self.mesh, self.sequence.parts, self.sequence.objects)

    def worst(self, count: int = 10) -> tuple[ScannedFrame, ...]:
        """The frames in which most was found, those with most of it first.

        Parameters
        ----------
        count : int
            How many at most.

        Returns
        -------
        tuple of ScannedFrame
            Without frames in which nothing was found.
        """
        found = self.totals
        order = np.argsort(-found, kind="stable")[:count]
        return tuple(self.frames[i] for i in order if found[i])

    def face_counts(self, frame: int | None = None) -> np.ndarray:
        """In how many contacts and intersections each face takes part, its edges and corners included.

        Parameters
        ----------
        frame : int, optional
            Place of one in ``frames``; default: the sum of all.

        Returns
        -------
        (m,) int64
        """
        counts = np.zeros(len(self.mesh.faces), np.int64)
        for one in (self.frames[place] for place in self._chosen(frame)):
            if one.contacts:
                counts += one.contacts.face_counts(self.mesh)
            if one.intersections:
                counts += one.intersections.face_counts(self.mesh)
        return counts

    def parts(self, frame: int | None = None) -> tuple[PartPair, ...]:
        """Which parts were found together, those with most contacts and intersections first.

        Parameters
        ----------
        frame : int, optional
            Place of one in ``frames``; default: the sum of all.

        Returns
        -------
        tuple of PartPair
        """
        of, size = self.membership, len(self.membership.names)
        found: dict[int, dict[int, list[int]]] = {}  # pair of parts, place of a frame: contacts, intersections
        for place in self._chosen(frame):
            for column, parts in enumerate(self._both_sides(self.frames[place])):
                lower, upper = np.sort(parts, axis=1).astype(np.int64).T
                keys, counts = np.unique(lower * size + upper, return_counts=True)
                for key, count in zip(keys.tolist(), counts.tolist()):
                    found.setdefault(key, {}).setdefault(place, [0, 0])[column] += count
        rows = []
        for key, frames in sorted(found.items()):
            a, b = divmod(key, size)
            contacts, intersections = (sum(counts) for counts in zip(*frames.values()))
            worst = max(frames, key=lambda place: sum(frames[place]))
            labels, names = (of.labels[a], of.labels[b]), (of.names[a], of.names[b])
            rows.append(PartPair(labels, names, contacts, intersections, len(frames), worst))
        return tuple(sorted(rows, key=lambda row: -row.contacts - row.intersections))

    def _chosen(self, frame: int | None) -> Iterable[int]:
        """Places of frames."""
        return range(len(self)) if frame is None else (range(len(self))[frame],)

    def _both_sides(self, one: ScannedFrame) -> tuple[np.ndarray, np.ndarray]:
        """(k, 2) the part of each side: of the contacts of a frame, and of its intersections."""
        none = np.empty((0, 2), np.int32)
        contacts = self.membership.of_pairs(one.contacts.kind, one.contacts.elements) if one.contacts else none
        return contacts, self.membership.faces[one.intersections.faces] if one.intersections else none

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per frame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            Where pandas is not installed.
        """
        files = self.sequence.files
        edges = [0 if one.contacts is None else int(np.count_nonzero(one.contacts.kind)) for one in self.frames]
        return frame_of({
            "frame": [one.number for one in self.frames],
            **({} if files is None else {"file": [files[one.place] for one in self.frames]}),
            "time": [one.time for one in self.frames],
            "contacts": self.contact_counts,
            "vertex_face": self.contact_counts - edges,
            "edge_edge": edges,
            "first_contact": [one.first_contact for one in self.frames],
            "intersections": self.intersection_counts,
            "inverted": self.inverted_counts,
            "contact_seconds": [one.seconds[0] for one in self.frames],
            "intersection_seconds": [one.seconds[1] for one in self.frames],
        })  # fmt: skip

    def __len__(self) -> int:
        return len(self.frames)

    def __bool__(self) -> bool:
        """Whether anything was found, in any frame."""
        return bool(self.totals.any())

    def __repr__(self) -> str:
        return (
            f"Scan({self.sequence.name!r}: {self.contact_counts.sum()} contacts, "
            f"{self.intersection_counts.sum()} intersections, {len(self)} frames, {self.seconds:.3g} s)"
        )

    def _repr_html_(self) -> str:
        from pliant.report.thumbnails import scan_card

        return scan_card(self)


def scan(
    sequence: Sequence,
    *,
    find: str = "both",
    pairs: str = "all",
    min_distance: float = 0.0,
    merge: bool = False,
    tuning: Tuning | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **old: Any,
) -> Scan:
    """Every contact between frames and every intersection in a frame, of a whole sequence.

    Of solid cells, the boundary is examined, and in each frame which of them are inverted or flat.

    Parameters
    ----------
    sequence : Sequence
    find : {"both", "contacts", "intersections"}
    pairs : {"all", "self", "inter"}
        All pairs, those within one object, or those of different ones.
    min_distance : float
        Contact is where two features come within this distance, as in ``pliant.ccd``; pairs that stay so close have a
        contact, of toi 0, on the way to every frame.
    merge : bool
        Take vertices at equal positions in the first frame for one, as files often duplicate them; an error names those
        that come apart later (``Sequence.merged``).
    tuning : Tuning, optional
        Changes the time, never the result.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : callable, optional
        Called with the number of frames that are done, and of all of them.

    Returns
    -------
    Scan

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    clock = time.perf_counter()
    frames = []
    if merge:
        sequence = sequence.merged()[0]
    how: dict[str, Any] = {"find": find, "pairs": pairs, "tuning": tuning_from(tuning, old, "scan"), "threads": threads}
    for one in scan_frames(sequence, min_distance=min_distance, **how):
        frames.append(one)
        if progress is not None:
            progress(len(frames), len(sequence))
    return Scan(sequence, tuple(frames), time.perf_counter() - clock)


def scan_frames(
    sequence: Sequence,
    *,
    find: str = "both",
    pairs: str = "all",
    min_distance: float = 0.0,
    tuning: Tuning | None = None,
    threads: int | None = None,
) -> Iterator[ScannedFrame]:
    """What ``scan`` finds, one frame at a time: nothing of earlier frames is kept."""
    choose(find, "find", LOOKING_FOR)
    expect("check" if find == "intersections" else "scan")
    detector = Detector(
        TriMesh(sequence.faces), min_distance=min_distance, objects=sequence.objects, pairs=pairs, tuning=tuning,
        threads=threads,
    )  # fmt: skip
    volume, before, out_before = _solids(sequence), None, None
    for place, x in enumerate(sequence):
        clock = time.perf_counter()
        contacts = None if find == "intersections" else detector.advance(x)
        between = time.perf_counter()
        crossing = detector.intersections(x) if find != "contacts" else None
        seconds = (between - clock, time.perf_counter() - between)
        known = int(sequence.numbers[place]), float(sequence.times[place])
        points = contacts.points(before, x) if contacts is not None and place else None
        out = inverted(volume, x) if volume is not None and find != "contacts" else None
        turned = None if out is None else out[:0] if out_before is None else np.setdiff1d(out, out_before)
        yield ScannedFrame(*known, contacts if place else None, crossing, seconds, place, points, out, turned)
        before, out_before = x.copy(), out  # whoever hands out frames may fill one array again and again


def _solids(sequence: Sequence) -> VolumeMesh | None:
    volume = sequence.volume()
    return volume if volume is not None and volume.solid_count else None


def _sum(stages: Iterable[Iterable[Stage]]) -> tuple[Stage, ...]:
    tally = Tally()
    for some in stages:
        for stage in some:
            tally.add(*stage)
    return tally.stages()
