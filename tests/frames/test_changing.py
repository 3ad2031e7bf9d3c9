"""Sequences whose mesh changes: frame by frame, in files, and as one mesh."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.frames.changing import ChangingSequence, scan_as_one
from pliant.frames.sequence import Sequence
from pliant.io.mesh import TopologyError
from pliant.runtime.arrays import ShapeError
from pliant.runtime.writing import OutputError
from tests.shapes.command_line import Call

_SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))
LOWER = np.arange(8)


def two_cubes() -> ChangingSequence:
    """One on the other; in the last of three frames the upper one has a lower side of its own, and hangs in the air."""
    x = np.array([(i, j, k) for k in range(3) for i, j in _SQUARE], float)
    whole = {"hexahedron": np.stack((LOWER, LOWER + 4))}
    stress = np.array([(1.0, 2.0), (3.0, 4.0)])
    frames = np.stack((x, x + 0.125))
    first = Sequence(None, frames, cells=whole, times=(0.0, 0.5), cell_data={"stress": stress}, name="cubes")
    split = {"hexahedron": np.stack((LOWER, (12, 13, 14, 15, 8, 9, 10, 11)))}
    y = np.concatenate((x, x[4:8]))
    y[8:, 2] += 0.25
    ranks = np.array((*range(12), 4, 5, 6, 7))
    last = Sequence(None, y[None], cells=split, times=(1.0,), ranks=ranks, cell_data={"stress": np.array([(5.0, 6.0)])})
    last.past = y - 0.5
    return ChangingSequence((first, last))


def test_frames_have_their_own_mesh():
    cubes = two_cubes()
    assert (len(cubes), cubes.name, cubes.times.tolist()) == (3, "cubes", [0.0, 0.5, 1.0])
    assert [cubes.place(frame) for frame in (0, 1, 2, -1)] == [(0, 0), (0, 1), (1, 0), (1, 0)]
    assert [x.shape for x in cubes] == [(12, 3), (12, 3), (16, 3)]
    assert [len(run.faces) for run in cubes.runs] == [20, 24]
    later = cubes[1:]
    assert ([len(run) for run in later.runs], later.times.tolist()) == ([1, 1], [0.5, 1.0])
    assert (later.runs[0].past is None, later.runs[1].past is None) == (True, False)
    assert [len(run) for run in cubes[::2].runs] == [1, 1]
    with pytest.raises(ShapeError, match="backwards"):
        cubes[::-1]
    with pytest.raises(ShapeError, match="order of their times"):
        ChangingSequence(cubes.runs[::-1])
    with pytest.raises(ShapeError, match="at least one run"):
        ChangingSequence([])


@pytest.mark.parametrize("name", ["cubes.npz", "cubes.pvd", "cubes_%04d.vtu"])
def test_files_keep_every_mesh(tmp_path: Path, name: str):
    cubes = two_cubes()
    pliant.io.write_sequence(tmp_path / name, cubes)
    back = pliant.io.open_changing(tmp_path / name)
    assert [len(run) for run in back.runs] == [2, 1]
    for one, other, a, b in zip(cubes, back, (0, 0, 1), (0, 0, 1)):
        np.testing.assert_array_equal(one, other)
        cells, again = cubes.runs[a].cells, back.runs[b].cells
        assert cells is not None
        assert again is not None
        np.testing.assert_array_equal(cells["hexahedron"], again["hexahedron"])
    if name.endswith(".npz"):
        assert back.times.tolist() == [0.0, 0.5, 1.0]
        assert back.runs[1].cell_data(0)["stress"].tolist() == [5.0, 6.0]
        np.testing.assert_array_equal(back.runs[1].faces, cubes.runs[1].faces)  # diagonals, by ranks
        np.testing.assert_array_equal(back.runs[1].past, cubes.runs[1].past)
        with pytest.raises(TopologyError, match="open_changing"):
            pliant.io.open_sequence(tmp_path / name)


def test_every_frame_has_its_cells_in_xdmf_and_numbers_in_vtu(tmp_path: Path):
    pliant.io.write_sequence(tmp_path / "cubes.xdmf", two_cubes())
    text = (tmp_path / "cubes.xdmf").read_text("utf-8")
    assert (text.count("<Topology"), text.count("<Time"), text.count('Name="stress"')) == (2, 3, 3)
    assert "12 13 14 15 8 9 10 11" in text
    pliant.io.write_sequence(tmp_path / "cubes.pvd", two_cubes())
    assert b"stress" in (tmp_path / "cubes_frames" / "000002.vtu").read_bytes()


def test_usd_has_faces_over_time(tmp_path: Path):
    pxr = pytest.importorskip("pxr.Usd")
    geometry = pytest.importorskip("pxr.UsdGeom")
    cubes = two_cubes()
    pliant.io.write_sequence(tmp_path / "cubes.usda", cubes)
    stage = pxr.Stage.Open(str(tmp_path / "cubes.usda"))
    mesh = geometry.Mesh(stage.GetDefaultPrim())
    for frame, time in enumerate(cubes.times):
        faces = cubes.runs[cubes.place(frame)[0]].faces
        np.testing.assert_array_equal(np.array(mesh.GetFaceVertexIndicesAttr().Get(24.0 * time)), faces.ravel())
        assert len(mesh.GetFaceVertexCountsAttr().Get(24.0 * time)) == len(faces)
        assert len(mesh.GetPointsAttr().Get(24.0 * time)) == len(cubes[frame])


def test_point_caches_have_one_mesh(tmp_path: Path):
    with pytest.raises(OutputError, match="one mesh for all frames"):
        pliant.io.write_sequence(tmp_path / "cubes.pc2", two_cubes())


def test_as_one_mesh_what_is_not_there_is_in_a_point():
    cubes = two_cubes()
    one = cubes.as_one()
    assert len(one.sequence.faces) == 20 + 12  # the upper cube has other corners, and sides between the two come
    for frame, x in enumerate(cubes):
        number = cubes.place(frame)[0]
        y, run = one.sequence[frame], cubes.runs[number]
        np.testing.assert_array_equal(
            np.sort(y[one.sequence.faces[one.faces[number]]], axis=1), np.sort(x[run.faces], axis=1)
        )
        hidden = np.setdiff1d(np.arange(len(one.sequence.faces)), one.faces[number])
        assert np.ptp(y[one.sequence.faces[hidden]], axis=1).max(initial=0.0) == 0.0
        cells = run.cells_at_faces()
        assert cells is not None
        shown = one.sequence.cell_data(frame)["stress"][one.faces[number]]
        np.testing.assert_array_equal(shown, run.cell_data(cubes.place(frame)[1])["stress"][cells])


def test_each_frame_is_scanned_with_its_mesh():
    cubes = two_cubes()
    x = np.array(cubes.runs[1][0])
    x[12:, 2] -= 0.5  # into the lower cube
    tangled = Sequence(None, x[None], cells=cubes.runs[1].cells, times=(1.0,), ranks=cubes.runs[1].ranks)
    found = scan_as_one(ChangingSequence((cubes.runs[0], tangled)))
    assert found.intersection_counts.tolist()[:2] == [0, 0]
    expected = pliant.check(tangled.faces, x)
    assert found.intersection_counts[2] == len(expected) > 0
    assert found.face_counts().sum() == 2 * len(expected)


def test_the_verb_scans_the_files_of_a_pvd(tmp_path: Path, call: Call):
    pliant.io.write_sequence(tmp_path / "cubes.pvd", two_cubes())
    ended = call("scan", tmp_path / "cubes.pvd", "--find", "intersections")
    assert ended.code == 0
    assert "2 runs: the triangles change between frames" in ended.out + ended.err
