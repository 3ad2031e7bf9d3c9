"""Paper 000, Figure 10: the time of a query with normal cones and fronts, without, and with what others do instead."""

from __future__ import annotations

import math

from bench.baselines import Baseline
from bench.frames import Laps, load_kernels, race
from bench.inputs import Sequence, sequences
from bench.measure import Options, Report, seconds
from pliant import Detector, Tuning

# Each for the query for which its paper has it.
OTHERS = {
    "SCT": ("star_contours", "dcd"),
    "CBC": ("continuous_contours", "ccd"),
    "DC": ("dynamic_clusters", "ccd"),
    "printed": ("printed_contours", "ccd"),
}
METHODS = ("cones+front", "cones", *OTHERS)


def cones(options: Options) -> None:
    load_kernels(options)
    report = Report(
        "cones",
        f"Paper 000, Figure 10: seconds of a query with boxes alone (AABB-only), {options.threads} threads, and the "
        "other methods' times as ratios to it, medians over frames.\nIn brackets: exact tests for each contact. "
        "cones+front: NC+Front; cones: NC only; SCT: star contours; CBC: continuous contours;\nDC: dynamic clusters; "
        "printed: Algorithm 3 as printed. Every method has the same hash in every frame",
        f"scene, triangles, query, boxes, {', '.join(METHODS)}, contacts, hash",
        options.save,
    )
    ratios: dict[tuple[str, str], list[float]] = {}
    for sequence in sequences(options.triangles):
        for laps in _one_scene(sequence, options):
            for name in laps.of:
                ratios.setdefault((laps.query, name), []).append(laps.ratio(name, "boxes"))
            boxes = f"{seconds(laps.middle('boxes'))} {_tests(laps, 'boxes')}"
            report.add(
                laps.scene, f"{laps.triangles:,}", laps.query, boxes, *(_cell(laps, name) for name in METHODS),
                f"{laps.found:,.0f}", laps.hash, **laps.record(options),
            )  # fmt: skip
    for query in ("ccd", "dcd"):
        means = {name: _geometric_mean(ratios.get((query, name), [])) for name in METHODS}
        cells = (f"{mean:.2f}" if mean else "" for mean in means.values())
        report.add("geometric mean", "", query, "", *cells, scene="all", query=query, threads=options.threads, **means)
    report.show()


def _one_scene(sequence: Sequence, options: Options) -> list[Laps]:
    detectors = {
        culling: Detector(sequence.faces, tuning=Tuning(culling=culling), threads=options.threads)
        for culling in ("boxes", "cones", "cones+front")
    }
    for name, (baseline, _) in OTHERS.items():
        detectors[name] = Baseline(baseline, sequence.faces, threads=options.threads)
    return race(sequence, detectors, only={name: query for name, (_, query) in OTHERS.items()})


def _cell(laps: Laps, name: str) -> str:
    return f"{laps.ratio(name, 'boxes'):.2f} {_tests(laps, name)}" if name in laps.of else ""


def _tests(laps: Laps, name: str) -> str:
    tests = laps.tests_per_contact(name)
    return "(-)" if tests is None else f"({tests:.1f})" if tests < 100 else f"({tests:.0f})"


def _geometric_mean(values: list[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
