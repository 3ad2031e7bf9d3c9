"""One choice varied, all else equal: the bounds, the size of a leaf; and the most degenerate scene there is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import Motion, built_in, real_motions
from bench.measure import Options, Report, child, interleaved, seconds
from bench.peers import NARROW
from pliant.bounds.kdops import AXES
from pliant.engine import scene as scene_module

PEER_LIMIT = 60.0  # seconds


def bounds(options: Options) -> None:
    _vary("bounds", "Bounds of features and nodes", {name: {"bounds": name} for name in AXES}, options)


def leaf(options: Options) -> None:
    _vary("leaf", "Elements in a leaf, at most", {str(size): {"leaf": size} for size in (4, 12, 24, 48)}, options)


def _vary(part: str, title: str, variants: dict[str, dict], options: Options) -> None:
    report = Report(
        part,
        f"{title}: seconds of ccd, best of {options.repeats} interleaved; seconds of its stages, summed over threads",
        f"scene, {part}, ccd, hierarchy, traversal, element pairs, feature boxes, feature pairs, contacts, hash",
        options.save,
    )
    for scene in real_motions():
        mesh = pliant.TriMesh(scene.faces)
        jobs = {
            name: lambda variant=variant, mesh=mesh, scene=scene: _run(mesh, scene, options, **variant)
            for name, variant in variants.items()
        }
        for name, timed in interleaved(jobs, options.repeats).items():
            stage = {s.name: s for s in timed.result.stages}
            report.add(
                scene.name, name, seconds(timed.best), seconds(stage["hierarchy"].seconds),
                seconds(stage["traversal"].seconds), f"{stage['traversal'].pairs_out:,}",
                seconds(stage["feature boxes"].seconds), f"{stage['feature boxes'].pairs_out:,}",
                f"{len(timed.result):,}", fingerprint(timed.result), scene=scene.name, variant=name,
                threads=options.threads, seconds=timed.best, hash=fingerprint(timed.result),
            )  # fmt: skip
    report.show()


def _run(mesh: pliant.TriMesh, scene: Motion, options: Options, bounds: str = "aabb", leaf: int | None = None):
    before = scene_module.LEAF_OF_PAIRS
    scene_module.LEAF_OF_PAIRS = leaf or before
    try:
        return pliant.ccd(mesh, scene.x0, scene.x1, tuning=pliant.Tuning(bounds=bounds), threads=options.threads)
    finally:
        scene_module.LEAF_OF_PAIRS = before


def sheets(options: Options) -> None:
    """Two equal flat sheets that pass through each other: every pair in contact is degenerate."""
    report = Report(
        "sheets", f"Two flat sheets, 13,924 triangles, seconds; peers are stopped after {PEER_LIMIT:.0f} s",
        "query, seconds, contacts, hash", options.save,
    )  # fmt: skip
    scene = built_in("flat_sheets", 13_924)
    jobs = {
        "pliant ccd": lambda: pliant.ccd(scene.faces, scene.x0, scene.x1, threads=options.threads),
        "pliant safe_step": lambda: pliant.safe_step(scene.faces, scene.x0, scene.x1, threads=options.threads),
    }
    for name, timed in interleaved(jobs, options.repeats).items():
        count = f"{len(timed.result):,}" if name == "pliant ccd" else "first"
        report.add(
            name, seconds(timed.best), count, fingerprint(timed.result), scene="flat_sheets", query=name,
            threads=options.threads, seconds=timed.best, hash=fingerprint(timed.result),
        )  # fmt: skip
    path = Path(child("make", "flat_sheets", 13_924)["path"])
    for narrow in NARROW:
        run = child("peer", path, narrow, options.threads, limit=PEER_LIMIT)
        shown = seconds(run["seconds"]) if run else f"> {PEER_LIMIT:.0f}"
        answer = f"step {run['t']:.4f}" if run else ""
        report.add(f"ipctk step size, {narrow}", shown, answer, "", scene="flat_sheets", query=narrow, **run)
    shutil.rmtree(path.parent)
    report.show()
