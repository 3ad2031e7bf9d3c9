"""The logger "pliant": silent by default, a line for each query, a line for each stage where asked."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import pliant
from tests.shapes.falling import END, FACES, START

QUERIES = {
    "ccd": lambda: pliant.ccd(FACES, START, END),
    "step": lambda: pliant.safe_step(FACES, START, END),
    "check": lambda: pliant.dcd(FACES, END),
    "near": lambda: pliant.proximity(FACES, START, within=1.0),
    "inside": lambda: pliant.inside({"tetra": [(0, 1, 2, 3)]}, START),
    "advance": lambda: _advance(),
    "intersections": lambda: pliant.Detector(FACES).intersections(END),
}


def _advance():
    detector = pliant.Detector(FACES)
    detector.advance(START)
    return detector.advance(END)


@pytest.mark.parametrize("name", QUERIES)
def test_each_query_says_what_it_did(name, caplog):
    with caplog.at_level(logging.INFO, logger="pliant"):
        result = QUERIES[name]()
    lines = [record.getMessage() for record in caplog.records if record.getMessage().startswith(f"{name} of ")]
    assert len(lines) == 1
    assert repr(result) in lines[0]
    assert lines[0].endswith(" s")


def test_stages_at_debug(caplog):
    with caplog.at_level(logging.DEBUG, logger="pliant"):
        result = pliant.ccd(FACES, START, END)
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert [f"ccd, {stage.name}: " in line for stage, line in zip(result.stages, lines)] == [True] * len(result.stages)


def test_silent_by_default():
    script = f"""
import numpy as np, pliant
pliant.dcd({FACES}, np.array({END.tolist()}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert [line for line in done.stderr.splitlines() if "compiling kernels" not in line] == []
