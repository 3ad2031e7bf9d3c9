"""Volume scenes are of the size of the paper's, fit together, move in small steps, and really touch."""

import numpy as np
import pytest

import pliant
from pliant import scenes
from pliant.scenes.cutting import cut_in_steps
from pliant.scenes.lattices import box_shell, cubes, cut_quads, rounded, tetrahedra
from pliant.scenes.liver import _plane, _shape, _snapped
from pliant.scenes.volume_scene import KINDS

pytestmark = pytest.mark.filterwarnings("error")
every_scene = pytest.mark.parametrize("name", scenes.volume_names())
# Kind of cell, number of cells in the first and in the last step (paper 004, section 6.2).
PAPER = {
    "octopi": ({"tetra"}, 17_600, 17_600),
    "bullet": ({"hexahedron"}, 12_000, 11_800),
    "airbag": ({"quad"}, 9_100, 9_100),
    "car_crash": ({"triangle", "quad"}, 60_000, 60_000),
    "liver": ({"tetra"}, 3_874, 4_338),
}
SMALL = {"octopi": 3_000, "bullet": 1_500, "airbag": 1_500, "car_crash": 3_000, "liver": 1_500}
FACES = {
    "tetra": [(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)],
    "hexahedron": [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
}
# For each corner, the three next to it and itself: of a tetrahedron the first is enough.
CORNERS = {
    "tetra": [(1, 2, 3, 0)],
    "hexahedron": [
        (1, 3, 4, 0), (2, 0, 5, 1), (3, 1, 6, 2), (0, 2, 7, 3), (7, 5, 0, 4), (4, 6, 1, 5), (5, 7, 2, 6), (6, 4, 3, 7),
    ],
}  # fmt: skip


def boundary(cells):
    """Faces of solid cells that only one cell has, as (k, 3 or 4), and how many cells at most share a face."""
    outer, most = [], 1
    for kind, rows in cells.items():
        if kind not in FACES:
            outer.append(rows)
            continue
        faces = np.concatenate([rows[:, list(face)] for face in FACES[kind]])
        _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
        outer.append(faces[first[count == 1]])
        most = max(most, int(count.max()))
    return outer, most


def surface(cells):
    """The surface as triangles (m, 3)."""
    outer, _ = boundary(cells)
    return np.concatenate([f if f.shape[1] == 3 else cut_quads(f) for f in outer]).astype(np.int64)


def smallest_corners(kind, x):
    """(k,) the smallest of the signed volumes that the edges at the corners of cells (k, corners, 3) span."""
    return np.min([np.linalg.det(x[:, [a, b, c]] - x[:, [o]]) for a, b, c, o in CORNERS[kind]], axis=0)


def median_edge(cells, x):
    sides = [np.linalg.norm(x[rows] - x[np.roll(rows, 1, axis=1)], axis=2).ravel() for rows in cells.values()]
    return np.median(np.concatenate(sides))


@every_scene
def test_sizes_of_the_paper(name):
    kinds, first, last = PAPER[name]
    scene = scenes.load_volume(name)
    assert set(scene.cells) == kinds
    assert len(scene.steps) == 11
    assert scene.steps[0].cell_count == pytest.approx(first, rel=0.02)
    assert scene.steps[-1].cell_count == pytest.approx(last, rel=0.02)
    assert scene.topology_is_fixed == (first == last)
    for step in scene.steps[:: len(scene.steps) - 1]:
        assert all(
            (smallest_corners(kind, x[rows]) > 0).all()
            for kind, rows in step.cells.items()
            if kind in CORNERS
            for x in (step.x0, step.x1)
        )


@pytest.mark.slow
@pytest.mark.parametrize("cells", [300_000, 1_200_000])
def test_large_cars(cells):
    scene = scenes.load_volume("car_crash", cells, frames=3)
    assert scene.steps[0].cell_count == pytest.approx(cells, rel=0.02)


@every_scene
@pytest.mark.parametrize("cells", [700, 2_500, 8_000])
def test_any_size(name, cells):
    scene = scenes.load_volume(name, cells, frames=3)
    assert scene.steps[0].cell_count == pytest.approx(cells, rel=0.07)


@every_scene
def test_arrays_have_the_documented_shapes(name):
    scene = scenes.load_volume(name, SMALL[name], frames=5)
    assert scene.name == name
    assert len(scene.steps) == 4
    assert name in repr(scene)
    for step in scene.steps:
        n = len(step.objects)
        assert step.x0.shape == step.x1.shape == (n, 3)
        assert step.x0.dtype == step.x1.dtype == np.float64
        assert np.isfinite(step.x0).all()
        assert np.isfinite(step.x1).all()
        assert list(step.cells) == [kind for kind in KINDS if kind in step.cells]
        assert all(rows.dtype == np.int32 and rows.flags.c_contiguous for rows in step.cells.values())
        assert all(rows.min() >= 0 and rows.max() < n for rows in step.cells.values())
        assert all((np.diff(np.sort(rows, axis=1), axis=1) > 0).all() for rows in step.cells.values())
        assert "\n" not in repr(step)


@every_scene
def test_steps_follow_from_each_other(name):
    """Cells that go and come make the next cells, row for row; old vertices go on from where they are."""
    scene = scenes.load_volume(name, SMALL[name])
    changed = 0
    for before, after in zip(scene.steps, scene.steps[1:]):
        old = len(before.x1)
        assert (after.x0[:old] == before.x1).all()
        assert (after.objects[:old] == before.objects).all()
        first = 0
        for kind in (kind for kind in KINDS if kind in before.cells):
            rows = before.cells[kind]
            gone = after.remove[(after.remove >= first) & (after.remove < first + len(rows))] - first
            made = np.concatenate([np.delete(rows, gone, axis=0), after.add.get(kind, rows[:0])])
            assert made.shape == after.cells[kind].shape
            assert (made == after.cells[kind]).all()
            first += len(rows)
        assert (np.diff(after.remove) > 0).all()
        changed += len(after.remove)
    assert (changed > 0) == (name in ("bullet", "liver"))


@every_scene
def test_same_seed_same_numbers(name):
    first, again, other = (scenes.load_volume(name, SMALL[name], frames=9, seed=s) for s in (3, 3, 4))
    for a, b in zip(first.steps, again.steps):
        assert (a.x0 == b.x0).all()
        assert (a.x1 == b.x1).all()
        assert (a.remove == b.remove).all()
        assert all((a.cells[kind] == b.cells[kind]).all() for kind in a.cells)
    # The bullet flies alike whatever the seed; cracks go other ways.
    last, another = first.steps[-1], other.steps[-1]
    if name == "bullet":
        assert not np.array_equal(last.cells["hexahedron"], another.cells["hexahedron"])
    else:
        assert not np.array_equal(last.x1, another.x1)


@every_scene
def test_cells_are_positive_and_fit_together_in_every_step(name):
    for step in scenes.load_volume(name, SMALL[name]).steps:
        solid = {kind: rows for kind, rows in step.cells.items() if kind in FACES}
        for kind, rows in solid.items():
            assert (smallest_corners(kind, step.x0[rows]) > 0).all()
            assert (smallest_corners(kind, step.x1[rows]) > 0).all()
        if solid:
            outer, most = boundary(solid)
            assert most == 2
            # A surface without an end: every edge has as many faces in one direction as in the other.
            (faces,) = outer
            sides = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
            keys = sides.min(axis=1).astype(np.int64) * len(step.x0) + sides.max(axis=1)
            balance = np.bincount(np.unique(keys, return_inverse=True)[1], np.where(sides[:, 0] < sides[:, 1], 1, -1))
            assert (balance == 0).all()


@every_scene
@pytest.mark.parametrize("bigger", [False, True])
def test_vertices_move_by_a_part_of_an_edge(name, bigger):
    scene = scenes.load_volume(name, PAPER[name][1] if bigger else SMALL[name])
    edge = median_edge(scene.cells, scene.x0)
    for step in scene.steps:
        moved = np.linalg.norm(step.x1 - step.x0, axis=1) / edge
        assert np.percentile(moved, 95) > 0.1
        assert np.median(moved) < 0.5
        assert np.percentile(moved, 95) < 0.75
        assert moved.max() < 1.1


@pytest.mark.parametrize(
    ("name", "within", "between"),
    [
        ("octopi", False, True),
        ("bullet", False, True),
        ("airbag", True, True),
        ("car_crash", True, True),
        ("liver", True, False),
    ],
)
def test_bodies_go_into_each_other(name, within, between):
    scene = scenes.load_volume(name, SMALL[name])
    step = scene.steps[-1]
    faces = surface(step.cells)
    pairs = pliant.dcd(faces, step.x1).faces
    same = (step.objects[faces[pairs, 0]][:, 0] == step.objects[faces[pairs, 0]][:, 1]) if len(pairs) else pairs[:0]
    assert within <= (np.count_nonzero(same) >= 5)
    assert between <= (np.count_nonzero(~same) >= 20)
    assert len(pliant.ccd(faces, step.x0, step.x1)) > 0


def test_octopuses_cross_their_own_tentacles():
    step = scenes.load_volume("octopi").steps[-1]
    faces = surface(step.cells)
    of_pair = step.objects[faces[pliant.dcd(faces, step.x1).faces, 0]]
    assert np.count_nonzero(of_pair[:, 0] == of_pair[:, 1]) >= 50
    assert np.count_nonzero(of_pair[:, 0] != of_pair[:, 1]) >= 500


def test_there_are_24_tentacles():
    scene = scenes.load_volume("octopi")
    # Beside their heads the octopuses are in pieces, one for each tentacle: heads are within 1.4 of their middles.
    for body in range(3):
        own = scene.objects == body
        head = own.nonzero()[0][np.argsort(-scene.x0[own][:, 2])[:40]]
        far = own & (np.linalg.norm((scene.x0 - scene.x0[head].mean(axis=0))[:, :2], axis=1) > 1.45)
        rows = scene.cells["tetra"]
        rows = rows[far[rows].all(axis=1)]
        root = np.arange(len(far))
        for _ in range(200):
            np.minimum.at(root, rows, root[rows].min(axis=1, keepdims=True))
        assert len(np.unique(root[rows])) == 8


def test_a_cut_leaves_no_gap_but_the_cut():
    """Before any motion, the surface is the surface as it was, and lips that lie on the plane, in pairs."""
    hexahedra, at = cubes(np.ones((8, 6, 4), bool))
    rest = _snapped(_shape(at / (4, 3, 2) - 1), 0.08)
    cells = tetrahedra(hexahedra)

    def areas(cut_cells, points):
        faces = surface({"tetra": cut_cells})
        p = points[faces]
        area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1) / 2
        on_plane = (np.abs(_plane(points)[faces]) < 1e-9).all(axis=1)
        return area[~on_plane].sum(), area[on_plane].sum()

    whole, none = areas(cells, rest)
    assert none == 0
    lips, counts = [], []
    for cut in cut_in_steps(cells, rest, _plane(rest), rest[:, 1].copy(), (6, 10.0)):
        outside, on_plane = areas(cut.cells, cut.rest)
        assert outside == pytest.approx(whole, rel=1e-9)
        volume = np.linalg.det(cut.rest[cut.cells][:, 1:] - cut.rest[cut.cells][:, :1])
        assert (volume > 0).all()
        assert volume.sum() == pytest.approx(np.linalg.det(rest[cells][:, 1:] - rest[cells][:, :1]).sum())
        lips.append(on_plane)
        counts.append(len(cut.cells))
    assert (np.diff(lips) > 0).all()
    assert (np.diff(counts) > 0).all()
    # At the end it is cut through: two pieces, each on its side.
    signs = np.sign(cut.distance[cut.cells])
    assert not ((signs.min(axis=1) < 0) & (signs.max(axis=1) > 0)).any()
    above = (signs > 0).any(axis=1)
    assert not np.intersect1d(cut.cells[above], cut.cells[~above]).size


