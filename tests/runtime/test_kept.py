"""Compiled kernels come back from their cache without what only the compiler needs, and compile later all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.runtime import jit

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")

MODULE = """
import numpy as np
from pliant.runtime.jit import helper, kernel

@helper
def twice(a):
    return 2.0 * a

@kernel
def total(a):
    doubled = np.empty(len(a))  # what counts arrays has to be there
    for i in range(len(a)):
        doubled[i] = twice(a[i])
    found = 0.0
    for one in doubled:
        found += one
    return found
"""
SCRIPT = """
import sys
import numpy as np
from kept import total
print(total(np.arange(4.0)), sum(total.stats.cache_hits.values()), "numba.np.linalg" in sys.modules)
print(total(np.arange(4, dtype=np.int64)), sum(total.stats.cache_hits.values()), "numba.np.linalg" in sys.modules)
"""
LOADED = """
from pliant.runtime import jit
print("numba.np.arrayobj" in sys.modules, bool(jit._DECLARED))  # where np.empty is; helpers that numba does not know
"""


def test_a_loaded_kernel_does_not_make_the_compiler_ready(tmp_path: Path):
    (tmp_path / "kept.py").write_text(MODULE, "utf-8")
    variables = {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "PLIANT_CACHE_DIR": str(tmp_path / "cache"),
    }  # fmt: skip

    def said(script: str) -> list[str]:
        command = [sys.executable, "-c", script]
        done = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | variables, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert said(SCRIPT.rpartition("print")[0]) == ["12.0 0 True"]  # compiled
    assert said(SCRIPT.rpartition("print")[0] + LOADED) == ["12.0 1 False", "False True"]
    assert said(SCRIPT) == ["12.0 1 False", "12.0 1 True"]  # loaded; then other types, which are compiled
    assert said(SCRIPT) == ["12.0 1 False", "12.0 2 False"]
