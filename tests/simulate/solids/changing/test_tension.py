"""What pulls vertices apart: against a slow reference, and where it is known."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.runtime.threads import SERIAL
from pliant.simulate.solids.changing.cauchy import cell_stresses, point_stresses
from pliant.simulate.solids.changing.tension import area_vectors, tension_at
from pliant.simulate.solids.laws import COROTATIONAL, HENCKY, NEO_HOOKEAN
from pliant.simulate.solids.quadrature import points_of
from pliant.simulate.solids.stresses import SolidStep, solids_of
from tests.reference.tension import separation, tetrahedron_areas
from tests.shapes.bodies_that_break import mixed
from tests.shapes.solids import grid


def test_as_the_reference_says():
    cells, x = grid((2, 2, 2), (0, 0, 0), (1, 1, 1), split=True)
    rng = np.random.default_rng(1)
    x = x + rng.uniform(-0.05, 0.05, x.shape)
    mesh = pliant.VolumeMesh(cells)
    stress = rng.normal(size=(len(mesh.types), 3, 3))
    stress = stress + stress.transpose(0, 2, 1)
    found = tension_at(mesh, x, np.arange(len(x)), stress)
    for v in range(len(x)):
        tensor, largest, normal = separation(x, mesh.cells["tetra"], stress, v)
        assert np.allclose(found.tensor[v], tensor, atol=1e-12)
        assert found.stress[v] == pytest.approx(largest, rel=1e-9)
        assert abs(normal @ found.normal[v]) == pytest.approx(1.0, abs=1e-6)
    assert (found.stress > 0.0).mean() > 0.3


@pytest.mark.parametrize("split", [False, True], ids=["hexahedron", "tetra"])
def test_uniform_tension_is_that_stress(split):
    """In a bar, at every vertex but at its ends, where nothing pulls."""
    cells, x = grid((3, 2, 2), (0, 0, 0), (3, 1, 1), split)
    mesh = pliant.VolumeMesh(cells)
    stress = np.zeros((len(mesh.types), 3, 3))
    stress[:, 0, 0] = 5.0
    stress[:, 1, 1] = -7.0  # what presses across makes no difference
    found = tension_at(mesh, x, np.arange(len(x)), stress)
    ends = (x[:, 0] == 0.0) | (x[:, 0] == 3.0)
    assert np.allclose(found.stress[~ends], 5.0)
    assert np.abs(found.stress[ends]).max() < 1e-12
    assert np.allclose(np.abs(found.normal[~ends]), (1.0, 0.0, 0.0))


def test_a_sheet_of_shells():
    x = np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0), [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    ids = np.arange(12).reshape(4, 3)
    quads = np.array([[ids[i, j], ids[i + 1, j], ids[i + 1, j + 1], ids[i, j + 1]] for i in range(3) for j in range(2)])
    triangles = quads[:3, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    mesh = pliant.VolumeMesh({"triangle": triangles, "quad": quads[3:]})
    stress = np.zeros((len(mesh.types), 3, 3))
    stress[:, 0, 0] = 5.0
    found = tension_at(mesh, x, np.arange(12), stress, np.full(len(mesh.types), 0.01))
    inner = (x[:, 0] > 0.0) & (x[:, 0] < 3.0)
    assert np.allclose(found.stress[inner], 5.0)
    assert np.abs(found.stress[~inner]).max() < 1e-12


def test_areas_of_all_types():
    """They add up to nothing in a cell, and inside of a mesh at a vertex."""
    cells, x = mixed(bend=0.02)
    mesh = pliant.VolumeMesh(cells)
    areas = area_vectors(mesh, x, np.arange(len(mesh.types)))
    assert np.abs(areas.sum(axis=1)).max() < 1e-15
    assert np.allclose(areas[0, :4], tetrahedron_areas(x[mesh.cells["tetra"][0]]))
    volumes = np.einsum("cix,cix->c", areas, x[mesh.corners]) / 3.0
    solids = pliant.VolumeMesh({name: some for name, some in mesh.cells.items() if name not in ("triangle", "quad")})
    points = points_of(solids, x)
    assert np.allclose(volumes[: mesh.solid_count], np.bincount(points.cell, points.volume))
    total = np.zeros_like(x)
    np.add.at(total, mesh.corners[: mesh.solid_count], areas[: mesh.solid_count])
    inner = np.setdiff1d(mesh.vertices, mesh.surface().faces)
    assert len(inner) > 5
    # Hexahedra and their like see curved sides alike from both.
    assert np.abs(total[inner]).max() < 1e-15


@pytest.mark.parametrize("law", [NEO_HOOKEAN, COROTATIONAL, HENCKY])
def test_cauchy_stress_is_what_makes_the_forces(law):
    """The virial: the stress times the volume now is minus the sum of forces and places, whatever the law."""
    cells, x = grid((2, 1, 1), (0, 0, 0), (2, 1, 1))
    mesh = pliant.VolumeMesh(cells)
    points = points_of(mesh, x)
    constants = np.tile([1.7, 1.1, 0.05 if law == HENCKY else np.inf, 0.3], (2, 1))
    corners = mesh.corners.astype(np.int32).copy()
    step = SolidStep(solids_of(corners, points, np.full(2, law, np.int32), constants, len(x)), SERIAL)
    rng = np.random.default_rng(0)
    y = x @ (np.eye(3) + 0.2 * rng.normal(size=(3, 3))) + 0.05 * rng.normal(size=x.shape)
    for _ in range(2):  # the second time with a plastic past
        gradient = np.zeros_like(x)
        step.energies(y, 1.0)
        step.add(gradient, np.empty((0, 12)))
        stress = point_stresses(step.solids, step.plastic, y, SERIAL)
        assert np.allclose(stress, stress.transpose(0, 2, 1), atol=1e-12)
        shape = np.einsum("pik,pil->pkl", y[corners[points.cell]], points.gradient)
        now = points.volume * np.linalg.det(shape)
        assert np.allclose(np.einsum("p,pij->ij", now, stress), np.einsum("vi,vj->ij", gradient, y), atol=1e-12)
        mean = cell_stresses(step.solids, step.plastic, y, SERIAL)
        assert np.allclose(mean[1], np.average(stress[8:], axis=0, weights=points.volume[8:]))
        step.accept(y)
    assert (step.plastic.strain.max() > 0.01) == (law == HENCKY)
