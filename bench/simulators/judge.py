"""What a simulator let through, by pliant's own exact queries, which share nothing with any solver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import pliant
from bench.simulators.scenes import RATE, THICKNESS, Scene

NEAR = 1.5  # thicknesses: a frame that ends with such a pair is one in contact


class Verdict(NamedTuple):
    """Of a run: pairs of triangles that intersect at the end of a frame; contacts on the way between states."""

    worst_pairs: int
    last_pairs: int
    missed: int  # contacts between two states that follow each other, in all
    first_missed: int  # the frame of the first, or -1
    worst_stretch: float  # the largest principal stretch of a triangle, 1 at rest, at the end of any frame
    last_stretch: float
    lag: float  # m: how far what is driven is from its path at the end, at most
    touching: list[bool]  # of each frame, whether anything was near


def judge(scene: Scene, states: list[np.ndarray], threads: int) -> Verdict:
    """Every frame by ``check``, and the straight way between every two states by ``ccd``."""
    mesh, count = pliant.TriMesh(scene.all_faces), len(scene.x)
    before = np.concatenate((scene.x, scene.solids_at(0.0)))
    pairs, missed, first, stretch, touching = [], 0, -1, [], []
    for frame, states_of_frame in enumerate(states):
        for x in states_of_frame:
            if not np.isfinite(x).all():
                break
            found = len(pliant.ccd(mesh, before, x, threads=threads))
            first = frame if found and first < 0 else first
            missed, before = missed + found, x
        pairs.append(len(pliant.check(mesh, before, threads=threads)))
        stretch.append(largest_stretch(scene, before[:count]))
        touching.append(len(pliant.near(mesh, before, within=NEAR * THICKNESS, threads=threads)) > 0)
    lag = _lag(scene, before, len(states) / RATE)
    return Verdict(max(pairs), pairs[-1], missed, first, max(stretch), stretch[-1], lag, touching)


def _lag(scene: Scene, x: np.ndarray, time: float) -> float:
    away = np.concatenate((x[scene.driven] - scene.driven_at(time), x[len(scene.x) :] - scene.solids_at(time)))
    return float(np.linalg.norm(away, axis=1).max(initial=0.0))


def largest_stretch(scene: Scene, x: np.ndarray) -> float:
    a, b, c = (scene.rest[scene.faces[:, k]] for k in range(3))
    shape = np.stack((b - a, c - a), axis=2)  # (m, 2, 2), columns are edges
    p, q, r = (x[scene.faces[:, k]] for k in range(3))
    gradient = np.stack((q - p, r - p), axis=2) @ np.linalg.inv(shape)
    return float(np.linalg.norm(gradient, ord=2, axis=(1, 2)).max())
