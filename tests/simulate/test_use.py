"""What users do with a simulation that its authors did not think of."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# pyright: reportPossiblyUnboundVariable=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.runtime.reading import FileError
from pliant.scenes.shapes import weave
from pliant.simulate import Cloth, Obstacle, Pin, Seam, Settings, Spring, Turning
from tests.simulate.sheets import sheet


@pytest.mark.parametrize("rate", [60.0, 100.0])
def test_frames_go_on_after_a_restored_state_bit_for_bit(tmp_path: Path, rate: float):
    """Lengths of steps were differences of times, and those from a restored time differ in the last bit."""
    faces, x = sheet(6, 6, 0.3)

    def begin() -> Cloth:
        return Cloth(faces, x, pins=[0, 6])

    whole, first, second = begin(), begin(), begin()
    wanted = [frame.positions for frame in whole.frames(12, rate)]
    for _ in first.frames(5, rate):
        pass
    first.save(tmp_path / "state.npz")
    second.restore(tmp_path / "state.npz")
    for frame, positions in zip(second.frames(7, rate), wanted[5:], strict=True):
        np.testing.assert_array_equal(frame.positions, positions)
    assert second.time == whole.time


def test_a_step_between_two_frames_does_not_turn_back_time():
    faces, x = sheet(3, 3, 0.3)
    cloth, times = Cloth(faces, x), [0.0]
    for frame in cloth.frames(4):
        times.append(frame.time)
        assert frame.stats is not None
        assert frame.stats.seconds > 0.0
        times.append(cloth.step(0.02).time)
    assert (np.diff(times) > 0.0).all()


@pytest.mark.parametrize("faces", [[(0, 1, 2)], [(0, 1, 2), (3, 4, 5)]])
def test_cloth_without_inner_edges_falls(faces: list[tuple[int, int, int]]):
    x = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (1, 0, 0), (1.1, 0, 0), (1, 0.1, 0)], float)[: 3 * len(faces)]
    frame = Cloth(faces, x, settings=Settings(air_density=0.0)).step(0.01)
    np.testing.assert_allclose(frame.velocities, np.tile((0, 0, -0.0981), (len(x), 1)), atol=1e-9)


def test_joints_may_come_one_by_one():
    faces, x = sheet(2, 2, 0.3)
    both = np.concatenate((x, x + (0, 0, 0.05)))
    cloth = Cloth(np.concatenate((faces, faces + len(x))), both, joints=(Seam(p) for p in ([[0, 9]], [[2, 11]])))
    assert len(cloth._sewn) == len(cloth._joints.kind) == 2


@pytest.mark.parametrize("up", ["x", "y"])
def test_the_same_cloth_whatever_is_up(up: str):
    """Warp and weft of cloth that faces x were those of y up and of z up in turn."""
    faces, x = sheet(5, 5, 0.3)
    x = x[:, [2, 0, 1]] * (1.0, 1.0, -1.0)  # it hangs in the plane of y and z, from z = 0

    def turned(points: np.ndarray) -> np.ndarray:
        return points[:, [2, 0, 1]] if up == "x" else points[:, [0, 2, 1]] * (1.0, 1.0, -1.0)

    one = Cloth(faces, x, material="silk", pins=[0, 30])
    two = Cloth(faces, turned(x), material="silk", pins=[0, 30], settings=Settings(up=up))
    a, b = [(one.step(0.01), two.step(0.01)) for _ in range(8)][-1]
    np.testing.assert_allclose(b.positions, turned(a.positions), atol=1e-9)
    assert abs(a.positions - x).max() > 1e-4


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"steps": np.float64(np.nan)}, "single numbers"),
        ({"time": np.zeros(2)}, "single numbers"),
        ({"time": np.float64(-1.0)}, "out of their ranges"),
        ({"pace": np.zeros(1)}, "out of their ranges"),
        ({"version": np.int64(1)}, "of an older version, which does not say what it is made of"),
        ({"mass": np.ones(16)}, "other masses"),
        ({"constants_0": np.zeros((18, 4))}, "other materials"),
    ],
)
def test_a_damaged_checkpoint_changes_nothing(tmp_path: Path, change: dict[str, np.ndarray], named: str):
    faces, x = sheet(3, 3, 0.3)
    cloth = Cloth(faces, x, pins=[0])
    cloth.step(0.01)
    cloth.save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as state:
        np.savez(tmp_path / "bad.npz", **{**state, **change})
    cloth.step(0.01)
    before = cloth.frame()
    with pytest.raises(FileError, match=named):
        cloth.restore(tmp_path / "bad.npz")
    np.testing.assert_array_equal(cloth.frame().positions, before.positions)
    assert cloth.time == before.time


SHEET = sheet(2, 2, 0.3)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Cloth(*SHEET, pins=3), "pins=3 must be vertex ids"),
        (lambda: Cloth(*SHEET, pins=[0, 0]), "pins name vertex 0 twice"),
        (lambda: Cloth(*SHEET, joints=[1]), "joints must be of"),
        (lambda: Cloth(*SHEET, joints=[Spring([[0, 1]], length=-1.0)]), "must not be negative"),
        (lambda: Cloth(*SHEET).frames(2.5), "must be an integer"),  # type: ignore[arg-type]
        (lambda: Cloth(*SHEET).frames(-2), "not negative"),
        (lambda: Cloth(*SHEET, wind=(0, 0, np.nan)).step(0.01), "wind.* is nan: numbers must be finite"),
        (lambda: Turning(SHEET[1], centre=(0, 0)), "centre must have shape"),
        (lambda: Turning(SHEET[1], end=np.nan), "end=nan"),
        (
            lambda: Cloth(*SHEET, obstacles=[Obstacle(SHEET[0], SHEET[1] + 9.0), Obstacle(*SHEET)]).step(0.01),
            r"faces 0 and 0 of obstacle 1, 0 and 1 of obstacle 1, .* intersect at x0; .*pliant\.untangle moves",
        ),
        (lambda: Cloth(*SHEET, obstacles=[SHEET]), "but obstacle 0 is a tuple"),
        (lambda: Cloth(*SHEET, settings={"step": 0.01}), r"must be pliant\.simulate\.Settings\(\.\.\.\), not a dict"),
        (
            lambda: Cloth(*SHEET, obstacles=[Obstacle(*SHEET), Obstacle(*SHEET, lambda time: SHEET[1][:2])]).step(0.01),
            r"path\(0\.01\) of obstacle 1 has shape \(2, 3\), but it has 9 vertices",
        ),
        (
            lambda: Cloth(*SHEET, pins=Pin([3], lambda time: [[np.nan] * 3])).step(0.01),
            r"path\(0\.01\) of pin 0\[0, 0\] is nan",
        ),
    ],
)
def test_errors_say_what_is_wrong(make, named: str):
    with pytest.raises(pliant.MeshError, match=named):
        make()


def test_no_joints_are_none():
    assert len(Cloth(*SHEET, joints=None)._joints.kind) == 0


def test_friction_of_each_vertex():
    """Of a pair with driven vertices, theirs counts."""
    faces, x = sheet(2, 2, 1.0)
    mesh = np.concatenate((faces, faces + len(x)))
    x0 = np.concatenate((4.0 * x - (1.5, 1.5, 0.0), x + (0, 0, 0.01)))
    mass = np.where(np.arange(len(x0)) < len(x), 0.0, 1.0)
    x1 = x0 + mass[:, None] * (0.3, 0.0, -0.2)
    ends = []
    for friction in (0.0, np.where(mass > 0.0, 5.0, 0.0), 5.0, np.where(mass > 0.0, 0.0, 5.0)):
        ends.append(pliant.resolve(mesh, x0, x1, inverse_mass=mass, thickness=5e-3, friction=friction).positions)
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[2], ends[3])
    assert (ends[0] - ends[2])[len(x) :, 0].min() > 0.1
    with pytest.raises(pliant.MeshError, match="friction has 3 rows"):
        pliant.resolve(mesh, x0, x1, friction=np.zeros(3))


@pytest.mark.parametrize(("spin", "turn"), [(3, 1), (4, 2)])
def test_scraps_that_meet_gain_no_energy(spin: int, turn: int):
    """A corner that the resolver pushed back by a tenth of an edge gained a quarter of the kinetic energy; and the
    linear solver ended before contacts held, where they were no part of the matrices that it measures residuals with.
    """
    rng = np.random.default_rng(spin)
    faces, uv = weave(2, 2)
    flat = np.column_stack((0.025 * uv - 0.025, np.zeros(len(uv))))
    turns = [np.linalg.qr(some)[0] for some in np.random.default_rng(turn).normal(size=(27, 3, 3))]
    places = 0.08 * np.array([(k % 3, k // 3 % 3, k // 9) for k in range(27)])
    x = np.concatenate([flat @ some.T + place for some, place in zip(turns, places)])
    mesh = np.concatenate([faces + k * len(flat) for k in range(27)])
    cloth = Cloth(mesh, x, gravity=(0, 0, 0), settings=Settings(air_density=0.0))
    centres = np.repeat(x.reshape(27, -1, 3).mean(axis=1), len(flat), axis=0)
    spins = np.repeat(20.0 * rng.normal(size=(27, 3)), len(flat), axis=0)
    cloth.set_velocities(np.cross(spins, x - centres) - 10.0 * (centres - x.mean(axis=0)))
    stats = [cloth.step(0.01).stats for _ in range(25)]
    energies = [one.energies for one in stats if one is not None]
    gains = np.diff([one.total for one in energies])
    assert gains.max() < 0.01 * max(one.kinetic for one in energies)
