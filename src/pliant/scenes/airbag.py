"""A scene of shells: an airbag that unfolds and inflates, against a steering wheel."""

import math

import numpy as np

from pliant.scenes.lattices import box_shell, integral, quad_grid, rounded
from pliant.scenes.shapes import smooth_noise, smoothstep
from pliant.scenes.volume_scene import Part, VolumeScene, moving

FOLDS = 7
SWING = 2.25  # of the direction of a folded layer, in radians: from 2.112 on, neighbouring folds touch
WHEEL = 0.15  # share of the cells


def airbag(cells: int = 9_100, frames: int = 12, seed: int = 0) -> VolumeScene:
    """An airbag that unfolds: two layers sewn together at their rim, and a steering wheel behind them.

    Its middle is inflated already; on both sides it is still in folds, which go into each other and the two layers
    into each other, and which open from the middle outwards. The wheel (rim, hub and three spokes) presses into it.
    """
    rng = np.random.default_rng(seed)
    wheel = _wheel(max(60, round(WHEEL * cells)), frames)
    left = max(8, cells - sum(len(part.cells["quad"]) for part in wheel)) / 2
    nu = max(2, round(math.sqrt(left)))
    return moving("airbag", [_bag(nu, max(2, round(left / nu)), frames, rng), *wheel])


def _bag(nu: int, nv: int, frames: int, rng: np.random.Generator) -> Part:
    quads, at = quad_grid(nu, nv)
    uv = at * (2 / nu, 2 / nv) - 1
    on_rim = (np.abs(uv) == 1).any(axis=1)
    # The lower layer has vertices of its own, but at the rim those of the upper one.
    below = np.arange(len(uv))
    below[~on_rim] = len(uv) + np.arange(np.count_nonzero(~on_rim))
    flat = np.concatenate([uv, uv[~on_rim]])
    side = np.repeat([1.0, -1.0], [len(uv), len(flat) - len(uv)])
    side[: len(uv)][on_rim] = 0

    edge = 2 / nu
    # Layers a third of an edge apart, with wrinkles that are higher than that.
    wrinkle = np.stack([smooth_noise(rng, at, 9), smooth_noise(rng, at, 9)])
    wrinkle = np.concatenate([wrinkle[0], wrinkle[1][~on_rim]])
    inside = (1 - flat[:, 0] ** 2) * (1 - flat[:, 1] ** 2)
    x = np.empty((frames, len(flat), 3))
    for k in range(frames):
        opened = 0.35 + 0.35 * edge * k
        along, height, direction = folded(flat[:, 0], opened)
        disc = rounded(flat, 0.8)
        room = edge * (0.3 * side + 0.35 * np.sin(0.3 * k + 2 * wrinkle) * np.abs(side)) * np.minimum(1, 4 * inside)
        puff = min(0.45, 0.16 + 0.35 * edge * k) * side * np.maximum(1 - (flat[:, 0] / (opened + 0.1)) ** 2, 0)
        puff *= np.maximum(1 - flat[:, 1] ** 2, 0) ** 0.5
        x[k, :, 0] = along * np.sqrt(1 - 0.3 * flat[:, 1] ** 2) - room * np.sin(direction)
        x[k, :, 1] = disc[:, 1] + 0.04 * np.sin(6 * flat[:, 0] + 0.2 * k)
        x[k, :, 2] = height * np.sqrt(1 - 0.5 * flat[:, 1] ** 2) + room * np.cos(direction) + puff
    return Part({"quad": np.concatenate([quads, below[quads][:, ::-1]])}, x)


def folded(
    u: np.ndarray, opened: float, folds: int = FOLDS, most: float = SWING
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where places u (n,) from -1 to 1 across the bag are, and which way it goes there: x, z, angle (n,) each.

    Its direction, not its height, is a sine of arc length: it keeps its length however deep the folds are.
    """
    fine = np.linspace(-1, 1, 4001)
    swing = 0.35 + (most - 0.35) * smoothstep(np.abs(fine), opened - 0.3, opened)
    direction = swing * np.sin(math.pi * folds * fine)
    x, z = (integral(v, fine[1] - fine[0]) for v in (np.cos(direction), np.sin(direction)))
    x, z = x - x[len(x) // 2], z - z[len(z) // 2]
    return np.interp(u, fine, x), np.interp(u, fine, z), np.interp(u, fine, direction)


def _wheel(cells: int, frames: int) -> list[Part]:
    """Rim, hub and three spokes, at rest but for a small turn in every step."""
    edge = 2 * math.pi * 0.6 / max(8, round(cells * 0.6 / _tube(cells)))
    parts = []
    for quads, points in wheel_parts(cells):
        x = np.empty((frames, len(points), 3))
        for k in range(frames):
            c, s = math.cos(0.2 * edge * k), math.sin(0.2 * edge * k)
            x[k] = points @ np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)]) + (0, 0, -0.2)
        parts.append(Part({"quad": quads}, x))
    return parts


def _tube(cells: int) -> int:
    """Cells around the rim of the wheel."""
    return max(4, round(math.sqrt(cells * 0.6 / 6)))


def wheel_parts(cells: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Quads and points of rim, hub and three spokes around the origin, where the rim has radius 0.6."""
    tube = _tube(cells)
    rim_cells, rim = _ring(max(8, round(cells * 0.6 / tube)), tube)
    m = max(1, round(math.sqrt(cells * 0.15 / 4)))
    hub_cells, hub = box_shell(m, m, max(1, m // 2))
    hub = hub / (m / 2, m / 2, max(1, m // 2) / 2) - 1
    hub = np.column_stack([0.16 * rounded(hub[:, :2], 1.0), 0.06 * hub[:, 2]])
    n = max(1, round(cells * 0.25 / 3 / 8))
    spoke_cells, spoke = box_shell(n, 2, 2)
    spoke = spoke * (0.4 / n, 0.04, 0.02) + (0.15, -0.04, -0.02)
    shapes = [(rim_cells, rim), (hub_cells, hub)]
    for angle in (math.pi / 2, math.pi * 7 / 6, math.pi * 11 / 6):
        c, s = math.cos(angle), math.sin(angle)
        shapes.append((spoke_cells, spoke @ np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)])))
    return shapes


def _ring(nu: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """Quads and points of a torus in the plane z = 0, nu cells the long way round and nv the short way."""
    ids = np.arange(nu * nv, dtype=np.int64).reshape(nu, nv)
    a, b, c, d = ids, np.roll(ids, -1, 0), np.roll(ids, (-1, -1), (0, 1)), np.roll(ids, -1, 1)
    u, v = (q.ravel() for q in np.meshgrid(np.arange(nu) / nu, np.arange(nv) / nv, indexing="ij"))
    u, v = 2 * math.pi * u, 2 * math.pi * v
    r = 0.6 + 0.05 * np.cos(v)
    points = np.stack([r * np.cos(u), r * np.sin(u), 0.05 * np.sin(v)], axis=1)
    return np.stack([q.ravel() for q in (a, b, c, d)], axis=1), points
