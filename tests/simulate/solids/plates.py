"""Plates of shells, dense stiffness, and statics by Newton's method on it: what tests of shells share."""

from __future__ import annotations

import numpy as np

import pliant
from pliant.runtime.threads import SERIAL
from pliant.simulate.solids.shells import shells_of
from pliant.simulate.solids.shells_step import ShellStep

STEP = 0.5  # seconds: what damping compares with


def plate(kind, nx, ny, size=(1.0, 1.0), shift=0.0, seed=1):
    """Cells and positions of a rectangle; inner vertices up to ``shift`` cells off the grid. Diagonals of triangles run
    both ways in turn."""
    grid = np.stack(np.meshgrid(np.arange(nx + 1.0), np.arange(ny + 1.0), indexing="ij"), axis=-1).reshape(-1, 2)
    inner = ((grid > 0) & (grid < (nx, ny))).all(axis=1)
    grid[inner] += shift * np.random.default_rng(seed).uniform(-1, 1, (inner.sum(), 2))
    x = np.column_stack((grid * np.array(size) / (nx, ny), np.zeros(len(grid))))
    quads = [
        (i * (ny + 1) + j, (i + 1) * (ny + 1) + j, (i + 1) * (ny + 1) + j + 1, i * (ny + 1) + j + 1)
        for i in range(nx) for j in range(ny)
    ]  # fmt: skip
    if kind == "quad":
        return {"quad": quads}, x
    ways = ((0, 1, 2), (0, 2, 3)), ((0, 1, 3), (1, 2, 3))
    halves = [ways[(k + k // ny) % 2] for k in range(len(quads))]
    triangles = [[q[i] for i in t] for q, two in zip(quads, halves) for t in two]
    if kind == "triangle":
        return {"triangle": triangles}, x
    half = len(quads) // 2
    return {"triangle": triangles[: 2 * half], "quad": quads[half:]}, x


def shells(cells, rest, young=3.0, poisson=0.3, limit=np.inf, slope=0.0, thickness=0.1, damping=0.0):
    mesh = pliant.VolumeMesh(cells)
    constants = np.tile([young, poisson, limit, slope, thickness, damping], (len(mesh.types), 1))
    return ShellStep(shells_of(mesh, rest, constants), SERIAL)


def energy(step, x):
    return sum(step.energies(x, STEP))


def dense(step, x):
    """Gradient and Hessian."""
    rows, n = step.rows, len(x)
    step.energies(x, STEP)
    gradient, blocks = np.zeros((n, 3)), np.empty((len(rows.columns), 12))
    step.add(gradient, blocks)
    matrix = np.zeros((n, 3, n, 3))
    row = np.repeat(np.arange(n), np.diff(rows.start))
    matrix[row, :, rows.columns] = blocks.reshape(-1, 3, 4)[:, :, :3].transpose(0, 2, 1)
    return gradient, matrix.reshape(3 * n, 3 * n)


def equilibrium(terms, x, load, free, most=60, hold=0.0):
    """Positions where the energies of all terms, less load times displacement, are least; free : (n,) bool; hold : what
    is added to the diagonal of the Hessian, where the whole may move."""
    y, unknowns = x.copy(), (3 * np.flatnonzero(free)[:, None] + np.arange(3)).ravel()
    for _ in range(most):
        parts = [dense(term, y) for term in terms]
        gradient, hessian = (sum(part[k] for part in parts) for k in range(2))
        change = np.zeros(y.size)
        matrix = hessian[np.ix_(unknowns, unknowns)] + hold * np.eye(len(unknowns))
        change[unknowns] = np.linalg.solve(matrix, (load - gradient).ravel()[unknowns])
        change, before = change.reshape(y.shape), _energy(terms, y, load)
        while _energy(terms, y + change, load) > before + 1e-13 * abs(before) and np.abs(change).max() > 1e-15:
            change *= 0.5
        y += change
        if np.abs(change).max() < 1e-12:
            break
    return y


def _energy(terms, x, load):
    return sum(energy(term, x) for term in terms) - np.vdot(load, x)
