"""What it means that two results agree: in every column that they have, to the bit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

import pliant
from bench.fingerprints import columns_of

CULLINGS = ("boxes", "front", "cones", "cones+front")


def assert_identical(a: Any, b: Any, without: Collection[str] = ()) -> None:
    """Two results of one kind: the same rows in the same order, all columns with the same types and the same bits.

    without : columns that are others on purpose; the caller says why
    """
    assert type(a) is type(b)
    left, right = dict(columns_of(a)), dict(columns_of(b))
    assert left.keys() == right.keys()
    assert set(without) <= left.keys()
    for name in left.keys() - set(without):
        assert (left[name] is None) == (right[name] is None), name
        if left[name] is None:
            continue
        one, other = np.asarray(left[name]), np.asarray(right[name])
        np.testing.assert_array_equal(one, other, err_msg=name, strict=True)
        assert one.tobytes() == other.tobytes(), f"{name}: zeros of another sign, or other NaN"


def assert_same_everywhere(mesh, x0, x1, threads=2) -> tuple[pliant.Contacts, pliant.Intersections]:
    """Every culling gives what brute force does, in every query."""
    contacts, step = (
        pliant.ccd(mesh, x0, x1, tuning=pliant.Tuning(culling="brute")),
        pliant.safe_step(mesh, x0, x1, tuning=pliant.Tuning(culling="brute")),
    )
    assert step.t == contacts.toi.min(initial=1.0)
    for culling in CULLINGS:
        assert_identical(pliant.ccd(mesh, x0, x1, tuning=pliant.Tuning(culling=culling), threads=threads), contacts)
        assert_identical(pliant.safe_step(mesh, x0, x1, tuning=pliant.Tuning(culling=culling), threads=threads), step)
    for x in (x0, x1):
        crossing = pliant.dcd(mesh, x, tuning=pliant.Tuning(culling="brute"))
        for culling in CULLINGS:
            assert_identical(pliant.dcd(mesh, x, tuning=pliant.Tuning(culling=culling), threads=threads), crossing)
    return contacts, crossing
