"""Solids that break: when, into what, and what stays as it was."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant.runtime.reading import FileError
from pliant.simulate import Blade, Fracture, Pin, Settings, Solid, SolidMaterial, Turning, breakable
from tests.shapes.fresh_meshes import CHEAP, assert_fresh
from tests.simulate.blocks import EXACT, block, material

NONE = (0.0, 0.0, 0.0)


class Watch:
    """Fresh queries of every step: what is not exempt never touches. Keeps what was there before the last change."""

    def __init__(self, solid: Solid) -> None:
        self.solid, self.exempt, self.steps = solid, 0, 0
        self.momentum = np.zeros(3)

    def __call__(self, before: np.ndarray, frame: pliant.simulate.Frame) -> None:
        pairs = self.solid.fresh.pairs
        assert frame.mesh is not None
        found = pliant.ccd(frame.mesh, before, frame.scene)
        assert pairs.among(found).all()
        crossed = pliant.check(frame.mesh, frame.scene)
        assert pairs.among_intersections(crossed, frame.mesh.surface().faces).all()
        self.exempt += len(found)
        self.steps += 1
        self.momentum = momentum(self.solid, frame)


def momentum(solid: Solid, frame: pliant.simulate.Frame) -> np.ndarray:
    return (solid.mass[:, None] * frame.velocities).sum(axis=0)


def pieces(solid: Solid) -> int:
    return len(np.unique(solid.cells.components[solid.cells.vertices]))


def pulled(made: SolidMaterial, speed: float, fracture: Fracture, kind: str = "hexahedron", **more) -> Solid:
    cells, x = block((4, 1, 1), (0.4, 0.1, 0.1), kind)
    left, right = np.flatnonzero(x[:, 0] == 0.0), np.flatnonzero(x[:, 0] == x[:, 0].max())
    pins = [Pin(left), Pin(right, Turning(x[right], velocity=(speed, 0.0, 0.0)))]
    return Solid(cells, x, materials=made, pins=pins, gravity=NONE, fracture=fracture, **more)


def cut_block(**more) -> Solid:
    """A block of tetrahedra that a blade falls through, in 12 steps of 0.01 s."""
    cells, x = block((4, 2, 2), (0.4, 0.2, 0.2), "tetra")
    x = x + np.random.default_rng(0).uniform(-0.004, 0.004, x.shape)
    edge = np.array([(0.21, -0.1, 0.3), (0.21, 0.3, 0.3)])
    more = {"fracture": Fracture(blades=Blade(edge, Turning(edge, velocity=(0.0, 0.0, -3.0)))), **more}
    held = np.flatnonzero(x[:, 2] < 0.01)
    return Solid(cells, x, materials="liver", pins=held, settings=Settings(step=0.01), **more)


# ---- closed forms


@pytest.mark.parametrize("kind", ["hexahedron", "tetra"])
def test_a_bar_breaks_at_its_failure_stress(kind: str):
    """Pulled so slowly that nothing swings: the stress is Young's modulus times the strain, everywhere."""
    young, failure, speed = 1e6, 2e4, 1e-4
    still = dataclasses.replace(EXACT, step=1.0)
    solid = pulled(material(young, failure_stress=failure), speed, Fracture(), kind, settings=still)
    broke = None
    for _ in range(100):
        frame = solid.step(1.0)
        assert frame.stats is not None
        assert frame.stats.changes is not None
        if broke is None and frame.stats.changes.copies:
            broke = young * speed * frame.time / 0.4
        if pieces(solid) > 1:
            break
    assert broke is not None
    assert failure * (1.0 - 1e-6) < broke <= failure + young * speed * 1.01 / 0.4
    assert pieces(solid) == 2
    for _ in range(3):
        frame = solid.step(1.0)
    assert frame.stats.energies.stretch < 1e-3 * 0.5 * failure**2 / young * 0.004  # nothing pulls any more


