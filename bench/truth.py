"""Every frame of every clip of characters: what is found, against exact tests of all vertices and all tetrahedra."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import pliant
from bench.characters import HOW, RATE, Role, as_cells, cast
from bench.measure import Options, Report
from pliant.characters.body.obstacles import Obstacle, place
from pliant.characters.detection.on_demand import UPDATES, CollisionDetector
from pliant.characters.playing import play
from tests.reference import tetrahedra


def truth(options: Options) -> None:
    report = Report(
        "truth",
        f"Truth, {RATE:g} frames a second, all clips: safe and full rehashing, pliant.inside, and a reference without "
        "any hashing (boxes, then signs of volumes, with error bounds\nor in fractions) find the same pairs in every "
        "frame; and what joint angles find (tolerance 120 degrees), with frames whose collisions they all miss",
        "scene, clip, skinning, frames, colliding, by fractions, pairs, recall, precision, blind frames, s",
        options.save,
    )
    frames = pairs = 0
    for role in cast():
        for clip in role.character.clips:
            for how in HOW:
                clock = time.perf_counter()
                counts, angles = _follow(role, clip, how, options.threads)
                report.add(
                    role.name, clip.rpartition("|")[2], how, *(f"{n:,}" for n in counts), *as_cells(*angles),
                    f"{time.perf_counter() - clock:.0f}", scene=role.name, clip=clip, skinning=how, counts=counts,
                    angles=angles,
                )  # fmt: skip
                frames, pairs = frames + counts[0], pairs + angles[0]
    report.show()
    print(f"{frames:,} frames, {pairs:,} pairs: no difference")


def _follow(role: Role, clip: str, how: str, threads: int) -> tuple[tuple[int, int, int], tuple[int, int, int, int]]:
    """Frames, those with collisions, and tests by fractions; pairs, those that angles find and report, blind frames."""
    rigid = [Obstacle(o.volume, o.rest) for o in role.obstacles]
    detectors = {
        u: CollisionDetector(role.body, role.character.skeleton, update=u, obstacles=rigid, threads=threads)
        for u in UPDATES
    }
    volume = detectors["full"].volume
    frames = colliding = fractions = count = hit = reported = blind = 0
    for t, x, transforms, moved in _positions(role, clip, how, threads):
        together = np.concatenate((x, *place(rigid, moved)))
        true, slow = tetrahedra.inside(volume.cells["tetra"], together)
        inside = pliant.inside(volume, together, depth=False, threads=threads)
        found = {u: detector.find(x, transforms, moved) for u, detector in detectors.items()}
        found["inside"] = np.stack((inside.vertices, inside.cells), axis=1)
        for name in ("full", "safe", "inside"):
            if not np.array_equal(found[name], true):
                raise SystemExit(f"{role.name} {clip}, {how}, at {t:.4f} s: {name} differs from the reference")
        known, guessed = (set(map(tuple, rows.tolist())) for rows in (true, found["angles"]))
        frames, colliding, fractions = frames + 1, colliding + bool(known), fractions + slow
        count, hit, reported = count + len(known), hit + len(known & guessed), reported + len(guessed)
        blind += bool(known) and not known & guessed
    return (frames, colliding, fractions), (count, hit, reported, blind)


def _positions(
    role: Role, clip: str, how: str, threads: int
) -> Iterator[tuple[float, np.ndarray, np.ndarray, np.ndarray | None]]:
    """Time, positions of the body, and transforms of joints and obstacles, of each frame."""
    for frame in play(
        role.character, clip, body=role.body, obstacles=role.obstacles, rate=RATE, threads=threads, **HOW[how]
    ):
        moved = np.stack([o.transform(frame.time) for o in role.obstacles]) if role.obstacles else None
        yield frame.time, frame.x, role.character.transforms(clip, frame.time), moved
