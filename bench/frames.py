"""Frame after frame: detectors side by side through the same sequence, and what each of them did in every frame."""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from bench.baselines import METHODS, Baseline
from bench.fingerprints import fingerprint
from bench.inputs import Sequence
from bench.measure import Options
from pliant import Detector, Tuning
from pliant.runtime.tally import Stage
from pliant.scenes import load

QUERIES: dict[str, Callable] = {"ccd": Detector.advance, "dcd": Detector.intersections}
NOT_COUNTED = 2  # frames: in the first trees are built, in the second the fronts of a motion


class Lap(NamedTuple):
    """What one query of one detector did in one frame."""

    seconds: float
    stages: dict[str, Stage]
    found: int  # contacts, or intersections
    hash: str
    front: int  # pairs of nodes in the front of this query

    @property
    def tests(self) -> int:
        """Exact tests."""
        return self.stages["exact"].pairs_in if "exact" in self.stages else 0

    def stage(self, name: str) -> float:
        """Seconds of a stage."""
        return self.stages[name].seconds if name in self.stages else 0.0


class Laps(NamedTuple):
    """One query, all detectors, all frames that count; every detector had the same answers."""

    scene: str
    triangles: int
    query: str
    of: dict[str, list[Lap]]

    def middle(self, name: str, value: Callable[[Lap], float] = lambda lap: lap.seconds) -> float:
        """The median over frames."""
        return statistics.median(map(value, self.of[name]))

    def ratio(self, name: str, base: str, value: Callable[[Lap], float] = lambda lap: lap.seconds) -> float:
        """The median over frames of the ratio to another detector in the same frame."""
        pairs = zip(self.of[name], self.of[base])
        return statistics.median(value(lap) / max(value(other), 1e-9) for lap, other in pairs)

    def tests_per_contact(self, name: str) -> float | None:
        """Exact tests, over all frames, for each contact or intersection that there is."""
        found = sum(lap.found for lap in self.of[name])
        return sum(lap.tests for lap in self.of[name]) / found if found else None

    @property
    def found(self) -> float:
        return self.middle(next(iter(self.of)), lambda lap: lap.found)

    @property
    def hash(self) -> str:
        """Of all frames; that of each frame is the same for every detector."""
        of_frames = "".join(lap.hash for lap in next(iter(self.of.values())))
        return hashlib.sha256(of_frames.encode()).hexdigest()[:12]

    def record(self, options: Options) -> dict:
        """For ``--save``."""
        return {
            "scene": self.scene, "triangles": self.triangles, "query": self.query, "threads": options.threads,
            "hash": self.hash, "frames": {name: [_saved(lap) for lap in laps] for name, laps in self.of.items()},
        }  # fmt: skip


def _saved(lap: Lap) -> dict:
    return lap._asdict() | {"stages": [list(stage) for stage in lap.stages.values()]}


def race(sequence: Sequence, detectors: dict[str, Detector], only: dict[str, str] | None = None) -> list[Laps]:
    """All detectors through all frames: in each frame one after the other, and another one first in the next frame.

    only : the one query for which a detector is there; each of the others has to answer both
    """
    only = only or {}
    laps: dict[str, dict[str, list[Lap]]] = {query: {} for query in QUERIES}
    names = list(detectors)
    for number, x in enumerate(sequence.frames):
        first = number % len(names)
        for query, run in QUERIES.items():
            in_frame = {}
            for name in names[first:] + names[:first]:
                if only.get(name, query) == query:
                    in_frame[name] = _lap(detectors[name], query, run, x)
            hashes = {name: lap.hash for name, lap in in_frame.items()}
            if len(set(hashes.values())) > 1:
                raise SystemExit(f"{sequence.name}, frame {number}, {query}: the answers differ: {hashes}")
            if number >= NOT_COUNTED:
                for name in in_frame:
                    laps[query].setdefault(name, []).append(in_frame[name])
    triangles = len(sequence.faces)
    in_order = {query: {name: of[name] for name in names if name in of} for query, of in laps.items()}
    return [Laps(sequence.name, triangles, query, of) for query, of in in_order.items() if of]


def _lap(detector: Detector, query: str, run: Callable, x) -> Lap:
    clock = time.perf_counter()
    answer = run(detector, x)
    seconds = time.perf_counter() - clock
    stages = {stage.name: stage for stage in answer.stages}
    return Lap(seconds, stages, len(answer), fingerprint(answer), detector.front_size)


def load_kernels(options: Options) -> None:
    """Compile or load what the detectors and all baselines need, so that no time below is the compiler's."""
    tiny = load("twisting", 2_000, frames=3)
    detectors = [
        Detector(tiny.faces, tuning=Tuning(culling=culling), threads=options.threads)
        for culling in ("boxes", "cones+front")
    ]
    for x in tiny.frames:
        for detector in detectors:
            detector.advance(x)
            detector.intersections(x)
    for name in METHODS:
        baseline = Baseline(name, tiny.faces, threads=options.threads)
        baseline.intersections(tiny.x0)
        if name != "star_contours":
            baseline.advance(tiny.x0)
            baseline.advance(tiny.x1)
