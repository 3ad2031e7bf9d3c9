"""The linear solver: against a dense one; the multilevel cycle is symmetric and positive, and scales."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.runtime.simd import BLOCK
from pliant.runtime.threads import ThreadPool
from pliant.simulate import MATERIALS
from pliant.simulate.bending import bending_of
from pliant.simulate.coarse import prepare_levels
from pliant.simulate.levels import levels_of
from pliant.simulate.linear import System
from pliant.simulate.links import Links, PullingLinks, joined, no_links, springs_of
from pliant.simulate.membrane import MembraneStep, membrane_of
from pliant.simulate.multilevel import _solve, _solve_shared, _start, room_for, solve_multilevel
from tests.simulate.sheets import sheet

COTTON = MATERIALS["cotton"]


def contact_links(n: int, count: int, rng: np.random.Generator) -> Links:
    links = no_links(count)
    links.vertices[:] = rng.integers(0, n + 5, (count, 4))  # some of an obstacle
    links.weights[:, 0], links.weights[:, 1:] = 1.0, -rng.dirichlet((1, 1, 1), count)
    root = rng.normal(size=(count, 3, 3))
    links.matrix[:] = (30.0 * root @ root.transpose(0, 2, 1))[:, (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)]
    return links


def system(cells: int, link_count: int = 0, pinned: int = 3) -> System:
    rng = np.random.default_rng(cells)
    faces, x = sheet(cells, cells, 1.0)
    mesh, kind, n = pliant.TriMesh(faces), np.zeros(len(faces), int), len(x)
    model = MembraneStep(membrane_of(mesh._faces, x, [COTTON], kind), ThreadPool(1))
    bending = bending_of(mesh._faces, mesh._face_edges, x, None, [COTTON], kind)
    y = 1.01 * x + 0.05 * np.column_stack((np.zeros((n, 2)), np.sin(9 * x[:, 0]) * np.cos(7 * x[:, 1])))
    model.begin(y)
    model.energies(y, 0.01)
    rows = model.membrane.rows
    blocks = np.empty((len(rows.columns), BLOCK))
    model.add(np.zeros((n, 3)), blocks)
    mass = 0.15 / n / 0.01**2
    blocks[rows.diagonal] += mass * np.eye(3, 4).ravel()
    free = np.ones(n, bool)
    free[rng.choice(n, pinned, replace=False)] = False
    links = joined([contact_links(n, link_count, rng)]) if link_count else no_links()
    links = PullingLinks(links.vertices, links.weights, links.matrix)
    return System(rows, blocks, bending.rows, 1.05 * bending.values, 100.0, links, free)


def dense(one: System) -> np.ndarray:
    """The matrix of the free vertices, from the definitions."""
    n = len(one.free)
    full = np.zeros((n + 5, 3, n + 5, 3))
    for rows, blocks in (
        (one.rows, one.blocks.reshape(-1, 3, 4)[:, :, :3].transpose(0, 2, 1)),
        (one.bend_rows, one.bend[:, None, None] * np.eye(3)),
    ):
        for v in range(n):
            for k in range(rows.start[v], rows.start[v + 1]):
                full[v, :, rows.columns[k]] += blocks[k]
    for vertices, weights, m in zip(one.links.vertices, one.links.weights, one.links.matrix):
        whole = m[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
        for i, v in enumerate(vertices):
            for j, u in enumerate(vertices):
                full[v, :, u] += weights[i] * weights[j] * whole
    keep = np.flatnonzero(np.append(one.free, np.zeros(5, bool)))
    return full[keep][:, :, keep].reshape(3 * len(keep), -1)


def solved(one: System, gradient: np.ndarray, tolerance: float) -> tuple[np.ndarray, int]:
    levels = levels_of(one.rows, one.bend_rows, (one.bend, np.zeros_like(one.bend)), one.free)
    out, pool = np.full((len(one.free), 3), np.nan), ThreadPool(2)
    prepare_levels(one, levels, pool)
    count = solve_multilevel(one, levels, gradient, (tolerance, 0.0, 500), room_for(len(one.free)), out, pool)
    return out, count


@pytest.mark.bounds
@pytest.mark.parametrize(("cells", "links"), [(1, 0), (2, 3), (9, 0), (9, 60)])
def test_against_a_dense_solver(cells: int, links: int):
    one = system(cells, links, pinned=min(3, cells))
    gradient = np.random.default_rng(1).normal(size=(len(one.free), 3))
    found, _ = solved(one, gradient, 1e-10)
    expected = -np.linalg.solve(dense(one), gradient[one.free].ravel()).reshape(-1, 3)
    np.testing.assert_allclose(found[one.free], expected, atol=1e-7 * abs(expected).max())
    assert not found[~one.free].any()


@pytest.mark.parametrize("links", [0, 60])
def test_one_call_and_threads_give_the_same_bits(links: int):
    one = system(40, links)
    gradient = np.random.default_rng(4).normal(size=(len(one.free), 3))
    levels = levels_of(one.rows, one.bend_rows, (one.bend, np.zeros_like(one.bend)), one.free)
    prepare_levels(one, levels, ThreadPool(1))
    ends = []
    for solve in (_solve, _solve_shared):
        room = room_for(len(one.free))
        _start(one, gradient, room)
        ends.append((solve(one, levels, (1e-4, 0.0, 500), room, ThreadPool(2)), room.out.copy()))
    assert ends[0][0] == ends[1][0] > 2
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


def test_springs_are_links():
    one = system(6)._replace(links=springs_of(np.array([(0, 20), (3, 40)]), np.zeros(2), np.ones(2)))
    one.links.matrix[:] = (50, 0, 0, 50, 0, 50)
    gradient = np.random.default_rng(2).normal(size=(len(one.free), 3))
    found, _ = solved(one, gradient, 1e-10)
    expected = -np.linalg.solve(dense(one), gradient[one.free].ravel()).reshape(-1, 3)
    np.testing.assert_allclose(found[one.free], expected, atol=1e-7 * abs(expected).max())


def test_iterations_hardly_grow_with_the_mesh():
    counts = []
    for cells in (16, 32, 64):
        one = system(cells)
        gradient = np.random.default_rng(3).normal(size=(len(one.free), 3))
        counts.append(solved(one, gradient, 1e-3)[1])
    assert counts[0] > 2
    assert counts[2] < 2 * counts[0]
