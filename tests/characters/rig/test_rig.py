"""Rigs that are made in code: what is checked, and how clips are sampled."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.characters import Channel, Character, Clip, Pose, Skeleton
from pliant.characters.rig.errors import ClipError, SkeletonError, SkinError
from pliant.runtime.arrays import MeshError, OptionError, ShapeError

QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
NONE = np.array([0.0, 0.0, 0.0, 1.0])


def rest_of(count):
    return Pose(np.zeros((count, 3)), np.tile(NONE, (count, 1)), np.ones((count, 3)))


def chain(count=3):
    """Joints one above the other."""
    rest = rest_of(count)
    rest.translation[1:, 1] = 1.0
    binds = np.tile(np.eye(4), (count, 1, 1))
    binds[:, 1, 3] = -np.arange(count)
    names = tuple(f"joint {i}" for i in range(count))
    return Skeleton(names, np.arange(-1, count - 1), rest, np.arange(count), binds)


def sampled(channel, t, count=1):
    return getattr(Clip("test", (channel,), 1.0).sample(chain(count), t), channel.path)[channel.node]


@pytest.mark.unit
def test_a_chain():
    skeleton = chain()
    np.testing.assert_array_equal(skeleton.globals()[:, 1, 3], [0, 1, 2])
    np.testing.assert_array_equal(skeleton.transforms(), np.tile(np.eye(4), (3, 1, 1)))
    bent = Pose(*(array.copy() for array in skeleton.rest))
    bent.rotation[1] = QUARTER
    tip = skeleton.globals(bent)[2, :3, 3]
    np.testing.assert_allclose(tip, [-1.0, 1.0, 0.0], atol=1e-15)
    assert repr(bent) == "Pose(3 nodes)"


@pytest.mark.unit
@pytest.mark.parametrize(
    ("t", "expected"), [(-5.0, 2.0), (1.0, 2.0), (1.5, 3.0), (2.0, 4.0), (2.999, 8.0 - 0.004), (3.0, 8.0), (99.0, 8.0)]
)
def test_linear_keys_are_clamped(t, expected):
    channel = Channel(0, "translation", np.array([1.0, 2.0, 3.0]), np.array([[2.0] * 3, [4.0] * 3, [8.0] * 3]))
    np.testing.assert_allclose(sampled(channel, t), expected, rtol=1e-14)


@pytest.mark.unit
def test_steps_change_at_their_key():
    channel = Channel(0, "scale", np.array([0.0, 1.0]), np.array([[1.0] * 3, [2.0] * 3]), "step")
    assert [sampled(channel, t)[0] for t in (-1.0, 0.0, 0.999, 1.0, 5.0)] == [1, 1, 1, 2, 2]


@pytest.mark.unit
@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_of_two_keys_at_one_time_the_second_counts_from_there_on(interpolation):
    times, values = np.array([0.0, 1.0, 1.0, 2.0]), np.array([[0.0] * 3, [2.0] * 3, [5.0] * 3, [5.0] * 3])
    channel = Channel(0, "translation", times, values, interpolation)
    assert sampled(channel, 0.5)[0] == (1.0 if interpolation == "linear" else 0.0)
    assert sampled(channel, 1.0)[0] == 5.0


@pytest.mark.unit
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rotations_take_the_shorter_way_at_constant_speed(sign):
    channel = Channel(0, "rotation", np.array([0.0, 1.0]), np.array([NONE, sign * QUARTER]))
    for t in np.linspace(0.0, 1.0, 7)[:-1]:
        half = t * np.pi / 4.0
        np.testing.assert_allclose(sampled(channel, t), [0, 0, np.sin(half), np.cos(half)], atol=1e-15)


@pytest.mark.unit
def test_rotations_get_length_one():
    keys = np.array([3.0 * NONE, 0.1 * QUARTER, 0.1 * QUARTER * (1 + 1e-9)])
    for interpolation in ("linear", "step"):
        channel = Channel(0, "rotation", np.array([0.0, 1.0, 2.0]), keys, interpolation)
        for t in (0.0, 0.3, 1.0, 1.4, 2.0):
            assert np.linalg.norm(sampled(channel, t)) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.unit
def test_a_cubic_spline_of_a_cubic_is_that_cubic():
    times = np.array([-1.0, 0.5, 2.0])

    def cubic(t):
        return t**3 - 2.0 * t**2 + 3.0

    def slope(t):
        return 3.0 * t**2 - 4.0 * t

    values = np.repeat(np.stack([slope(times), cubic(times), slope(times)], axis=1)[:, :, None], 3, axis=2)
    channel = Channel(0, "translation", times, values, "cubic")
    for t in np.linspace(-1.0, 2.0, 31):
        np.testing.assert_allclose(sampled(channel, t), cubic(t), atol=1e-13)
    np.testing.assert_allclose(sampled(channel, 3.0), cubic(2.0))


@pytest.mark.unit
def test_a_spline_of_rotations_that_passes_through_zero():
    values = np.zeros((2, 3, 4))
    values[0, 1], values[1, 1] = NONE, -NONE
    channel = Channel(0, "rotation", np.array([0.0, 1.0]), values, "cubic")
    np.testing.assert_array_equal(sampled(channel, 0.5), NONE)


KEYS = np.array([0.0, 1.0])


@pytest.mark.unit
@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (Channel(0, "colour", KEYS, np.zeros((2, 3))), "path 'colour'"),
        (Channel(0, "scale", KEYS, np.zeros((2, 3)), "elastic"), "'elastic' is not known"),
        (Channel(0, "scale", KEYS, np.zeros((2, 4))), "where \\(2, 3\\) is needed"),
        (Channel(0, "scale", KEYS, np.zeros((2, 3)), "cubic"), "where \\(2, 3, 3\\) is needed"),
        (Channel(0, "scale", np.empty(0), np.zeros((0, 3))), "is needed"),
        (Channel(-1, "scale", KEYS, np.ones((2, 3))), "node -1"),
        (Channel(0, "scale", KEYS[::-1], np.ones((2, 3))), "key 1 is earlier"),
        (Channel(0, "scale", KEYS, np.array([[1.0] * 3, [np.nan] * 3])), "the value of key 1 is not finite"),
        (Channel(0, "scale", np.array([0.0, np.inf]), np.ones((2, 3))), "the time of key 1 is not finite"),
        (Channel(0, "rotation", KEYS, np.array([NONE, 0 * NONE])), "key 1 is a quaternion of length zero"),
    ],
)
def test_a_bad_channel(channel, message):
    with pytest.raises(ClipError, match=f"clip 'test': channel 0: .*{message}"):
        Clip("test", (channel,), 1.0)


@pytest.mark.unit
def test_clips_and_times_that_do_not_fit():
    channel = Channel(3, "scale", KEYS, np.ones((2, 3)))
    clip = Clip("test", (channel,), 1.0)
    assert repr(channel) == "Channel(scale of node 3, 2 linear keys)"
    with pytest.raises(ClipError, match="moves node 3, but the skeleton has 3"):
        clip.sample(chain(3), 0.0)
    with pytest.raises(ClipError, match="time nan"):
        clip.sample(chain(4), float("nan"))
    with pytest.raises(ClipError, match="channel 1: a second one"):
        Clip("test", (channel, channel), 1.0)
    still = Clip("still", (), 0.0).sample(chain(3), 0.5)
    np.testing.assert_array_equal(still.translation, chain(3).rest.translation)


@pytest.mark.unit
def test_sampling_leaves_the_skeleton_alone():
    skeleton = chain(2)
    clip = Clip("test", (Channel(1, "scale", KEYS, np.full((2, 3), 7.0)),), 1.0)
    clip.sample(skeleton, 0.5).scale[:] = 9.0
    assert (skeleton.rest.scale == 1.0).all()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"parents": [-1, 2, 0]}, SkeletonError, "node 1 has the parent 2"),
        ({"parents": [-1, 1, 0]}, SkeletonError, "node 1 has the parent 1"),
        ({"parents": [-2, 0, 0]}, SkeletonError, "node 0 has the parent -2"),
        ({"parents": [-1, 0]}, ShapeError, "3 names"),
        ({"joints": [0, 1, 3]}, SkeletonError, "joint 2 is node 3"),
        ({"joints": [0, 1]}, ShapeError, "inverse_bind"),
        ({"joints": [0.0, 1.0, 2.0]}, MeshError, "integers"),
        ({"inverse_bind": np.full((3, 4, 4), np.nan)}, MeshError, r"inverse_bind\[0, 0, 0\] is nan"),
        ({"rest": rest_of(2)}, ShapeError, "a pose of 3 nodes"),
        ({"rest": rest_of(3)._replace(rotation=np.full((3, 4), 0.6))}, SkeletonError, "node 0 is a quaternion of"),
    ],
)
def test_a_bad_skeleton(change, error, message):
    good = vars(chain())
    with pytest.raises(error, match=message):
        Skeleton(**{name: change.get(name, good[name]) for name in good})


def character(**change):
    parts = {
        "name": "test",
        "mesh": pliant.TriMesh([[0, 1, 2]]),
        "rest": np.eye(3),
        "joints": np.array([[0, 1], [1, 2], [2, 0]]),
        "weights": np.full((3, 2), 0.5),
        "skeleton": chain(),
    }
    return Character(**(parts | change))


@pytest.mark.unit
def test_a_character():
    made = character()
    assert made.joints.dtype == np.int32
    np.testing.assert_array_equal(made.pose(), np.eye(3))
    np.testing.assert_allclose(made.pose(method="dual quaternion"), np.eye(3), atol=1e-15)
    with pytest.raises(OptionError, match="'linear', 'dual quaternion'"):
        made.pose(method="spherical")


@pytest.mark.unit
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"rest": np.eye(3)[:2]}, ShapeError, r"\(2, w\)"),
        ({"joints": np.zeros((3, 1), int)}, ShapeError, "joints"),
        ({"joints": np.full((3, 2), 3)}, SkinError, "vertex 0 has a joint that is not among the 3"),
        ({"weights": np.full((3, 2), 0.4)}, SkinError, "vertex 0 has weights that sum to 0.8"),
        ({"weights": np.array([[0.5, 0.5], [1.5, -0.5], [1, 0]])}, SkinError, "vertex 1 has a negative weight"),
        ({"mesh": pliant.TriMesh([[0, 1, 3]])}, ShapeError, "the mesh has vertex 3"),
    ],
)
def test_a_bad_character(change, error, message):
    with pytest.raises(error, match=message):
        character(**change)


@pytest.mark.unit
def test_public_names():
    for name in pliant.characters.__all__:
        assert getattr(pliant.characters, name) is not None
    assert dir(pliant.characters) == sorted(pliant.characters.__all__)
    with pytest.raises(AttributeError, match=r"pliant\.characters"):
        pliant.characters.nothing  # noqa: B018
