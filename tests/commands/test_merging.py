"""Split vertices: every verb takes those of one position for one, within a part, and says so.

An STL with 56 intersecting pairs in `check` had 5,210 in `scan`: only `check` and `near` merged.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.frames.sequence import ApartError
from pliant.io import Parts
from tests.shapes.command_line import Call, write_obj

# Two triangles side by side: the corners of the seam are written twice.
SEAM = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, -0.0], [1, 1, 0], [-0.0, 1, 0]])
OPENED = SEAM + np.array([[0, 0, 0]] * 3 + [[0, 0, 1.0]] + [[0, 0, 0]] * 2)
FACES = np.array([[0, 1, 2], [3, 4, 5]])
SAYS = "Merged 2 vertices at equal positions; --no-merge keeps them apart."
# Two tetrahedra that share a face, each with corners of its own.
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
VEGA = "\n".join(
    ["*VERTICES", "8 3 0 0"]
    + [f"{i} {x} {y} {z}" for i, (x, y, z) in enumerate([*CORNERS.tolist(), *(CORNERS * (1, 1, -1)).tolist()])]
    + ["*ELEMENTS", "TET", "2 4 0", "0 0 1 2 3", "1 4 6 5 7", ""]
)


@pytest.fixture
def seam(tmp_path: Path) -> Path:
    return write_obj(tmp_path / "seam_1.obj", SEAM, FACES)


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    return write_obj(tmp_path / "seam_2.obj", SEAM + (0, 0, 2.0), FACES)


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    return write_obj(tmp_path / "seam_3.obj", OPENED, FACES)


@pytest.mark.parametrize("verb", ["check", "scan", "near", "ccd of frames", "ccd", "step"])
def test_every_verb_merges_and_says_so(call: Call, tmp_path: Path, seam: Path, moved: Path, verb: str):
    arguments = {
        "check": ["check", seam],
        "scan": ["scan", tmp_path / "seam_*.obj"],
        "near": ["near", seam, "--within", "0.1"],
        "ccd of frames": ["ccd", tmp_path / "seam_*.obj"],
        "ccd": ["ccd", seam, moved, "--tangled", "ignore"],
        "step": ["step", seam, moved, "--tangled", "ignore"],
    }[verb]
    merged = call(*arguments)
    assert merged.code == 0
    assert SAYS in merged.out
    assert call(*arguments, "--json").out.count('"merged": 2') == 1
    apart = call(*arguments, "--no-merge")
    assert apart.code == 1
    assert "Merged" not in apart.out
    assert '"merged": 0' in call(*arguments, "--no-merge", "--json").out


def test_cells_that_are_split_are_one_solid(call: Call, tmp_path: Path):
    path = tmp_path / "split.veg"
    path.write_text(VEGA, "utf-8")
    assert call("inside", path, "--no-merge").code == 1
    ended = call("inside", path)
    assert ended.code == 0
    assert "Merged 3 vertices" in ended.out
    found = call("scan", path, "--json").json
    assert (found["triangles"], found["pairs"], found["merged"]) == (6, 0, 3)


def test_the_viewer_merges(call: Call, seam: Path, moved: Path, monkeypatch: pytest.MonkeyPatch):
    served = []
    monkeypatch.setattr("pliant.view.serve", lambda sequence, **options: served.append(sequence))
    assert SAYS in call("view", seam.with_name("seam_*.obj")).out
    assert call("view", seam.with_name("seam_*.obj"), "--no-merge").out == ""
    assert served[0].faces.tolist() == [[0, 1, 2], [1, 4, 2]]
    assert served[1].faces.tolist() == FACES.tolist()


def test_converted_files_keep_their_vertices(call: Call, tmp_path: Path, seam: Path):
    assert call("convert", seam, tmp_path / "out.ply").code == 0
    assert len(pliant.io.read(tmp_path / "out.ply").points) == 6


def test_vertices_that_come_apart_are_named(call: Call, tmp_path: Path, seam: Path, moved: Path, opened: Path):
    for arguments in (["scan", tmp_path / "seam_*.obj"], ["ccd", tmp_path / "seam_*.obj"]):
        ended = call(*arguments)
        assert ended.code == 2
        assert "seam_*.obj, frame 3: vertices come apart" in ended.err
        assert "3 from 1; " in ended.err
        assert "--no-merge" in ended.err
        assert call(*arguments, "--no-merge").code == 1
    ended = call("ccd", seam, opened)
    assert ended.code == 2
    assert f"{opened.as_posix()}: vertices come apart" in ended.err
    assert call("ccd", seam, opened, "--no-merge").code == 1


def test_only_frames_that_are_wanted_are_checked(call: Call, tmp_path: Path, seam: Path, moved: Path, opened: Path):
    assert call("scan", tmp_path / "seam_*.obj", "--to", "2").code == 0
    assert call("scan", tmp_path / "seam_*.obj", "--from", "3", "--json").json["merged"] == 1


def test_parts_are_not_glued_together(call: Call, tmp_path: Path):
    """Two objects that touch in an edge: what is split between them is not one, what is split within them is."""
    text = "".join(f"v {x} {y} {z}\n" for x, y, z in [*SEAM.tolist(), *SEAM.tolist()])
    (tmp_path / "two.obj").write_text(text + "o left\nf 1 2 3\nf 4 5 6\no right\nf 7 8 9\nf 10 11 12\n", "utf-8")
    found = call("check", tmp_path / "two.obj", "--json").json
    assert found["files"][0]["merged"] == 4
    assert {(a // 2, b // 2) for a, b in (one["faces"] for one in found["list"])} == {(0, 1)}
    assert call("check", tmp_path / "two.obj", "--pairs", "self").code == 0


def test_groups_that_share_vertices_are_one_body():
    faces = np.array([[0, 1, 2], [1, 3, 2], [4, 5, 6]])
    labels = Parts(np.array([0, 1, 2]), ("a", "b", "c")).bodies(faces, 8)
    assert labels is not None
    assert labels[0] == labels[3] != labels[4]
    assert labels[7] == -1
    assert Parts(np.array([0, 1]), ("a", "b")).bodies(faces[:2], 4) is None


def test_ids_are_those_of_the_file(call: Call, tmp_path: Path):
    """A third triangle stands in the second one: its id and its corners are those of the file, whatever is merged."""
    x = np.concatenate((SEAM, [[0.8, 0.8, -1], [0.8, 0.8, 1], [3, 3, 0.0]]))
    one = write_obj(tmp_path / "one.obj", x, np.concatenate((FACES, [[6, 7, 8]])))
    assert [row["faces"] for row in call("check", one, "--json").json["list"]] == [[1, 2]]


class TestSequences:
    def test_the_library_merges_where_it_is_asked_to(self):
        still = pliant.Sequence(FACES, np.stack((SEAM, SEAM)))
        assert pliant.scan(still).intersection_counts.tolist() == [1, 1]
        assert not pliant.scan(still, merge=True)
        merged, count = still.merged()
        assert (count, merged.faces.tolist()) == (2, [[0, 1, 2], [1, 4, 2]])

    def test_frames_are_read_when_they_are_asked_for(self):
        read = []

        class Frames:
            def __len__(self):
                return 3

            def __getitem__(self, frame: int):
                read.append(frame)
                return (SEAM, SEAM, OPENED)[frame]

        merged = pliant.Sequence(FACES, Frames()).merged()[0]
        assert read == [0]
        assert merged[1].shape == (6, 3)
        with pytest.raises(ApartError, match=r"sequence, frame 2: vertices come apart .*: 3 from 1; merge=False"):
            merged[2]
        with pytest.raises(ApartError):
            merged[1:][1]

    @pytest.mark.parametrize("frames", [2, 3, 40])
    def test_the_last_frame_is_checked_as_well(self, frames: int):
        """Of frames that are one array, too."""
        opening = pliant.Sequence(FACES, np.stack([SEAM] * (frames - 1) + [OPENED]), numbers=range(10, 10 + frames))
        named = rf"sequence, frame {9 + frames}: vertices come apart .*: 3 from 1; merge=False"
        with pytest.raises(ApartError, match=named):
            pliant.scan(opening, merge=True)
        with pytest.raises(ApartError, match=named):
            opening.merged()[0][-1]

    def test_labels_keep_vertices_apart(self):
        labelled = pliant.Sequence(FACES, SEAM[None], objects=[0, 0, 0, 1, 1, 1])
        assert labelled.merged() == (labelled, 0)

    def test_cells_do_not_collapse(self):
        """A tetrahedron with two corners at one place stays one, and its neighbour is merged with it elsewhere."""
        x = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1.0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0]])
        cells = {"tetra": np.array([[0, 1, 2, 3], [4, 5, 6, 7]])}
        merged, count = pliant.Sequence(None, x[None], cells=cells).merged()
        assert count == 2
        assert merged.cells is not None
        assert merged.cells["tetra"].tolist() == [[0, 1, 2, 3], [2, 3, 6, 7]]

    def test_nothing_to_merge(self):
        whole = pliant.Sequence(FACES[:1], SEAM[None])
        assert whole.merged() == (whole, 0)
        assert pliant.Sequence(FACES, np.empty((0, 6, 3))).merged()[1] == 0
