"""Distances and thickness, pliant and ipctk on the same positions: proximity, contact and steps within a distance."""

from __future__ import annotations

from typing import Any

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import Motion, real_motions
from bench.measure import Options, Report, interleaved, seconds
from bench.peers import Peer

OF_EXTENT = 1e-4, 1e-3  # distances, as parts of the scene's extent


def near(options: Options) -> None:
    report = Report(
        "near",
        f"pliant and ipctk within a distance, {options.threads} threads, best of {options.repeats} interleaved, "
        "seconds. proximity and ccd(min_distance)\nagainst ipctk's candidates with the same inflation (at x0; over the "
        "motion) plus its distances",
        "scene, distance, candidates, + distances, proximity, ratio, pairs, "
        "candidates over motion, + distances, ccd, ratio, contacts, hash",
        options.save,
    )
    steps = Report(
        "near",
        "safe_step(min_distance) against ipctk's candidates with the same inflation plus step size (Additive CCD);\n"
        "the distance is half of what the closest pair starts with, so that the step is not 0",
        "scene, distance, candidates, + ACCD, safe_step, ratio, t, t of ACCD",
        options.save,
    )
    for scene in real_motions("armadillo-rollers", "cloth-ball"):
        extent = float((scene.x0.max(axis=0) - scene.x0.min(axis=0)).max())
        for part in OF_EXTENT:
            _compare(scene, part * extent, options, report)
        _compare_steps(scene, extent, options, steps)
    report.show()
    steps.show()


def _compare(scene: Motion, distance: float, options: Options, report: Report) -> None:
    peer, mesh, held = Peer(scene, options.threads), pliant.TriMesh(scene.faces), dict[str, Any]()

    def candidates(moving: bool) -> int:
        held[str(moving)] = peer.candidates_within(distance, moving)
        return len(held[str(moving)])

    timed = interleaved(
        {
            "proximity": lambda: pliant.proximity(mesh, scene.x0, within=distance, threads=options.threads),
            "candidates": lambda: candidates(False),
            "distances": lambda: peer.distances(held["False"], distance),
            "ccd": lambda: pliant.ccd(mesh, scene.x0, scene.x1, min_distance=distance, threads=options.threads),
            "moving": lambda: candidates(True),
            "moving distances": lambda: peer.distances(held["True"], distance),
        },
        options.repeats,
    )
    best = {name: t.best for name, t in timed.items()}
    rest, motion = best["candidates"] + best["distances"], best["moving"] + best["moving distances"]
    contacts = timed["ccd"].result
    report.add(
        scene.name, f"{distance:.3g}", seconds(best["candidates"]), seconds(rest), seconds(best["proximity"]),
        f"{best['proximity'] / rest:.2f}", f"{len(timed['proximity'].result):,}", seconds(best["moving"]),
        seconds(motion), seconds(best["ccd"]), f"{best['ccd'] / motion:.2f}", f"{len(contacts):,}",
        fingerprint(contacts), scene=scene.name, threads=options.threads, times=best, hash=fingerprint(contacts),
    )  # fmt: skip


def _compare_steps(scene: Motion, extent: float, options: Options, report: Report) -> None:
    peer, mesh, held = Peer(scene, options.threads), pliant.TriMesh(scene.faces), list[Any]()
    within = extent * 1e-6
    while len(close := pliant.proximity(mesh, scene.x0, within=within)) == 0:
        within *= 10.0
    distance = 0.5 * float(close.distance.min())

    def candidates() -> int:
        held[:] = [peer.candidates_within(distance, True)]
        return len(held[0])

    timed = interleaved(
        {
            "safe_step": lambda: pliant.safe_step(
                mesh, scene.x0, scene.x1, min_distance=distance, threads=options.threads
            ),
            "candidates": candidates,
            "ACCD": lambda: peer.step_size(held[0], "ACCD", distance),
        },
        options.repeats,
    )
    best = {name: t.best for name, t in timed.items()}
    theirs = best["candidates"] + best["ACCD"]
    report.add(
        scene.name, f"{distance:.3g}", seconds(best["candidates"]), seconds(theirs), seconds(best["safe_step"]),
        f"{best['safe_step'] / theirs:.2f}", f"{timed['safe_step'].result.t:.6g}", f"{timed['ACCD'].result:.6g}",
        scene=scene.name, threads=options.threads, times=best,
    )  # fmt: skip
