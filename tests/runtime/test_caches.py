"""What is loaded from a cache is machine code: it comes from folders that only the user can write, or from nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pliant
from pliant.runtime import caches, jit

POSIX = pytest.mark.skipif(os.name == "nt", reason="folders have modes and owners elsewhere")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME counts there")
VARIABLES = ("PLIANT_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA", "NUMBA_CACHE_DIR")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder in which nothing may appear, and a home beside it."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("here", "home"):
        (tmp_path / name).mkdir(mode=0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(caches, "_told", set())
    return tmp_path


@pytest.mark.parametrize("value", ["", ".", "cache", "~/cache", "../here"])
@pytest.mark.parametrize("name", VARIABLES[:3])
def test_empty_and_relative_values_do_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str):
    """With XDG_CACHE_HOME= the cache was ./pliant/kernels, and code that was planted there ran."""
    default = caches.user_cache("kernels", "1")
    monkeypatch.setenv(name, value)
    assert caches.user_cache("kernels", "1") == default
    assert default is not None
    assert default.is_relative_to(tmp_path / "home")
    assert list((tmp_path / "here").iterdir()) == []


@POSIX
@pytest.mark.parametrize("home", ["", "here", "."])
def test_neither_does_such_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str):
    monkeypatch.setenv("HOME", home)
    place = caches._place("kernels")
    assert place is None or (place.is_absolute() and not place.is_relative_to(tmp_path / "here"))


def test_a_relative_choice_of_the_user_is_told_to_be_ignored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PLIANT_CACHE_DIR", "cache")
    caches.user_cache("kernels")
    assert capsys.readouterr().err == "pliant: PLIANT_CACHE_DIR=cache is ignored: it is not an absolute path\n"


def test_kernels_are_in_the_folder_that_the_user_chose(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "chosen"))
    assert caches.user_cache("kernels", "1") == tmp_path / "chosen" / "1"
    assert caches.user_cache("bodies") == tmp_path / "chosen" / "bodies"


@POSIX
def test_folders_are_for_the_user_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "new" / "chosen"))
    before = os.umask(0)
    try:
        folder = caches.user_cache("kernels", "1")
    finally:
        os.umask(before)
    for made in (tmp_path / "new", tmp_path / "new" / "chosen", folder):
        assert made is not None
        assert made.stat().st_mode & 0o777 == 0o700


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o722, 0o1777])
@pytest.mark.parametrize("where", ["chosen", "chosen/1"])
def test_a_folder_that_others_may_write_is_no_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: int, where: str
):
    (tmp_path / "chosen" / "1").mkdir(parents=True, mode=0o700)
    (tmp_path / where).chmod(mode)
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "chosen"))
    assert caches.user_cache("kernels", "1") is None
    assert caches.user_cache("kernels", "1") is None
    error = capsys.readouterr().err
    assert error == (
        f"pliant: nothing is kept between runs: others may write {tmp_path / where} (chmod go-w there, or set "
        "PLIANT_CACHE_DIR to a folder that only you can write)\n"
    )


@POSIX
def test_nor_is_one_below_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Whoever may write a folder may put another one in the place of those in it; not where it is sticky, as /tmp."""
    (tmp_path / "open" / "mine").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "open" / "mine"))
    (tmp_path / "open").chmod(0o777)
    assert caches.user_cache("kernels") is None
    (tmp_path / "open").chmod(0o1777)
    assert caches.user_cache("kernels") == tmp_path / "open" / "mine"


@POSIX
@pytest.mark.parametrize("where", ["chosen", "chosen/1", "."])
def test_a_folder_of_somebody_else_is_no_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], where: str
):
    (tmp_path / "chosen" / "1").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "chosen"))
    foreign(monkeypatch, tmp_path / where)
    assert caches.user_cache("kernels", "1") is None
    assert f"{tmp_path / where} belongs to somebody else" in capsys.readouterr().err


@POSIX
def test_links_are_followed_where_all_of_the_way_is_safe(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """~/.cache is often a link to a larger disk."""
    (tmp_path / "disk" / "mine").mkdir(parents=True, mode=0o700)
    (tmp_path / "link").symlink_to("disk/mine")
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "link"))
    assert caches.user_cache("kernels", "1") == tmp_path / "link" / "1"
    (tmp_path / "disk").chmod(0o777)
    assert caches.user_cache("kernels", "1") is None
    assert f"others may write {tmp_path / 'disk'}" in capsys.readouterr().err
    (tmp_path / "disk").chmod(0o755)
    foreign(monkeypatch, tmp_path / "link")
    assert caches.user_cache("kernels", "1") is None


@POSIX
def test_links_in_a_circle_are_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "a"))
    assert caches.user_cache("kernels") is None


def test_a_file_in_the_way_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "file"))
    assert caches.user_cache("kernels", "1") is None
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "nothing is kept between runs" in error


KERNEL = """
from pliant.runtime.jit import kernel

@kernel
def twice(a):
    return a + a
"""


@LINUX
@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
def test_planted_code_runs_from_nowhere_but_the_folder_of_the_user(tmp_path: Path):
    here, mark = tmp_path / "here", tmp_path / "it ran"
    (tmp_path / "mine.py").write_text(KERNEL, "utf-8")
    assert compute(XDG_CACHE_HOME=str(here)) == "42\n"
    planted = [path for path in here.rglob("*.nbi") if "twice" in path.name]
    assert planted
    for path in planted:
        path.write_bytes(f"cbuiltins\nexec\n(Vopen({str(mark)!r}, 'w').close()\ntR.".encode())
    for variables in ({"XDG_CACHE_HOME": ""}, {"XDG_CACHE_HOME": "."}, {"PLIANT_CACHE_DIR": "pliant/kernels"}):
        assert compute(**variables) == "42\n"
        assert not mark.exists(), variables
    (here / "pliant" / "kernels").chmod(0o777)
    assert compute(XDG_CACHE_HOME=str(here)) == "42\n"
    assert not mark.exists()
    (here / "pliant" / "kernels").chmod(0o700)
    compute(XDG_CACHE_HOME=str(here))  # it was good code, that would have run
    assert mark.exists()


@LINUX
@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("variables", [{"NUMBA_CACHE_DIR": "."}, {"NUMBA_CACHE_LOCATOR_CLASSES": "InTreeCacheLocator"}])
def test_variables_of_numba_do_not_move_our_kernels(tmp_path: Path, variables: dict[str, str]):
    (tmp_path / "mine.py").write_text(KERNEL, "utf-8")
    assert compute(**variables) == "42\n"
    assert [path.name for path in tmp_path.rglob("*.nbi") if not path.is_relative_to(tmp_path / "home")] == []
    assert [path.name for path in tmp_path.rglob("*twice*.nbi")]


def compute(**variables: str) -> str:
    """What a process prints that uses the kernel, with the current folder for its own."""
    path = os.pathsep.join([str(Path(pliant.__file__).parents[1]), str(Path.cwd().parent)])
    script = "import sys; sys.path.remove(''); import mine; print(mine.twice(21))"
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment).stdout


def foreign(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """As if a path belonged to somebody else, which only root can bring about."""
    lstat = os.lstat
    ours = lstat(path)

    def look(other: os.PathLike[str] | str, **options: int) -> os.stat_result:
        found = lstat(other, **options)
        if not os.path.samestat(found, ours):
            return found
        return os.stat_result((*found[:4], found.st_uid + 4321, *found[5:10]))

    monkeypatch.setattr(os, "lstat", look)
