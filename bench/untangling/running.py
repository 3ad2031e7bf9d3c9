"""Jobs given to processes of their own, with a limit on each; what was done before is not done again."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.untangling.case import is_held_out
from bench.untangling.run import Job

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "bench" / "untangled.jsonl"
START = 900.0  # seconds in which a process has to be ready: kernels may have to be compiled
GRACE = 60.0  # seconds beyond those that a method was given, until its process is stopped


def outcomes(jobs: list[Job], save: bool) -> Iterator[dict[str, Any]]:
    """A record for each job, in their order; with `save` those of the same sources are read, and new ones written."""
    known = _known() if save else {}
    digest = sources() if save else ""
    todo = [job for job in jobs if _key(job, digest) not in known]
    fresh = _fresh(todo)
    for job in jobs:
        record = known.get(_key(job, digest))
        if record is None:
            record = next(fresh)
            if save:
                with RECORDS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record | {"digest": digest, "seconds": job.seconds}) + "\n")
        yield record


def sources() -> str:
    """A digest of all that a record depends on."""
    sha = hashlib.sha256()
    for path in sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "bench" / "untangling").glob("*.py")]):
        sha.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()[:16]


def _key(job: Job, digest: str) -> tuple[Any, ...]:
    return job.kind, job.name, job.method, job.seconds, digest


def _known() -> dict[tuple[Any, ...], dict[str, Any]]:
    if not RECORDS.exists():
        return {}
    records = [json.loads(line) for line in RECORDS.read_text("utf-8").splitlines()]
    return {(r["kind"], r["name"], r["method"], r["seconds"], r["digest"]): r for r in records}


def _fresh(jobs: list[Job]) -> Iterator[dict[str, Any]]:
    while jobs:
        for record in _in_one_process(jobs):
            yield record
            jobs = jobs[1:]


def _in_one_process(jobs: list[Job]) -> Iterator[dict[str, Any]]:
    """Records until all is done, or until a job has crashed its process or has not come to an end."""
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.untangling.run"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(child.stdout, lines), daemon=True).start()
    try:
        child.stdin.write(json.dumps([job._asdict() for job in jobs]))
        child.stdin.close()
        if not lines.get(timeout=START):
            raise SystemExit("untangle: the process of the cases has not started")
        for job in jobs:
            failed = {"kind": job.kind, "name": job.name, "method": job.method, "seed": job.seed}
            failed["held_out"] = is_held_out(job.seed)
            try:
                line = lines.get(timeout=job.seconds + GRACE)
            except queue.Empty:
                yield failed | {"error": f"no end within {job.seconds + GRACE:.0f} s"}
                return
            if not line:
                yield failed | {"error": f"its process ended with {child.wait()}"}
                return
            yield json.loads(line)
    finally:
        child.kill()
        child.wait()


def _read(stream: Any, lines: queue.Queue[str]) -> None:
    for line in stream:
        if line.startswith("{"):  # other libraries print, too
            lines.put(line)
    lines.put("")