def test_cells_erode_when_they_have_flowed_enough():
    young, flow, limit = 1e7, 1e5, 0.1
    made = material(young, 0.3, law="Hencky", yield_stress=flow, hardening=1e5)
    solid = pulled(made, 1.0, Fracture(erosion_strain=limit), settings=Settings(step=0.01))
    mass, watch, before = solid.mass.sum(), Watch(solid), 0.0
    for frame in solid.frames(6, rate=100, watch=watch):
        assert frame.stats.changes is not None
        if frame.stats.changes.eroded:
            break
        before = float(solid.plastic_strain.max())
        assert before < limit
    assert 0.5 * limit < before
    assert 0 < frame.stats.changes.eroded == 4 - len(solid.cells.types)
    assert (solid.plastic_strain > 0.01).all()  # those that stay have their past
    assert solid.mass.sum() == pytest.approx(mass, rel=1e-14)
    assert np.allclose(momentum(solid, frame), watch.momentum, rtol=0.0, atol=1e-13 * mass)
    assert frame.stats.balance.broken > 0.0
    assert frame.origin is not None
    assert (np.diff(frame.origin) > 0).all()


def test_two_blocks_merge():
    lower, x = block((2, 2, 1), (0.2, 0.2, 0.1))
    cells = {"hexahedron": np.concatenate((lower["hexahedron"], lower["hexahedron"] + len(x)))}
    both = np.concatenate((x, x + (0.0, 0.0, 0.115)))
    solid = Solid(
        cells, both, materials="rubber", gravity=NONE, fracture=Fracture(merging_force=5.0),
        settings=Settings(step=0.005),
    )  # fmt: skip
    v = np.zeros_like(both)
    v[len(x) :, 2] = -2.0
    solid.set_velocities(v)
    mass, centre, watch = solid.mass.sum(), solid.mass @ both, Watch(solid)
    for frame in solid.frames(3, rate=200, watch=watch):
        assert frame.stats.changes is not None
        if frame.stats.changes.merged:
            break
    assert frame.stats.changes.merged == 9
    assert pieces(solid) == 1
    assert np.allclose(momentum(solid, frame), watch.momentum, rtol=0.0, atol=1e-13 * mass)
    assert solid.mass.sum() == pytest.approx(mass, rel=1e-14)
    assert solid.mass @ frame.positions == pytest.approx(centre + frame.time * watch.momentum, rel=1e-3)
    gone = np.flatnonzero(solid.mass == 0.0)
    assert len(gone) == 9
    last = list(solid.frames(2, rate=200, watch=watch))[-1]
    assert np.array_equal(last.positions[gone], frame.positions[gone])
    assert_fresh(solid.cells, CHEAP)


def test_too_little_force_merges_nothing():
    lower, x = block((1, 1, 1), (0.1, 0.1, 0.1))
    cells = {"hexahedron": np.concatenate((lower["hexahedron"], lower["hexahedron"] + len(x)))}
    solid = Solid(
        cells, np.concatenate((x, x + (0.0, 0.0, 0.108))), materials="rubber", gravity=NONE,
        fracture=Fracture(merging_force=1e9),
    )  # fmt: skip
    solid.set_velocities(np.repeat([(0.0, 0.0, 0.5), (0.0, 0.0, -0.5)], 8, axis=0))
    contacts = [frame.stats.near for frame in solid.frames(4, rate=100)]
    assert max(contacts) > 0
    assert solid.changes.merged == 0


@pytest.mark.parametrize("contact", ["resolve", "penalty"])
def test_explicit_steps_break_too(contact: str, tmp_path):
    """In two, as implicit ones do; and a checkpoint after the first splits goes on with the same bits."""
    made = material(1e6, 0.3, failure_stress=2e4, damping=1e-4)

    def bar() -> Solid:
        return pulled(made, 0.5, Fracture(), "tetra", scheme="explicit", contact=contact)

    solid, saved = bar(), None
    mass = solid.mass.sum()
    for number, frame in enumerate(solid.frames(8, rate=200)):  # noqa: B007, the last one is used
        if saved is None and solid.changes.copies:
            saved = number
            solid.save(tmp_path / "broken.npz")
    assert saved is not None
    assert saved < 7
    assert pieces(solid) > 1
    assert solid.mass.sum() == pytest.approx(mass, rel=1e-13)
    again = bar()
    again.restore(tmp_path / "broken.npz")
    *_, other = again.frames(7 - saved, rate=200)
    assert np.array_equal(other.scene, frame.scene)
    assert other.stats == frame.stats


