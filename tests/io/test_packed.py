"""Files that gzip packed, in every format, and what cannot be unpacked."""

import gc
import gzip
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant import io as pio
from tests.io.needs import needed_for
from tests.shapes.command_line import CROSSING, FACES, obj

pytestmark = pytest.mark.unit
TETRA = {"tetra": np.array([[0, 1, 2, 3]])}
X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FRAMES = np.stack([X, X + 1, X + 2])


def pack(path: Path) -> Path:
    packed = path.with_name(path.name + ".gz")
    with path.open("rb") as source, gzip.open(packed, "wb") as target:
        shutil.copyfileobj(source, target)
    path.unlink()
    return packed


@pytest.fixture
def own_temporary(tmp_path, monkeypatch):
    """Where temporary files would be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    "ending", ["obj", "ply", "stl", "off", "glb", "usda", "usdc", "vtu", "xdmf", "npz", "k", "vtk", "msh", "med", "inp"]
)
@pytest.mark.filterwarnings("ignore:.*holds surfaces only")
def test_meshes_of_every_format(tmp_path, own_temporary, ending):
    needed_for("." + ending)
    path = tmp_path / f"a.{ending}"
    pio.write(path, X, TETRA)
    plain = pio.read(path)
    mesh = pio.read(pack(path))
    assert list(mesh.cells) == list(plain.cells)
    assert np.array_equal(mesh.points, plain.points)
    assert all(np.array_equal(mesh.cells[kind], plain.cells[kind]) for kind in plain.cells)
    assert list(own_temporary.iterdir()) == []


@pytest.mark.parametrize("ending", ["npz", "pc2", "mdd", "usda", "xdmf", "pvd"])
def test_frames_of_every_format(tmp_path, own_temporary, ending):
    needed_for("." + ending)
    path = tmp_path / f"a.{ending}"
    pio.write_sequence(path, pliant.Sequence([[0, 1, 2], [0, 1, 3]], FRAMES))
    sequence = pio.open_sequence(pack(path))
    assert sequence.name == f"a.{ending}.gz"
    some = sequence[1:]
    assert np.array_equal(np.stack(list(sequence)), FRAMES)
    del sequence
    gc.collect()
    assert np.array_equal(some[1], FRAMES[2])
    del some
    gc.collect()
    assert list(own_temporary.iterdir()) == []


@pytest.mark.parametrize("ending", ["obj", "ply", "stl", "vtu"])
def test_frames_of_a_pattern_and_of_a_folder(tmp_path, ending):
    folder = tmp_path / "frames"
    folder.mkdir()
    pio.write_sequence(folder / f"f_%04d.{ending}", pliant.Sequence([[0, 1, 2], [0, 1, 3]], FRAMES))
    plain = np.stack(list(pio.open_sequence(folder)))
    for path in list(folder.iterdir()):
        pack(path)
    for name in (folder, folder / f"f_*.{ending}.gz", folder / f"f_%04d.{ending}.gz"):
        sequence = pio.open_sequence(name, rate=2)
        assert np.array_equal(np.stack(list(sequence)), plain)
        assert sequence.times.tolist() == [0, 0.5, 1]


def test_errors_name_the_file_and_the_line(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 0 0\n", "utf-8")
    with pytest.raises(pio.FileError, match=r"a\.obj\.gz:2: a vertex has 3 coordinates"):
        pio.read(pack(path))
    whole = gzip.compress(obj(CROSSING, FACES).encode() * 50)
    for damaged in (whole[:-20], b"hello" * 9, whole[:30] + b"\0\0\0\0" + whole[34:]):
        (tmp_path / "b.obj.gz").write_bytes(damaged)
        with pytest.raises(pio.FileError, match=r"b\.obj\.gz: cannot be unpacked"):
            pio.read(tmp_path / "b.obj.gz")


@pytest.mark.parametrize("name", ["a.obj.gz", "a.npz.gz", "a.vtk.gz"])
def test_what_unpacks_to_too_much(tmp_path, own_temporary, name):
    needed_for(".vtk")
    (tmp_path / name).write_bytes(gzip.compress(bytes(2**23)))
    with pytest.raises(pio.FileError, match=rf"{name}: [\d,]+ bytes would become more than 4,194,304;"):
        pio.read(tmp_path / name, budget=2**22)
    assert list(own_temporary.iterdir()) == []


def test_verbs_take_packed_files(tmp_path, call):
    path = tmp_path / "a.obj"
    path.write_text(obj(CROSSING, FACES), "utf-8")
    ended = call("check", pack(path))
    assert (ended.code, "a.obj.gz: 1 pair of triangles" in ended.out) == (1, True)
    assert call("convert", tmp_path / "a.obj.gz", tmp_path / "b.ply").code == 0
    assert len(pio.read(tmp_path / "b.ply").points) == 6


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("a.fbx", r"is FBX, which is not read; export it as glTF \(\.glb\) or USD"),
        ("a.blend", r"a file of Blender, .* export it as glTF"),
        ("a.MB", r"a file of Maya, .* export it as glTF"),
        ("a.abc", "is Alembic, which no package reads; export it as USD"),
        ("a.step", "curved surfaces, not triangles; export it as STL"),
        ("a.bgeo.sc", "a file of Houdini"),
        ("a.fbx.gz", "is FBX"),
        ("a.zip", "is an archive; unpack it"),
        ("a.tar.gz", "is an archive; unpack it"),
        ("a.odb", "a file of Abaqus, .* export it as VTU"),
        ("a.foo", "is not the ending of a format that can be read"),
    ],
)
def test_files_of_other_programs(tmp_path, call, name, advice):
    """The message was that meshio could not deduce the format."""
    (tmp_path / name).write_bytes(b"whatever is in there")
    for verb in ("check", "scan"):
        ended = call(verb, tmp_path / name)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert re.search(advice, ended.err)
