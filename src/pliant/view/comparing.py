"""One frame with each way of culling: how long it takes, what is examined, and that nothing else is found."""

from __future__ import annotations

import hashlib
import time
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from pliant.engine.plan import CULLINGS, Tuning
from pliant.queries.detector import Detector
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.view.frames import Frames

WAYS = CULLINGS[1:5]  # without "auto" and brute force


class Compared(NamedTuple):
    culling: str
    milliseconds: float
    nodes: int  # pairs of nodes of the hierarchy that were compared
    elements: int  # pairs of triangles that were left of them
    exact: int  # pairs that came to the elementary test
    fingerprint: str  # equal where tables are equal, to the bit


def compare(frames: Frames, number: int) -> tuple[Compared, ...]:
    """Contacts up to a frame and intersections in it, as a detector finds them that has just done the frame before.

    In the first two frames there is none before: they include the building of the hierarchy.
    """
    sequence, rows = frames.sequence, []
    before = [sequence[i] for i in range(max(number - 2, 0), number)]
    x = sequence[number]
    for culling in WAYS:
        detector = Detector(
            frames.mesh, objects=sequence.objects, pairs=frames.pairs, tuning=Tuning(culling=culling),
            threads=frames.threads,
        )  # fmt: skip
        for earlier in before:
            detector.advance(earlier)
            detector.intersections(earlier)
        clock = time.perf_counter()
        contacts, crossing = detector.advance(x), detector.intersections(x)
        rows.append(_compared(culling, contacts, crossing, time.perf_counter() - clock))
    return tuple(rows)


def _compared(culling: str, contacts: Contacts, crossing: Intersections, seconds: float) -> Compared:
    stages = [stage for table in (contacts, crossing) for stage in table.stages]
    walked = [stage for stage in stages if stage.name == "traversal"]
    exact = sum(stage.pairs_in for stage in stages if stage.name == "exact")
    nodes, elements = sum(s.pairs_in for s in walked), sum(s.pairs_out for s in walked)
    return Compared(culling, 1e3 * seconds, nodes, elements, exact, fingerprint(contacts, crossing))


def fingerprint(contacts: Contacts, crossing: Intersections) -> str:
    """A hash of all columns of both tables; what stages took is none."""
    sha = hashlib.sha256()
    for table in (contacts, crossing):
        for field in fields(table):
            if field.name != "stages":
                sha.update(np.ascontiguousarray(getattr(table, field.name)).tobytes())
    return sha.hexdigest()[:12]
