"""What an engine keeps from query to query, and when it does not: costs alone decide, counted and not timed."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.engine import memory
from pliant.engine.memory import BUILDING, FEWEST_FOR_CONES, PATCHES, Query, _Excess, _Jumps, _Trial

# Queries of the two tests that are not marked would take minutes interpreted.
unit = pytest.mark.unit


@unit
def test_cones_are_tried_when_they_are_paid_for():
    trial, size = _Trial(), FEWEST_FOR_CONES
    for _ in range(PATCHES // BUILDING):
        trial.saved += BUILDING * size
        trial.learn(Query.CONTACTS, 60 * size, size)
        assert not trial.is_on
    trial.saved += BUILDING * size
    trial.learn(Query.CONTACTS, 60 * size, size)
    assert trial.is_on


@unit
def test_cones_that_do_not_pay_are_given_up_for_longer_each_time():
    trial, size, waits = _Trial(), FEWEST_FOR_CONES, []
    for _ in range(3):
        while not trial.is_on:
            trial.saved += BUILDING * size
            trial.learn(Query.CONTACTS, 60 * size, size)
            waits.append(trial._failures)
        trial.learn(Query.CONTACTS, 60 * size, size)  # as much work, and cones beside it
        assert not trial.is_on
    counts = [waits.count(k) for k in range(3)]
    assert counts[0] < counts[1] < counts[2]


@unit
def test_cones_that_pay_stay():
    trial, size = _Trial(), FEWEST_FOR_CONES
    trial.saved = PATCHES * size + 1.0
    trial.learn(Query.CONTACTS, 60 * size, size)
    trial.learn(Query.CONTACTS, 20 * size, size)
    assert trial.is_on
    trial.learn(Query.CONTACTS, 90 * size, size)  # more to look at than before, for another reason
    assert trial.is_on


@unit
def test_little_work_is_not_worth_cones():
    trial, size = _Trial(), FEWEST_FOR_CONES
    trial.saved = 10.0 * PATCHES * size
    trial.learn(Query.CONTACTS, 20 * size, size)
    assert not trial.is_on


@unit
def test_cones_are_never_tried_where_they_can_save_little():
    trial, size = _Trial(), FEWEST_FOR_CONES - 1
    trial.saved = 1000.0 * PATCHES * size
    trial.learn(Query.CONTACTS, 60 * size, size)
    assert not trial.is_on


@unit
def test_jumps_in_a_row_are_expected():
    jumps, refits = _Jumps(), 0
    for _ in range(64):
        if not jumps.expected():
            refits += 1
            jumps.note()
    assert refits < 16
    jumps.forget()
    while jumps.expected():
        pass
    jumps.note()
    assert not jumps.expected()


def test_a_detector_changes_to_cones_where_they_pay(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "FEWEST_FOR_CONES", 0)
    made = pliant.scenes.load("hanging_cloth", triangles=300, frames=16)
    detector = pliant.Detector(made.faces)
    names = [{stage.name for stage in detector.advance(x).stages} for x in made.frames]
    assert "hierarchy" in names[1]
    assert "hierarchy" not in names[2]
    assert "contours" in names[-1]


def test_elements_that_change_places_are_built_anew():
    made, rng = pliant.scenes.load("ball_heap", triangles=1600), np.random.default_rng(0)
    middle = np.array([made.x0[made.objects == k].mean(axis=0) for k in range(made.objects.max() + 1)])
    detector, built = pliant.Detector(made.faces), 0
    for _ in range(8):
        x = made.x0 + (middle[rng.permutation(len(middle))] - middle)[made.objects]
        detector.place(made.x0)
        built += any(stage.name == "hierarchy" for stage in detector.advance(x).stages)
    assert built >= 2


@unit
def test_a_rebuild_that_saves_nothing_makes_the_next_one_wait():
    excess = _Excess()
    for compared in (100, 150, 90, 200):
        excess.note(Query.CONTACTS, compared)
    assert excess.count == 50 + 100
    same = excess.after_rebuild()
    same.note(Query.NEAR, 10)  # another query says nothing about it
    assert (same.count, same.patience) == (0, 1)
    same.note(Query.CONTACTS, 195)
    assert (same.count, same.patience) == (0, 4)
    better = same.after_rebuild()
    better.note(Query.CONTACTS, 120)
    better.note(Query.CONTACTS, 130)
    assert (better.count, better.patience) == (10, 1)
