"""Energies and forces of bending in a step."""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import bare_kernel, helper, kernel
from pliant.runtime.simd import WIDTH, number_row
from pliant.runtime.threads import ThreadPool
from pliant.simulate.bending import Bending


class BendingStep:
    """Energies and forces of bending, step after step."""

    def __init__(self, bending: Bending, vertex_count: int, pool: ThreadPool) -> None:
        self.bending, self._pool = bending, pool
        n, h = vertex_count, len(bending.hinges)
        self._force, self._energy = np.zeros((n, 3)), np.zeros((2, n))
        self._x, self._before, self._pull_before = np.zeros((n, WIDTH)), np.zeros((n, 3)), np.zeros((n, 3))
        self._r, self._normal, self._pull = np.empty((h, 3)), np.empty((h, 8)), np.empty((h, 3))
        self._hessian, self._step = bending.values, np.inf
        self._viscous = bending.values * np.repeat(bending.damping, np.diff(bending.rows.start))

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """(k,) each, values of rows: of bending, and of its damping in a step of a second."""
        return self.bending.values, self._viscous

    def hessian(self, step: float) -> np.ndarray:
        """(k,) the values of rows, with the damping in a step of so many seconds."""
        if step != self._step:
            self._hessian, self._step = self.bending.values + self._viscous / step, step
        return self._hessian

    def begin(self, x: np.ndarray) -> None:
        """Positions that the step starts from."""
        self._before[:] = x
        self._multiply(x, np.inf)
        self._pull_before[:] = self._force

    def energies(self, x: np.ndarray, step: float) -> tuple[float, float]:
        """(elastic energy, what a step of so many seconds adds for viscosity), at x."""
        self._multiply(x, step)
        elastic, viscous = self._energy.sum(axis=1).tolist()
        if not self.bending.is_flat:
            elastic = _bent(x, self.bending, (self._r, self._normal, self._pull), self._force)
        return elastic, viscous

    def add(self, gradient: np.ndarray) -> None:
        """Add the gradient at the positions of ``energies``."""
        gradient += self._force

    def _multiply(self, x: np.ndarray, step: float) -> None:
        bending, rows = self.bending, self.bending.rows
        self._x[:, :3] = x
        made_of = rows.start, rows.columns, bending.values, bending.damping, bending.is_flat or step == np.inf
        state = self._x, self._before, self._pull_before, 1.0 / step, self._force, self._energy
        self._pool.run_range(lambda first, last: _bend_rows(made_of, state, first, last), len(x), 2048)


@bare_kernel
def _bend_rows(made_of, state, first, last):
    """Forces and energies, (2, n), of vertices: of damping, and of bending where the cloth is flat at rest.

    Damping pulls by the difference of two products, that of the start being known: half of the time of a product of its
    own.
    """
    start, columns, values, damping, is_flat = made_of
    x, before, pull_before, per_second, force, energy = state
    for v in range(first, last):
        a, b, c = number_row(columns, values, x, start[v], start[v + 1])
        rate = per_second * damping[v]
        d, e, f = rate * (a - pull_before[v, 0]), rate * (b - pull_before[v, 1]), rate * (c - pull_before[v, 2])
        energy[0, v] = 0.5 * (x[v, 0] * a + x[v, 1] * b + x[v, 2] * c)
        energy[1, v] = 0.5 * (
            (x[v, 0] - before[v, 0]) * d + (x[v, 1] - before[v, 1]) * e + (x[v, 2] - before[v, 2]) * f
        )
        if is_flat:
            d, e, f = a + d, b + e, c + f
        force[v, 0], force[v, 1], force[v, 2] = d, e, f


@kernel
def _bent(x, bending, buffers, gradient):
    """Energy of cloth that is bent at rest; adds its gradient."""
    r, normal, pull = buffers
    for h in range(len(bending.hinges)):
        _measure(x, bending.hinges[h], bending.weights[h], bending.rest[h], r[h], normal[h])
        pull[h, 0] = pull[h, 1] = pull[h, 2] = 0.0
    energy = 0.0
    for f in range(len(bending.faces)):
        for i in range(3):
            g = bending.faces[f, i]
            if g < 0:
                continue
            for j in range(3):
                h = bending.faces[f, j]
                if h < 0:
                    continue
                k = bending.stiffness[f, i, j]
                for c in range(3):
                    pull[g, c] += k * r[h, c]
                    energy += 0.5 * k * r[g, c] * r[h, c]
    for h in range(len(bending.hinges)):
        for k in range(4):
            v = bending.hinges[h, k]
            for c in range(3):
                gradient[v, c] += bending.weights[h, k] * pull[h, c]
        if bending.rest[h] != 0.0:
            _add_turning(x, bending.hinges[h], bending.rest[h], normal[h], pull[h], gradient)
    return energy


@helper
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def _from(x, i, j):
    return x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]


@helper
def _length(a):
    return np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@helper
def _measure(x, hinge, weights, rest, r, normal):
    """r = L x - rest n; normal gets n, the length of the sum of both normals, and twice the areas."""
    for c in range(3):
        r[c] = 0.0
        for k in range(4):
            r[c] += weights[k] * x[hinge[k], c]
    if rest == 0.0:
        return
    side = _from(x, hinge[0], hinge[1])
    one, two = _cross(side, _from(x, hinge[0], hinge[2])), _cross(_from(x, hinge[0], hinge[3]), side)
    first, second = max(_length(one), 1e-300), max(_length(two), 1e-300)
    total = (
        one[0] / first + two[0] / second, one[1] / first + two[1] / second, one[2] / first + two[2] / second,
    )  # fmt: skip
    length = max(_length(total), 1e-12)
    for c in range(3):
        normal[c] = total[c] / length
        r[c] -= rest * normal[c]
    normal[3], normal[4], normal[5] = length, first, second


@helper
def _add_turning(x, hinge, rest, normal, pull, gradient):
    """Of -rest n . pull: a face's normal turns as -sum of (gradient of weight k) (n . motion of corner k)."""
    along = pull[0] * normal[0] + pull[1] * normal[1] + pull[2] * normal[2]
    k = -rest / normal[3]
    push = (
        k * (pull[0] - along * normal[0]), k * (pull[1] - along * normal[1]), k * (pull[2] - along * normal[2]),
    )  # fmt: skip
    _turn_face(x, (hinge[0], hinge[1], hinge[2]), normal[4], push, gradient)
    _turn_face(x, (hinge[1], hinge[0], hinge[3]), normal[5], push, gradient)


@helper
def _turn_face(x, corners, twice, push, gradient):
    n = _cross(_from(x, corners[0], corners[1]), _from(x, corners[0], corners[2]))
    n = (n[0] / twice, n[1] / twice, n[2] / twice)
    for k in range(3):
        slope = _cross(n, _from(x, corners[(k + 1) % 3], corners[(k + 2) % 3]))
        w = -(slope[0] * push[0] + slope[1] * push[1] + slope[2] * push[2]) / twice
        for c in range(3):
            gradient[corners[k], c] += w * n[c]
