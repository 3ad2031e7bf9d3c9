"""It is physics: strips, cantilevers, pendulums and inclines do what their formulas say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pliant.simulate import Cloth, Material, Obstacle, Settings
from tests.simulate.sheets import EXACT, PLAIN, ball, sheet

G = 9.81


def settle(cloth: Cloth, seconds: float, steps: int) -> np.ndarray:
    """Where it comes to rest: long steps of implicit Euler take the motion out of it."""
    for _ in range(steps):
        frame = cloth.step(seconds)
    assert frame.stats.energies.kinetic < 1e-8
    return frame.positions


def test_a_hanging_strip_stretches_as_the_formula_says():
    """Under its own weight: density g length squared / (2 stiffness)."""
    faces, x = sheet(20, 2, 1.0, irregular=False)
    soft = dataclasses.replace(PLAIN, stretch_warp=100.0, stretch_weft=100.0, shear=50.0)
    x = x[:, [2, 1, 0]] * (1, 1, -1)
    pins = np.flatnonzero(x[:, 2] == 0)
    rest = np.column_stack((-x[:, 2], x[:, 1]))
    cloth = Cloth(faces, x, material=soft, pins=pins, rest=rest, settings=EXACT, thickness=1e-3)
    y = settle(cloth, 0.5, 40)
    longer = -y[:, 2].min() - 1.0
    assert longer == pytest.approx(soft.density * G / (2 * soft.stretch_warp), rel=0.02)


@pytest.mark.parametrize("irregular", [False, True])
def test_a_cantilever_bends_as_the_formula_says(irregular: bool):
    """A clamped strip sinks by density g length^4 / (8 rigidity) at its end, where that is little."""
    faces, x = sheet(24, 4, 0.24, irregular)
    rigid = 5e-2
    stiff = dataclasses.replace(PLAIN, stretch_warp=2000.0, stretch_weft=2000.0, bend_warp=rigid, bend_weft=rigid)
    held = np.flatnonzero(x[:, 0] < 0.0201 + 1e-9)
    cloth = Cloth(faces, x, material=stiff, pins=held, settings=EXACT, thickness=1e-4)
    y = settle(cloth, 0.5, 30)
    # What is held is flat up to its last cell, and the slope is zero in the middle of that: the hinge at its end stands
    # for half a cell on either side. In the sum over hinges, of curvature times cell times distance to the free end,
    # the first has its full weight, not the half that it has in the integral: h/2 q l^3 / 2B more, which is what h/2
    # more of length is in q l^4 / 8B.
    length = 0.24 - x[held, 0].max() + 0.005
    sunk = -y[x[:, 0] > 0.2399, 2].mean()
    assert 0.02 * length < sunk < 0.1 * length
    assert sunk == pytest.approx(stiff.density * G * length**4 / (8 * rigid), rel=0.05)


def test_a_pendulum_keeps_its_period():
    """A stiff narrow strip that swings by little around its upper end: a rod, 2 pi sqrt(2 l / 3 g)."""
    length = 0.5
    faces, x = sheet(10, 1, length, irregular=False)
    rod = Material(0.2, 2e4, 2e4, 1e4, poisson=0.0, bend_warp=10.0, bend_weft=10.0, damping=0.0)
    tilt = 0.05
    y = np.column_stack((np.sin(tilt) * x[:, 0], x[:, 1], -np.cos(tilt) * x[:, 0]))
    settings = dataclasses.replace(EXACT, step=0.002)
    cloth = Cloth(faces, y, material=rod, pins=np.flatnonzero(x[:, 0] == 0), rest=x[:, :2], settings=settings)
    end = np.flatnonzero(x[:, 0] > length - 1e-9)
    swing = np.array([cloth.step(0.002).positions[end, 0].mean() for _ in range(700)])
    times = 0.002 * np.arange(1, 701)
    crossing = np.flatnonzero(np.diff(np.sign(swing)))
    assert len(crossing) >= 2
    at = times[crossing] - swing[crossing] * 0.002 / (swing[crossing + 1] - swing[crossing])
    assert 2 * np.diff(at).mean() == pytest.approx(2 * np.pi * np.sqrt(2 * length / (3 * G)), rel=0.01)


def test_momentum_is_conserved_without_outer_forces():
    faces, x = sheet(8, 8, 0.4)
    cloth = Cloth(faces, x, gravity=(0, 0, 0), settings=EXACT, material=dataclasses.replace(PLAIN, damping=1e-3))
    rng = np.random.default_rng(1)
    cloth.set_velocities((0.3, 0.2, -0.1) + 0.2 * rng.normal(size=x.shape))
    before = cloth.mass @ cloth.frame().velocities
    for _ in range(20):
        frame = cloth.step(0.01)
    np.testing.assert_allclose(cloth.mass @ frame.velocities, before, atol=1e-6 * np.abs(before).max())
    assert frame.stats.energies.kinetic > 0


@pytest.mark.parametrize(("share", "slides"), [(0.98, False), (1.02, True)])
def test_an_incline_holds_below_the_angle_of_friction_and_slides_above(share: float, slides: bool):
    friction = 0.4
    slope = np.arctan(friction) * share
    faces, x = sheet(4, 4, 0.2)
    ground, under = sheet(2, 2, 2.0, irregular=False)
    under = under - (1.0, 1.0, 0.0)
    thickness = 4e-3
    gravity = G * np.array((np.sin(slope), 0.0, -np.cos(slope)))  # the incline is level, and gravity leans
    settings = Settings(newton=100, tolerance=1e-6, linear_tolerance=1e-6, air_density=0.0, slip_speed=1e-4)
    cloth = Cloth(
        faces, x + (0, 0, thickness), thickness=thickness, friction=friction, gravity=gravity, settings=settings,
        obstacles=[Obstacle(ground, under)],
    )  # fmt: skip
    for _ in range(60):
        frame = cloth.step(0.01)
    moved = (frame.positions - x)[:, 0].mean()
    if slides:
        # It passes over the diagonal of the ground; pairs that pushed sideways there took a fifth of the speed.
        pull = G * (np.sin(slope) - friction * np.cos(slope))
        assert moved == pytest.approx(0.5 * pull * 0.6**2, rel=0.05)
        assert frame.velocities[:, 0].mean() == pytest.approx(pull * 0.6, rel=0.05)
    else:
        assert abs(moved) < 2e-4


def test_energy_never_grows_without_work():
    """Dropped onto a ball that rests: kinetic, elastic and height together only shrink."""
    faces, x = sheet(14, 14, 0.5)
    round_faces, round_x = ball(4, 0.12, (0.25, 0.25, -0.15))
    cloth = Cloth(faces, x, obstacles=[Obstacle(round_faces, round_x)], material="cotton")
    energies = [cloth.step(0.01).stats.energies.total for _ in range(80)]
    scale = max(energies) - min(energies)
    assert scale > 0.01
    assert np.diff(energies).max() < 1e-3 * scale


@pytest.mark.parametrize("scene", ["on a table", "hanging", "on a ball"])
def test_what_lies_or_hangs_comes_to_rest(scene: str):
    """No jitter: the energy of motion goes to zero.

    On a table it stayed at a hundredth as long as Newton's method ended at the same error, whatever the speeds were.
    """
    faces, x = sheet(10, 10, 0.3)
    options: dict = {"settings": Settings(step=0.01)}
    if scene == "on a table":
        ground, under = sheet(2, 2, 1.0, irregular=False)
        options["obstacles"] = Obstacle(ground, under - (0.35, 0.35, 0.01))
    elif scene == "on a ball":
        options["obstacles"] = Obstacle(*ball(4, 0.1, (0.15, 0.15, -0.11)))
        options["friction"] = 0.6
    else:
        x = x[:, [0, 2, 1]]
        options["pins"] = np.flatnonzero(x[:, 2] > 0.3 - 1e-9)
    cloth = Cloth(faces, x, **options)
    moving = max(cloth.step(0.01).stats.energies.kinetic for _ in range(50))
    for _ in range(250):
        frame = cloth.step(0.01)
    assert moving > 1e-7
    assert frame.stats.energies.kinetic < 1e-4 * moving


def _sliding(velocity: tuple[float, float, float], cells: int, height: float) -> Cloth:
    """Cloth over a level table without friction, in empty space; default settings."""
    faces, x = sheet(8, 8, 0.5)
    ground, under = sheet(cells, cells, 12.0, irregular=False)
    settings = Settings(air_density=0.0)
    ground = Obstacle(ground, under - (3.0, 6.0, 0.0))
    cloth = Cloth(faces, x + (0, 0, height), friction=0.0, obstacles=[ground], settings=settings)
    cloth.set_velocities(np.tile(velocity, (len(x), 1)))
    return cloth


@pytest.mark.parametrize("speed", [0.2, 1.0, 2.0])
def test_cloth_slides_over_the_sides_of_triangles(speed: float):
    """Pairs of a vertex and a face that it is beside pushed sideways: of 2 m/s over a fine mesh a third was left."""
    cloth = _sliding((speed, 0.0, 0.0), 60, 0.0101)
    for _ in range(40):
        frame = cloth.step(0.01)
    assert frame.positions[:, 2].max() < 0.0101 + 1e-3  # it still touches
    assert cloth.mass @ frame.velocities[:, 0] / cloth.mass.sum() == pytest.approx(speed, rel=0.03)


def test_an_impact_leaves_what_is_along_the_surface():
    """Newton's method began at rest where cloth struck at an angle: of 2 m/s along the table 0.6 were left."""
    cloth = _sliding((2.0, 0.0, -6.0), 1, 0.05)
    for _ in range(4):
        frame = cloth.step(0.01)
    assert abs(frame.velocities[:, 2]).max() < 1.0
    assert cloth.mass @ frame.velocities[:, 0] / cloth.mass.sum() == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("share", [0.98, 1.02, 1.1, 1.3])
