"""Broken and hostile files: each raises an error that names it, quietly, and without eating the machine."""

import subprocess
import sys
import warnings

import pytest

import pliant
from tests.io.broken import all_broken

pytestmark = pytest.mark.unit


def test_there_are_many():
    names = [one.name for one in all_broken()]
    assert len(names) >= 100
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("one", all_broken(), ids=lambda one: one.name)
def test_a_broken_file_is_named(tmp_path, one, capfd):
    for package in one.needs:
        pytest.importorskip(package)
    path = one.put_into(tmp_path / "files")
    capfd.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(pliant.MeshError) as caught:
            one.open(path)
    message = str(caught.value)
    assert one.name in message
    assert one.says in message
    assert "\n" not in message
    assert len(message) < 500
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is one of Linux")
def test_none_of_them_needs_much_memory(tmp_path):
    """All in one process that may have 400 MB beyond what the packages and the compiled code take."""
    for package in ("meshio", "h5py", "pxr", "lasso"):
        pytest.importorskip(package)
    script = f"""
import pathlib, resource, warnings
import h5py, meshio, lasso.dyna, pxr.Usd, pxr.UsdSkel, pxr.UsdUtils
import pliant.io.gltf.scene
from tests.io.broken import all_broken
from tests.io.broken_surfaces import glb, gltf
warnings.simplefilter("ignore")
folder = pathlib.Path({str(tmp_path)!r})
paths = [one.put_into(folder / str(number)) for number, one in enumerate(all_broken())]
(folder / "whole.glb").write_bytes(glb(gltf()))
pliant.io.read(folder / "whole.glb")
used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 400 * 2**20,) * 2)
for one, path in zip(all_broken(), paths):
    try:
        one.open(path)
    except pliant.MeshError as error:
        assert one.says in str(error), (one.name, error)
    else:
        raise AssertionError(one.name)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
