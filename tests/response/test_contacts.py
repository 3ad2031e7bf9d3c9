"""What a proposal runs into, as a resolver lists it."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.scenes.shapes import icosphere


def test_what_a_proposal_runs_into_is_what_ccd_finds():
    faces, x0 = icosphere(3)
    mesh = np.concatenate((faces, faces + len(x0)))
    x0 = np.concatenate((x0, x0 + (2.5, 0.1, 0.2)))
    x1 = x0 + np.where(np.arange(len(x0)) < len(x0) // 2, 1.0, 0.0)[:, None] * (0.9, 0.0, 0.0)
    found = pliant.Resolver(mesh, thickness=0.01).contacts(x0, x1)
    wanted = pliant.ccd(mesh, x0, x1)
    assert len(wanted) > 10
    for column in ("vertices", "toi", "weights", "normal"):
        np.testing.assert_array_equal(getattr(found, column), getattr(wanted, column))


def test_driven_pairs_are_left_out():
    faces, x0 = icosphere(2)
    mesh = np.concatenate((faces, faces + len(x0)))
    x0 = np.concatenate((x0, x0 + (2.5, 0.1, 0.2)))
    x1 = x0 * (1.0, 1.0, 0.0) + (0.0, 0.0, 1e-3) * x0
    mass = np.where(np.arange(len(x0)) < len(x0) // 2, 0.0, 1.0)
    found = pliant.Resolver(mesh, inverse_mass=mass).contacts(x0, x1)
    assert (mass[found.vertices] > 0.0).any(axis=1).all()


def test_a_collapse_has_too_many():
    faces, x0 = icosphere(6)
    assert pliant.Resolver(faces).contacts(x0, np.zeros_like(x0)) is None
