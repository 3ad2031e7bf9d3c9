"""A tree that is carried over to a mesh that has changed: a permutation of its elements, in the leaves they were in."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bounds.kdops import bound_union, bound_vertices
from pliant.hierarchy.build import LARGEST_LEAF, split_elements
from pliant.hierarchy.carrying import MOST_ADDED, carried
from pliant.runtime.threads import SERIAL
from pliant.scenes.shapes import grid

pytestmark = [pytest.mark.unit, pytest.mark.bounds]


def tree_of(faces, x):
    return split_elements(bound_union(bound_vertices(x, x), faces), SERIAL)


def leaves_of(tree):
    of = np.empty(len(tree.order), np.int64)
    of[tree.order] = np.repeat(np.arange(len(tree.begin) - 1), np.diff(tree.begin))
    return of


def setting():
    faces, plane = grid(12, 12)
    faces, x = np.ascontiguousarray(faces, np.int32), np.column_stack((plane, np.zeros(len(plane))))
    return faces, tree_of(faces, x), len(x)


def test_what_stays_keeps_its_leaf_and_what_is_new_joins_a_neighbour():
    faces, tree, count = setting()
    kept = np.delete(np.arange(len(faces), dtype=np.int32), [3, 50, 51])
    old_of_new = np.concatenate((kept, np.full(2, -1, np.int32)))
    corners = np.concatenate((faces[kept], [(*faces[50][:2], count), (count, count + 1, count)])).astype(np.int32)
    new = carried(tree, old_of_new, corners, count + 2, LARGEST_LEAF)
    assert new is not None
    assert sorted(new.order.tolist()) == list(range(len(corners)))
    assert (leaves_of(new)[: len(kept)] == leaves_of(tree)[kept]).all()
    neighbours = np.flatnonzero(np.isin(faces[kept], faces[50][:2]).any(axis=1))
    assert leaves_of(new)[-2] in leaves_of(new)[neighbours]
    assert leaves_of(new)[-1] == leaves_of(new)[-2]  # by way of the other one
    assert len(new.begin) == len(tree.begin)


def test_all_gone():
    _, tree, count = setting()
    new = carried(tree, np.empty(0, np.int32), np.empty((0, 3), np.int32), count, LARGEST_LEAF)
    assert new is None or len(new.order) == 0


def test_when_it_had_better_be_built_anew():
    faces, tree, count = setting()
    stay = np.arange(len(faces), dtype=np.int32)
    far = np.array([(count, count + 1, count + 2)], np.int32)
    assert carried(tree, np.append(stay, np.int32(-1)), np.concatenate((faces, far)), count + 3, LARGEST_LEAF) is None
    many = LARGEST_LEAF + 1
    fan = np.repeat(faces[:1], many, axis=0)
    assert many < MOST_ADDED * (len(faces) + many)
    new = np.append(stay, np.full(many, -1, np.int32))
    assert carried(tree, new, np.concatenate((faces, fan)), count, LARGEST_LEAF) is None
    half = np.where(stay % 2, stay, -1)
    assert carried(tree, half, faces, count, LARGEST_LEAF) is None
