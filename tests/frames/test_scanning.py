"""A scan gives what the single queries give, frame by frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.frames.scanning import scan_frames
from tests.shapes.tables import assert_identical


@pytest.fixture(scope="module")
def sequence() -> pliant.Sequence:
    scene = pliant.scenes.load("twisted_cloth", triangles=600, frames=4)
    return pliant.Sequence(scene.faces, scene.frames, objects=scene.objects, name="cloth")


@pytest.fixture(scope="module")
def found(sequence: pliant.Sequence) -> pliant.Scan:
    return pliant.scan(sequence)


def test_frames_are_those_of_single_queries(sequence: pliant.Sequence, found: pliant.Scan):
    assert [one.number for one in found.frames] == [0, 1, 2, 3]
    assert found.frames[0].contacts is None
    for one in found.frames:
        assert one.intersections is not None
        assert_identical(one.intersections, pliant.dcd(sequence.faces, sequence[one.number]))
        if one.number:
            assert one.contacts is not None
            x0, x1 = sequence[one.number - 1], sequence[one.number]
            assert_identical(one.contacts, pliant.ccd(sequence.faces, x0, x1))
    assert found.contact_counts[1:].min() > 0
    assert found.intersection_counts.max() > 0
    assert found


@pytest.mark.data
@pytest.mark.slow
def test_every_frame_of_kick(data_folder: Path):
    kick = pliant.Sequence.open(data_folder / "sequences" / "codimipc_Kick_unfixed_30_65.npz")
    assert len(kick) == 36
    before = None
    for one, x in zip(scan_frames(kick), kick):
        assert one.intersections is not None
        assert_identical(one.intersections, pliant.dcd(kick.faces, x))
        if before is not None:
            assert one.contacts is not None
            assert_identical(one.contacts, pliant.ccd(kick.faces, before, x))
        before = x


@pytest.mark.parametrize("find", ["contacts", "intersections"])
def test_only_what_is_asked_for(sequence: pliant.Sequence, found: pliant.Scan, find: str):
    some = pliant.scan(sequence[:2], find=find)
    assert all(one.intersections is None for one in some.frames) == (find == "contacts")
    assert all(one.contacts is None for one in some.frames) == (find == "intersections")
    counts = found.contact_counts if find == "contacts" else found.intersection_counts
    assert (some.contact_counts + some.intersection_counts).tolist() == counts[:2].tolist()


def test_pairs_of_one_object_and_of_two_are_all_pairs(sequence: pliant.Sequence, found: pliant.Scan):
    own, inter = (pliant.scan(sequence, pairs=pairs) for pairs in ("self", "inter"))
    assert (own.contact_counts + inter.contact_counts).tolist() == found.contact_counts.tolist()
    assert inter.contact_counts.sum() > 0
    assert [one.parts for one in inter.parts()] == [(0, 1)]


def test_progress_counts_frames(sequence: pliant.Sequence):
    calls = []
    pliant.scan(sequence, find="contacts", progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_worst_frames_come_first(found: pliant.Scan):
    totals = found.contact_counts + found.intersection_counts
    worst = found.worst(3)
    assert [totals[one.number] for one in worst] == sorted(totals, reverse=True)[:3]
    assert len(found.worst(99)) == np.count_nonzero(totals)


def test_faces_count_contacts_of_their_edges_and_corners(found: pliant.Scan):
    one = found.frames[1]
    assert one.contacts is not None
    assert one.intersections is not None
    faces, edges = found.mesh.faces.tolist(), [set(edge) for edge in found.mesh.edges.tolist()]
    expected = [0] * len(faces)
    for kind, (a, b) in zip(one.contacts.kind, one.contacts.elements.tolist()):
        for i, face in enumerate(faces):
            sides = (a in face, i == b) if kind == 0 else (edges[a] <= set(face), edges[b] <= set(face))
            expected[i] += sum(sides)
    for pair in one.intersections.faces.tolist():
        for i in pair:
            expected[i] += 1
    assert found.face_counts(1).tolist() == expected
    assert sum(expected) > 0
    assert found.face_counts().tolist() == sum(found.face_counts(i) for i in range(4)).tolist()


def test_parts_add_up(found: pliant.Scan):
    for frame in (None, 0, 2):
        parts = found.parts(frame)
        chosen = slice(None) if frame is None else slice(frame, frame + 1)
        assert sum(one.contacts for one in parts) == found.contact_counts[chosen].sum()
        assert sum(one.intersections for one in parts) == found.intersection_counts[chosen].sum()
        assert all(a <= b for (a, b), *_ in parts)
        totals = [one.contacts + one.intersections for one in parts]
        assert totals == sorted(totals, reverse=True)
    assert max(one.frames for one in found.parts()) <= 4
    for one in found.parts():
        totals = [sum(p.contacts + p.intersections for p in found.parts(i) if p.parts == one.parts) for i in range(4)]
        assert np.count_nonzero(totals) == one.frames
        assert one.worst == np.argmax(totals)


def test_parts_are_components_where_nobody_named_them(sequence: pliant.Sequence, found: pliant.Scan):
    plain = pliant.scan(pliant.Sequence(sequence.faces, [sequence[0], sequence[1]]))
    assert plain.parts() == pliant.scan(sequence[:2]).parts()


def test_stages_are_summed_over_frames(found: pliant.Scan):
    stages = {stage.name: stage for stage in found.stages}
    assert set(stages) == {stage.name for one in found.frames if one.contacts for stage in one.contacts.stages}
    name = found.frames[2].contacts.stages[-1].name
    out = [
        stage.pairs_out for one in found.frames if one.contacts for stage in one.contacts.stages if stage.name == name
    ]
    assert stages[name].pairs_out == sum(out)
    assert "exact" in {stage.name for stage in found.intersection_stages}


def test_a_table_of_frames(found: pliant.Scan):
    pytest.importorskip("pandas")
    table = found.to_pandas()
    assert table["contacts"].tolist() == found.contact_counts.tolist()
    assert (table["vertex_face"] + table["edge_edge"]).tolist() == table["contacts"].tolist()
    assert np.isnan(table["first_contact"][0])
    assert table["first_contact"][1] == found.frames[1].contacts.toi.min()


def test_nothing_found_and_nothing_there():
    faces = np.array([[0, 1, 2]])
    free = pliant.scan(pliant.Sequence(faces, np.zeros((2, 3, 3)) + np.eye(3)))
    assert not free
    assert free.worst() == ()
    assert free.parts() == ()
    assert free.face_counts().tolist() == [0]
    assert len(pliant.scan(pliant.Sequence(faces, np.empty((0, 3, 3))))) == 0


def test_cells_are_looked_at_from_outside():
    """Two tetrahedra that share a face move into a third: only boundaries can meet."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [4, 0, 0], [5, 0, 0], [4, 1, 0], [4, 0, 1.0]])
    cells = {"tetra": np.array([[0, 1, 2, 3], [1, 2, 3, 4], [5, 6, 7, 8]])}
    moved = x + np.where(np.arange(9) >= 5, -3.9, 0.0)[:, None] * (1, 0, 0)
    both = pliant.scan(pliant.Sequence(None, np.stack((x, moved)), cells=cells))
    assert len(both.mesh.faces) == 10
    surface = pliant.VolumeMesh(cells).surface()
    assert both.contact_counts[1] == len(pliant.ccd(surface.faces, x, moved)) > 0
    assert both.intersection_counts.tolist() == [0, len(pliant.dcd(surface.faces, moved))]


class OneBuffer:
    """Frames that are all handed out in one array, filled again for each."""

    def __init__(self, frames: np.ndarray) -> None:
        self._frames, self._buffer = frames, np.empty_like(frames[0])

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, frame: int) -> np.ndarray:
        self._buffer[:] = self._frames[frame]
        return self._buffer


@pytest.mark.parametrize("distance", [0.0, 1e-3])
def test_frames_in_one_array(distance: float):
    """With a distance, contacts were searched for from a frame to itself; points of contact were wrong without one."""
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 1), (0.4, 0.2, 1), (0.2, 0.4, 2)], float)
    frames = np.stack((x, x - np.where(np.arange(6)[:, None] > 2, (0, 0, 1.5), 0)))
    given = pliant.scan(pliant.Sequence([[0, 1, 2], [3, 4, 5]], frames), min_distance=distance)
    found = pliant.scan(pliant.Sequence([[0, 1, 2], [3, 4, 5]], OneBuffer(frames)), min_distance=distance)
    assert len(found.frames[1].contacts) == len(given.frames[1].contacts) > 0
    np.testing.assert_array_equal(found.frames[1].points, given.frames[1].points)
