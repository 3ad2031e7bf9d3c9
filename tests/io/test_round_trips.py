"""Every format: what is written is read again as it was."""

import json
import os
import struct
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

import pliant
from pliant import io as pio
from pliant.runtime.writing import OutputError
from tests.io.needs import needed_for
from tests.io.written import FACES, SOLIDS, points, sequence

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.unit]


def same(found, expected, ending):
    if ending in (".stl", ".glb", ".usd", ".usda", ".usdc", ".pc2", ".mdd"):
        return found.shape == expected.shape and np.array_equal(found, expected.astype(np.float32))
    return np.array_equal(found, expected)


SURFACES = [
    ".obj", ".ply", ".off", ".glb", ".usd", ".usda", ".usdc", ".vtu", ".vtk", ".msh", ".med", ".inp", ".k", ".xdmf",
    ".mesh", ".npz",
]  # fmt: skip


@pytest.mark.parametrize("ending", SURFACES)
def test_surfaces(tmp_path, ending):
    needed_for(ending)
    x, path = points(), tmp_path / f"a{ending}"
    pio.write(path, x, FACES)
    mesh = pio.read(path)
    assert same(mesh.points, x, ending)
    assert {kind: rows.tolist() for kind, rows in mesh.cells.items()} == {"triangle": FACES.tolist()}
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    pio.write(path, mesh)  # over the file that is there
    assert same(pio.read(path).points, x, ending)


def test_stl_is_a_soup_in_the_order_of_the_faces(tmp_path):
    x = points()
    pio.write(tmp_path / "a.stl", x, FACES)
    mesh = pio.read(tmp_path / "a.stl")
    assert np.array_equal(mesh.points[mesh.cells["triangle"]], x.astype(np.float32)[FACES])


@pytest.mark.parametrize("ending", [".vtu", ".vtk", ".msh", ".med", ".k", ".xdmf", ".npz"])
def test_solids_and_shells(tmp_path, ending):
    needed_for(ending)
    x, path = points(), tmp_path / f"a{ending}"
    pio.write(path, x, SOLIDS)
    mesh = pio.read(path)
    assert np.array_equal(mesh.points, x)
    assert list(mesh.cells) == list(SOLIDS)
    for kind, rows in SOLIDS.items():
        assert np.array_equal(mesh.cells[kind], rows), kind


def test_surfaces_of_solids_are_written_with_a_warning(tmp_path):
    with pytest.warns(UserWarning, match=r"a\.obj: holds surfaces only"):
        pio.write(tmp_path / "a.obj", points(), {"tetra": [[0, 1, 3, 4]]})
    assert len(pio.read(tmp_path / "a.obj").cells["triangle"]) == 4


def test_the_surface_of_a_mesh(tmp_path):
    quads = pio.FileMesh({"triangle": np.array([[0, 1, 2]]), "quad": np.array([[4, 5, 6, 7]])}, points())
    assert pio.surface_of(quads).tolist() == [[0, 1, 2], [4, 5, 6], [4, 6, 7]]
    both = {"tetra": np.array([[0, 1, 2, 3]]), "triangle": np.array([[0, 2, 1], [5, 6, 7]])}
    found = pio.surface_of(pio.FileMesh(both, points()))
    assert sorted(map(sorted, found.tolist())) == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3], [5, 6, 7]]


PATHS = ["a.npz", "a.pc2", "a.mdd", "a.usda", "a.usdc", "a.pvd", "a.xdmf", "a_%03d.obj", "a_*.ply", "a_%d.vtu"]


@pytest.mark.parametrize("name", PATHS)
def test_sequences(tmp_path, name):
    ending = name[name.rindex(".") :]
    needed_for(ending)
    written = sequence()
    pio.write_sequence(tmp_path / name, written)
    found = pliant.Sequence.open(tmp_path / name)
    assert len(found) == 5
    assert np.array_equal(found.faces, FACES)
    assert all(same(a, b, ending) for a, b in zip(found, written))
    assert same(found[-1], written[4], ending)
    assert same(found[1:3][0], written[1], ending)
    assert found.objects is None
    assert not list(tmp_path.rglob(".*"))
    if ending == ".pc2":
        assert found.times.tolist() == [0, 1, 2, 3, 4]  # in frames: the format has a steady step
    elif "_" not in name:
        assert np.allclose(found.times, written.times, rtol=1e-6)
    by_rate = pio.open_sequence(tmp_path / name, rate=10)
    assert np.allclose(by_rate.times, np.arange(5) / 10)


