"""Characters by code: of the sizes of paper 003, closed, well shaped, carried by the right bones; flesh meets flesh."""

from functools import cache

import numpy as np
import pytest

import pliant
from pliant import scenes
from pliant.characters import linear_blend
from pliant.mesh.triangles import TriMesh
from pliant.scenes import flesh, gaits, horse, human, limbs, skins
from pliant.scenes.flesh import Bone, Piece, flesh_of
from pliant.scenes.rigging import bone_weights
from pliant.scenes.stuffing import stuffed

pytestmark = pytest.mark.filterwarnings("error")
every_character = pytest.mark.parametrize("name", scenes.character_names())
# Vertices of the skin, tetrahedra, bones (paper 003, table 1), and clips.
PAPER = {
    "human": (9_500, 5_000, 25, {"walk", "squat", "arms"}),
    "horse": (3_800, 6_100, 43, {"walk", "gallop"}),
    "arm": (4_200, 4_400, 3, {"bend"}),
    "leg": (4_000, 4_300, 3, {"bend"}),
    "arm_with_body": (4_200, 4_400, 3, {"bend"}),
}
load = cache(scenes.load_character)


def posed(scene, clip, t):
    """Positions of the body's vertices under linear blending."""
    body = scene.body
    return linear_blend(body.rest, body.joints, body.weights, scene.character.transforms(clip, t))


def touching(scene, clip, t):
    """(k, 2) vertices, and cells that hold them."""
    found = pliant.inside(scene.body.volume, posed(scene, clip, t), depth=False)
    return np.stack([found.vertices, found.cells], axis=1)


def dihedral_angles(cells, x):
    """(c, 6) in degrees."""
    out = []
    for i, j, k, m in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2), (1, 2, 0, 3), (1, 3, 0, 2), (2, 3, 0, 1)):
        edge, a, b = (x[cells[:, c]] - x[cells[:, i]] for c in (j, k, m))
        one, two = np.cross(edge, a), np.cross(edge, b)
        cosine = np.sum(one * two, axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)
        out.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return np.stack(out, axis=1)


def assert_closed(faces, x):
    """A sphere as far as topology goes: every edge is in two faces, once in either direction; and it faces outward."""
    sides = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    assert len(np.unique(sides, axis=0)) == len(sides)
    np.testing.assert_array_equal(np.unique(sides, axis=0), np.unique(sides[:, ::-1], axis=0))
    used = np.unique(faces)
    assert len(used) - len(sides) // 2 + len(faces) == 2
    assert len(np.unique(TriMesh(faces).components[used])) == 1
    a, b, c = (x[faces[:, i]] for i in range(3))
    assert np.einsum("ni,ni->", a, np.cross(b, c)) > 0


@every_character
def test_sizes_of_the_paper(name):
    vertices, cells, bones, clips = PAPER[name]
    scene = load(name)
    assert scene.name == name
    assert len(scene.character.rest) == pytest.approx(vertices, rel=0.1)
    assert len(scene.body.volume.types) == pytest.approx(cells, rel=0.1)
    assert len(scene.character.skeleton.joints) == bones
    assert set(scene.character.clips) == clips
    assert f"{bones} bones" in repr(scene)


@every_character
def test_surfaces_are_closed(name):
    scene = load(name)
    assert_closed(scene.character.mesh.faces, scene.character.rest)
    assert_closed(scene.body.volume.surface().faces, scene.body.rest)


@every_character
def test_cells_are_well_shaped(name):
    """Of one size, too: no cell has less than a fifth of the mean volume."""
    body = load(name).body
    cells = body.volume.cells["tetra"]
    volume = np.linalg.det(body.rest[cells[:, 1:]] - body.rest[cells[:, :1]]) / 6
    assert volume.min() > 0.2 * volume.mean()
    assert volume.max() < 6 * volume.mean()
    angles = dihedral_angles(cells, body.rest)
    assert angles.min() > 15
    assert angles.max() < 155
    assert np.percentile(angles.min(axis=1), 1) > 25


@every_character
def test_triangles_of_the_skin_are_well_shaped(name):
    character = load(name).character
    x = character.rest[character.mesh.faces]
    area = np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1) / 2
    edges = np.sum((x - np.roll(x, 1, axis=1)) ** 2, axis=(1, 2))
    assert (4 * np.sqrt(3) * area / edges).min() > 0.25  # 1 for equal sides


