"""Exit code 1 says that something was found, and nothing else does, whatever happens to streams and processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import pliant
from pliant import cli
from pliant.commands import running
from tests.shapes.command_line import APART, CROSSING, FACES, Call, obj, soup, write_obj

POSIX = pytest.mark.skipif(os.name == "nt", reason="streams are closed otherwise there")

# A call, and whether it finds something.
CALLS = {
    "check a.obj --threads 1": True, "check b.obj --threads 1": False, "check b.obj broken.obj --threads 1": False,
    "ccd b.obj a.obj --threads 1": True, "scan moving.npz --threads 1": True, "inside b.obj": False, "scenes": False,
    "convert a.obj out.ply": False, "schema": False, "--help": False, "nonsense": False,
}  # fmt: skip
RESULTS = ("--json", "--csv -", "--npz -")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_obj(tmp_path / "a.obj", CROSSING)
    write_obj(tmp_path / "b.obj", APART)
    (tmp_path / "broken.obj").write_text("f 1 2 3\n", "utf-8")
    np.savez(tmp_path / "moving.npz", frames=np.stack((APART, CROSSING)), faces=FACES)
    np.savez(tmp_path / "still.npz", frames=np.stack((APART, APART)), faces=FACES)
    return tmp_path


# All calls in one process, and a copy of it for each: what takes long is loaded once. Streams of the copy are as Python
# has them at its start, and its end is that of any process.
CALLER = """
import contextlib, gc, io, json, os, sys
import pliant.cli
for line in dict.fromkeys(line for line, _ in json.loads(sys.argv[1])):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        with contextlib.suppress(SystemExit):
            pliant.cli.main(line.split())

def redirect(name, number, where):
    if name != "stdin":
        getattr(sys, name).flush()
    os.close(number)
    setattr(sys, name, None)
    if where != "closed":
        opened = os.open(where, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        setattr(sys, name, open(opened, "r" if name == "stdin" else "w", encoding="utf-8"))

gc.freeze()  # copies do not go through all of that again at their end
for line, streams in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            redirect(name, number, streams[number])
        pliant.cli.main(line.split())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Done(NamedTuple):
    line: str
    streams: tuple[str, str, str]  # where standard input, output and error are: "closed", or a path
    code: int
    out: str
    err: str


def ended(folder: Path, calls: list[tuple[str, tuple[str, str, str]]]) -> list[Done]:
    """How calls end; "out" and "err" in place of a path are kept."""
    kept = [
        (line, [str(folder.parent / f"{i}.{place}") if place in ("out", "err") else place for place in streams])
        for i, (line, streams) in enumerate(calls)
    ]
    command = [sys.executable, "-c", CALLER, json.dumps(kept)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=folder)
    assert done.returncode == 0, done.stderr
    codes = [int(code) for code in done.stdout.split()]
    texts = [
        [Path(place).read_text("utf-8") if name in ("out", "err") else "" for place, name in zip(places[1:], names[1:])]
        for (_, names), (_, places) in zip(calls, kept)
    ]
    return [Done(*call, code, *text) for call, code, text in zip(calls, codes, texts, strict=True)]


@POSIX
def test_streams_that_fail_find_nothing(folder: Path):
    """`--json >&-` and others ended in a traceback, and in 1."""
    modes = [(os.devnull, "closed", "err"), (os.devnull, "out", "closed"), ("closed", "closed", "closed")]
    if Path("/dev/full").exists():
        modes += [(os.devnull, "/dev/full", "err"), (os.devnull, "out", "/dev/full"), ("closed", *["/dev/full"] * 2)]
    for done in ended(folder, [(line, mode) for mode in modes for line in CALLS]):
        _, out, err = done.streams
        wrong = any(word in done.line for word in ("broken", "nonsense", "inside"))
        assert "Traceback" not in done.err + done.out, done
        assert "Exception ignored" not in done.err, done
        assert "pliant: " not in done.out, done  # errors are not told in the place of results
        if out == "/dev/full":
            assert done.code == 2, done
            assert err != "err" or "No space left" in done.err or wrong, done
        elif done.line != "schema" or out == "out":
            assert done.code == (2 if wrong else int(CALLS[done.line])), done
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


@POSIX
def test_a_result_that_goes_nowhere_is_an_error(folder: Path):
    lines = [f"check {name} --threads 1 {option}" for name in ("a.obj", "b.obj") for option in RESULTS]
    places = {"closed": "standard output is closed, and the result was to go there"}
    if Path("/dev/full").exists():
        places["/dev/full"] = "standard output: No space left on device"
    calls = [(line, (os.devnull, place, "err")) for place in places for line in [*lines, "schema"]]
    for done in ended(folder, calls):
        assert (done.code, done.err) == (2, f"pliant: {places[done.streams[1]]}\n"), done


@POSIX
@pytest.mark.parametrize("line", ["--help", "check soup.obj --json"])
def test_nobody_reading_is_told_by_the_code_of_a_shell(folder: Path, line: str):
    write_obj(folder / "soup.obj", *soup())
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "pliant", *line.split()]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, env=environment())
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@POSIX
def test_closed_streams_do_not_become_files(folder: Path):
    """The next file that is opened has the number of a closed stream; what a library prints would be in it."""
    command = f"exec {sys.executable} -m pliant convert a.obj out.obj <&- >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", command], env=environment()).returncode == 0
    assert (folder / "out.obj").read_text("utf-8").count("\n") == len(CROSSING) + len(FACES)


