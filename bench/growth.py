"""How time and memory grow: with the size of the scene, and on scenes with tens of millions of candidates."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil

from bench.inputs import data_folder
from bench.measure import Options, Report, child, seconds

SIZES = {
    "flowing_cloth": (10_000, 50_000, 200_000, 1_000_000),
    "twisted_cloth": (10_000, 50_000, 200_000, 1_000_000, 10_000_000, 50_000_000),
}
BYTES = 320  # a triangle, with the input: a size for which there is not as much memory is left out
PATIENCE = 3600.0  # seconds


def sizes(options: Options) -> None:
    report = Report(
        "sizes",
        "All contacts at growing sizes, each in a process of its own; growth: peak memory above what the input takes; "
        "peak: all memory of the process; CPU time is that of the first run",
        "scene, triangles, seconds, CPU us / triangle, growth MB, bytes / triangle, peak MB, contacts, hash",
        options.save,
    )
    for name, size in ((name, size) for name, sizes in SIZES.items() for size in sizes):
        if size > (options.triangles or size):
            continue
        free = psutil.virtual_memory().available
        if free < BYTES * size:
            print(f"sizes: {name} {size:,} is left out, {free >> 20:,} MB of memory are free")
            continue
        path = Path(child("make", name, size, limit=PATIENCE)["path"])
        repeats = min(options.repeats, 3 if size < 500_000 else 2 if size < 5_000_000 else 1)
        run = child("query", path, "ccd", options.threads, repeats, limit=PATIENCE)
        shutil.rmtree(path.parent)
        triangles = run["triangles"]
        report.add(
            name, f"{triangles:,}", seconds(run["seconds"]), f"{1e6 * run['cpu_seconds'] / triangles:.2f}",
            f"{run['growth_mb']:.0f}", f"{run['growth_mb'] * 2**20 / triangles:,.0f}", f"{run['peak_mb']:,.0f}",
            f"{run['contacts']:,}", run["hash"], scene=name, threads=options.threads, **run,
        )  # fmt: skip
    report.show()


def memory(options: Options) -> None:
    report = Report(
        "memory",
        "Peak memory above what the input takes, each in a process of its own",
        "scene, query, seconds, growth MB, contacts or candidates, hash",
        options.save,
    )
    folder = data_folder()
    made: list[Path] = []
    if folder is not None:
        paths = [folder / "ccd" / f"{name}.npz" for name in ("cloth-ball", "n-body")]
    else:
        paths = made = [Path(child("make", name, 100_000)["path"]) for name in ("twisted_cloth", "ball_heap")]
    for path in paths:
        for which in ("ccd", "safe_step"):
            run = child("query", path, which, options.threads, 1)
            cells = (f"{run['contacts']:,}", run["hash"])
            _memory_row(report, path.stem, f"pliant {which}", run, cells, options)
        run = child("peer", path, "candidates", options.threads)
        _memory_row(report, path.stem, "ipctk candidates", run, (f"{run['candidates']:,}", ""), options)
    report.show()
    for path in made:
        shutil.rmtree(path.parent)


def _memory_row(report: Report, scene: str, what: str, run: dict, cells: tuple[str, str], options: Options) -> None:
    report.add(
        scene, what, seconds(run["seconds"]), f"{run['growth_mb']:.0f}", *cells, scene=scene, query=what,
        threads=options.threads, **run,
    )  # fmt: skip
