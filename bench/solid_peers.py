"""Dynamics of solids against solvers of finite elements that share nothing with ours, as far as they are installed.

scikit-fem assembles linear elasticity, felupe large strains; what both leave to their users, the steps in time, is
written here once more, with sparse factors. Masses are lumped, as ours are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from bench.solid_blocks import DENSITY, block, elastic
from pliant.simulate import Settings, Solid

YOUNG, POISSON = 1e6, 0.3
LAME, SHEAR = YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON), YOUNG / 2 / (1 + POISSON)
STEPS, STEP = 20, 0.005  # implicit
EXPLICIT_STEPS, EXPLICIT_STEP = 400, 2.5e-4
_EXACT = Settings(newton=200, tolerance=1e-9, linear_tolerance=1e-10, step=1.0)

# Forces on all coordinates, in the order of x.ravel(), at displacements, and their derivative, a sparse matrix.
Forces = Callable[[np.ndarray], tuple[np.ndarray, Any]]


class Problem(NamedTuple):
    """cells, x : at rest; velocity : (n, 3) at the start; mass : (3n,) of each coordinate; free : of these; forces"""

    cells: dict[str, np.ndarray]
    x: np.ndarray
    velocity: np.ndarray
    gravity: tuple[float, float, float]
    mass: np.ndarray
    free: np.ndarray
    forces: Forces
    law: str


def against_peers(threads: int) -> Iterator[tuple[str, str, float, float]]:
    """Names of the other solver and of the problem, a number that is varied, and the largest difference,
    relative to the largest displacement."""
    if find_spec("skfem") is None:
        print("scikit-fem is not installed: left out")
    else:
        for load in (0.01, 0.001):
            problem = _small_strains(load)
            yield "scikit-fem", "at rest, gravity", load, _at_rest(problem, threads)
            yield "scikit-fem", "implicit, gravity", load, _difference(problem, "implicit", threads)
            yield "scikit-fem", "explicit, gravity", load, _difference(problem, "explicit", threads)
    if find_spec("felupe") is None:
        print("felupe is not installed: left out")
    else:
        for speed in (1.0, 10.0):
            problem = _large_strains(speed)
            yield "felupe", "implicit, speed", speed, _difference(problem, "implicit", threads)
            yield "felupe", "explicit, speed", speed, _difference(problem, "explicit", threads)


def _difference(problem: Problem, scheme: str, threads: int) -> float:
    count, step = (STEPS, STEP) if scheme == "implicit" else (EXPLICIT_STEPS, EXPLICIT_STEP)
    expected = (_implicit if scheme == "implicit" else _explicit)(problem, count, step)
    return _off(_ours(problem, scheme, count, step, threads), expected)


def _at_rest(problem: Problem, threads: int) -> float:
    from scipy.sparse.linalg import splu

    free, u = problem.free, np.zeros(problem.x.size)
    u[free] = splu(problem.forces(u)[1][free][:, free].tocsc()).solve(_weight(problem)[free])
    return _off(_ours(problem, "implicit", 5, 10.0, threads), u)  # after which nothing swings


def _off(ours: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(ours - expected).max() / np.abs(expected).max())


def _weight(problem: Problem) -> np.ndarray:
    return problem.mass * np.tile(problem.gravity, len(problem.x))


def _ours(problem: Problem, scheme: str, count: int, step: float, threads: int) -> np.ndarray:
    """Displacements after so many steps."""
    held = np.flatnonzero(problem.x[:, 0] == 0.0)
    solid = Solid(
        problem.cells, problem.x, materials=elastic(YOUNG, POISSON, problem.law), pins=held, gravity=problem.gravity,
        velocities=problem.velocity, scheme=scheme, settings=_EXACT, threads=threads,
    )  # fmt: skip
    for _ in range(count):
        solid.step(step)
    return (solid.frame().positions - problem.x).ravel()


def _implicit(problem: Problem, count: int, step: float) -> np.ndarray:
    """Implicit Euler, by Newton's method to the last digits."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import splu

    free, mass, weight = problem.free, problem.mass, _weight(problem)
    u, v = np.zeros(problem.x.size), problem.velocity.ravel().copy()
    inertia = diags(mass[free] / step**2)
    for _ in range(count):
        start, aim = u.copy(), u + step * v
        u[free] = aim[free]
        for _ in range(50):
            force, stiffness = problem.forces(u)
            left = mass / step**2 * (u - aim) + force - weight
            change = splu((stiffness[free][:, free] + inertia).tocsc()).solve(left[free])
            u[free] -= change
            if np.abs(change).max() < 1e-13:
                break
        v = (u - start) / step
    return u


