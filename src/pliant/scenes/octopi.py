"""A scene of tetrahedra: three octopuses that press into each other and get entangled."""

import math
from typing import NamedTuple

import numpy as np

from pliant.scenes.lattices import cubes, integral, rounded, tetrahedra
from pliant.scenes.volume_scene import Part, VolumeScene, moving

ARMS = 8
LENGTH = 3.8  # of a tentacle, where the head has radius 1
# Arms are numbered by axis (bit 0), end of it (bit 1) and place at that side of the head (bit 2). The two at one side
# lean towards each other, or they would never meet: to the left or to the right, as seen along the arm.
_TO_NEIGHBOUR = np.array([-1, 1, 1, -1, 1, -1, -1, 1])
APART = 1.42  # from the middle of the scene to each head at the start
_SPREAD = -0.25  # bend of tentacles, which lean away from each other


class _Build(NamedTuple):
    """An octopus as a lattice: a head of side x side x height cubes; on each of its four sides two arms, `width` cubes
    wide, from `gap` cubes beside the corners on, and as many cubes long as `lengths` (8,) says."""

    side: int
    height: int
    width: int
    gap: int
    lengths: np.ndarray

    @property
    def lowest(self) -> int:
        """Where in the height of the head its arms begin."""
        return min(1, self.height - self.width)


def octopi(cells: int = 17_600, frames: int = 12, seed: int = 0) -> VolumeScene:
    """Three octopuses that swim into each other: 24 tentacles, which cross their own and the others'.

    An octopus is one lattice of cubes, cut into tetrahedra; a tentacle is the patch of the head that it grows from,
    swept along a curve that waves. Below 2,300 cells, tentacles are short.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for number, build in enumerate(_builds(cells)):
        edge = 2 / build.side
        parts.append(_octopus(build, number * 2 * math.pi / 3, 0.27 * edge * np.arange(frames), rng))
    return moving("octopi", parts)


def three_octopuses(cells: int, seed: int = 0) -> list[Part]:
    """One frame of each by itself, around the origin, with its tentacles spread: they cross nothing."""
    rng = np.random.default_rng(seed)
    headings = rng.uniform(0, 2 * math.pi, 3)
    parts = [_octopus(build, h, np.zeros(1), rng, _SPREAD) for build, h in zip(_builds(cells), headings)]
    return [Part(part.cells, part.frames - part.frames.mean(axis=(0, 1))) for part in parts]


def _builds(cells: int) -> list[_Build]:
    """Three octopuses of about as many tetrahedra altogether; lengths of arms differ by a cube at most."""
    width = max(1, round(2 * (cells / 17_600) ** (1 / 3)))
    gap = max(1, width // 2)
    side = 2 * width + 3 * gap
    height = side - 1
    left = cells / 6 - 3 * side * side * height
    while left < 3 * ARMS * 3 * width**2 and height > width:
        height -= 1
        left += 3 * side * side
    total = max(3 * ARMS * 2, round(left / width**2))
    lengths = np.full(3 * ARMS, total // (3 * ARMS))
    lengths[: total % (3 * ARMS)] += 1
    # Every third one: the longer arms are spread over the three.
    return [_Build(side, height, width, gap, lengths[k::3]) for k in range(3)]


def _octopus(build: _Build, heading: float, time: np.ndarray, rng: np.random.Generator, bend: float = 1.0) -> Part:
    """One octopus, at a place and facing a way that depend on `heading`, with a shape for each time (f,).

    bend : how much tentacles lean and wave; below 0, those at one side lean away from each other
    """
    reach = int(build.lengths.max())
    mask, arm_boxes = _lattice(build, reach)
    hexahedra, at = cubes(mask)
    arm, along = _arms_of(at, arm_boxes)
    middle = np.array([reach + build.side / 2, reach + build.side / 2, build.height / 2])
    half = np.array([build.side / 2, build.side / 2, build.height / 2])
    # A vertex of an arm is moved with the one of the head that its row of the lattice begins at.
    foot = np.clip((at - middle) / half, -1, 1)
    skin = rounded(foot, 0.8) * (1, 1, 1.25)
    phase = rng.uniform(0, 2 * math.pi, (4, ARMS))
    lean = rng.uniform(0.8, 1.6, ARMS) * _TO_NEIGHBOUR
    turn = np.array([(math.cos(heading), -math.sin(heading)), (math.sin(heading), math.cos(heading))])

    x = np.empty((len(time), len(at), 3))
    for k, t in enumerate(time):
        breath = 1 + 0.08 * math.sin(2 * t + heading)
        head = skin * (breath, breath, 1 / breath)
        head[:, 0] += 0.12 * head[:, 2] ** 2 * math.cos(t)
        x[k] = head
        for number in range(ARMS):
            own = arm == number
            share = along[own] / build.lengths[number]
            root = head[own & (along == 0)].mean(axis=0)
            pose = _Pose(lean[number], phase[:, number], t, bend)
            x[k, own] = _swept(head[own], root, share, pose)
        x[k, :, :2] = x[k, :, :2] @ turn.T + (APART - 0.7 * math.sin(1.3 * t)) * turn[:, 0]
        x[k, :, 2] += 0.25 * math.sin(heading + t)
    return Part({"tetra": tetrahedra(hexahedra)}, x)


def _lattice(build: _Build, reach: int) -> tuple[np.ndarray, list[tuple[int, int, slice, slice]]]:
    """Which cubes there are, and for each arm: axis, direction, and the points across it."""
    wide = build.side + 2 * reach
    mask = np.zeros((wide, wide, build.height), bool)
    mask[reach:-reach, reach:-reach] = True
    tall = slice(build.lowest, build.lowest + build.width)
    boxes = []
    for number in range(ARMS):
        axis, end, place = number & 1, number >> 1 & 1, number >> 2
        start = reach + build.gap + place * (build.width + build.gap)
        across = slice(start, start + build.width)
        length = int(build.lengths[number])
        outward = slice(wide - reach, wide - reach + length) if end else slice(reach - length, reach)
        mask[(outward, across, tall) if axis == 0 else (across, outward, tall)] = True
        boxes.append((axis, wide - reach if end else -reach, across, tall))
    return mask, boxes


def _arms_of(at: np.ndarray, boxes: list[tuple[int, int, slice, slice]]) -> tuple[np.ndarray, np.ndarray]:
    """For every point (n, 3) its arm (n,), or -1, and how many cubes it is away from the head (n,)."""
    arm, along = np.full(len(at), -1), np.zeros(len(at))
    for number, (axis, root, across, tall) in enumerate(boxes):
        out = at[:, axis] - root if root > 0 else -root - at[:, axis]
        beside = at[:, 1 - axis]
        inside = (out >= 0) & (across.start <= beside) & (beside <= across.stop)
        inside &= (tall.start <= at[:, 2]) & (at[:, 2] <= tall.stop)
        arm[inside], along[inside] = number, out[inside]
    return arm, along


class _Pose(NamedTuple):
    lean: float
    phase: np.ndarray
    time: float
    bend: float

    def angles(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Directions (k,) of the arm sideways and upwards, both 0 at its root, at shares s (k,) of its length."""
        a, b, c, d = self.phase
        wave = np.sin(2 * math.pi * s + a + self.time) - math.sin(a + self.time)
        ripple = np.sin(4 * math.pi * s + c - self.time) - math.sin(c - self.time)
        sideways = self.lean * s + 0.38 * wave + 0.12 * ripple
        droop = -0.55 * np.sin(math.pi * np.minimum(s, 0.5))
        upwards = droop + self.bend * (0.35 * (np.sin(5 * s + b + 0.7 * self.time) - math.sin(b + 0.7 * self.time)))
        return self.bend * sideways, upwards + self.bend * (0.4 * s * math.sin(d + self.time))


