"""Sheets that were pushed through each other, and noise on surfaces that were clean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from bench.untangling.case import Given, Part, Recipe, joined, mean_edge, normals, turned
from pliant.scenes.figure import doll, swing
from pliant.scenes.shapes import grid_cells, icosphere, smooth_noise, weave

DEPTHS = (1, 3, 10)  # edges
SEEDS = 2  # of each depth and each way
NOISE = (0.35, 0.4, 0.5, 0.6)  # edges, the standard deviation of each coordinate


def recipes() -> Iterator[Recipe]:
    seed = 0
    for _ in range(SEEDS):
        for way, give in (("dent", _dent), ("border", _border), ("waves", _waves)):
            for depth in DEPTHS:
                yield Recipe(f"{way} {depth} edges, seed {seed}", "sheets", seed, partial(give, depth, seed))
                seed += 1
    surfaces = list(SURFACES)
    for seed in range(len(NOISE) * len(surfaces)):
        share = NOISE[seed // len(surfaces)]
        surface = surfaces[(seed + seed // len(surfaces)) % len(surfaces)]  # each is held out in turn
        yield Recipe(f"noise {share} on {surface}", "noise", seed, partial(_noisy, surface, share, seed))


def _flat(seed: int, cells: int) -> Part:
    """A square of about so many cells, with edges of about 1, its middle at the origin, and a little uneven."""
    rng = np.random.default_rng(seed)
    faces, uv = weave(cells, cells + seed % 3)
    x = np.column_stack((uv - uv.mean(axis=0), 0.15 * smooth_noise(rng, uv, 12)))
    angle = rng.uniform(0, math.pi)
    turn = np.array([[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]])
    return faces, np.einsum("ij,kj->ik", x, turn)


def _stacked(lower: Part, upper: Part, clean: np.ndarray) -> Given:
    """Both, and with the upper one at `clean` as a reference."""
    faces, x, _ = joined(lower, upper)
    return Given(faces, x, reference=np.concatenate((lower[1], clean)))


def _dent(depth: float, seed: int) -> Given:
    """The middle of the upper sheet was pushed through the lower one."""
    rng = np.random.default_rng(100 + seed)
    lower, (faces, x) = _flat(2 * seed, 40), _flat(2 * seed + 1, 36)
    clean = x + (0.0, 0.0, 1.5)
    r = np.linalg.norm(x[:, :2] - rng.uniform(-4, 4, 2), axis=1)
    pressed = clean - np.outer((depth + 1.5) * np.exp(-((r / rng.uniform(7, 10)) ** 2)), (0.0, 0.0, 1.0))
    return _stacked(lower, (faces, pressed), clean)


def _border(depth: float, seed: int) -> Given:
    """The border of an upright sheet was pushed through the lower one, at some angle."""
    rng = np.random.default_rng(200 + seed)
    lower = _flat(2 * seed, 46)
    faces, uv = weave(42, 28)
    uv = uv - (21.0, 0.0)
    lean = rng.uniform(0.6, 1.3)
    upright = np.column_stack((uv[:, 0], uv[:, 1] * math.cos(lean), uv[:, 1] * math.sin(lean)))
    upright[:, 2] += 0.3 * smooth_noise(rng, uv, 10)
    clean = upright - (0.0, 0.0, upright[:, 2].min() - 1.0)
    return _stacked(lower, (faces, clean - (0.0, 0.0, depth + 1.0 + 0.5)), clean)


def _waves(depth: float, seed: int) -> Given:
    """Waves of both cross wherever one is high and the other one low."""
    rng = np.random.default_rng(300 + seed)
    (lower_faces, low), (upper_faces, high) = _flat(2 * seed, 40), _flat(2 * seed + 1, 40)
    crest = rng.uniform(24, 32)
    for x, sign in ((low, 1.0), (high, -1.0)):
        wave = np.cos(2 * math.pi * x[:, 0] / crest) * np.cos(2 * math.pi * x[:, 1] / crest)
        x[:, 2] += sign * 0.5 * (depth + 1.0) * np.maximum(wave, 0.0) ** 2
    clean = high + (0.0, 0.0, depth + 3.0)
    return _stacked((lower_faces, low), (upper_faces, high + (0.0, 0.0, 1.0)), clean)


def _noisy(surface: str, share: float, seed: int) -> Given:
    rng = np.random.default_rng(400 + seed)
    faces, clean = SURFACES[surface](rng)
    x = clean + share * mean_edge(faces, clean) * rng.normal(size=clean.shape)
    return Given(faces, x, reference=clean)


def _sheet(rng: np.random.Generator) -> Part:
    nu, nv = grid_cells(int(rng.integers(3_000, 7_000)), 1.5)
    faces, uv = weave(nu, nv)
    return faces, turned(np.column_stack((uv, smooth_noise(rng, uv, 15))), rng)


def _ball(rng: np.random.Generator) -> Part:
    faces, x = icosphere(int(rng.integers(11, 18)))
    return faces, turned(x * (1.0 + 0.05 * rng.normal(size=3)), rng)


def _bumpy(rng: np.random.Generator) -> Part:
    faces, x = icosphere(int(rng.integers(12, 18)))
    bumps = 1.0 + 0.1 * np.sin(6 * x[:, 0] + 1) * np.sin(7 * x[:, 1]) * np.sin(5 * x[:, 2] + 2)
    return faces, x * bumps[:, None]


def _torso(rng: np.random.Generator) -> Part:
    hanging = np.array([swing(np.zeros(1), 0.3, side) for side in (1, -1)])
    faces, frames = doll(int(rng.integers(4_000, 7_000)), hanging, hanging)[0]
    return faces, frames[0] + 0.002 * normals(faces, frames[0])


SURFACES = {"sheet": _sheet, "ball": _ball, "bumps": _bumpy, "torso": _torso}
