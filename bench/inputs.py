"""What is measured: real scenes where the data folder is at hand, built-in ones elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pliant

REAL = ("armadillo-rollers", "cloth-ball", "n-body")


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
