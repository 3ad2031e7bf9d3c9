"""Memory that queries fill again and again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource
import pliant

made = pliant.scenes.load("bishop", triangles=20_000, frames=3)
mesh = pliant.TriMesh(made.faces)


def faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


for _ in range(3):
    pliant.ccd(mesh, made.x0, made.x1, threads=1)
before = faults()
for _ in range(10):
    pliant.ccd(mesh, made.x0, made.x1, threads=1)
print((faults() - before) / 10)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators keep what they like")
def test_a_query_finds_the_memory_of_the_one_before():
    found = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert float(found.stdout) < 300  # were over 2,000
