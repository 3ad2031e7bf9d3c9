"""The demo runs, says what it did, and leaves whole files behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.cli import main
from pliant.report.writing import write_atomically

demo = pytest.importorskip("pliant.report.demo", reason="needs rich: the cli extra", exc_type=ModuleNotFoundError)


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_results_are_those_of_the_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo.run(scene="crumpled_sheet", triangles=200, frames=3, threads=2)
    out = capsys.readouterr().out
    first, last = out.splitlines()[0], out.splitlines()[-1]
    assert "every contact of crumpled_sheet, 200 triangles, 1 object, 2 steps, on 2 threads" in first
    assert last == "Contacts in pliant-demo/crumpled_sheet.npz, this report in pliant-demo/crumpled_sheet.txt"
    assert "\x1b" not in out  # not a terminal: no colours, no spinner
    assert contents(tmp_path / "pliant-demo") == ["crumpled_sheet.npz", "crumpled_sheet.txt"]
    report = (tmp_path / "pliant-demo" / "crumpled_sheet.txt").read_text("utf-8")
    assert "safe_step equals the first toi of ccd in 2 of 2 steps" in report
    assert max(map(len, report.splitlines())) <= 100

    scene = pliant.scenes.load("crumpled_sheet", triangles=200, frames=3)
    with np.load(tmp_path / "pliant-demo" / "crumpled_sheet.npz") as table:
        assert len(table["step"]) > 0
        for i, (x0, x1) in enumerate(scene.steps(), start=1):
            contacts = pliant.ccd(scene.faces, x0, x1)
            rows = table["step"] == i
            assert np.array_equal(table["kind"][rows], contacts.kind)
            assert np.array_equal(table["elements"][rows], contacts.elements)
            assert np.array_equal(table["toi"][rows], contacts.toi)
            assert table["safe_step"][i - 1] == min(contacts.toi, default=1.0)


def test_a_scene_without_contact_is_reported_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo.run(scene="passing_sheets", triangles=200, frames=2, threads=1)
    out = capsys.readouterr().out
    assert "none" in out
    assert "safe_step equals the first toi of ccd in 1 of 1 step." in out


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--scene", "twisted_cloht"], "did you mean 'twisted_cloth'"), (["--frames", "1"], "frames must be")],
)
def test_a_wrong_option_ends_in_its_message(options: list[str], message: str):
    with pytest.raises(SystemExit, match=message):
        main(["demo", *options])


def test_a_failed_write_leaves_the_old_file(tmp_path: Path):
    def fail(file) -> None:
        file.write(b"half")
        raise OSError("disk full")

    path = tmp_path / "result"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert contents(tmp_path) == ["result"]


def test_without_rich_the_extra_is_named():
    script = "import sys; sys.modules['rich'] = None; import pliant.report.demo"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | {"PYTHONUTF8": "1"}
    )
    assert done.returncode != 0
    assert "pip install 'pliant[cli]'" in done.stderr
