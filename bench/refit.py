"""Paper 000, Figure 12: boxes against DOPs where the hierarchy is refitted in every frame."""

from __future__ import annotations

from bench.frames import Lap, load_kernels, race
from bench.inputs import sequences
from bench.measure import Options, Report, seconds
from pliant import Detector, Tuning

BOUNDS = ("aabb", "18-dop", "24-dop")


def refit(options: Options) -> None:
    load_kernels(options)
    report = Report(
        "refit",
        f"Paper 000, Figure 12: bounds with normal cones, {options.threads} threads, seconds, medians over frames: to "
        "fit the hierarchy, and all the rest.\nRatios are to boxes, frame by frame",
        "scene, triangles, query, bounds, fit, rest, total, ratio, element pairs, contacts, hash",
        options.save,
    )
    for sequence in sequences(options.triangles, "funnel"):
        detectors = {
            bounds: Detector(sequence.faces, tuning=Tuning(culling="cones", bounds=bounds), threads=options.threads)
            for bounds in BOUNDS
        }
        for laps in race(sequence, detectors):
            for bounds in BOUNDS:
                report.add(
                    laps.scene, f"{laps.triangles:,}", laps.query, bounds, seconds(laps.middle(bounds, _fit)),
                    seconds(laps.middle(bounds, lambda lap: lap.seconds - _fit(lap))), seconds(laps.middle(bounds)),
                    f"{laps.ratio(bounds, 'aabb'):.2f}", f"{laps.middle(bounds, _element_pairs):,.0f}",
                    f"{laps.found:,.0f}", laps.hash, bounds=bounds, **laps.record(options),
                )  # fmt: skip
    report.show()


def _fit(lap: Lap) -> float:
    return lap.stage("fit")


def _element_pairs(lap: Lap) -> float:
    return lap.stages["traversal"].pairs_out
