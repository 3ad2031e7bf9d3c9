"""Whatever is proposed, the step ends free: checked by fresh queries that share nothing with the resolver."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import rational, triangles, volumes
from tests.shapes.blocks import grid, tetrahedra
from tests.shapes.hostile import folded, proposals, share_kept
from tests.shapes.meshes import soup

PROPOSALS = 8


def assert_free(mesh, x0, x):
    assert len(pliant.ccd(mesh, x0, x)) == 0
    assert len(pliant.check(mesh, x)) == 0


def small_cloth(rng):
    """Two to four layers, of 16 to 64 triangles."""
    layers = int(rng.integers(2, 5))
    return folded(layers * int(rng.integers(2, 4)), int(rng.integers(1, 4)), layers, rng.uniform(0.05, 0.6))


def hostile_runs(seeds):
    """Meshes, starts and proposals; thickness and masses of all sorts."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        faces, x0 = small_cloth(rng)
        mass = np.ones(len(x0)) if seed % 2 else rng.uniform(0.1, 10.0, len(x0))
        for name, x1 in proposals(x0, rng.uniform(0.1, 3.0), rng):
            yield (
                name,
                faces,
                x0,
                x1,
                {"inverse_mass": mass, "thickness": (0.0, 0.1)[seed % 3 > 0], "friction": (0.0, 0.4)[seed % 5 > 2]},
            )


def test_hundreds_of_proposals():
    """With the steps one after the other, and other meshes below, they are more than a thousand."""
    count, moved = 0, dict[str, list[float]]()
    for name, faces, x0, x1, options in hostile_runs(range(90)):
        resolved = pliant.resolve(faces, x0, x1, **options)
        assert_free(faces, x0, resolved.positions)
        moved.setdefault(name, []).append(share_kept(x0, x1, resolved.positions))
        count += 1
    assert count == 90 * PROPOSALS
    assert min(np.mean(shares) for shares in moved.values()) > 0.01, moved  # nobody stands still


@pytest.mark.long
def test_thousands_of_proposals():
    for _, faces, x0, x1, options in hostile_runs(range(100, 400)):
        assert_free(faces, x0, pliant.resolve(faces, x0, x1, **options).positions)


def test_everything_through_one_point_at_one_time():
    faces, x0 = folded(4, 2, 2, 0.3)
    resolved = pliant.resolve(faces, x0, 2.0 * x0.mean(axis=0) - x0)
    assert_free(faces, x0, resolved.positions)
    assert resolved.displacement.any()


def test_steps_one_after_the_other():
    """Each starts where the last one ended: gaps get small."""
    rng = np.random.default_rng(5)
    faces, x = folded(9, 3, 3, 0.3)
    resolver = pliant.Resolver(faces, thickness=0.05)
    for step in range(280):
        wild = list(proposals(x, 0.5, rng))[step % PROPOSALS][1]
        resolved = resolver.resolve(x, wild)
        assert_free(faces, x, resolved.positions)
        x = resolved.positions
    assert np.ptp(x, axis=0).max() > 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_against_rationals(seed):
    rng = np.random.default_rng(seed)
    faces, x0 = folded(4, 1, 2, 0.2)
    for _, x1 in proposals(x0, 1.0, rng):
        x = pliant.resolve(faces, x0, x1, thickness=0.05).positions
        assert rational.contacts(faces, x0, x) == ({}, {})
        assert triangles.intersecting_faces(faces, x) == []


@pytest.mark.parametrize("blocks", [tetrahedra(2), grid(2)[0]], ids=["tetrahedra", "hexahedra"])
def test_no_cell_is_inverted(blocks):
    mesh, x0 = pliant.VolumeMesh(blocks), grid(2)[1]
    rng, inversions = np.random.default_rng(0), 0
    for _ in range(3):
        for _, x1 in proposals(x0, 1.0, rng):
            inversions += len(volumes.inverted(blocks, x1))
            x = pliant.resolve(mesh, x0, x1).positions
            assert len(pliant.ccd(mesh, x0, x)) == 0
            assert volumes.inverted(blocks, x) == []
    assert inversions > 100


def test_ropes_and_points():
    """Loose edges and points among faces."""
    rng, pushed = np.random.default_rng(2), 0
    faces, sheet = folded(6, 2, 2, 0.5)
    rope = np.stack([np.linspace(0.3, 2.6, 12), np.full(12, 0.9), np.full(12, 0.25)], axis=1)
    grains = rng.uniform((0.0, 0.0, 0.7), (3.0, 2.0, 1.5), (10, 3))
    x0 = np.concatenate((sheet, rope, grains))
    ends = len(sheet) + np.arange(12)
    mesh = pliant.TriMesh(faces, np.stack((ends[:-1], ends[1:]), axis=1), len(sheet) + 12 + np.arange(10))
    for _ in range(4):
        for _, x1 in proposals(x0, 1.0, rng):
            resolved = pliant.resolve(mesh, x0, x1)
            assert len(pliant.ccd(mesh, x0, resolved.positions)) == 0
            pushed += len(pliant.ccd(mesh, x0, x1)) > 0
    assert pushed > 16


@pytest.mark.parametrize("seed", range(12))
def test_tangled_soups_stay_as_they_are(seed):
    """Everything touches everything: what touches at the start stays, and nothing else comes into contact."""
    mesh, x0, x1 = soup(seed)
    resolved = pliant.resolve(mesh, x0, x1, tangled="keep")
    at_rest, after = (
        {(int(c.kind[i]), *c.elements[i].tolist()) for i in range(len(c))}
        for c in (pliant.ccd(mesh, x0, x0), pliant.ccd(mesh, x0, resolved.positions))
    )
    assert after == at_rest
    assert resolved.touching_pairs == len(at_rest) > 0
    with pytest.raises(pliant.TangledError, match="tangled"):
        pliant.resolve(mesh, x0, x1)
