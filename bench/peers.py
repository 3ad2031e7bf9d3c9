"""pliant and ipctk on the same motion, in the same process, one after the other: the result is a ratio."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import Motion, built_in, real_motions
from bench.measure import Options, Report, interleaved, seconds

NARROW = {"TI": "TightInclusionCCD", "ACCD": "AdditiveCCD"}


class Peer:
    """ipctk on one motion: its mesh is made beforehand, as pliant's is, and arrays have the layout it wants."""

    def __init__(self, scene: Motion, threads: int) -> None:
        ipctk: Any = import_module("ipctk")

        self._ipctk = ipctk
        ipctk.set_num_threads(threads)
        faces = np.asfortranarray(scene.faces, np.int32)
        self._x0, self._x1 = np.asfortranarray(scene.x0, np.float64), np.asfortranarray(scene.x1, np.float64)
        self._mesh = ipctk.CollisionMesh(self._x0, ipctk.edges(faces), faces)

    def candidates(self) -> Any:
        found = self._ipctk.Candidates()
        found.build(self._mesh, self._x0, self._x1, inflation_radius=0.0, broad_phase=self._ipctk.LBVH())
        return found

    def candidates_within(self, distance: float, moving: bool) -> Any:
        """Pairs that may come within a distance, during the motion or at its start."""
        found, broad = self._ipctk.Candidates(), self._ipctk.LBVH()
        positions = (self._x0, self._x1) if moving else (self._x0,)
        found.build(self._mesh, *positions, inflation_radius=0.5 * distance, broad_phase=broad)
        return found

    def distances(self, candidates: Any, distance: float) -> int:
        """How many are within the distance at the start; its collision set has them."""
        collisions = self._ipctk.NormalCollisions()
        collisions.build(candidates, self._mesh, self._x0, distance)
        return len(collisions)

    def step_size(self, candidates: Any, narrow: str, min_distance: float = 0.0) -> float:
        solver = getattr(self._ipctk, NARROW[narrow])()
        return candidates.compute_collision_free_stepsize(self._mesh, self._x0, self._x1, min_distance, solver)


def peers(options: Options) -> None:
    parts: dict[str, Callable[[Options], None]] = {
        "motions": _motions,
        "light": lambda given: import_module("bench.light").light(given),
        "small": lambda given: import_module("bench.small").small(given),
    }
    for name, part in parts.items():
        if not options.only or name in options.only:
            part(options)


def _motions(options: Options) -> None:
    report = Report(
        "peers",
        f"pliant and ipctk, {options.threads} threads, best of {options.repeats} interleaved, seconds. "
        "All contacts (ccd) and the first (safe_step)\nagainst ipctk's step size alone: "
        "candidates (LBVH) + Tight Inclusion, candidates + Additive CCD",
        "scene, candidates, + TI, + ACCD, ccd, safe_step, ccd:TI, ccd:ACCD, safe:TI, safe:ACCD, contacts, hash",
        options.save,
    )
    for scene in real_motions("armadillo-rollers", "cloth-ball"):
        _compare(scene, options, report)
    report.show()
    _passing_sheets(options)


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
            "TI": lambda: peer.step_size(held[0], "TI"),
            "ACCD": lambda: peer.step_size(held[0], "ACCD"),
            "safe_step": lambda: pliant.safe_step(mesh, scene.x0, scene.x1, threads=options.threads),
        },
        options.repeats,
    )
    best = {name: t.best for name, t in timed.items()}
    with_ti, with_accd = best["candidates"] + best["TI"], best["candidates"] + best["ACCD"]
    ratios = [ours / theirs for ours in (best["ccd"], best["safe_step"]) for theirs in (with_ti, with_accd)]
    contacts, step = timed["ccd"].result, timed["safe_step"].result
    report.add(
        scene.name, seconds(best["candidates"]), seconds(with_ti), seconds(with_accd), seconds(best["ccd"]),
        seconds(best["safe_step"]), *(f"{r:.2f}" for r in ratios), f"{len(contacts):,}", fingerprint(contacts),
        scene=scene.name, threads=options.threads, times=best, hash=fingerprint(contacts),
        step={"pliant": step.t, "TI": timed["TI"].result, "ACCD": timed["ACCD"].result},
        stages=[list(stage) for stage in contacts.stages],
    )  # fmt: skip


def _passing_sheets(options: Options) -> None:
    report = Report(
        "peers",
        "A motion without any contact, seconds",
        "scene, ccd, safe_step, safe:ccd, contacts, hash",
        options.save,
    )
    scene = built_in("passing_sheets", 20_000)
    mesh = pliant.TriMesh(scene.faces)
    timed = interleaved(
        {
            "ccd": lambda: pliant.ccd(mesh, scene.x0, scene.x1, threads=options.threads),
            "safe_step": lambda: pliant.safe_step(mesh, scene.x0, scene.x1, threads=options.threads),
        },
        options.repeats,
    )
    best = {name: t.best for name, t in timed.items()}
    contacts = timed["ccd"].result
    report.add(
        scene.name, seconds(best["ccd"]), seconds(best["safe_step"]), f"{best['safe_step'] / best['ccd']:.2f}",
        f"{len(contacts):,}", fingerprint(contacts), scene=scene.name, threads=options.threads, times=best,
        hash=fingerprint(contacts),
    )  # fmt: skip
    report.show()
