from __future__ import annotations

import sys
from types import ModuleType

import pytest

import pliant
from pliant.cli import main


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"pliant {pliant.__version__}\n"


def test_a_missing_typer_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "pliant.commands", raising=False)
    with pytest.raises(SystemExit, match=r"needs typer.*pip install 'pliant\[cli\]'"):
        main(["--version"])


@pytest.fixture
def demo_that_raises(monkeypatch: pytest.MonkeyPatch):
    """The error that `pliant demo` raises is the first of this list."""
    errors: list[BaseException] = []
    demo = ModuleType("pliant.report.demo")

    def run(**options: object) -> None:
        raise errors[0]

    monkeypatch.setattr(demo, "run", run, raising=False)
    monkeypatch.setitem(sys.modules, "pliant.report", ModuleType("pliant.report"))
    monkeypatch.setitem(sys.modules, "pliant.report.demo", demo)
    return errors


def test_a_missing_rich_names_the_extra(demo_that_raises: list[BaseException]):
    demo_that_raises.append(ModuleNotFoundError("No module named 'rich'", name="rich.table"))
    with pytest.raises(SystemExit, match=r"needs rich.*pip install 'pliant\[cli\]'"):
        main(["demo"])


def test_a_bad_mesh_ends_in_its_message_and_no_traceback(demo_that_raises: list[BaseException]):
    demo_that_raises.append(pliant.MeshError("face 812 refers to vertex 9000, but there are 4096"))
    with pytest.raises(SystemExit, match="pliant: face 812 refers to vertex 9000"):
        main(["demo"])


def test_a_fault_of_ours_keeps_its_traceback(demo_that_raises: list[BaseException]):
    demo_that_raises.append(ValueError("not about a mesh"))
    with pytest.raises(ValueError, match="not about a mesh"):
        main(["demo"])


def test_an_interrupt_ends_quietly(demo_that_raises: list[BaseException]):
    demo_that_raises.append(KeyboardInterrupt())
    with pytest.raises(SystemExit) as end:
        main(["demo"])
    assert end.value.code == 130
