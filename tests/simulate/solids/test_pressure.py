"""Gas in a chamber: slopes of its energy, and a sphere that it holds in equilibrium."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.runtime.threads import SERIAL
from pliant.scenes.shapes import icosphere
from pliant.simulate.solids.explicit import Explicit
from pliant.simulate.solids.explicit_bounds import largest_frequency
from pliant.simulate.solids.pressure import OpenChamberError, Pressure
from tests.simulate.solids.plates import dense, equilibrium, shells


def ball(frequency):
    faces, x = icosphere(frequency)
    return np.asarray(faces), np.array(x, float)


LAWS = pytest.mark.parametrize("law", [{"pressure": 0.5}, {"gas": 2.0, "ambient": 0.1}], ids=["constant", "gas"])


class Held(Pressure):
    """With rows of its own, for dense matrices."""

    def __init__(self, faces, x, rows, **law):
        super().__init__(faces, x, rows, **law)
        self.rows = rows

    def add(self, gradient, blocks):
        blocks[:] = 0.0
        super().add(gradient, blocks)


@LAWS
def test_forces_are_the_slope_of_the_energy(law):
    faces, x = ball(2)
    step, rng = shells({"triangle": faces}, x), np.random.default_rng(1)
    chamber, e = Held(faces, x, step.rows, **law), 1e-6
    y = x + 0.05 * rng.uniform(-1, 1, x.shape)
    gradient, hessian = dense(chamber, y)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-13
    assert np.abs(np.cross(y, gradient).sum(axis=0)).max() < 1e-13
    for _ in range(3):
        way = rng.uniform(-1, 1, x.shape)
        slope = (chamber.energies(y + e * way, 1.0)[0] - chamber.energies(y - e * way, 1.0)[0]) / (2 * e)
        assert np.vdot(gradient, way) == pytest.approx(slope, rel=1e-6)
    assert Held(faces[:, ::-1], x, step.rows, **law).energies(y, 1.0) == chamber.energies(y, 1.0)
    if "gas" in law:  # blown up alike, what stands for the Hessian is nearly the part of the gas in it
        out = x / np.linalg.norm(x, axis=1, keepdims=True)
        grow = dense(chamber, x)[0]
        part = chamber._of_gas(x) * (np.vdot(grow, out) / chamber.pressure(x)) ** 2
        assert part < out.ravel() @ dense(chamber, x)[1] @ out.ravel() < 1.15 * part
    assert np.linalg.eigvalsh(hessian).min() >= 0.0


@LAWS
def test_bound_of_frequencies_holds_with_pressure(law):
    faces, x = ball(1)
    step, mass = shells({"triangle": faces}, x, young=1.0), np.full(len(x), 0.1)
    chamber, e = Held(faces, x, step.rows, **law), 1e-5

    def gradient(y):
        found = np.zeros_like(y)
        chamber.add_gradient(y, 1.0, found)
        return found.ravel()

    ways = np.eye(x.size).reshape(-1, *x.shape)
    full = np.array([(gradient(x + e * way) - gradient(x - e * way)) / (2 * e) for way in ways]) / 0.1
    full += dense(step, x)[1] / 0.1
    exact = np.sqrt(np.abs(np.linalg.eigvalsh(0.5 * (full + full.T))).max())
    assert exact <= largest_frequency([step, chamber], 1 / mass, x, SERIAL)


@LAWS
def test_sphere(law):
    """Stress p r / 2t of a sphere in equilibrium, and its growth p r^2 (1 - nu) / 2 E t."""
    faces, x = ball(4)
    young, poisson, thick = 1e3, 0.3, 0.05
    radius = np.linalg.norm(x, axis=1).mean()
    step = shells({"triangle": faces}, x, young, poisson, thickness=thick)
    chamber = Held(faces, x, step.rows, **law)
    y = equilibrium([step, chamber], x, np.zeros_like(x), np.full(len(x), True), hold=1e-3)
    inside, grown = chamber.pressure(y), np.linalg.norm(y, axis=1).mean()
    assert step.stresses(y)[:, 2].mean() == pytest.approx(inside * grown / (2 * thick), rel=0.03)
    assert grown - radius == pytest.approx(inside * radius**2 * (1 - poisson) / (2 * young * thick), rel=0.05)
    if "gas" in law:
        assert (inside + 0.1) * chamber.volume(y) == pytest.approx(2.0, rel=1e-12)


def test_filling_in_time_by_the_explicit_scheme():
    """A ball that is blown up slowly ends where the closed form says, and goes nowhere."""
    faces, x = ball(3)
    step = shells({"triangle": faces}, x, 1e3, 0.3, thickness=0.05, damping=0.002)
    chamber = Pressure(faces, x, step.rows, pressure=lambda time: min(time, 1.0))
    scheme = Explicit([step, chamber], np.full(len(x), 10.0), SERIAL, drag=5.0)
    at = scheme.start(x, 0 * x)
    for frame in range(20):
        chamber.at(0.1 * frame + 0.1)
        at = [end for _, end in scheme.steps(at, 0.1, 0 * x)][-1]
    grown, radius = np.linalg.norm(at.x, axis=1).mean(), np.linalg.norm(x, axis=1).mean()
    assert grown - radius == pytest.approx(radius**2 * 0.7 / (2 * 1e3 * 0.05), rel=0.15)
    assert np.abs(at.x.mean(axis=0) - x.mean(axis=0)).max() < 1e-12


def test_bad_input():
    faces, x = ball(1)
    rows = shells({"triangle": faces}, x).rows
    with pytest.raises(OpenChamberError, match=r"edge [0-9]+ [0-9]+ do not close"):
        Pressure(faces[1:], x, rows, pressure=1.0)
    turned = np.concatenate((faces[:1, ::-1], faces[1:]))
    with pytest.raises(OpenChamberError, match="oriented differently"):
        Pressure(turned, x, rows, pressure=1.0)
    for wrong in ({}, {"pressure": 1.0, "gas": 1.0}, {"gas": -1.0}, {"pressure": np.nan}):
        with pytest.raises(pliant.MeshError):
            Pressure(faces, x, rows, **wrong)
    assert Pressure(faces, x, rows, gas=1.0).energies(0 * x, 1.0)[0] == np.inf
