"""Cloth in folds, and proposals for its next step that nobody would make."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def folded(length: int, width: int, layers: int, gap: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A sheet of length x width squares with edges of about 1, folded like a bellows; faces (m, 3) and positions."""
    radius, straight = 0.5 * gap, length // layers
    turn = np.pi * radius
    along = np.linspace(0.0, layers * straight + (layers - 1) * turn, length + 1)
    layer = np.minimum(along // (straight + turn), layers - 1)
    rest = along - layer * (straight + turn)
    sign, bend = np.where(layer % 2 == 0, 1.0, -1.0), np.maximum(rest - straight, 0.0) / radius
    x = np.where(sign > 0, np.minimum(rest, straight), straight - np.minimum(rest, straight))
    x, z = x + sign * radius * np.sin(bend), layer * gap + radius * (1.0 - np.cos(bend))
    points = np.stack(np.broadcast_arrays(x[:, None], np.arange(width + 1.0), z[:, None]), axis=-1).reshape(-1, 3)
    points += np.random.default_rng(seed).normal(size=points.shape) * 1e-3
    corner = (np.arange(length)[:, None] * (width + 1) + np.arange(width)).ravel()
    squares = np.stack([corner, corner + width + 1, corner + width + 2, corner + 1], axis=1)
    return np.concatenate([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]]), points


def proposals(x: np.ndarray, edge: float, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Names and positions: noise, a fall, a squash, a collapse, an inversion, and layers that change places.

    edge : a length to which the motion is proportional
    """
    middle, up = x.mean(axis=0), np.array((0.0, 0.0, 1.0))
    yield "noise", x + rng.uniform(-0.5, 0.5, x.shape) * edge
    yield "fall", x - 2.0 * edge * up
    yield "squashed flat", x * (1.0, 1.0, 0.0) + middle[2] * up
    yield "nearly a point", middle + 1e-3 * (x - middle)
    yield "a point", np.repeat(middle[None], len(x), axis=0)
    # Not quite through one point at one time: that takes a millisecond for each pair of features, in integers. With
    # this much noise most pairs still need them, and a quarter of the time.
    yield "inverted", 2.0 * middle - x + rng.uniform(-0.1, 0.1, x.shape) * edge
    yield "layers swapped", x * (1.0, 1.0, -1.0) + 2.0 * middle[2] * up
    yield "shuffled", rng.permutation(x)


def share_kept(x0: np.ndarray, x1: np.ndarray, x: np.ndarray) -> float:
    """Of the motion that was proposed, how much is made in its direction: 0 at x0, 1 at x1."""
    wanted = x1 - x0
    return float(np.sum((x - x0) * wanted) / np.sum(wanted * wanted))
