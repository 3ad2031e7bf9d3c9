"""Solids in motion: closed forms, conservation, contact, and what a simulation promises of its states."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant.elementary.inversion import inverted
from pliant.simulate import Chamber, Obstacle, Pin, Solid, SolidMaterial
from pliant.simulate.solids.chambers import chambers_of
from pliant.simulate.solids.quadrature import InvertedCellError
from tests.simulate.blocks import EXACT, FLOOR, block, material, mixed

NONE = (0.0, 0.0, 0.0)
STILL = dataclasses.replace(EXACT, step=1.0)  # so long that nothing swings


def turned(x: np.ndarray, seed: int = 1) -> np.ndarray:
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return x @ (turn * np.linalg.det(turn)).T


# ---- closed forms


def test_a_cantilever_bends_as_beams_do():
    """Under its own weight, with the shear of short beams."""
    length, height, density, young, g = 1.0, 0.1, 1000.0, 1e7, 0.05
    cells, x = block((80, 1, 8), (length, 0.02, height))
    held = np.flatnonzero(x[:, 0] == 0.0)
    solid = Solid(cells, x, materials=material(young), pins=held, gravity=(0, 0, -g), settings=STILL)
    solid.step(10.0)
    frame = solid.step(10.0)
    tip = np.flatnonzero(x[:, 0] == length)
    load, second = density * g * height, height**3 / 12  # of a unit of width
    expected = load * length**4 / (8 * young * second) + load * length**2 / (2 * 5 / 6 * 0.5 * young * height)
    assert (x - frame.positions)[tip, 2].mean() == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("kind", ["hexahedron", "tetra", "wedge"])
def test_a_hanging_bar_is_as_long_as_its_weight_makes_it(kind: str):
    cells, x = block((1, 1, 6), (0.1, 0.1, 0.6), kind)
    held = np.flatnonzero(x[:, 2] == x[:, 2].max())
    solid = Solid(cells, x, materials=material(1e6), pins=held, gravity=(0, 0, -0.01), settings=STILL)
    solid.step(10.0)
    frame = solid.step(10.0)
    tip = np.flatnonzero(x[:, 2] == 0.0)
    assert (x - frame.positions)[tip, 2].mean() == pytest.approx(1000.0 * 0.01 * 0.6**2 / (2 * 1e6), rel=1e-3)


def test_a_bar_swings_along_its_axis_as_fast_as_sound_travels():
    length, young, density = 0.5, 1e6, 1000.0
    cells, x = block((12, 1, 1), (length, 0.1, 0.1))
    period = 4 * length / np.sqrt(young / density)
    solid = Solid(
        cells, x, materials=material(young, density=density), pins=np.flatnonzero(x[:, 0] == 0.0), gravity=NONE,
        settings=dataclasses.replace(EXACT, step=period / 200),
    )  # fmt: skip
    solid.set_velocities(np.outer(np.sin(np.pi * x[:, 0] / (2 * length)), (0.01, 0, 0)))
    tip = np.flatnonzero(x[:, 0] == length)
    times, away = [], []
    for _ in range(105):
        frame = solid.step(period / 200)
        times.append(frame.time)
        away.append((frame.positions - x)[tip, 0].mean())
    k = int(np.argmax(np.array(away) < 0.0))
    assert k > 50
    crossing = times[k - 1] + (times[k] - times[k - 1]) * away[k - 1] / (away[k - 1] - away[k])
    assert 2 * crossing == pytest.approx(period, rel=0.01)


def test_a_metal_bar_yields_and_is_let_go():
    """Pulled to 4 % and back to 3 %: stress of a bar in one direction, plastic strain and what flow has dissipated."""
    young, poisson, limit, slope = 2e6, 0.3, 2e4, 1e5
    cells, x = block((2, 1, 1), (0.2, 0.1, 0.1))
    metal = material(young, poisson, density=1.0, law="Hencky", yield_stress=limit, hardening=slope)

    def state(e: float, plastic: float) -> tuple[float, float]:
        """(plastic strain, strain across) of a bar of logarithmic strain e, that had flown so far."""
        flow = max(0.0, (young * (e - plastic) - limit - slope * plastic) / (young + slope))
        plastic += flow
        return plastic, -poisson * (e - plastic) - 0.5 * plastic

    most, least = 0.04, 0.03
    yielded, _ = state(most, 0.0)

    def path(time: float) -> np.ndarray:
        e = most * time if time <= 1.0 else most - (most - least) * (time - 1.0)
        across = state(e, 0.0 if time <= 1.0 else yielded)[1]
        return (x * np.exp((e, across, across)))[ends]

    ends = np.flatnonzero(x[:, 0] != 0.1)
    solid = Solid(cells, x, materials=metal, pins=Pin(ends, path), gravity=NONE, settings=STILL)
    volume = 0.2 * 0.1 * 0.1
    for seconds, e in ((0.5, 0.02), (0.5, 0.04), (1.0, least)):
        frame = solid.step(seconds)
        plastic, across = state(e, 0.0 if e != least else yielded)
        np.testing.assert_allclose(frame.positions, x * np.exp((e, across, across)), atol=1e-7)
        np.testing.assert_allclose(solid.plastic_strain, plastic, rtol=1e-6)
        assert frame.stats is not None
        assert frame.stats.balance is not None
        assert frame.stats.energies.stretch == pytest.approx(0.5 * young * (e - plastic) ** 2 * volume, rel=1e-4)
        assert frame.stats.balance.plastic == pytest.approx(
            (limit * plastic + 0.5 * slope * plastic**2) * volume, rel=1e-5
        )
    assert yielded > 0.02


# ---- conservation


def spinning(step: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Momentum, and angular momentum at the start and after 0.1 s, of a block that flies, turns and shakes."""
    cells, x = block((2, 2, 3), (0.2, 0.2, 0.3), "tetra")
    solid = Solid(
        cells, x, materials=material(2e3, 0.3), gravity=NONE, settings=dataclasses.replace(EXACT, step=step)
    )  # fmt: skip
    v = np.cross((1.0, 2.0, 3.0), x - x.mean(axis=0)) + (1.0, -2.0, 0.5) + 0.3 * np.sin(20 * x)
    solid.set_velocities(v)
    frame, mass = next(iter(solid.frames(1, 10.0))), solid.mass
    before, after = mass @ np.cross(x, v), mass @ np.cross(frame.positions, frame.velocities)
    return mass @ v, mass @ frame.velocities, float(np.linalg.norm(after - before) / np.linalg.norm(before))


