"""``python -m bench untangle``: how many cases of each class are clean in the end, and at what price."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

import pliant
from bench.measure import Options, Report, interleaved
from bench.untangling.bodies import KICK, animation
from bench.untangling.cases import CLASSES, recipes
from bench.untangling.methods import METHODS, NEEDS
from bench.untangling.run import Job
from bench.untangling.running import outcomes

BAR = dict.fromkeys(CLASSES, 0.95) | {"garments": 0.9}
SECONDS = 60.0  # of a case, where --limit says nothing else
COMPARED = 4  # of each class, held out, that all methods get
COLUMNS = (
    "class, cases, clean, %, bar, pairs before, CPU s, moved, largest motion, (worst), area, (worst), wrong side, "
    "false claims"
)
Record = dict[str, Any]


def untangle(options: Options) -> None:
    """All classes with pliant; then some cases with every method; then times against a query."""
    chosen = list(recipes(options.only))
    seconds = options.limit or SECONDS
    records = _run([Job(r.kind, r.name, r.seed, "pliant", options.threads, seconds) for r in chosen], options)
    _classes("All cases", records, options)
    _classes("Held-out cases (fresh seeds)", [r for r in records if r["held_out"]], options)
    _failures(records)
    with_reference = [Job(r.kind, r.name, r.seed, "pliant, with a reference", options.threads, seconds) for r in chosen]
    _classes("With a clean reference, where there is one", _run(with_reference, options), options)
    compare(options)
    times(options)


def _run(jobs: list[Job], options: Options) -> list[Record]:
    records, begin = [], time.perf_counter()
    for number, record in enumerate(outcomes(jobs, options.save), 1):
        records.append(record)
        print(f"untangle: {number}/{len(jobs)}, {time.perf_counter() - begin:.0f} s: {line(record)}", file=sys.stderr)
    return [record for record in records if record.get("note") != "no reference"]


def line(record: Record) -> str:
    """One case in one line."""
    about = f"{record['kind']}: {record['name']}, {record['method']}"
    if "error" in record:
        return f"{about}: {record['error']}"
    if not record["kept_connectivity"]:
        return f"{about}: {record['note']}"
    state = "clean" if is_clean(record) else f"{record['pairs']} pairs left"
    side = "" if record["wrong_side"] is None else f", {record['wrong_side']} on the wrong side"
    return (
        f"{about}: {record['pairs_before']} pairs, {state}, largest motion {record['largest']:.2f} edges, area "
        f"{record['area']:.1%}{side}, CPU {record['cpu']:.1f} s, {record['note']}"
    )


def is_clean(record: Record) -> bool:
    """No pair by a fresh query, and nothing moved that was fixed."""
    return record.get("kept_connectivity", False) and record["pairs"] == 0 and record["fixed_kept"]


def _classes(title: str, records: Sequence[Record], options: Options) -> None:
    report = Report(
        "untangle",
        f"{title}: clean by a fresh check; medians over clean cases: CPU seconds ({options.threads} threads), share of "
        "the vertices\nthat moved, the largest motion in mean edges and the change of the whole area, each with its "
        "worst; cases with a vertex on the\nwrong side; cases that a result claims to be clean and a fresh check does "
        "not",
        COLUMNS,
        options.save,
    )
    for kind, name in CLASSES.items():
        of_kind = [record for record in records if record["kind"] == kind]
        if of_kind:
            _add_class(report, title, name, of_kind, BAR[kind])
    report.show()


def _add_class(report: Report, title: str, name: str, records: list[Record], bar: float) -> None:
    clean = [record for record in records if is_clean(record)]
    before = [record["pairs_before"] for record in records if "pairs_before" in record]
    sided = [record["wrong_side"] for record in records if record.get("wrong_side") is not None]
    false = [r for r in records if r.get("claims") and not is_clean(r)]
    share = len(clean) / len(records)

    def of(key: str, form: Callable[[float], str], take: Callable[[Any], float] = median) -> str:
        return form(take([record[key] for record in clean])) if clean else "-"

    report.add(
        name, str(len(records)), str(len(clean)), f"{share:.0%}{'' if share >= bar else ' !'}", f"{bar:.0%}",
        f"{min(before, default=0):,} to {max(before, default=0):,}", of("cpu", "{:.1f}".format),
        of("moved", "{:.1%}".format), of("largest", "{:.2f}".format), of("largest", "({:.1f})".format, max),
        of("area", "{:.1%}".format), of("area", "({:.1%})".format, max),
        f"{sum(wrong > 0 for wrong in sided)} of {len(sided)}" if sided else "-", str(len(false)),
        title=title, name=name, cases=len(records), clean=len(clean), bar=bar,
    )  # fmt: skip


def _failures(records: Sequence[Record]) -> None:
    for record in records:
        if not is_clean(record) or (record["claims"] and record["wrong_side"]):
            print(line(record))
    print()


def compare(options: Options) -> None:
    """The same cases, held out, with every method."""
    chosen = []
    for kind in options.only or CLASSES:
        of_kind = [recipe for recipe in recipes([kind]) if recipe.held_out]
        chosen += of_kind[:: max(1, len(of_kind) // COMPARED)][:COMPARED]
    report = Report(
        "untangle",
        f"{len(chosen)} cases of all classes, held out, with every method: how many keep their connectivity, how many "
        "are clean, clean and\nwith less than 10% change of the area; medians over the clean ones; vertices on the "
        "wrong side, in cases",
        "method, cases, same connectivity, clean, and area < 10%, CPU s, largest motion, (worst), area, (worst), "
        "wrong side",
        options.save,
    )
    for method in METHODS:
        missing = NEEDS.get(method)
        if missing and find_spec(missing.partition(".")[0]) is None:
            print(f"untangle: {method} is left out, {missing} cannot be imported", flush=True)
        elif method != "pliant, with a reference":
            jobs = [Job(r.kind, r.name, r.seed, method, options.threads, options.limit or SECONDS) for r in chosen]
            _add_method(report, method, _run(jobs, options))
    report.show()


def _add_method(report: Report, method: str, records: list[Record]) -> None:
    clean = [record for record in records if is_clean(record)]
    # What has other vertices is not comparable, and may still be free of intersections.
    elsewhere = sum(not r.get("kept_connectivity", True) and bool(r.get("claims")) for r in records)
    sided = [record["wrong_side"] for record in clean if record["wrong_side"] is not None]
    figures = ["-"] * 5
    if clean:
        motion, area = ([record[key] for record in clean] for key in ("largest", "area"))
        figures = [
            f"{median(record['cpu'] for record in clean):.1f}", f"{median(motion):.2f}", f"({max(motion):.1f})",
            f"{median(area):.1%}", f"({max(area):.1%})",
        ]  # fmt: skip
    report.add(
        method, str(len(records)), str(sum(record.get("kept_connectivity", False) for record in records)),
        str(len(clean)) + (f" (+{elsewhere} with other vertices)" if elsewhere else ""),
        str(sum(record["area"] < 0.1 for record in clean)), *figures,
        f"{sum(wrong > 0 for wrong in sided)} of {len(sided)}" if sided else "-",
        method=method, cases=len(records), clean=len(clean),
    )  # fmt: skip


def times(options: Options) -> None:
    """Frames of the kicking body, one by one and as a sequence, in queries of one of them."""
    try:
        faces, frames = animation(KICK)
    except (AssertionError, FileNotFoundError):
        print("untangle: no times, the kicking body is in the data folder only")
        return
    mesh, x = pliant.TriMesh(faces), frames.astype(np.float64)
    report = Report(
        "untangle",
        f"Time: frames of Kick ({len(faces):,} triangles), CPU time in fresh queries (dcd) of the same frame, "
        f"{options.threads} threads, best of {options.repeats}",
        "what, CPU s, dcd ms, ratio, bar",
        options.save,
    )
    for frame in (1, 16, 31):
        jobs = {
            "dcd": lambda at=x[frame]: pliant.dcd(mesh, at, threads=options.threads),
            "untangle": lambda at=x[frame]: pliant.untangle(mesh, at, threads=options.threads),
        }
        timed = interleaved(jobs, options.repeats, time.process_time)
        _add_time(report, f"frame {frame}", timed["untangle"].best, timed["dcd"].best, "40")
    in_sequence: Any = getattr(pliant, "untangle_sequence", None)
    if in_sequence is not None:
        start = time.process_time()
        in_sequence(pliant.Sequence(faces, x), threads=options.threads)
        spent = (time.process_time() - start) / len(x)
        query = interleaved({"dcd": lambda: pliant.dcd(mesh, x[16], threads=options.threads)}, 5, time.process_time)
        _add_time(report, f"a frame of {len(x)}, as a sequence", spent, query["dcd"].best, "12")
    report.show()


def _add_time(report: Report, what: str, spent: float, query: float, bar: str) -> None:
    ratio = spent / query
    report.add(what, f"{spent:.2f}", f"{1e3 * query:.0f}", f"{ratio:.1f}", bar, what=what, ratio=ratio)
