"""``python -m bench simulators``: a line for each scene in each simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

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
    "scene, simulator, triangles, frames, steps, CPU s free, CPU s contact, s free, s contact, : pliant, "
    "pairs worst, end, missed, stretch worst, end, lag mm, note"
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
        "The same scenes in several simulators: seconds of a frame of 1/60 s without and with contact, medians, of\n"
        "all threads and of the clock; CPU time in contact as a ratio to pliant's in the same frame; triangles that\n"
        "intersect, and contacts on the way, by pliant's own exact queries",
        COLUMNS,
        options.save,
    )
    settings: dict[str, dict[str, Any]] = {}
    try:
        for scene in scenes:
            ours: Record | None = None  # the first of each scene, where it is asked for
            for name in names:
                record = _record(name, scene, options)
                ours = record if name == "pliant" else ours
                _add_line(report, name, scene, record, ours)
                settings |= {name: record.about} if record.about else {}
    finally:
        report.show()
        for name, about in settings.items():
            print(f"{name} {about['version']}: {about['settings']}")


def _chosen(given: tuple[str, ...], known: tuple[str, ...], kind: str) -> list[str]:
    for name in given:
        if name not in known:
            raise SystemExit(f"there is no {kind} {name!r}; choose from {', '.join(known)}")
    return [name for name in known if name in given or not given]


class Record(NamedTuple):
    """What a run has left, and what the judge says of it."""

    triangles: int
    asked: int  # frames
    reason: str  # why it did not come to its end, or ""
    about: dict[str, Any]
    times: list[FrameTime]
    verdict: Verdict | None

    @property
    def spent(self) -> np.ndarray:
        """(frames, 2) seconds of the clock and of all threads."""
        return np.array(self.times, np.float64).reshape(-1, 2)

    @property
    def touching(self) -> np.ndarray:
        return np.array(self.verdict.touching if self.verdict else (), bool)

    @property
    def counted(self) -> np.ndarray:
        """All frames but the first: kernels are loaded and memory is allocated in it."""
        return np.arange(len(self.times)) > 0


def _record(name: str, scene_name: str, options: Options) -> Record:
    triangles = options.triangles or TRIANGLES
    scene = SCENES[scene_name](triangles)
    frames = options.frames or scene.frames
    with tempfile.TemporaryDirectory(prefix="pliant-bench-") as folder:
        job = Job(name, scene_name, triangles, frames, options.threads, options.limit or LIMIT, folder)
        reason = run_in_child(job)
        about, times, states = read(Path(folder))
        verdict = judge(scene, states, options.threads) if states else None
    return Record(len(scene.faces), frames, reason, about, times, verdict)


def _add_line(report: Report, name: str, scene: str, record: Record, ours: Record | None) -> None:
    report.add(
        scene, name, f"{record.triangles:,}", *_cells(record, ours), scene=scene, simulator=name,
        triangles=record.triangles, asked=record.asked, reason=record.reason, about=record.about,
        times=[list(spent) for spent in record.times], verdict=record.verdict._asdict() if record.verdict else None,
    )  # fmt: skip


def _cells(record: Record, ours: Record | None) -> list[str]:
    verdict = record.verdict
    if verdict is None:
        return [f"0/{record.asked}", *("-" for _ in range(12)), record.reason]
    kinds = (record.counted & ~record.touching, record.counted & record.touching)
    times = (seconds(_median(record.spent[kind, column])) for column in (1, 0) for kind in kinds)
    ratio = contact_ratio(record, ours) if ours else None
    return [
        f"{len(record.times)}/{record.asked}", str(record.about["steps"]), *times,
        "-" if ratio is None else f"{ratio:.2f}", f"{verdict.worst_pairs:,}", f"{verdict.last_pairs:,}",
        f"{verdict.missed:,}", f"{100 * (verdict.worst_stretch - 1):.0f}%",
        f"{100 * (verdict.last_stretch - 1):.0f}%", f"{1e3 * verdict.lag:.2f}", record.reason,
    ]  # fmt: skip


def contact_ratio(record: Record, ours: Record) -> float | None:
    """CPU time over ours, frame by frame, where both have ended in contact; the median."""
    count = min(len(record.times), len(ours.times))
    both = (record.counted & record.touching)[:count] & ours.touching[:count]
    return _median(record.spent[:count][both, 1] / ours.spent[:count][both, 1])


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None


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
