"""Frames of a sequence with what collides in them, computed when they are first shown and kept while there is space."""

from __future__ import annotations

import time
from collections import OrderedDict

import numpy as np

from pliant.engine.plan import Tuning
from pliant.frames.sequence import Sequence
from pliant.mesh.parts import membership_of
from pliant.mesh.triangles import TriMesh
from pliant.queries.detector import Detector
from pliant.runtime.arrays import MeshError, OptionError, require_in_range, thread_count
from pliant.view.layers import FrameView

MEMORY = 256 * 2**20  # bytes of results that are kept


class EmptySequenceError(MeshError):
    """There is nothing to show."""


class Frames:
    """What ``pliant.scan`` would find, frame by frame, in any order.

    sequence : what is examined
    pairs, tuning, threads : as in ``pliant.Detector``
    memory : bytes of frames that are kept, besides the one asked for last; those not examined for longest go first

    Forward, a detector goes from frame to frame; for a jump there is a new one, since a detector has to look at every
    motion. Both give the same tables.
    """

    sequence: Sequence
    mesh: TriMesh
    pairs: str
    tuning: Tuning
    threads: int
    counts: np.ndarray  # (f, 2) int64, contacts and intersections; -1 is not yet known

    def __init__(
        self, sequence: Sequence, *, pairs: str = "all", tuning: Tuning | None = None, threads: int | None = None,
        memory: int = MEMORY,
    ) -> None:  # fmt: skip
        if len(sequence) == 0:
            raise EmptySequenceError(f"{sequence.name} has no frames to show")
        if memory < 0:
            raise OptionError(f"memory={memory!r} must not be negative")
        self.sequence, self.mesh = sequence, TriMesh(sequence.faces)
        self.pairs, self.tuning, self.threads = pairs, tuning or Tuning(), thread_count(threads)
        self.counts = np.full((len(sequence), 2), -1, np.int64)
        self._memory, self._kept = memory, OrderedDict[int, FrameView]()
        self._detector, self._at = self._fresh(), -1  # the frame that the detector is at
        self._membership = membership_of(self.mesh, sequence.parts, sequence.objects)

    def __len__(self) -> int:
        return len(self.sequence)

    def __contains__(self, number: int) -> bool:
        """Whether a frame is kept, and costs nothing."""
        return number in self._kept

    @property
    def nbytes(self) -> int:
        """Of what is kept."""
        return sum(frame.nbytes for frame in self._kept.values())

    @property
    def worst(self) -> int:
        """The one in which most was found, of those that were examined; the first among equals."""
        return int(np.argmax(self.counts.sum(axis=1)))

    def __getitem__(self, number: int) -> FrameView:
        number = range(len(self))[number]
        if number in self._kept:
            self._kept.move_to_end(number)
            return self._kept[number]
        frame = self._looked_at(number)
        self.counts[number] = len(frame.contacts), len(frame.intersections)
        self._kept[number] = frame
        while len(self._kept) > 1 and self.nbytes > self._memory:
            self._kept.popitem(last=False)
        return frame

    def _fresh(self) -> Detector:
        return Detector(
            self.mesh, objects=self.sequence.objects, pairs=self.pairs, tuning=self.tuning, threads=self.threads
        )

    def _looked_at(self, number: int) -> FrameView:
        x = self.sequence[number]
        require_in_range(self.mesh.faces, "faces", len(x))
        x0 = self.sequence[number - 1] if number else x
        if self._at != number - 1:
            self._detector = self._fresh()
            if number:
                self._detector.advance(x0)
        self._at = -2  # nowhere, should the next lines fail
        clock = time.perf_counter()
        contacts, crossing = self._detector.advance(x), self._detector.intersections(x)
        seconds = time.perf_counter() - clock
        self._at = number
        of, files = self._membership, self.sequence.files
        sides, crossed = of.of_pairs(contacts.kind, contacts.elements), of.faces[crossing.faces]
        return FrameView(
            int(self.sequence.numbers[number]), float(self.sequence.times[number]), x0, x, contacts, crossing,
            sides[:, 0] == sides[:, 1], crossed[:, 0] == crossed[:, 1], seconds, number,
            "" if files is None else files[number], of.named(sides) if self.sequence.parts is not None else None,
        )  # fmt: skip
