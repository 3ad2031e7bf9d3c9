"""A scene of a million triangles: a soft ball with tentacles that bounces on the ground."""

import math
from typing import NamedTuple

import numpy as np

from pliant.scenes.scene import Scene
from pliant.scenes.shapes import cut_facets, unit

MOST_TENTACLES = 820
# The ball has radius 1 and its center swings by BOUNCE around the origin. A tentacle is about as thick as the gap
# between two of them at their feet: THICKNESS is its radius, in distances from foot to foot.
BOUNCE, GROUND, THICKNESS = 0.12, -1.15, 0.26


def squishy_ball(triangles: int = 1_000_000, frames: int = 10, seed: int = 0) -> Scene:
    """A ball with 820 tentacles, one closed surface, that is squished on the ground and bounces up again.

    Tentacles wave, each its own way, and get into each other's; those below are bent aside by the ground and lie
    on it in a heap. From 200,000 triangles on there are 820; smaller balls have fewer of them, and thicker ones.
    """
    rng = np.random.default_rng(seed)
    cut = _Cut.of(triangles)
    faces, skin = _grow(cut)
    radius = THICKNESS * math.sqrt(4 * math.pi / cut.tentacles)
    length = min(1.0, 0.45 * (MOST_TENTACLES / cut.tentacles) ** 0.25)
    h = 2 * math.pi * radius / (6 * max(1, cut.reach))
    phase = rng.uniform(0, 2 * math.pi, (3, cut.tentacles))
    # Fewer tentacles are farther apart, and must bend more to meet.
    strength = rng.uniform(0.3, 1.4, cut.tentacles) * (MOST_TENTACLES / cut.tentacles) ** 0.15
    clearance = GROUND + radius * rng.uniform(1, 4, cut.tentacles)
    aside = skin.feet + _sideways(skin.feet, strength * np.exp(1j * phase[1]))
    heading = unit(aside * (1, 1, 0))[:, :2]

    x = np.empty((frames, len(skin.site), 3))
    for k in range(frames):
        # The ball moves by at most an edge and a half a step; after a few steps it is squished most.
        height = -BOUNCE * math.cos(min(0.5, 12 * h) * (k - 5))
        squash = 1 + 0.8 * (height - BOUNCE)
        time = min(1.2, 10 * h) * k
        lean = strength * (1 + 0.3 * np.sin(phase[0] + time))
        bend = _sideways(skin.feet, lean * np.exp(1j * (phase[1] + 0.5 * np.sin(phase[2] + time))))
        pose = _Pose(np.array([squash**-0.5, squash**-0.5, squash]), height, bend, heading, clearance, 0.1 + radius)
        x[k] = _posed(skin, pose, _axes(skin.feet, cut.rings, length, pose), radius)
    return Scene("squishy_ball", faces, x, np.zeros(len(skin.site), dtype=np.int64))


def straight(triangles: int) -> tuple[np.ndarray, np.ndarray]:
    """Faces (m, 3) and points (n, 3) of such a ball at rest: its tentacles stand off straight, none touches another."""
    cut = _Cut.of(triangles)
    faces, skin = _grow(cut)
    radius = THICKNESS * math.sqrt(4 * math.pi / cut.tentacles)
    length = min(1.0, 0.45 * (MOST_TENTACLES / cut.tentacles) ** 0.25)
    none = np.zeros_like(skin.feet)
    pose = _Pose(np.ones(3), 0.0, none, none[:, :2], np.full(len(none), -100.0), 1.0)
    return faces, _posed(skin, pose, _axes(skin.feet, cut.rings, length, pose), radius)


