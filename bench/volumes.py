"""Paper 004, Table I and Figure 11: pairs of cells of a volume mesh, against what the paper compares with."""

from __future__ import annotations

import time
import warnings
from typing import Any

import pliant
from bench.baselines import VOLUME_METHODS, run_volume
from bench.fingerprints import fingerprint
from bench.inputs import PAPER_004, Volume, volume_steps
from bench.measure import Options, Report, Timed, child, interleaved
from bench.volume_culling import axes, culling, flips

OURS = "ours", "new mesh"
OTHERS = {
    "NavCCD": "naive_cells",
    "NavCCD with filters": "naive_cells_after_filters",
    "HashCCD": "spatial_hashing",
}
# Of the cost: what it is called here, and the stages that are in it.
COSTS = {
    "topology": ("topology",),
    "bounds": ("bounds", "fit"),
    "hierarchy": ("hierarchy",),
    "traversal": ("traversal",),
    "csat of cells": ("separate cells", "csat of elements"),
    "feature boxes": ("feature boxes", "orphans"),
    "filters": ("dnf", "csat"),
    "exact": ("exact",),
}
SHELLS = 1_200_000


def volumes(options: Options) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # inverted cells are what some of these scenes are about
        load_kernels()
        steps = {name: volume_steps(name, options.triangles) for name in PAPER_004}
        unculled = methods(steps, options)
        costs(steps, options)
        culling({name: steps[name] for name in ("octopi", "car_crash")}, unculled, options)
        _assignments(steps, options)
        inside("bullet", steps["bullet"], options)
        axes(steps, options)
        flips(options)
        if options.scale:
            _scale(options)


def load_kernels() -> None:
    """Every method once on few cells, so that no time below is the compiler's."""
    for name in ("airbag", "liver"):
        step = volume_steps(name, 200)[-1]
        for method in VOLUME_METHODS:
            run_volume(method, step.mesh, step.x0, step.x1, threads=1)
        for assignment in ("static", "dynamic"):
            _ask(step, assignment=assignment)
        _ask(step, interior=False)


def methods(steps: dict[str, list[Volume]], options: Options, part: str = "volumes") -> dict[str, tuple[int, int]]:
    """Table I; returns how many VF and EE tests NavCCD makes. steps : by names that begin with those of the paper"""
    report = Report(
        part,
        f"Paper 004, Table I: milliseconds of ccd in one thread (time of the processor, mean over steps, best of "
        f"{options.repeats}), and how many times as long\nthe others take, run once; elementary tests of all steps, "
        "ours as a share of NavCCD's (in brackets: in the paper), and the contacts, below which no exact method gets",
        "scene, cells, ours, new mesh, NavCCD, with filters, HashCCD, tests of NavCCD, ours, share, contacts, share, "
        "hash",
        options.save,
    )
    unculled = {}
    for name in steps:
        published = PAPER_004[name.split()[0]]
        timed = _around(steps[name], options)
        hashes = {other: _hashes(t) for other, t in timed.items()}
        if len(set(hashes.values())) > 1:
            raise SystemExit(f"{name}: answers differ: {hashes}")
        ours, naive = timed["ours"], timed["NavCCD"]
        tests = {other: _pairs_in(t, "exact") for other, t in timed.items()}
        contacts = sum(len(c) for c in ours.result)
        unculled[name] = _pairs_in(naive, "vertex-face tests"), _pairs_in(naive, "edge-edge tests")
        report.add(
            name, f"{len(steps[name][-1].mesh.types):,}", *(_milliseconds(timed[t], name, steps) for t in OURS),
            *(f"{timed[other].best / ours.best:.1f}" for other in OTHERS), f"{tests['NavCCD']:,}", f"{tests['ours']:,}",
            f"{tests['ours'] / tests['NavCCD']:.3%} ({published}%)", f"{contacts:,}",
            f"{contacts / tests['NavCCD']:.3%}", hashes["ours"],
            scene=name, times={other: t.best for other, t in timed.items()}, tests=tests, hash=hashes["ours"],
        )  # fmt: skip
    report.show()
    return unculled


def _milliseconds(timed: Timed, name: str, steps: dict[str, list[Volume]]) -> str:
    return f"{1e3 * timed.best / len(steps[name]):.0f}"


def _around(steps: list[Volume], options: Options) -> dict[str, Timed]:
    """Ours before and after the others, which take long enough to be run once."""
    quick = {
        "ours": lambda: [_ask(step) for step in steps],
        "new mesh": lambda: [_ask(step._replace(mesh=pliant.VolumeMesh(step.mesh.cells))) for step in steps],
    }
    quick["ours"]()  # what is derived from the cells alone is kept in the mesh, as for the others
    slow = {
        other: lambda method=method: [run_volume(method, s.mesh, s.x0, s.x1, threads=1) for s in steps]
        for other, method in OTHERS.items()
    }
    before = interleaved(quick, options.repeats, time.process_time)
    timed = interleaved(slow, 1, time.process_time)
    after = interleaved(quick, options.repeats, time.process_time)
    return {name: Timed(min(before[name].best, after[name].best), after[name].result) for name in quick} | timed


def _ask(step: Volume, threads: int = 1, **arguments: Any) -> pliant.Contacts:
    return pliant.ccd(step.mesh, step.x0, step.x1, threads=threads, **arguments)


