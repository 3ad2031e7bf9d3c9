"""Driven vertices in the proof: a pair is left out only where all elements of both of its features are driven.

A pin of a cloth was led through an obstacle: all four vertices of that pair are driven, so it was left out, nothing
waited, the cloth around the pin pierced the obstacle, and the next step was refused since its start was tangled.
"""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import volumes
from tests.shapes.blocks import grid as blocks_of
from tests.shapes.blocks import tetrahedra

UP = np.array((0.0, 0.0, 1.0))


def sheet(n, size, z=0.0):
    """2 (n - 1)^2 triangles around the z axis, and their positions; slightly bent, so that nothing is parallel."""
    line = (np.arange(n) / (n - 1) - 0.5) * size
    x, y = np.meshgrid(line, line, indexing="ij")
    points = np.stack((x, y, z + 0.01 * np.sin(3.0 * x + 2.0 * y)), axis=-1).reshape(-1, 3)
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    squares = np.stack((corner, corner + n, corner + n + 1, corner + 1), axis=1)
    return np.concatenate((squares[:, [0, 1, 2]], squares[:, [0, 2, 3]])), points


def scene(*sheets):
    """One mesh of several, its positions, and the first vertex of each."""
    begin = np.cumsum([0] + [len(x) for _, x in sheets])
    return (
        np.concatenate([faces + first for (faces, _), first in zip(sheets, begin)]),
        np.concatenate([x for _, x in sheets]),
        begin,
    )


def elements(mesh):
    """Vertices of every element: faces, loose edges and points, or cells."""
    if isinstance(mesh, pliant.VolumeMesh):
        return [set(corners) for corners in mesh.corners.tolist()]
    return [set(row.tolist()) for rows in (mesh.faces, mesh.loose_edges) for row in rows] + [
        {point} for point in mesh.loose_points.tolist()
    ]


def contacts_of_proof(mesh, x0, x, is_driven):
    """The pairs of features in contact that belong to two elements which are not wholly driven, by definition."""
    known, count = elements(mesh), 0
    contacts = pliant.ccd(mesh, x0, x)
    for kind, vertices in zip(contacts.kind.tolist(), contacts.vertices.tolist()):
        cut = 2 if kind else 1
        a, b = set(vertices[:cut]), set(vertices[cut:])
        count += any(not is_driven[list(e | f)].all() for e in known if a <= e for f in known if b <= f)
    return count


def assert_free(mesh, x0, resolved, inverse_mass):
    mesh = mesh if isinstance(mesh, pliant.VolumeMesh | pliant.TriMesh) else pliant.TriMesh(mesh)
    x, is_driven = resolved.positions, inverse_mass == 0.0
    assert contacts_of_proof(mesh, x0, x, is_driven) == 0
    if isinstance(mesh, pliant.TriMesh):
        faces = pliant.check(mesh, x).faces
        assert is_driven[mesh.faces[faces]].all()
    pliant.resolve(mesh, x, x, inverse_mass=inverse_mass)  # the next start is not refused


def led(where):
    """A cloth above an obstacle, with the pins that are led down through it; their rows, and those of the obstacle."""
    faces, x0, begin = scene(sheet(6, 1.0, 0.2), sheet(3, 3.0))
    inverse_mass, x1 = np.where(np.arange(len(x0)) < begin[1], 1.0, 0.0), x0.copy()
    inverse_mass[where] = 0.0
    x1[where] -= 0.7 * UP
    return pliant.TriMesh(faces), x0, x1, inverse_mass, begin[1]


@pytest.mark.bounds
@pytest.mark.parametrize("where", [[14], [14, 15], [0, 5, 30, 35]], ids=["a vertex", "an edge", "corners"])
def test_a_pin_waits_before_an_obstacle(where):
    mesh, x0, x1, inverse_mass, _ = led(where)
    resolved = pliant.resolve(mesh, x0, x1, inverse_mass=inverse_mass)
    assert_free(mesh, x0, resolved, inverse_mass)
    label = int(mesh.components[0])
    assert resolved.driven_objects.tolist() == [label, label + 1]
    assert 0.1 < resolved.shares[0] < 0.3
    assert resolved.shares[1] == 1.0
    assert resolved.driven_pairs == 0


