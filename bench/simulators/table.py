"""``python -m bench simulators``: a line for each scene in each simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import Options, Report, seconds
from bench.simulators.judge import Verdict, judge
from bench.simulators.peer import SIMULATORS
from bench.simulators.run import FrameTime, Job, read
from bench.simulators.scenes import SCENES

TRIANGLES = 4_800
LIMIT = 300.0  # seconds of the clock for the frames of one line
SETUP = 600.0  # and for its start: Newton compiles its kernels when it is first used
MEMORY = 6 * 2**30  # bytes
COLUMNS = (
    "scene, simulator, triangles, frames, steps, CPU s free, CPU s contact, s free, s contact, pairs worst, end, "
    "missed, stretch worst, end, lag mm, note"
)


def simulators(options: Options) -> None:
    """The table, line by line; a line that fails says so, and the others go on."""
    scenes = _chosen(options.only, tuple(SCENES), "scene")
    names = _chosen(options.simulators, tuple(SIMULATORS), "simulator")
    for name in names:
        if missing := SIMULATORS[name].missing():
            print(f"simulators: {name} is left out, {' and '.join(missing)} cannot be imported", flush=True)
    names = [name for name in names if not SIMULATORS[name].missing()]
    report = Report(
        "simulators",
        "The same scenes in several simulators: seconds of a frame of 1/60 s without and with contact, of all threads\n"
        "and of the clock; pairs of triangles that intersect, and contacts on the way, by pliant's own exact queries",
        COLUMNS,
        options.save,
    )
    settings = {}
    try:
        for scene in scenes:
            for name in names:
                about = _line(name, scene, options, report)
                settings |= {name: about} if about else {}
    finally:
        report.show()
        for name, about in settings.items():
            print(f"{name} {about['version']}: {about['settings']}")


def _chosen(given: tuple[str, ...], known: tuple[str, ...], kind: str) -> list[str]:
    for name in given:
        if name not in known:
            raise SystemExit(f"there is no {kind} {name!r}; choose from {', '.join(known)}")
    return [name for name in known if name in given or not given]


def _line(name: str, scene_name: str, options: Options, report: Report) -> dict[str, Any]:
    scene = SCENES[scene_name](options.triangles or TRIANGLES)
    with tempfile.TemporaryDirectory(prefix="pliant-bench-") as folder:
        job = Job(
            name, scene_name, options.triangles or TRIANGLES, options.frames or scene.frames, options.threads,
            options.limit or LIMIT, folder,
        )  # fmt: skip
        reason = run_in_child(job)
        about, times, states = read(Path(folder))
        verdict = judge(scene, states, options.threads) if states else None
    cells = _cells(about, times, verdict, job.frames, reason)
    report.add(
        scene_name, name, f"{len(scene.faces):,}", *cells,
        scene=scene_name, simulator=name, triangles=len(scene.faces), asked=job.frames, reason=reason, about=about,
        times=[list(spent) for spent in times], verdict=verdict._asdict() if verdict else None,
    )  # fmt: skip
    return about


def _cells(
    about: dict[str, Any], times: list[FrameTime], verdict: Verdict | None, asked: int, reason: str
) -> list[str]:
    if verdict is None:
        return [f"0/{asked}", *("-" for _ in range(11)), reason]
    spent, touching = np.array(times), np.array(verdict.touching)
    # The first frame does not count: kernels are loaded and memory is allocated in it.
    counted = np.arange(len(spent)) > 0
    free, contact = (spent[counted & chosen] for chosen in (~touching, touching))
    means = (seconds(_mean(chosen, column)) for column in (1, 0) for chosen in (free, contact))
    return [
        f"{len(spent)}/{asked}", str(about["steps"]), *means,
        f"{verdict.worst_pairs:,}", f"{verdict.last_pairs:,}", f"{verdict.missed:,}",
        f"{100 * (verdict.worst_stretch - 1):.0f}%", f"{100 * (verdict.last_stretch - 1):.0f}%",
        f"{1e3 * verdict.lag:.2f}", reason,
    ]  # fmt: skip


def _mean(times: np.ndarray, column: int) -> float | None:
    return float(times[:, column].mean()) if len(times) else None


def run_in_child(job: Job) -> str:
    """Run a job in a process of its own, within a time and a memory; "" or why it did not come to its end."""
    import psutil

    command = [sys.executable, "-m", "bench.simulators.run", json.dumps(job._asdict())]
    with tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(
            command, cwd=Path(__file__).resolve().parents[2], env=os.environ | _environment(job.threads),
            stdout=output, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            process, begin = psutil.Process(child.pid), time.monotonic()
            while child.poll() is None:
                time.sleep(0.1)
                if time.monotonic() - begin > SETUP + 1.5 * job.seconds:
                    return "stopped: out of time"
                if _memory(process) > MEMORY:
                    return "stopped: out of memory"
        finally:
            child.kill()
            child.wait()
        if child.returncode == 0:
            return ""
        output.seek(0)
        lines = [line.strip() for line in output.read().splitlines() if line.strip()]
        return f"failed ({child.returncode}): {lines[-1][:120] if lines else ''}"


def _memory(process: Any) -> int:
    import psutil

    try:
        return process.memory_info().rss
    except psutil.NoSuchProcess:
        return 0


def _environment(threads: int) -> dict[str, str]:
    """The same number of threads for what libraries start by themselves."""
    return {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