class _Cut(NamedTuple):
    """How the ball is cut into triangles. Tentacles stand at the corners of 2 tentacles - 4 facets. Every facet is
    cut into frequency^2 triangles; the disc of `reach` triangles around each foot becomes the tip of the tentacle, on a
    tube of `rings` rings. As facets have 6 tentacles - 12 corners, the number of triangles is known beforehand.
    """

    tentacles: int
    frequency: int
    reach: int
    rings: int

    @property
    def triangles(self) -> int:
        return (2 * self.tentacles - 4) * (self.frequency**2 + 6 * self.reach * self.rings)

    @staticmethod
    def of(triangles: int) -> "_Cut":
        if triangles < 80:
            return _Cut(max(4, triangles // 2 + 2), frequency=1, reach=0, rings=0)
        # Tentacles of six columns with as many rings as make their triangles well shaped; more columns if all 820 are.
        counts = np.arange(4, MOST_TENTACLES + 1)
        plain = (2 * counts - 4) * (9 + 6 * 18 * (counts / MOST_TENTACLES) ** 0.25)
        most = int(counts[max(0, np.count_nonzero(plain < triangles) - 1)])
        finer = [(400, 3, 1), (900, 5, 2), (3000, 8, 3), (math.inf, 12, 5)]
        frequency, reach = next(row[1:] for row in finer if triangles / MOST_TENTACLES < row[0])
        cuts = []
        for count in range(most, max(3, most - 8), -1):
            rings = (triangles / (2 * count - 4) - frequency**2) / (6 * reach)
            cuts.append(_Cut(count, frequency, reach, max(1, round(rings))))
        # The first that is close enough, or else the closest.
        return min(cuts, key=lambda cut: max(0.018, abs(cut.triangles / triangles - 1)))


class _Skin(NamedTuple):
    """Where every vertex belongs.

    feet : (count, 3) float64, directions of the tentacles
    at : (n, 3) float64, place on the unit sphere, if the vertex is not on a tentacle
    site : (n,) int64, number of the tentacle, or -1
    ring : (n,) int64, number of the ring, from the foot on
    around : (n,) complex128, place in the disc across the tentacle: of length 1 on the tube, less on the tip
    """

    feet: np.ndarray
    at: np.ndarray
    site: np.ndarray
    ring: np.ndarray
    around: np.ndarray


def _grow(cut: _Cut) -> tuple[np.ndarray, _Skin]:
    """Faces (m, 3) of the ball with its tentacles, and where their vertices belong."""
    feet = _spiral(cut.tentacles)
    faces, at, foot, steps = cut_facets(feet, _hull(feet), cut.frequency)
    site = np.where((steps <= cut.reach) & (cut.rings > 0), foot, -1)
    on_tip = (site[faces] >= 0).all(axis=1)
    rim = np.flatnonzero((steps == cut.reach) & (site >= 0))
    rim = rim[np.argsort(site[rim], kind="stable")]
    # Vertex (ring, place on the rim) of the tubes; ring 0 is the rim of the hole that the tentacle leaves in the ball.
    tube = len(at) + np.arange(len(rim) * cut.rings).reshape(len(rim), cut.rings).T
    tube = np.concatenate([rim[None], tube])
    lifted = np.arange(len(at))
    lifted[rim] = tube[-1]

    one, two = _across(feet)
    around = (at * one[site]).sum(axis=1) + 1j * (at * two[site]).sum(axis=1)
    around *= np.sin(math.pi / 2 * steps / max(1, cut.reach)) / np.where(steps == 0, 1, np.abs(around))
    copies = np.repeat(rim, cut.rings)
    ring = np.full(len(at), cut.rings)
    ring[rim] = 0
    skin = _Skin(
        feet=feet,
        at=np.concatenate([at, at[copies]]),
        site=np.concatenate([site, site[copies]]),
        ring=np.concatenate([ring, np.tile(np.arange(cut.rings) + 1, len(rim))]),
        around=np.concatenate([around, around[copies]]),
    )
    walls = _walls(faces[on_tip], tube, rim)
    return np.concatenate([faces[~on_tip], walls, lifted[faces[on_tip]]]), skin


def _walls(tips: np.ndarray, tube: np.ndarray, rim: np.ndarray) -> np.ndarray:
    """Faces (w, 3) between the rings of vertices tube (rings + 1, r), where ring 0 bounds the faces `tips` (t, 3)."""
    place = np.full(tips.max(initial=0) + 1, -1)
    place[rim] = np.arange(len(rim))
    edges = place[tips[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)]
    edges = edges[(edges >= 0).all(axis=1)]
    a, b = (tube[:, edges[np.argsort(edges[:, 0]), q]].T for q in range(2))
    low_a, low_b, top_a, top_b = (q.ravel() for q in (a[:, :-1], b[:, :-1], a[:, 1:], b[:, 1:]))
    rising = np.stack([top_b, top_a, low_a, top_b, low_a, low_b], axis=1)
    falling = np.stack([top_b, top_a, low_b, top_a, low_a, low_b], axis=1)
    return np.where(np.random.default_rng(0).random((len(low_a), 1)) < 0.5, rising, falling).reshape(-1, 3)


class _Pose(NamedTuple):
    """How the ball is deformed in one frame: its stretch (3,) along x, y and z and the height of its center; for every
    tentacle how far its end is bent (count, 3), the direction (count, 2) in which the ground turns it aside, the
    height (count,) that it keeps, and how far above that it starts to turn.
    """

    stretch: np.ndarray
    height: float
    bend: np.ndarray
    heading: np.ndarray
    clearance: np.ndarray
    soft: float


def _axes(feet: np.ndarray, rings: int, length: float, pose: _Pose) -> np.ndarray:
    """Of every tentacle at every ring: center, direction and two directions across, (4, rings + 1, count, 3)."""
    axes = np.empty((4, rings + 1, len(feet), 3))
    normal = unit(feet / pose.stretch)
    one, _ = _across(feet)
    center = feet * pose.stretch + (0, 0, pose.height)
    for ring in range(rings + 1):
        direction = unit(normal + pose.bend * ring / max(1, rings))
        # Down as long as there is space, but flatter and flatter above the ground.
        sink = np.maximum(direction[:, 2], np.minimum((pose.clearance - center[:, 2]) / pose.soft, 0.7))
        level = direction[:, :2] + 2 * (sink - direction[:, 2])[:, None] * pose.heading
        level *= (np.sqrt(1 - sink**2) / np.maximum(np.linalg.norm(level, axis=1), 1e-9))[:, None]
        direction = np.column_stack([level, sink])
        one = unit(one - direction * (one * direction).sum(axis=1, keepdims=True))
        axes[:, ring] = center, direction, one, np.cross(direction, one)
        center = center + length / max(1, rings) * direction
    return axes


def _posed(skin: _Skin, pose: _Pose, axes: np.ndarray, radius: float) -> np.ndarray:
    """Positions (n, 3) of all vertices in one frame."""
    x = skin.at * pose.stretch + (0, 0, pose.height)
    on = np.flatnonzero(skin.site >= 0)
    around, t = skin.around[on, None], skin.ring[on, None] / max(1, axes.shape[1] - 1)
    center, direction, one, two = (axis[skin.ring[on], skin.site[on]] for axis in axes)
    # Wider at the foot, narrower at the end; the tip is half a sphere.
    wide = radius * (1 + 0.4 * np.exp(-12 * t) - 0.2 * t)
    forward = np.sqrt(np.maximum(1 - np.abs(around) ** 2, 0))
    x[on] = center + wide * (np.real(around) * one + np.imag(around) * two + forward * direction)
    return x


def _spiral(count: int) -> np.ndarray:
    """Directions (count, 3) spread evenly over the sphere, along a Fibonacci spiral."""
    z = 1 - (2 * np.arange(count) + 1) / count
    turn = math.pi * (3 - math.sqrt(5)) * np.arange(count)
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def _hull(points: np.ndarray) -> np.ndarray:
    """Faces (2 n - 4, 3) of the convex hull of evenly spread points (n, 3) of a sphere, counterclockwise from outside.

    Three points make a face if no other is above their plane; of evenly spread ones, only neighbours can be.
    """
    n = len(points)
    near = np.argsort(-(points @ points.T), axis=1)[:, 1 : min(n, 16)]
    i, j = np.meshgrid(np.arange(near.shape[1]), np.arange(near.shape[1]), indexing="ij")
    a = np.broadcast_to(np.arange(n)[:, None, None], (n, *i.shape))
    b, c = near[:, i], near[:, j]
    first = (a < b) & (a < c)
    a, b, c = a[first], b[first], c[first]
    normal = np.cross(points[b] - points[a], points[c] - points[a])
    outward = (normal * points[a]).sum(axis=1) > 1e-12
    a, b, c, normal = a[outward], b[outward], c[outward], normal[outward]
    others = near[a]
    above = np.einsum("tkd,td->tk", points[others] - points[a][:, None], normal)
    above[(others == b[:, None]) | (others == c[:, None])] = -1
    return np.stack([a, b, c], axis=1)[(above < 0).all(axis=1)]


def _across(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors (n, 3) each, at right angles to unit vectors (n, 3) and to each other."""
    axis = np.where(np.abs(normal[:, 2:]) < 0.9, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    one = unit(np.cross(axis, normal))
    return one, np.cross(normal, one)


def _sideways(normal: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) across unit vectors (n, 3), from their coordinates (n,) complex128 there."""
    one, two = _across(normal)
    return np.real(amount)[:, None] * one + np.imag(amount)[:, None] * two