def test_a_closed_standard_input_is_said(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", None)
    ended = call("check", "-")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "standard input is closed" in ended.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130), (cli.Terminated(15), 143), (SystemExit(1), 2), (SystemExit("words"), 2),
        (SystemExit(0), 0), (MemoryError(), 2), (RecursionError(), 2), (RuntimeError("odd"), 2), (OSError(5, "I/O"), 2),
        (EOFError(), 2), (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "odd"), 2), (AssertionError(), 2),
        (BrokenPipeError(32, "Broken pipe"), 141), (StopIteration(), 2), (GeneratorExit(), 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("when", ["reading", "finishing"])
def test_no_exception_is_a_finding(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, when: str
):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(*((pliant.io, "read") if when == "reading" else (running.Run, "finish")), fail)
    if when == "reading" and isinstance(error, OSError) and code != 2:
        pytest.skip("a file that cannot be read, not a pipe that is closed")
    assert call("check", "a.obj").code == code


def test_errors_about_errors_are_no_findings(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "_message", fail)
    monkeypatch.setattr(pliant.io, "read", fail)
    ended = call("check", "a.obj")
    assert (ended.code, ended.err) == (2, "pliant: MemoryError\n")


def test_benchmarks_that_fail_find_nothing(folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1))
    assert call("bench", "peers").code == 2


@pytest.mark.parametrize("value", ["nonsense", "complete_nonsense", "complete_bash"])
def test_completion_finds_nothing(value: str):
    done = subprocess.run(
        [sys.executable, "-m", "pliant"], env=environment() | {"_PLIANT_COMPLETE": value}, capture_output=True
    )
    assert done.returncode in (0, 2)


@POSIX
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)])
def test_a_signal_leaves_nothing_behind(folder: Path, number: signal.Signals):
    """Standard input stayed in the folder for temporary files after SIGTERM."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("this signal is ignored here, as under nohup, and by what is started here")
    (folder / "temporary").mkdir()
    variables = environment() | {"TMPDIR": str(folder / "temporary")}
    command = [sys.executable, "-m", "pliant", "check", "-", "--csv", "found.csv"]
    before = sorted(folder.iterdir())
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=variables) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(obj(CROSSING).encode())
        child.stdin.flush()
        wait_for(lambda: any((folder / "temporary").iterdir()), child)
        child.send_signal(number)
        assert child.wait(60) == 128 + number
        assert child.stderr.read() == b""
    assert list((folder / "temporary").iterdir()) == []
    assert sorted(folder.iterdir()) == before


@POSIX
def test_a_signal_while_writing_leaves_the_old_file(folder: Path):
    script = """
import sys, time
import numpy as np
def slow(file, **arrays):
    file.write(b"half of it")
    print("BEGUN", flush=True)
    time.sleep(60)
np.savez_compressed = slow
from pliant.cli import main
main(["check", "a.obj", "-q", "--npz", "found.npz"])
"""
    (folder / "found.npz").write_bytes(b"old")
    before = sorted(folder.iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment()
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "BEGUN\n"
        child.terminate()
        assert child.wait(60) == 143
    assert (folder / "found.npz").read_bytes() == b"old"
    assert sorted(folder.iterdir()) == before


@POSIX
def test_a_disk_that_is_full_leaves_the_old_file(folder: Path):
    """As far as a process can be told that there is no space: by a limit of its own."""
    script = """
import resource
import pliant, pliant.report.outputs as outputs
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
outputs.as_csv = lambda result: b"x" * 5000
from pliant.cli import main
main(["check", "a.obj", "-q", "--csv", "found.csv"])
"""
    (folder / "found.csv").write_bytes(b"old")
    before = sorted(folder.iterdir())
    variables = environment() | {"PLIANT_CACHE_DIR": str(folder / "none"), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=variables)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "pliant: found.csv: File too large")
    assert (folder / "found.csv").read_bytes() == b"old"
    assert sorted(path for path in folder.iterdir() if path.name != "none") == before


def wait_for(condition, child: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if condition():
            return
        assert child.poll() is None
        time.sleep(0.1)
    pytest.fail("it did not begin")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(pliant.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_version_that_cannot_be_written_says_where():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "pliant", "--version"]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "pliant: standard output: No space left on device\n")
