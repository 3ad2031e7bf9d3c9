"""What a skinned character is: a skin, a skeleton that carries it, and clips that move the skeleton."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.characters.rig.animation import Tracks, pack, sample
from pliant.characters.rig.blending import METHODS, SUM_TOLERANCE, dual_quaternion_blend, linear_blend, weight_fault
from pliant.characters.rig.errors import ClipError, SkeletonError, SkinError
from pliant.characters.rig.kinematics import compose_globals, compose_transforms
from pliant.mesh.triangles import TriMesh
from pliant.runtime.arrays import DtypeError, ShapeError, as_floats, as_positions, choose


class Pose(NamedTuple):
    """Local transforms of all nodes of a skeleton: scale, then rotate, then translate, in the frame of the parent."""

    translation: np.ndarray  # (k, 3)
    rotation: np.ndarray  # (k, 4) unit quaternions x y z w
    scale: np.ndarray  # (k, 3)

    def __repr__(self) -> str:
        return f"Pose({len(self.translation)} nodes)"


@dataclass(frozen=True, eq=False, repr=False)
class Skeleton:
    """A forest of nodes, parents before children. Some nodes are joints: they carry skin."""

    names: tuple[str, ...]  # of the k nodes
    parents: np.ndarray  # (k,) int32, -1 for roots
    rest: Pose  # where no clip says otherwise
    joints: np.ndarray  # (j,) int32 nodes, in the order in which weights refer to them
    inverse_bind: np.ndarray  # (j, 4, 4) from the space of the skin to that of the joint, at the time of binding

    def __post_init__(self) -> None:
        count = len(self.names)
        parents, joints = _as_int32(self.parents, "parents"), _as_int32(self.joints, "joints")
        inverse_bind = as_floats(self.inverse_bind, "inverse_bind")
        if parents.shape != (count,) or joints.ndim != 1 or inverse_bind.shape != (len(joints), 4, 4):
            raise ShapeError(
                f"{count} names need parents ({count},), joints (j,) and inverse_bind (j, 4, 4), but they have "
                f"{parents.shape}, {joints.shape} and {inverse_bind.shape}"
            )
        late = (parents >= np.arange(count)) | (parents < -1)
        if late.any():
            node = int(np.argmax(late))
            raise SkeletonError(f"node {node} has the parent {parents[node]}: parents come before children, or are -1")
        if joints.size and not (joints.min() >= 0 and joints.max() < count):
            joint = int(np.argmax((joints < 0) | (joints >= count)))
            raise SkeletonError(f"joint {joint} is node {joints[joint]}, but there are {count}")
        rest = self._checked(self.rest)
        for name, value in (("parents", parents), ("joints", joints), ("inverse_bind", inverse_bind), ("rest", rest)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Skeleton({len(self.names)} nodes, {len(self.joints)} joints)"

    def _checked(self, pose: Pose) -> Pose:
        checked = Pose(*(as_floats(array, f"pose.{name}") for array, name in zip(pose, Pose._fields)))
        if [array.shape for array in checked] != [(len(self.names), width) for width in (3, 4, 3)]:
            shapes = ", ".join(str(array.shape) for array in checked)
            raise ShapeError(f"a pose of {len(self.names)} nodes has (k, 3), (k, 4) and (k, 3), but this one {shapes}")
        lengths = np.linalg.norm(checked.rotation, axis=1)
        off = np.abs(lengths - 1.0) > 1e-6
        if off.any():
            node = int(np.argmax(off))
            raise SkeletonError(f"the rotation of node {node} is a quaternion of length {lengths[node]:g}, not 1")
        return checked

    def globals(self, pose: Pose | None = None) -> np.ndarray:
        """(k, 4, 4) matrices from the frame of each node to the world; None is the pose of rest."""
        pose = self.rest if pose is None else self._checked(pose)
        out = np.empty((len(self.names), 4, 4))
        compose_globals(self.parents, pose.translation, pose.rotation, pose.scale, out)
        return out

    def transforms(self, pose: Pose | None = None) -> np.ndarray:
        """(j, 4, 4) matrices that take the skin from where it was bound to where each joint wants it in the world."""
        out = np.empty_like(self.inverse_bind)
        compose_transforms(self.globals(pose), self.joints, self.inverse_bind, out)
        return out


class Channel(NamedTuple):
    """One property of one node over time."""

    node: int
    path: str  # "translation", "rotation" or "scale"
    times: np.ndarray  # (m,) seconds, ascending; of two keys at one time the second counts from there on
    values: np.ndarray  # (m, 3 or 4); (m, 3, 3 or 4) with tangents (in, value, out) for "cubic"
    interpolation: str = "linear"  # "linear", "step" or "cubic"

    def __repr__(self) -> str:
        return f"Channel({self.path} of node {self.node}, {len(self.times)} {self.interpolation} keys)"


@dataclass(frozen=True, eq=False, repr=False)
class Clip:
    name: str
    channels: tuple[Channel, ...]
    duration: float  # seconds: the last time of a key

    def __post_init__(self) -> None:
        _ = self._tracks  # what is wrong with a channel is said now

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {len(self.channels)} channels, {self.duration:.4g} s)"

    @cached_property
    def _tracks(self) -> Tracks:
        try:
            return pack(self.channels)
        except ClipError as error:
            raise ClipError(f"clip {self.name!r}: {error}") from error

    def sample(self, skeleton: Skeleton, t: float) -> Pose:
        """Local transforms at time t in seconds. Before the first key of a channel its value is that of the first,
        after the last that of the last: to loop is for the caller."""
        if not math.isfinite(t):
            raise ClipError(f"clip {self.name!r}: time {t} is not finite")
        highest = int(self._tracks.nodes.max(initial=-1))
        if highest >= len(skeleton.names):
            raise ClipError(f"clip {self.name!r} moves node {highest}, but the skeleton has {len(skeleton.names)}")
        return Pose(*sample(self._tracks, skeleton.rest, float(t)))


@dataclass(frozen=True, eq=False, repr=False)
class Character:
    """A skin in its bind pose, the skeleton, and what it can do."""

    name: str
    mesh: TriMesh
    rest: np.ndarray  # (n, 3) positions of the skin as bound
    joints: np.ndarray  # (n, w) int32, joints (places in ``skeleton.joints``) that carry each vertex
    weights: np.ndarray  # (n, w), not negative, of sum 1
    skeleton: Skeleton
    clips: dict[str, Clip] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rest, weights = as_positions(self.rest, "rest"), as_floats(self.weights, "weights")
        joints = _as_int32(self.joints, "joints")
        if joints.ndim != 2 or joints.shape != weights.shape or len(joints) != len(rest):
            raise ShapeError(f"joints {joints.shape} and weights {weights.shape} must have shape ({len(rest)}, w)")
        if self.mesh.vertex_limit > len(rest):
            raise ShapeError(f"the mesh has vertex {self.mesh.vertex_limit - 1}, but there are {len(rest)} positions")
        if fault := weight_fault(joints, weights, len(self.skeleton.joints), SUM_TOLERANCE):
            raise SkinError(fault)
        for name, value in (("rest", rest), ("joints", joints), ("weights", weights)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        counts = f"{len(self.rest)} vertices, {len(self.mesh.faces)} faces, {len(self.skeleton.joints)} joints"
        return f"Character({self.name!r}, {counts}, {len(self.clips)} clips)"

    @property
    def bind_pose(self) -> np.ndarray:
        """(n, 3) positions as bound."""
        return self.rest

    def clip(self, name: str | Clip) -> Clip:
        """The clip of a name; "Walk" also finds the only "Armature|Walk", as exporters name them."""
        if isinstance(name, Clip):
            return name
        if name in self.clips:
            return self.clips[name]
        found = [clip for full, clip in self.clips.items() if full.rpartition("|")[2] == name]
        if len(found) != 1:
            known = ", ".join(map(repr, self.clips)) or "none at all"
            raise ClipError(f"{self.name} has no clip {name!r}, but {known}")
        return found[0]

    def transforms(self, clip: str | Clip | None = None, t: float = 0.0) -> np.ndarray:
        """(j, 4, 4) matrices of the joints at a time of a clip, from the bind pose to the world; None is the pose of
        rest of the nodes, which need not be the bind pose."""
        pose = None if clip is None else self.clip(clip).sample(self.skeleton, t)
        return self.skeleton.transforms(pose)

    def pose(self, clip: str | Clip | None = None, t: float = 0.0, method: str = "linear") -> np.ndarray:
        """(n, 3) positions of the skin at a time of a clip, by "linear" or "dual quaternion" blending."""
        blend = linear_blend if choose(method, "method", METHODS) == "linear" else dual_quaternion_blend
        return blend(self.rest, self.joints, self.weights, self.transforms(clip, t))


def _as_int32(x: np.ndarray, name: str) -> np.ndarray:
    array = np.asarray(x)
    if array.dtype.kind not in "iu" and array.size:
        raise DtypeError(f"{name} must hold integers, but has dtype {array.dtype}")
    return np.require(array, np.int32, ("C", "A", "W"))
