"""Vertices of a character in its own tetrahedra, and obstacles: of all of it, or of what may have changed.

Paper 003, section 4: spatial hashing, and on-demand hashing by joint angles. And a policy that cannot miss: what was
far enough apart and has not moved enough since needs no look (``clearances``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import Obstacle, join, place
from pliant.characters.detection.joint_angles import JointAngles
from pliant.characters.detection.parts import divide, dominant_joints
from pliant.characters.detection.rehashing import Keep, Rehashing
from pliant.characters.detection.watching import Watching
from pliant.characters.rig.rig import Skeleton
from pliant.elementary.certified import HIT
from pliant.elementary.containment import Shapes, decide_containment
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import OptionError, ShapeError, as_number, as_positions, choose, thread_count
from pliant.runtime.tally import Stage, Tally
from pliant.runtime.threads import ThreadPool

UPDATES = ("safe", "full", "angles")


class Policy(Protocol):
    """Which vertices and cells are examined in a frame."""

    def look(self, x: np.ndarray, transforms: np.ndarray | None, keep: Keep, tally: Tally) -> None: ...


class CollisionDetector:
    """Finds the vertices that are in cells, in one frame after the other.

    body : tetrahedra with the joints that carry them
    skeleton : of the character; "angles" needs it
    update : "full" rehashes everything. "safe" looks only where clearances are used up, and finds the same. "angles" is
        that of the paper: it looks where two bones, or a bone and the midline, close; a heuristic that misses what
        no such angle tells, and contact that lasts while the angle opens
    tolerance_angle : of "angles", in radians, from pi / 3 to pi
    obstacles : rigid bodies that take part
    threads : number of threads; default: as many as there are cores

    A vertex in a tetrahedron is what is searched for: two tetrahedra whose edges cross, without a vertex of one in
    the other, are not seen. ``pliant.dcd`` on the surface sees them.
    """

    def __init__(
        self,
        body: Body,
        skeleton: Skeleton | None = None,
        *,
        update: str = "safe",
        tolerance_angle: float = 2.0 * math.pi / 3.0,
        obstacles: Sequence[Obstacle] = (),
        threads: int | None = None,
    ) -> None:
        choose(update, "update", UPDATES)
        as_number(tolerance_angle, "tolerance_angle", math.pi / 3.0, math.pi)
        if update == "angles" and skeleton is None:
            raise OptionError('update="angles" needs a skeleton')
        self._obstacles, self._count = tuple(obstacles), len(body.rest)
        self.volume: VolumeMesh = join(body.volume, self._count, self._obstacles)  # what ids refer to
        owners = _owners(body, self._obstacles)
        joint_count = int(body.joints.max(initial=0)) + 1 if skeleton is None else len(skeleton.joints)
        rest = np.concatenate((body.rest, *place(self._obstacles, None)))
        groups = np.where(owners < 0, joint_count - 2 - owners, owners)
        self._parts = divide(self.volume._cells["tetra"], rest, groups)
        self._x, self._pool = np.empty((len(self._parts.vertices), 3)), ThreadPool(thread_count(threads))
        self._shapes = Shapes(
            self._parts.corners, len(self._parts.cells), np.zeros(1, np.int64), np.empty((0, 3), np.int32)
        )
        rehashing = Rehashing(self._parts, self._pool)
        self._policy: Policy = rehashing
        if update == "safe":
            self._policy = Watching(self._parts, rehashing)
        elif skeleton is not None and update == "angles":
            self._policy = JointAngles(self._parts, body, skeleton, tolerance_angle, rehashing)
        self.stages: tuple[Stage, ...] = ()  # what the last call of find did

    def find(self, x: Any, transforms: Any = None, obstacle_transforms: Any = None) -> np.ndarray:
        """(k, 2) int32: vertices, and cells that hold them and of which they are no corners, sorted.

        x : (v, 3) positions of the vertices of the body
        transforms : (j, 4, 4) of the joints, for "angles" only
        obstacle_transforms : (o, 4, 4) of the obstacles; None where they are at rest

        Ids are those of ``volume``: vertices and cells of the body, then those of each obstacle in turn.
        """
        return self._find(self._joined(x, obstacle_transforms), transforms)

    def _joined(self, x: Any, obstacle_transforms: Any) -> np.ndarray:
        x = as_positions(x, "x")
        if len(x) != self._count:
            raise ShapeError(f"x has {len(x)} rows, but the body has {self._count} vertices")
        if self._obstacles or obstacle_transforms is not None:
            x = np.concatenate((x, *place(self._obstacles, obstacle_transforms)))
        return x

    def _find(self, x: np.ndarray, transforms: Any) -> np.ndarray:
        np.take(x, self._parts.vertices, axis=0, out=self._x, mode="clip")  # with "raise" out is buffered
        found: list[np.ndarray] = []
        tallies: list[Tally] = []

        def keep(pairs: np.ndarray) -> None:
            status, tally = np.empty(len(pairs), np.int8), Tally()
            if decide_containment(self._x, self._shapes, pairs, status, tally):
                found.append(pairs[status == HIT])
            tallies.append(tally)

        tally = Tally()
        self._policy.look(self._x, transforms, keep, tally)
        self.stages = tally.merge(tallies).stages()
        return self._sorted(found)

    def _sorted(self, found: list[np.ndarray]) -> np.ndarray:
        """By the ids of the mesh, each pair once: a stray may be in a list as well."""
        if not found:
            return np.empty((0, 2), np.int32)
        rows, count = np.concatenate(found), len(self._parts.cells)
        keys = self._parts.vertices[rows[:, 0]] * np.int64(count) + self._parts.cells[rows[:, 1]]
        keys = np.unique(keys)
        return np.stack(np.divmod(keys, count), axis=1).astype(np.int32)


def _owners(body: Body, obstacles: tuple[Obstacle, ...]) -> np.ndarray:
    """(n,) int32: the joint that carries most of each vertex; of obstacles -2, -3, ..."""
    of_obstacles = [np.full(len(o.rest), -2 - i, np.int32) for i, o in enumerate(obstacles)]
    return np.concatenate((dominant_joints(body.joints, body.weights), *of_obstacles))
