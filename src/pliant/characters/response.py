"""What keeps flesh out of flesh, and out of obstacles: detection and barriers inside of the solver's loop.

A vertex that is found inside of a cell gets a barrier: the face of the skin over the place in the cell where it is.
From then on it may not be behind that face, in this step and in the next ones as long as it stays near.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant._tally import Tally
from pliant.characters.barriers import (
    count_trouble,
    grown,
    keep_near,
    mark_lost,
    mark_turned,
    no_barriers,
    push_out,
    put_up,
    skin_normals,
)
from pliant.characters.body import Body
from pliant.characters.flanks import flanks_of
from pliant.characters.obstacles import Obstacle, place
from pliant.characters.on_demand import CollisionDetector
from pliant.characters.rig import Skeleton

# In edges of the mean length. What is pushed out goes so far in front, or rounding would leave it in contact; a barrier
# pushes so far at once at most, or what cannot get out tears at its surroundings; and it is kept while its vertex is so
# near.
_MARGIN, _MOST, _NEAR = 0.02, 0.12, 0.5
# Further from its bones than this, flesh is caught in something that bones have gone through: it is let go. So is what
# is still inside after many steps: there is no way out, and response would tear at it for ever.
_TORN = 3.0


class Response:
    """Positions of a body and of obstacles, and the barriers between them.

    x : (n + o, 3) positions of the body, for others to write, and after them those of the obstacles
    freedom : (n + o,) how freely each vertex moves: 0 for obstacles
    held : (n + o,) bool, vertices that a barrier has held in the last step
    turned : (n + o,) bool, corners of cells that were inside out when last looked at
    """

    def __init__(
        self, body: Body, skeleton: Skeleton, update: str, obstacles: Sequence[Obstacle], threads: int
    ) -> None:
        self._detector = CollisionDetector(body, skeleton, update=update, obstacles=obstacles, threads=threads)
        self._obstacles, self._count = tuple(obstacles), len(body.rest)
        rest = np.concatenate((body.rest, *place(self._obstacles, None)))
        sizes = [self._count, *(len(obstacle.rest) for obstacle in self._obstacles)]
        self._flanks = flanks_of(self._detector.volume, rest, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        self.x, self.freedom, self.held = rest.copy(), np.ones(len(rest)), np.zeros(len(rest), bool)
        self.freedom[self._count :] = 0.0
        self.friction, self._edge = 0.0, 1.0
        self._start, self._normals = rest.copy(), np.zeros_like(rest)
        self.turned, self._lost = np.zeros(len(rest), bool), np.zeros(len(rest), bool)
        self._trouble, self._pairs = np.zeros(len(rest), np.int32), np.empty((0, 2), np.int32)
        self._barriers, self._transforms = no_barriers(256), (None, None)

    def forget(self) -> None:
        """No barriers, as if nothing had been before."""
        self._barriers.used[0] = 0
        self.held[:] = False
        self._trouble[:] = 0

    def begin(self, target: np.ndarray, edge: float, transforms: tuple[np.ndarray, Any]) -> None:
        """Before a step: the body is where it was, obstacles go where they will be.

        target : (n, 3) where bones had the body; edge : mean length of an edge; transforms : of joints and obstacles
        """
        self._edge, self._transforms = edge, transforms
        mark_lost(self.x, target, _TORN * edge, self._trouble, self._lost)
        mark_turned(self.x, self._flanks, self.turned)
        keep_near(self.x, self._lost, self._barriers, _NEAR * edge)
        self._start[:] = self.x
        if self._obstacles:
            self.x[self._count :] = np.concatenate(place(self._obstacles, transforms[1]))

    def look(self, tally: Tally) -> int:
        """Detection: barriers for what is inside; returns how many pairs of a vertex and a cell that are."""
        clock = time.perf_counter()
        pairs = self._pairs = self._detector.find(self.x[: self._count], *self._transforms)
        clock = tally.lap("detect", clock)
        if len(pairs):
            self._barriers = grown(self._barriers, len(pairs))
            skin_normals(self.x, self._flanks.tree.faces, self._normals)
            mark_turned(self.x, self._flanks, self.turned)
            put_up(self.x, self._flanks, pairs, (self._normals, self.turned, self._lost), self._barriers)
            tally.lap("barriers", clock)
        return len(pairs)

    def push(self, times: int, tally: Tally) -> None:
        clock = time.perf_counter()
        limits = _MARGIN * self._edge, _MOST * self._edge, self.friction
        for _ in range(times):
            push_out(self.x, self._start, self.freedom, self._barriers, limits)
        tally.lap("barriers", clock)

    def end(self) -> None:
        """After a step: what is held, and what the last look still found inside."""
        count = self._barriers.used[0]
        count_trouble(self._pairs, self._trouble)
        self.held[:] = False
        self.held[self._barriers.vertices[:count]] = True
        self.held[self._barriers.faces[:count, :3]] = True
