"""The viewer without a browser and without viser: frames, layers, picking, comparing, words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant.view.comparing import WAYS, compare, fingerprint
from pliant.view.frames import EmptySequenceError, Frames
from pliant.view.layers import Layers, nearest_to_ray
from pliant.view.words import comparison_words, contact_words, frame_words, short


@pytest.fixture(scope="module")
def sequence():
    scene = pliant.scenes.load("ball_heap", triangles=400, frames=5)
    return pliant.Sequence(scene.faces, scene.frames, objects=scene.objects, name="heap")


@pytest.fixture(scope="module")
def scanned(sequence):
    return pliant.scan(sequence)


def same(frame, scanned):
    contacts = scanned.contacts
    if contacts is None:
        return len(frame.contacts) == 0 and fingerprint(frame.contacts[:0], frame.intersections) == fingerprint(
            frame.contacts, scanned.intersections
        )
    return fingerprint(frame.contacts, frame.intersections) == fingerprint(contacts, scanned.intersections)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 0, 3, 3, 2, 1, -1), (2, 3, 0, 1)])
def test_frames_in_any_order_are_those_of_a_scan(sequence, scanned, order):
    assert scanned.contact_counts[1:].all()
    frames = Frames(sequence)
    for number in order:
        assert same(frames[number], scanned.frames[number])
    seen = sorted({number % 5 for number in order})
    np.testing.assert_array_equal(frames.counts[seen, 0], scanned.contact_counts[seen])
    assert (frames.counts[[n for n in range(5) if n not in seen]] == -1).all()
    with pytest.raises(IndexError):
        frames[5]


def test_memory_is_bounded(sequence, scanned):
    one = Frames(sequence, memory=0)
    assert one[1] is one[1]
    assert one[2].number == 2
    assert 2 in one
    assert 1 not in one
    assert same(one[1], scanned.frames[1])
    room = Frames(sequence)
    size = sum(room[i].nbytes for i in range(3))
    some = Frames(sequence, memory=size)
    for i in range(5):
        some[i]
        assert some.nbytes <= size or i == 0
    assert 4 in some
    assert 0 not in some


class Fragile:
    """Frames of which one cannot be read, for a while."""

    def __init__(self, frames):
        self.frames, self.broken = frames, True

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        if i == 2 and self.broken:
            raise OSError("no such frame")
        return self.frames[i]


def test_a_frame_that_fails_spoils_no_other(sequence, scanned):
    fragile = Fragile([sequence[i] for i in range(5)])
    frames = Frames(pliant.Sequence(sequence.faces, fragile, objects=sequence.objects))
    frames[0], frames[1]
    with pytest.raises(OSError, match="no such frame"):
        frames[2]
    assert same(frames[4], scanned.frames[4])
    fragile.broken = False
    assert same(frames[2], scanned.frames[2])


def test_layers(sequence):
    frames = Frames(sequence)
    frame, labels = frames[2], sequence.objects
    everything = frame.shown(Layers(), frames.mesh)
    assert len(everything.contacts) == len(frame.contacts)
    assert (np.diff(frame.contacts.toi[everything.contacts]) >= 0).all()
    ends = labels[frame.contacts.vertices]
    within, between = (frame.shown(Layers(within=w, between=not w), frames.mesh) for w in (True, False))
    assert len(within.contacts) + len(between.contacts) == len(everything.contacts)
    assert len(between.contacts) > 0
    assert all(len(set(row)) == 1 for row in ends[within.contacts].tolist())
    assert all(len(set(row)) == 2 for row in ends[between.contacts].tolist())
    faces = frame.shown(Layers(edge_edge=False), frames.mesh)
    assert len(faces.contacts) == len(frame.contacts.vf)
    assert len(frame.shown(Layers(vertex_face=False), frames.mesh).contacts) == len(frame.contacts.ee)
    nothing = frame.shown(Layers(vertex_face=False, edge_edge=False, intersections=False), frames.mesh)
    assert [len(part) for part in nothing] == [0, 0, 0, 0]
    crossing = frame.shown(Layers(vertex_face=False, edge_edge=False), frames.mesh)
    assert crossing.faces.tolist() == np.unique(frame.intersections.faces).tolist()


def test_points_are_on_both_features_at_their_time(sequence):
    frame = Frames(sequence)[2]
    rows = np.arange(len(frame.contacts))
    places = frame.places(rows)
    for row in rows.tolist():
        x = frame.at(frame.contacts.toi[row])[frame.contacts.vertices[row]]
        weights = frame.contacts.weights[row]
        second = -(np.minimum(weights, 0.0) @ x)
        np.testing.assert_allclose(places[row], second, atol=1e-9)
        features = frame.features(row, frame.x)
        assert sum(map(len, features)) == 2
        assert len(features.triangles) == (frame.contacts.kind[row] == 0)
    np.testing.assert_array_equal(frame.at(1.0), frame.x)
    np.testing.assert_array_equal(frame.at(0.0), frame.x0)


@pytest.mark.unit
def test_a_click_means_the_nearest_point():
    points = np.array([(0, 0, -5), (1, 0, -5), (0, 0, 5), (0, 0.1, -50)], float)
    eye = np.zeros(3)
    assert nearest_to_ray(points, eye, np.array((0.19, 0, -1.0))) == 1
    assert nearest_to_ray(points, eye, np.array((0, 0.001, -2.0))) in (0, 3)
    assert nearest_to_ray(points, eye, np.array((0, 0, 3.0))) == 2
    assert nearest_to_ray(points, eye, np.array((1.0, 1, 0))) is None
    assert nearest_to_ray(points[:0], eye, np.array((1.0, 1, 0))) is None


@pytest.mark.parametrize("number", [0, 1, 3])
def test_ways_of_culling_agree(sequence, number):
    frames = Frames(sequence)
    rows = compare(frames, number)
    assert tuple(row.culling for row in rows) == WAYS
    assert {row.fingerprint for row in rows} == {fingerprint(frames[number].contacts, frames[number].intersections)}
    assert all(row.nodes > 0 and row.milliseconds > 0.0 for row in rows)
    text = comparison_words(number, rows)
    assert "equal" in text
    assert "DIFFER" in comparison_words(number, (*rows, rows[0]._replace(fingerprint="another")))


def test_words(sequence):
    frames = Frames(sequence)
    frame = frames[2]
    shown = frame.shown(Layers(), frames.mesh)
    text = frame_words(frame, shown, 5)
    assert f"{len(frame.contacts.ee):,} edge-edge" in text
    assert "2, 3 of 5<" in text  # times that are the numbers of the frames say nothing new
    assert "2, 3 of 5, t = 0.25" in frame_words(dataclasses.replace(frame, time=0.25), shown, 5)
    for row in (0, len(frame.contacts) - 1):
        text = contact_words(frame, row)
        assert f"{frame.contacts.toi[row]:.15g}" in text
        assert str(frame.contacts.elements[row, 1]) in text
    assert "first frame" in frame_words(frames[0], frames[0].shown(Layers(), frames.mesh), 5)


@pytest.mark.unit
def test_short_counts():
    assert [short(n) for n in (0, 999, 1000, 9949, 9951, 123_456)] == ["0", "999", "1.0k", "9.9k", "10k", "123k"]
    assert [short(n) for n in (1_802_269, 12_345_678, 3 * 10**9)] == ["1.8M", "12M", "3.0G"]


def test_odd_sequences():
    with pytest.raises(EmptySequenceError):
        Frames(pliant.Sequence([(0, 1, 2)], np.zeros((0, 3, 3))))
    with pytest.raises(pliant.MeshError, match="face 0 refers to vertex 5"):
        Frames(pliant.Sequence([(0, 1, 5)], np.zeros((2, 3, 3))))[0]
    lone = Frames(pliant.Sequence(np.zeros((0, 3), int), np.zeros((2, 4, 3))))
    assert len(lone[1].shown(Layers(), lone.mesh).faces) == 0
    with pytest.raises(pliant.MeshError, match="culling"):
        Frames(pliant.Sequence([(0, 1, 2)], np.zeros((1, 3, 3))), tuning=pliant.Tuning(culling="none"))
