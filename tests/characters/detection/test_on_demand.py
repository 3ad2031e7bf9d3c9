"""Collisions of characters frame by frame: "safe" finds what "full" finds, which is what is there, whatever happens."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import Obstacle, ObstacleError
from pliant.characters.detection.on_demand import CollisionDetector
from pliant.runtime.arrays import MeshError, NonFiniteError, OptionError, ShapeError
from tests.reference import insides as truth
from tests.shapes.bodies import bar, bend, expected, folding, posed, turn, two_bones
from tests.shapes.solids import grid


def stage(detector, name):
    return next(s for s in detector.stages if s.name == name)


class Both:
    """Two detectors that have to agree with each other and with ``pliant.inside`` in every frame."""

    def __init__(self, body, **options):
        self.safe = CollisionDetector(body, update="safe", threads=1, **options)
        self.full = CollisionDetector(body, update="full", threads=1, **options)
        self.frames = self.hits = 0

    def look(self, x, *others):
        found = self.safe.find(x, None, *others)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, self.full.find(x, None, *others))
        if not others:
            np.testing.assert_array_equal(found, expected(self.full.volume, x))
        self.frames, self.hits = self.frames + 1, self.hits + len(found)
        return found


@pytest.mark.unit
@pytest.mark.bounds
def test_a_folding_bar_against_fractions():
    body = bar((8, 1, 1), jitter=0.1)
    both, hits = Both(body), []
    blocks = {"tetra": body.volume.cells["tetra"]}
    for x, _ in folding(body, 165.0, 6):
        found = both.look(x)
        assert [tuple(row) for row in found.tolist()] == truth.inside(blocks, x)[0]
        hits.append(len(found))
    assert hits[0] == 0
    assert max(hits) > 4


def test_folding_and_opening_again_and_again():
    body = bar()
    both, made = Both(body), []
    for _ in range(2):
        for x, _ in folding(body):
            both.look(x)
            made.append(stage(both.safe, "lists").pairs_out)
    assert both.hits > 400
    parts = stage(both.safe, "lists").pairs_in
    assert parts > 6
    assert made[0] == parts
    # Hardly anything is rebuilt, or this would not test what is kept.
    assert sum(made[1:]) < 0.4 * parts * (len(made) - 1)


def test_what_moves_as_a_whole_or_stretches_costs_little():
    """Drifts are 0; but boxes of what turns change, and vertices come into them."""
    body = bar()
    both, made = Both(body), 0
    for i in range(20):
        angle = 0.3 * i
        x = 1.03**i * (body.rest @ turn(angle, 2)[:3, :3].T) @ turn(0.5 * angle, 0)[:3, :3].T + i
        x[:, 1] *= 1.0 + 0.02 * i
        both.look(x)
        made += stage(both.safe, "lists").pairs_out if i else 0
    assert made < 0.1 * 19 * stage(both.safe, "lists").pairs_in


def test_random_deformation_of_all_sizes():
    body, rng = bar((6, 2, 2)), np.random.default_rng(5)
    both, x = Both(body), body.rest
    for i in range(40):
        x = x + rng.normal(0.0, (1e-3, 0.03, 0.3)[i % 3], x.shape)
        both.look(x)
    assert both.hits > 1000


def test_teleports_jumps_and_frames_that_repeat():
    body, rng = bar(), np.random.default_rng(2)
    both, poses = Both(body), [x for x, _ in folding(body, 170.0, 12)]
    for i in range(60):
        x = poses[rng.integers(len(poses))].copy()
        if i % 3 == 0:
            moved = rng.integers(len(x), size=rng.integers(1, 6))
            x[moved] = x[rng.integers(len(x), size=len(moved))] + rng.normal(0.0, 0.1, (len(moved), 3))
        if i % 7 == 0:
            x[rng.integers(len(x))] *= 1e6
        if i % 5 == 0:
            both.look(x)
        both.look(x)
    assert both.hits > 1000


def test_a_stranger_comes_from_afar_and_stays_inside():
    """It is in nobody's surroundings when lists are made, and lists need not be rebuilt for it."""
    body = bar()
    both, x = Both(body), body.rest.copy()
    both.look(x)
    target = x[body.volume.cells["tetra"][100]].mean(axis=0)
    corner = int(np.abs(x - x.max(axis=0)).sum(axis=1).argmin())
    start = x[corner].copy()
    for part in np.linspace(0.0, 1.0, 30):
        x = body.rest.copy()
        x[corner] = (1 - part) * start + part * target
        found = both.look(x)
    assert corner in found[:, 0]
    assert stage(both.safe, "lists").pairs_out < 0.5 * stage(both.safe, "lists").pairs_in


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-20, 1e20, 1e200, 1e300])
def test_any_size(scale):
    body = bar((6, 2, 2))
    both = Both(body)
    for x, _ in folding(body, 170.0, 8):
        both.look(scale * x)
        both.look(-scale * x)
    assert both.hits > 50


