"""Scenes above 10,000 triangles in which little happens, and a step that must not examine what it cannot need; a part
of ``peers``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import Motion, built_in, published_sequences, real_motions
from bench.measure import Options, Report, interleaved
from bench.peers import Peer
from bench.small import sheets
from pliant.scenes.shapes import icosphere, weave

FRAMES = {"Kick": (3, 20), "Rumba": (10, 60)}  # from which to the next
LONG = 0.1  # seconds of the peer, from which on a step is to take a tenth; else a third


def light(options: Options) -> None:
    report = Report(
        "peers",
        f"Light scenes, {options.threads} threads, best of {options.repeats} interleaved, milliseconds. All contacts "
        "(ccd) against ipctk's broad phase alone\n(candidates by LBVH); the first (step) against candidates + Additive "
        "CCD",
        "scene, candidates, + ACCD, ccd, step, ccd:candidates, step:ACCD, bar, contacts, t, hashes",
        options.save,
    )
    for scene in light_scenes(options.triangles):
        _compare(scene, options, report)
    report.show()


def light_scenes(most: int | None = None) -> Iterator[Motion]:
    """most : triangles; larger scenes are made smaller, or left out where they are published ones"""
    for found in published_sequences():
        if most is None or len(found.faces) <= most:
            for k in FRAMES.get(found.name, ()):
                yield Motion(f"{found.name} {k}", found.faces, *found.frames[k : k + 2])
    if most is None:
        yield from real_motions()
    for triangles in (20_000, 40_000):
        yield sheets(min(triangles, most or triangles))
    yield built_in("passing_sheets", min(20_000, most or 20_000))
    yield built_in("hanging_cloth", min(40_000, most or 40_000))
    for turns in (0.25, 3.0):
        yield twisted_rod(min(80_000, most or 80_000), turns)
    yield crowd(min(80_000, most or 80_000))


def twisted_rod(triangles: int, turns: float) -> Motion:
    """The surface of a rod, ten times as long as it is wide, that is twisted by one in forty of so many turns."""
    around = max(3, int(math.sqrt(triangles / 6.4)))
    along = max(2, triangles // (2 * around))
    faces, points = weave(around, along, around=True)
    angle, place = points[:, 0] * (2 * math.pi / around), points[:, 1] / along
    ends = []
    for turn in (0.5 * turns, 0.525 * turns):
        now = angle + 2 * math.pi * turn * place
        ends.append(np.column_stack((0.05 * np.cos(now), 0.05 * np.sin(now), place)))
    return Motion(f"rod {len(faces):,}, {turns:g} turns", faces, *ends)


def crowd(triangles: int, seed: int = 0) -> Motion:
    """Balls in a lattice that nearly touch each of their neighbours, and move by about as much as is between them."""
    rng, (faces, ball) = np.random.default_rng(seed), icosphere(6)
    side = max(2, round((triangles / len(faces)) ** (1 / 3)))
    centres = np.stack(np.meshgrid(*(np.arange(side),) * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3) * 2.02
    turned = np.linalg.qr(rng.normal(size=(len(centres), 3, 3)))[0]
    x0 = (centres + ball @ turned).reshape(-1, 3)
    moves = 0.01 * rng.normal(size=(len(centres), 1, 3))
    x1 = (centres + ball @ turned + moves).reshape(-1, 3)
    every = (faces[None] + (len(ball) * np.arange(len(centres)))[:, None, None]).reshape(-1, 3)
    return Motion(f"crowd {len(every):,}", every.astype(np.int32), x0, x1)


def _compare(scene: Motion, options: Options, report: Report) -> None:
    peer, mesh = Peer(scene, options.threads), pliant.TriMesh(scene.faces)
    held: list[Any] = []

    def candidates() -> int:
        held[:] = [peer.candidates()]
        return len(held[0])

    timed = interleaved(
        {
            "ccd": lambda: pliant.ccd(mesh, scene.x0, scene.x1, threads=options.threads),
            "candidates": candidates,
            "ACCD": lambda: peer.step_size(held[0], "ACCD"),
            "step": lambda: pliant.step(mesh, scene.x0, scene.x1, threads=options.threads),
        },
        options.repeats,
    )
    best = {name: t.best for name, t in timed.items()}
    best["ACCD"] += best["candidates"]
    contacts, step = timed["ccd"].result, timed["step"].result
    hashes = fingerprint(contacts), fingerprint(step)
    bar = 0.1 if best["ACCD"] > LONG else 1 / 3
    of_ccd, of_step = best["ccd"] / best["candidates"], best["step"] / best["ACCD"]
    report.add(
        scene.name, *(f"{1e3 * best[name]:.1f}" for name in ("candidates", "ACCD", "ccd", "step")), f"{of_ccd:.2f}",
        f"{of_step:.3f}", f"{bar:.2f}", f"{len(contacts):,}", f"{step.t:.3g}", " ".join(one[:6] for one in hashes),
        scene=scene.name, threads=options.threads, times=best, hash=hashes[0], step_hash=hashes[1],
        candidates=timed["candidates"].result, stages=[list(stage) for stage in contacts.stages],
    )  # fmt: skip
