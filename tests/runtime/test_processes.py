"""Processes that compile ahead: how many, and that none is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.runtime import jit, processes
from pliant.warming.pieces import PIECES


@pytest.mark.parametrize(("asked", "count"), [("1", 1), ("3", 3), ("0", 1), ("off", 1)])
def test_their_number_can_be_chosen(monkeypatch: pytest.MonkeyPatch, asked: str, count: int):
    monkeypatch.setenv(processes.VARIABLE, asked)
    assert processes.process_count() == count


@pytest.mark.parametrize("executable", ["", "modeller.exe"])
def test_a_program_with_python_inside_is_not_started_again(monkeypatch: pytest.MonkeyPatch, executable: str):
    monkeypatch.delenv(processes.VARIABLE)
    monkeypatch.setattr(sys, "executable", executable)
    assert processes.process_count() == 1


def test_a_frozen_program_is_not_started_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(processes.VARIABLE)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert processes.process_count() == 1


FIRST = """
import pliant
from pliant.runtime import processes
print(len(pliant.TriMesh([[0, 1, 2], [2, 1, 3]]).edges), *(one.pid for one in processes._running))
"""


@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
@pytest.mark.skipif(os.name == "nt", reason="processes are asked for otherwise there")
def test_others_end_with_who_began_them(tmp_path: Path):
    variables = {
        "PYTHONPATH": os.pathsep.join(sys.path), "PLIANT_CACHE_DIR": str(tmp_path / "cache"), processes.VARIABLE: "2",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", FIRST], capture_output=True, text=True, env=os.environ | variables, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("pliant: compiling kernels")
    assert "in 2 processes" in done.stderr
    assert done.stderr.count("\n") == 1
    edges, other = done.stdout.split()
    assert edges == "5"
    until = time.monotonic() + 10.0
    while _is_running(int(other)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_running(int(other))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # Killed, and nobody has asked how it ended: where there is no first process that does.
    stat = Path(f"/proc/{process}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_process_that_cannot_be_started_is_done_without(monkeypatch: pytest.MonkeyPatch):
    def refused(*_: str) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(processes, "started", refused)
    monkeypatch.setattr(processes, "_begun", set())
    monkeypatch.setattr(processes, "_running", [])
    monkeypatch.setenv(processes.VARIABLE, "4")
    assert processes.begin() == 1


def test_for_a_small_mesh_the_kernels_of_small_meshes_are_expected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(processes, "_expected", "ccd")
    mesh = pliant.TriMesh([[0, 1, 2]], points=[3])
    x = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 1)])
    assert len(pliant.ccd(mesh, x, x - [(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 2)])) == 1
    assert processes._expected == "small_ccd"
    sheet = pliant.scenes.load("twisted_cloth", 9000, 2)
    pliant.step(sheet.faces, sheet.x0, sheet.x0)
    assert processes._expected == "step"


def test_what_is_expected_is_a_query_that_can_be_compiled():
    assert set(processes._SMALL) | set(processes._SMALL.values()) <= set(PIECES)
