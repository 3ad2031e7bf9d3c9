"""A Detector against the functions: the same frames, the first one included, and the same answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import published_sequences, real_motions, volume_steps
from bench.measure import Options, Report, interleaved, seconds
from pliant.scenes.shapes import weave

SHORT, LONG = 3, 40  # frames
SEQUENCE = 30  # frames from which a run counts as a sequence
TRIANGLES = 20_000
TURNS = 3  # of the rod, from one end to the other


class Case(NamedTuple):
    name: str
    mesh: Any
    frames: list[np.ndarray]
    rule: dict[str, Any]

    @property
    def elements(self) -> int:
        return len(self.mesh.types if isinstance(self.mesh, pliant.VolumeMesh) else self.mesh.faces)

    @property
    def is_sequence(self) -> bool:
        return len(self.frames) >= SEQUENCE


def detector(options: Options) -> None:
    """Time of a new Detector that goes through all frames, against ``ccd`` from each frame to the next."""
    report = Report(
        "detector",
        f"A Detector with its defaults against ccd on a mesh that is kept, {options.threads} threads, all frames, best "
        f"of {options.repeats}, interleaved",
        "scene, elements, frames, distance, ccd, Detector, ratio, contacts, same",
        options.save,
    )
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for case in _cases(options):
        jobs = {"ccd": partial(_each, case, options), "ours": partial(_kept, case, options)}
        one, other = interleaved(jobs, options.repeats).values()
        ratio, same = other.best / one.best, _hash(one.result) == _hash(other.result)
        ratios[case.is_sequence].append(ratio)
        report.add(
            case.name, f"{case.elements:,}", str(len(case.frames)), f"{case.rule.get('min_distance', 0):.3g}",
            seconds(one.best), seconds(other.best), f"{ratio:.2f}", f"{sum(map(len, one.result)):,}",
            "yes" if same else "NO", ratio=ratio,
        )  # fmt: skip
    report.show()
    for is_sequence, some in ratios.items():
        if some:
            middle = math.exp(sum(map(math.log, some)) / len(some))
            kind = f"sequences of {SEQUENCE} frames and more" if is_sequence else "short runs"
            print(f"{kind}: geometric mean {middle:.3f}, largest {max(some):.3f}")


def _each(case: Case, options: Options) -> list[pliant.Contacts]:
    return [pliant.ccd(case.mesh, a, b, threads=options.threads, **case.rule) for a, b in pairwise(case.frames)]


def _kept(case: Case, options: Options) -> list[pliant.Contacts]:
    kept = pliant.Detector(case.mesh, threads=options.threads, **case.rule)
    return [kept.advance(x) for x in case.frames][1:]


def _hash(tables: list[pliant.Contacts]) -> list[str]:
    return [fingerprint(table) for table in tables]


def _cases(options: Options) -> Iterator[Case]:
    for motion in real_motions():
        yield _ready(motion.name, pliant.TriMesh(motion.faces), [motion.x0, motion.x1], 0.0)
    for found in published_sequences():
        yield _ready(found.name, pliant.TriMesh(found.faces), found.frames, 0.0)
    most = options.triangles or TRIANGLES
    yield _twisted_rod(most)
    for name in pliant.scenes.names():
        made = pliant.scenes.load(name, triangles=most, frames=LONG)
        mesh = pliant.TriMesh(made.faces)
        yield _ready(name, mesh, list(made.frames[:SHORT]), 0.0)
        yield _ready(name, mesh, list(made.frames), 0.0)
        if name in ("twisted_cloth", "ball_heap"):
            yield _ready(name, mesh, list(made.frames), 1e-3)
    for name in ("octopi", "liver"):
        step = volume_steps(name, options.triangles)[0]
        there = [step.x0 + t * (step.x1 - step.x0) for t in np.linspace(0.0, 1.0, 8)]
        yield _ready(name, step.mesh, there, 0.0)


def _twisted_rod(triangles: int) -> Case:
    """The surface of a rod, ten times as long as it is wide, twisted more and more."""
    around = max(3, int(math.sqrt(triangles / 6.4)))
    along = max(2, triangles // (2 * around))
    faces, points = weave(around, along, around=True)
    angle, place = points[:, 0] * (2 * math.pi / around), points[:, 1] / along
    frames = []
    for turn in np.linspace(0.0, 2 * math.pi * TURNS, LONG):
        now = angle + turn * place
        frames.append(np.column_stack((0.05 * np.cos(now), 0.05 * np.sin(now), place)))
    return _ready("twisted rod", pliant.TriMesh(faces), frames, 0.0)


def _ready(name: str, mesh: Any, frames: list[np.ndarray], part: float) -> Case:
    """Topology is not timed: both sides have it; part : of the extent, for a distance."""
    _ = mesh.edges, mesh.components
    return Case(name, mesh, frames, {"min_distance": part * float(np.ptp(frames[0], axis=0).max())} if part else {})
