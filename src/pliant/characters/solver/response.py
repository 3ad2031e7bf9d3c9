"""What keeps flesh out of flesh, and out of obstacles: detection and barriers inside of the solver's loop.

A vertex that is found inside of a cell gets a barrier: the face of the skin over the place in the cell where it is.
From then on it may not be behind that face, in this step and in the next ones as long as it stays near.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import Obstacle, place
from pliant.characters.detection.on_demand import CollisionDetector
from pliant.characters.rig.rig import Skeleton
from pliant.characters.solver.approach import matrices_between
from pliant.characters.solver.barriers import (
    calm_down,
    count_trouble,
    grown,
    keep_near,
    mark_inverted,
    mark_lost,
    no_barriers,
    push_out,
    put_up,
    skin_normals,
)
from pliant.characters.solver.flanks import flanks_of
from pliant.runtime.tally import Tally

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
    calm : (n + o,) part of its way that each vertex goes in a step: less than 1 where there is no solution
    inverted : (n + o,) bool, corners of cells that were inverted when last examined
    volume : tetrahedra of the body, and after them those of the obstacles
    """

    x: np.ndarray
    freedom: np.ndarray
    held: np.ndarray
    inverted: np.ndarray
    friction: float

    def __init__(
        self, body: Body, skeleton: Skeleton, update: str, obstacles: Sequence[Obstacle], threads: int
    ) -> None:
        self._detector = CollisionDetector(body, skeleton, update=update, obstacles=obstacles, threads=threads)
        self._obstacles, self._count, self.volume = tuple(obstacles), len(body.rest), self._detector.volume
        rest = np.concatenate((body.rest, *place(self._obstacles, None)))
        sizes = [self._count, *(len(obstacle.rest) for obstacle in self._obstacles)]
        self._flanks = flanks_of(self.volume, rest, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        self.x, self.freedom, self.held = rest.copy(), np.ones(len(rest)), np.zeros(len(rest), bool)
        self.freedom[self._count :] = 0.0
        self.friction, self._edge = 0.0, 1.0
        self._start, self._normals = rest.copy(), np.zeros_like(rest)
        self.inverted, self._lost = np.zeros(len(rest), bool), np.zeros(len(rest), bool)
        self.calm = np.ones(len(rest))
        self._trouble = np.zeros(len(rest), np.int32)
        self._pairs = self._found = np.empty((0, 2), np.int32)
        self._barriers, self._transforms = no_barriers(256), (None, None)
        self._seen = np.full_like(rest, np.nan)  # where everything was when it was last examined

    def forget(self) -> None:
        """No barriers, as if nothing had been before."""
        self._barriers.used[0] = 0
        self.held[:] = False
        self._trouble[:] = 0
        self.calm[:] = 1.0

    def begin(self, target: np.ndarray, edge: float, transforms: tuple[np.ndarray, Any]) -> None:
        """Before a step: the body is where it was, obstacles go where they will be.

        target : (n, 3) where bones had the body; edge : mean length of an edge; transforms : of joints and obstacles
        """
        self._edge, self._transforms = edge, transforms
        mark_lost(self.x, target, _TORN * edge, self._trouble, self._lost)
        mark_inverted(self.x, self._flanks, self.inverted)
        keep_near(self.x, self._lost, self._barriers, _NEAR * edge)
        self._start[:] = self.x
        if self._obstacles:
            self.x[self._count :] = np.concatenate(place(self._obstacles, transforms[1]))

    def look(self, tally: Tally) -> int:
        """Detection: barriers for what is inside; returns how many pairs of a vertex and a cell that are."""
        clock = time.perf_counter()
        pairs = self._pairs = self.find()
        clock = tally.lap("detect", clock)
        if len(pairs):
            self._barriers = grown(self._barriers, len(pairs))
            skin_normals(self.x, self._flanks.tree.faces, self._normals)
            mark_inverted(self.x, self._flanks, self.inverted)
            put_up(self.x, self._flanks, pairs, (self._normals, self.inverted, self._lost), self._barriers)
            tally.lap("barriers", clock)
        return len(pairs)

    def find(self) -> np.ndarray:
        """(k, 2) vertices, and cells that hold them; those of the last time if nothing has moved since."""
        if not np.array_equal(self.x, self._seen):
            self._found = self._detector.find(self.x[: self._count], *self._transforms)
            self._seen[:] = self.x
        return self._found

    def way_to(self, obstacle_transforms: Any, steps: int) -> Iterable[Any]:
        """Transforms of the obstacles in so many steps, from those of the last one."""
        before = self._transforms[1]
        if not self._obstacles or (before is None and obstacle_transforms is None):
            return [obstacle_transforms] * steps
        place(self._obstacles, obstacle_transforms)  # what cannot be there is said before anything has moved
        rest = np.tile(np.eye(4), (len(self._obstacles), 1, 1))
        start, end = (rest if m is None else np.asarray(m, float) for m in (before, obstacle_transforms))
        return matrices_between(start, end, steps)

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
        calm_down(self.volume._edges, self._trouble, self.calm)
        self.held[:] = False
        self.held[self._barriers.vertices[:count]] = True
        self.held[self._barriers.faces[:count, :3]] = True