def test_edges_between_pins_over_an_edge():
    """Two edges cross, and no vertex comes near a face."""
    x0 = np.array(
        [(-1.0, 0.0, 0.5), (1.0, 0.01, 0.5), (0.0, 0.02, 2.0), (0.0, -1.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)]
    )
    mesh, inverse_mass = pliant.TriMesh([(0, 1, 2), (3, 4, 5)]), np.array((0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    x1 = x0 - (inverse_mass == 0)[:, None] * (x0[:, 2:] > 0.2) * UP
    resolved = pliant.resolve(mesh, x0, x1, inverse_mass=inverse_mass)
    assert_free(mesh, x0, resolved, inverse_mass)
    assert 0.3 < resolved.shares[0] < 0.5
    assert resolved.driven_pairs == 0


def test_strips_that_are_wholly_pinned_pass():
    """Faces whose neighbours are driven, too: what belongs to nothing else is counted and left alone."""
    faces, x0, begin = scene(sheet(7, 1.0, 0.2), sheet(7, 1.1))
    inverse_mass = np.ones(len(x0))
    lowered = np.zeros(len(x0), bool)
    for first in begin[:2]:
        inverse_mass[first : first + 28] = 0.0  # four of seven lines
    lowered[: begin[1]] = True
    lowered[21 : begin[1]] = False  # of them the last stays, and with it what is not driven
    x1 = x0 - lowered[:, None] * 0.5 * UP
    crossed = pliant.ccd(faces, x0, x1)
    resolved = pliant.resolve(faces, x0, x1, inverse_mass=inverse_mass)
    assert_free(faces, x0, resolved, inverse_mass)
    inside = np.flatnonzero((crossed.vertices % begin[1] < 21).all(axis=1))
    assert resolved.driven_pairs > 0.3 * len(inside) > 10
    assert resolved.driven_pairs == len(pliant.ccd(faces, x0, resolved.positions))


def test_wholly_driven_objects_pass_however_often_they_meet():
    """The number of their contacts is no reason to halve a motion: a body may collapse while a cloth lies on it."""
    faces, x0, begin = scene(sheet(9, 1.0, 2.0), *(sheet(9, 1.0 + 0.01 * i, -0.01 * i) for i in range(8)))
    inverse_mass = np.where(np.arange(len(x0)) < begin[1], 1.0, 0.0)
    rng = np.random.default_rng(0)
    x1 = np.where(inverse_mass[:, None] > 0.0, x0 - 0.1 * UP, 0.3 * x0 + rng.uniform(-0.5, 0.5, x0.shape))
    resolved = pliant.resolve(faces, x0, x1, inverse_mass=inverse_mass)
    assert np.array_equal(resolved.positions, x1)
    assert resolved.driven_pairs == len(pliant.ccd(faces, x0, x1)) > 60_000
    assert (resolved.shares == 1.0).all()


@pytest.mark.parametrize("rope", [False, True], ids=["points", "ropes"])
def test_loose_points_and_edges(rope):
    """A driven point is an element of its own and passes; the end of a rope that is not driven does not."""
    faces, x0, _ = scene(sheet(4, 1.0))
    x0 = np.concatenate((x0, [(0.05, 0.1, 0.3), (0.1, 0.1, 0.6)]))
    mesh = pliant.TriMesh(faces, [(16, 17)] if rope else None, None if rope else [16, 17])
    inverse_mass = np.append(np.zeros(17), 1.0)
    x1 = x0 - (np.arange(18) == 16)[:, None] * UP
    resolved = pliant.resolve(mesh, x0, x1, inverse_mass=inverse_mass)
    assert_free(mesh, x0, resolved, inverse_mass)
    assert resolved.shares.tolist() == ([1.0, pytest.approx(0.3, abs=0.05)] if rope else [1.0, 1.0])
    assert resolved.driven_pairs == (0 if rope else 1)


@pytest.mark.parametrize("kind", ["tetrahedra", "hexahedra"])
def test_volumes(kind):
    """The lower layer of one block is driven into another one that is driven as a whole."""
    blocks, x = (tetrahedra(2) if kind == "tetrahedra" else blocks_of(2)[0]), blocks_of(2)[1]
    name = next(iter(blocks))
    mesh = pliant.VolumeMesh({name: np.concatenate((blocks[name], blocks[name] + len(x)))})
    x0 = np.concatenate((x * (0.9, 0.93, 1.0) + (0.1, 0.13, 2.5), x))
    for layers, waits in ((1, True), (3, False)):
        inverse_mass = np.append(np.where(x[:, 2] < layers, 0.0, 1.0), np.zeros(len(x)))
        x1 = x0 - (np.arange(len(x0)) < len(x))[:, None] * UP
        resolved = pliant.resolve(mesh, x0, x1, inverse_mass=inverse_mass)
        assert_free(mesh, x0, resolved, inverse_mass)
        assert volumes.inverted(mesh.cells, resolved.positions) == []
        assert resolved.shares[0] == (pytest.approx(0.5, abs=0.06) if waits else 1.0)
        assert (resolved.driven_pairs == 0) == waits


def test_the_error_names_the_object():
    mesh, x0, x1, inverse_mass, cloth = led([14])
    labels = np.where(np.arange(len(x0)) < cloth, 5, 9)
    with pytest.raises(pliant.PinchedError, match="driven object 5 cannot go on") as raised:
        pliant.resolve(mesh, x0, x1, inverse_mass=inverse_mass, objects=labels, pinched="raise")
    assert raised.value.objects.tolist() == [5]


def test_a_hand_that_is_stuck_does_not_stop_the_other():
    """Labels may differ within a cloth: pins are objects of their own then."""
    mesh, x0, x1, inverse_mass, cloth = led([0, 35])
    x1[35] = x0[35] + 0.1 * UP
    labels = np.where(np.arange(len(x0)) < cloth, 0, 1)
    labels[[0, 35]] = 7, 8
    resolved = pliant.resolve(mesh, x0, x1, inverse_mass=inverse_mass, objects=labels)
    assert_free(mesh, x0, resolved, inverse_mass)
    assert resolved.driven_objects.tolist() == [1, 7, 8]
    assert resolved.shares[[0, 2]].tolist() == [1.0, 1.0]
    assert 0.1 < resolved.shares[1] < 0.3
