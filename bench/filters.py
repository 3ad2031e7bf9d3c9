"""What each filter culls, alone and in a row. Whatever is chosen, the contacts must be the same."""

from __future__ import annotations

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import REAL, Motion, real_motions
from bench.measure import Options, Report, seconds
from pliant.engine.plan import DEFAULT_FILTERS

CHOICES = (("csat",), ("dnf",), ("ncf",), ("csat", "dnf", "ncf"), ("dnf", "ncf"), DEFAULT_FILTERS)


def filters(options: Options) -> None:
    report = Report(
        "filters",
        "What each filter discards of the pairs that reach it (csat: element pairs first), seconds over all threads",
        "scene, filters, elements by csat, s, feature pairs, csat, s, dnf, s, ncf, s, exact pairs, s, contacts, hash",
        options.save,
    )
    for scene in real_motions(*REAL):
        for moved in (scene, scene.faster(3.0)):
            _one_scene(moved, options, report)
    report.show()


def _one_scene(scene: Motion, options: Options, report: Report) -> None:
    mesh, hashes = pliant.TriMesh(scene.faces), set()
    for chosen in CHOICES:
        contacts = pliant.ccd(mesh, scene.x0, scene.x1, tuning=pliant.Tuning(filters=chosen), threads=options.threads)
        stage = {s.name: s for s in contacts.stages}
        cells = []
        for name in ("csat of elements", "csat", "dnf", "ncf"):
            if name in stage:
                culled = 1.0 - stage[name].pairs_out / max(1, stage[name].pairs_in)
                cells += [f"{culled:.1%}", seconds(stage[name].seconds)]
            else:
                cells += ["", ""]
        report.add(
            scene.name, " ".join(chosen), *cells[:2], f"{stage['feature boxes'].pairs_out:,}", *cells[2:],
            f"{stage['exact'].pairs_in:,}", seconds(stage["exact"].seconds),
            f"{len(contacts):,}", fingerprint(contacts),
            scene=scene.name, filters=chosen, threads=options.threads, hash=fingerprint(contacts),
            stages=[list(s) for s in contacts.stages],
        )  # fmt: skip
        hashes.add(fingerprint(contacts))
    if len(hashes) > 1:
        raise SystemExit(f"{scene.name}: the filters change the contacts: {sorted(hashes)}")
