"""Random meshes, options and proposals, at any scale: every step ends free, and gains no energy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant
from tests.reference import rational, triangles, volumes
from tests.shapes.blocks import grid, tetrahedra
from tests.shapes.hostile import folded, proposals

SIZES = (1.0, 1.0, 1e-3, 1e6, 1e150, 1e-150, 1e-300, 1e300)


def cloth(rng):
    layers = int(rng.integers(1, 4))
    faces, x = folded(layers * int(rng.integers(1, 4)), int(rng.integers(1, 3)), layers, rng.uniform(0.02, 0.5))
    return pliant.TriMesh(faces), x


def ropes(rng):
    """A cloth with a rope and grains above it."""
    mesh, x = cloth(rng)
    count, top = len(x), x[:, 2].max() + 0.1
    rope = np.stack((np.linspace(0.1, 2.0, 6), np.linspace(0.2, 0.9, 6), top + rng.uniform(0.0, 0.2, 6)), axis=1)
    grains = rng.uniform((0.0, 0.0, top + 0.3), (2.0, 2.0, top + 1.0), (5, 3))
    ends = count + np.arange(6)
    mesh = pliant.TriMesh(mesh.faces, np.stack((ends[:-1], ends[1:]), axis=1), count + 6 + np.arange(5))
    return mesh, np.concatenate((x, rope, grains))


def several(rng):
    """Two to four cloths above each other."""
    faces, positions, above, count = [], [], 0.0, 0
    for _ in range(int(rng.integers(2, 5))):
        mesh, x = cloth(rng)
        x = x + rng.uniform(-0.3, 0.3, 3) * (1.0, 1.0, 0.0) + (0.0, 0.0, above - x[:, 2].min())
        faces.append(mesh.faces + count)
        positions.append(x)
        above, count = x[:, 2].max() + rng.uniform(0.01, 0.3), count + len(x)
    return pliant.TriMesh(np.concatenate(faces)), np.concatenate(positions)


def alone(rng):
    """A triangle; or nothing."""
    if rng.integers(2):
        return pliant.TriMesh(np.empty((0, 3), int)), np.empty((0, 3))
    return pliant.TriMesh([(0, 1, 2)]), rng.normal(size=(3, 3))


def cells(rng):
    """Tetrahedra or hexahedra, some of them nearly flat."""
    blocks = tetrahedra(2) if rng.integers(2) else grid(2)[0]
    x = grid(2)[1] * (1.0, 1.0, 10.0 ** -rng.integers(0, 7))
    return pliant.VolumeMesh(blocks), x


def wild(rng, x):
    """More of what broken solvers propose."""
    kinds = list(proposals(x, rng.uniform(0.1, 3.0), rng)) if len(x) else []
    far, one = x + rng.normal(size=x.shape) * 10.0 ** rng.integers(3, 12), x.copy()
    one[: len(x) // 3] += 1e9
    kinds += [("thrown away", far), ("one goes", one), ("through a point", 2.0 * x.mean(axis=0) - x if len(x) else x)]
    kinds += [("at rest", x.copy()), ("turned", x[:, [1, 2, 0]].copy()), ("a line", x * (1.0, 0.0, 0.0))]
    return kinds[int(rng.integers(len(kinds)))]


def inverse_masses(rng, count):
    kind = int(rng.integers(7))
    mass = np.ones(count)
    if kind == 1:
        mass = 10.0 ** rng.uniform(-3, 3, count)
    elif kind == 2:
        mass = rng.choice((1e-300, 1.0, 1e300), count)
    elif kind == 3:
        mass[rng.uniform(size=count) < 0.3] = 0.0
    elif kind == 4:  # all but one are driven
        mass[:] = 0.0
        mass[rng.integers(count) :][:1] = 1.0
    elif kind == 5:
        mass[: count // 2] = 0.0
    return mass


def case(seed):
    rng = np.random.default_rng(seed)
    made = (cloth, ropes, several, several, alone, cells)[int(rng.integers(6))]
    mesh, x0 = made(rng)
    name, x1 = wild(rng, x0)
    size = float(rng.choice(SIZES))
    if size == 1e300:
        x1 = np.clip(x1, -1e8, 1e8)
    options = {
        "inverse_mass": inverse_masses(rng, max(len(x0), 1))[: len(x0)],
        "thickness": size * float(rng.choice((0.0, 0.01, 0.1, 1.0))),
        "friction": float(rng.choice((0.0, 0.3, 10.0))),
        "restitution": float(rng.choice((0.0, 0.0, 0.5, 1.0))),
    }
    if rng.integers(2):
        options["objects"] = rng.integers(0, 3, len(x0))
    return f"{made.__name__}, {name}, {size:g}", mesh, size * x0, size * x1, options


def is_part_of_proof(mesh, is_driven, kind, vertices):
    """Whether a pair of features is of two elements that are not wholly driven, by definition."""
    if isinstance(mesh, pliant.VolumeMesh):
        known = [set(corners) for corners in mesh.corners.tolist()]
    else:
        known = [set(row) for rows in (mesh.faces, mesh.loose_edges) for row in rows.tolist()]
        known += [{point} for point in mesh.loose_points.tolist()]
    sides = set(vertices[: kind + 1]), set(vertices[kind + 1 :])
    owners = [[element for element in known if side <= element] for side in sides]
    return any(not is_driven[list(a | b)].all() for a, b in itertools.product(*owners))


def assert_free(name, mesh, x0, x, is_driven):
    """By fresh queries."""
    found = pliant.ccd(mesh, x0, x)
    for kind, vertices in zip(found.kind.tolist(), found.vertices.tolist()):
        assert not is_part_of_proof(mesh, is_driven, kind, vertices), (name, vertices)
    if isinstance(mesh, pliant.VolumeMesh):
        for cell in volumes.inverted(mesh.cells, x):
            assert is_driven[mesh.corners[cell]].all(), name
    else:
        assert is_driven[mesh.faces[pliant.check(mesh, x).faces]].all(), name


def motion_energy(x0, x, inverse_mass):
    """Of the change, with the masses; what is driven has none, and what overflows is no statement."""
    free = inverse_mass > 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sum((x - x0)[free] ** 2 / inverse_mass[free, None]))


def try_case(seed):
    name, mesh, x0, x1, options = case(seed)
    mass = options["inverse_mass"]
    resolved = pliant.resolve(mesh, x0, x1, **options)
    assert np.isfinite(resolved.positions).all()
    assert_free((seed, name), mesh, x0, resolved.positions, mass == 0.0)
    driven = mass == 0.0
    if options["restitution"] == 0.0 and np.array_equal(x0[driven], x1[driven]):
        before, after = (motion_energy(x0, x, mass) for x in (x1, resolved.positions))
        assert after <= before * (1.0 + 1e-9) or not np.isfinite(before), (seed, name)
    again = pliant.resolve(mesh, resolved.positions, resolved.positions, **options)  # the next start is free
    assert np.array_equal(again.positions, resolved.positions) or options["thickness"] > 0.0
    return name, mesh, x0, x1, options, resolved


@pytest.mark.parametrize("part", range(3))
def test_random_steps(part):
    changed = sum(try_case(seed)[-1].changed.any() for seed in range(30 * part, 30 * part + 30))
    assert changed > 6


@pytest.mark.parametrize("seed", [352, 897])
def test_loose_points_may_lie_on_loose_edges(seed):
    """Their end was free, since no contact is of a point and an edge, and was refused as the next start."""
    try_case(seed)


@pytest.mark.long
def test_a_thousand_random_steps():
    for seed in range(90, 1090):
        try_case(seed)


def test_random_steps_against_rationals():
    checked = 0
    for seed in range(200, 260):
        name, mesh, x0, *_ = case(seed)
        if not isinstance(mesh, pliant.TriMesh) or len(x0) > 24 or len(mesh.loose_edges) or not len(x0):
            continue
        options = try_case(seed)[-2]
        x, is_driven = try_case(seed)[-1].positions, options["inverse_mass"] == 0.0
        for kind, pairs in enumerate(rational.contacts(mesh.faces, x0, x)):
            tables = (mesh.vertices[:, None], mesh.faces) if kind == 0 else (mesh.edges, mesh.edges)
            for a, b in pairs:
                vertices = [*np.atleast_1d(a if kind == 0 else tables[0][a]).tolist(), *tables[1][b].tolist()]
                assert not is_part_of_proof(mesh, is_driven, kind, vertices), (seed, name)
        for pair in triangles.intersecting_faces(mesh.faces, x):
            assert is_driven[mesh.faces[list(pair)]].all(), (seed, name)
        checked += 1
    assert checked > 5
