"""What a resolver promises besides freedom of contact: physics, driven objects, the same bits, clear errors."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.shapes.hostile import folded, proposals
from tests.shapes.tables import assert_identical

SQUARE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)])
FACES = np.array([(0, 1, 2), (0, 2, 3)])
UP = np.array((0.0, 0.0, 1.0))


def layers(*heights, shift=0.13):
    """Squares above each other, each moved aside a little."""
    x = [SQUARE * (1.0 + 0.1 * i) + (shift * i, 0.07 * i, z) for i, z in enumerate(heights)]
    return np.concatenate([FACES + 4 * i for i in range(len(x))]), np.concatenate(x)


def masses(*inverse):
    return np.repeat(np.array(inverse, float), 4)


def test_what_is_free_stays_as_it_is():
    faces, x0 = layers(0.0, 1.0)
    x1 = x0 + masses(0.0, 1.0)[:, None] * (0.1, 0.0, -0.5)
    resolved = pliant.resolve(faces, x0, x1)
    assert np.array_equal(resolved.positions, x1)
    assert not resolved.changed.any()
    assert not resolved.displacement.any()
    assert (resolved.rounds, resolved.queries, resolved.planes, len(resolved.contacts)) == (0, 1, 0, 0)
    assert repr(resolved) == "Resolved(0 of 8 vertices changed, 0 contacts pushed, 0 rounds)"


@pytest.mark.bounds
@pytest.mark.unit
def test_a_sheet_falls_on_a_floor():
    faces, x0 = layers(0.0, 0.5)
    x1 = x0 - masses(0.0, 1.0)[:, None] * UP
    resolved = pliant.resolve(faces, x0, x1, inverse_mass=masses(0.0, 1.0), thickness=0.1)
    assert np.array_equal(resolved.positions[:4], x0[:4])
    assert len(resolved.contacts) > 0
    assert resolved.impulses.shape == (len(resolved.contacts), 3)
    lowest = pliant.near(faces, resolved.positions, within=0.4).distance.min()
    assert 0.05 < lowest < 0.2  # it fell, and the thickness is aimed at
    assert resolved.shares.tolist() == [1.0]
    assert resolved.driven_objects.tolist() == [0]


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_impulses_conserve_momentum(friction):
    faces, x0 = layers(0.0, 0.5, 1.0)
    inverse = np.random.default_rng(0).uniform(0.5, 2.0, len(x0))
    x1 = x0 + np.repeat((1.0, 0.0, -1.0), 4)[:, None] * (0.2, 0.0, 0.7)
    resolved = pliant.resolve(faces, x0, x1, inverse_mass=inverse, friction=friction)
    assert resolved.planes == 0
    assert len(resolved.contacts) > 2
    change = resolved.displacement / inverse[:, None]
    assert np.abs(change).max() > 0.01
    assert np.abs(change.sum(axis=0)).max() < 1e-12
    # The impulses are what changed it, vertex by vertex.
    summed = np.zeros_like(x0)
    parts = resolved.contacts.weights[:, :, None] * resolved.impulses[:, None, :]
    np.add.at(summed, resolved.contacts.vertices, parts)
    assert np.abs(summed - change).max() < 1e-12


@pytest.mark.parametrize("friction", [0.1, 0.3])
def test_friction_is_in_its_cone_and_brakes(friction):
    faces, x0 = layers(0.0, 0.3)
    mass = masses(0.0, 1.0)
    x1 = x0 + mass[:, None] * (0.5, 0.0, -1.0)
    smooth = pliant.resolve(faces, x0, x1, inverse_mass=mass)
    rough = pliant.resolve(faces, x0, x1, inverse_mass=mass, friction=friction)
    normal = np.einsum("kj,kj->k", rough.impulses, rough.contacts.normal)
    across = np.linalg.norm(rough.impulses - normal[:, None] * rough.contacts.normal, axis=1)
    assert len(normal) > 0
    assert (across <= friction * normal * (1 + 1e-9) + 1e-15).all()
    assert across.max() > 0.5 * friction * normal[across.argmax()]
    slid, held = ((r.positions - x0)[4:, 0].mean() for r in (smooth, rough))
    assert held < slid - 0.01


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_restitution(restitution):
    faces, x0 = layers(0.0, 0.3, shift=0.0)
    mass = masses(0.0, 1.0)
    x1 = x0 - mass[:, None] * UP
    resolved = pliant.resolve(faces, x0, x1, inverse_mass=mass, restitution=restitution)
    rise = (resolved.positions - x0)[4:, 2].mean()
    assert rise == pytest.approx(restitution if restitution else -0.3, abs=0.05)


class TestDriven:
    def test_pinched_objects_wait(self):
        """A sheet between two plates that are driven through each other."""
        faces, x0 = layers(0.0, 0.5, 1.0)
        mass = masses(0.0, 1.0, 0.0)
        x1 = x0 + np.repeat((1.0, 0.0, -1.0), 4)[:, None] * UP
        resolved = pliant.resolve(faces, x0, x1, inverse_mass=mass)
        free = pliant.ccd(faces, x0, resolved.positions)
        assert np.count_nonzero(mass[free.vertices].any(axis=1)) == 0
        assert resolved.driven_objects.tolist() == [0, 2]
        assert (resolved.shares < 1.0).all()
        assert (resolved.shares > 0.1).all()
        for label, share in enumerate(resolved.shares):
            rows = slice(8 * label, 8 * label + 4)
            assert np.allclose(resolved.positions[rows], x0[rows] + share * (x1 - x0)[rows], atol=1e-14)
        assert "2 driven objects wait" in repr(resolved)

    def test_or_say_so(self):
        faces, x0 = layers(0.0, 0.5, 1.0)
        x1 = x0 + np.repeat((1.0, 0.0, -1.0), 4)[:, None] * UP
        with pytest.raises(pliant.PinchedError, match=r'driven object 0.* nowhere to go.*pinched="wait"') as raised:
            pliant.resolve(faces, x0, x1, inverse_mass=masses(0.0, 1.0, 0.0), pinched="raise")
        assert raised.value.objects[0] == 0
        assert (raised.value.shares < 1.0).all()

    def test_nobody_waits_for_wholly_driven_pairs(self):
        faces, x0 = layers(0.0, 0.5, 3.0)
        x1 = x0 - masses(0.0, 1.0, 0.0)[:, None] * UP  # a plate through a plate, and a sheet far away
        resolved = pliant.resolve(faces, x0, x1, inverse_mass=masses(0.0, 0.0, 1.0))
        assert np.array_equal(resolved.positions, x1)
        assert resolved.driven_pairs == len(pliant.ccd(faces, x0, x1)) > 0
        assert resolved.shares.tolist() == [1.0, 1.0]

    def test_driven_objects_may_intersect_at_the_start(self):
        faces, x0 = layers(0.0, 0.0, 3.0)
        resolved = pliant.resolve(faces, x0, x0 - 0.1 * UP, inverse_mass=masses(0.0, 0.0, 1.0))
        assert resolved.driven_pairs > 0

    def test_masses_of_zero_everywhere(self):
        faces, x0 = layers(0.0, 0.5)
        x1 = x0 - masses(0.0, 1.0)[:, None] * UP
        resolved = pliant.resolve(faces, x0, x1, inverse_mass=masses(0.0, 0.0))
        assert np.array_equal(resolved.positions, x1)
        assert resolved.driven_pairs > 0

    def test_pins_wait_with_their_object(self):
        """Labels, not components, say what waits together."""
        faces, x0 = layers(0.0, 0.5, 1.0)
        x1 = x0 + np.repeat((1.0, 0.0, -1.0), 4)[:, None] * UP
        mass = masses(0.0, 1.0, 0.0)
        resolved = pliant.resolve(faces, x0, x1, inverse_mass=mass, objects=np.repeat((7, 3, 7), 4))
        assert resolved.driven_objects.tolist() == [7]
        assert len(resolved.shares) == 1


class TestTangled:
    def test_is_an_error_with_its_pairs(self):
        faces, x0 = layers(0.0, 0.0)
        x0[4:, 2] += (0.1, 0.1, -0.1, -0.1)
        with pytest.raises(pliant.TangledError, match=r"tangled: faces .* intersect at x0.*keep") as raised:
            pliant.resolve(faces, x0, x0)
        assert np.array_equal(raised.value.faces, pliant.check(faces, x0).faces)

    def test_or_is_kept(self):
        """What crosses still crosses, and a third sheet does not come through."""
        faces, x0 = layers(0.0, 0.0, 0.5)
        x0[4:8, 2] += (0.1, 0.1, -0.1, -0.1)
        x1 = x0 - np.repeat((0.0, 0.0, 1.0), 4)[:, None] * UP
        resolved = pliant.resolve(faces, x0, x1, tangled="keep")
        assert len(pliant.ccd(faces, x0, resolved.positions)) == 0
        assert np.array_equal(pliant.check(faces, x0).faces, pliant.check(faces, resolved.positions).faces)
        assert (x0 - resolved.positions)[8:, 2].min() > 0.05

    def test_inverted_cells(self):
        mesh = pliant.VolumeMesh({"tetra": [(0, 1, 2, 3)]})
        x0 = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)])
        with pytest.raises(pliant.TangledError, match="cells 0 are inverted or flat"), np.errstate():
            pliant.resolve(mesh, x0, x0)

    def test_a_loose_edge_through_a_face(self):
        mesh = pliant.TriMesh(FACES, [(4, 5)])
        x0 = np.concatenate((SQUARE, [(0.6, 0.2, 1.0), (0.6, 0.2, -1.0)]))
        with pytest.raises(pliant.TangledError, match="loose edges"):
            pliant.resolve(mesh, x0, x0)


def test_distance_kept():
    """Pressed together again and again, gaps do not shrink without end."""
    faces, x = layers(0.0, 0.3, 0.6)
    resolver = pliant.Resolver(faces, distance_kept=0.01)
    for _ in range(60):
        x = resolver.resolve(x, x * (1.0, 1.0, 0.5)).positions
    gap = pliant.near(faces, x, within=0.3).distance.min()
    assert 0.005 < gap < 0.1


def test_threads_change_nothing():
    faces, x0 = folded(16, 4, 4, 0.3)
    for _, x1 in proposals(x0, 1.0, np.random.default_rng(1)):
        one, two = (pliant.resolve(faces, x0, x1, thickness=0.1, friction=0.2, threads=n) for n in (1, 2))
        assert np.array_equal(one.positions, two.positions)
        assert np.array_equal(one.impulses, two.impulses)
        assert (one.rounds, one.queries, one.planes) == (two.rounds, two.queries, two.planes)
        assert_identical(one.contacts, two.contacts)


def test_a_kept_resolver_gives_what_the_function_gives():
    rng = np.random.default_rng(3)
    faces, x = folded(12, 4, 3, 0.3)
    resolver = pliant.Resolver(faces, thickness=0.1, friction=0.3)
    for step in range(12):
        x1 = list(proposals(x, 0.3, rng))[step % 3][1]
        if step % 2:
            assert_identical(resolver.near(x), pliant.near(faces, x, within=0.15))
        kept, fresh = resolver.resolve(x, x1), pliant.resolve(faces, x, x1, thickness=0.1, friction=0.3)
        assert np.array_equal(kept.positions, fresh.positions)
        assert np.array_equal(kept.impulses, fresh.impulses)
        x = kept.positions


def test_max_rounds_bounds_impulses_and_not_the_proof():
    faces, x0 = folded(12, 4, 3, 0.3)
    for _, x1 in proposals(x0, 1.0, np.random.default_rng(0)):
        resolved = pliant.resolve(faces, x0, x1, max_rounds=0)
        assert resolved.rounds == 0
        assert len(resolved.contacts) == 0
        assert len(pliant.ccd(faces, x0, resolved.positions)) == 0


BAD = {
    "x1[3, 0] is nan": {"x1": np.where(np.arange(24).reshape(8, 3) == 9, np.nan, 1.0)},
    "x1 has 7 rows": {"x1": np.zeros((7, 3))},
    "inverse_mass has 3 rows, but x0 has 8": {"inverse_mass": np.ones(3)},
    r"inverse_mass[2] is -1.0": {"inverse_mass": [1, 1, -1, 1, 1, 1, 1, 1]},
    "inverse_mass[1] is nan": {"inverse_mass": [1, np.nan, 1, 1, 1, 1, 1, 1]},
    "inverse_mass must have shape (n,)": {"inverse_mass": np.ones((8, 1))},
    "thickness=-1 must be": {"thickness": -1},
    "friction=nan must be": {"friction": np.nan},
    "restitution=2 must be from 0 to 1": {"restitution": 2},
    "distance_kept='a' must be a number": {"distance_kept": "a"},
    "pinched='x' is not known": {"pinched": "x"},
    "tangled='ignore' is not known": {"tangled": "ignore"},
    "max_rounds=-1 must be": {"max_rounds": -1},
    "threads=0 must be": {"threads": 0},
    "objects must have one label": {"objects": [0, 1]},
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_wrong_is_said(message):
    faces, x0 = layers(0.0, 0.5)
    with pytest.raises(pliant.MeshError) as raised:
        pliant.resolve(faces, **({"x0": x0, "x1": x0} | BAD[message]))
    assert message in str(raised.value)


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("thickness", [0.0, 0.01])
def test_any_scale(size, thickness):
    faces, x0 = layers(0.0, 0.5)
    x1 = x0 - masses(0.0, 1.0)[:, None] * UP
    resolved = pliant.resolve(faces, x0 * size, x1 * size, thickness=thickness * size)
    assert len(pliant.ccd(faces, x0 * size, x1 * size)) > 0
    assert len(pliant.ccd(faces, x0 * size, resolved.positions)) == 0


@pytest.mark.parametrize("thickness", [3.0, 1e6, 1e300])
def test_a_thickness_larger_than_the_mesh(thickness):
    """Near is everything then, which is millions of pairs where there are a thousand triangles."""
    faces, x0 = folded(20, 10, 4, 0.3)
    x1 = x0 * (1.0, 1.0, 0.2)
    with pytest.warns(UserWarning, match=r"thickness=.* is so large that nearly everything is within it"):
        resolved = pliant.resolve(faces, x0, x1, thickness=thickness)
    assert len(pliant.ccd(faces, x0, resolved.positions)) == 0
    resolver = pliant.Resolver(faces, thickness=thickness)
    assert 1000 < len(resolver.near(x0)) < 140_000 < len(pliant.near(faces, x0, within=100.0))
    with pytest.warns(UserWarning, match="so large"):
        assert np.array_equal(resolver.resolve(x0, x1).positions, resolved.positions)


def test_near_pairs_that_were_asked_for_change_nothing():
    """Those within a larger distance, too many for the step."""
    faces, x0 = folded(20, 10, 4, 0.3)
    x1 = x0 * (1.0, 1.0, 0.2)
    resolver = pliant.Resolver(faces, thickness=2.0)
    assert len(resolver.near(x0, 10.0)) > 140_000
    with pytest.warns(UserWarning, match="so large"):
        one, two = resolver.resolve(x0, x1), pliant.resolve(faces, x0, x1, thickness=2.0)
    assert np.array_equal(one.positions, two.positions)


def test_duplicate_faces_are_named():
    faces, x0 = layers(0.0, 0.5)
    with pytest.raises(pliant.TangledError, match=r"faces 0 and 4 have the same vertices.*remove one"):
        pliant.resolve(np.concatenate((faces, faces[:1, [1, 2, 0]])), x0, x0)


@pytest.mark.parametrize("tuning", [pliant.Tuning(culling="brute"), pliant.Tuning(filters=())])
def test_tuning_changes_nothing(tuning):
    """Nor whether there are too many contacts, of which those that integers decide count more."""
    faces, x0 = folded(12, 4, 3, 0.3)
    wild = [*proposals(x0, 1.0, np.random.default_rng(2)), ("through a point", 2.0 * x0.mean(axis=0) - x0)]
    for name, x1 in wild:
        kept = pliant.Resolver(faces, thickness=0.1, tuning=tuning).resolve(x0, x1)
        assert np.array_equal(kept.positions, pliant.resolve(faces, x0, x1, thickness=0.1).positions), name