@every_character
def test_the_skin_is_embedded(name):
    scene = load(name)
    body = scene.body
    corners = body.rest[body.volume.cells["tetra"][body.skin_cells]]
    np.testing.assert_allclose(np.einsum("nk,nkc->nc", body.skin_weights, corners), scene.character.rest, atol=1e-12)
    assert (body.skin_weights.min(axis=1) >= 0).mean() > 0.7
    assert body.skin_weights.min() > -4


@every_character
def test_bones_carry_what_is_next_to_them(name):
    scene = load(name)
    skeleton = scene.character.skeleton
    joined = np.eye(len(skeleton.names), dtype=bool)
    children = np.flatnonzero(skeleton.parents >= 0)
    joined[children, skeleton.parents[children]] = joined[skeleton.parents[children], children] = True
    for joints, weights in (
        (scene.character.joints, scene.character.weights),
        (scene.body.joints, scene.body.weights),
    ):
        assert (weights >= 0).all()
        np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
        assert (np.diff(weights, axis=1) <= 0).all()
        assert (joined[joints, joints[:, :1]] | (weights == 0)).all()
        carried = np.zeros(len(skeleton.names))
        np.maximum.at(carried, joints, weights)
        # Each is the main bone of something; the body has few cells in ears and fingers.
        assert (carried > 0.5).all()


def test_no_side_carries_the_other():
    for name in ("human", "horse"):
        character = load(name).character
        left, right = (np.array([side in bone for bone in character.skeleton.names]) for side in ("left", "right"))
        for side, other in ((left, right), (right, left)):
            mine = side[character.joints[:, 0]]
            assert mine.any()
            assert not (other[character.joints[mine]] & (character.weights[mine] > 0)).any()


@every_character
def test_bones_come_after_their_parents_and_rest_where_they_are_bound(name):
    scene = load(name)
    skeleton = scene.character.skeleton
    assert (skeleton.parents < np.arange(len(skeleton.parents))).all()
    assert (skeleton.parents[1:] >= 0).all()
    assert len(set(skeleton.names)) == len(skeleton.names)
    np.testing.assert_allclose(
        scene.character.transforms(), np.tile(np.eye(4), (len(skeleton.joints), 1, 1)), atol=1e-12
    )
    assert len(touching(scene, None, 0.0)) == 0


@every_character
def test_clips_are_closed_cycles(name):
    for clip in load(name).character.clips.values():
        assert clip.duration == 1.0
        for channel in clip.channels:
            assert len(channel.times) == len(channel.values) == 25
            np.testing.assert_allclose(np.abs(channel.values[0]), np.abs(channel.values[-1]), atol=1e-12)
            if channel.path == "rotation":
                np.testing.assert_allclose(np.linalg.norm(channel.values, axis=1), 1)
                assert (np.sum(channel.values[1:] * channel.values[:-1], axis=1) > 0.9).all()


@pytest.mark.parametrize(("name", "bone", "angle"), [("arm", "forearm", 120), ("leg", "shin", 130)])
def test_how_far_joints_bend(name, bone, angle):
    character = load(name).character
    turn = character.transforms("bend", 0.5)[character.skeleton.names.index(bone), :3, :3]
    assert np.degrees(np.arccos((np.trace(turn) - 1) / 2)) == pytest.approx(angle)


# Least number of vertices of the body that are in foreign cells.
CONTACT = {
    ("arm", "bend", 0.5): 20,
    ("leg", "bend", 0.5): 20,
    ("human", "walk", 0.25): 10,
    ("human", "squat", 0.5): 50,
    ("human", "arms", 0.5): 10,
    ("horse", "walk", 0.0): 3,
    ("horse", "gallop", 0.0): 30,
}


@pytest.mark.parametrize("pose", CONTACT)
def test_flesh_meets_flesh(pose):
    name, clip, t = pose
    scene = load(name)
    inside = np.unique(touching(scene, clip, t)[:, 0])
    assert CONTACT[pose] <= len(inside) < 0.1 * len(scene.body.rest)


