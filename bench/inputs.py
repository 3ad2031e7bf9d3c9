"""What is measured: real scenes where the data folder is at hand, built-in ones elsewhere."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pliant
from pliant.scenes.shapes import grid_cells, smooth_noise, weave

REAL = ("armadillo-rollers", "cloth-ball", "n-body")


# The benchmarks of paper 000 at the sizes it gives them (hanging_cloth is its FlowingCloth), and how many frames: two
# for the build and the first front, the others count.
PAPER_000 = {
    "twisting": 8,
    "funnel": 8,
    "bishop": 6,
    "falling": 6,
    "flamenco": 8,
    "squishy_ball": 4,
    "hanging_cloth": 8,
}
TO_AND_FRO = 8  # frames of a real motion, of which two are known
KICK = "Kick", 12
# Paper 004: its benchmarks, and what share of the elementary tests its method leaves, in percent.
PAPER_004 = {"octopi": "0.01", "bullet": "0.69", "airbag": "0.58", "liver": "0.72", "car_crash": "3.54"}
VOLUME_FRAMES = 12


class Motion(NamedTuple):
    """One step of one scene."""

    name: str
    faces: np.ndarray
    x0: np.ndarray
    x1: np.ndarray

    def faster(self, factor: float) -> Motion:
        return self._replace(name=f"{self.name} x{factor:g}", x1=self.x0 + factor * (self.x1 - self.x0))


def data_folder() -> Path | None:
    """The data folder: $PLIANT_DATA, else shared/data beside the checkout, else None."""
    named = os.environ.get("PLIANT_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


def real_motions(*names: str) -> list[Motion]:
    """The named scenes of the data folder, or built-in scenes in their place where it is missing."""
    folder = data_folder()
    if folder is None:
        print("no data folder (PLIANT_DATA, or shared/data beside the checkout): built-in scenes instead")
        return [built_in("twisted_cloth", 20_000), built_in("ball_heap", 20_000)]
    return [motion(str(folder / "ccd" / f"{name}.npz")) for name in names or REAL]


def built_in(name: str, triangles: int) -> Motion:
    scene = pliant.scenes.load(name, triangles, frames=2)
    return Motion(f"{name} {len(scene.faces):,}", scene.faces, scene.x0, scene.x1)


def motion(path: str) -> Motion:
    """A scene of the data folder, or one that ``save`` wrote."""
    with np.load(path) as data:
        return Motion(Path(path).stem, data["faces"], data["vertices_t0"], data["vertices_t1"])


def save(scene: Motion, folder: Path) -> Path:
    path = folder / f"{scene.name.replace(' ', '-').replace(',', '')}.npz"
    np.savez(path, faces=scene.faces, vertices_t0=scene.x0, vertices_t1=scene.x1)
    return path


class Sequence(NamedTuple):
    """A scene over several frames."""

    name: str
    faces: np.ndarray
    frames: list[np.ndarray]


def sequences(most: int | None = None, *names: str) -> Iterator[Sequence]:
    """The named scenes of paper 000 (all of them, then real ones where the data folder is at hand), one by one, since
    the largest are large.

    most : triangles; built-in scenes are made smaller, real ones left out
    """
    for name in names or PAPER_000:
        scene = pliant.scenes.load(name, None, PAPER_000[name])
        if most is not None and len(scene.faces) > most:
            scene = pliant.scenes.load(name, most, PAPER_000[name])
        yield Sequence(name, scene.faces, list(scene.frames))
    folder = data_folder()
    if names or folder is None:
        return
    for found in _real_sequences(folder):
        if most is None or len(found.faces) <= most:
            yield found


def _real_sequences(folder: Path) -> Iterator[Sequence]:
    for name in ("cloth-ball", "armadillo-rollers"):
        path = folder / "ccd" / f"{name}.npz"
        if path.exists():
            scene = motion(str(path))
            yield Sequence(name, scene.faces, [scene.x1 if k % 2 else scene.x0 for k in range(TO_AND_FRO)])
    for found in published_sequences():
        if found.name == KICK[0]:
            yield found._replace(frames=found.frames[: KICK[1]])


def published_sequences() -> Iterator[Sequence]:
    """Animations of the data folder, all of their frames; none where it is missing."""
    folder = data_folder()
    for path in sorted((folder / "sequences").glob("codimipc_*.npz")) if folder else ():
        with np.load(path) as data:
            name = path.stem.removeprefix("codimipc_").split("_")[0]
            yield Sequence(name, data["F"].astype(np.int64), list(data["V"].astype(np.float64)))


class Volume(NamedTuple):
    """One step of a volume scene."""

    mesh: pliant.VolumeMesh
    x0: np.ndarray
    x1: np.ndarray
    objects: np.ndarray


def volume_steps(name: str, most: int | None = None, every: bool = False) -> list[Volume]:
    """Steps of a scene of paper 004: one third on the way and the last, or every one; most: cells, about."""
    scene = pliant.scenes.load_volume(name, frames=VOLUME_FRAMES)
    if most is not None and scene.steps[0].cell_count > most:
        scene = pliant.scenes.load_volume(name, most, VOLUME_FRAMES)
    chosen = scene.steps if every else (scene.steps[len(scene.steps) // 3], scene.steps[-1])
    return [Volume(pliant.VolumeMesh(s.cells), s.x0, s.x1, s.objects) for s in chosen]


class Still(NamedTuple):
    """A scene at one instant, in numbers that 32 bits hold, so that a peer that works with these sees the same."""

    name: str
    faces: np.ndarray
    x: np.ndarray


def curled_sheet(triangles: int = 44_000) -> Still:
    """A sheet rolled up to a spiral, with wrinkles so high that its layers cut through each other."""
    nu, nv = grid_cells(triangles, aspect=4.0)
    faces, points = weave(nu, nv)
    along, across = points[:, 0] / nu, points[:, 1] / nv
    gap, turns = 0.1, 5.0
    wrinkles = smooth_noise(np.random.default_rng(0), np.stack([8.0 * along, 2.0 * across], axis=1), 0.25)
    angle = 2.0 * math.pi * turns * np.sqrt(0.05 + 0.95 * along)  # about as much length in every part of the sheet
    radius = gap * angle / (2.0 * math.pi) + 0.35 * gap * wrinkles
    return _still("curled_sheet", faces, np.stack([radius * np.cos(angle), radius * np.sin(angle), across], axis=1))


def torus_chain(triangles: int = 50_000, links: int = 5) -> Still:
    """Tori in a row, each turned a quarter against the one before and so near that it cuts through it."""
    large, small = 1.0, 0.35
    nu, nv = grid_cells(triangles // links, aspect=large / small)
    u, v = np.divmod(np.arange(nu * nv), nv)
    a, b, c, d = u * nv + v, (u + 1) % nu * nv + v, (u + 1) % nu * nv + (v + 1) % nv, u * nv + (v + 1) % nv
    faces = np.stack([a, b, c, a, c, d], axis=1).reshape(-1, 3)
    alpha, beta = 2.0 * math.pi * u / nu, 2.0 * math.pi * v / nv
    radius = large + small * np.cos(beta)
    ring = np.stack([radius * np.cos(alpha), radius * np.sin(alpha), small * np.sin(beta)], axis=1)
    parts = []
    for link in range(links):
        tilt = math.pi / 2.0 * link + 0.1
        turn = np.array([(1, 0, 0), (0, math.cos(tilt), -math.sin(tilt)), (0, math.sin(tilt), math.cos(tilt))])
        parts.append(ring @ turn.T + (1.6 * large * link, 0.0, 0.0))
    faces = np.concatenate([faces + link * len(ring) for link in range(links)])
    return _still("torus_chain", faces, np.concatenate(parts))


def _still(name: str, faces: np.ndarray, x: np.ndarray) -> Still:
    return Still(f"{name} {len(faces):,}", faces, x.astype(np.float32).astype(np.float64))
