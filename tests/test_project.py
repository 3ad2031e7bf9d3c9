"""What holds for the project as a whole: the order of the stages, a light import, no file that knows a machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = CHECKOUT / "src" / "pliant"
TESTS = CHECKOUT / "tests"

# A module imports from its own line and from the lines above it. New modules need a place here.
STAGES = (
    ("runtime",),
    ("arithmetic",),
    ("mesh",),
    ("bounds",),
    ("hierarchy",),
    ("culling",),
    ("pairs",),
    ("filters",),
    ("elementary",),
    ("results",),
    ("engine",),
    ("queries",),
    ("response",),
    ("untangling",),
    ("characters",),
    ("scenes",),
    ("frames",),
    ("simulate",),
    ("io",),
    ("simulated",),
    ("report",),
    ("certificates",),
    ("warming",),
    ("view",),
    ("commands",),
    ("cli", "__main__"),
)
# Methods that lead on to what comes later, and import it when they are called: Sequence.open, characters.load,
# Cloth.restore.
DOORS = {("frames", "io"), ("frames", "report"), ("characters", "io"), ("simulate", "io")}
RANK = {stage: rank for rank, stages in enumerate(STAGES) for stage in stages}
PIPELINE = {stage for stage in RANK if RANK["mesh"] < RANK[stage] <= RANK["queries"]}


def stage_of(path: Path, package: Path = PACKAGE) -> str:
    return path.relative_to(package).with_suffix("").parts[0]


def imported_stages(path: Path, package: Path = PACKAGE) -> Iterator[tuple[int, str]]:
    """Line and stage of every import of pliant in a file, those inside functions too.

    The package itself counts as the stage "": its public names stand for the whole pipeline.
    """
    here = ("pliant", *path.relative_to(package).parent.parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = list(here[: len(here) - node.level + 1]) if node.level else []
            module = ".".join(start + ([node.module] if node.module else []))
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "pliant" else [module]
        else:
            continue
        for name in names:
            root, *rest = name.split(".")
            if root == "pliant":
                yield node.lineno, rest[0] if rest and rest[0] in RANK else ""


def misplaced_imports(path: Path, package: Path = PACKAGE) -> list[str]:
    stage = stage_of(path, package)
    return [
        f"{path.relative_to(package)}:{line}: {stage} imports {imported or 'the public names'}"
        for line, imported in imported_stages(path, package)
        if (RANK.get(imported, RANK["report"] - 0.5) > RANK[stage] and (stage, imported) not in DOORS)
        or (stage == "scenes" and imported in PIPELINE)
    ]


# Beside the rooms of the package: what is shared, slow truth, browsers, damaged files, what is installed, measurements.
OTHER_TESTS = {"shapes", "reference", "browser", "fuzz", "install", "bench"}


def test_tests_mirror_the_package():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")} - {Path()}
    rooms = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}
    assert len(folders) > 15
    assert {str(folder) for folder in folders - rooms if folder.parts[0] not in OTHER_TESTS} == set()


def test_no_test_imports_another():
    """What two of them need is in tests/shapes, or in a file of their folder that is no test."""
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            found += [
                f"{path.relative_to(TESTS)}:{node.lineno}: {name}"
                for name in names
                if any(part.startswith("test_") for part in name.split("."))
            ]
    assert found == []


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def test_every_module_has_a_stage():
    assert modules()
    assert [str(path) for path in modules() if stage_of(path) not in RANK] == []


def test_modules_import_only_from_stages_before_them():
    assert [line for path in modules() if stage_of(path) in RANK for line in misplaced_imports(path)] == []


@pytest.mark.parametrize(
    ("where", "source", "bad"),
    [
        ("filters/dnf.py", "from pliant.mesh import triangles", False),
        ("filters/dnf.py", "from pliant.filters.axes.features import plane", False),
        ("filters/dnf.py", "from ..arithmetic.vec3 import dot\nfrom . import csat", False),
        ("filters/dnf.py", "from pliant.elementary.exact import vertex_face", True),
        ("filters/dnf.py", "from ..queries.detect import ccd", True),
        ("filters/dnf.py", "from .. import queries", True),
        ("filters/dnf.py", "def late():\n    import pliant.queries.detect as d", True),
        ("filters/dnf.py", "import pliant", True),
        ("filters/dnf.py", "from pliant import ccd", True),
        ("scenes/cloth.py", "from pliant.mesh.triangles import TriMesh", False),
        ("scenes/cloth.py", "from pliant.queries.detect import ccd", True),
        ("queries/detect.py", "from pliant import scenes", True),
        ("report/demo.py", "import pliant\nfrom pliant import scenes", False),
        ("cli.py", "from pliant.report.demo import run", False),
    ],
)
def test_the_order_is_really_checked(tmp_path: Path, where: str, source: str, bad: bool):
    path = tmp_path / where
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, "utf-8")
    assert bool(misplaced_imports(path, tmp_path)) == bad


@pytest.mark.parametrize("action", ["import pliant", "from pliant.cli import main; main(['--help'])"])
def test_heavy_packages_are_loaded_on_first_use_only(action: str):
    script = f"""
import atexit, sys
atexit.register(lambda: print("LOADED", sorted({{"numba", "numpy"}} & set(sys.modules))))
{action}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "LOADED []"


# Folders of one developer's machine, and hosts of package registries: which index to ask is for pip's own settings.
FOREIGN = re.compile(
    r"(?<![\w.~-])/(?:work|root|home|Users|opt)/"
    r"|\b[A-Z]:\\+Users\b"
    r"|\b(?:pypi|anaconda)\.org|\bpythonhosted\.|\bregistry\.npmjs|\bnpmjs\.(?:org|com)"
)
NOT_OURS = {
    ".git",
    ".venv",
    ".venv-simulators",
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    "build",
    "dist",
    "site",
}


def project_files(folder: Path = CHECKOUT) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NOT_OURS or path.is_symlink():
            continue
        if path.is_dir():
            yield from project_files(path)
        else:
            yield path


def test_no_file_knows_a_machine_or_a_registry():
    found = []
    for path in project_files():
        content = path.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8").splitlines(), 1):
            if match := FOREIGN.search(line):
                found.append(f"{path.relative_to(CHECKOUT)}:{number}: {match[0]}")
    assert found == []


# Put together here, or this file would be found itself.
@pytest.mark.parametrize("text", ["see /{}/main", "'/{}/.cache'", "https://pypi{}/simple"])
def test_machines_and_registries_are_recognised(text: str):
    assert FOREIGN.search(text.format(".org" if "pypi" in text else "root"))


@pytest.mark.parametrize("text", ["docs/work/plan", "../shared/data", "~/.cache/pliant", "https://example.com/home/x"])
def test_harmless_paths_are_not_taken_for_machines(text: str):
    assert not FOREIGN.search(text)
