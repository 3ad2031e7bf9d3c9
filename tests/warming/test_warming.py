"""What `pliant warm` compiles is what queries call, with the types that they call it with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.runtime import jit
from pliant.warming.pieces import MAIN, PIECES

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")

AHEAD = """
import sys
from pliant.warming import kernels
for one in kernels(sys.argv[1:]):
    print(one.name, one.types)
"""
CALLED = """
import sys
import pliant
{queries}
for name, module in list(sys.modules.items()):
    for member in vars(module).values() if name.startswith("pliant.") else ():
        if getattr(member, "__module__", "") == name and hasattr(member, "overloads"):
            for types in member.overloads:
                print(f"{{name}}.{{member.__qualname__}}", types)
"""
QUERIES = """
for triangles in (200, 3000):
    scene = pliant.scenes.load("twisted_cloth", triangles)
    for threads in (1, 2):
        motion = scene.faces, scene.x0, scene.x1
        assert len(pliant.ccd(*motion, threads=threads))
        assert pliant.step(*motion, threads=threads).contact is not None
        assert len(pliant.check(scene.faces, scene.x1, threads=threads))
        pliant.near(scene.faces, scene.x0, within=0.01, threads=threads)
"""
DEMO = """
from pathlib import Path
from pliant.report.demo import run
run(triangles=3000, output=Path("demo"))
"""
SIMULATION = """
for frame in pliant.simulated.setup("cloth_ball", 1000).begin().frames(20):
    pass
"""
SOLIDS = """
import numpy as np
from pliant.scenes.shapes import icosphere
faces, x = icosphere(2)
cells = {"tetra": [[0, 1, 2, 3]], "triangle": np.asarray(faces) + 4}
corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]) + (0, 0, 1.2)
floor = pliant.simulate.Obstacle([[0, 1, 2]], np.array([(-9.0, -9, -1.01), (9, -9, -1.01), (0, 9, -1.01)]))
for way in ({}, {"interior": False}, {"scheme": "explicit"}, {"scheme": "explicit", "contact": "penalty"}):
    solid = pliant.simulate.Solid(
        cells, np.concatenate((corners, x)), materials="rubber", shell_thickness=0.05, pressure=1e3, obstacles=floor,
        velocities=np.tile((0.0, 0.0, -3.0), (len(x) + 4, 1)), threads=2, **way,
    )
    for frame in solid.frames(2):
        assert solid.plastic_strain.max() == 0.0
"""
UNTANGLING = """
import numpy as np
from pliant.scenes.shapes import icosphere
faces, x = icosphere(6)
both, at = np.concatenate((faces, faces + len(x))), np.concatenate((x, x + (1.7, 0.05, 0.03)))
for options in ({}, {"max_move": 0.0}, {"outside_of": [0], "fixed": np.arange(len(x))}, {"layers": [0, 1]}):
    for threads in (1, 2):
        pliant.untangle(both, at, threads=threads, **options)
open_ = both[10:-10]
pliant.untangle(open_, at)
pliant.check(open_, at).contours(open_, at)
"""


def _lines(script: str, folder: Path, *arguments: str) -> set[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True, text=True, env=environment, cwd=folder, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {line for line in done.stdout.splitlines() if line.startswith("pliant.")}


@pytest.mark.parametrize(
    ("queries", "pieces"),
    [(QUERIES, MAIN), (DEMO, MAIN), (SIMULATION, tuple(PIECES)), (SOLIDS, tuple(PIECES)), (UNTANGLING, tuple(PIECES))],
    ids=["queries", "demo", "simulation", "solids", "untangling"],
)
def test_nothing_is_left_to_compile(tmp_path: Path, queries: str, pieces: tuple[str, ...]):
    called = _lines(CALLED.format(queries=queries), tmp_path)
    assert len(called) > 20
    assert called - _lines(AHEAD, tmp_path, *pieces) == set()