def test_sizes_in_turn():
    body = bar((6, 2, 2))
    both = Both(body)
    for x, _ in folding(body, 170.0, 8):
        for scale in (1.0, 1e-3, 1e40, 0.0, 1e-300, 1e3):
            both.look(scale * x)
    assert both.hits > 50


def test_far_from_the_origin():
    body = bar((6, 2, 2))
    both = Both(body)
    for x, _ in folding(body, 170.0, 10):
        both.look(x - 1e15)
    assert both.hits > 100


@pytest.mark.unit
@pytest.mark.bounds
def test_flat_and_coincident_cells():
    body, rng = bar((4, 1, 1), jitter=0.0), np.random.default_rng(0)
    both = Both(body)
    for i in range(8):
        x = np.round(body.rest + rng.normal(0.0, 0.4, body.rest.shape))
        x[:, i % 3] = 0.0 if i % 2 else x[:, i % 3]
        both.look(x)
    assert both.hits > 100


def test_everything_at_one_point_is_left_to_the_table():
    body = bar()
    both = Both(body)
    both.look(body.rest)
    found = both.look(np.zeros_like(body.rest))
    assert len(found) == len(body.volume.types) * (len(body.rest) - 4)
    both.look(body.rest)


def made_of(cells, x):
    """A body with one joint."""
    volume = pliant.VolumeMesh({"tetra": cells})
    joints, weights = np.zeros((len(x), 1), np.int32), np.ones((len(x), 1))
    return Body(volume, x, joints, weights, np.empty(0, np.int32), np.empty((0, 4)))


def test_bodies_without_cells_and_vertices_without_any():
    rng = np.random.default_rng(1)
    for update in ("safe", "full"):
        empty = CollisionDetector(made_of(np.empty((0, 4), int), np.zeros((3, 3))), update=update)
        assert empty.find(np.zeros((3, 3))).shape == (0, 2)
    x = rng.normal(size=(9, 3))
    both = Both(made_of([[0, 2, 4, 6], [2, 4, 6, 8]], x))
    for _ in range(20):
        both.look(rng.normal(size=x.shape))


def test_lists_that_claim_too_much_lose_collisions():
    """That clearances matter: the same detector, with lists that pretend to have looked further than they have."""
    body = bar()
    safe = CollisionDetector(body, update="safe", threads=1)
    poses = [x for x, _ in folding(body, 165.0, 24)]
    safe.find(poses[0])
    safe._policy._lists.search_radius[:] = 1e3
    safe._policy._lists.known[:] = True
    lost = sum(len(expected(body.volume, x)) - len(safe.find(x)) for x in poses[1:13])
    assert lost > 50


def test_room_that_does_not_suffice_grows():
    body = bar()
    both = Both(body)
    watching = both.safe._policy
    watching._pool = type(watching._pool)(np.empty(1, np.int32), np.empty((3, 1)), np.empty((1, 2), np.int32))
    watching._out = np.empty((1, 2), np.int32)
    for x, _ in folding(body, 165.0, 12):
        both.look(x)
    assert both.hits > 100


