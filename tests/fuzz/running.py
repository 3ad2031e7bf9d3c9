"""Damaged files by the thousand: each is an error of ours, or sound after all; never a crash, a bare exception, more
than five seconds or a gigabyte, or a file that is left behind."""

from __future__ import annotations

import collections
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.damage import damaged
from tests.fuzz.seeds import Seed, seeds

SECONDS = 5.0  # of the processor
_PATIENCE = 120.0  # seconds that pass before a file counts as one that never ends, on a machine that is busy
GOOD = ("sound", "error")


class Finding(NamedTuple):
    seed: str
    way: str
    kind: str
    said: str
    kept: Path


class Worker:
    """A process that opens files, and that is replaced where one has ended it."""

    def __init__(self, folder: Path, warm_ups: list[str]) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.temporary))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", *warm_ups],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=(folder / "stderr").open("w"), text=True,
            env={**os.environ, **places}, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        assert self._answers.get(timeout=600).strip() == "ready", (folder / "stderr").read_text()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def open(self, path: Path, way: str) -> dict[str, Any]:
        assert self._process.stdin
        self._process.stdin.write(json.dumps([str(path), way]) + "\n")
        self._process.stdin.flush()
        try:
            line = self._answers.get(timeout=_PATIENCE)
        except queue.Empty:
            self.close()
            return {"kind": "endless", "said": "", "seconds": _PATIENCE, "peak": 0}
        if line:
            answer = json.loads(line)
            return {**answer, "kind": "slow"} if answer["seconds"] > SECONDS else answer
        code = self._process.wait()
        return {"kind": "crash", "said": f"ended with {code}", "seconds": 0.0, "peak": 0}

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def run(folder: Path, files: int, seed: int, only: str = "", say: Any = print) -> tuple[dict[str, Any], list[Finding]]:
    """Counts of outcomes for each seed, and all that is not as it should be, with the files that show it."""
    found = [one for one in seeds(folder / "seeds") if only in one.name]
    jobs = [(one, way) for one in found for way in one.ways]
    counts: dict[str, collections.Counter[str]] = {one.name: collections.Counter() for one in found}
    findings: list[Finding] = []
    warm_ups = _sound_files(folder / "sound", jobs)
    worker, most = Worker(folder, warm_ups), [0.0, 0]
    for number in range(files):
        one, way = jobs[number % len(jobs)]
        rng = np.random.default_rng((seed, number))
        case = _put(folder / "case", one, found, rng)
        before = set(_listed(folder / "case"))
        answer = worker.open(case, way)
        most = [max(most[0], answer["seconds"]), max(most[1], answer["peak"])]
        left = [*set(_listed(folder / "case")) - before, *_listed(worker.temporary)]
        kind = "left behind" if left and answer["kind"] in GOOD else answer["kind"]
        counts[one.name][kind] += 1
        if kind not in GOOD:
            kept = folder / "findings" / f"{number}-{kind.replace(' ', '-')}"
            shutil.copytree(folder / "case", kept, dirs_exist_ok=True)
            said = answer["said"] or ", ".join(left)
            findings.append(Finding(one.name, way, kind, said, kept / case.name))
            say(f"{kind}: {kept / case.name} ({way}): {said[:200]}")
        if kind in ("crash", "endless", "memory", "left behind"):
            worker.close()
            shutil.rmtree(worker.temporary)
            worker = Worker(folder, warm_ups)
        if number % 1000 == 999:
            say(f"{number + 1} files, {most[0]:.2f} s and {most[1]} MB at most")
    worker.close()
    return {name: dict(kinds) for name, kinds in counts.items()}, findings


def _sound_files(folder: Path, jobs: list[tuple[Seed, str]]) -> list[str]:
    """One of each kind, as it is."""
    found = []
    for number, (one, way) in enumerate(jobs):
        for name, content in one.files.items():
            path = folder / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        found.append(f"{folder / str(number) / one.name}:{way}")
    return found


def _put(folder: Path, one: Seed, others: list[Seed], rng: np.random.Generator) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    names = list(one.files)
    # The first is damaged most often, and the others where it leads to them.
    chosen = names[0] if len(names) == 1 or rng.random() < 0.5 else names[int(rng.integers(1, len(names)))]
    other = others[int(rng.integers(len(others)))] if rng.random() < 0.3 else one
    donor = list(other.files.values())[int(rng.integers(len(other.files)))]
    for name, content in one.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(damaged(content, rng, donor) if name == chosen else content)
    return folder / one.name


def _listed(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*")]
