"""Central differences: bounds on frequencies against dense eigenvalues, momentum, energy, steps that are too long."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.mesh.volumes import as_volume
from pliant.runtime.threads import SERIAL
from pliant.simulate import Settings
from pliant.simulate.solids.building import physics_of
from pliant.simulate.solids.explicit import Explicit, StepTooLongError
from pliant.simulate.solids.explicit_bounds import largest_frequency
from tests.simulate.blocks import block, material
from tests.simulate.solids.plates import dense, plate, shells


def springy(kind, seed=0, **options):
    """Shells that are bent at rest, with random masses, and positions near rest."""
    rng = np.random.default_rng(seed)
    cells, x = plate(kind, 3, 2, (1.5, 1.0), 0.25, seed)
    x = x + 0.1 * np.sin(2 * x[:, :1])
    return [shells(cells, x, **options)], rng.uniform(0.01, 0.03, len(x)), x + 1e-3 * rng.uniform(-1, 1, x.shape)


def frequency(terms, mass, x):
    matrix = sum(dense(term, x)[1] for term in terms)
    scale = np.repeat(np.sqrt(1 / mass), 3)
    return np.sqrt(np.linalg.eigvalsh(scale[:, None] * matrix * scale).max())


@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
def test_bound_holds_and_is_close(kind):
    for seed in range(10):
        terms, mass, x = springy(kind, seed, thickness=(0.02, 0.3)[seed % 2])
        exact, bound = frequency(terms, mass, x), largest_frequency(terms, 1 / mass, x, SERIAL)
        assert exact <= bound < 1.6 * exact


class Random:
    """Elements with up to eight of twelve vertices, some of them with any positive matrix, some of low rank."""

    damping = 0.0

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.stencil = np.full((9, 8), -1, np.int32)
        self.matrices = np.zeros((9, 24, 24))
        for e in range(9):
            count = int(rng.integers(2, 9))
            self.stencil[e, :count] = rng.permutation(12)[:count]
            half = rng.normal(size=(3 * count, int(rng.integers(1, 3 * count)))) * 10.0 ** rng.uniform(-3, 3)
            self.matrices[e, : 3 * count, : 3 * count] = half @ half.T

    def begin(self, x):
        pass

    def stiffness(self, x, first, last, per_second=0.0):
        blocks = self.matrices[first:last].reshape(-1, 8, 3, 8, 3)
        return np.ascontiguousarray(blocks.transpose(0, 1, 3, 2, 4)).reshape(-1, 64, 9)


@pytest.mark.bounds
def test_bound_holds_for_any_positive_elements():
    ratios = []
    for seed in range(30):
        term, mass = Random(seed), np.random.default_rng(seed).uniform(0.1, 10.0, 12)
        full = np.zeros((12, 3, 12, 3))
        for stencil, matrix in zip(term.stencil, term.matrices):
            v = stencil[stencil >= 0]
            full[np.ix_(v, range(3), v, range(3))] += matrix.reshape(8, 3, 8, 3)[: len(v), :, : len(v)]
        scale = np.repeat(np.sqrt(1 / mass), 3)
        exact = np.sqrt(np.linalg.eigvalsh(scale[:, None] * full.reshape(36, 36) * scale).max())
        ratios.append(largest_frequency([term], 1 / mass, np.zeros((12, 3)), SERIAL) / exact)
    assert min(ratios) >= 1.0
    assert np.median(ratios) < 1.3


def test_bound_of_two_terms_and_of_driven_vertices():
    one, mass, x = springy("triangle", 1)
    two, _, _ = springy("quad", 1, thickness=0.2)
    assert frequency([*one, *two], mass, x) <= largest_frequency([*one, *two], 1 / mass, x, SERIAL)
    inverse = 1 / mass
    inverse[::2] = 0.0
    matrix, free = dense(one[0], x)[1], np.repeat(inverse > 0, 3)
    scale = np.repeat(np.sqrt(inverse), 3)[free]
    exact = np.sqrt(np.linalg.eigvalsh(scale[:, None] * matrix[np.ix_(free, free)] * scale).max())
    assert exact <= largest_frequency(one, inverse, x, SERIAL) < 2 * exact
    assert largest_frequency(one, 0 * inverse, x, SERIAL) == 0.0
    assert Explicit(one, 0 * inverse, SERIAL).stable_step(x) == np.inf


def run(scheme, at, step, count, push):
    for _ in range(count):
        at = scheme.step(at, step, push)
    return at


def test_steps_up_to_the_bound_are_stable_and_twice_as_long_ones_are_not():
    terms, mass, x = springy("quad", 2)
    scheme, push = Explicit(terms, 1 / mass, SERIAL), np.zeros_like(x)
    stable = scheme.stable_step(x)
    with np.errstate(all="ignore"):
        size = [
            np.abs(run(scheme, scheme.start(x, push), part * stable, 400, push).x - x).max() for part in (0.99, 2.0)
        ]
    assert size[0] < 0.02
    assert not size[1] < 1.0


def test_damping_shortens_the_stable_step():
    terms, mass, x = springy("quad", 2)
    free = Explicit(terms, 1 / mass, SERIAL).stable_step(x)
    damped, _, _ = springy("quad", 2, damping=2 * free)
    scheme, push = Explicit(damped, 1 / mass, SERIAL), np.zeros_like(x)
    stable = scheme.stable_step(x)
    assert stable < 0.5 * free
    start = scheme.start(x, push)
    end = run(scheme, start, 0.99 * stable, 2000, push)
    assert np.abs(end.v).max() < 0.1 * np.abs(run(scheme, start, 0.99 * stable, 10, push).v).max()
    with np.errstate(all="ignore"):
        assert not np.abs(run(scheme, start, 0.95 * free, 200, push).x - x).max() < 1.0


def test_what_is_stretched_is_stable_with_its_damping():
    """Viscosity of Green's strain grows with the square of stretch: steps of rubber that was pulled to three times its
    length were as long as its elasticity alone allowed, and made six hundred thousand joule out of nothing."""
    cells, x = block((2, 1, 1), (0.1, 0.05, 0.05))
    made = physics_of(as_volume(cells), x, material(1.5e6, 0.3, damping=2e-3), None, Settings(), SERIAL)
    inverse = np.where((x[:, 0] == 0.0) | (x[:, 0] == 0.1), 0.0, 1.0 / made.mass)
    scheme, push, pulled = Explicit(made.terms, inverse, SERIAL), np.zeros_like(x), x * (3.0, 1.0, 1.0)
    at_rest, stable = scheme.stable_step(x), scheme.stable_step(pulled)
    assert stable < 0.3 * at_rest
    start = scheme.start(pulled, np.where(inverse[:, None] > 0.0, (0.1, 0.2, 0.3), 0.0))
    end = run(scheme, start, 0.99 * stable, 300, push)
    assert np.abs(end.v).max() < 0.1
    with np.errstate(all="ignore"):
        assert not np.abs(run(scheme, start, 0.9 * at_rest, 300, push).v).max() < 1.0


def test_too_long_a_step_is_named_with_the_stable_one():
    terms, mass, x = springy("triangle", 3)
    scheme, push = Explicit(terms, 1 / mass, SERIAL), np.zeros_like(x)
    stable = scheme.stable_step(x)
    with pytest.raises(StepTooLongError, match=f"it is stable up to {stable:.4g} s") as caught:
        next(scheme.steps(scheme.start(x, push), 1.0, push, step=1.01 * stable))
    assert caught.value.stable == stable
    assert isinstance(caught.value, pliant.MeshError)
    times = [time for time, _ in scheme.steps(scheme.start(x, push), 100.3 * stable, push)]
    assert times[-1] == pytest.approx(100.3 * stable, rel=1e-12)
    assert len(times) >= 112
    assert np.diff(times).max() < stable


def flying(count=300):
    """A bent plate that turns, flies and vibrates; what it has at the start and after many steps, a step, masses."""
    terms, mass, x = springy("quad", 4)
    rng = np.random.default_rng(4)
    v = 0.5 * np.cross((0.3, 1.0, -0.4), x) + (1.0, 2.0, 3.0) + 0.1 * rng.uniform(-1, 1, x.shape)
    scheme, push = Explicit(terms, 1 / mass, SERIAL), np.zeros_like(x)
    step, at = 0.5 * scheme.stable_step(x), scheme.start(x, v)
    states = [at]
    for _ in range(count):
        states.append(scheme.step(states[-1], step, push))
    return terms[0], states, mass


def test_momentum_is_kept_to_rounding():
    _, states, mass = flying()
    start, end = states[0], states[-1]
    momentum = mass @ start.v
    assert mass @ end.v == pytest.approx(momentum, rel=1e-12)
    turning = [(mass[:, None] * np.cross(at.x, at.v)).sum(axis=0) for at in (start, end)]
    assert np.abs(turning[1] - turning[0]).max() < 1e-11 * np.abs(turning[0]).max()
    assert np.abs(end.x - start.x - (end.x - start.x).mean(axis=0)).max() > 0.01  # it has turned


def test_energy_of_a_free_vibration_is_kept():
    step, states, mass = flying()
    energies = [0.5 * mass @ (at.v**2).sum(axis=1) + step.energies(at.x, 1.0)[0] for at in states]
    centre = states[0].v.T @ mass / mass.sum()
    own = energies[0] - 0.5 * mass.sum() * centre @ centre  # of turning and vibration
    assert np.abs(np.array(energies) - energies[0]).max() < 0.01 * own


def test_plastic_work_leaves_the_motion():
    """What is lost of motion and elastic energy is what flow has dissipated."""
    terms, mass, x = springy("triangle", 5, limit=0.02, slope=0.3)
    rng = np.random.default_rng(5)
    scheme, push = Explicit(terms, 1 / mass, SERIAL), np.zeros_like(x)
    at = scheme.start(x, 0.1 * rng.uniform(-1, 1, x.shape))
    step, lost = 0.1 * scheme.stable_step(x), 0.0
    first = 0.5 * mass @ (at.v**2).sum(axis=1) + terms[0].energies(x, 1.0)[0]
    constants = terms[0].shells.constants[0]
    for _ in range(600):
        at = scheme.step(at, step, push)
    strain = terms[0].plastic.equivalent
    points = terms[0].shells.area * constants[4]
    weights = np.array((1 / 12, 1 / 3, 1 / 6, 1 / 3, 1 / 12))
    lost = points @ ((constants[2] * strain + 0.5 * constants[3] * strain**2) @ weights)
    last = 0.5 * mass @ (at.v**2).sum(axis=1) + terms[0].energies(at.x, 1.0)[0]
    assert lost > 0.2 * first
    assert first - last == pytest.approx(lost, rel=0.005)


def test_gravity_drag_and_driven_vertices():
    terms, mass, x = springy("quad", 6)
    inverse = 1 / mass
    fall = Explicit(terms, inverse, SERIAL)
    push, rest = mass[:, None] * np.array((0.0, 0.0, -9.81)), terms[0].shells
    assert len(rest.area)
    at = list(fall.steps(fall.start(x, 0 * x), 0.1, push))[-1][1]
    assert mass @ at.v == pytest.approx(mass.sum() * np.array((0, 0, -0.981)), abs=1e-12)
    slow = Explicit(terms, inverse, SERIAL, drag=3.0)
    end = list(slow.steps(slow.start(x, 0 * x + 1.0), 0.5, 0 * x, step=0.01))[-1][1]
    assert mass @ end.v / mass.sum() == pytest.approx(np.exp(-1.5), rel=1e-3)
    inverse[:3] = 0.0
    held = Explicit(terms, inverse, SERIAL)
    path = lambda time, y: y.__setitem__(slice(0, 3), x[:3] + (0, 0, 0.2 * time))  # noqa: E731
    end = list(held.steps(held.start(x, 0 * x), 0.5, 0 * x, path=path))[-1][1]
    assert end.x[:3] == pytest.approx(x[:3] + (0, 0, 0.1), abs=1e-12)
    assert end.v[:3] == pytest.approx(np.tile((0, 0, 0.2), (3, 1)), abs=1e-9)


def test_what_meets_in_a_step_changes_positions_and_velocities():
    terms, mass, x = springy("quad", 7, young=30.0)
    floor = x[:, 2].min() - 0.01
    scheme = Explicit(terms, 1 / mass, SERIAL, meet=lambda _x0, x1, _s: np.maximum(x1, (-9.0, -9.0, floor)))
    push = mass[:, None] * np.array((0.0, 0.0, -9.81))
    ends = [at for _, at in scheme.steps(scheme.start(x, 0 * x), 0.5, push, step=0.01)]
    assert min(at.x[:, 2].min() for at in ends) == floor
    assert (mass @ ends[-1].v)[2] / mass.sum() > -1.0  # free fall: -4.9
