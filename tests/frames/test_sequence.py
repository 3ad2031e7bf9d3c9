"""Sequences: frames from arrays and from whatever gives them, slices, and errors that name the frame."""

import numpy as np
import pytest

import pliant
from pliant import Sequence

pytestmark = pytest.mark.unit
FACES = [[0, 1, 2], [0, 2, 3]]
X = np.random.default_rng(0).normal(size=(5, 4, 3))


class Counted:
    """Frames that count how often they are asked for."""

    def __init__(self):
        self.asked = []

    def __len__(self):
        return len(X)

    def __getitem__(self, frame):
        self.asked.append(frame)
        return X[frame].astype(np.float32)


def test_frames_are_asked_for_one_at_a_time():
    frames = Counted()
    sequence = Sequence(FACES, frames, name="cloth")
    assert len(sequence) == 5
    assert frames.asked == []
    assert sequence[-1].dtype == np.float64
    assert frames.asked == [4]
    part = sequence[1:5:2]
    assert len(part) == 2
    assert part.times.tolist() == [1, 3]
    assert frames.asked == [4]
    assert np.array_equal(part[1], X[3].astype(np.float32))
    assert sum(1 for _ in part[::-1]) == 2
    assert frames.asked == [4, 3, 3, 1]
    assert repr(sequence) == "Sequence('cloth': 2 triangles, 5 frames)"
    with pytest.raises(IndexError):
        sequence[5]


def test_errors_name_the_frame():
    bad = X.copy()
    bad[3, 1, 2] = np.nan
    sequence = Sequence(FACES, bad, name="cloth")
    with pytest.raises(pliant.MeshError, match=r"cloth, frame 3: positions\[1, 2\] is nan"):
        sequence[-2]
    with pytest.raises(pliant.MeshError, match="there are 5 frames"):
        Sequence(FACES, X, times=[0, 1])
    with pytest.raises(pliant.MeshError, match="frame 0: positions must have shape"):
        Sequence(FACES, X[:, :, :2])[0]


def test_cells_have_their_boundary_for_faces():
    sequence = Sequence(None, X, cells={"tetra": [[0, 1, 2, 3]]}, objects=[1, 1, 1, 1], times=[0, 2, 4, 6, 8])
    assert len(sequence.faces) == 4
    part = sequence[2:]
    assert list(part.cells) == ["tetra"]
    assert part.objects.tolist() == [1, 1, 1, 1]
    assert part.times.tolist() == [4, 6, 8]
