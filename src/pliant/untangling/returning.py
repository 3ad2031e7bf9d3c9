"""From a state that is free of intersections back towards the one that was given, free all the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.mesh.rings import grow
from pliant.response.resolver import Resolver
from pliant.runtime.arrays import TangledError
from pliant.runtime.clocks import Clock
from pliant.untangling.judging import FaceAreas, Limits
from pliant.untangling.restoring import restore_areas, restore_lengths
from pliant.untangling.spreading import smooth
from pliant.untangling.window import FREE_RINGS, Window, part_around

THICKNESS = 0.05  # of the median size of a vertex: what resolve aims at
_STEPS = 30  # at most
_GAIN = 0.1  # in three steps, below which it ends
_SMOOTH_EVERY = 3
_FURTHEST = 0.5  # sizes: no vertex is moved further, in a step, by areas that are restored
_NARROWER = 0.7  # of the vertices that may move: where fewer have to, the others are left out
_HOME = 0.01  # sizes: what is so near to where it was goes there
_LIGHTEST = 0.2  # mass of what is where it was; 1.2 of what is furthest from there
_SWEEPS = 3  # over all edges, in each step
_POLISH, _POLISH_SWEEPS = 4, 5  # steps at the end, every second one smooths
NEAR, FAR = 0.75, 6.0  # median sizes, within which something may be met; and where that was not enough
_RELAX, _RELAX_SWEEPS = 10, 40  # steps at the end, over faces whose area has changed too much
_RELAXED, _RELAX_GAIN = 1.2, 0.9  # of what is wanted, and of the excess: beyond which these steps go on, or end
_TRIES = 3  # of a step that takes faces beyond the limit, each with fewer vertices that take part
_AIM = 0.8  # of the limit: what areas are restored to
_MOST_AIM = 0.2  # however large the limit is


class Manner(NamedTuple):
    """How steps are taken.

    keeps : what is tangled at the start stays where it is
    bounded : what a step would take beyond the limits rests
    near : median sizes, within which something is looked for that may be met
    """

    keeps: bool = False
    bounded: bool = False
    near: float = NEAR


def brought_back(
    window: Window, x: np.ndarray, limits: Limits, clock: Clock, manner: Manner | None = None
) -> np.ndarray:
    """(n, 3) as near to what was given as steps get that are proven free of contact.

    Each step goes straight towards what was given, or smooths what is left of the way; then edges get back towards the
    lengths that they had, and faces towards their areas. So what is blocked slides along what blocks it, and neither
    ledges nor stretched faces stay.
    """
    if np.array_equal(x, window.x):
        return x
    way = _Way(window, x, limits, clock, manner or Manner())
    if way.come_nearer():
        way.polish()
        way.relax()
    return way.x


class _Way:
    """The way back of one window: x is where it is."""

    def __init__(self, window: Window, x: np.ndarray, limits: Limits, clock: Clock, manner: Manner) -> None:
        self.x = x.copy()
        self._window, self._clock, self._manner = window, clock, manner
        self._areas = FaceAreas.of(window.mesh._faces, window.x)
        self._most, self._rests = limits.max_distortion, np.zeros(len(x), bool)
        self._limit = self._most if manner.bounded else np.inf
        self._wanted = min(_AIM * self._most, _MOST_AIM)
        self._steps, self._rows = self._around((x != window.x).any(axis=1), self._wanted)

    def come_nearer(self) -> bool:
        """Whether it is not back yet, and there is time."""
        left = [_length(self._window, self.x)]
        for step in range(_STEPS):
            if self._clock.is_over or left[-1] == 0.0:
                return False
            self._go(_smoothed if step % _SMOOTH_EVERY == _SMOOTH_EVERY - 1 else _nearer, _SWEEPS)
            self._narrow()
            left.append(_length(self._window, self.x))
            if len(left) > _SMOOTH_EVERY and left[-1] > (1.0 - _GAIN) * left[-1 - _SMOOTH_EVERY]:
                break
        return True

    def polish(self) -> None:
        """What meets shares the way, and neighbours do."""
        self._steps.shares = True
        for step in range(_POLISH):
            if not self._clock.is_over:
                self._go(_stay if step % 2 else _smoothed, _POLISH_SWEEPS)

    def relax(self) -> None:
        """Faces whose area has changed too much get back towards it, as long as that gains; then those beyond the
        limit."""
        self._relax(self._wanted, _RELAXED * self._wanted)
        self._relax(_AIM * self._most, self._most)

    def _relax(self, wanted: float, enough: float) -> None:
        """Changes of areas that are wanted, and what is enough."""
        faces, before = self._window.mesh._faces, np.inf
        for _ in range(_RELAX):
            changes = self._areas.changes(faces, self.x)
            excess = float(np.maximum(changes - wanted, 0.0).sum())
            if self._clock.is_over or changes.max(initial=0.0) <= enough or excess > _RELAX_GAIN * before:
                break
            before, mask = excess, np.zeros(len(self.x), bool)
            mask[faces[changes > wanted]] = True
            self._steps, self._rows = self._around(mask, wanted)
            self._go(_stay, _RELAX_SWEEPS)

    def _narrow(self) -> None:
        """Steps of the part around what is not back yet, where that is much less than what may move now."""
        window, mask = self._window, (self.x != self._window.x).any(axis=1)
        free = grow(window.rings, mask, FREE_RINGS) & ~window.held
        if np.count_nonzero(free) < _NARROWER * np.count_nonzero(~self._steps.window.held):
            self._steps, self._rows = self._around(mask, self._wanted)

    def _around(self, mask: np.ndarray, wanted: float) -> tuple[_Steps, np.ndarray]:
        """Steps of the part around what may have to move, with areas restored to a wanted change, and the numbers of
        its vertices."""
        part, rows, faces = part_around(self._window, self.x, mask, self._manner.near)
        areas = FaceAreas(self._areas.area[faces], self._areas.scale[faces])
        return _Steps(part, areas, wanted, self._manner.keeps), rows

    def _go(self, aim_of: Callable[[Window, np.ndarray], np.ndarray], sweeps: int) -> None:
        """A step; vertices whose faces it would take beyond the limit do not take part, nor do those around."""
        steps, x = self._steps, self.x[self._rows]
        aim, rings = aim_of(steps.window, x), steps.window.rings
        for _ in range(_TRIES):
            after = steps.towards(x, aim, sweeps, self._rests[self._rows])
            worse = steps.taken_beyond(self._limit, x, after)
            if not worse.any():
                self.x[self._rows] = after
                return
            self._rests[self._rows] |= grow(rings, worse, FREE_RINGS)


class _Steps:
    """Steps that are proven free of contact."""

    def __init__(self, window: Window, areas: FaceAreas, wanted: float, keeps: bool) -> None:
        self.window, self._areas, self._wanted = window, areas, wanted
        self.shares = False  # what meets: the way, by masses
        self._resolver = Resolver(
            window.mesh, inverse_mass=np.where(window.held, 0.0, 1.0), tangled="keep" if keeps else "raise",
            thickness=THICKNESS * float(np.median(window.size)), threads=window.threads,
        )  # fmt: skip
        self._resolver._is_quiet = True

    def taken_beyond(self, limit: float, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """(n,) bool: corners of faces whose area has changed by more than the limit, and less before."""
        faces, out = self.window.mesh._faces, np.zeros(len(after), bool)
        if limit == np.inf:
            return out
        changes = self._areas.changes(faces, after)
        rows = np.flatnonzero(changes > limit)
        if len(rows):
            rows = rows[changes[rows] > self._areas.changes(faces, before)[rows]]
            out[faces[rows]] = True
        return out

    def towards(self, x: np.ndarray, aim: np.ndarray, sweeps: int, rests: np.ndarray) -> np.ndarray:
        """From x to near aim, with edges and areas restored in so many sweeps; what rests is pushed at most."""
        window, aim = self.window, np.array(aim)
        restore_lengths(aim, window.edges, window.lengths, window.held, sweeps)
        before = aim.copy()
        restore_areas(aim, window.mesh._faces, self._areas, self._wanted, window.held, sweeps)
        aim = _limited(before, aim, _FURTHEST * window.size)
        near = (np.linalg.norm(aim - window.x, axis=1) < _HOME * window.size) & ~window.held
        aim[near] = window.x[near]
        aim[rests] = x[rests]
        if self.shares:  # what is held stays so: nothing else that the resolver knows depends on masses
            self._resolver._options = self._resolver._options._replace(inverse_mass=self._inverse_mass(x))
        try:
            return np.array(self._resolver.resolve(x, aim).positions)
        except TangledError:  # it touches, which only a step finds out
            return x

    def _inverse_mass(self, x: np.ndarray) -> np.ndarray:
        """(n,) smaller where it is further to what was given: what meets shares the way."""
        away = np.linalg.norm(x - self.window.x, axis=1)
        share = away / max(float(away.max(initial=0.0)), 1e-300)
        return np.where(self.window.held, 0.0, 1.0 / (_LIGHTEST + share**2))


def _length(window: Window, x: np.ndarray) -> float:
    return float(np.linalg.norm(x - window.x, axis=1).sum())


def _stay(window: Window, x: np.ndarray) -> np.ndarray:
    """No further: only what is restored counts."""
    return x


def _nearer(window: Window, x: np.ndarray) -> np.ndarray:
    """A step towards what was given, of each vertex by its size at most."""
    return _limited(x, window.x, window.size)


def _limited(x: np.ndarray, aim: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The aim, or on the way there what is as far from x as it may be, (n,)."""
    way = aim - x
    share = np.minimum(1.0, most / np.maximum(np.linalg.norm(way, axis=1), 1e-300))
    return np.where(share[:, None] < 1.0, x + share[:, None] * way, aim)


def _smoothed(window: Window, x: np.ndarray) -> np.ndarray:
    """What was given, with a displacement that differs less between neighbours."""
    away = x - window.x
    return window.x + smooth(window.rings, away, np.ones(len(x)), window.held)