def _hashes(timed: Timed) -> str:
    return "+".join(fingerprint(contacts)[:6] for contacts in timed.result)


def _pairs_in(timed: Timed, name: str) -> int:
    return sum(stage.pairs_in for contacts in timed.result for stage in contacts.stages if stage.name == name)


def costs(steps: dict[str, list[Volume]], options: Options, part: str = "volumes") -> None:
    report = Report(
        part,
        "Paper 004, Figure 11: percent of the time of ccd, one thread, the fastest of some runs, mesh kept; update: "
        "bounds and hierarchy together (paper: 2.5 to 7.6)",
        "scene, " + ", ".join(COSTS) + ", rest, update",
        options.save,
    )
    for name, cases in steps.items():
        total, spent = 0.0, dict.fromkeys(COSTS, 0.0)
        for step in cases:
            seconds, contacts = min((_clocked(step) for _ in range(options.repeats)), key=lambda run: run[0])
            total += seconds
            for cost, stages in COSTS.items():
                spent[cost] += sum(stage.seconds for stage in contacts.stages if stage.name in stages)
        share = {cost: value / total for cost, value in spent.items()} | {"rest": 1.0 - sum(spent.values()) / total}
        update = share["bounds"] + share["hierarchy"]
        report.add(name, *(f"{100.0 * s:.1f}" for s in share.values()), f"{100.0 * update:.1f}", scene=name, **share)
    report.show()


def _clocked(step: Volume) -> tuple[float, pliant.Contacts]:
    clock = time.perf_counter()
    contacts = _ask(step)
    return time.perf_counter() - clock, contacts


def _assignments(steps: dict[str, list[Volume]], options: Options) -> None:
    report = Report(
        "volumes",
        f"Dynamic and static assignment: milliseconds of ccd, one thread, best of {options.repeats} interleaved; "
        "with a mesh that is kept, and with a new one,\nwhose O-sets have to be found; feature pairs that are compared "
        "in the last step",
        "scene, dynamic, static, ratio, new: dynamic, static, ratio, compared: dynamic, static, hash",
        options.save,
    )
    for name, cases in steps.items():
        jobs = {
            (kept, how): lambda kept=kept, how=how, cases=cases: [
                _ask(s if kept else s._replace(mesh=pliant.VolumeMesh(s.mesh.cells)), assignment=how) for s in cases
            ]
            for kept in (True, False)
            for how in ("dynamic", "static")
        }
        timed = interleaved({str(key): job for key, job in jobs.items()}, options.repeats, time.process_time)
        runs = [timed[str(key)] for key in jobs]
        best = [1e3 * run.best / len(cases) for run in runs]
        if len({_hashes(run) for run in runs}) > 1:
            raise SystemExit(f"{name}: answers differ")
        compared = [
            sum(s.pairs_in for s in run.result[-1].stages if s.name in ("feature boxes", "orphans")) for run in runs[:2]
        ]
        report.add(
            name, f"{best[0]:.0f}", f"{best[1]:.0f}", f"{best[1] / best[0]:.2f}", f"{best[2]:.0f}", f"{best[3]:.0f}",
            f"{best[3] / best[2]:.2f}", *(f"{c:,}" for c in compared), _hashes(runs[0]), scene=name, times=best,
        )  # fmt: skip
    report.show()


def inside(name: str, cases: list[Volume], options: Options, part: str = "volumes") -> None:
    report = Report(
        part,
        f"All features of the cells of {name}, and those of its boundary only: milliseconds of ccd, best of "
        f"{max(15, options.repeats)} interleaved (paper 004: 3.2 times as long in one thread, 1.3 with four)",
        "threads, all, boundary, ratio, contacts, of the boundary",
        options.save,
    )
    for threads in (1, 2):
        jobs = {
            str(interior): lambda interior=interior, threads=threads: [
                _ask(step, threads, interior=interior) for step in cases
            ]
            for interior in (True, False)
        }
        clock = time.process_time if threads == 1 else time.perf_counter
        timed = interleaved(jobs, max(15, options.repeats), clock)
        best = {key: 1e3 * t.best / len(cases) for key, t in timed.items()}
        report.add(
            str(threads), f"{best['True']:.0f}", f"{best['False']:.0f}", f"{best['True'] / best['False']:.2f}",
            *(f"{sum(map(len, timed[key].result)):,}" for key in ("True", "False")), threads=threads, times=best,
        )  # fmt: skip
    report.show()


def _scale(options: Options) -> None:
    report = Report(
        "volumes",
        f"car_crash with {SHELLS:,} shells asked for, {options.threads} threads, in a process of its own: seconds of "
        "the first step and of the second, which keeps the mesh",
        "scene, cells, first, second, contacts, exact tests, input MB, peak of making it, peak, hash",
        options.save,
    )
    size = min(SHELLS, options.triangles or SHELLS)
    found = child("volume", "car_crash", size, options.threads, limit=3600.0)
    if found:
        report.add(
            "car_crash", f"{found['cells']:,}", *(f"{s:.2f}" for s in found["seconds"]), f"{found['contacts']:,}",
            f"{found['tests']:,}", *(f"{found[key]:.0f}" for key in ("input_mb", "making_mb", "peak_mb")),
            found["hash"], **found,
        )  # fmt: skip
    report.show()
