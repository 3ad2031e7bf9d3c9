"""Names before 1.0: the same results, with one warning that says what to write, about the line of the caller."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant
from tests.shapes.tables import assert_identical

MADE = pliant.scenes.load("twisted_cloth", triangles=200)
MOTION = MADE.faces, MADE.x0, MADE.x1
FOUR = np.random.default_rng(2).random((2, 20, 4, 3))

OLD = {
    "ccd, culling": (pliant.ccd, MOTION, {"culling": "cones"}, {"tuning": pliant.Tuning(culling="cones")}),
    "ccd, solver": (pliant.ccd, MOTION, {"solver": "advance"}, {"accuracy": pliant.Accuracy(solver="advance")}),
    "step, keep": (
        pliant.step, MOTION, {"min_distance": 0.01, "initial": "relative", "keep": 0.9},
        {"min_distance": 0.01, "initial": 0.9},
    ),
    "check, bounds": (pliant.check, MOTION[:2], {"bounds": "16-dop"}, {"tuning": pliant.Tuning(bounds="16-dop")}),
    "near": (
        pliant.near, MOTION[:2], {"within": 0.02, "assignment": "static"},
        {"within": 0.02, "tuning": pliant.Tuning(assignment="static")},
    ),
    "vertex_face": (
        pliant.vertex_face, FOUR, {"solver": "advance"}, {"accuracy": pliant.Accuracy(solver="advance")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_old_names_of_options(name):
    query, given, old, new = OLD[name]
    with pytest.warns(DeprecationWarning, match="is deprecated") as caught:
        found = query(*given, **old)
    assert [one.filename for one in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_identical(found, query(*given, **new))


@pytest.mark.parametrize("query", [pliant.ccd, pliant.step, pliant.check, pliant.vertex_face, pliant.edge_edge])
def test_names_that_never_were_are_refused_by_name(query):
    given = FOUR if query in (pliant.vertex_face, pliant.edge_edge) else MOTION[: 2 if query is pliant.check else 3]
    with pytest.raises(TypeError, match=rf"{query.__name__}\(\) got an unexpected keyword argument 'treads'"):
        query(*given, treads=2)


def test_other_names_of_functions_stay():
    assert pliant.dcd is pliant.check
    assert pliant.safe_step is pliant.step
    assert pliant.proximity is pliant.near


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Queries", "PairContacts"),
        ("Distances", "PairDistances"),
        ("Insides", "InsideCells"),
        ("Enclosed", "InsideSurface"),
        ("Distance", "MeshDistance"),
    ],
)
def test_old_names_of_tables(old, new):
    with pytest.warns(DeprecationWarning, match=f"use pliant.{new}"):
        assert getattr(pliant, old) is getattr(pliant, new)


@pytest.mark.parametrize("options", [{"tuning": "cones"}, {"accuracy": 1e-6}])
def test_what_is_no_object_of_options(options):
    with pytest.raises(TypeError, match=r"must be a pliant\."):
        pliant.ccd(*MOTION, **options)


def test_an_array_is_no_distance():
    with pytest.raises(pliant.MeshError, match="use radii="):
        pliant.ccd(*MOTION, min_distance=np.full(len(MADE.x0), 0.1))
    with pytest.raises(pliant.MeshError, match="give one of them"):
        pliant.ccd(*MOTION, min_distance=0.1, radii=np.full(len(MADE.x0), 0.1))
    with pytest.raises(pliant.MeshError, match="use min_distance="):
        pliant.ccd(*MOTION, radii=0.1)
