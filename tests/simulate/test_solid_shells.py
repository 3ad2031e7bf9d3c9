"""Shells in simulations of solids: mixed bodies, closed chambers, and what flows."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# pyright: reportPossiblyUnboundVariable=false

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant.scenes.shapes import icosphere
from pliant.simulate import Chamber, Pin, Solid
from pliant.simulate.solids.chambers import chambers_of
from tests.simulate.blocks import EXACT, FLOOR, block, material
from tests.simulate.solids.plates import plate

NONE = (0.0, 0.0, 0.0)
STILL = dataclasses.replace(EXACT, step=1.0)


def ball(frequency: int = 3, radius: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    faces, x = icosphere(frequency)
    return np.asarray(faces), radius * np.array(x, float) / np.linalg.norm(x, axis=1, keepdims=True)


def test_a_bar_with_a_skin_hangs_as_both_together_are_stiff():
    width, length, thick, g = 0.1, 0.6, 0.004, 0.01
    cells, x = block((1, 1, 6), (width, width, length))
    skin = cells["hexahedron"][:, [0, 1, 5, 4]]
    held = np.flatnonzero(x[:, 2] == length)
    stiff, soft = material(2e7, density=3000.0), material(1e6)
    cells["quad"] = skin
    cells["triangle"] = cells["hexahedron"][:, [[3, 2, 6], [3, 6, 7]]].reshape(-1, 3)
    materials = [soft] * 6 + [stiff] * 18
    solid = Solid(
        cells, x, materials=materials, shell_thickness=thick, pins=held, gravity=(0, 0, -g), settings=STILL,
    )  # fmt: skip
    assert solid.mass.sum() == pytest.approx(length * (1000 * width**2 + 2 * 3000 * width * thick))
    solid.step(10.0)
    frame = solid.step(10.0)
    load, stiffness = solid.mass.sum() / length * g, 1e6 * width**2 + 2 * 2e7 * width * thick
    tip = np.flatnonzero(x[:, 2] == 0.0)
    assert (x - frame.positions)[tip, 2].mean() == pytest.approx(load * length**2 / (2 * stiffness), rel=1e-3)


def test_a_strip_bends_as_beams_do():
    length, width, thick, young, g = 1.0, 0.1, 0.02, 1e7, 0.05
    cells, x = plate("quad", 20, 1, (length, width))
    held = np.flatnonzero(x[:, 0] < 0.06)
    solid = Solid(
        cells, x, materials=material(young), shell_thickness=thick, pins=held, gravity=(0, 0, -g), settings=STILL
    )  # fmt: skip
    solid.step(10.0)
    frame = solid.step(10.0)
    free, tip = length - 0.5 * 0.05, x[:, 0] == length  # it is held in the middle of the first cell
    expected = 1000.0 * g * thick * free**4 / (8 * young * thick**3 / 12)
    assert (x - frame.positions)[tip, 2].mean() == pytest.approx(expected, rel=0.08)


@pytest.mark.parametrize("scheme", ["implicit", "explicit"])
def test_a_ball_grows_with_pressure(scheme: str):
    """As a thin sphere: its strain is p r^3 (1 - nu) / 2 E t R^2, as a logarithm."""
    (faces, x), young, thick, p = ball(), 1e5, 2e-3, 200.0
    solid = Solid(
        {"triangle": faces}, x, materials=material(young, 0.3, damping=3e-3 if scheme == "explicit" else 0.0),
        shell_thickness=thick, pressure=p, gravity=NONE, scheme=scheme,
        settings=STILL if scheme == "implicit" else None,
    )  # fmt: skip
    if scheme == "implicit":
        solid.step(10.0)
        frame = solid.step(10.0)
    else:
        frame = list(solid.frames(10, 50))[-1]
    r = np.linalg.norm(frame.positions, axis=1).mean()
    assert np.log(r / 0.1) == pytest.approx(p * r**3 * 0.7 / (2 * young * thick * 0.1**2), rel=0.05)
    assert np.abs(solid.mass @ frame.velocities).max() < 1e-9
    assert frame.stats.balance.driven > 0.0


def test_gas_in_a_ball_is_neither_made_nor_lost():
    """Outside the pressure falls: the ball grows until the pressure in it is what it bears."""
    (faces, x), outside = ball(), 1000.0
    volume = 4.0 / 3.0 * np.pi * 0.1**3
    solid = Solid(
        {"triangle": faces}, x, materials=material(1e6, 0.3), shell_thickness=1e-3, gravity=NONE, settings=STILL,
        pressure=Chamber(gas=2.0 * outside * volume, ambient=outside),
    )  # fmt: skip
    solid.step(10.0)
    frame = solid.step(10.0)
    load = solid._stepper.model.body.loads[0]
    own = np.ascontiguousarray(frame.positions)
    inside = load.pressure(own)
    assert (inside + outside) * load.volume(own) == pytest.approx(2.0 * outside * volume, rel=1e-12)
    r = np.linalg.norm(frame.positions, axis=1).mean()
    assert np.log(r / 0.1) == pytest.approx(inside * r**3 * 0.7 / (2 * 1e6 * 1e-3 * 0.1**2), rel=0.05)


def test_chambers_are_found():
    cells, x = block((3, 3, 3), (0.3, 0.3, 0.3))
    hollow = {"hexahedron": np.delete(cells["hexahedron"], 13, axis=0)}
    faces, y = ball(1)
    both = {**hollow, "triangle": np.concatenate((faces, faces[:-1] + len(y))) + len(x)}
    x = np.concatenate((x, y + 1.0, y + 2.0))
    found = chambers_of(pliant.VolumeMesh(both), x)
    assert [len(walls) for walls in found] == [12, len(faces)]  # the last ball has a hole
    for wrong in ({}, {"pressure": 1.0, "gas": 1.0}, {"pressure": 1.0, "ambient": -1.0}):
        with pytest.raises(pliant.MeshError):
            Chamber(**wrong)
    for wrong, text in ((Chamber(pressure=1.0, faces=[(0, 1, 999)]), "vertex 999"), ("air", "pressure")):
        with pytest.raises(pliant.MeshError, match=text):
            Solid(both, x, shell_thickness=0.01, pressure=wrong)
    own = Chamber(pressure=lambda t: 10.0 * t, faces=faces + len(x) - 2 * len(y))
    solid = Solid(both, x, shell_thickness=0.01, pressure=[own, own])
    assert len(solid._stepper.model.body.loads) == 2


def test_a_strip_is_folded_and_stays_so(tmp_path):
    """Metal, whose ends are led towards each other and held: every step is free of contact, most of the work has gone
    into flow, and a simulation that is restored goes on with the same bits, whatever threads it has."""
    cells, x = plate("quad", 6, 2, (0.3, 0.1))
    x = x + (0, 0, 0.2)
    ends = [np.flatnonzero(x[:, 0] == at) for at in (0.0, 0.3)]

    def path(time: float) -> np.ndarray:
        angle = 1.2 * min(time, 0.1) / 0.1
        turned = 0.15 - 0.15 * np.cos(angle)
        at = x[np.concatenate(ends)].copy()
        at[:3, 0], at[3:, 0] = turned, 0.3 - turned
        return at

    x[:, 2] -= 0.02 * (1 - np.abs(x[:, 0] / 0.15 - 1))  # it knows which way to go
    metal = material(2e8, 0.3, law="Hencky", yield_stress=5e5, hardening=1e6)
    solid, again = (
        Solid(
            cells, x, materials=metal, shell_thickness=5e-3, pins=Pin(np.concatenate(ends), path), gravity=NONE,
            obstacles=FLOOR, threads=threads,
        )
        for threads in (1, 2)
    )  # fmt: skip
    before = solid.frame().scene
    for number, frame in enumerate(solid.frames(12, 100)):
        assert len(pliant.ccd(solid.mesh, before, frame.scene)) == 0
        before = frame.scene
        if number == 9:
            solid.save(tmp_path / "state.npz")
    assert solid.plastic_strain.max() > 0.02
    assert len(solid.plastic_strain) == 12
    balance = frame.stats.balance
    assert balance.plastic > 0.5 * balance.driven
    assert frame.stats.energies.total + balance.lost == pytest.approx(0.0, abs=0.01 * balance.driven)
    again.restore(tmp_path / "state.npz")
    [_, last] = again.frames(2, 100)
    assert last.scene.tobytes() == frame.scene.tobytes()
    assert last.stats == frame.stats
    assert again.plastic_strain.tobytes() == solid.plastic_strain.tobytes()


def test_stress_of_shells_and_of_solids_beside_them():
    """A skin on a block, both stretched in one direction: Hooke's law of logarithms, in a plane and in space."""
    cells, x = block((2, 1, 1), (0.2, 0.1, 0.1))
    cells["quad"] = cells["hexahedron"][:, [0, 1, 5, 4]]
    made = material(1e7, 0.3, law="Hencky")
    solid = Solid(cells, x, materials=made, shell_thickness=1e-3, gravity=NONE)
    assert abs(solid.stress).max() < 1e-3
    solid._state = solid._state._replace(x=x * (1.01, 1.0, 1.0))
    strain = np.log(1.01)
    sheet = 1e7 / (1.0 - 0.3**2) * strain * np.sqrt(1.0 - 0.3 + 0.3**2)
    block_of = 2.0 * 1e7 / 2.6 * strain / 1.01
    np.testing.assert_allclose(solid.stress, [block_of, block_of, sheet, sheet], rtol=1e-9)
    assert set(solid.cell_data()) == {"stress", "plastic strain"}
