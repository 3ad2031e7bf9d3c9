"""The door of the command line: codes, errors in one line, and what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import pliant
from pliant.cli import main

VERBS = (
    "check", "ccd", "step", "verify", "near", "scan", "inside", "character", "simulate", "demo", "scenes", "bench",
    "convert", "view", "warm", "schema",
)  # fmt: skip


def run(*arguments: str | Path) -> int:
    """The exit code of a call."""
    with pytest.raises(SystemExit) as end:
        main([str(one) for one in arguments])
    assert isinstance(end.value.code, int)
    return end.value.code


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"pliant {pliant.__version__}\n"


def test_without_a_verb_there_is_help(capsys: pytest.CaptureFixture[str]):
    assert run() == 0
    helped = capsys.readouterr().out
    assert run("-h") == 0
    assert capsys.readouterr().out == helped
    for verb in VERBS:
        assert f"\n  {verb} " in helped


def test_help_of_every_verb_fits_a_narrow_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    for verb in VERBS:
        assert run(verb, "--help") == 0
        out = capsys.readouterr().out
        assert out.startswith(f"Usage: pliant {verb} ")
        assert max(map(len, out.splitlines())) <= 60


def test_a_missing_typer_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [name for name in sys.modules if name.partition(".commands")[0] == "pliant"]:
        monkeypatch.delitem(sys.modules, name)
    assert run("--version") == 2
    error = capsys.readouterr().err
    assert error.startswith("pliant: the command line needs typer")
    assert "pip install '.[cli]'" in error


@pytest.fixture
def demo_that_raises(monkeypatch: pytest.MonkeyPatch):
    """The error that `pliant demo` raises is the first of this list."""
    errors: list[BaseException] = []
    demo = ModuleType("pliant.report.demo")

    def fail(**options: object) -> None:
        raise errors[0]

    monkeypatch.setattr(demo, "run", fail, raising=False)
    monkeypatch.setitem(sys.modules, "pliant.report", ModuleType("pliant.report"))
    monkeypatch.setitem(sys.modules, "pliant.report.demo", demo)
    return errors


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ModuleNotFoundError("No module named 'rich'", name="rich.table"), "needs rich, which the extra cli brings"),
        (
            ModuleNotFoundError("view needs viser: pip install '.[view]'", name="viser"),
            "view needs viser: pip",
        ),
        (pliant.MeshError("face 812 refers to\nvertex 9000"), "pliant: face 812 refers to vertex 9000\n"),
        (FileNotFoundError(2, "No such file or directory", "a/b.obj"), "pliant: a/b.obj: there is no such file\n"),
        (MemoryError("while asking for 7 GB"), "pliant: out of memory while asking for 7 GB; look at fewer frames"),
    ],
)
def test_errors_of_users_take_one_line(
    demo_that_raises: list[BaseException], capsys: pytest.CaptureFixture[str], error: BaseException, line: str
):
    demo_that_raises.append(error)
    assert run("demo") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert line in err
    assert err.count("\n") == 1


def test_a_fault_of_ours_keeps_its_traceback_and_is_no_finding(
    demo_that_raises: list[BaseException], capsys: pytest.CaptureFixture[str]
):
    demo_that_raises.append(ValueError("not about a mesh"))
    assert run("demo") == 2
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert "not about a mesh" in error


def test_an_interrupt_ends_quietly(demo_that_raises: list[BaseException], capsys: pytest.CaptureFixture[str]):
    demo_that_raises.append(KeyboardInterrupt())
    assert run("demo") == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chek", "a.obj"], "No such command 'chek'"),
        (["check"], "Missing argument 'FILE"),
        (["check", "a.obj", "--thread", "2"], "No such option: --thread"),
        (["check", "a.obj", "--threads", "0"], "Invalid value for '--threads'"),
        (["near", "a.obj"], "Missing option '--within'"),
        (["scan", "a.npz", "--find", "everything"], "Invalid value for '--find'"),
    ],
)
def test_wrong_arguments_take_one_line_that_says_where_help_is(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
):
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert says in err
    assert "--help" in err


def test_the_viewer_is_asked_for_this_machine_only(monkeypatch: pytest.MonkeyPatch):
    """The viewer itself is another's: what it is told is ours."""
    told: dict[str, object] = {}
    viewer = ModuleType("pliant.view")

    def serve(sequence: pliant.Sequence, **options: object) -> None:
        told.update(options, frames=len(sequence))

    monkeypatch.setattr(viewer, "serve", serve, raising=False)
    monkeypatch.setitem(sys.modules, "pliant.view", viewer)
    assert run("view", "crumpled_sheet", "--to", "2", "--no-browser", "--port", "0") == 0
    assert told["host"] == "127.0.0.1"
    assert (told["frames"], told["port"], told["open_browser"]) == (3, 0, False)


def test_shells_can_complete():
    script = "import sys; from pliant.cli import main; main()"
    environment = {"_PLIANT_COMPLETE": "complete_bash", "COMP_WORDS": "pliant sc", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=_with(environment))
    assert done.stdout.split() == ["scan", "scenes", "schema"]


def _with(more: dict[str, str]) -> dict[str, str]:
    path = str(Path(pliant.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": path, **more}