def test_threads_change_nothing():
    body = bar((40, 4, 6))
    assert len(body.volume.types) > 4096
    detectors = [CollisionDetector(body, update=u, threads=t) for u in ("full", "safe") for t in (1, 3)]
    for x, _ in folding(body, 150.0, 4):
        found = [detector.find(x) for detector in detectors]
        for other in found[1:]:
            np.testing.assert_array_equal(found[0], other)
    assert len(found[0]) > 50


# ---- obstacles


def block(lower, upper):
    blocks, x = grid((2, 2, 2), lower, upper, split=True)
    return Obstacle(pliant.VolumeMesh(blocks), x)


def test_obstacles_take_part_in_both_roles():
    body = bar((6, 2, 2))
    obstacles = [block((-2, 3, 0.2), (-0.5, 4.5, 1.7)), block((1.1, 4.1, 0.3), (2.3, 5.3, 1.5))]
    both, roles = Both(body, obstacles=obstacles), set()
    count, cells = len(body.rest), len(body.volume.types)
    for i in range(25):
        moved = np.tile(np.eye(4), (2, 1, 1))
        moved[:, 1, 3] = -0.13 * i
        moved[1] = moved[1] @ turn(0.05 * i, 0, (1.7, 4.7, 0.9))
        x = body.rest + [0.0, 0.01 * i, 0.0]
        found = both.look(x, moved)
        joined = np.concatenate((x, *(o.rest @ m[:3, :3].T + m[:3, 3] for o, m in zip(obstacles, moved))))
        np.testing.assert_array_equal(found, expected(both.full.volume, joined))
        roles |= {(bool(v >= count), bool(c >= cells)) for v, c in found.tolist()}
    assert roles == {(True, False), (False, True)}


def test_obstacles_that_are_wrong_are_named():
    body = bar((2, 1, 1))
    blocks, x = grid((1, 1, 1), (0, 0, 0), (1, 1, 1))
    with pytest.raises(ObstacleError, match="obstacle 1 has cells that are not tetrahedra"):
        CollisionDetector(body, obstacles=[block((0, 0, 0), (1, 1, 1)), Obstacle(pliant.VolumeMesh(blocks), x)])
    detector = CollisionDetector(body, obstacles=[block((0, 0, 0), (1, 1, 1))])
    with pytest.raises(ObstacleError, match=r"shape \(1, 4, 4\), one for each obstacle"):
        detector.find(body.rest, None, np.eye(4))
    with pytest.raises(NonFiniteError, match="obstacle_transforms"):
        detector.find(body.rest, None, np.full((1, 4, 4), np.nan))
    with pytest.raises(NonFiniteError, match="obstacle 0, moved"):
        detector.find(body.rest, None, np.full((1, 4, 4), 1e308))


# ---- what users get wrong


def test_input_is_checked_and_errors_say_where():
    body = bar((2, 1, 1))
    detector = CollisionDetector(body)
    with pytest.raises(ShapeError, match="x has 2 rows, but the body has 12 vertices"):
        detector.find(np.zeros((2, 3)))
    x = body.rest.copy()
    x[3, 1] = np.nan
    with pytest.raises(NonFiniteError, match=r"x\[3, 1\]"):
        detector.find(x)
    with pytest.raises(OptionError, match="update='fast'"):
        CollisionDetector(body, update="fast")
    with pytest.raises(OptionError, match="tolerance_angle"):
        CollisionDetector(body, tolerance_angle=0.1)
    with pytest.raises(OptionError, match="needs a skeleton"):
        CollisionDetector(body, update="angles")
    angles = CollisionDetector(body, two_bones(1.0, 0.5), update="angles")
    with pytest.raises(OptionError, match="needs the transforms"):
        angles.find(body.rest)
    with pytest.raises(ShapeError, match=r"\(2, 4, 4\)"):
        angles.find(body.rest, np.eye(4))
    assert issubclass(ObstacleError, MeshError)


def test_integers_and_other_layouts_are_converted():
    body = bar((4, 1, 1), jitter=0.0)
    both, x = Both(body), np.round(posed(body, bend(2.5)) * 4.0)
    found = both.look(x)
    assert len(found) > 0
    np.testing.assert_array_equal(both.safe.find(np.asfortranarray(x.astype(np.int32))), found)
