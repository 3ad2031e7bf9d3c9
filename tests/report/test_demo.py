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
from pliant.runtime.writing import write_atomically

demo = pytest.importorskip("pliant.report.demo", reason="needs rich: the cli extra", exc_type=ModuleNotFoundError)

WRITTEN = ["contact_sheet.png", "plots.png", "report.html"]


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_numbers_are_those_of_the_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo.run(scene="crumpled_sheet", triangles=200, frames=3, threads=2)
    out = capsys.readouterr().out
    assert "everything that collides in crumpled_sheet, 200 triangles, 1 object, 3 frames, on 2 threads" in out
    assert "\x1b" not in out  # not a terminal: no colours, no spinner
    assert contents(tmp_path / "demo") == WRITTEN
    for name in ("demo/report.html", "demo/contact_sheet.png"):
        assert name in out
    assert max(map(len, out.splitlines())) <= 120

    scene = pliant.scenes.load("crumpled_sheet", triangles=200, frames=3)
    contacts = [pliant.ccd(scene.faces, x0, x1) for x0, x1 in scene.steps()]
    crossings = [len(pliant.dcd(scene.faces, x)) for x in scene.frames]
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line[:1].isdigit()}
    for number, table in enumerate(contacts, start=1):
        words = [word.replace(",", "") for word in rows[str(number)]]
        edges = np.count_nonzero(table.kind)
        assert words[:4] == [str(number), str(len(table) - edges), str(edges), f"{table.toi.min():.9f}"]
        assert words[5] == str(crossings[number])
    total = sum(map(len, contacts))
    assert total > 0
    assert f"{total:,} contacts and {sum(crossings):,} intersection" in out


def test_a_scene_without_contact_is_reported_too(tmp_path: Path, capsys):
    demo.run(scene="passing_sheets", triangles=200, frames=2, threads=1, output=tmp_path / "some" / "folder")
    out = capsys.readouterr().out
    assert "none" in out
    assert "0 contacts and 0 intersections in 2 frames" in out
    assert contents(tmp_path / "some" / "folder") == WRITTEN


def test_a_folder_that_cannot_be_made_ends_in_a_message(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(pliant.MeshError, match="could not be written"):
        demo.run(scene="passing_sheets", triangles=100, frames=2, threads=1, output=tmp_path / "file")


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--scene", "twisted_cloht"], "did you mean 'twisted_cloth'"), (["--frames", "1"], "frames must be")],
)
def test_a_wrong_option_ends_in_its_message(capsys, options: list[str], message: str):
    with pytest.raises(SystemExit) as end:
        main(["demo", *options])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


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
    assert "pip install '.[cli]'" in done.stderr
