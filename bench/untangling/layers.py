"""Swapped layers: surfaces over each other whose order is reversed in patches, and where that order is told."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from bench.untangling.case import Given, Part, Recipe, field, joined, mean_edge
from pliant.scenes.shapes import icosphere, smoothstep, weave

KIND = "layers"
SEEDS = 4  # of each shape with two and with three layers


def recipes() -> Iterator[Recipe]:
    seed = 0
    for turn in range(SEEDS):
        for shape, give in SHAPES.items():
            for count in ((2, 3), (3, 2))[turn % 2]:  # both are held out in turn
                yield Recipe(f"{count} {shape}, seed {seed}", KIND, seed, partial(_swapped, give, count, seed))
                seed += 1


def _swapped(give, count: int, seed: int) -> Given:
    """Layers a gap of half an edge to one and a half edges apart. In patches, the last one is where the first one
    belongs, and all between are the other way round too; a body is fixed below them in every third case."""
    rng = np.random.default_rng(500 + seed)
    surfaces = [give(rng, one) for one in range(count + 1)]
    edge = mean_edge(surfaces[1][0], surfaces[1][1])
    gap = edge * rng.uniform(0.5, 1.5)
    patches = [smoothstep(field(np.random.default_rng(seed), base, 9 * edge), -0.1, 0.7) for _, base, _ in surfaces]
    parts: list[Part] = []
    clean: list[np.ndarray] = []
    for one, (faces, base, out) in enumerate(surfaces):
        height = float(one)
        swapped = height + patches[one] * (count + 1 - 2 * one) if one else np.zeros(len(base))
        parts.append((faces, base + gap * np.reshape(swapped, (-1, 1)) * out))
        clean.append(base + gap * height * out)
    has_body = seed % 3 == 0
    if not has_body:
        parts, clean = parts[1:], clean[1:]
    faces, x, layer = joined(*parts)
    fixed = layer == 0 if has_body else None
    return Given(faces, x, fixed=fixed, layers=layer, reference=np.concatenate(clean))


Surface = tuple[np.ndarray, np.ndarray, np.ndarray]  # faces, positions, and the unit vector that leads out


def _balls(rng: np.random.Generator, one: int) -> Surface:
    faces, x = icosphere(15 + one)
    return faces, 10.0 * x, x


def _tubes(rng: np.random.Generator, one: int) -> Surface:
    """Closed by nothing at both ends, as sleeves are."""
    faces, uv = weave(64 + 4 * one, 44, around=True)
    angle = 2 * math.pi * uv[:, 0] / (64 + 4 * one) + one
    out = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(len(uv))))
    return faces, 10.0 * out + np.outer(uv[:, 1] * (1.0 - 0.01 * one), (0.0, 0.0, 1.0)), out


def _sheets(rng: np.random.Generator, one: int) -> Surface:
    faces, uv = weave(52 + one, 52 - one)
    at = (uv - uv.mean(axis=0)) * (52.0 / (52 + one))
    out = np.zeros((len(uv), 3))
    out[:, 2] = 1.0
    waves = 1.5 * np.sin(at[:, 0] / 5.0) * np.cos(at[:, 1] / 6.0)
    return faces, np.column_stack((at, waves)), out


SHAPES = {"balls": _balls, "tubes": _tubes, "sheets": _sheets}
