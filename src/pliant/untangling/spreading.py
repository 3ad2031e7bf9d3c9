"""Displacements of a few vertices spread over their surroundings: linear systems over neighbours, solved by CG."""

from __future__ import annotations

import numpy as np

from pliant.mesh.rings import Rings
from pliant.runtime.jit import helper, kernel

_SWEEPS = 60  # of conjugate gradients, at most
_ACCURACY = 1e-3  # of the residual


def spread(rings: Rings, wanted: np.ndarray, weight: np.ndarray, held: np.ndarray, stay: float = 0.02) -> np.ndarray:
    """The minimum d of sum weight |d - wanted|^2 + sum over edges |difference of d|^2 + stay |d|^2; 0 where held.

    wanted : (n, 3), weight : (n,), held : (n,) bool
    """
    out = np.zeros_like(wanted)
    _solve(rings, weight + stay, weight[:, None] * wanted, held, out, _SWEEPS, _ACCURACY)
    return out


def smooth(rings: Rings, x: np.ndarray, pull: np.ndarray, held: np.ndarray, sweeps: int = 200) -> np.ndarray:
    """The minimum y of sum pull |y - x|^2 + sum over edges |difference of y|^2; x where held.

    x : (n, 3), pull : (n,)
    """
    change, rough = np.zeros_like(x), np.empty_like(x)
    _differences(rings, x, rough)
    _solve(rings, pull, rough, held, change, sweeps, _ACCURACY)
    return x + change


@kernel
def _differences(rings, x, out):
    """Minus the gradient of half the sum over edges of |difference|^2."""
    for v in range(len(x)):
        a = b = c = 0.0
        for s in range(rings.start[v], rings.start[v + 1]):
            w = rings.neighbours[s]
            a += x[w, 0] - x[v, 0]
            b += x[w, 1] - x[v, 1]
            c += x[w, 2] - x[v, 2]
        out[v, 0], out[v, 1], out[v, 2] = a, b, c


@kernel
def _solve(rings, weight, right, held, out, sweeps, accuracy):
    """(diagonal of weight + Laplacian) out = right, rows that are not held; Jacobi's preconditioner."""
    n = len(weight)
    r, p, q, inverse = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    for v in range(n):
        total = weight[v] + (rings.start[v + 1] - rings.start[v])
        if not held[v] and total > 0.0:
            inverse[v] = 1.0 / total
            for k in range(3):
                r[v, k] = right[v, k]
                p[v, k] = inverse[v] * r[v, k]
    before = _dot(r, p)
    enough = accuracy * accuracy * before
    for _ in range(sweeps):
        if not before > enough:
            return
        _multiply(rings, weight, inverse, p, q)
        below = _dot(p, q)
        if not below > 0.0:
            return
        alpha = before / below
        now = 0.0
        for v in range(n):
            for k in range(3):
                out[v, k] += alpha * p[v, k]
                r[v, k] -= alpha * q[v, k]
                now += inverse[v] * r[v, k] * r[v, k]
        for v in range(n):
            for k in range(3):
                p[v, k] = inverse[v] * r[v, k] + now / before * p[v, k]
        before = now


@helper
def _dot(a, b):
    total = 0.0
    for v in range(len(a)):
        total += a[v, 0] * b[v, 0] + a[v, 1] * b[v, 1] + a[v, 2] * b[v, 2]
    return total


@helper
def _multiply(rings, weight, inverse, p, q):
    start, neighbours = rings.start, rings.neighbours
    for v in range(len(weight)):
        if inverse[v] == 0.0:
            continue
        a = b = c = 0.0
        for s in range(start[v], start[v + 1]):
            w = neighbours[s]
            a += p[w, 0]
            b += p[w, 1]
            c += p[w, 2]
        own = weight[v] + (start[v + 1] - start[v])
        q[v, 0], q[v, 1], q[v, 2] = own * p[v, 0] - a, own * p[v, 1] - b, own * p[v, 2] - c
