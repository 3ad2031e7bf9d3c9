"""A changed mesh beside one that is built from the same cells: all that is derived has to be equal, ids included."""

from __future__ import annotations

import numpy as np

import pliant

FIELDS = ("vertex_cells", "vertices", "faces", "cell_faces", "face_cells", "boundary", "edges", "face_edges")
FIELDS += ("cell_edges", "edge_cells", "cell_table", "o_sets")
CHEAP = ("types", "corners", "vertex_limit", "vertices", "faces", "cell_faces", "boundary")


def computed(mesh, fields=FIELDS):
    for field in fields:
        getattr(mesh, field)
    return mesh


def assert_fresh(mesh, fields=("types", "corners", "vertex_limit", *FIELDS)):
    """Equal to a mesh that is built from the same cells."""
    fresh = pliant.VolumeMesh(mesh.cells, ranks=mesh.ranks)
    for field in fields:
        assert_equal(getattr(mesh, field), getattr(fresh, field), field)


def assert_equal(one, other, field):
    """Arrays, or tuples of them, to any depth."""
    assert type(one) is type(other)
    if not isinstance(one, tuple):
        np.testing.assert_array_equal(one, other, err_msg=field, strict=True)
        return
    for a, b in zip(one, other, strict=True):
        assert_equal(a, b, field)
