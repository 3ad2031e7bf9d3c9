"""Which nodes are discs, and their contours, against plain loops over sets: links of vertices, loops, Euler's count."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import pliant
from pliant.mesh.features import Elements, elements_of
from pliant.mesh.patches import patches_of, twins_of
from pliant.scenes.shapes import grid, spindle, weave
from tests.shapes.meshes import soup
from tests.shapes.patches import moebius_strip, pinched_vertex, poor_faces, three_pages


def sides(face):
    return list(zip(face, face[1:] + face[:1]))


def by_edge(faces):
    """{edge: positions of the faces at it}"""
    out = defaultdict(list)
    for i, face in enumerate(faces):
        for a, b in sides(face):
            out[min(a, b), max(a, b)].append(i)
    return out


def is_connected(neighbours) -> bool:
    """neighbours : {name: set of names}"""
    start = next(iter(neighbours))
    seen, stack = {start}, [start]
    while stack:
        for n in neighbours[stack.pop()] - seen:
            seen.add(n)
            stack.append(n)
    return len(seen) == len(neighbours)


def link_is_one_path_or_cycle(faces, v) -> bool:
    """What is opposite to a vertex, as edges: a path or a cycle."""
    link = defaultdict(set)
    edges = set()
    for face in faces:
        if v in face:
            a, b = (w for w in face if w != v)
            if (min(a, b), max(a, b)) in edges:
                return False
            edges.add((min(a, b), max(a, b)))
            link[a].add(b)
            link[b].add(a)
    ends = [w for w in link if len(link[w]) == 1]
    return is_connected(link) and max(map(len, link.values())) <= 2 and len(ends) in (0, 2)


def is_disc(faces) -> bool:
    """faces : lists of three vertices, some possibly no triangle."""
    if not faces or any(len(set(face)) < 3 for face in faces):
        return False
    at = by_edge(faces)
    vertices = {v for face in faces for v in face}
    if max(map(len, at.values())) > 2 or not all(link_is_one_path_or_cycle(faces, v) for v in vertices):
        return False
    neighbours = {i: set() for i in range(len(faces))}
    border = defaultdict(set)
    for (a, b), pair in at.items():
        if len(pair) == 2:
            neighbours[pair[0]].add(pair[1])
            neighbours[pair[1]].add(pair[0])
        else:
            border[a].add(b)
            border[b].add(a)
    one_loop = bool(border) and is_connected(border)
    return is_connected(neighbours) and one_loop and len(vertices) - len(at) + len(faces) == 1


def test_the_slow_check_knows_what_a_disc_is():
    fan = [[0, 1, 2], [0, 2, 3], [0, 3, 4]]
    assert is_disc(fan)
    assert is_disc([*fan, [0, 4, 1]])
    assert is_disc([[0, 1, 2], [1, 0, 3]])  # whichever way they wind
    assert is_disc([[0, 1, 2], [0, 1, 3]])
    assert not is_disc([])
    assert not is_disc([[0, 1, 1]])
    assert not is_disc([[0, 1, 2], [3, 4, 5]])  # two pieces
    assert not is_disc([[0, 1, 2], [0, 3, 4]])  # pinched
    assert not is_disc([[0, 1, 2], [0, 1, 3], [0, 1, 4]])  # three pages
    assert not is_disc([[0, 1, 2], [0, 2, 1]])  # closed
    assert not is_disc([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    tube = weave(3, 1, around=True)[0].tolist()
    assert not is_disc(tube)
    assert not is_disc(tube[:-1])  # still pinched
    assert is_disc(tube[:-2])
    assert not is_disc(moebius_strip(7).mesh.faces.tolist())


def torus(n=6):
    ids = np.arange(n * n).reshape(n, n)
    a, b, c, d = (np.roll(ids, shift, axis=(0, 1)).ravel() for shift in ((0, 0), (-1, 0), (-1, -1), (0, -1)))
    return np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3)


def meshes():
    rng = np.random.default_rng(0)
    out = {
        "grid": grid(8, 7)[0],
        "weave": weave(8, 7)[0],
        "tube": weave(7, 6, around=True)[0],
        "globe": spindle(6, 6)[0],
        "torus": torus(),
        "moebius": moebius_strip(30).mesh.faces,
        "pinched": pinched_vertex().mesh.faces,
        "pages": three_pages().mesh.faces,
        "poor": poor_faces().mesh.faces,
        "two": np.concatenate((grid(4, 4)[0], grid(4, 5)[0] + 25)),
        "soup": rng.integers(0, 9, (60, 3)),
    }
    out["windings"] = np.array([f[::-1] if rng.random() < 0.5 else f for f in out["weave"]])
    holes = out["grid"][rng.random(len(out["grid"])) < 0.85]
    meshes = {name: pliant.TriMesh(faces) for name, faces in (out | {"holes": holes}).items()}
    return meshes | {"loose": pliant.TriMesh(grid(6, 5)[0], [(3, 50), (51, 52)], [60, 61]), "loose soup": soup(1).mesh}


MESHES = meshes()


def grown(rng, elements):
    """All elements in an order in which each is next to one before, where there is one: ranges are often discs."""
    at = defaultdict(list)
    for i, row in enumerate(elements.sides.tolist()):
        for e in row:
            at[e].append(i)
    order, left, ready = [], set(range(len(elements.face))), []
    while left:
        i = ready.pop(0 if rng.random() < 0.8 else -1) if ready else int(rng.choice(sorted(left)))
        if i in left:
            left.remove(i)
            order.append(i)
            ready += [j for e in elements.sides[i].tolist() if e >= 0 for j in at[e] if j in left]
    return np.array(order, np.int64)


def random_tree(rng, mesh):
    """Elements in the order of a tree, and where its leaves begin, some of them empty."""
    elements = elements_of(mesh)
    order = grown(rng, elements) if rng.random() < 0.8 else rng.permutation(len(elements.face))
    depth = int(rng.integers(0, 6))
    cuts = np.sort(rng.integers(0, len(order) + 1, (1 << depth) - 1))
    begin = np.concatenate(([0], cuts, [len(order)])).astype(np.int64)
    return Elements(*(np.ascontiguousarray(a[order]) for a in elements)), begin


def nodes(begin):
    """(node, first place, last place + 1) of all nodes."""
    leaves = len(begin) - 1
    depth = leaves.bit_length() - 1
    for node in range(1, 2 * leaves):
        below = depth - (node.bit_length() - 1)
        yield node, begin[(node << below) - leaves], begin[((node + 1) << below) - leaves]


def assert_contour(loop, faces):
    """One closed walk along all sides at the border, each as the face at it winds."""
    at = by_edge(faces)
    directed = [side for face in faces for side in sides(face)]
    assert len(set(directed)) == len(directed)  # neighbours agree
    border = {side for side in directed if len(at[min(side), max(side)]) == 1}
    assert set(sides(loop)) == border
    assert len(loop) == len(border) == len(set(loop))


def assert_nodes_agree(mesh, leaves, begin, at_most) -> tuple[int, int]:
    """Returns how many nodes are discs, and how many of several faces are none."""
    patches = patches_of(leaves, begin, len(mesh.edges), mesh.vertex_limit)
    assert (patches.start[0], len(patches.start)) == (0, 2 * (len(begin) - 1) + 1)
    several = mesh.edge_face_count > 2
    count = others = 0
    for node, first, last in nodes(begin):
        loop = patches.loop[patches.start[node] : patches.start[node + 1]].tolist()
        faces = leaves.corners[first:last].tolist()
        expected = bool((leaves.face[first:last] >= 0).all()) and is_disc(faces)
        if loop:
            assert expected
            flipped = patches.flipped[first:last]
            assert_contour(loop, [f[::-1] if t else f for f, t in zip(faces, flipped)])
            count += 1
        elif at_most:
            # Two faces at an edge of three are not examined more closely, nor do faces agree across a seam.
            shared = np.unique(leaves.sides[first:last][leaves.sides[first:last] >= 0], return_counts=True)
            assert not expected or (several[shared[0]] & (shared[1] > 1)).any()
        others += not loop and last - first > 1
    return count, others


@pytest.mark.bounds
@pytest.mark.parametrize("name", MESHES)
def test_discs_and_their_contours(name):
    rng = np.random.default_rng(1)
    discs = others = 0
    for _ in range(25):
        mesh = MESHES[name]
        leaves, begin = random_tree(rng, mesh)
        found = assert_nodes_agree(mesh, leaves, begin, at_most=name != "moebius")
        discs, others = discs + found[0], others + found[1]
    assert discs > (10 if "soup" in name else 50)
    assert others > 25


@pytest.mark.unit
def test_a_few_nodes():
    rng = np.random.default_rng(2)
    for name in ("weave", "pages", "loose"):
        leaves, begin = random_tree(rng, MESHES[name])
        assert_nodes_agree(MESHES[name], leaves, begin, at_most=True)


def test_most_discs_of_a_one_sided_strip_are_found():
    """Only those that cross the seam, where windings cannot agree, are taken for none."""
    rng = np.random.default_rng(3)
    mesh = MESHES["moebius"]
    found = expected = 0
    for _ in range(20):
        leaves, begin = random_tree(rng, mesh)
        patches = patches_of(leaves, begin, len(mesh.edges), mesh.vertex_limit)
        for node, first, last in nodes(begin):
            found += patches.start[node + 1] > patches.start[node]
            expected += is_disc(leaves.corners[first:last].tolist())
    assert expected > 100
    assert 0.6 * expected < found < expected


def test_orientation_does_not_depend_on_windings():
    rng = np.random.default_rng(4)
    mesh = MESHES["weave"]
    leaves, begin = random_tree(rng, mesh)
    plain = patches_of(leaves, begin, len(mesh.edges), mesh.vertex_limit)
    swapped = rng.random(len(leaves.face)) < 0.5
    swapped[0] = False  # the first face of a component sets the orientation
    corners, face_sides = leaves.corners.copy(), leaves.sides.copy()
    corners[swapped] = corners[swapped][:, [1, 0, 2]]
    face_sides[swapped] = face_sides[swapped][:, [0, 2, 1]]
    flipped = patches_of(
        Elements(corners, leaves.face, face_sides, leaves.corner_count), begin, len(mesh.edges), mesh.vertex_limit
    )
    np.testing.assert_array_equal(flipped.flipped, swapped)
    assert not plain.flipped.any()
    np.testing.assert_array_equal(flipped.start, plain.start)
    for node in range(1, 2 * (len(begin) - 1)):
        a, b = (p.loop[p.start[node] : p.start[node + 1]].tolist() for p in (plain, flipped))
        assert set(sides(a)) == set(sides(b))


@pytest.mark.unit
def test_twins():
    for name in ("weave", "pages", "poor", "loose"):
        mesh = MESHES[name]
        elements = elements_of(mesh)
        twin = twins_of(elements.sides, len(mesh.edges)).tolist()
        flat = elements.sides.ravel().tolist()
        for s, other in enumerate(twin):
            same = [k for k, e in enumerate(flat) if e == flat[s] and k != s and e >= 0]
            assert other == (same[0] if len(same) == 1 else -1 if flat[s] >= 0 and not same else -2)


def test_no_elements():
    patches = patches_of(elements_of(pliant.TriMesh()), np.zeros(2, np.int64), 0, 0)
    assert patches.start.tolist() == [0, 0, 0]
    assert len(patches.loop) == len(patches.flipped) == 0