@pytest.mark.parametrize("name", ["arm", "leg"])
def test_joints_start_to_touch_on_the_way(name):
    scene = load(name)
    counts = [len(touching(scene, "bend", t)) for t in (0.0, 0.15, 0.35, 0.5)]
    assert counts[:2] == [0, 0]
    assert 0 < counts[2] < counts[3]


def test_which_parts_meet_in_the_walk():
    """Both arms the trunk, and thighs each other in some frame of the walk."""
    scene = load("human")
    names = np.array(scene.character.skeleton.names)
    main = names[scene.body.joints[:, 0]]
    cells = scene.body.volume.cells["tetra"]
    met = set()
    for t in np.linspace(0, 1, 12, endpoint=False):
        for vertex, cell in touching(scene, "walk", t):
            met |= {(main[vertex], part) for part in main[cells[cell]]}
    assert {("left_upper_arm", "chest"), ("right_upper_arm", "chest")} <= met
    assert {("left_thigh", "right_thigh"), ("right_thigh", "left_thigh")} & met


def test_a_ball_beside_the_arm():
    scene = load("arm_with_body")
    ball = scene.obstacle
    assert ball is not None
    cells = ball.volume.cells["tetra"]
    assert len(cells) == pytest.approx(130, rel=0.1)
    assert dihedral_angles(cells, ball.rest).min() > 20
    assert_closed(ball.volume.surface().faces, ball.rest)
    np.testing.assert_allclose(ball.transform(0.0), np.eye(4), atol=1e-12)

    count = len(scene.body.rest)
    both = {"tetra": np.concatenate([scene.body.volume.cells["tetra"], cells + count])}
    found = []
    for t in (0.0, 0.25, 0.5):
        matrix = ball.transform(t)
        np.testing.assert_allclose(matrix[:3, :3] @ matrix[:3, :3].T, np.eye(3), atol=1e-12)
        moved = ball.rest @ matrix[:3, :3].T + matrix[:3, 3]
        x = np.concatenate([posed(scene, "bend", t), moved])
        found.append(len(pliant.inside(both, x, pairs="inter", depth=False).vertices))
    assert found[0] == 0
    assert found[2] > 5