def _swept(feet: np.ndarray, root: np.ndarray, share: np.ndarray, pose: _Pose) -> np.ndarray:
    """Points (n, 3) of an arm: what they are beside the root in `feet` (n, 3), carried along it to `share` (n,)."""
    out = np.array([root[0], root[1], 0.0]) / math.hypot(root[0], root[1])
    left, up = np.array([-out[1], out[0], 0.0]), np.array([0.0, 0.0, 1.0])
    fine = np.linspace(0, 1, 241)
    sideways, upwards = pose.angles(fine)
    path = np.stack([np.cos(upwards) * np.cos(sideways), np.cos(upwards) * np.sin(sideways), np.sin(upwards)])
    centre = np.stack([np.interp(share, fine, LENGTH * axis) for axis in integral(path, fine[1])], axis=1)
    sideways, upwards = pose.angles(share)
    (cs, ss), (cu, su) = ((np.cos(v), np.sin(v)) for v in (sideways, upwards))
    forward = np.stack([cu * cs, cu * ss, su], axis=1)
    leftward = np.stack([-ss, cs, np.zeros_like(ss)], axis=1)
    upward = np.stack([-su * cs, -su * ss, cu], axis=1)
    offset = (feet - root) @ np.stack([out, left, up], axis=1)
    taper = (1 - 0.75 * share)[:, None]
    # The patch of the head is curved; along the arm it becomes flat.
    flat = (1 - share)[:, None] ** 3
    local = centre + offset[:, :1] * flat * forward + taper * (offset[:, 1:2] * leftward + offset[:, 2:] * upward)
    return root + local @ np.stack([out, left, up])
