"""Hashes of results cover every column, and tables that are compared are compared in every column."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import pliant
from bench.fingerprints import Hashes, columns_of, fingerprint
from bench.hashes import lines
from pliant.runtime.tally import Stage
from tests.shapes.falling import END, FACES, START
from tests.shapes.tables import assert_identical

CONTACTS = {"kind", "elements", "vertices", "toi", "toi_upper", "weights", "normal"}
CONTACTS |= {"gap", "status", "cells", "inversion"}
ANSWERS = {
    "ccd": (lambda: pliant.ccd(FACES, START, END), CONTACTS),
    "safe_step": (
        lambda: pliant.safe_step(FACES, START, END),
        {"t", "positions"} | {f"contact.{name}" for name in CONTACTS},
    ),
    "dcd": (lambda: pliant.dcd([(0, 1, 2), (3, 4, 5)], END[:6] + 0.0), {"faces", "segments", "coplanar"}),
    "proximity": (
        lambda: pliant.proximity(FACES, START, within=2.0),
        {"kind", "elements", "vertices", "distance", "points", "weights", "normal"},
    ),
    "distance": (lambda: pliant.distance(FACES, START, FACES, START + 50), {"distance", "points", "faces"}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_column_counts(name):
    query, names = ANSWERS[name]
    answer = query()
    assert dict(columns_of(answer)).keys() == names
    assert fingerprint(answer) == fingerprint(query())
    assert_identical(answer, query())
    for column in names:
        whole, _, part = column.rpartition(".")
        table = getattr(answer, whole) if whole else answer
        value = np.array(getattr(table, part))
        assert value.size
        flat = value.reshape(-1)
        flat[0] = (
            not flat[0] if value.dtype == bool else np.nextafter(flat[0], 9) if value.dtype == float else flat[0] + 1
        )
        changed = replace(table, **{part: value if value.ndim else flat[0]})
        changed = replace(answer, **{whole: changed}) if whole else changed
        assert fingerprint(changed) != fingerprint(answer), column
        with pytest.raises(AssertionError, match=part):
            assert_identical(changed, answer)


def test_stages_do_not_count():
    answer = pliant.ccd(FACES, START, END)
    other = replace(answer, stages=(Stage("exact", 1, 2, 3.0),))
    assert fingerprint(other) == fingerprint(answer)
    assert_identical(other, answer)


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="no result with columns"):
        fingerprint(SimpleNamespace(toi=1))


class Pair(NamedTuple):
    a: np.ndarray
    b: float | None


def test_signs_of_zero_types_shapes_and_nothing_count():
    def of(*parts):
        hashes = Hashes()
        for part in parts:
            hashes.add(part)
        return hashes.columns()

    plain = Pair(np.zeros(4), 1.0)
    columns = -np.zeros(4), np.zeros(4, np.float32), np.zeros((2, 2))
    others = [*(Pair(column, 1.0) for column in columns), Pair(np.zeros(4), None)]
    assert all(of(plain) != of(other) for other in others)
    assert of(Pair(np.zeros(4), None)) != of(Pair(np.zeros(4), np.nan))
    assert of(plain, others[0]) != of(others[0], plain)
    for other in others:
        with pytest.raises(AssertionError):
            assert_identical(plain, other)


def test_hashes_of_a_small_scene():
    """Static and dynamic assignment, and every culling of the detector, have the same hashes."""
    chosen = {line.query: line for line in lines(2, 100) if line.scene == "twisted_cloth"}
    found = {}
    for query, line in chosen.items():
        hashes = Hashes()
        for answer in line.run():
            hashes.add(answer)
        found[query] = hashes.rows, hashes.columns()
    assert found["ccd static"][0] > 20
    for query in ("ccd static", "ccd static min_distance", "step static", "near static"):
        assert found[query] == found[query.replace("static", "dynamic")]
    assert found["dcd boxes"] == found["dcd cones"]
    advances = [found[f"advance {culling}"] for culling in ("boxes", "front", "cones", "cones+front")]
    assert advances.count(advances[0]) == 4
    for query in ("ccd unfiltered", "ccd csat", "ccd ncf", "ccd plane+circle+triangle"):
        assert found[query] == found["ccd static"]
    assert found["ccd static min_distance"] != found["ccd static"]
