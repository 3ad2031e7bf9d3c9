"""Small scenes, and many of them, beside ipctk: two rough sheets that approach each other; a part of ``peers``."""

from __future__ import annotations

import numpy as np

import pliant
from bench.fingerprints import Hashes, fingerprint
from bench.inputs import Motion
from bench.measure import Options, Report, interleaved
from bench.peers import Peer

SIZES = (4, 64, 256, 1024, 4096)  # triangles
ROUNDS = 200_000  # triangles in all, for each repeat: times of some microseconds need many rounds
BATCH, OF_BATCH = 1000, 256  # scenes, and triangles of each


def sheets(triangles: int, seed: int = 0) -> Motion:
    """Two sheets of so many triangles in all, rough and displaced at random, that end up within each other."""
    rng, side = np.random.default_rng(seed), round((triangles / 4) ** 0.5)
    corner = np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[:-1, 1:], corner[1:, 1:]
    sheet = np.concatenate([np.stack(three, axis=-1).reshape(-1, 3) for three in ((a, b, c), (b, d, c))])
    flat = np.zeros((corner.size, 3))
    flat[:, 0], flat[:, 1] = np.divmod(np.arange(corner.size), side + 1)
    x0 = np.concatenate((flat, flat + (0.37, 0.21, 1.6))) + (0.1, 0.1, 0.3) * rng.normal(size=(2 * corner.size, 3))
    x1 = x0 + np.repeat(((0.0, 0.0, 0.5), (0.0, 0.0, -0.5)), corner.size, axis=0) + 0.1 * rng.normal(size=x0.shape)
    faces = np.concatenate((sheet, sheet + corner.size)).astype(np.int32)
    return Motion(f"sheets {len(faces):,}", faces, x0, x1)


def small(options: Options) -> None:
    _one_by_one(options)
    _at_once(options)


def _one_by_one(options: Options) -> None:
    report = Report(
        "peers",
        f"Small scenes, {options.threads} threads, best of many interleaved, microseconds. Detector: that keeps its "
        "memory.\nAgainst ipctk's candidates (LBVH) + Additive CCD",
        "scene, + ACCD, ccd, safe_step, Detector, its step, ccd:ACCD, safe:ACCD, contacts, hash",
        options.save,
    )
    for size in SIZES:
        scene = sheets(size)
        peer, mesh = Peer(scene, options.threads), pliant.TriMesh(scene.faces)
        detector, motion = pliant.Detector(mesh, threads=options.threads), (scene.x0, scene.x1)
        timed = interleaved(
            {
                "ACCD": lambda peer=peer: peer.step_size(peer.candidates(), "ACCD"),
                "ccd": lambda mesh=mesh, motion=motion: pliant.ccd(mesh, *motion, threads=options.threads),
                "safe_step": lambda mesh=mesh, motion=motion: pliant.safe_step(mesh, *motion, threads=options.threads),
                "Detector": lambda detector=detector, motion=motion: detector.contacts(*motion),
                "Detector.step": lambda detector=detector, motion=motion: detector.step(*motion),
            },
            options.repeats * min(2000, max(20, ROUNDS // size)),
        )
        best, contacts = {name: t.best for name, t in timed.items()}, timed["ccd"].result
        ratios = (f"{best[name] / best['ACCD']:.2f}" for name in ("ccd", "safe_step"))
        report.add(
            scene.name, *(f"{1e6 * one:.0f}" for one in best.values()), *ratios, f"{len(contacts):,}",
            fingerprint(contacts), scene=scene.name, threads=options.threads, times=best, hash=fingerprint(contacts),
        )  # fmt: skip
    report.show()


def _at_once(options: Options) -> None:
    report = Report(
        "peers",
        f"A batch of {BATCH:,} scenes, {options.threads} threads, best of {options.repeats} interleaved, milliseconds, "
        "against ipctk one after the other",
        "scenes, + ACCD, ccd_batch, step_batch, ccd:ACCD, step:ACCD, contacts, hash of toi",
        options.save,
    )
    scenes = [sheets(OF_BATCH, seed) for seed in range(BATCH)]
    peers, mesh = [Peer(scene, options.threads) for scene in scenes], pliant.TriMesh(scenes[0].faces)
    x0s, x1s = (np.stack(x) for x in zip(*((scene.x0, scene.x1) for scene in scenes)))
    timed = interleaved(
        {
            "ACCD": lambda: [peer.step_size(peer.candidates(), "ACCD") for peer in peers],
            "ccd": lambda: pliant.ccd_batch(mesh, x0s, x1s, threads=options.threads),
            "step": lambda: pliant.step_batch(mesh, x0s, x1s, threads=options.threads),
        },
        options.repeats,
    )
    best, hashes = {name: t.best for name, t in timed.items()}, Hashes()
    for table in timed["ccd"].result:
        hashes.add(table)
    name, found = f"{BATCH:,} x sheets {OF_BATCH}", hashes.columns()["toi"]
    ratios = (f"{best[one] / best['ACCD']:.2f}" for one in ("ccd", "step"))
    report.add(
        name, *(f"{1e3 * one:.0f}" for one in best.values()), *ratios, f"{hashes.rows:,}", found,
        scene=name, threads=options.threads, times=best, hash=found,
    )  # fmt: skip
    report.show()
