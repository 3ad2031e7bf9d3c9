"""Membrane and bending: energies against slow formulas, forces and Hessians against differences of the energy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant.runtime.simd import BLOCK
from pliant.runtime.threads import ThreadPool
from pliant.simulate import MATERIALS
from pliant.simulate.bending import bending_of
from pliant.simulate.bending_step import BendingStep
from pliant.simulate.membrane import MembraneStep, membrane_of
from tests.reference.cloth import bending_energy, membrane_energy
from tests.simulate.sheets import ball, sheet

COTTON = MATERIALS["cotton"]
SECONDS = 0.01


def membrane(faces: np.ndarray, rest: np.ndarray, material=COTTON, threads: int = 1) -> MembraneStep:
    mesh = pliant.TriMesh(faces)
    return MembraneStep(membrane_of(mesh._faces, rest, [material], np.zeros(len(faces), int)), ThreadPool(threads))


def bending(faces: np.ndarray, rest: np.ndarray, shape: np.ndarray | None, material=COTTON) -> BendingStep:
    mesh = pliant.TriMesh(faces)
    kind = np.zeros(len(faces), int)
    made = bending_of(mesh._faces, mesh._face_edges, rest, shape, [material], kind)
    return BendingStep(made, len(rest), ThreadPool(1))


def forces(model: MembraneStep, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient (n, 3) and Hessian (3n, 3n) at x."""
    rows, n = model.membrane.rows, len(x)
    model.energies(x, SECONDS)
    gradient, blocks = np.zeros((n, 3)), np.full((len(rows.columns), BLOCK), np.nan)
    model.add(gradient, blocks)
    dense = np.zeros((n, 3, n, 3))
    dense[np.repeat(np.arange(n), np.diff(rows.start)), :, rows.columns] = blocks.reshape(-1, 3, 4)[:, :, :3].transpose(
        0, 2, 1
    )
    assert not blocks[:, 3::4].any()
    return gradient, dense.reshape(3 * n, 3 * n)


def slope(energy, x: np.ndarray, way: np.ndarray, h: float = 1e-6) -> float:
    return (energy(x + h * way) - energy(x - h * way)) / (2 * h)


@pytest.mark.unit
@pytest.mark.bounds
def test_membrane_energy_is_that_of_the_formula():
    faces, x = sheet(3, 3, 0.3)
    model = membrane(faces, x)
    model.begin(x)
    y = x + 0.02 * np.random.default_rng(1).normal(size=x.shape)
    limited = dataclasses.replace(COTTON, most_strain=1e3)
    assert sum(membrane(faces, x, limited).energies(y, 1e9)) == pytest.approx(membrane_energy(faces, x, y, limited))
    assert model.energies(y, 1e9)[0] > membrane_energy(faces, x, y, limited)  # some threads are at their limit


@pytest.mark.bounds
def test_membrane_force_is_the_slope_of_the_energy():
    rng = np.random.default_rng(2)
    faces, x = sheet(4, 4, 0.4)
    model = membrane(faces, x)
    model.begin(x + 0.01 * rng.normal(size=x.shape))
    y = x + 0.02 * rng.normal(size=x.shape)
    gradient, _ = forces(model, y)
    for way in rng.normal(size=(5, *x.shape)):
        assert slope(lambda z: sum(model.energies(z, SECONDS)), y, way) == pytest.approx(
            np.vdot(gradient, way), rel=1e-5
        )


def test_membrane_hessian_is_exact_under_tension_and_never_negative():
    rng = np.random.default_rng(3)
    faces, x = sheet(3, 3, 0.3)
    model = membrane(faces, x)
    model.begin(x)
    pulled = 1.05 * x + 1e-4 * rng.normal(size=x.shape)
    _, hessian = forces(model, pulled)
    for way in rng.normal(size=(3, *x.shape)):
        numeric = (forces(model, pulled + 1e-6 * way)[0] - forces(model, pulled - 1e-6 * way)[0]) / 2e-6
        np.testing.assert_allclose((hessian @ way.ravel()).reshape(-1, 3), numeric, atol=1e-4 * abs(numeric).max())
    _, hessian = forces(model, x * 0.7 + 0.02 * rng.normal(size=x.shape))
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-9 * abs(hessian).max())
    assert np.linalg.eigvalsh(hessian)[0] > -1e-9 * abs(hessian).max()


