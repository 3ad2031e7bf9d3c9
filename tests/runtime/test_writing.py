"""What is at the path already: devices, pipes, links, modes; and names that nobody can guess."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import IO

import numpy as np
import pytest

import pliant
from pliant.runtime.writing import OutputError, folder_atomically, is_stream, through_file, write_atomically

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes, links and modes are others there")
FACES, X = np.array([[0, 1, 2]]), np.eye(3)


def say(file: IO[bytes]) -> None:
    file.write(b"new")


@pytest.fixture
def mask():
    """An unusual one."""
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


@pytest.fixture(params=["in one go", "through a file"])
def write(request: pytest.FixtureRequest):
    """Both ways."""
    if request.param == "in one go":
        return lambda path: write_atomically(path, say)
    return lambda path: through_file(path, lambda other: other.write_bytes(b"new"))


def test_a_file_keeps_its_mode_and_a_new_one_has_that_of_the_umask(tmp_path: Path, mask: int, write):
    for mode in (0o600, 0o644, 0o666, 0o755):
        path = tmp_path / f"{mode:o}.csv"
        path.write_bytes(b"old")
        path.chmod(mode)
        write(path)
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)
    write(tmp_path / "fresh.csv")
    assert stat.S_IMODE((tmp_path / "fresh.csv").stat().st_mode) == 0o666 & ~mask


def test_nobody_else_reads_what_is_written_over_a_private_file(tmp_path: Path):
    path = tmp_path / "secret.csv"
    path.write_bytes(b"old")
    path.chmod(0o600)

    def look(file: IO[bytes]) -> None:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600

    write_atomically(path, look)


def test_a_link_stays_and_what_it_points_to_is_written(tmp_path: Path, write):
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "real.csv"
    real.write_bytes(b"old")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to("there/real.csv")
    (tmp_path / "dangling.csv").symlink_to("there/fresh.csv")
    write(tmp_path / "link.csv")
    write(tmp_path / "dangling.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "dangling.csv").is_symlink()
    assert (real.read_bytes(), stat.S_IMODE(real.stat().st_mode)) == (b"new", 0o640)
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["fresh.csv", "real.csv"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path, write):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write(path)
    reader.join()
    assert got == [b"new"]
    assert path.is_fifo()


def test_a_device_is_written_to_and_stays_one(tmp_path: Path, write):
    write(Path(os.devnull))
    (tmp_path / "link").symlink_to(os.devnull)
    write(tmp_path / "link")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    assert (tmp_path / "link").is_symlink()


def test_a_full_device_is_named(write):
    if not Path("/dev/full").exists():
        pytest.skip("there is none here")
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write(Path("/dev/full"))


def test_a_descriptor_is_written_to_where_it_stands(tmp_path: Path, write):
    """What a shell makes of `--csv >(sort)`, and /dev/stdout after `>> log`: the log was not to be replaced."""
    log = tmp_path / "log"
    log.write_bytes(b"before ")
    with log.open("ab") as file:
        path = Path(f"/dev/fd/{file.fileno()}")
        assert is_stream(path)
        write(path)
        file.write(b" after")
    assert log.read_bytes() == b"before new after"
    read, end = os.pipe()
    write(Path(f"/dev/fd/{end}"))
    os.close(end)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == b"new"


def test_a_closed_descriptor_is_named():
    with pytest.raises(OSError, match="'/dev/fd/987'"):
        write_atomically(Path("/dev/fd/987"), say)


def test_a_link_at_a_name_that_can_be_guessed_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The name was .found.csv. and the number of the process, and was opened through a link."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / f".found.csv.{os.getpid()}").symlink_to(victim)
    write_atomically(tmp_path / "found.csv", say)
    assert victim.read_bytes() == b"precious"
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (tmp_path / ".pliant-guessed").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "found.csv", say)
    assert victim.read_bytes() == b"precious"


@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_must_not_be_written_is_not_replaced(tmp_path: Path, write):
    path = tmp_path / "kept.csv"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"kept\.csv"):
        write(path)
    assert path.read_bytes() == b"old"


def test_names_may_be_as_long_as_names_can_be(tmp_path: Path):
    path = tmp_path / ("x" * 251 + ".csv")
    write_atomically(path, say)
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device"), MemoryError()])
def test_nothing_is_left_after_an_error_and_the_old_file_is(tmp_path: Path, error: BaseException):
    path = tmp_path / "found.csv"
    path.write_bytes(b"old")

    def fail(file: IO[bytes]) -> None:
        file.write(b"half")
        raise error

    def fail_with(other: Path) -> None:
        other.write_bytes(b"half")
        raise error

    for write in (lambda: write_atomically(path, fail), lambda: through_file(path, fail_with)):
        with pytest.raises(type(error)) as raised:
            write()
        assert not isinstance(raised.value, OSError) or raised.value.filename == str(path)
        assert [other.name for other in tmp_path.iterdir()] == ["found.csv"]
        assert path.read_bytes() == b"old"


def test_errors_of_other_files_keep_their_names(tmp_path: Path):
    """Frames are read while others are written."""
    with pytest.raises(FileNotFoundError) as raised:
        write_atomically(tmp_path / "out.npz", lambda _: (tmp_path / "in.npz").read_bytes())
    assert raised.value.filename == str(tmp_path / "in.npz")


def test_a_missing_folder_is_told_by_the_name_that_was_given(tmp_path: Path, write):
    with pytest.raises(FileNotFoundError) as raised:
        write(tmp_path / "nowhere" / "found.csv")
    assert raised.value.filename == str(tmp_path / "nowhere" / "found.csv")
    with pytest.raises(OutputError, match="it is a folder"):
        write(tmp_path)


def test_a_folder_of_frames_keeps_link_and_mode(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real").chmod(0o750)
    (tmp_path / "link").symlink_to("real")
    with folder_atomically(tmp_path / "link") as folder:
        (folder / "frame.ply").write_bytes(b"new")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o750
    assert (tmp_path / "real" / "frame.ply").read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_errors_in_a_folder_name_the_folder_that_was_named(tmp_path: Path):
    with pytest.raises(OSError, match="frames") as raised, folder_atomically(tmp_path / "frames") as folder:
        write_atomically(folder / "1.ply", lambda _: os.write(987, b""))
    assert raised.value.filename == str(tmp_path / "frames")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".obj", ".ply", ".stl", ".off", ".glb", ".vtu", ".k", ".npz", ".vtk", ".usda"])
def test_every_format_is_written_through_links_with_the_mode_kept(tmp_path: Path, ending: str):
    pytest.importorskip({".vtk": "meshio", ".usda": "pxr"}.get(ending, "numpy"))
    path = tmp_path / f"mesh{ending}"
    path.write_bytes(b"")
    path.chmod(0o600)
    link = tmp_path / f"link{ending}"
    link.symlink_to(path)
    pliant.io.write(link, X, FACES)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(pliant.io.read(path).points) == 3
    assert sorted(other.name for other in tmp_path.iterdir()) == sorted([link.name, path.name])


@pytest.mark.parametrize("name", ["a.npz", "a.pc2", "a.mdd", "a.usda", "a.xdmf", "a_%02d.obj"])
def test_sequences_too(tmp_path: Path, name: str):
    if name == "a.usda":
        pytest.importorskip("pxr")
    path = tmp_path / name.replace("%02d", "01")
    path.write_bytes(b"")
    path.chmod(0o600)
    pliant.io.write_sequence(tmp_path / name, pliant.Sequence(FACES, np.stack([X, X + 1])))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_size > 0
    assert [other.name for other in tmp_path.iterdir() if other.name.startswith(".")] == []
