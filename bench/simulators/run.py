"""One scene in one simulator, in a process of its own: ``python -m bench.simulators.run '{...}'``.

Every frame is written at once, so that a simulator that crashes, hangs or is stopped leaves what it has done.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.simulators.peer import SIMULATORS
from bench.simulators.scenes import RATE, SCENES

ABOUT, TIMES = "about.json", "times.jsonl"


class Job(NamedTuple):
    simulator: str
    scene: str
    triangles: int
    frames: int
    threads: int
    seconds: float  # of the clock after the first frame; then no further frame is begun
    folder: str


class FrameTime(NamedTuple):
    """Of one frame: seconds of the clock, and of all threads of the process."""

    clock: float
    cpu: float


def run(job: Job) -> None:
    scene, folder = SCENES[job.scene](job.triangles), Path(job.folder)
    entry = SIMULATORS[job.simulator]
    begin = time.perf_counter()
    simulation = entry.load()(scene, job.threads)
    about = {
        "version": _version(entry.distribution), "settings": simulation.settings, "steps": simulation.steps,
        "setup": time.perf_counter() - begin,
    }  # fmt: skip
    (folder / ABOUT).write_text(json.dumps(about))
    for frame in range(job.frames):
        states, spent = [], FrameTime(0.0, 0.0)
        for step in range(simulation.steps):
            end = (frame + (step + 1) / simulation.steps) / RATE
            start = time.perf_counter(), time.process_time()
            simulation.step(end)
            spent = FrameTime(spent.clock + time.perf_counter() - start[0], spent.cpu + time.process_time() - start[1])
            x = np.asarray(simulation.positions(), np.float64)
            states.append(x if len(x) > len(scene.x) else np.concatenate((x, scene.solids_at(end))))
        np.save(folder / f"{frame:05}.npy", np.array(states))
        with (folder / TIMES).open("a") as file:
            file.write(json.dumps(spent) + "\n")
        begin = begin if frame else time.perf_counter()  # the first frame may compile kernels
        if not np.isfinite(states[-1]).all() or time.perf_counter() - begin > job.seconds:
            break


def _version(distribution: str) -> str:
    if distribution == "pliant":
        import pliant

        return pliant.__version__
    return version(distribution)


def read(folder: Path) -> tuple[dict[str, Any], list[FrameTime], list[np.ndarray]]:
    """What a run has left: about it, the time of each frame, and its states, (steps, N, 3) each."""
    about = json.loads((folder / ABOUT).read_text()) if (folder / ABOUT).exists() else {}
    lines = (folder / TIMES).read_text().splitlines() if (folder / TIMES).exists() else []
    times = [FrameTime(*json.loads(line)) for line in lines]
    return about, times, [np.load(folder / f"{frame:05}.npy") for frame in range(len(times))]


if __name__ == "__main__":
    run(Job(**json.loads(sys.argv[1])))