def test_the_cut_of_the_liver_opens():
    scene = scenes.load_volume("liver")
    first, last = scene.steps[0], scene.steps[-1]
    new = np.arange(len(first.x0), len(last.x0))
    assert len(new) > 100
    assert np.isin(new, last.cells["tetra"]).all()
    # A new vertex does not jump: where it would have come from is as near as for all others.
    moved = np.linalg.norm(last.x1 - last.x0, axis=1)
    assert moved[new].max() < 0.5 * median_edge(last.cells, last.x0)
    # Some of the new ones are pairs that were one vertex; the surface between them has opened to a gap of half an edge.
    mouth = new[np.argsort(last.x1[new, 2])[-6:]]
    apart = np.linalg.norm(last.x1[mouth][:, None] - last.x1[mouth], axis=2)
    assert apart.max() > 0.5 * median_edge(last.cells, last.x0)


@pytest.mark.unit
def test_blocks_of_cubes():
    hexahedra, points = cubes(np.ones((2, 1, 3), bool))
    assert hexahedra.shape == (6, 8)
    assert (smallest_corners("hexahedron", points[hexahedra]) == 1).all()
    cut = tetrahedra(hexahedra)
    assert np.linalg.det(points[cut][:, 1:] - points[cut][:, :1]) == pytest.approx(1)
    quads, shell = box_shell(2, 1, 3)
    assert len(quads) == 22
    p = shell[quads] - shell.mean(axis=0)
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    assert ((normal * p.mean(axis=1)).sum(axis=1) > 0).all()
    assert np.linalg.norm(rounded(2 * np.eye(3)[[0, 0]] - np.eye(3)[[0, 0]], 1.0), axis=1) == pytest.approx(1)
    assert np.linalg.norm(rounded(np.ones((1, 3)), 1.0)) == pytest.approx(1)


def test_names_and_sizes_are_checked():
    assert scenes.volume_names() == ("octopi", "bullet", "airbag", "car_crash", "liver")
    with pytest.raises(ValueError, match="did you mean 'octopi'"):
        scenes.load_volume("octopus")
    with pytest.raises(ValueError, match="cells must be a whole number of at least 100, not 7"):
        scenes.load_volume("liver", 7)
    with pytest.raises(ValueError, match="frames must be a whole number of at least 3, not 2"):
        scenes.load_volume("liver", frames=2)
