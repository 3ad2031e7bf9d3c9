"""MuJoCo: a flex of triangles, with its contact constraints and with its flag ipc, as its chapter on tuning says."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import pliant
from bench.simulators.scenes import BENDING, FRICTION, POISSON, RATE, STIFFNESS, THICKNESS, Scene

STEPS = 5  # of 3.3 ms; "1-4 ms is typical"
HEAVY = 1e5  # times the mass of a vertex: what is driven is given its velocity, and nothing changes it
DAMPING = 2e-3  # s, the least of what is recommended
MEMORY = "1G"
CONTACT = f'friction="{FRICTION} 0 0" solref="0.01 1" solimp=".95 .99 .0001"'  # as in its model drape


class MujocoFlex:
    steps = STEPS
    flags = ""
    contact = "contact constraints with friction"

    def __init__(self, scene: Scene, threads: int) -> None:
        self._scene, self._seconds = scene, 1.0 / (RATE * STEPS)
        self._model = mujoco.MjModel.from_xml_string(_xml(scene, self._seconds, self.flags))
        model = self._model
        self._solids = [model.body(f"solid{k}").id for k in range(len(scene.solids))]
        self._bodies = model.flex_vertbodyid[: len(scene.x)].copy()
        moving = [body for body, solid in zip(self._solids, scene.solids) if any(solid.velocity)]
        self._led = np.concatenate((self._bodies[scene.driven], np.array(moving, np.int64))).astype(np.int64)
        self._bare = _spread(scene)
        model.body_mass[self._bodies] = scene.mass
        model.body_mass[self._bodies[scene.driven]] *= HEAVY
        self._data = mujoco.MjData(model)
        mujoco.mj_setConst(model, self._data)
        address = model.jnt_qposadr[model.body_jntadr[self._bodies]]
        self._data.qpos[address[:, None] + np.arange(3)] = scene.x - self._bare
        mujoco.mj_forward(model, self._data)
        if threads > 1 and hasattr(mujoco, "mju_threadpool"):
            mujoco.mju_threadpool(self._data, threads)
        self.settings = f"discrete, Newton, tolerance 1e-6, {STEPS} steps a frame, {self.contact}"

    def step(self, time: float) -> None:
        data, model = self._data, self._model
        if len(self._led):
            goal = self._scene.driven_at(time)
            shifts = [solid.shift(time) for solid in self._scene.solids if any(solid.velocity)]
            aims = np.concatenate((goal - self._bare[self._scene.driven], *(shift[None] for shift in shifts)))
            address = model.jnt_qposadr[model.body_jntadr[self._led]][:, None] + np.arange(3)
            velocity = (aims - data.qpos[address]) / self._seconds
            velocity[:, 2] += self._seconds * self._scene.gravity  # which the step takes off again
            data.qvel[model.jnt_dofadr[model.body_jntadr[self._led]][:, None] + np.arange(3)] = velocity
        mujoco.mj_step(model, data)

    def positions(self) -> np.ndarray:
        """A step ends with the new state, but with positions of bodies from its start: those are computed here."""
        address = self._model.jnt_qposadr[self._model.body_jntadr[self._bodies]]
        cloth = self._bare + self._data.qpos[address[:, None] + np.arange(3)]
        parts = [cloth]
        for body, solid in zip(self._solids, self._scene.solids):
            shift = np.zeros(3)
            if any(solid.velocity):
                first = self._model.jnt_qposadr[self._model.body_jntadr[body]]
                shift = self._data.qpos[first : first + 3]
            parts.append(solid.x + shift)
        return np.concatenate(parts)


class MujocoIPC(MujocoFlex):
    flags = '<flag ipc="enable"/>'
    contact = "ipc: without friction"


def _spread(scene: Scene) -> np.ndarray:
    """(n, 3) flat sheets without stretch, one above the other."""
    return np.column_stack((scene.rest, 0.1 * pliant.TriMesh(scene.faces).components))


def _xml(scene: Scene, seconds: float, flags: str) -> str:
    # A plate of this thickness and modulus has the wanted stiffness of the membrane and the wanted rigidity.
    thickness = (12.0 * BENDING * (1.0 - POISSON**2) / STIFFNESS) ** 0.5
    young = STIFFNESS / thickness
    assets, solids = zip(*(_solid(k, solid) for k, solid in enumerate(scene.solids))) if scene.solids else ((), ())
    return f"""
<mujoco>
  <option timestep="{seconds!r}" gravity="0 0 {-scene.gravity}" integrator="discrete" solver="Newton" tolerance="1e-6">
    {flags}
  </option>
  <size memory="{MEMORY}"/>
  <asset>{"".join(assets)}</asset>
  <worldbody>
    {"".join(solids)}
    <flexcomp name="cloth" type="direct" dim="2" radius="{0.5 * THICKNESS}" mass="{scene.mass.sum()!r}"
        point="{_text(_spread(scene))}" element="{_text(scene.faces)}">
      <contact selfcollide="auto" {CONTACT}/>
      <elasticity young="{young!r}" poisson="{POISSON}" thickness="{thickness!r}" elastic2d="both" damping="{DAMPING}"/>
    </flexcomp>
  </worldbody>
</mujoco>"""


def _solid(k: int, solid: Any) -> tuple[str, str]:
    asset = f'<mesh name="solid{k}" vertex="{_text(solid.x)}" face="{_text(solid.faces)}"/>'
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    inertia = '<inertial pos="0 0 0" mass="1e4" diaginertia="1e4 1e4 1e4"/>'
    # A flex keeps its radius from a shape, and twice that from itself: the margin is the other half.
    margin = 0.5 * THICKNESS
    geom = f'<geom type="mesh" mesh="solid{k}" margin="{margin}" {CONTACT}/>'
    moving = joints + inertia if any(solid.velocity) else ""
    return asset, f'<body name="solid{k}">{moving}{geom}</body>'


def _text(values: np.ndarray) -> str:
    return " ".join(map(repr, values.reshape(-1).tolist()))
