"""What a skinned character is: a skin, a skeleton that carries it, and clips that move the skeleton."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh


class Pose(NamedTuple):
    """Local transforms of all nodes of a skeleton: scale, then rotate, then translate, in the frame of the parent."""

    translation: np.ndarray  # (k, 3)
    rotation: np.ndarray  # (k, 4) unit quaternions x y z w
    scale: np.ndarray  # (k, 3)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A forest of nodes, parents before children. Some nodes are joints: they carry skin."""

    names: tuple[str, ...]  # of the k nodes
    parents: np.ndarray  # (k,) int32, -1 for roots
    rest: Pose  # where no clip says otherwise
    joints: np.ndarray  # (j,) int32 nodes, in the order in which weights refer to them
    inverse_bind: np.ndarray  # (j, 4, 4) from the space of the skin to that of the joint, at the time of binding


class Channel(NamedTuple):
    """One property of one node over time."""

    node: int
    path: str  # "translation", "rotation" or "scale"
    times: np.ndarray  # (m,) seconds, ascending
    values: np.ndarray  # (m, 3 or 4); (m, 3, 3 or 4) with tangents (in, value, out) for "cubic"
    interpolation: str = "linear"  # "linear", "step" or "cubic"


@dataclass(frozen=True, eq=False)
class Clip:
    name: str
    channels: tuple[Channel, ...]
    duration: float  # seconds: the last time of a key


@dataclass(frozen=True, eq=False)
class Character:
    """A skin in its bind pose, the skeleton, and what it can do."""

    name: str
    mesh: TriMesh
    rest: np.ndarray  # (n, 3) positions of the skin as bound
    joints: np.ndarray  # (n, w) int32, joints (places in ``skeleton.joints``) that carry each vertex
    weights: np.ndarray  # (n, w), not negative, of sum 1
    skeleton: Skeleton
    clips: dict[str, Clip] = field(default_factory=dict)
