"""Jobs that need a process of their own: peak memory, cold starts, peers that may not come to an end."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MEGABYTE = 2**20


def peak_bytes() -> int:
    """The most memory this program has had so far.

    VmHWM where there is one: on Linux, ru_maxrss of a child starts with what its parent had when it was started.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def query(path: str, which: str, threads: str, repeats: str) -> dict[str, Any]:
    """Best time and growth of memory of pliant's ccd or safe_step, after a warm-up with a tiny scene."""
    import psutil

    import pliant
    from bench.fingerprints import fingerprint
    from bench.inputs import motion
    from bench.measure import interleaved, warm_up

    ask = {"ccd": pliant.ccd, "safe_step": pliant.safe_step}[which]
    warm_up(int(threads))
    scene = motion(path)
    before = psutil.Process().memory_info().rss
    clock, of_processor = time.perf_counter(), time.process_time()
    first = ask(scene.faces, scene.x0, scene.x1, threads=int(threads))
    seconds, cpu_seconds, peak = time.perf_counter() - clock, time.process_time() - of_processor, peak_bytes()
    growth = peak - before  # of the first run: later ones reuse what it gave back
    if int(repeats) > 1:
        timed = interleaved(
            {"again": lambda: ask(scene.faces, scene.x0, scene.x1, threads=int(threads))}, int(repeats) - 1
        )
        seconds = min(seconds, timed["again"].best)
    contacts = len(first) if isinstance(first, pliant.Contacts) else 0 if first.contact is None else 1
    return {
        "seconds": seconds, "growth_mb": growth / MEGABYTE, "contacts": contacts, "hash": fingerprint(first),
        "triangles": len(scene.faces), "vertices": len(scene.x0), "cpu_seconds": cpu_seconds,
        "peak_mb": peak / MEGABYTE,
    }  # fmt: skip


def peer(path: str, which: str, threads: str) -> dict[str, Any]:
    """Time and growth of memory of ipctk: candidates, then with them a step size."""
    import psutil

    from bench.inputs import motion
    from bench.peers import Peer

    scene = motion(path)
    ipctk = Peer(scene, int(threads))
    before = psutil.Process().memory_info().rss
    clock = time.perf_counter()
    candidates = ipctk.candidates()
    t = None if which == "candidates" else ipctk.step_size(candidates, which)
    seconds = time.perf_counter() - clock
    return {"seconds": seconds, "growth_mb": (peak_bytes() - before) / MEGABYTE, "candidates": len(candidates), "t": t}


def first_result() -> dict[str, Any]:
    """The time is taken by the parent; this only has to come to a result."""
    import numpy as np

    import pliant

    faces = np.array([(0, 1, 2)])
    x0 = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.2, 0.2, 1.0)])
    x1 = x0 - [(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 2)]
    contacts = pliant.ccd(pliant.TriMesh(faces, points=[3]), x0, x1)
    return {"contacts": len(contacts), "toi": float(contacts.toi[0])}


def make(name: str, triangles: str) -> dict[str, Any]:
    """Write a built-in scene to a temporary file, so that the process that measures memory has not made it."""
    from bench.inputs import built_in, save

    scene = built_in(name, int(triangles))
    return {"path": str(save(scene, Path(tempfile.mkdtemp(prefix="pliant-bench-"))))}


def volume(name: str, cells: str, threads: str) -> dict[str, Any]:
    """Two steps of a volume scene, with progress on stderr: time, contacts, and the most memory of the process."""
    import psutil

    import pliant
    from bench.fingerprints import fingerprint
    from bench.measure import warm_up

    warm_up(int(threads))
    tiny = pliant.scenes.load_volume(name, 200, frames=3)
    pliant.ccd(tiny.cells, tiny.x0, tiny.x1, threads=int(threads))
    scene = pliant.scenes.load_volume(name, int(cells), frames=3)
    mesh, seconds, contacts = pliant.VolumeMesh(scene.cells), [], []
    before, made = psutil.Process().memory_info().rss, peak_bytes()
    for step in scene.steps:
        clock = time.perf_counter()
        contacts.append(pliant.ccd(mesh, step.x0, step.x1, threads=int(threads), progress=True))
        seconds.append(time.perf_counter() - clock)
    tests = sum(stage.pairs_in for found in contacts for stage in found.stages if stage.name == "exact")
    return {
        "cells": len(mesh.types), "seconds": seconds, "contacts": sum(map(len, contacts)), "tests": tests,
        "input_mb": before / MEGABYTE, "making_mb": made / MEGABYTE, "peak_mb": peak_bytes() / MEGABYTE,
        "hash": fingerprint(contacts[-1]), "stages": [tuple(stage) for stage in contacts[-1].stages],
    }  # fmt: skip


JOBS = {"volume": volume, "query": query, "peer": peer, "first_result": first_result, "make": make}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