def test_momentum_is_kept_and_angular_momentum_up_to_the_first_order_of_the_step():
    losses = []
    for step in (0.01, 0.005, 0.0025):
        before, after, lost = spinning(step)
        np.testing.assert_allclose(after, before, atol=1e-6 * np.linalg.norm(before))
        losses.append(lost)
    assert losses[0] < 0.05
    assert losses[0] / losses[1] == pytest.approx(2.0, rel=0.25)
    assert losses[1] / losses[2] == pytest.approx(2.0, rel=0.25)


@pytest.fixture(scope="module")
def bounce() -> list:
    """A block of rubber falls onto a floor with one corner first: positions before and after each step, and frames."""
    cells, x = block((3, 3, 3), (0.15, 0.15, 0.15), "tetra")
    x = turned(x)
    x[:, 2] += 0.05 - x[:, 2].min()
    solid = Solid(cells, x, materials="rubber", obstacles=FLOOR, threads=1)
    solid.set_velocities(np.tile((0.5, 0.0, -3.0), (len(x), 1)))
    steps = []
    for _ in solid.frames(12, 60, watch=lambda before, frame: steps.append((before, frame))):
        pass
    return [solid, x, steps]


def test_energy_is_balanced_while_a_block_bounces(bounce):
    solid, x, steps = bounce
    start = 0.5 * solid.mass.sum() * (0.5**2 + 3.0**2) + 9.81 * solid.mass @ x[:, 2]
    totals = [frame.stats.energies.total + frame.stats.balance.lost for _, frame in steps]
    np.testing.assert_allclose(totals, start, rtol=0.01)
    assert steps[-1][1].stats.energies.total < 0.9 * start  # some of it is lost, and said to be
    balance = steps[-1][1].stats.balance
    assert balance.numerical > 0.0
    assert balance.viscous > 0.0
    assert balance.plastic == balance.driven == 0.0
    assert max(frame.velocities[:, 2].mean() for _, frame in steps) > 0.1  # it does bounce


