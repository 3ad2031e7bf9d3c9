"""Wheel and sdist build, and hold what they should."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from pliant.runtime.extras import _EXTRAS
from tests.install.contents import CHECKOUT, faults, faults_of_wheel, package_files


@pytest.mark.slow
def test_wheel_and_sdist_hold_what_they_should(tmp_path: Path):
    if not all(map(find_spec, ("build", "hatchling"))):
        pytest.skip("building needs an extra: pip install '.[dist]'")
    call = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(CHECKOUT)]
    done = subprocess.run(call, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert faults(tmp_path) == []


def test_what_is_wrong_with_a_wheel_is_named(tmp_path: Path):
    wheel = tmp_path / "pliant-0-cp311-cp311-linux_x86_64.whl"
    kept = package_files() - {"pliant/py.typed"}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in [*kept, "tests/test_docs.py", "pliant-0.dist-info/METADATA"]:
            archive.writestr(name, "Provides-Extra: cli\n")
    assert faults_of_wheel(wheel) == [
        "missing: pliant/py.typed",
        "does not belong there: tests/test_docs.py",
        f"not a wheel for every machine: {wheel.name}",
        "no extra: all",
        "no extra: characters",
        "no extra: io",
    ]


def test_extras_that_messages_name_exist():
    project = (CHECKOUT / "pyproject.toml").read_text("utf-8")
    section = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, re.MULTILINE))
    sources = "".join(path.read_text("utf-8") for path in sorted((CHECKOUT / "src").rglob("*.py")))
    named = {name for names in re.findall(r"pliant\[([\w,]+)\]", sources) for name in names.split(",")}
    assert {"cli", "io"} <= named | set(_EXTRAS.values()) <= extras


def test_the_source_is_that_of_the_oldest_python():
    for path in sorted((CHECKOUT / "src").rglob("*.py")):
        ast.parse(path.read_text("utf-8"), str(path), feature_version=(3, 10))