def _explicit(problem: Problem, count: int, step: float) -> np.ndarray:
    """Central differences, velocities half of a step ahead."""
    free, mass, weight = problem.free, problem.mass, _weight(problem)
    u, v = np.zeros(problem.x.size), problem.velocity.ravel().copy()
    a = (weight - problem.forces(u)[0]) / mass
    for _ in range(count):
        v[free] += 0.5 * step * a[free]
        u[free] += step * v[free]
        a = (weight - problem.forces(u)[0]) / mass
        v[free] += 0.5 * step * a[free]
    return u


def _free(x: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.repeat(x[:, 0] != 0.0, 3))


# ---- the problems


def _small_strains(load: float) -> Problem:
    """A beam of tetrahedra that is held at one end and bends under its weight."""
    fem, elasticity = import_module("skfem"), import_module("skfem.models.elasticity")
    cells, x = block((16, 2, 4), (0.8, 0.1, 0.2), "tetra")
    basis = fem.Basis(fem.MeshTet(x.T.copy(), cells["tetra"].T.copy()), fem.ElementVector(fem.ElementTetP1()))
    order = basis.nodal_dofs.T.ravel()
    stiffness = elasticity.linear_elasticity(LAME, SHEAR).assemble(basis).tocsr()[order][:, order]
    inertia = fem.BilinearForm(lambda u, v, _: DENSITY * np.einsum("i...,i...->...", u, v)).assemble(basis)
    mass = np.asarray(inertia.tocsr()[order][:, order].sum(axis=1)).ravel()
    forces = lambda u: (stiffness @ u, stiffness)  # noqa: E731
    return Problem(cells, x, np.zeros_like(x), (0.0, 0.0, -load), mass, _free(x), forces, "corotational")


def _large_strains(speed: float) -> Problem:
    """A block of hexahedra of stable neo-Hookean rubber that is held at one end and struck at the other."""
    fem = import_module("felupe")
    cells, x = block((6, 2, 2), (0.6, 0.2, 0.2), "hexahedron")
    mesh = fem.Mesh(x, cells["hexahedron"], "hexahedron")
    field = fem.FieldContainer([fem.Field(fem.RegionHexahedron(mesh), dim=3)])
    body = fem.SolidBody(fem.Material(_stress, _elasticity), field)
    density = [DENSITY * np.eye(3)[:, :, None, None]]
    inertia = fem.IntegralForm(density, field, field.region.dV, field, [False], [False]).assemble()

    def forces(u: np.ndarray) -> tuple[np.ndarray, Any]:
        field[0].values[:] = u.reshape(-1, 3)
        force = body.assemble.vector(field).toarray().ravel()
        return force, body.assemble.matrix(field).tocsr()

    mass = np.asarray(inertia.sum(axis=1)).ravel()
    velocity = np.outer((x[:, 0] / 0.6) ** 2, (0.5, 0.3, -1.0)) * speed
    return Problem(cells, x, velocity, (0.0, 0.0, 0.0), mass, _free(x), forces, "neo-Hookean")


def _stress(given: list[np.ndarray], **_: Any) -> list[Any]:
    """Of Piola and Kirchhoff, the first, by Smith, de Goes and Kim 2018, from deformation gradients, (3, 3, p, c)."""
    f, mu, lam, alpha, cofactor, volume, squares = _measured(given)
    return [mu * (1.0 - 1.0 / (squares + 1.0)) * f + lam * (volume - alpha) * cofactor, given[-1]]


def _elasticity(given: list[np.ndarray], **_: Any) -> list[np.ndarray]:
    """Its derivative."""
    f, mu, lam, alpha, cofactor, volume, squares = _measured(given)
    outer = lambda a, b: np.einsum("ij...,kl...->ijkl...", a, b)  # noqa: E731
    turned = np.einsum("il...,kj...->ijkl...", cofactor, cofactor)
    own = np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3))[..., None, None]
    straight = mu * (1.0 - 1.0 / (squares + 1.0)) * own + 2.0 * mu / (squares + 1.0) ** 2 * outer(f, f)
    of_cofactor = (outer(cofactor, cofactor) - turned) / volume
    return [straight + lam * outer(cofactor, cofactor) + lam * (volume - alpha) * of_cofactor]


def _measured(given: list[np.ndarray]) -> tuple[Any, ...]:
    f, mu, lam = given[0], 4.0 / 3.0 * SHEAR, LAME + 5.0 / 6.0 * SHEAR
    moved = np.moveaxis(f, (0, 1), (-2, -1))
    volume = np.linalg.det(moved)
    cofactor = np.moveaxis(np.linalg.inv(moved), (-2, -1), (1, 0)) * volume
    return f, mu, lam, 1.0 + 0.75 * mu / lam, cofactor, volume, np.einsum("ij...,ij...->...", f, f)
