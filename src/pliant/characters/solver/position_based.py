"""Position Based Skinning: flesh that bones carry, that keeps its volume and does not pass through itself.

Paper 003 deforms characters so (Abu Rumman and Fratarcangeli, Position-based skinning for soft articulated characters,
2015): bones say where flesh should be, and constraints are relaxed one after the other, XPBD, until it is where it can
be. What the paper leaves for later, the response to collisions, is among them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.body.bones import nearness_of
from pliant.characters.body.obstacles import Obstacle
from pliant.characters.rig.rig import Character
from pliant.characters.solver.approach import approach, way_between
from pliant.characters.solver.constraints import fit_to_scale, flesh_of, relax
from pliant.characters.solver.following import Motion, at_rest, follow, measure_drift, motion_of
from pliant.characters.solver.response import Response
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import OptionError, ShapeError, as_floats, as_number, thread_count
from pliant.runtime.tally import Stage, Tally
from pliant.runtime.threads import ThreadPool

# Compliances over dt^2, at 60 frames a second: freedom is at most 1, so 1 is half of the way in one relaxation. Stiffer
# edges leave less to the volumes: of a bar bent by 120 degrees 26 cells were inverted with 0.15, and none with 10.
# Of 1 to 12 on galloping horses and a running fox, 2 left nothing inside at the end of a step.
_PER_FRAME = 1.0 / 3600.0
EDGES = 2.0 * _PER_FRAME
SKIN = 4.0 * _PER_FRAME  # of attachments at the skin; there is none at a bone
SPREAD = 40.0 * _PER_FRAME  # more, where joints disagree by one edge about a target, which is no good one then
INVERTED_FIRMNESS = 0.3  # part of that at cells that are inverted: as a mirror image they would be at rest, too
PRESSED = 100.0 * _PER_FRAME  # more, where flesh is in contact: barriers come before bones

_HEAVY = 0.5  # of its freedom, a vertex at a bone has lost so much
_LOOK = 4  # detection before every so many relaxations: vertices move while they are relaxed
_ROUNDS = 4  # of detection and pushing at the end, at most: with 8, a galloping horse of larger cells ended deeper
# Seconds, a little more than a frame at 60 a second: in longer steps limbs passed through each other. And how many of
# them at most: who leaves out more frames than that has jumped.
_LONGEST, _MOST_STEPS = 1.02 / 60.0, 8
_STEPS, _SETTLE = 24, 8  # of a reset: on the way into the pose, and in it
_WORTH_THREADS = 8000  # tetrahedra: to wake threads takes as long as relaxing a tenth of that

# Edges and positions between this and its inverse are solved for: volumes need fourth powers of lengths.
_SOLVABLE = 1e60

# In edges of the mean length: how far inertia leads in a step at most, and a volume moves a vertex at once.
_STRAY, _LEAP = 0.25, 0.3


class PositionBasedSkinning:
    """Flesh of a character, from frame to frame.

    character, body : a character and the tetrahedra in its skin (``body_of``)
    iterations : how often constraints are relaxed in a step
    collisions : keep flesh out of flesh and out of obstacles
    friction : coefficient of Coulomb's law between what is in contact
    damping : how fast secondary motion fades, in 1 / s
    update : of the detection, as in ``CollisionDetector``
    obstacles : rigid bodies that push the flesh and do not give way
    threads : number of threads; default: as many as there are cores. The result does not depend on it

    It is at the bind pose until ``reset``. ``stages`` says how long the parts of the last step took.
    """

    def __init__(
        self,
        character: Character,
        body: Body,
        *,
        iterations: int = 12,
        collisions: bool = True,
        friction: float = 0.3,
        damping: float = 6.0,
        update: str = "safe",
        obstacles: Sequence[Obstacle] = (),
        threads: int | None = None,
    ) -> None:
        if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer) or iterations < 1:
            raise OptionError(f"iterations={iterations!r} must be a positive integer")
        self.character: Character = character
        self.body: Body = body
        self._iterations, self._damping = int(iterations), as_number(damping, "damping", 0.0, math.inf)
        self._pool, self.stages = ThreadPool(thread_count(threads)), ()
        self._response = Response(body, character.skeleton, update, obstacles, self._pool.threads)
        self._response.friction = as_number(friction, "friction", 0.0, math.inf)
        self._collisions = collisions
        surface = np.unique(body.volume.surface().faces)
        near = nearness_of(character.skeleton, body, surface)
        freedom = self._response.freedom
        freedom[: len(near)] = 1.0 - _HEAVY * near**2
        self._flesh, self._rest_lengths, self._rest_volumes = flesh_of(body, freedom)
        self.edge: float = float(self._rest_lengths.mean()) if len(self._rest_lengths) else 1.0
        self._firmness = SKIN * (1.0 - near) ** 2
        self._yielding = np.zeros(len(near))
        self._yielding[body.volume.vertices] = 1.0 - near[body.volume.vertices]
        self._before = np.tile(np.eye(4), (len(character.skeleton.joints), 1, 1))
        self._carried = at_rest(self._response.x[: len(near)])
        self._carried.x[:] = body.rest
        self._carried.target[:] = body.rest
        self._is_blended = False

    @property
    def x(self) -> np.ndarray:
        """(v, 3) positions of the body, a copy."""
        return self._carried.x.copy()

    def reset(self, transforms: Any, obstacle_transforms: Any = None) -> np.ndarray:
        """Flesh at rest in a pose, whatever was before: (v, 3).

        transforms, obstacle_transforms : as in ``advance``
        """
        now, body, tally = self._as_transforms(transforms), self.body, Tally()
        carried = self._carried = at_rest(self._response.x[: len(body.rest)])
        self._response.forget()
        path = approach(self.character.skeleton, now, _STEPS)
        self._before = next(path)
        start = motion_of(self._before, self._before, 1.0)
        follow(body.rest, body.joints, body.weights, start, carried, (self._yielding, 0.0))
        carried.x[:] = carried.target[:] = np.where(np.isfinite(carried.target), carried.target, body.rest)
        self._is_blended = False
        for pose in (*path, *[now] * _SETTLE):
            carried.drift[:] = 0.0
            motion, self._before = motion_of(self._before, pose, 1.0 / 60.0), pose
            self._step(motion, obstacle_transforms, self._collisions, tally, still=True)
        carried.drift[:] = 0.0
        carried.speed[:] = 0.0
        self.stages = tally.stages()
        return self.x

    def advance(self, transforms: Any, dt: float = 1.0 / 60.0, obstacle_transforms: Any = None) -> np.ndarray:
        """Positions (v, 3) of the body after a step; after several, with poses in between, if dt is more than 1 / 60.

        transforms : (j, 4, 4) of the joints, from the bind pose to the world (``character.transforms``)
        dt : seconds since the last step
        obstacle_transforms : (o, 4, 4) of the obstacles; None where they are at rest
        """
        now, dt, tally = self._as_transforms(transforms), as_number(dt, "dt", 1e-6, 1e6), Tally()
        count = max(1, min(_MOST_STEPS, math.ceil(dt / _LONGEST)))
        way: Iterable[tuple[np.ndarray, Any]] = [(now, obstacle_transforms)]
        if count > 1:
            poses = way_between(self.character.skeleton, self._before, now, count)
            way = zip(poses, self._response.way_to(obstacle_transforms, count))
        for pose, moved in way:
            motion, self._before = motion_of(self._before, pose, dt / count), pose
            self._step(motion, moved, self._collisions, tally)
        self.stages: tuple[Stage, ...] = tally.stages()
        return self.x

    def find(self) -> np.ndarray:
        """(k, 2) int32: vertices, and cells that hold them, where the last step has ended, as those of
        ``CollisionDetector.find``. Nothing is searched for twice: mostly the last look of a step has found them."""
        return self._response.find()

    @property
    def volume(self) -> VolumeMesh:
        """What the ids of ``find`` refer to: the body, then each obstacle in turn."""
        return self._response.volume

    def _as_transforms(self, transforms: Any) -> np.ndarray:
        matrices, count = as_floats(transforms, "transforms"), len(self._before)
        if matrices.shape != (count, 4, 4):
            raise ShapeError(
                f"transforms must have shape ({count}, 4, 4), one for each joint, but have {matrices.shape}"
            )
        return matrices.copy()

    def _step(self, motion: Motion, obstacle_transforms: Any, collide: bool, tally: Tally, still: bool = False) -> None:
        """``still`` without inertia."""
        body, carried, flesh, response = self.body, self._carried, self._flesh, self._response
        with np.errstate(over="ignore"):
            clock, edge = time.perf_counter(), self.edge * float(np.abs(motion.scale).mean())
        solvable = 1.0 / _SOLVABLE < edge < _SOLVABLE and np.abs(motion.now).max(initial=0.0) < _SOLVABLE
        if not solvable or self._is_blended:
            self._blend(motion, edge, obstacle_transforms)
            self._is_blended = not solvable
            if not solvable:
                return
            motion = motion_of(motion.now, motion.now, motion.dt)
        response.begin(carried.target, edge, (motion.now, obstacle_transforms))
        follow(body.rest, body.joints, body.weights, motion, carried, (self._yielding, 0.0 if still else _STRAY * edge))
        fit_to_scale(carried.scale, flesh, self._rest_lengths, self._rest_volumes)
        flesh.edge_pull[:] = 0.0
        flesh.target_pull[:] = 0.0
        np.divide(self._softness(edge), motion.dt**2, out=flesh.softness)
        tally.lap("follow", clock)
        for i in range(self._iterations):
            if collide and i % _LOOK == 0:
                response.look(tally)
            self._relax(motion.dt, edge, (True, True), tally)
            if collide:
                response.push(1, tally)
        for i in range(_ROUNDS if collide else 0):
            if response.look(tally) == 0:
                break
            for _ in range(2 if 2 * i < _ROUNDS else 0):
                self._relax(motion.dt, edge, (False, False), tally)
                response.push(1, tally)
            response.push(4, tally)
        response.end()
        measure_drift(carried, motion.dt, math.exp(-self._damping * motion.dt), response.held, response.calm)

    def _blend(self, motion: Motion, edge: float, obstacle_transforms: Any) -> None:
        """Flesh where linear blending has it, at rest; where that is too far away for a number, it stays."""
        carried, body, start = self._carried, self.body, self._carried.x.copy()
        self._response.begin(carried.target, edge, (motion.now, obstacle_transforms))
        self._response.forget()
        follow(body.rest, body.joints, body.weights, motion, carried, (self._yielding, 0.0))
        carried.x[:] = carried.target[:] = np.where(np.isfinite(carried.target), carried.target, start)
        for moving in (carried.speed, carried.drift, carried.offset):
            moving[:] = 0.0

    def _softness(self, edge: float) -> np.ndarray:
        """(v,) compliance of attachments."""
        n, response = len(self.body.rest), self._response
        firm = np.where(response.inverted[:n], INVERTED_FIRMNESS * self._firmness, self._firmness)
        return firm + SPREAD * (self._carried.spread / edge) ** 2 + PRESSED * response.held[:n]

    def _relax(self, dt: float, edge: float, parts: tuple[bool, bool], tally: Tally) -> None:
        """Attachments and edges, each where wanted, and volumes: even blocks, then odd ones."""
        clock, flesh, carried = time.perf_counter(), self._flesh, self._carried
        workers = self._pool.threads if len(flesh.tetrahedra) >= _WORTH_THREADS else 1
        limits = EDGES / dt**2, _LEAP * edge
        for parity in (0, 1):
            if workers == 1:
                relax(carried.x, carried.target, flesh, (parity, 2), limits, parts)
            else:
                self._pool.run(
                    lambda _, k, p=parity: relax(
                        carried.x, carried.target, flesh, (p + 2 * k, 2 * workers), limits, parts
                    ),
                    range(workers),
                )
        tally.lap("relax", clock)