@every_character
def test_the_same_every_time(name):
    one, two = load(name), scenes.load_character(name)
    for a, b in (
        (one.character.mesh.faces, two.character.mesh.faces),
        (one.character.rest, two.character.rest),
        (one.character.weights, two.character.weights),
        (one.body.volume.cells["tetra"], two.body.volume.cells["tetra"]),
        (one.body.rest, two.body.rest),
        (one.body.skin_weights, two.body.skin_weights),
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.unit
def test_unknown_names():
    with pytest.raises(ValueError, match="did you mean 'horse'"):
        scenes.load_character("hose")


# --- the parts they are made of

ROD = (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def rods(apart, parent):
    """Two parallel rods of radius 0.1 from one root, or the second from the first."""
    (a, b), (c, d) = ROD, ((apart, 0.0, 0.0), (apart, 1.0, 0.0))
    return [
        Bone("root", "", (0.0, -1.0, 0.0), (Piece((0.0, -1.0, 0.0), (0.0, -0.9, 0.0), 0.1, 0.1),), 0.1),
        Bone("left", "root", a, (Piece(a, b, 0.1, 0.1),), 0.1, 0.1),
        Bone("right", parent, c, (Piece(c, d, 0.1, 0.1),), 0.1, 0.1),
    ]


@pytest.mark.unit
def test_flesh_is_blended_where_bones_join_only():
    between = np.array([[0.11, 0.5, 0.0]])
    joined, apart = (flesh.depths_below(flesh_of(rods(0.22, parent)), between)[0] for parent in ("left", "root"))
    assert joined < 0 < apart
    assert apart == pytest.approx(0.01)


@pytest.mark.unit
def test_balls_leave_nothing_out():
    """A bone that is too far away to matter is skipped: the value is that of all bones."""
    bones = human.BONES
    fast = flesh_of(bones)
    slow = fast._replace(balls=np.concatenate([fast.balls[:, :3], np.full((len(bones), 1), 1e3)], axis=1))
    points = np.random.default_rng(0).uniform((-0.8, 0.0, -0.3), (0.8, 1.8, 0.3), (100, 3))
    np.testing.assert_array_equal(flesh.depths_below(fast, points), flesh.depths_below(slow, points))


@pytest.mark.unit
@pytest.mark.parametrize("bones", [human.BONES, horse.BONES, limbs.ARM, limbs.LEG])
def test_no_blending_is_further_than_skipping_allows(bones):
    assert max(bone.blend for bone in bones) <= flesh._FURTHEST


@pytest.mark.unit
def test_weights_fade_along_a_straight_joint():
    bones = [
        Bone("one", "", (0.0, 0.0, 0.0), (Piece((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.1, 0.1),), 0.1),
        Bone("two", "one", (1.0, 0.0, 0.0), (Piece((1.0, 0.0, 0.0), (2.0, 0.0, 0.0), 0.1, 0.1),), 0.2),
    ]
    at = np.array([0.5, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5])
    for off in (0.0, 0.1):
        joints, weights = bone_weights(flesh_of(bones), np.stack([at, np.full(7, off), np.zeros(7)], axis=1))
        second = np.where(joints[:, :2] == 1, weights[:, :2], 0).sum(axis=1)
        np.testing.assert_allclose(second, [0, 0, 0.2, 0.5, 0.8, 1, 1], atol=1e-7)


@pytest.mark.unit
def test_what_is_between_two_limbs_belongs_to_neither():
    bones = rods(0.5, "root")
    bones[0] = bones[0]._replace(pieces=(Piece((-0.5, 0.5, 0.0), (1.0, 0.5, 0.0), 0.1, 0.1),))
    joints, weights = bone_weights(flesh_of(bones), np.array([[0.25, 0.5, 0.0]]))
    assert joints[0, 0] == 0
    assert weights[0, 0] == pytest.approx(1)


@pytest.mark.unit
def test_mirrored_bones():
    (bone,) = flesh.mirrored(
        [Bone("left_arm", "left_side", (1.0, 2.0, 3.0), (Piece((1, 0, 0), (2, 0, 1), 0.1, 0.2),), 0.1)]
    )
    assert bone.name == "right_arm"
    assert bone.parent == "right_side"
    assert bone.head == (-1, 2, 3)
    assert bone.pieces == (Piece((-1, 0, 0), (-2, 0, 1), 0.1, 0.2),)


@pytest.mark.bounds
def test_a_small_ball():
    """Closed, of positive cells, with its outer vertices on the sphere."""
    bones = [Bone("ball", "", (0.0, 0.0, 0.0), (Piece((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.5, 1.5),), 1.0)]
    cells, x = stuffed(flesh_of(bones), 1.0)
    volume = pliant.VolumeMesh({"tetra": cells})
    assert (np.linalg.det(x[cells[:, 1:]] - x[cells[:, :1]]) > 0).all()
    faces = volume.surface().faces
    assert_closed(faces, x)
    np.testing.assert_allclose(np.linalg.norm(x[np.unique(faces)], axis=1), 1.5, atol=1e-3)
    faces, x = skins.skin_around(flesh_of(bones), 0.8)
    assert_closed(faces, x)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.5, atol=1e-6)


@pytest.mark.unit
def test_cubes_that_meet_in_an_edge_or_a_corner_only_are_joined():
    for other in ((4, 4, 3), (4, 4, 4)):
        solid = np.zeros((8, 8, 8), bool)
        solid[3, 3, 3] = solid[other] = True
        mended = skins._without_pinches(solid)
        assert (mended & solid).sum() == 2
        quads = skins._outer_faces(mended)
        assert_closed(np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]), np.argwhere(np.ones((9, 9, 9))))


@pytest.mark.unit
def test_rotations_one_after_the_other():
    q = gaits.then(gaits.around(gaits.X, 90.0), gaits.around(gaits.Z, 90.0))[0]
    # y is turned to z, and stays there.
    v, w = q[:3], q[3]
    turned = [e + 2 * np.cross(v, np.cross(v, e) + w * e) for e in np.eye(3)]
    np.testing.assert_allclose(turned, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], atol=1e-12)


@pytest.mark.unit
def test_bumps():
    at = gaits.phases()
    bump = gaits.bump(at, 0.5, 0.5)
    assert bump[12] == pytest.approx(1)
    assert (bump[:7] == 0).all()
    assert bump[18] == pytest.approx(0)
    np.testing.assert_allclose(bump, bump[::-1], atol=1e-12)
