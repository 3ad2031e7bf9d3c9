"""The cache cannot lie: whatever compiled code depends on is in its digest, and nothing else is."""

from __future__ import annotations

import pytest

from pliant.runtime.digests import PACKAGE, _file_of, _seen, behind, common, digest, modules, read


def test_bounds_checks_have_a_cache_of_their_own(monkeypatch):
    """numba does not see the flag: code without checks was loaded in a run that asked for them."""
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "0")
    without = common(PACKAGE)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert common(PACKAGE) != without
    monkeypatch.delenv("NUMBA_BOUNDSCHECK")
    assert common(PACKAGE) == without


KERNELS = "from pliant.runtime.jit import kernel\nfrom pliant.arithmetic import (\n    vec3,\n)\n"
LAYOUT = "class Box(NamedTuple):\n    lower: float\n\n    upper: float\n\n\nOTHER = 1\n"


@pytest.fixture
def package(tmp_path):
    """A module with kernels, what it imports, what that imports, and what none of them does."""
    for name, content in {
        "mesh/cells.py": KERNELS,
        "arithmetic/__init__.py": "",
        "arithmetic/vec3.py": "def late():\n    from pliant.arithmetic.rounding import UNIT",
        "arithmetic/rounding.py": "UNIT = 2.0**-53",
        "io/obj.py": "import numpy\nfrom pliant.mesh.cells import list_edges",
        "io/boxes.py": LAYOUT,
    }.items():
        (tmp_path / "pliant" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "pliant" / name).write_text(content, "utf-8")
    return tmp_path / "pliant"


def _digest_of_cells(package):
    for one in (read, modules, _seen, _file_of):  # of files that change while a process runs
        one.cache_clear()
    return digest("pliant.mesh.cells", package / "mesh" / "cells.py", package)


@pytest.mark.parametrize(
    "name", ["mesh/cells.py", "arithmetic/__init__.py", "arithmetic/vec3.py", "arithmetic/rounding.py"]
)
def test_the_cache_depends_on_what_kernels_import(package, name):
    """numba looks at the file of the kernel alone, not at those of the helpers that it has compiled in."""
    before, path = _digest_of_cells(package), package / name
    path.write_text(path.read_text("utf-8") + "\n# changed", "utf-8")
    assert _digest_of_cells(package) != before


def test_the_cache_outlives_changes_of_what_kernels_do_not_import(package):
    """A change of a reader or of a page, and one of any other kernel, made every user compile everything again."""
    before, reader = (_digest_of_cells(package), common(package)), package / "io" / "obj.py"
    reader.write_text("from pliant.runtime.jit import kernel", "utf-8")
    assert (_digest_of_cells(package), common(package)) == before


def test_no_kernel_depends_on_what_people_see():
    """The demo imported a name of the module of kernels: all readers, pages and scenes were taken for parts of them."""
    files = [path for path in PACKAGE.rglob("*.py") if b"runtime.jit import" in path.read_bytes()]
    names = set[str]()
    for path in files:
        module = ".".join(("pliant", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        names |= set(behind(module, path))
    assert len(names) > 50
    assert [name for name in names if name.split(".")[1:2] in (["io"], ["simulated"], ["view"], ["commands"])] == []


@pytest.mark.parametrize("other", [("lower", "least"), ("    upper: float\n", ""), ("upper: float", "upper: int")])
def test_the_cache_depends_on_the_layouts_of_tuples(package, other):
    """Kernels are given tuples whose modules they do not import. Two fields that change places have the same types, and
    numba would load what was compiled before."""
    before, path = common(package), package / "io" / "boxes.py"
    path.write_text(LAYOUT.replace(*other), "utf-8")
    assert common(package) != before
    path.write_text(LAYOUT.replace("OTHER = 1", "OTHER = 2"), "utf-8")
    assert common(package) == before
