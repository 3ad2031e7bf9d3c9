"""The tables that come out."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import pliant
from bench.fingerprints import columns_of
from pliant.engine.plan import DEFAULT_FILTERS
from tests.shapes.meshes import scene
from tests.shapes.tables import assert_identical


@pytest.fixture(scope="module")
def contacts():
    return pliant.ccd(*scene("twisted_cloth"))


def test_shapes_and_types(contacts):
    k = len(contacts)
    assert k > 100
    shapes = {"kind": (k,), "elements": (k, 2), "vertices": (k, 4), "toi": (k,), "toi_upper": (k,)}
    shapes |= {"weights": (k, 4), "normal": (k, 3), "gap": (k,), "status": (k,), "cells": (k, 2), "inversion": (k,)}
    assert {name: column.shape for name, column in columns_of(contacts)} == shapes
    types = [column.dtype for _, column in columns_of(contacts)]
    assert types == [np.int8, np.int32, np.int32, *[np.float64] * 5, np.int8, np.int32, np.bool_]


def test_sorted_by_kind_then_elements(contacts):
    keys = np.column_stack((contacts.kind, contacts.elements)).tolist()
    assert keys == sorted(keys)
    assert set(contacts.kind.tolist()) == {0, 1}


def test_vertex_face_and_edge_edge(contacts):
    assert len(contacts.vf) + len(contacts.ee) == len(contacts)
    assert (contacts.vf.kind == 0).all()
    assert (contacts.ee.kind == 1).all()
    assert_identical(contacts[: len(contacts.vf)], contacts.vf)
    assert_identical(contacts[len(contacts.vf) :], contacts.ee)


def test_rows(contacts):
    early = contacts.toi < np.median(contacts.toi)
    assert 0 < len(contacts[early]) < len(contacts)
    np.testing.assert_array_equal(contacts[early].weights, contacts.weights[early])
    assert_identical(contacts[np.flatnonzero(early)], contacts[early])
    assert_identical(contacts[3], contacts[3:4])
    assert_identical(contacts[np.int64(-1)], contacts[-1:])
    assert contacts[early].stages == contacts.stages
    with pytest.raises(IndexError):
        contacts[len(contacts)]


def test_one_line_says_what_it_is(contacts):
    first = f"{contacts.toi.min():.6g}"
    text = f"Contacts({len(contacts.vf)} vertex-face, {len(contacts.ee)} edge-edge, first at t = {first})"
    assert repr(contacts) == text
    assert repr(contacts[:0]) == "Contacts(none)"
    assert len(contacts[:0]) == 0


def test_frozen(contacts):
    with pytest.raises(FrozenInstanceError):
        contacts.toi = None
    step = pliant.safe_step([(0, 1, 2)], np.zeros((3, 3)), np.zeros((3, 3)))
    with pytest.raises(FrozenInstanceError):
        step.t = 0.5
    answer = pliant.vertex_face(np.zeros((1, 4, 3)), np.zeros((1, 4, 3)))
    with pytest.raises(FrozenInstanceError):
        answer.hit = None


def test_stages(contacts):
    stages = {stage.name: stage for stage in contacts.stages}
    assert len(stages) == len(contacts.stages)
    assert stages["exact"].pairs_out == len(contacts)
    for name, pairs_in, pairs_out, seconds in contacts.stages:
        assert isinstance(name, str)
        assert seconds >= 0
        assert pairs_in >= 0
        assert pairs_out >= 0
    # What the last filter passes on is what the exact test sees.
    first, *_, last = DEFAULT_FILTERS
    assert stages[last].pairs_out == stages["exact"].pairs_in
    assert stages[first].pairs_in > stages[first].pairs_out


def test_stages_do_not_depend_on_threads():
    motion = scene("ball_heap")
    counts = [[stage[:3] for stage in pliant.ccd(*motion, threads=threads).stages] for threads in (1, 3)]
    assert sorted(counts[0]) == sorted(counts[1])


def test_to_pandas(contacts):
    pytest.importorskip("pandas")
    table = contacts.to_pandas()
    assert len(table) == len(contacts)
    assert table["kind"].value_counts().to_dict() == {"edge-edge": len(contacts.ee), "vertex-face": len(contacts.vf)}
    np.testing.assert_array_equal(table[[f"vertex_{i}" for i in range(4)]], contacts.vertices)
    np.testing.assert_array_equal(table[[f"weight_{i}" for i in range(4)]], contacts.weights)
    np.testing.assert_array_equal(table[["normal_x", "normal_y", "normal_z"]], contacts.normal)
    np.testing.assert_array_equal(table["toi"], contacts.toi)
    assert len(contacts[:0].to_pandas()) == 0
    answer = pliant.vertex_face(np.zeros((2, 4, 3)), np.zeros((2, 4, 3)))
    assert answer.to_pandas()["hit"].tolist() == [True, True]


def test_without_pandas(contacts, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        contacts.to_pandas()


def test_no_result_can_be_written_to(contacts):
    x0, x1 = np.random.default_rng(2).random((2, 9, 4, 3))
    faces, x = [[0, 1, 2], [3, 4, 5]], np.random.default_rng(3).random((6, 3))
    cells, points = {"tetra": [[0, 1, 2, 3]]}, np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]])
    results = [
        contacts, contacts.vf, contacts[:1], pliant.vertex_face(x0, x1), pliant.dcd(faces, x),
        pliant.proximity(faces, x, within=9.0),
        pliant.safe_step(faces, x, x + 1.0), pliant.inside(cells, points), pliant.vertex_face_distance(x0),
        pliant.inside([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], points[:4], points=points[4:], depth=True),
    ]  # fmt: skip
    for result in results:
        arrays = [value for value in vars(result).values() if isinstance(value, np.ndarray)]
        assert arrays
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


@pytest.fixture
def packed():
    """A table of a small mesh: its columns are made when they are asked for."""
    faces, x0 = [(0, 1, 2), (3, 4, 5)], np.eye(6, 3)
    return pliant.ccd(faces, x0, np.flip(x0, axis=0)[:, ::-1])


@pytest.mark.unit
def test_columns_when_they_are_asked_for(packed):
    made = dict(columns_of(packed))
    assert len(packed) > 0
    for name, column in made.items():
        assert getattr(packed, name) is column
        assert not column.flags.writeable
        assert column.flags.c_contiguous
    whole = pliant.Contacts(**made, stages=packed.stages)
    assert_identical(packed, whole)
    assert_identical(packed[:1], whole[:1])
    with pytest.raises(FrozenInstanceError):
        packed.toi = packed.gap
    with pytest.raises(AttributeError, match="'Contacts' object has no attribute 'distance'"):
        packed.distance  # noqa: B018
    assert not hasattr(whole, "distance")


@pytest.mark.parametrize("asked", [True, False])
def test_copies_of_tables_whose_columns_may_not_be_made(packed, asked):
    if asked:
        assert packed.toi.shape == packed.gap.shape
    for other in (pickle.loads(pickle.dumps(packed)), copy.copy(packed), copy.deepcopy(packed), replace(packed)):
        assert_identical(other, packed)
        assert other.stages == packed.stages
