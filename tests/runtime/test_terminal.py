"""Names from files are shown, not obeyed: no terminal gets an escape from them; JSON and CSV keep every character."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from pathlib import Path

import pytest

from pliant.runtime.terminal import complain, printable
from tests.shapes.command_line import APART, CROSSING, Call, obj, write_obj

UNIX = pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="names are not that free there")
NAME = "a\x1b]0;owned\x07\x1b[31m\u202eb\x9b2J\x7f\rc.obj"
SHOWN = r"a\x1b]0;owned\x07\x1b[31m\u202eb\x9b2J\x7f\rc.obj"


def test_what_terminals_obey_is_escaped_and_nothing_else():
    assert printable(NAME) == SHOWN
    assert printable("one\ntwo\tthree") == r"one\ntwo\tthree"
    assert printable("Käfer 虫 שלום 👩‍🚀 [bold] \\x1b") == "Käfer 虫 שלום 👩‍🚀 [bold] \\x1b"
    assert printable("f\udcff \ud800") == r"f\xff \ud800"
    for code in (*range(32), *range(127, 160), 0x202A, 0x202E, 0x2066, 0x2069, 0x200E, 0x200F, 0x61C, 0x2028):
        assert printable(chr(code)).isprintable()


def test_a_complaint_is_one_line_and_goes_nowhere_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    complain(f"{NAME} is\nwrong")
    assert capsys.readouterr().err == f"pliant: {SHOWN.replace(chr(92) + 'r', ' ')} is wrong\n"
    monkeypatch.setattr(sys, "stderr", None)
    complain("nobody hears")
    assert capsys.readouterr().out == ""


@UNIX
def test_names_of_files_are_shown_and_not_obeyed(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write_obj(Path(NAME), CROSSING)
    write_obj(Path("b.obj"), APART)
    Path("w" + NAME).write_text("f 1 2 3\n", "utf-8")
    for line in (["check", NAME], ["check", NAME, "b.obj", "--each"], ["ccd", "b.obj", NAME], ["check", "w" + NAME]):
        ended = call(*line)
        assert all(text.replace("\n", "").isprintable() for text in (ended.out, ended.err)), line
        assert r"\x1b]0;owned\x07" in ended.out + ended.err
    assert call("check", NAME, "--json").json["files"][0]["file"] == NAME
    (row,) = csv.DictReader(io.StringIO(call("check", NAME, "--csv", "-").out, newline=""))
    assert row["file"] == NAME


def test_names_of_parts_are_shown_and_not_obeyed(call: Call, tmp_path: Path):
    lines = obj(CROSSING).splitlines()
    lines[6:] = ["g one\x1b[2J", lines[6], "g two\x1b]52;c;cHduZWQ=\x07", lines[7]]
    for i in range(2):
        (tmp_path / f"{i}.obj").write_text("\n".join(lines) + "\n", "utf-8")
    ended = call("scan", tmp_path / "*.obj")
    assert ended.code == 1
    assert "\x1b" not in ended.out + ended.err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_need_not_be_text(call: Call, tmp_path: Path):
    """With --report, a name that is not UTF-8 ended in a traceback."""
    for i, x in enumerate((APART, CROSSING)):
        write_obj(Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xff_%d.obj" % i)), x)
    pattern = os.fsdecode(os.fsencode(tmp_path) + b"/f\xff_*.obj")
    outputs = ("--report", tmp_path / "r.html", "--png", tmp_path / "s.png", "--npz", tmp_path / "n.npz")
    ended = call("scan", pattern, *outputs, "--csv", tmp_path / "c.csv")
    assert (ended.code, ended.err) == (1, "")
    assert r"f\xff_*.obj: 2 frames" in ended.out
    assert "f\\" in (tmp_path / "r.html").read_text("utf-8")
    one = os.fsdecode(os.fsencode(tmp_path) + b"/f\xff_1.obj")
    assert json.loads(call("check", one, "--json").out)["files"][0]["file"] == one
    ended = call("check", one, "--offenders", tmp_path / "o.ply", "--csv", tmp_path / "d.csv")
    assert (ended.code, ended.err) == (1, "")
    assert b"f\xff_1.obj" in (tmp_path / "d.csv").read_bytes()
    for option in ("--junit", "--sarif"):
        assert call("check", one, option, tmp_path / "machine").code == 1