@pytest.mark.parametrize("name", ["a.npz", "a.pvd", "a.xdmf", "a_%04d.msh"])
def test_sequences_of_solids(tmp_path, name):
    needed_for(name[-4:])
    written = sequence(3, SOLIDS)
    pio.write_sequence(tmp_path / name, written)
    found = pio.open_sequence(tmp_path / name)
    assert {kind: rows.tolist() for kind, rows in found.cells.items()} == {k: v.tolist() for k, v in SOLIDS.items()}
    assert np.array_equal(found.faces, written.faces)
    assert all(np.array_equal(a, b) for a, b in zip(found, written))


def with_cell_data(cells=None):
    made = sequence(3, cells)
    stress = np.random.default_rng(1).normal(size=(3, made.cell_count))
    data = {"stress, Pa": stress, 'a "name" & <more>': np.abs(stress)}
    return pliant.Sequence(None if cells else FACES, made, cells=cells, times=made.times, cell_data=data), data


@pytest.mark.parametrize("cells", [None, SOLIDS], ids=["faces", "cells"])
def test_numbers_at_cells_in_npz(tmp_path, cells):
    given, data = with_cell_data(cells)
    pio.write_sequence(tmp_path / "a.npz", given[1:])
    found = pio.open_sequence(tmp_path / "a.npz")
    assert [list(found.cell_data(k)) for k in range(2)] == 2 * [list(data)]
    for name, values in data.items():
        assert np.array_equal(np.stack([found.cell_data(k)[name] for k in range(2)]), values[1:])


def test_numbers_at_cells_in_vtu(tmp_path):
    meshio = pytest.importorskip("meshio")
    given, data = with_cell_data(SOLIDS)
    pio.write_sequence(tmp_path / "a.pvd", given)
    assert len(pio.open_sequence(tmp_path / "a.pvd")) == 3
    found = meshio.read(tmp_path / "a_frames" / "000002.vtu").cell_data
    for name, values in data.items():
        assert np.array_equal(np.concatenate(found[name]), values[2])


def test_numbers_at_cells_in_xdmf(tmp_path):
    given, data = with_cell_data(SOLIDS)
    pio.write_sequence(tmp_path / "a.xdmf", given)
    assert len(pio.open_sequence(tmp_path / "a.xdmf")) == 3
    grids = ElementTree.parse(tmp_path / "a.xdmf").findall("Domain/Grid/Grid")
    found = {one.get("Name"): one for one in grids[2].findall("Attribute[@Center='Cell']")}
    for name, values in data.items():
        assert [float(word) for word in found[name].findtext("DataItem", "").split()] == values[2].tolist()


def test_numbers_at_cells_in_usd(tmp_path):
    pytest.importorskip("pxr.Usd")
    from pxr import Usd, UsdGeom

    given, data = with_cell_data({"tetra": SOLIDS["tetra"]})
    pio.write_sequence(tmp_path / "a.usdc", given)
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    one = UsdGeom.PrimvarsAPI(stage.GetPrimAtPath("/mesh")).GetPrimvar("stress__Pa")
    cells = pliant.VolumeMesh(given.cells).surface().cells
    assert one.GetInterpolation() == "uniform"
    assert np.array_equal(np.array(one.Get(given.times[1] * 24.0)), data["stress, Pa"][1][cells].astype(np.float32))


def test_numbers_at_cells_are_as_many_as_cells():
    with pytest.raises(pliant.ShapeError, match=r"cell_data\['s'\] has 2 frames, but there are 3"):
        pliant.Sequence(FACES, np.zeros((3, 12, 3)), cell_data={"s": np.zeros((2, 5))})
    sequence = pliant.Sequence(FACES, np.zeros((3, 12, 3)), cell_data={"s": np.zeros((3, 4))})
    with pytest.raises(
        pliant.ShapeError, match=r"frame 1: cell_data\['s'\] has the shape \(4,\), but there are 5 cells"
    ):
        sequence.cell_data(1)


