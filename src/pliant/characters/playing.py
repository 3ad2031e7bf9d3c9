"""A clip, frame by frame: where the body and the skin are, and what penetrates what."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.characters.body.bodies import body_of
from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import Obstacle, place
from pliant.characters.detection.on_demand import CollisionDetector
from pliant.characters.detection.penetrations import Penetrations, carriers_of, measure
from pliant.characters.rig.blending import dual_quaternion_blend, linear_blend
from pliant.characters.rig.rig import Character, Clip
from pliant.characters.solver.position_based import PositionBasedSkinning
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import as_number, choose, thread_count
from pliant.runtime.log import LOG
from pliant.runtime.threads import Progress

SKINNINGS = ("position based", "linear", "dual quaternion")
_DETECTION, _SKINNING = ("detect",), ("follow",)  # stages of Position Based Skinning; all others are of its solver


@dataclass(frozen=True, repr=False, eq=False)
class Frame:
    """A character at one time of a clip.

    time : seconds
    x : (v, 3) positions of the body
    skin : (n, 3) positions of the skin
    penetrations : what is in what; vertices and cells of obstacles come after those of the body
    skinning_ms, solver_ms, detection_ms : where the time went; to measure penetrations is in none of them
    """

    time: float
    x: np.ndarray
    skin: np.ndarray
    penetrations: Penetrations
    skinning_ms: float = 0.0
    solver_ms: float = 0.0
    detection_ms: float = 0.0

    def __repr__(self) -> str:
        spent = self.skinning_ms + self.solver_ms + self.detection_ms
        return f"Frame({self.time:.4g} s, {self.penetrations!r}, {spent:.3g} ms)"

    def colliding(self, body: Body) -> np.ndarray:
        """(n,) bool: vertices of the skin at least half of which is carried by vertices that are in other cells."""
        inner = np.zeros(len(self.x))
        vertices = self.penetrations.vertices
        inner[vertices[vertices < len(inner)]] = 1.0
        corners = inner[body.volume.cells["tetra"][body.skin_cells]]
        return (body.skin_weights * corners).sum(axis=1) >= 0.5


def play(
    character: Character,
    clip: str | Clip | None = None,
    *,
    body: Body | None = None,
    obstacles: Sequence[Any] = (),
    skinning: str = "position based",
    collisions: bool = True,
    update: str = "safe",
    rate: float = 60.0,
    seconds: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Frame]:
    """Every frame of a clip, from its begin, with all penetrations.

    clip : a clip or its name; None is the pose of rest
    body : tetrahedra in the skin; default: ``body_of(character)``
    obstacles : rigid bodies (``Obstacle``); one that has ``transform``, a function from seconds to (4, 4), moves
    skinning : "position based" (flesh), "linear" or "dual quaternion" (blending, without any response)
    collisions : let flesh respond to collisions; they are reported in any case
    update : of the detection, as in ``CollisionDetector``
    rate : frames a second
    seconds : how long; default: as long as the clip, or one frame without one. After its end a clip stands still
    threads : number of threads; default: as many as there are cores
    progress : called with the number of frames that are done, and of all of them
    """
    choose(skinning, "skinning", SKINNINGS)
    clip = None if clip is None else character.clip(clip)
    body, threads = body_of(character) if body is None else body, thread_count(threads)
    rigid = [Obstacle(o.volume, o.rest) for o in obstacles]
    detection: dict[str, Any] = {"update": update, "obstacles": rigid, "threads": threads}
    flesh = None
    if skinning == SKINNINGS[0]:
        flesh = PositionBasedSkinning(character, body, collisions=collisions, **detection)
        step = _step_of(flesh)
    else:
        step = _blend_of(character, body, linear_blend if skinning == "linear" else dual_quaternion_blend)
    # Angles close from frame to frame: whoever asks several times in a frame, as the solver does, sees them rest.
    if flesh is None or update == "angles":
        detector = CollisionDetector(body, character.skeleton, **detection)
        find, volume = detector.find, detector.volume
    else:
        find, volume = _find_of(flesh), flesh.volume
    times = frame_times(clip, rate, seconds)
    frames = _frames(Playing(character, clip, body, tuple(obstacles), rigid, volume, threads), step, find, times)
    return frames if progress is None else _reported(frames, len(times), progress)


def _reported(frames: Iterator[Frame], count: int, progress: Progress) -> Iterator[Frame]:
    for done, frame in enumerate(frames, 1):
        progress(done, count)
        yield frame


def frame_times(clip: Clip | None, rate: float = 60.0, seconds: float | None = None) -> np.ndarray:
    """(f,) seconds of the frames of a clip, the first at 0."""
    rate = as_number(rate, "rate", 1e-3, 1e6)
    if seconds is None:
        seconds = 0.0 if clip is None else clip.duration
    # A clip that is whole frames long ends with its last frame, however 1 / rate is rounded.
    return np.arange(int(as_number(seconds, "seconds", 0.0, 1e6) * rate + 1e-6) + 1) / rate


class Playing(NamedTuple):
    character: Character
    clip: Clip | None
    body: Body
    obstacles: tuple[Any, ...]
    rigid: list[Obstacle]  # the same, without their motion
    volume: VolumeMesh  # the body and the obstacles
    threads: int


_Step = Callable[[np.ndarray, np.ndarray | None, float], tuple[np.ndarray, np.ndarray, tuple[float, float, float]]]

_Find = Callable[[np.ndarray, np.ndarray, np.ndarray | None], np.ndarray]


def _frames(playing: Playing, step: _Step, find: _Find, times: np.ndarray) -> Iterator[Frame]:
    character, clip, body, obstacles, rigid, volume, threads = playing
    carriers = carriers_of(body, character.skeleton, rigid)
    for i, t in enumerate(times.tolist()):
        clock = time.perf_counter()
        transforms, moved = character.transforms(clip, t), _moved(obstacles, t)
        posing = time.perf_counter() - clock
        x, skin, spent = step(transforms, moved, times[i] - times[i - 1] if i else 0.0)
        clock = time.perf_counter()
        pairs = find(x, transforms, moved)
        last = time.perf_counter() - clock
        together = np.concatenate((x, *place(rigid, moved)))
        found = measure(volume, together, pairs, carriers, threads)
        frame = Frame(t, x, skin, found, *(1e3 * s for s in (spent[0] + posing, spent[1], spent[2] + last)))
        LOG.info("play of %s: %r", character.name, frame)
        yield frame


def _moved(obstacles: Sequence[Any], t: float) -> np.ndarray | None:
    """(o, 4, 4) of the obstacles at a time; None where there are none."""
    if not obstacles:
        return None
    return np.stack([o.transform(t) if hasattr(o, "transform") else np.eye(4) for o in obstacles])


def _step_of(flesh: PositionBasedSkinning) -> _Step:
    def step(transforms: np.ndarray, moved: np.ndarray | None, dt: float) -> Any:
        x = flesh.advance(transforms, dt, moved) if dt > 0.0 else flesh.reset(transforms, moved)
        clock = time.perf_counter()
        skin = flesh.body.skin(x)
        embedding = time.perf_counter() - clock
        skinning = sum(stage.seconds for stage in flesh.stages if stage.name in _SKINNING)
        detection = sum(stage.seconds for stage in flesh.stages if stage.name in _DETECTION)
        solver = sum(stage.seconds for stage in flesh.stages) - skinning - detection
        return x, skin, (skinning + embedding, solver, detection)

    return step


def _find_of(flesh: PositionBasedSkinning) -> _Find:
    """Where the last step of the flesh has ended: nothing else is asked for."""
    return lambda x, transforms, moved: flesh.find()


def _blend_of(character: Character, body: Body, blend: Callable[..., np.ndarray]) -> _Step:
    def step(transforms: np.ndarray, moved: np.ndarray | None, dt: float) -> Any:
        clock = time.perf_counter()
        skin = blend(character.rest, character.joints, character.weights, transforms)
        x = blend(body.rest, body.joints, body.weights, transforms)
        return x, skin, (time.perf_counter() - clock, 0.0, 0.0)

    return step
