"""What `pliant warm` compiles is what queries call, with the types that they call it with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.runtime import jit
from pliant.warming.pieces import MAIN, PIECES

ROOT = Path(__file__).parents[2]

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
from pliant.cli import main
sys.argv = ["pliant", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code
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


def _recipe(verb: str) -> tuple[str, ...]:
    """What make demo gives to a verb of pliant."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    line = re.search(rf"^\t\$\(BIN\)/pliant {verb} (.*)$", makefile, re.MULTILINE)
    assert line
    return tuple(line[1].split())


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
    [(QUERIES, MAIN), (SOLIDS, tuple(PIECES)), (UNTANGLING, tuple(PIECES))],
    ids=["queries", "solids", "untangling"],
)
def test_nothing_is_left_to_compile(tmp_path: Path, queries: str, pieces: tuple[str, ...]):
    called = _lines(CALLED.format(queries=queries), tmp_path)
    assert len(called) > 20
    assert called - _lines(AHEAD, tmp_path, *pieces) == set()


@pytest.mark.parametrize("verb", ["demo", "simulate"])
def test_what_make_demo_warms_is_all_that_it_calls(tmp_path: Path, verb: str):
    """After it, the simulation compiled for 15 s more: cones, which were tried in vain, and exact integers, since what
    was in the way of the cloth was looked for in motions that ended exactly in contact."""
    script, arguments = (DEMO, ()) if verb == "demo" else (SIMULATION, ("simulate", *_recipe("simulate")))
    (tmp_path / "demo").mkdir()
    called = _lines(CALLED.format(queries=script), tmp_path, *arguments)
    assert len(called) > 20
    assert called - _lines(AHEAD, tmp_path, *_recipe("warm")) == set()
