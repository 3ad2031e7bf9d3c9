"""What a call reads it does not write, what it writes it writes once, and what is not a file it leaves in its place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant
from tests.shapes.command_line import APART, CROSSING, FACES, Call, obj, put_on_stdin, write_obj

POSIX = pytest.mark.skipif(os.name == "nt", reason="a shell, links and pipes of Unix")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With everything in it that the calls below read, and nothing that is read where it should not be."""
    monkeypatch.chdir(tmp_path)
    write_obj(tmp_path / "a.obj", CROSSING)
    write_obj(tmp_path / "b.obj", APART)
    (tmp_path / "frames").mkdir()
    for i in range(3):
        write_obj(tmp_path / "frames" / f"c.{i:04d}.obj", APART)
    np.savez(tmp_path / "moving.npz", frames=np.stack((APART, CROSSING)), faces=FACES)
    (tmp_path / "same").mkdir()
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "line",
    [
        "check a.obj --csv a.obj",
        "check b.obj a.obj --csv a.obj",
        "check a.obj --csv ./same/../a.obj",
        "check a.obj --offenders a.obj --csv found.csv",
        "ccd a.obj b.obj --npz b.obj",
        "step a.obj b.obj --output b.obj",
        "near a.obj --within 1 --csv a.obj",
        "scan moving.npz --npz moving.npz",
        "scan moving.npz --report moving.npz",
        "scan frames/c.*.obj --csv frames/c.0001.obj",
        "scan frames/c.%04d.obj --csv frames/c.0002.obj",
        "scan frames --csv frames/c.0000.obj",
        "scan moving.npz --mesh a.obj --csv a.obj",
        "convert a.obj a.obj",
        "convert a.obj same/../a.obj",
        "convert frames frames/c.*.obj",
        "convert frames/c.*.obj frames/c.%04d.obj",
        "view moving.npz --csv moving.npz",
    ],
)
def test_inputs_are_never_outputs(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str):
    """`check a.obj --csv a.obj` put a table in the place of the mesh."""
    before = content(folder)
    monkeypatch.setattr(pliant.io, "read", lambda *_, **__: pytest.fail("it was read"))
    monkeypatch.setattr(pliant.Sequence, "open", lambda *_, **__: pytest.fail("it was read"))
    ended = call(*line.split())
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "would replace a file that is read" in ended.err
    assert content(folder) == before


@POSIX
def test_nor_by_another_name(call: Call, folder: Path):
    (folder / "soft.obj").symlink_to("a.obj")
    (folder / "hard.obj").hardlink_to(folder / "a.obj")
    for name in ("soft.obj", "hard.obj"):
        assert call("check", "a.obj", "--csv", name).code == 2
        assert call("check", name, "--csv", "a.obj").code == 2
    assert (folder / "a.obj").read_text("utf-8") == obj(CROSSING)


@pytest.mark.parametrize(
    "line",
    [
        "check a.obj --csv found --npz found",
        "check a.obj --csv found --npz same/../found",
        "check a.obj --offenders found.ply --csv found.ply",
        "scan moving.npz --report found --png found",
        "scan moving.npz --report found --csv found",
        "step a.obj b.obj --output found.obj --csv found.obj",
        "convert frames out_%02d.obj --csv out_01.obj",
    ],
)
def test_two_outputs_have_two_names(call: Call, folder: Path, line: str):
    """The second one replaced the first."""
    before = content(folder)
    ended = call(*line.split())
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "name the same file" in ended.err
    assert content(folder) == before


@POSIX
def test_two_outputs_may_both_go_nowhere(call: Call, folder: Path):
    assert call("check", "a.obj", "--csv", os.devnull, "--npz", os.devnull).code == 1
    assert Path(os.devnull).is_char_device()


@POSIX
def test_a_shell_may_take_an_output(folder: Path):
    """`--csv >(cat)` failed: files were made beside /dev/fd/63."""
    bash = Path("/bin/bash")
    if not bash.exists():
        pytest.skip("no bash here")
    line = f"{sys.executable} -m pliant check a.obj -q --csv >(cat > got.csv); echo $?; wait $!; sleep 0.1"
    done = subprocess.run([bash, "-c", line], capture_output=True, text=True, env=environment(), cwd=folder)
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert (folder / "got.csv").read_text("utf-8").splitlines()[0].startswith("file,kind")


@POSIX
def test_standard_output_has_other_names(folder: Path):
    command = [sys.executable, "-m", "pliant", "check", "a.obj", "--csv"]
    plain = subprocess.run([*command, "-"], capture_output=True, env=environment(), cwd=folder)
    for name in ("/dev/stdout", "/dev/fd/1"):
        with (folder / "log").open("wb") as log:
            log.write(b"before\n")
            log.flush()
            done = subprocess.run([*command, name], stdout=log, env=environment(), cwd=folder)
        assert done.returncode == 1
        assert (folder / "log").read_bytes() == b"before\n" + plain.stdout


def test_standard_input_has_an_end(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch):
    """It was kept on disk without limit: `yes | pliant check -` filled it."""
    from pliant.commands import inputs

    monkeypatch.setattr("tempfile.tempdir", str(folder / "same"))
    monkeypatch.setattr(inputs, "MOST_OF_STANDARD_INPUT", 1000)
    put_on_stdin(monkeypatch, b"y\n" * 501)
    ended = call("check", "-")
    assert ended.code == 2
    assert "standard input is longer than 1,000 bytes" in ended.err
    assert list((folder / "same").iterdir()) == []
    put_on_stdin(monkeypatch, obj(CROSSING).encode())
    assert call("check", "-").code == 1


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(pliant.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def changing(folder: Path) -> Path:
    """Two frames of other triangles: two runs, each with files of its own."""
    for stem in ("q-", "topo."):
        write_obj(folder / f"{stem}1.obj", CROSSING)
        write_obj(folder / f"{stem}2.obj", CROSSING[:, [1, 2, 0]], np.array([[0, 1, 2], [3, 5, 4]]))
    return folder


@pytest.mark.parametrize("option", ["--offenders", "--faces", "--report", "--png"])
@pytest.mark.parametrize("names", ["q-1.obj q-2.obj", "q-%d.obj", "q-*.obj"])
def test_files_of_later_runs_replace_no_input(call: Call, changing: Path, option: str, names: str):
    """`scan q-1.ply q-2.ply --offenders q.ply` wrote the second run over q-2.ply."""
    before = content(changing)
    ended = call("scan", *names.split(), option, "q.obj", "--csv", "found.csv")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert f"{option} of run 2, q-2.obj, would replace a file that is read" in ended.err
    assert content(changing) == before


@pytest.mark.parametrize(
    "line",
    [
        "--faces a.txt --csv a-2.txt",
        "--faces a.txt --junit same/../a-2.txt",
        "--report a.html --png a-2.html",
        "--faces - --csv found.csv",
    ],
)
def test_files_of_later_runs_have_names_of_their_own(call: Call, changing: Path, line: str):
    """`scan topo.*.obj --faces a.txt --csv a-2.txt` lost the faces of the second run."""
    before = content(changing)
    ended = call("scan", "topo.*.obj", *line.split())
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "name the same file" in ended.err or "each run has a file" in ended.err
    assert content(changing) == before
