"""A plain solver with a barrier (incremental potential contact) on ipctk: what one writes in an afternoon.

Implicit Euler; a St. Venant-Kirchhoff membrane and quadratic bending; ipctk's barrier, its projected Hessian and its
step size; Newton's method with a sparse direct solver. No friction. Driven vertices take the way to their goal in the
first Newton steps, as far as the step size lets them.
"""

from __future__ import annotations

from typing import Any

import ipctk
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bench.simulators.scenes import BENDING, POISSON, RATE, STIFFNESS, THICKNESS, Scene

NEWTON = 40  # steps of Newton's method in a time step, at most
TOLERANCE = 1e-2  # they end when no vertex moves faster than this part of the extent of the scene in a second
HALVINGS = 20  # of the line search


class Barrier:
    steps = 2

    def __init__(self, scene: Scene, threads: int) -> None:
        ipctk.set_num_threads(threads)
        self._scene, self._count = scene, len(scene.x)
        self._x = np.concatenate((scene.x, scene.solids_at(0.0)))
        self._v = np.zeros_like(self._x)
        self._extent = float(np.linalg.norm(np.ptp(self._x, axis=0)))
        self._mass = np.concatenate((scene.mass, np.ones(len(self._x) - self._count)))  # that of obstacles cancels
        self._free = np.ones(len(self._x), bool)
        self._free[scene.driven] = False
        self._free[self._count :] = False
        faces = np.asfortranarray(scene.all_faces, np.int32)
        self._mesh = ipctk.CollisionMesh(np.asfortranarray(self._x), ipctk.edges(faces), faces)
        self._elastic = Elastic(scene, len(self._x))
        self._stiffness = 1.0
        self._seconds = 1.0 / (RATE * self.steps)
        self.settings = (
            f"ours, plain: barrier within {1e3 * THICKNESS:g} mm, StVK, no friction, at most {NEWTON} Newton steps, "
            f"{self.steps} steps a frame"
        )

    def positions(self) -> np.ndarray:
        return self._x

    def step(self, time: float) -> None:
        start, h = self._x, self._seconds
        goal = self._goal(time)
        aim = start + h * self._v
        aim[:, 2] -= h**2 * self._scene.gravity
        aim[~self._free] = goal[~self._free]
        x = start.copy()
        self._start_stiffness(x, aim)
        for _ in range(NEWTON):
            waits = not np.array_equal(x[~self._free], goal[~self._free])
            direction = self._direction(x, aim, goal)
            if not waits and np.abs(direction).max() < TOLERANCE * self._extent * h:
                break
            largest = self._step_size(x, x + direction)
            if waits and largest == 1.0:
                x = np.where(self._free[:, None], x + direction, goal)
            elif waits:
                x = x + 0.9 * largest * direction
            else:
                x = self._search(x, 0.9 * largest if largest < 1.0 else 1.0, direction, aim)
        self._v = (x - start) / h
        self._x = x

    def _goal(self, time: float) -> np.ndarray:
        goal = np.concatenate((self._x[: self._count], self._scene.solids_at(time)))
        goal[self._scene.driven] = self._scene.driven_at(time)
        return goal

    def _direction(self, x: np.ndarray, aim: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Of Newton's method, with driven vertices on the way to their goal."""
        gradient = self._gradient(x, aim)
        free = np.repeat(self._free, 3)
        direction = np.where(free, 0.0, (goal - x).reshape(-1))
        matrix = self._hessian(x)
        right = -gradient - matrix @ direction
        inner = matrix[free][:, free].tocsc()
        # Positive definite: no pivoting, and an order for symmetric matrices.
        factors = splu(inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        direction[free] = factors.solve(right[free])
        return direction.reshape(-1, 3)

    def _search(self, x: np.ndarray, size: float, direction: np.ndarray, aim: np.ndarray) -> np.ndarray:
        energy = self._energy(x, aim)
        for _ in range(HALVINGS):
            trial = x + size * direction
            if self._energy(trial, aim) <= energy:
                return trial
            size *= 0.5
        return x

    def _step_size(self, x0: np.ndarray, x1: np.ndarray) -> float:
        return ipctk.compute_collision_free_stepsize(self._mesh, np.asfortranarray(x0), np.asfortranarray(x1))

    # ---- the incremental potential: inertia + h^2 elastic + barrier

    def _collisions(self, x: np.ndarray) -> Any:
        collisions = ipctk.NormalCollisions()
        collisions.build(self._mesh, np.asfortranarray(x), THICKNESS)
        return collisions

    def _barrier(self) -> Any:
        return ipctk.BarrierPotential(THICKNESS, self._stiffness)

    def _energy(self, x: np.ndarray, aim: np.ndarray) -> float:
        inertia = 0.5 * float(np.sum(self._mass[:, None] * (x - aim) ** 2))
        contact = self._barrier()(self._collisions(x), self._mesh, np.asfortranarray(x))
        return inertia + self._seconds**2 * self._elastic.energy(x) + contact

    def _gradient(self, x: np.ndarray, aim: np.ndarray) -> np.ndarray:
        inertia = (self._mass[:, None] * (x - aim)).reshape(-1)
        contact = self._barrier().gradient(self._collisions(x), self._mesh, np.asfortranarray(x))
        return inertia + self._seconds**2 * self._elastic.gradient(x) + contact

    def _hessian(self, x: np.ndarray) -> Any:
        contact = self._barrier().hessian(
            self._collisions(x), self._mesh, np.asfortranarray(x), ipctk.PSDProjectionMethod.CLAMP
        )
        inertia = sparse.diags_array(np.repeat(self._mass, 3))
        return (inertia + self._seconds**2 * self._elastic.hessian(x) + contact).tocsr()

    def _start_stiffness(self, x: np.ndarray, aim: np.ndarray) -> None:
        """ipctk's choice for this step: that of its paper, by the gradients of the energy and of the barrier."""
        self._stiffness = 1.0
        flat, collisions = np.asfortranarray(x), self._collisions(x)
        gradient = self._barrier().gradient(collisions, self._mesh, flat)
        rest = self._gradient(x, aim) - gradient
        self._stiffness, _ = ipctk.initial_barrier_stiffness(
            self._extent, ipctk.ClampedLogBarrier(), THICKNESS, float(self._scene.mass.mean()), rest, gradient
        )


class Elastic:
    """Energy of the membrane and of bending, of all N vertices, of which the first are those of the cloth."""

    def __init__(self, scene: Scene, vertices: int) -> None:
        self._faces, self._size = scene.faces, 3 * vertices
        a, b, c = (scene.rest[scene.faces[:, k]] for k in range(3))
        shape = np.stack((b - a, c - a), axis=2)
        self._area = 0.5 * np.abs(np.linalg.det(shape))
        inverse = np.linalg.inv(shape)
        # Gradients of the three corners' hat functions: F = sum of x_k (x) weights_k.
        self._weights = np.stack((-inverse.sum(axis=1), inverse[:, 0], inverse[:, 1]), axis=1)  # (m, 3, 2)
        self._shear = STIFFNESS / (2.0 * (1.0 + POISSON))
        self._lame = STIFFNESS * POISSON / (1.0 - POISSON**2)
        self._dofs = (3 * scene.faces[:, :, None] + np.arange(3)).reshape(-1, 9)
        self._bending = _bending(scene, vertices)

    def energy(self, x: np.ndarray) -> float:
        strain = self._strain(self._deformation(x))
        trace = strain[:, 0, 0] + strain[:, 1, 1]
        density = self._shear * np.einsum("mij,mij->m", strain, strain) + 0.5 * self._lame * trace**2
        flat = x.reshape(-1)
        return float(self._area @ density) + 0.5 * float(flat @ (self._bending @ flat))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        deformation = self._deformation(x)
        forces = np.einsum("m,mij,mkj->mki", self._area, deformation @ self._stress(deformation), self._weights)
        total = np.bincount(self._dofs.reshape(-1), forces.reshape(-1), minlength=self._size)
        return total + self._bending @ x.reshape(-1)

    def hessian(self, x: np.ndarray) -> Any:
        """Each triangle's part made positive semidefinite."""
        f = self._deformation(x)
        stress, count = self._stress(f), len(f)
        inner = np.empty((count, 6, 6))
        for k in range(6):
            change = np.zeros((3, 2))
            change.flat[k] = 1.0
            d_strain = 0.5 * (change.T @ f + np.swapaxes(f, 1, 2) @ change)
            d_stress = 2.0 * self._shear * d_strain
            d_stress += self._lame * np.einsum("mii->m", d_strain)[:, None, None] * np.eye(2)
            inner[:, :, k] = (change @ stress + f @ d_stress).reshape(count, 6)
        values, vectors = np.linalg.eigh(inner)
        inner = (vectors * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
        inner = inner.reshape(count, 3, 2, 3, 2)
        blocks = np.einsum("m,mka,miajb,mlb->mkilj", self._area, self._weights, inner, self._weights, optimize=True)
        rows, columns = np.repeat(self._dofs, 9, axis=1), np.tile(self._dofs, (1, 9))
        entries = (blocks.reshape(-1), (rows.reshape(-1), columns.reshape(-1)))
        return sparse.csr_array(entries, shape=(self._size, self._size)) + self._bending

    def _deformation(self, x: np.ndarray) -> np.ndarray:
        """(m, 3, 2)"""
        return np.einsum("mki,mkj->mij", x[self._faces], self._weights)

    @staticmethod
    def _strain(deformation: np.ndarray) -> np.ndarray:
        return 0.5 * (np.swapaxes(deformation, 1, 2) @ deformation - np.eye(2))

    def _stress(self, deformation: np.ndarray) -> np.ndarray:
        strain = self._strain(deformation)
        return 2.0 * self._shear * strain + self._lame * np.einsum("mii->m", strain)[:, None, None] * np.eye(2)


def _bending(scene: Scene, vertices: int) -> Any:
    """Quadratic bending of a flat sheet (Bergou et al. 2006): a constant matrix, from cotangents at inner edges."""
    sides = np.concatenate([scene.faces[:, (k, (k + 1) % 3, (k + 2) % 3)] for k in range(3)])
    key = np.sort(sides[:, :2], axis=1) @ (len(scene.x), 1)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(key[order][1:] == key[order][:-1])
    one, other = sides[order[first]], sides[order[first + 1]]
    corners = np.column_stack((one[:, 0], one[:, 1], one[:, 2], other[:, 2]))
    p = scene.rest[corners]
    c01, c02 = _cotangent(p[:, 0], p[:, 1], p[:, 2]), _cotangent(p[:, 0], p[:, 1], p[:, 3])
    c03, c04 = _cotangent(p[:, 1], p[:, 0], p[:, 2]), _cotangent(p[:, 1], p[:, 0], p[:, 3])
    weights = np.column_stack((c03 + c04, c01 + c02, -c01 - c03, -c02 - c04))
    area = 0.5 * sum(np.abs(_cross(p[:, 1] - p[:, 0], p[:, k] - p[:, 0])) for k in (2, 3))
    weights *= np.sqrt(3.0 * BENDING / area)[:, None]
    rows = np.repeat(np.arange(len(corners)), 4)
    curvature = sparse.csr_array((weights.reshape(-1), (rows, corners.reshape(-1))), shape=(len(corners), vertices))
    return sparse.kron(curvature.T @ curvature, sparse.eye_array(3), format="csr")


def _cotangent(at: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    u, v = b - at, c - at
    return np.einsum("ij,ij->i", u, v) / np.abs(_cross(u, v))


def _cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
