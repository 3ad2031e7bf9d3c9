"""Paper 000, Figures 6 and 11: the size of the front that is kept from frame to frame, with cones and without."""

from __future__ import annotations

from bench.baselines import Baseline
from bench.frames import Lap, load_kernels, race
from bench.inputs import sequences
from bench.measure import Options, Report
from pliant import Detector


class ToTheLeaves(Detector):
    above_leaves = 0


class Conventional(Baseline):
    above_leaves = 0


def fronts(options: Options) -> None:
    load_kernels(options)
    report = Report(
        "fronts",
        "Paper 000, Figures 6 and 11: pairs of nodes in the conventional front, down to the leaves and without cones; "
        "as ratios to it,\nthe front with cones, and the one that ends above the leaves and is kept by default, "
        "without and with cones;\nthen the time of the query with each, as ratios to that with the conventional one, "
        f"{options.threads} threads, medians over frames",
        "scene, triangles, query, to the leaves, with cones, kept without cones, kept with cones, "
        "time with cones, time kept without, time kept with, hash",
        options.save,
    )
    for sequence in sequences(options.triangles):
        chosen = {"culling": "cones+front", "threads": options.threads}
        detectors = {
            "conventional": Conventional("boxes", sequence.faces, **chosen),
            "to the leaves": ToTheLeaves(sequence.faces, **chosen),
            "kept without cones": Baseline("boxes", sequence.faces, **chosen),
            "kept": Detector(sequence.faces, **chosen),
        }
        for laps in race(sequence, detectors):
            others = [name for name in detectors if name != "conventional"]
            report.add(
                laps.scene, f"{laps.triangles:,}", laps.query, f"{laps.middle('conventional', _front):,.0f}",
                *(f"{laps.ratio(name, 'conventional', _front):.4f}" for name in others),
                *(f"{laps.ratio(name, 'conventional'):.2f}" for name in others), laps.hash,
                **laps.record(options),
            )  # fmt: skip
    report.show()


def _front(lap: Lap) -> float:
    return lap.front
