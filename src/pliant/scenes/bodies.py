"""Scenes of several objects that meet: flat sheets, a heap of balls, sheets that only just miss."""

import math

import numpy as np

from pliant.scenes.scene import Scene, join
from pliant.scenes.shapes import grid, grid_cells, icosphere, unit

# How far one layer of `passing_sheets` is above the next, in edges; their ripples may take up 0.6 of it.
PASSING_GAP = 1 / 3
# Turns the slide direction of `passing_sheets` to (2, 2, -1) / 3, so that its swept boxes are fat along all axes.
TILT = np.array([(2.0, -1.0, 2.0), (2.0, 2.0, -1.0), (-1.0, 2.0, 2.0)]) / 3


def flat_sheets(triangles: int = 13_924, frames: int = 10, seed: int = 0) -> Scene:
    """Two flat sheets that change places: equal and face to face, they go through each other in every step.

    Their grids project onto each other exactly, so at the instant of contact, in the middle of the step, every
    vertex meets a vertex and every edge an edge, and all pairs around them are coplanar at once: the most degenerate
    contact there is. Nothing is random: the seed changes nothing.
    """
    nu, nv = grid_cells(triangles // 2)
    faces, uv = grid(nu, nv)
    h = 1 / nu
    side = 0.375 * h * (-1.0) ** np.arange(frames)
    parts = []
    for height in (-side, side):
        x = np.empty((frames, len(uv), 3))
        x[:, :, :2] = (uv - (nu / 2, nv / 2)) * h
        x[:, :, 2] = height[:, None]
        parts.append((faces, x))
    return join("flat_sheets", parts)


def ball_heap(triangles: int = 20_000, frames: int = 10, seed: int = 0) -> Scene:
    """A heap of balls, the lower ones at rest and being pressed together, the upper ones still falling onto it.

    Balls are apart in frame 0. There is one for every 320 triangles; in small scenes a coarser one for every 80 or 20.
    """
    rng = np.random.default_rng(seed)
    frequency = 1 if triangles < 500 else 2 if triangles < 5000 else 4
    ball_faces, ball = icosphere(frequency)
    count = max(1, round(triangles / len(ball_faces)))
    radius = rng.uniform(0.92, 1.0, count)
    site = _heap_sites(rng, count)
    spin_axis = rng.normal(size=(count, 3))
    spin_axis /= np.linalg.norm(spin_axis, axis=1, keepdims=True)
    # Raising a site by more the higher it is moves no two sites closer: balls still falling are apart, too.
    drop = np.maximum(site[:, 2] - 0.4 * site[:, 2].max(), 0)
    squeeze = rng.uniform(0.1, 0.7, (count, 1)) * unit(site * (-0.5, -0.5, -1.0))

    x = np.empty((frames, count, len(ball), 3))
    for k in range(frames):
        center = site + squeeze * (1 - math.exp(-k / 2))
        center[:, 2] += np.maximum(drop - 0.6 * k, 0)
        x[k] = radius[:, None, None] * _rotated(ball, spin_axis, 0.15 * k) + center[:, None]
    faces = ball_faces + len(ball) * np.arange(count, dtype=np.int64)[:, None, None]
    return Scene(
        name="ball_heap",
        faces=faces.reshape(-1, 3),
        frames=x.reshape(frames, -1, 3),
        objects=np.repeat(np.arange(count, dtype=np.int64), len(ball)),
    )


def _heap_sites(rng: np.random.Generator, count: int) -> np.ndarray:
    """Centers (count, 3) of balls of radius 1 in a cone on the plane z = 0, no two within 2 of each other."""
    width = 6 + math.ceil(1.8 * count ** (1 / 3))
    i, j, k = np.meshgrid(np.arange(-width, width + 1), np.arange(-width, width + 1), np.arange(width), indexing="ij")
    # Layers of triangles, each over the gaps of the one below: the densest packing.
    site = np.stack([
        2 * i + j % 2 + k % 2,
        math.sqrt(3) * (j + (k % 2) / 3),
        2 * math.sqrt(2 / 3) * k,
    ], axis=-1).reshape(-1, 3)  # fmt: skip
    depth = np.hypot(site[:, 0], site[:, 1]) + site[:, 2]
    site = site[np.argsort(depth, kind="stable")[:count]]
    # Two neighbours, 2 apart, gain 0.04 from the stretch and lose at most 0.02 sqrt(3) by their shifts.
    return 1.02 * site + rng.uniform(-0.01, 0.01, site.shape)


def _rotated(points: np.ndarray, axis: np.ndarray, angle: float) -> np.ndarray:
    """Points (n, 3) rotated by `angle` around each unit axis (b, 3), by Rodrigues' formula. Returns (b, n, 3)."""
    along = (points * axis[:, None]).sum(axis=2, keepdims=True) * axis[:, None]
    across = np.cross(axis[:, None], points[None])
    return math.cos(angle) * (points - along) + math.sin(angle) * across + along


def passing_sheets(triangles: int = 20_000, frames: int = 10, seed: int = 0) -> Scene:
    """Four sheets that pass without contact: corrugated, a third of an edge apart, fast along their waves.

    Why there is none. Before the whole scene is tilted, vertex (i, j) of layer l has, in frame k,
        x = h i + s_l(k),   y = h j,   z = f(j, k) + l gap + ripple_l(i, j),   |ripple_l| <= 0.3 gap.
    Within a step x and z are linear in time and y is constant. So a layer stays a height field over its moving
    grid, and cannot touch itself. Every triangle lies between grid lines j and j + 1, so the surface over a
    point (x, y) is, at any time, f interpolated between these two lines, which is the same for every x and every
    layer; plus l gap; plus an average of ripples. So layers are at least 0.4 gap apart along z, always.
    """
    rng = np.random.default_rng(seed)
    layers = 4
    nu, nv = grid_cells(triangles // layers)
    faces, uv = grid(nu, nv)
    h = 1 / nu
    gap = PASSING_GAP * h
    height = _corrugation(nv, h, frames, rng.uniform(0, 2 * math.pi, 2))
    # Three edges in the first step (two in tiny scenes); later they turn back before they lose each other.
    turn = max(0.15, h)
    slide = turn * np.sin(3 * h * (np.arange(frames) - 0.5) / turn)

    parts = []
    for layer in range(layers):
        x = np.empty((frames, len(uv), 3))
        x[:, :, :2] = h * (uv - (nu / 2, nv / 2))
        x[:, :, 0] += (slide if layer % 2 else -slide)[:, None]
        x[:, :, 2] = np.tile(height, nu + 1)
        x[:, :, 2] += gap * (layer + 0.3 * rng.uniform(-1, 1, len(uv)))
        parts.append((faces, x @ TILT.T))
    return join("passing_sheets", parts)


def _corrugation(nv: int, h: float, frames: int, phase: np.ndarray) -> np.ndarray:
    """Heights (frames, nv + 1) of two trains of waves across the grid lines, which roll by about an edge a step."""
    waves = max(1, min(8, nv // 12))
    # Slopes of up to about 2 make the bounding boxes of one layer's triangles overlap those of all the others.
    tall = h * nv / (2 * math.pi * waves)
    row = 2 * math.pi * np.arange(nv + 1) / nv
    roll = 0.7 * h / tall * np.arange(frames)[:, None]
    first = tall * np.sin(waves * row + phase[0] + roll)
    return first + tall / 2 * np.sin((waves + 1) * row + phase[1] - roll)
