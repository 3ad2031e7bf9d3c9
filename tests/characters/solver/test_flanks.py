"""Which face of the skin is over a place, where bones are, and what barriers do with one vertex."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.arithmetic.vec3 import row
from pliant.characters.body.bones import bones_of, nearness_of
from pliant.characters.solver.barriers import grown, keep_near, no_barriers, push_out
from pliant.characters.solver.flanks import flanks_of
from pliant.characters.solver.skin_tree import closest_face, skin_tree, weights_of_closest
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import kernel
from tests.shapes.limbs import limb
from tests.shapes.solids import ball, grid

pytestmark = [pytest.mark.unit, pytest.mark.bounds]


@kernel
def closest_faces(tree, points, v):
    out = np.empty(len(points), np.int64)
    for i in range(len(points)):
        out[i] = closest_face(tree, row(points, i), (0, v), tree.rest, (0.0, 0.0, 0.0), np.inf)[0]
    return out


def distance(p, triangle):
    """From a fine sampling of the triangle: plain, and right to about a hundredth of its size."""
    s, t = np.meshgrid(np.linspace(0, 1, 81), np.linspace(0, 1, 81))
    inside = s + t <= 1.0
    points = (
        triangle[0]
        + s[inside][:, None] * (triangle[1] - triangle[0])
        + t[inside][:, None] * (triangle[2] - triangle[0])
    )
    return np.linalg.norm(points - p, axis=1).min()


def test_weights_of_the_closest_point_of_a_triangle():
    rng = np.random.default_rng(0)
    where = set()
    for _ in range(60):
        triangle, p = rng.uniform(-1, 1, (3, 3)), rng.uniform(-1.5, 1.5, 3)
        w = np.array(weights_of_closest(tuple(p), *map(tuple, triangle)))
        assert w.min() >= 0.0
        assert w.sum() == pytest.approx(1.0)
        assert np.linalg.norm(w @ triangle - p) <= distance(p, triangle) + 1e-12
        assert np.linalg.norm(w @ triangle - p) >= distance(p, triangle) - 0.05
        where.add(tuple(w > 0.0))
    assert len(where) == 7  # corners, sides and the inside


def test_the_closest_face_is_that_of_a_search_through_all():
    blocks, x = ball(3, 1.0, split=True)
    faces = VolumeMesh(blocks).surface().faces
    tree = skin_tree(faces, x, np.zeros(len(x), np.int32))
    points = np.random.default_rng(1).uniform(-0.8, 0.8, (12, 3))
    for p, place in zip(points, closest_faces(tree, points, -1)):
        away = [np.linalg.norm(np.array(weights_of_closest(tuple(p), *map(tuple, x[f]))) @ x[f] - p) for f in faces]
        f = tree.faces[place]
        found = np.linalg.norm(np.array(weights_of_closest(tuple(p), *map(tuple, x[f]))) @ x[f] - p)
        assert found == pytest.approx(min(away), abs=1e-12)


def test_faces_look_outward_whichever_way_cells_are_given():
    blocks, x = grid((2, 1, 1), (0, 0, 0), (2, 1, 1), split=True)
    cells = blocks["tetra"].copy()
    cells[::2] = cells[::2][:, [1, 0, 2, 3]]
    flanks = flanks_of(VolumeMesh({"tetra": cells}), x, np.zeros(len(x), np.int32))
    for a, b, c, behind in flanks.tree.faces:
        n = np.cross(x[b] - x[a], x[c] - x[a])
        assert n @ (x[behind] - x[a]) < 0.0


def test_bones_lead_to_the_next_joints_and_out_of_the_last():
    character, body = limb((6, 2, 2))
    joint, head, tail = bones_of(character.skeleton, body)
    assert joint.tolist() == [0, 1]
    assert head == pytest.approx(np.array([[0.0, 0, 0], [3, 0, 0]]), abs=1e-12)
    assert tail[0] == pytest.approx([3.0, 0.0, 0.0], abs=1e-12)
    assert tail[1, 0] > 5.0
    near = nearness_of(character.skeleton, body, np.unique(body.volume.surface().faces))
    axis = (body.rest[:, 1:] == 0.0).all(axis=1) & (np.abs(body.rest[:, 0] - 3.0) < 2.5)
    assert near[axis] == pytest.approx(1.0, abs=1e-9)
    assert near[np.abs(body.rest[:, 1]) == 0.75].max() == 0.0


def one_barrier():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, -1.0], [0.25, 0.25, -0.1]])
    barriers = no_barriers(1)
    barriers.vertices[0], barriers.faces[0], barriers.used[0] = 4, (0, 1, 2, 3), 1
    return x, barriers


def test_a_barrier_parts_vertex_and_face_and_keeps_their_middle():
    x, barriers = one_barrier()
    before = x.copy()
    push_out(x, before, np.ones(5), barriers, (0.02, 1.0, 0.0))
    w = np.array([0.5, 0.25, 0.25])
    assert x[4, 2] - w @ x[:3, 2] == pytest.approx(0.02, rel=1e-6)
    assert x[:3].sum(axis=0) + x[4] == pytest.approx(before[:3].sum(axis=0) + before[4])
    assert barriers.push[0] == pytest.approx(0.12)
    push_out(x, before, np.ones(5), barriers, (0.0, 1.0, 0.0))
    assert barriers.push[0] == pytest.approx(0.12)  # in front already


def test_what_is_not_free_does_not_move():
    x, barriers = one_barrier()
    before = x.copy()
    push_out(x, before, np.array([0.0, 0, 0, 0, 1]), barriers, (0.02, 1.0, 0.0))
    assert np.array_equal(x[:4], before[:4])
    assert x[4, 2] == pytest.approx(0.02)
    push_out(x, before, np.zeros(5), barriers, (1.0, 1.0, 0.0))
    assert x[4, 2] == pytest.approx(0.02)


@pytest.mark.parametrize(("friction", "left"), [(0.0, 0.2), (0.5, 0.14), (5.0, 0.0)])
def test_friction_holds_back_up_to_its_share_of_the_push(friction, left):
    x, barriers = one_barrier()
    start = x.copy()
    x[4, 0] += 0.2
    push_out(x, start, np.array([0.0, 0, 0, 0, 1]), barriers, (0.02, 1.0, friction))
    assert x[4, 0] - start[4, 0] == pytest.approx(left, abs=1e-12)


def test_a_face_inside_out_pushes_nothing():
    x, barriers = one_barrier()
    x[3, 2] = 1.0
    before = x.copy()
    push_out(x, before, np.ones(5), barriers, (0.02, 1.0, 0.3))
    assert np.array_equal(x, before)


def test_barriers_go_when_they_are_idle_far_or_lost():
    x, barriers = one_barrier()
    nobody = np.zeros(5, bool)
    for _ in range(8):
        keep_near(x, nobody, barriers, 0.5)
        assert barriers.used[0] == 1
    keep_near(x, nobody, barriers, 0.5)
    assert barriers.used[0] == 0
    for change in ("far", "lost"):
        x, barriers = one_barrier()
        lost = nobody.copy()
        if change == "far":
            x[4, 0] += 2.0
        else:
            lost[4] = True
        keep_near(x, lost, barriers, 0.5)
        assert barriers.used[0] == 0


def test_room_grows_with_what_is_there():
    _, barriers = one_barrier()
    more = grown(barriers, 9)
    assert len(more.vertices) >= 10
    assert more.faces[0].tolist() == [0, 1, 2, 3]
    assert more.used[0] == 1
    assert grown(more, 3) is more
