"""Sequences that are untangled: every frame free of intersections, and coherent in time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.frames.carrying import Frame, carried
from pliant.frames.sequence import Sequence
from pliant.mesh.triangles import TriMesh
from pliant.queries.detector import Detector
from pliant.results.exports import frame_of
from pliant.results.intersections import Intersections
from pliant.runtime.arrays import ShapeError
from pliant.runtime.processes import expect
from pliant.runtime.threads import Progress
from pliant.untangling.given import Given
from pliant.untangling.judging import Limits, is_within_limits
from pliant.untangling.sides import enclosures_of, sides_checked, sides_of, wrong_side
from pliant.untangling.untangle import untangle

if TYPE_CHECKING:
    import pandas

_BEGINNINGS = 3  # frames that are untangled by themselves until one is clean, those with fewest pairs first
CARRIED, AS_IT_WAS = "from the frame beside it", "nothing intersects"


class UntangledFrame(NamedTuple):
    """What became of one frame.

    number : that the frame is known by
    time : its time in the sequence
    pairs : of faces that intersected in it
    clean : an exact check finds no pair outside of ``unfixable`` any more
    remaining : pairs that still intersect, without ``unfixable``
    unfixable : pairs of faces all of whose vertices are fixed
    wrong_side : (k,) int32 vertices on the wrong side; None where no side was given, so nothing was checked
    moved : (n,) bool
    largest : the largest distance that a vertex was moved
    method : "from the frame beside it", "nothing intersects", or how it was untangled by itself
    seconds : that it took
    sides : how they were checked, as in ``Untangled``
    """

    number: int
    time: float
    pairs: int
    clean: bool
    remaining: Intersections
    unfixable: Intersections
    wrong_side: np.ndarray | None
    moved: np.ndarray
    largest: float
    method: str
    seconds: float
    sides: str = "not checked"


@dataclass(frozen=True, eq=False, repr=False)
class UntangledSequence:
    """A sequence without intersections, and what became of each frame.

    sequence : the new positions, with all else as it was
    given : the sequence as it was
    frames : an ``UntangledFrame`` for each frame, in their order
    """

    sequence: Sequence
    given: Sequence
    frames: tuple[UntangledFrame, ...]

    @property
    def clean(self) -> bool:
        """Whether every frame is."""
        return all(frame.clean for frame in self.frames)

    @cached_property
    def popping(self) -> np.ndarray:
        """(f,) how suddenly displacements change at each frame: the largest second difference in time of any vertex's,
        by the mean length of all edges; 0 for the first frame and the last."""
        shift = [self.sequence[i] - self.given[i] for i in range(len(self.frames))]
        return _second_differences(shift) / self._edge_length

    @cached_property
    def given_motion(self) -> np.ndarray:
        """(f,) the same of the positions that were given: what ``popping`` has to be compared with."""
        return _second_differences(list(self.given)) / self._edge_length

    @cached_property
    def _edge_length(self) -> float:
        edges, x = TriMesh(self.given.faces).edges, self.given[0]
        return float(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1).mean()) if len(edges) else 1.0

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, frame: int) -> UntangledFrame:
        """What became of a frame, by its place in the sequence."""
        return self.frames[frame]

    def __repr__(self) -> str:
        left = sum(not frame.clean for frame in self.frames)
        words = "all clean" if not left else f"{left} not clean"
        touched = sum(bool(frame.moved.any()) for frame in self.frames)
        return f"UntangledSequence({len(self)} frames, {touched} changed, {words})"

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
        columns = {
            name: [getattr(frame, name) for frame in self.frames] for name in ("number", "time", "pairs", "clean")
        }
        columns["remaining"] = [len(frame.remaining) for frame in self.frames]
        columns["moved"] = [int(frame.moved.sum()) for frame in self.frames]
        columns |= {name: [getattr(frame, name) for frame in self.frames] for name in ("largest", "method", "seconds")}
        return frame_of(columns | {"popping": self.popping, "given_motion": self.given_motion})


def untangle_sequence(
    sequence: Sequence,
    *,
    fixed: Any = None,
    layers: Any = None,
    outside_of: Any = None,
    reference: Any = None,
    max_move: float | None = None,
    max_distortion: float = 4.0,
    seconds: float = 60.0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> UntangledSequence:
    """Every frame of a sequence free of intersections, and coherent in time: nothing pops.

    A frame in which nothing intersects stays as it is, bit for bit. Every other one is reached from the frame beside it
    that is free, on a way that is free of contact, and as near to its own positions as that leads; so what is separated
    stays on its side from frame to frame. The first frame without intersections is where it begins, both ways in time;
    if there is none, one of those with fewest pairs is untangled by itself, as ``pliant.untangle`` does it, and so is
    each frame that cannot be reached, or only beyond the limits.

    Parameters
    ----------
    sequence : Sequence
    fixed, layers, outside_of, max_move, max_distortion, threads
        As in ``pliant.untangle``, for all frames.
    reference : (n, 3) floats, optional
        Positions that are free of intersections, for frames that are untangled by themselves.
    seconds : float
        For each frame that is untangled by itself.
    progress : callable, optional
        A function of (frames done, frames in all).

    Returns
    -------
    UntangledSequence

    Raises
    ------
    MeshError
        As ``pliant.untangle``; where a frame cannot be read, the message names it.
    """
    expect("untangle")
    options: dict[str, Any] = {
        "fixed": fixed, "layers": layers, "outside_of": outside_of, "reference": reference, "max_move": max_move,
        "max_distortion": max_distortion, "seconds": seconds, "threads": threads,
    }  # fmt: skip
    return _Course(sequence, options, progress).run()


class _Course:
    """All frames of one call."""

    def __init__(self, sequence: Sequence, options: dict[str, Any], progress: Progress | None) -> None:
        self._sequence, self._options, self._progress = sequence, options, progress
        self._x = list(sequence)
        if not self._x:
            raise ShapeError(f"{sequence.name} has no frames")
        self._mesh = TriMesh(sequence.faces)
        self._given = Given.of(self._mesh, self._x[0], options)
        self._detector = Detector(self._mesh, threads=self._given.threads)
        self._limits = Limits(self._given.max_move, self._given.max_distortion)
        self._enclosures = enclosures_of(self._given, cache(lambda: sides_of(self._given)))
        self._hits: list[tuple[Intersections, Intersections]] = []  # of each frame: what can be repaired, and what not
        self._free: list[np.ndarray] = []
        self._done: dict[int, UntangledFrame] = {}

    def run(self) -> UntangledSequence:
        self._hits = [self._intersections(x) for x in self._x]
        self._free = list(self._x)
        anchor = self._begin()
        for way in (range(anchor + 1, len(self._x)), range(anchor - 1, -1, -1)):
            before = self._frame(anchor)
            for place in way:
                before = self._follow(place, before)
        frames = tuple(self._done[place] for place in range(len(self._x)))
        return UntangledSequence(self._sequence._changed(frames=np.array(self._free)), self._sequence, frames)

    # ---- frames

    def _begin(self) -> int:
        """The place of the frame that the others are reached from; it is done then."""
        order = np.argsort([len(tangled) for tangled, _ in self._hits], kind="stable")[:_BEGINNINGS].tolist()
        for place in order:
            self._by_itself(place)
            if self._done[place].clean:
                return place
        return order[0]

    def _frame(self, place: int) -> Frame | None:
        """None where it is not free."""
        return Frame(self._x[place], self._free[place]) if self._done[place].clean else None

    def _follow(self, place: int, before: Frame | None) -> Frame | None:
        """Do a frame, given the last one that is free; returns that for the next."""
        if place not in self._done:
            clock, tangled = time.perf_counter(), self._hits[place][0]
            if not len(tangled):
                self._keep(place, self._x[place], tangled, AS_IT_WAS, clock)
            elif before is None or not self._carry(place, before, clock):
                self._by_itself(place)
        return self._frame(place) or before

    def _carry(self, place: int, before: Frame, clock: float) -> bool:
        """Whether it could be reached: window by window, or where these get into each other's way, all at once."""
        x, given = self._x[place], self._given
        for pairs in (self._hits[place][0].faces, None):
            free = carried(self._mesh, before, x, pairs, given.fixed, given.threads)
            if free is None or (free[given.fixed] != x[given.fixed]).any():
                continue
            remaining = self._intersections(free)[0]
            if not len(remaining) and is_within_limits(self._mesh.faces, x, free, self._limits):
                self._keep(place, free, remaining, CARRIED, clock)
                return True
        return False

    def _by_itself(self, place: int) -> None:
        clock = time.perf_counter()
        found = untangle(self._mesh, self._x[place], **self._options)
        self._keep(place, found.positions, found.remaining, found.method, clock)

    def _keep(self, place: int, free: np.ndarray, remaining: Intersections, method: str, clock: float) -> None:
        x, (tangled, unfixable) = self._x[place], self._hits[place]
        self._free[place] = free
        moved = (free != x).any(axis=1)
        self._done[place] = UntangledFrame(
            int(self._sequence.numbers[place]), float(self._sequence.times[place]), len(tangled), not len(remaining),
            remaining, unfixable, wrong_side(self._enclosures, free, self._given.threads), moved,
            float(np.linalg.norm(free - x, axis=1).max(initial=0.0)), method, time.perf_counter() - clock,
            sides_checked(self._enclosures),
        )  # fmt: skip
        if self._progress:
            self._progress(len(self._done), len(self._x))

    def _intersections(self, x: np.ndarray) -> tuple[Intersections, Intersections]:
        """What intersects: pairs with a vertex that can move, and the others."""
        hits = self._detector.intersections(x)
        is_fixed = self._given.fixed[self._mesh.faces[hits.faces]].all(axis=(1, 2))
        return hits[~is_fixed], hits[is_fixed]


def _second_differences(positions: list[np.ndarray]) -> np.ndarray:
    """(f,) the largest of any vertex at each frame."""
    out = np.zeros(len(positions))
    for i in range(1, len(positions) - 1):
        change = positions[i - 1] - 2.0 * positions[i] + positions[i + 1]
        out[i] = np.linalg.norm(change, axis=1).max(initial=0.0)
    return out
