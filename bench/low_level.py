"""Paper 000, Figures 13 and 1: normal cones with and without filters after them, and the exact tests in vain."""

from __future__ import annotations

from bench.frames import Lap, Laps, load_kernels, race
from bench.inputs import sequences
from bench.measure import Options, Report, seconds
from pliant import Detector, Tuning
from pliant.engine.plan import DEFAULT_FILTERS


def low_level(options: Options) -> None:
    load_kernels(options)
    times = Report(
        "low_level",
        f"Paper 000, Figure 13: seconds of ccd with low-level culling (the filters that are the default) and without, "
        f"{options.threads} threads, medians over frames",
        "scene, triangles, boxes, cones, ratio, boxes without, cones without, ratio, contacts, hash",
        options.save,
    )
    in_vain = Report(
        "low_level",
        "Paper 000, Figure 1: false positives in a frame, that is, exact tests of what is not in contact: the median "
        "over frames, and the ratio of cones to boxes",
        "scene, query, filters, boxes, cones, ratio, fewest and most with boxes, with cones, contacts",
        save=False,  # the same frames as above
    )
    for sequence in sequences(options.triangles):
        detectors = {
            f"{culling}{without}": Detector(
                sequence.faces, tuning=Tuning(culling=culling, filters=filters), threads=options.threads
            )
            for culling in ("boxes", "cones")
            for without, filters in (("", DEFAULT_FILTERS), (" without", ()))
        }
        ccd, dcd = race(sequence, detectors, only={"boxes without": "ccd", "cones without": "ccd"})
        names = "boxes", "cones", "boxes without", "cones without"
        cells = [seconds(ccd.middle(name)) for name in names]
        times.add(
            ccd.scene, f"{ccd.triangles:,}", *cells[:2], f"{ccd.ratio('cones', 'boxes'):.2f}", *cells[2:],
            f"{ccd.ratio('cones without', 'boxes without'):.2f}", f"{ccd.found:,.0f}", ccd.hash,
            **ccd.record(options),
        )  # fmt: skip
        for laps, filters, suffix in ((ccd, "default", ""), (ccd, "none", " without"), (dcd, "", "")):
            in_vain.add(
                laps.scene, laps.query, filters, *_false_positives(laps, "boxes" + suffix, "cones" + suffix),
                f"{laps.found:,.0f}",
            )  # fmt: skip
    times.show()
    in_vain.show()


def _false_positives(laps: Laps, boxes: str, cones: str) -> list[str]:
    counts = [[_in_vain(lap) for lap in laps.of[name]] for name in (boxes, cones)]
    middles = [f"{laps.middle(name, _in_vain):,.0f}" for name in (boxes, cones)]
    ranges = [f"{min(count):,.0f} to {max(count):,.0f}" for count in counts]
    return [*middles, f"{laps.ratio(cones, boxes, _in_vain):.2f}", *ranges]


def _in_vain(lap: Lap) -> float:
    return lap.tests - lap.found