def test_no_step_of_a_bounce_has_a_contact_or_an_inverted_cell(bounce):
    solid, _, steps = bounce
    assert sum(frame.stats.contacts for _, frame in steps) > 0
    for before, frame in steps:
        assert len(pliant.ccd(solid.mesh, before, frame.scene)) == 0
        assert len(inverted(solid.cells, frame.positions)) == 0
    assert len(pliant.dcd(solid.mesh, steps[-1][1].scene)) == 0


def test_cells_of_every_type_are_crushed_and_stay_upright():
    """Between two plates, the upper one led down to a third of the height; then only the boundary is resolved."""
    cells, x = mixed()
    x = x + (0, 0, 0.01)
    lid = np.array([(-1, -1, 0.13), (1, -1, 0.13), (1, 1, 0.13), (-1, 1, 0.13)])
    plates = [FLOOR, Obstacle([(0, 2, 1), (0, 3, 2)], lid, lambda time: lid - (0, 0, min(time, 0.06)))]
    for interior in (True, False):
        solid = Solid(cells, x, materials="flesh", obstacles=plates, interior=interior)
        frame = solid.frame()
        for _ in range(8):
            before, frame = frame.scene, solid.step(0.01)
            assert len(pliant.ccd(solid.mesh, before, frame.scene)) == 0
            assert frame.stats is not None
            assert frame.stats.inverted == len(inverted(solid.cells, frame.positions))
            assert not (interior and frame.stats.inverted)
        assert np.ptp(frame.positions[:, 2]) < 0.08


@pytest.mark.parametrize("kind", ["hexahedron", "tetra", "wedge"])
def test_what_is_torn_about_stays_upright(kind: str):
    """Vertices of something soft fly in all directions, further than a cell is long: with contact of the boundary
    alone cells are inverted, and said to be."""
    cells, x = block((2, 2, 2), (0.2, 0.2, 0.2), kind)
    velocities, counts = 20.0 * np.random.default_rng(3).normal(size=x.shape), []
    for interior in (True, False):
        solid = Solid(cells, x, materials=material(1e3, 0.3), gravity=NONE, interior=interior)
        solid.set_velocities(velocities)
        if interior:
            frame = solid.step(0.01)
        else:
            with pytest.warns(UserWarning, match="cells are inverted"):
                frame = solid.step(0.01)
        assert frame.stats is not None
        counts.append(frame.stats.inverted)
        assert counts[-1] == len(inverted(solid.cells, frame.positions))
        assert len(pliant.ccd(solid.mesh, x, frame.scene)) == 0
    assert counts[0] == 0 < counts[1]


# ---- pressure


def hollow() -> tuple[dict, np.ndarray]:
    cells, x = block((3, 3, 3), (0.3, 0.3, 0.3))
    return {"hexahedron": np.delete(cells["hexahedron"], 13, axis=0)}, x


