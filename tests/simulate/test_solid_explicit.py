"""Explicit steps of solids and shells: conservation to rounding, closed forms, contact, and states."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# pyright: reportPossiblyUnboundVariable=false

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant.elementary.inversion import inverted
from pliant.simulate import Obstacle, Pin, Settings, Solid
from pliant.simulate.solids.explicit import SAFETY, StepTooLongError
from tests.simulate.blocks import EXACT, FLOOR, block, material
from tests.simulate.solids.plates import plate

NONE = (0.0, 0.0, 0.0)
CONTACTS = pytest.mark.parametrize("contact", ["resolve", "penalty"])


def winged(step: float | str = "adaptive", young: float = 2e4, **more):
    """A block of hexahedra with a fin of quadrilaterals and triangles that hangs on one of its edges."""
    cells, x = block((2, 2, 2), (0.1, 0.1, 0.1))
    edge = np.flatnonzero((x[:, 0] == 0.1) & (x[:, 2] == 0.1))
    outer = x[edge] + (0.06, 0.0, 0.01)
    a, b, c = edge
    p, q, r = len(x) + np.arange(3)
    cells |= {"quad": [(a, b, q, p)], "triangle": [(b, c, q), (c, r, q)]}
    return Solid(
        cells, np.concatenate((x, outer)) + (0, 0, 0.02), materials=material(young, 0.3, **more), shell_thickness=0.004,
        scheme="explicit", threads=1, gravity=NONE,
        settings=Settings(step=step),
    )  # fmt: skip


def energy(frame) -> float:
    return frame.stats.energies.total + frame.stats.balance.lost


# ---- conservation


def test_momentum_and_angular_momentum_are_kept_to_rounding():
    solid = winged()
    x = solid.frame().positions
    solid.set_velocities(np.cross((3.0, -2.0, 4.0), x) + (1.0, -2.0, 0.5) + 0.3 * np.sin(30 * x))
    before = solid.frame()
    frame, mass = list(solid.frames(5, 100))[-1], solid.mass
    assert frame.stats.steps > 1
    assert frame.stats.energies.stretch > 1e-5  # it does shake
    for of in (lambda at: at.velocities, lambda at: np.cross(at.positions, at.velocities)):
        np.testing.assert_allclose(mass @ of(frame), mass @ of(before), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("yields", [False, True])
def test_energy_is_accounted_for(yields: bool):
    """What shakes, flows and is damped: nothing is missing, and the loss by finite steps is small by itself."""
    more = {"law": "Hencky", "yield_stress": 300.0, "hardening": 1e3} if yields else {"damping": 2e-3}
    solid = winged(5e-4, **more)
    x = solid.frame().positions
    solid.set_velocities(0.5 * np.sin(40 * x[:, [1, 2, 0]]))
    begin = 0.5 * solid.mass @ (solid.frame().velocities ** 2).sum(axis=1)
    frames = list(solid.frames(5, 50))
    balance = frames[-1].stats.balance
    for frame in frames:
        assert energy(frame) == pytest.approx(begin, rel=1e-9)
    assert abs(balance.numerical) < 0.01 * begin
    spent = balance.plastic if yields else balance.viscous
    assert spent > 0.15 * begin
    assert balance.lost == pytest.approx(spent + balance.numerical, rel=1e-12)


def test_pins_gravity_and_pressure_put_energy_in():
    cells, x = block((3, 3, 3), (0.3, 0.3, 0.3))
    held = np.flatnonzero(x[:, 2] == x[:, 2].max())
    solid = Solid(
        {"hexahedron": np.delete(cells["hexahedron"], 13, axis=0)}, x, materials=material(1e5, 0.3), scheme="explicit",
        pins=Pin(held, lambda t: x[held] + (0, 0, 0.5 * t * t)), pressure=lambda t: 2e4 * t,
    )  # fmt: skip
    begin = 9.81 * solid.mass @ x[:, 2]
    frame = list(solid.frames(6, 60))[-1]
    assert energy(frame) == pytest.approx(begin, rel=1e-9)
    balance = frame.stats.balance
    assert balance.driven > 0.5
    assert abs(balance.numerical) < 0.01 * balance.driven
    assert frame.positions[held, 2] == pytest.approx(x[held, 2] + 0.5 * 0.1**2, abs=1e-12)


# ---- closed forms


def test_a_bar_swings_along_its_axis_as_fast_as_sound_travels():
    length, young, density = 0.5, 1e6, 1000.0
    cells, x = block((12, 1, 1), (length, 0.1, 0.1))
    solid = Solid(
        cells, x, materials=material(young, density=density), pins=np.flatnonzero(x[:, 0] == 0.0), gravity=NONE,
        velocities=np.outer(np.sin(np.pi * x[:, 0] / (2 * length)), (0.01, 0, 0)), scheme="explicit",
    )  # fmt: skip
    period, tip = 4 * length / np.sqrt(young / density), x[:, 0] == length
    times, away = [], []
    for frame in solid.frames(26, 50 / period):
        times.append(frame.time)
        away.append((frame.positions - x)[tip, 0].mean())
    k = int(np.argmax(np.array(away) < 0.0))
    assert k > 20
    crossing = times[k - 1] + (times[k] - times[k - 1]) * away[k - 1] / (away[k - 1] - away[k])
    assert 2 * crossing == pytest.approx(period, rel=0.005)


def test_both_schemes_go_the_same_way_as_steps_get_shorter():
    cells, x = plate("mixed", 3, 2, (0.3, 0.2))
    held = np.flatnonzero(x[:, 0] == 0.0)
    given = {"materials": material(1e6, 0.3), "shell_thickness": 0.01, "pins": held}
    goal = list(Solid(cells, x, **given, scheme="explicit").frames(4, 100))[-1].positions
    away = []
    for step in (2e-3, 1e-3, 5e-4):
        solid = Solid(cells, x, **given, settings=dataclasses.replace(EXACT, step=step))
        away.append(np.abs(list(solid.frames(4, 100))[-1].positions - goal).max())
    assert np.abs(goal - x).max() > 5e-3
    assert away[2] < 2e-4
    assert away[0] / away[1] == pytest.approx(2.0, rel=0.3)  # implicit steps are of first order
    assert away[1] / away[2] == pytest.approx(2.0, rel=0.3)


# ---- contact


def metal(yield_stress: float = 2e3):
    return material(2e5, 0.3, law="Hencky", yield_stress=yield_stress, hardening=1e4)


def falling(contact: str, threads: int = 1, **more) -> Solid:
    """A plate of metal that falls onto a floor, beside a block."""
    shells, x = plate("triangle", 3, 3, (0.15, 0.15))
    cells, y = block((1, 1, 1), (0.05, 0.05, 0.05))
    x[:, 2] += 0.01 + 0.2 * x[:, 0]
    cells |= {"triangle": np.array(shells["triangle"]) + len(y)}
    x = np.concatenate((y + (0.05, 0.05, 0.06), x))
    return Solid(
        cells, x, **{"materials": metal()} | more, shell_thickness=0.01, obstacles=FLOOR, contact=contact,
        scheme="explicit", velocities=np.tile((0.0, 0.0, -2.0), (len(x), 1)), threads=threads,
    )  # fmt: skip


@CONTACTS
def test_what_falls_is_stopped_and_energy_is_accounted_for(contact: str):
    solid = falling(contact)
    start = solid.frame()
    begin = 0.5 * solid.mass.sum() * 4.0 + 9.81 * solid.mass @ start.positions[:, 2]
    contacts, steps, deepest = 0, 0, 0.0

    def test_step(before: np.ndarray, frame) -> None:
        nonlocal steps
        steps += 1
        if contact == "resolve":
            assert len(pliant.ccd(solid.mesh, before, frame.scene)) == 0
            assert len(inverted(solid.cells, frame.positions)) == 0

    for frame in solid.frames(5, 100, watch=test_step):
        assert energy(frame) == pytest.approx(begin, rel=1e-9)
        contacts, deepest = contacts + frame.stats.contacts, max(deepest, frame.stats.deepest)
    assert steps > 5
    assert contacts > 0
    assert frame.positions[:, 2].min() > -0.01
    balance = frame.stats.balance
    assert 0.2 * begin < balance.contact + balance.plastic
    assert abs(balance.numerical) < 0.01 * begin
    assert solid.plastic_strain.max() > 1e-3
    if contact == "penalty":
        surface = pliant.VolumeMesh(solid.mesh.cells).surface()
        assert frame.stats.intersections == len(pliant.dcd(surface, frame.scene))
    assert (deepest > 0.0) == (contact == "penalty")
    unwatched = falling(contact)
    assert list(unwatched.frames(5, 100))[-1].stats == frame.stats


@CONTACTS
def test_threads_and_checkpoints_make_no_difference(contact: str, tmp_path):
    def made(threads: int) -> Solid:
        return falling(contact, threads, pins=[0])

    one, two = made(1), made(2)
    for mine, theirs in zip(one.frames(3, 100), two.frames(3, 100)):
        assert mine.scene.tobytes() == theirs.scene.tobytes()
        assert mine.stats == theirs.stats
    one.save(tmp_path / "state.npz")
    for other in (falling(contact, pins=[0], materials="copper"), falling(contact, pins=[0], materials=metal(3e3))):
        with pytest.raises(pliant.io.FileError, match=r"other (masses|materials)"):
            other.restore(tmp_path / "state.npz")
    again = made(2)
    again.restore(tmp_path / "state.npz")
    for mine, theirs in zip(one.frames(2, 100), again.frames(2, 100)):
        assert mine.scene.tobytes() == theirs.scene.tobytes()
        assert mine.velocities.tobytes() == theirs.velocities.tobytes()
        assert mine.stats == theirs.stats
    assert one.plastic_strain.tobytes() == again.plastic_strain.tobytes()
    if contact == "penalty":  # a table of pairs of features is in it
        with np.load(tmp_path / "state.npz") as file:
            arrays = {name: file[name] for name in file.files}
        ids = next(name for name, array in arrays.items() if name.startswith("growing") and array.ndim == 2)
        assert len(arrays[ids]) > 0
        for damaged in (arrays[ids] + 10**6, arrays[ids][1:]):
            np.savez(tmp_path / "damaged.npz", **{**arrays, ids: damaged})
            with pytest.raises(pliant.io.FileError, match="another scene"):
                again.restore(tmp_path / "damaged.npz")


# ---- promises


def test_a_step_that_is_too_long_is_named_with_the_stable_one():
    cells, x = block((2, 1, 1), (0.2, 0.1, 0.1))
    given = {"materials": "steel", "scheme": "explicit"}
    with pytest.raises(StepTooLongError, match=r"a step of 0\.01 s is too long .* stable up to .*e-05 s") as raised:
        Solid(cells, x, **given).step(0.01)
    stable = raised.value.stable
    speed = np.sqrt(2e11 / 7850)
    assert 0.2 * 0.1 / speed < stable < 2.0 * 0.1 / speed
    solid = Solid(cells, x, **given)
    solid.step(0.99 * stable)
    with pytest.raises(StepTooLongError):
        list(Solid(cells, x, **given, settings=Settings()).frames(1))
    steps = next(Solid(cells, x, **given).frames(1, 2e4)).stats.steps
    assert steps == np.ceil(5e-5 / (SAFETY * stable))
    shorter = Solid(cells, x, **given, settings=Settings(step=0.5 * stable))
    assert next(shorter.frames(1, 2e4)).stats.steps > steps


def test_units_make_no_difference():
    frames = []
    shells, x = plate("mixed", 2, 2, (0.2, 0.2))
    for units, scale in (("m", 1.0), ("mm", 1000.0)):
        settings = Settings(units=units, step="adaptive")
        solid = Solid(
            shells, scale * x, materials="rubber", shell_thickness=0.01 * scale, pins=[0, 1], scheme="explicit",
            settings=settings,
        )  # fmt: skip
        frames += list(solid.frames(3, 50))[-1:]
        np.testing.assert_allclose(solid.mass.sum(), 1100 * 0.2 * 0.2 * 0.01)
    np.testing.assert_allclose(1000.0 * frames[0].positions, frames[1].positions, atol=1e-6)
    for k in ("energies", "balance"):
        np.testing.assert_allclose(getattr(frames[0].stats, k), getattr(frames[1].stats, k), rtol=1e-6, atol=1e-12)


def test_bad_input_is_named():
    cells, x = plate("quad", 1, 1)
    cases = [
        ("needs scheme", {"scheme": "implicit", "contact": "penalty"}),
        ("has a thickness of -1", {"shell_thickness": -1.0}),
        (r"must be one number or have shape \(1,\)", {"shell_thickness": [0.1, 0.1]}),
        ("velocities", {"velocities": np.zeros((3, 3))}),
        ("nan", {"velocities": np.full((4, 3), np.nan)}),
        ("closed shells", {"pressure": 1.0}),
    ]
    for text, changes in cases:
        with pytest.raises(pliant.MeshError, match=text):
            Solid(cells, x, **{"shell_thickness": 0.1, "scheme": "explicit", **changes})
    mover = Obstacle([(0, 1, 2)], [(0, 0, 9), (1, 0, 9), (0, 1, 9)], lambda t: np.full((3, 3), np.nan))
    with pytest.raises(pliant.MeshError, match="nan"):
        Solid(cells, x, shell_thickness=0.1, scheme="explicit", obstacles=mover).step(1e-6)
