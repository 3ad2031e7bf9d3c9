"""A wheel, put into an empty environment and used: what works without extras, what names the extra that it needs.

    python3.14 tests/install/smoke.py dist

The environment is of the Python that runs this, and is gone afterwards. What a message tells the user to do is done.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

# Faces 0 and 1 cross.
POINTS = ((0, 0, 0), (2, 0, 0), (0, 2, 0), (0.5, 0.5, -1), (0.5, 0.5, 1), (0.6, 0.9, 1))
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS) + "f 1 2 3\nf 4 5 6\n"
VTK = (
    "# vtk DataFile Version 3.0\ncrossing\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n"
    + "".join(f"{x} {y} {z}\n" for x, y, z in POINTS)
    + "CELLS 2 8\n3 0 1 2\n3 3 4 5\nCELL_TYPES 2\n5\n5\n"
)
QUERIES = """
import sys
from pathlib import Path
import pliant
assert Path(pliant.__file__).resolve().is_relative_to(Path(sys.prefix).resolve()), pliant.__file__
assert (Path(pliant.__file__).parent / "py.typed").is_file()
scene = pliant.scenes.load("twisted_cloth", triangles=6_000, frames=2)
contacts = pliant.ccd(scene.faces, scene.x0, scene.x1)
step = pliant.safe_step(scene.faces, scene.x0, scene.x1)
assert len(contacts) and step.t == contacts.toi.min()
assert len(pliant.ccd(scene.faces, scene.x0, step.positions)) == 0
assert len(pliant.dcd(scene.faces, scene.x0)) == 0 and len(pliant.dcd(scene.faces, scene.x1))
print(contacts, step)
"""


class Expected(NamedTuple):
    """What a command ends in, and what it says."""

    arguments: tuple[str, ...]
    code: int
    says: str = ""


# In this order; before each list its extra is installed, in the words of the message that named it.
WITHOUT = (Expected(("--version",), 2, "pip install '.[cli]'"),)
WITH_CLI = (
    Expected(("--version",), 0, "pliant "),
    Expected(("--help",), 0, "scan"),
    Expected(("check", "crossing.obj"), 1, "1"),
    Expected(("check", "crossing.obj", "--json"), 1, '"pairs"'),
    Expected(("check", "missing.obj"), 2, "missing.obj"),
    Expected(("scenes",), 0, "twisted_cloth"),
    Expected(("scan", "twisted_cloth", "--to", "1", "--find", "contacts"), 1),
    Expected(("check", "crossing.vtk"), 2, "pip install '.[io]'"),
    Expected(("view", "twisted_cloth", "--no-browser"), 2, "pip install '.[view]'"),
)
WITH_IO = (Expected(("check", "crossing.vtk"), 1), Expected(("convert", "crossing.vtk", "crossing.ply"), 0))


class Environment:
    """An environment of its own, used from an empty folder."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "env", with_pip=True)
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.work = folder / "empty"
        self.work.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PLIANT_"))}
        self.variables = kept | {"PLIANT_CACHE_DIR": str(folder / "cache"), "PYTHONUTF8": "1", "COLUMNS": "200"}

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        call = [str(self.bin / program), *arguments]
        return subprocess.run(
            call, cwd=self.work, env=self.variables, capture_output=True, text=True, encoding="utf-8", timeout=900
        )

    def require(self, program: str, *arguments: str) -> None:
        done = self.run(program, *arguments)
        if done.returncode:
            sys.exit(f"{program} {' '.join(arguments)} ended in {done.returncode}:\n{done.stdout}{done.stderr}")
        if done.stdout.strip():
            print(done.stdout.strip().splitlines()[-1])

    def install(self, what: str) -> None:
        self.require("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what)


def disappointments(environment: Environment, expected: tuple[Expected, ...]) -> list[str]:
    """Commands that did not end as they should."""
    found = []
    for arguments, code, says in expected:
        done = environment.run("pliant", *arguments)
        said = done.stdout + done.stderr
        good = done.returncode == code and says in said and "Traceback" not in said
        print(f"{'ok ' if good else 'BAD'} pliant {' '.join(arguments)}: {done.returncode}")
        if not good:
            found.append(f"pliant {' '.join(arguments)}: {done.returncode}, not {code} with {says!r}:\n{said[-2000:]}")
    return found


def main(dist: Path) -> int:
    (wheel,) = dist.glob("pliant-*.whl")
    print(f"Python {sys.version.split()[0]}, {wheel.name}")
    with tempfile.TemporaryDirectory() as name:
        environment = Environment(Path(name))
        environment.install(str(wheel.resolve()))
        environment.require("python", "-c", QUERIES)
        (environment.work / "crossing.obj").write_text(OBJ, "utf-8")
        (environment.work / "crossing.vtk").write_text(VTK, "utf-8")
        found = disappointments(environment, WITHOUT)
        for extra, expected in (("cli", WITH_CLI), ("io", WITH_IO)):
            environment.install(f"pliant[{extra}]")
            found += disappointments(environment, expected)
    print("\n".join(found) if found else "all well")
    return len(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