def test_pressure_pushes_the_walls_of_a_cavity_outwards():
    cells, x = hollow()
    [walls] = chambers_of(pliant.VolumeMesh(cells), x)
    solid = Solid(cells, x, materials=material(1e5, 0.3), pressure=lambda t: 2e3 * t, gravity=NONE, settings=EXACT)
    for _ in range(3):
        solid.step(0.05)
    frame = solid.step(0.05)
    a, b, c = (frame.positions[walls[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0 > 1.002e-3
    assert frame.stats is not None
    assert frame.stats.balance is not None
    assert frame.stats.balance.driven > 0.0
    np.testing.assert_allclose(solid.mass @ frame.velocities, 0.0, atol=1e-7)


# ---- promises


def falling(threads: int = 1) -> Solid:
    cells, x = block((3, 2, 2), (0.15, 0.1, 0.1))
    metal = material(2e5, 0.3, law="Hencky", yield_stress=3e3, hardening=1e4, damping=1e-3)
    x = turned(x)
    x[:, 2] += 0.02 - x[:, 2].min()
    solid = Solid(cells, x, materials=metal, obstacles=FLOOR, threads=threads)
    solid.set_velocities(np.tile((0.0, 0.0, -2.0), (len(x), 1)))
    return solid


def test_threads_and_checkpoints_make_no_difference(tmp_path):
    one, two = falling(1), falling(2)
    frames = list(one.frames(3))
    for mine, theirs in zip(frames, two.frames(3)):
        assert mine.scene.tobytes() == theirs.scene.tobytes()
        assert mine.stats == theirs.stats
    assert one.plastic_strain.max() > 1e-3
    one.save(tmp_path / "state.npz")
    later = list(one.frames(2))
    again = falling(2)
    again.restore(tmp_path / "state.npz")
    for mine, theirs in zip(later, again.frames(2)):
        assert mine.scene.tobytes() == theirs.scene.tobytes()
        assert mine.velocities.tobytes() == theirs.velocities.tobytes()
        assert mine.stats == theirs.stats
    assert one.plastic_strain.tobytes() == again.plastic_strain.tobytes()
    cells, x = block((3, 2, 2), (0.15, 0.1, 0.1), "tetra")
    with pytest.raises(pliant.io.FileError, match="another scene"):
        Solid(cells, x).restore(tmp_path / "state.npz")
    cells, x = block((3, 2, 2), (0.15, 0.1, 0.1))
    with pytest.raises(pliant.io.FileError, match="another simulation"):
        Solid(cells, x, obstacles=FLOOR, scheme="explicit").restore(tmp_path / "state.npz")


def test_units_make_no_difference():
    cells, x = block((2, 1, 1), (0.2, 0.1, 0.1), "tetra")
    ends, frames = np.flatnonzero(x[:, 0] == 0.0), []
    for units, scale in (("m", 1.0), ("mm", 1000.0)):
        settings = dataclasses.replace(EXACT, units=units)
        solid = Solid(cells, scale * x, materials="flesh", pins=ends, settings=settings)
        frames += list(solid.frames(3))[-1:]
        np.testing.assert_allclose(solid.mass.sum(), 1050 * 0.002)
    np.testing.assert_allclose(1000.0 * frames[0].positions, frames[1].positions, atol=1e-3)
    for mine, theirs in zip(frames[0].stats.energies, frames[1].stats.energies):
        assert mine == pytest.approx(theirs, rel=1e-4, abs=1e-9)


def test_bad_input_is_named():
    cells, x = block((1, 1, 1), (0.1, 0.1, 0.1), "tetra")
    cases: list[tuple[type[Exception], str, dict]] = [
        (InvertedCellError, "cell 0, a tetra, is inverted", {"x": x * (1, 1, -1)}),
        (pliant.MeshError, r"x\[3, 1\] is nan", {"x": np.where(np.arange(24).reshape(8, 3) == 10, np.nan, x)}),
        (pliant.MeshError, "shape", {"x": x[:, :2]}),
        (pliant.MeshError, "vertex", {"x": x[:5]}),
        (pliant.MeshError, "no cells", {"mesh": {}}),
        (pliant.MeshError, "says how thick they are", {"mesh": {**cells, "triangle": [(0, 1, 2)]}}),
        (pliant.MeshError, "the solid has none", {"shell_thickness": 0.01}),
        (pliant.MeshError, "'stone' is not known; choose one of 'steel', 'copper'", {"materials": "stone"}),
        (pliant.MeshError, "must be a pliant.simulate.SolidMaterial", {"materials": 3.0}),
        (pliant.MeshError, "2 entries, but the solid has 1 components", {"materials": ["steel", "steel"]}),
        (pliant.MeshError, "contact", {"contact": "hope"}),
        (pliant.MeshError, "scheme", {"scheme": "magic"}),
        (pliant.MeshError, "closed cavity", {"pressure": 1e3}),
    ]
    for error, text, changes in cases:
        given = {"mesh": cells, "x": x, **changes}
        with pytest.raises(error, match=text):
            Solid(given.pop("mesh"), given.pop("x"), **given)
    with pytest.raises(pliant.MeshError, match="pressure"):
        Solid(*hollow(), pressure=np.nan)
    with pytest.raises(pliant.MeshError, match="must be below"):
        material(1e5, 0.5)
    for poisson in (None, "0.3", np.nan):
        with pytest.raises(pliant.MeshError, match=f"poisson={poisson!r}"):
            SolidMaterial(1e3, 1e5, poisson)  # pyright: ignore[reportArgumentType]
    with pytest.raises(pliant.MeshError, match="has no faces"):
        Chamber(gas=1e3, faces=np.empty((0, 3), int))