# ---- cuts, and what all changes keep


def test_a_blade_goes_through_a_block(tmp_path):
    """In two afterwards, with all of its mass; every frame says where everything came from; and a checkpoint from the
    middle of the cut goes on with the same bits."""
    solid = cut_block()
    mass, start, watch = solid.mass.sum(), solid.frame(), Watch(solid)
    cells = len(solid.cells.types)
    changed = 0
    for number, frame in enumerate(solid.frames(12, rate=100, watch=watch)):
        assert frame.mesh is not None
        assert frame.parent is not None
        assert frame.origin is not None
        assert len(frame.parent) == len(frame.scene)
        assert len(frame.origin) == len(frame.mesh.types)
        if frame.past is not None:
            changed += 1
            assert frame.past.shape == frame.scene.shape
            assert np.abs(frame.past - frame.scene).max() < 0.01
        if number == 7:
            solid.save(tmp_path / "cut.npz")
    counts = solid.changes
    assert pieces(solid) == 2
    assert changed >= 3
    assert counts.divided > 5
    assert len(frame.scene) == len(start.scene) + counts.copies + counts.divided
    assert len(frame.mesh.types) > cells
    assert solid.mass.sum() == pytest.approx(mass, rel=1e-13)
    share = np.bincount(frame.origin, minlength=cells)
    assert (share >= 1).all()
    assert share.max() > 1
    assert_fresh(solid.cells, CHEAP)
    again = cut_block()
    again.restore(tmp_path / "cut.npz")
    *_, other = again.frames(4, rate=100)
    assert np.array_equal(other.scene, frame.scene)
    assert np.array_equal(other.velocities, frame.velocities)
    assert other.stats == frame.stats
    assert np.array_equal(other.mesh.corners, frame.mesh.corners)
    # Another one, and one that has been elsewhere.
    with pytest.raises(FileError):
        pulled(material(1e6), 0.0, Fracture()).restore(tmp_path / "cut.npz")
    solid.restore(tmp_path / "cut.npz")
    assert solid.time == pytest.approx(0.08)
    assert len(solid.frame().scene) < len(frame.scene)


def test_threads_and_tuning_change_nothing():
    ends = []
    for more in ({"threads": 1}, {"threads": 3, "tuning": pliant.Tuning(bounds="18-dop")}):
        solid = cut_block(**more)
        *_, frame = solid.frames(9, rate=100)
        ends.append((frame.scene, solid.cells.corners))
    assert all(map(np.array_equal, *ends))


def test_an_exception_leaves_all_as_it_was():
    solid = cut_block()
    list(solid.frames(6, rate=100))
    before, cells, counts = solid.frame(), solid.cells, solid.changes

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(solid.frames(1, rate=100, watch=stop))
    assert solid.frame().time == before.time
    assert solid.cells is cells
    assert solid.changes == counts
    *_, frame = solid.frames(6, rate=100)
    *_, whole = cut_block().frames(12, rate=100)
    assert np.array_equal(frame.scene, whole.scene)