def test_what_cannot_be_written_is_said(tmp_path):
    for name in ("a.xyz", "a"):
        with pytest.raises(OutputError, match=r"\.obj, \.ply"):
            pio.write(tmp_path / name, points(), FACES)
    with pytest.raises(OutputError, match=r"numbered files, as a_%04d\.obj"):
        pio.write_sequence(tmp_path / "a.obj", sequence())
    with pytest.raises(OutputError, match="are written as"):
        pio.write_offenders(tmp_path / "a.obj", FACES, points(), np.zeros(5, int))
    with pytest.raises(pliant.MeshError, match="triangle 0 refers to vertex 99"):
        pio.write(tmp_path / "a.obj", points(), [[0, 1, 99]])
    with pytest.raises(pliant.MeshError, match="'octagon'"):
        pio.write(tmp_path / "a.obj", points(), {"octagon": [[0, 1]]})
    with pytest.raises(pliant.MeshError, match="counts_per_face"):
        pio.write_offenders(tmp_path / "a.ply", FACES, points(), np.zeros(4, int))
    assert list(tmp_path.iterdir()) == []


COUNTS = np.array([0, 3, 0, 1, 0])


@pytest.mark.parametrize("ending", [".ply", ".glb", ".vtu", ".usda", ".usdc"])
def test_offenders_keep_their_geometry(tmp_path, ending):
    needed_for(ending)
    x, path = points(), tmp_path / f"red{ending}"
    pio.write_offenders(path, FACES, x, COUNTS)
    mesh = pio.read(path)
    corners = mesh.points[mesh.cells["triangle"]]
    assert same(corners, x[FACES], ending)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_offenders_are_red(tmp_path):
    x = points()
    pio.write_offenders(tmp_path / "a.ply", FACES, x, COUNTS)
    content = (tmp_path / "a.ply").read_bytes()
    rows = np.frombuffer(content[-len(FACES) * 20 :], [("n", "u1"), ("c", "<i4", 3), ("rgb", "u1", 3), ("k", "<i4")])
    assert rows["k"].tolist() == COUNTS.tolist()
    is_red = (rows["rgb"] == (214, 39, 40)).all(axis=1)
    assert is_red.tolist() == (COUNTS > 0).tolist()
    pio.write_offenders(tmp_path / "a.glb", FACES, x, COUNTS)
    content = (tmp_path / "a.glb").read_bytes()
    size = struct.unpack_from("<I", content, 12)[0]
    root = json.loads(content[20 : 20 + size])
    colours = np.frombuffer(content[-15 * 4 :], np.uint8).reshape(5, 3, 4)
    assert root["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] == 2
    assert ((colours[:, :, 0] == 214) == (COUNTS > 0)[:, None]).all()


def test_offenders_in_other_programs(tmp_path):
    meshio, trimesh = pytest.importorskip("meshio"), pytest.importorskip("trimesh")
    x = points()
    pio.write_offenders(tmp_path / "a.vtu", FACES, x, COUNTS)
    found = meshio.read(tmp_path / "a.vtu")
    assert np.array_equal(found.points, x)
    assert found.cell_data["collisions"][0].tolist() == COUNTS.tolist()
    pio.write_offenders(tmp_path / "a.glb", FACES, x, COUNTS)
    pio.write_offenders(tmp_path / "a.ply", FACES, x, COUNTS)
    for name in ("a.glb", "a.ply"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = trimesh.load(tmp_path / name, process=False, force="mesh")
        assert np.allclose(found.vertices[found.faces], x[FACES], atol=1e-6)


def test_offenders_in_usd(tmp_path):
    pytest.importorskip("pxr.Usd")
    from pxr import Usd, UsdGeom

    pio.write_offenders(tmp_path / "a.usda", FACES, points(), COUNTS)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/mesh"))
    colours = np.array(mesh.GetDisplayColorAttr().Get())
    assert mesh.GetDisplayColorPrimvar().GetInterpolation() == "uniform"
    assert ((colours[:, 0] > 0.8) & (colours[:, 1] < 0.2)).tolist() == (COUNTS > 0).tolist()
    assert list(UsdGeom.PrimvarsAPI(mesh).GetPrimvar("collisions").Get()) == COUNTS.tolist()


def test_usd_that_is_written_again_is_read_again(tmp_path):
    """usd-core keeps what is open: while a sequence of it was held, the old positions were read."""
    pytest.importorskip("pxr")
    path = tmp_path / "a.usdc"
    pio.write(path, points(seed=1), FACES)
    held = pio.open_sequence(path)
    pio.write(path, points(seed=2), FACES)
    os.utime(path, (1, 1))
    same(pio.read(path).points, points(seed=2), ".usdc")
    assert len(held) == 1
