"""What a simulator has to offer to be in the table."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numpy as np


class Simulator(Protocol):
    """One scene in one simulator; its making takes the scene and a number of threads."""

    steps: int  # that can be seen in a frame of 1/60 s
    settings: str  # what was chosen, for the table

    def step(self, time: float) -> None:
        """Go on to a time, s; only this is timed."""
        ...

    def positions(self) -> np.ndarray:
        """(n, 3) of the cloth, or (N, 3) with the obstacles where these may be elsewhere than their paths."""
        ...


class Entry(NamedTuple):
    """Where a simulator is: a class in a module here, and what of PyPI it needs."""

    module: str
    name: str
    packages: tuple[str, ...] = ()  # what is imported
    distribution: str = ""  # whose version is shown

    def missing(self) -> list[str]:
        return [package for package in self.packages if find_spec(package) is None]

    def load(self) -> type:
        return getattr(import_module(f"bench.simulators.{self.module}"), self.name)


SIMULATORS = {
    "pliant": Entry("ours", "PliantCloth", (), "pliant"),
    "newton-vbd": Entry("newton_solvers", "NewtonVBD", ("newton", "warp"), "newton"),
    "newton-style3d": Entry("newton_solvers", "NewtonStyle3D", ("newton", "warp"), "newton"),
    "mujoco": Entry("mujoco_flex", "MujocoFlex", ("mujoco",), "mujoco"),
    "mujoco-ipc": Entry("mujoco_flex", "MujocoIPC", ("mujoco",), "mujoco"),
    "blender": Entry("blender", "Blender", ("bpy",), "bpy"),
    "ipctk": Entry("barrier", "Barrier", ("ipctk", "scipy"), "ipctk"),
}