@pytest.mark.parametrize("interior", [True, False])
def test_random_changes_leave_out_exactly_what_is_fresh(interior: bool, monkeypatch):
    """A block that is torn, pressed, cut and worn at random. Sides of splits are not moved apart, so that they stay
    exempt for a while: nothing else touches in any step, and they do."""
    monkeypatch.setattr(breakable, "apart", lambda broken, held: broken.x)
    cells, x = block((3, 2, 2), (0.3, 0.2, 0.2), "tetra")
    rng = np.random.default_rng(3)
    x = x + rng.uniform(-0.005, 0.005, x.shape)
    edge = np.array([(-0.1, 0.11, 0.21), (0.4, 0.11, 0.21)])
    blade = Blade(edge, Turning(edge, velocity=(0.0, 0.0, -2.0)))
    made = material(2e5, 0.3, failure_stress=2.5e4)
    options = Fracture(merging_force=0.5, merging_distance=0.02, blades=blade)
    solid = Solid(
        cells, x, materials=made, gravity=NONE, fracture=options, interior=interior, settings=Settings(step=0.01)
    )
    solid.set_velocities(6.0 * (x - x.mean(axis=0)) + rng.normal(size=x.shape))
    mass, watch = solid.mass.sum(), Watch(solid) if interior else None
    for _ in range(12):
        frame = next(iter(solid.frames(1, rate=100, watch=watch)))
        assert solid.mass.sum() == pytest.approx(mass, rel=1e-12)
        if watch is not None:
            assert np.allclose(momentum(solid, frame), watch.momentum, rtol=0.0, atol=1e-12 * mass)
            assert frame.stats.inverted == 0
        assert frame.stats.fresh == len(solid.fresh)
    assert min(solid.changes[:2]) > 5, solid.changes
    assert solid.fresh.born > 100
    assert solid.fresh.retired > 100
    assert watch is None or watch.exempt > 50
    assert_fresh(solid.cells, CHEAP)


def test_energy_is_accounted_for():
    """A bar with damping that is pulled apart: what is stored, lost and gone is what the pins have put in."""
    made = material(1e6, 0.3, failure_stress=2e4, damping=1e-3)
    solid = pulled(made, 0.3, Fracture(), "tetra", settings=dataclasses.replace(EXACT, step=0.002))
    *_, frame = solid.frames(20, rate=100)
    energies, balance = frame.stats.energies, frame.stats.balance
    assert solid.changes.copies > 0
    assert balance.driven > 0.0
    assert abs(energies.total + balance.lost) < 0.02 * balance.driven


# ---- bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"failure_stress": -1.0}, "failure_stress"), ({"erosion_strain": [1.0, 2.0, 3.0]}, "erosion_strain"),
        ({"failure_stress": np.nan}, "failure_stress"),
    ],
)  # fmt: skip
def test_thresholds_that_are_none(options, words):
    with pytest.raises(pliant.MeshError, match=words):
        pulled(material(1e6), 0.0, Fracture(**options))


def test_blades_that_are_none():
    with pytest.raises(pliant.MeshError, match="two"):
        Blade(np.zeros((1, 3)), lambda _: np.zeros((1, 3)))
    with pytest.raises(pliant.MeshError, match="path"):
        Blade(np.zeros((2, 3)), np.zeros((2, 3)))  # type: ignore[arg-type]
    with pytest.raises(pliant.MeshError, match="blades"):
        Fracture(blades=[1])  # type: ignore[list-item]
    blade = Blade(np.eye(3), lambda _: np.zeros((2, 3)))
    with pytest.raises(pliant.MeshError, match="its edge has 3"):
        blade.at(0.0)


def test_what_does_not_go_together():
    cells, x = block((1, 1, 1), (0.1, 0.1, 0.1))
    with pytest.raises(pliant.MeshError, match="pressure"):
        Solid(cells, x, pressure=1.0, fracture=Fracture())
    with pytest.raises(pliant.MeshError, match="Fracture"):
        Solid(cells, x, fracture=True)  # type: ignore[arg-type]


def test_nothing_breaks_without_thresholds():
    """The same bits as of a solid that cannot break."""
    ends = []
    for fracture in (None, Fracture()):
        solid = cut_block(fracture=fracture)
        *_, frame = solid.frames(3, rate=100)
        ends.append(frame.scene)
    assert solid.changes == (0, 0, 0, 0)
    assert np.array_equal(*ends)
