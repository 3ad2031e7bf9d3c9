"""Sequences that are untangled: every frame clean, near to what it was, coherent in time, and clean ones untouched."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.frames import untangled
from pliant.frames.carrying import moved_along
from pliant.scenes.shapes import icosphere

FACES, BALL = icosphere(4)
TWO = np.concatenate((FACES, FACES + len(BALL)))
EDGE = float(np.linalg.norm(BALL[FACES[:, 0]] - BALL[FACES[:, 1]], axis=1).mean())


def turned(x: np.ndarray, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return x @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def bump(gaps: list[float], turn: float = 0.4) -> pliant.Sequence:
    """Two balls that are so far apart in each frame, less than 2 where they intersect; both turn together, and go."""
    frames = [
        turned(np.concatenate((BALL, turned(BALL, 0.3) + (gap, 0.01, 0.02))), turn * t) + (3.0 * t, t**2, 0)
        for t, gap in enumerate(gaps)
    ]
    return pliant.Sequence(TWO, np.array(frames))


GAPS = [2.1, 1.95, 1.8, 1.7, 1.65, 1.7, 1.85, 2.0]


def assert_right(found: pliant.UntangledSequence, given: pliant.Sequence) -> None:
    """What each frame says is what fresh queries say."""
    assert len(found) == len(given)
    for place, (frame, x, free) in enumerate(zip(found.frames, given, found.sequence)):
        before, after = pliant.check(TWO, x), pliant.check(TWO, free)
        assert frame.pairs == len(before)
        assert frame.clean == (len(after) == 0)
        assert len(frame.remaining) == len(after)
        if len(before) == 0:
            assert free.tobytes() == x.tobytes()
            assert not frame.moved.any()
        assert frame.moved.tolist() == (free != x).any(axis=1).tolist()
        assert frame.largest == pytest.approx(np.linalg.norm(free - x, axis=1).max())
        assert found[place] is frame


def test_every_frame_is_clean_and_clean_ones_are_as_they_were():
    given = bump(GAPS)
    found = pliant.untangle_sequence(given)
    assert_right(found, given)
    assert found.clean
    assert sum(frame.pairs > 0 for frame in found.frames) >= 5
    assert {frame.method for frame in found.frames} == {untangled.CARRIED, untangled.AS_IT_WAS}
    assert max(frame.largest for frame in found.frames) < 0.35  # the balls are up to 0.25 deep in each other


def test_it_does_not_pop():
    """Displacements change no faster than the balls come together; and the motion itself is much faster."""
    found = pliant.untangle_sequence(bump(GAPS))
    assert found.popping.max() < 1.0
    assert found.popping[[0, -1]].tolist() == [0.0, 0.0]
    assert found.given_motion[1:-1].min() > found.popping.max()
    shift = [free - x for free, x in zip(found.sequence, found.given)]
    second = np.linalg.norm(shift[2] - 2 * shift[3] + shift[4], axis=1).max() / EDGE
    assert found.popping[3] == pytest.approx(second, rel=0.02)


def test_it_begins_with_a_clean_frame_and_goes_both_ways():
    given = bump([1.75, 1.8, 1.9, 2.05, 1.9, 1.8])
    found = pliant.untangle_sequence(given)
    assert_right(found, given)
    assert [frame.method for frame in found.frames].count(untangled.CARRIED) == 5


def test_without_a_clean_frame_one_is_untangled_by_itself():
    given = bump([1.85, 1.8, 1.9, 1.75])
    found = pliant.untangle_sequence(given)
    assert_right(found, given)
    assert found.clean
    assert [frame.method == untangled.CARRIED for frame in found.frames].count(False) == 1


def test_a_frame_that_cannot_be_reached_is_untangled_by_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(untangled, "carried", lambda *_: None)
    given = bump([2.1, 1.9, 1.85])
    found = pliant.untangle_sequence(given)
    assert_right(found, given)
    assert found.clean
    assert untangled.CARRIED not in {frame.method for frame in found.frames}


def test_fixed_vertices_are_where_they_were_in_every_frame():
    given, fixed = bump(GAPS[:5]), np.arange(len(BALL))
    found = pliant.untangle_sequence(given, fixed=fixed)
    assert_right(found, given)
    assert found.clean
    for x, free in zip(given, found.sequence):
        assert free[fixed].tobytes() == x[fixed].tobytes()


def test_limits_hold_and_what_is_left_is_said():
    given = bump([2.1, 1.9, 1.6])
    found = pliant.untangle_sequence(given, max_move=0.02)
    assert not found.clean
    assert max(frame.largest for frame in found.frames) <= 0.02
    for frame, free in zip(found.frames, found.sequence):
        assert len(frame.remaining) == len(pliant.check(TWO, free)) <= frame.pairs
    assert repr(found).startswith("UntangledSequence(3 frames, ")
    assert "not clean" in repr(found)


def test_sides_are_checked_where_they_are_given():
    given = bump([2.1, 1.9])
    labels = pliant.TriMesh(TWO).components
    assert all(frame.wrong_side is None for frame in pliant.untangle_sequence(given).frames)
    found = pliant.untangle_sequence(given, outside_of=[int(labels[0])])
    assert [frame.wrong_side.tolist() for frame in found.frames if frame.wrong_side is not None] == [[], []]


def test_layers_that_are_open_have_sides_too():
    """Two sheets, the upper one dented through the lower one."""
    line = np.arange(9.0)
    flat = np.stack([*np.meshgrid(line, line, indexing="ij"), np.zeros((9, 9))], axis=-1).reshape(-1, 3)
    corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    squares = np.stack([corner, corner + 9, corner + 10, corner + 1], axis=1)
    faces = np.concatenate([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]])
    dent = np.exp(-np.square(flat[:, :2] - 4.1).sum(axis=1))[:, None] * (0, 0, 1)
    frames = [np.concatenate([flat, flat + (0.02, 0.03, 0.4) - depth * dent]) for depth in (0.1, 0.7)]
    given = pliant.Sequence(np.concatenate([faces, faces + len(flat)]), np.array(frames))
    assert len(pliant.check(given.faces, given[1]))
    labels = pliant.TriMesh(given.faces).components
    found = pliant.untangle_sequence(given, layers=[int(labels[0]), int(labels[-1])])
    assert found.clean
    assert (found.sequence[1][len(flat) :, 2] - found.sequence[1][: len(flat), 2]).min() > 0.0


def test_threads_change_nothing():
    given = bump(GAPS[:4])
    one, two = (pliant.untangle_sequence(given, threads=n) for n in (1, 2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one.sequence, two.sequence))


def test_all_else_of_the_sequence_stays():
    x = list(bump([2.1, 1.9]))
    given = pliant.Sequence(TWO, np.array(x), times=[0.5, 0.75], numbers=[7, 9], objects=np.repeat([4, 5], len(BALL)))
    calls = []
    found = pliant.untangle_sequence(given, progress=lambda done, total: calls.append((done, total)))
    assert found.sequence.numbers.tolist() == [7, 9]
    assert [frame.number for frame in found.frames] == [7, 9]
    assert [frame.time for frame in found.frames] == found.sequence.times.tolist() == [0.5, 0.75]
    np.testing.assert_array_equal(found.sequence.objects, given.objects)
    assert calls == [(1, 2), (2, 2)]


def test_a_table_of_frames():
    pytest.importorskip("pandas")
    table = pliant.untangle_sequence(bump([2.1, 1.9])).to_pandas()
    assert table["clean"].tolist() == [True, True]
    assert table["moved"][0] == 0 < table["moved"][1]


def test_no_frames_and_wrong_input():
    with pytest.raises(pliant.MeshError, match="has no frames"):
        pliant.untangle_sequence(pliant.Sequence(TWO, np.empty((0, 2 * len(BALL), 3)), name="nobody"))
    with pytest.raises(pliant.MeshError, match="fixed names vertex"):
        pliant.untangle_sequence(bump([2.1]), fixed=[10**6])
    broken = np.array(list(bump([2.1, 2.2])))
    broken[1, 3] = np.nan
    with pytest.raises(pliant.MeshError, match=r"frame 1: positions\[3, 0\] is nan"):
        pliant.untangle_sequence(pliant.Sequence(TWO, broken))


def test_what_is_carried_along_moves_rigidly():
    rng = np.random.default_rng(3)
    a = rng.random((30, 3))
    x = a + 0.1 * rng.random((30, 3))
    b = turned(a, 2.0) + (5, 6, 7)
    np.testing.assert_allclose(moved_along(a, b, x), turned(x, 2.0) + (5, 6, 7), atol=1e-12)
    flat = a * (1, 1, 0)
    np.testing.assert_allclose(moved_along(flat, turned(flat, 1.0), x), turned(x, 1.0), atol=1e-12)  # never mirrored