def test_rigid_motion_costs_nothing():
    faces, x = ball(3, 0.2, (0, 0, 0))
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    y = x @ turn.T + (1.0, 2.0, 3.0)
    elastic, curved = membrane(faces, x), bending(faces, x, x)
    elastic.begin(x)
    curved.begin(y)
    gradient = np.zeros_like(y)
    assert sum(elastic.energies(y, SECONDS)) < 1e-20
    assert sum(curved.energies(y, SECONDS)) < 1e-20
    curved.add(gradient)
    assert abs(gradient).max() < 1e-12


def test_rows_are_the_same_for_any_number_of_threads():
    faces, x = sheet(70, 70, 1.0)
    y = x + 0.002 * np.random.default_rng(5).normal(size=x.shape)
    results = []
    for threads in (1, 2, 3):
        model = membrane(faces, x, threads=threads)
        model.begin(x)
        energy = model.energies(y, SECONDS)
        gradient, blocks = np.zeros_like(x), np.empty((len(model.membrane.rows.columns), BLOCK))
        model.add(gradient, blocks)
        results.append((energy, gradient.tobytes(), blocks.tobytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 4, 1.2, np.pi / 2, 2.4])
@pytest.mark.parametrize("irregular", [False, True])
def test_a_cylinder_has_the_energy_of_the_plate(angle: float, irregular: bool):
    """In every direction: hinges by themselves are off by up to three where the sides run along the wrong way."""
    faces, x = sheet(40, 40, 0.4, irregular)
    radius, c, s = 0.3, np.cos(angle), np.sin(angle)
    along, across = c * x[:, 0] + s * x[:, 1], c * x[:, 1] - s * x[:, 0]
    y = np.column_stack((radius * np.sin(along / radius), across, radius * np.cos(along / radius)))
    rigid = COTTON.bend_warp * c**4 + COTTON.bend_weft * s**4
    rigid += 2 * np.sqrt(COTTON.bend_warp * COTTON.bend_weft) * (c * s) ** 2
    model = bending(faces, x, None)
    model.begin(y)
    assert model.energies(y, SECONDS)[0] == pytest.approx(0.5 * rigid * 0.16 / radius**2, rel=0.06)


@pytest.mark.unit
@pytest.mark.parametrize("is_bent", [False, True])
def test_bending_energy_is_that_of_the_formula(is_bent: bool):
    faces, x = ball(1, 0.2, (0, 0, 0)) if is_bent else sheet(3, 3, 0.3)
    y = x + 0.02 * np.random.default_rng(6).normal(size=x.shape)
    model = bending(faces, x, x)
    model.begin(y)
    assert model.bending.is_flat != is_bent
    assert model.energies(y, SECONDS)[0] == pytest.approx(bending_energy(faces, x, y, COTTON), rel=1e-9)


@pytest.mark.bounds
@pytest.mark.parametrize("is_bent", [False, True])
def test_bending_force_is_the_slope_of_the_energy(is_bent: bool):
    rng = np.random.default_rng(7)
    faces, x = ball(2, 0.2, (0, 0, 0)) if is_bent else sheet(4, 4, 0.4)
    model = bending(faces, x, x)
    model.begin(x + 0.01 * rng.normal(size=x.shape))
    y = x + 0.02 * rng.normal(size=x.shape)
    model.energies(y, SECONDS)
    gradient = np.zeros_like(y)
    model.add(gradient)
    for way in rng.normal(size=(5, *x.shape)):
        assert slope(lambda z: sum(model.energies(z, SECONDS)), y, way) == pytest.approx(
            np.vdot(gradient, way), rel=1e-5
        )


def test_bad_rest_shapes_are_named():
    with pytest.raises(pliant.MeshError, match="face 0 has no area at rest"):
        membrane(np.array([(0, 1, 2)]), np.array([(0.0, 0, 0), (1, 0, 0), (2, 0, 0)]))