def test_an_incline_with_default_settings(share: float):
    """Newton's method stopped short of what begins to slide: at 1.02 of the angle it had an eighth of the speed."""
    slope = np.arctan(0.5) * share
    faces, x = sheet(8, 8, 0.4, irregular=False)
    ground, under = sheet(1, 1, 8.0, irregular=False)
    gravity = G * np.array((np.sin(slope), 0.0, -np.cos(slope)))
    cloth = Cloth(
        faces, x + (2.0, 5.0, 5e-3), rest=x, thickness=5e-3, friction=0.5, gravity=gravity,
        settings=Settings(air_density=0.0), obstacles=[Obstacle(ground, under)],
    )  # fmt: skip
    for _ in range(80):
        frame = cloth.step(0.01)
    speed = max(0.0, 0.8 * G * (np.sin(slope) - 0.5 * np.cos(slope)))
    assert frame.velocities[:, 0].mean() == pytest.approx(speed, rel=0.02, abs=1.1e-3)


def test_obstacles_have_friction_of_their_own():
    """The resolver took that of the cloth, and made energy of the difference."""
    faces, x = sheet(8, 8, 0.5)
    ground, under = sheet(1, 1, 12.0, irregular=False)
    ground = Obstacle(ground, under - (3.0, 8.0, 0.0), friction=0.0)
    cloth = Cloth(faces, x + (0, 0, 0.1), friction=3.0, obstacles=[ground], settings=Settings(air_density=0.0))
    velocities = np.tile((2.0, 0.0, -6.0), (len(x), 1))
    velocities[:, 2] -= 40.0 * (x[:, 0] - 0.25) ** 2
    cloth.set_velocities(velocities)
    totals = [cloth.step(0.01).stats.energies.total for _ in range(20)]
    assert np.diff(totals).max() < 1e-3
