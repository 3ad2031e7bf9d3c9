"""What it means that two results agree: in every column, bit for bit."""

from __future__ import annotations

import numpy as np

import pliant
from tests.shapes.meshes import assert_identical

CULLINGS = ("boxes", "front", "cones", "cones+front")


def assert_same_everywhere(mesh, x0, x1, threads=2) -> tuple[pliant.Contacts, pliant.Intersections]:
    """Every culling gives what brute force does, in every query, bit for bit."""
    contacts = pliant.ccd(mesh, x0, x1, culling="brute")
    for culling in CULLINGS:
        assert_identical(pliant.ccd(mesh, x0, x1, culling=culling, threads=threads), contacts)
        assert pliant.safe_step(mesh, x0, x1, culling=culling, threads=threads).t == contacts.toi.min(initial=1.0)
    for x in (x0, x1):
        crossing = pliant.dcd(mesh, x, culling="brute")
        for culling in CULLINGS:
            found = pliant.dcd(mesh, x, culling=culling, threads=threads)
            for column in ("faces", "segments", "coplanar"):
                np.testing.assert_array_equal(getattr(found, column), getattr(crossing, column), strict=True)
    return contacts, crossing
