"""The longest step of central differences: a bound on the largest frequency, from the stiffness of the elements.

If the mass of each vertex is dealt out to the elements at it, no frequency of the whole is above the largest one of an
element with its share (Irons): x'Kx is the sum of x'K_e x <= w_e^2 x'M_e x, and the sum of the M_e is M. That holds
for any shares; those here are as large as the stiffness of each element at the vertex, so that none is left with a
stiff corner that weighs nothing. The largest eigenvalue of an element is at most the Frobenius norm of the sixteenth
power of its matrix, to the power of 1/16, which is above it by a tenth at most (24 equal eigenvalues): a twentieth of a
frequency.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from pliant.runtime.jit import kernel
from pliant.runtime.threads import ThreadPool

_CHUNK = 4096  # elements whose stiffness is in memory at once
_SQUARINGS = 4
_ROUNDING = 1.0 + 1e-9  # of a few hundred sums
_TINY = 1e-300


class Stiff(Protocol):
    """What has a stiffness, element by element.

    stencil : (e, s) int32, vertices of each element, -1 where there are fewer than s
    damping : s, near rest, stress of a rate of strain is at most this times the stiffness times that rate
    """

    @property
    def stencil(self) -> np.ndarray: ...

    @property
    def damping(self) -> float: ...

    def begin(self, x: np.ndarray) -> None:
        """Positions, (n, 3), that a step starts from: what damping compares with."""
        ...

    def stiffness(self, x: np.ndarray, first: int, last: int, per_second: float = 0.0) -> np.ndarray:
        """(last - first, s s, 9) positive blocks of all pairs of vertices of elements first .. last - 1 at x, and what
        damping resists to velocities with times so many per second, in a step that begins at x."""
        ...


def largest_frequency(
    terms: Sequence[Stiff], inverse_mass: np.ndarray, x: np.ndarray, pool: ThreadPool, per_second: float = 0.0
) -> float:
    """An upper bound, rad/s, of small vibrations about positions x, (n, 3).

    inverse_mass : (n,) 1/kg, 0 of vertices that are driven
    per_second : with so many times the damping as a part of the stiffness
    """
    traces = [np.zeros(term.stencil.shape) for term in terms]
    for term, trace in zip(terms, traces):
        if per_second > 0.0:
            term.begin(x)
        for first, last, stiffness in _chunks(term, x, per_second):
            _write_traces(stiffness, trace[first:last])
    total = np.zeros(len(x))
    for term, trace in zip(terms, traces):
        there = term.stencil >= 0
        total += np.bincount(term.stencil[there], trace[there], len(x))
    squared = 0.0
    for term, trace in zip(terms, traces):
        # One over the mass of each corner: what its vertex weighs, by its part of the stiffness there.
        share = np.where(term.stencil >= 0, (inverse_mass * total)[term.stencil], 0.0)
        per_mass = np.divide(share, trace, out=np.zeros_like(trace), where=trace > 0.0)
        for first, last, stiffness in _chunks(term, x, per_second):
            squared = max(squared, _largest(stiffness, per_mass[first:last], pool))
    return float(np.sqrt(squared) * _ROUNDING)


def longest_step(terms: Sequence[Stiff], inverse_mass: np.ndarray, x: np.ndarray, pool: ThreadPool) -> float:
    """Seconds up to which central differences are stable at x, (n, 3); infinite where nothing is stiff."""
    frequency = largest_frequency(terms, inverse_mass, x, pool)
    if frequency == 0.0:
        return np.inf
    # Damping that is known from the step before: 2 / w (sqrt(1 + q^2) - q), with the part q of critical damping.
    part = 0.5 * frequency * max((term.damping for term in terms), default=0.0)
    step = 2.0 / frequency / (np.sqrt(1.0 + part * part) + part)
    if part == 0.0:
        return step
    # What is stretched s times is damped by up to s^2 times as much, and may be no stiffer. With damping C a step of h
    # is stable if M - h C / 2 - h^2 K / 4 is positive; as h K + 2 C grows with h, it is up to this one in any case.
    damped = largest_frequency(terms, inverse_mass, x, pool, 2.0 / step)
    return min(step, 4.0 / step / damped**2)


def _largest(stiffness: np.ndarray, per_mass: np.ndarray, pool: ThreadPool) -> float:
    found = np.zeros(len(per_mass))
    pool.run_range(lambda a, b: _bound(stiffness, per_mass, a, b, found), len(per_mass), 64)
    return float(found.max(initial=0.0))


def _chunks(term: Stiff, x: np.ndarray, per_second: float) -> Iterator[tuple[int, int, np.ndarray]]:
    count = len(term.stencil)
    for first in range(0, count, _CHUNK):
        last = min(first + _CHUNK, count)
        yield first, last, term.stiffness(x, first, last, per_second)


@kernel
def _write_traces(stiffness, out):
    s = out.shape[1]
    for e in range(len(out)):
        for i in range(s):
            pair = s * i + i
            out[e, i] = stiffness[e, pair, 0] + stiffness[e, pair, 4] + stiffness[e, pair, 8]


@kernel
def _bound(stiffness, per_mass, first, last, out):
    s = per_mass.shape[1]
    n = 3 * s
    matrix, square = np.empty((n, n)), np.empty((n, n))
    for e in range(first, last):
        norm = 0.0
        for i in range(n):
            for j in range(n):
                scale = np.sqrt(per_mass[e, i // 3] * per_mass[e, j // 3])
                matrix[i, j] = scale * stiffness[e, s * (i // 3) + j // 3, 3 * (i % 3) + j % 3]
                norm += matrix[i, j] * matrix[i, j]
        norm = np.sqrt(norm)
        found, power = norm, 1.0
        for _ in range(_SQUARINGS):
            if not norm > _TINY:
                break
            per = 1.0 / norm
            for i in range(n):
                for j in range(n):
                    matrix[i, j] *= per
            norm = 0.0
            for i in range(n):
                for j in range(i + 1):
                    total = 0.0
                    for k in range(n):
                        total += matrix[i, k] * matrix[j, k]
                    square[i, j] = square[j, i] = total
                    norm += total * total if i == j else 2.0 * total * total
            matrix, square = square, matrix
            norm = np.sqrt(norm)
            power *= 0.5
            found *= norm**power
        out[e] = found
