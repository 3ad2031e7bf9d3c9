"""Motions that are not straight lines: constant acceleration, and bodies that turn.

pliant.ccd(mesh, x0, x1, motion=pliant.Accelerated((0, 0, -9.81 * dt**2)))
pliant.ccd(mesh, x0, motion=pliant.Rigid(transforms))       # x1 is where the motion ends
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.elementary.paths import ACCELERATED, TURNING, Paths, positions_at, straight_paths
from pliant.runtime.arrays import OptionError, ShapeError, as_array, as_floats, as_number

# An angle below which the way of a screw is straight to rounding: it is off by an eighth of the angle. The centre would
# be as far away as its inverse.
_SMALL = 2.0**-60
_NOT_RIGID = 1e-6  # how far R^T R may be from 1: a matrix of float32, but no scaling or shear


class Motion:
    """How vertices get from x0 to x1 while t goes from 0 to 1; a subclass says which way."""

    def paths(self, x0: np.ndarray, x1: np.ndarray | None, labels: np.ndarray) -> Paths:
        """The path of every vertex.

        Parameters
        ----------
        x0 : (n, 3) float64
            Positions at t = 0.
        x1 : (n, 3) float64, or None
            Positions at t = 1; None where they follow from the motion.
        labels : (n,) int32
            The object that each vertex belongs to.

        Returns
        -------
        Paths

        Raises
        ------
        MeshError
            Where x1 or the labels do not go with the motion.
        """
        raise NotImplementedError


class Accelerated(Motion):
    """From x0 to x1 with a constant acceleration: x0 + t (x1 - x0) - t (1 - t) / 2 acceleration.

    Parameters
    ----------
    acceleration : (n, 3) floats, or (3,) for all vertices
        In units of length per step squared: a dt^2. With the velocity v at the start, in units of length per step,
        x1 = x0 + v + acceleration / 2.

    Raises
    ------
    MeshError
        Where the acceleration has another shape, or is not finite.
    """

    def __init__(self, acceleration: Any) -> None:
        self.acceleration: np.ndarray = as_floats(acceleration, "acceleration")
        if self.acceleration.ndim not in (1, 2) or self.acceleration.shape[-1] != 3:
            raise ShapeError(f"acceleration must have shape (n, 3) or (3,), but has {self.acceleration.shape}")

    def __repr__(self) -> str:
        return f"Accelerated(acceleration of shape {self.acceleration.shape})"

    def paths(self, x0: np.ndarray, x1: np.ndarray | None, labels: np.ndarray) -> Paths:
        if x1 is None:
            raise OptionError("Accelerated needs x1, where the motion ends")
        if self.acceleration.ndim == 2 and len(self.acceleration) != len(x0):
            raise ShapeError(f"acceleration has {len(self.acceleration)} rows, but x0 has {len(x0)}")
        acceleration = np.ascontiguousarray(np.broadcast_to(self.acceleration, x0.shape)).copy()
        return straight_paths(x0, x1)._replace(
            mode=ACCELERATED, acceleration=acceleration, bend=_length(acceleration) * (1.0 + 2.0**-40)
        )


class Screw(Motion):
    """Objects that turn around an axis and move along it, both at a constant speed.

    Parameters
    ----------
    centre, axis : (3,) floats, or (k, 3) for k objects
        A point on the axis, and its direction, of any length but 0.
    angle : float, or (k,) floats
        In radians, any number of turns.
    along : float, or (k,) floats
        Distance along the axis, in units of length.
    objects : (n,) integers, optional
        Which of the k objects moves each vertex, -1 for none; default: the labels that the query has.

    Raises
    ------
    MeshError
        Where shapes do not go together, or an axis is zero.
    """

    centre: np.ndarray
    axis: np.ndarray
    angle: np.ndarray
    along: np.ndarray
    count: int

    def __init__(self, centre: Any, axis: Any, angle: Any, along: Any = 0.0, objects: Any = None) -> None:
        self.centre, self.axis = _rows(centre, "centre"), _rows(axis, "axis")
        lengths = _length(self.axis)
        if (lengths == 0.0).any():
            raise OptionError(f"axis {int(np.argmin(lengths))} is zero: it has no direction")
        largest = np.abs(self.axis).max(axis=1, keepdims=True)
        self.axis = self.axis / largest / _length(self.axis / largest)[:, None]
        self.angle, self.along = (np.atleast_1d(as_floats(a, n)) for a, n in ((angle, "angle"), (along, "along")))
        parts = {"centre": self.centre, "axis": self.axis, "angle": self.angle, "along": self.along}
        self.count = max(map(len, parts.values()))
        for name, part in parts.items():
            if len(part) not in (1, self.count) or part.ndim != (2 if name in ("centre", "axis") else 1):
                raise ShapeError(f"{name} has shape {part.shape}, which does not go with {self.count} objects")
        self.centre, self.axis = (np.broadcast_to(a, (self.count, 3)) for a in (self.centre, self.axis))
        self.angle, self.along = (np.broadcast_to(a, self.count) for a in (self.angle, self.along))
        self.objects = objects

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.count} {'object' if self.count == 1 else 'objects'})"

    def shift(self) -> np.ndarray:
        """How far each object moves along its axis.

        Returns
        -------
        (k, 3) float64
            In units of length.
        """
        return self.along[:, None] * self.axis

    def paths(self, x0: np.ndarray, x1: np.ndarray | None, labels: np.ndarray) -> Paths:
        if x1 is not None:
            raise OptionError(f"x1 follows from motion={self!r}: leave it out")
        which = self._which(labels)
        moves = (which >= 0)[:, None]
        axis, offset = self.axis[which], x0 - self.centre[which]
        angle = np.where(moves[:, 0], self.angle[which], 0.0)
        parallel = np.einsum("ij,ij->i", offset, axis)[:, None] * axis
        arm = np.where(angle[:, None] != 0.0, offset - parallel, 0.0)
        paths = straight_paths(x0, x0)._replace(
            mode=TURNING, angle=angle, arm=arm, across=np.cross(axis, arm), body=which.astype(np.int32),
            along=np.where(moves, self.shift()[which], 0.0), bend=angle**2 * _length(arm) * (1.0 + 2.0**-40),
        )  # fmt: skip
        return paths._replace(x1=positions_at(paths, 1.0))

    def _which(self, labels: np.ndarray) -> np.ndarray:
        if self.objects is not None:
            which = as_array(self.objects, "objects")
            if which.shape != labels.shape or which.dtype.kind not in "iu":
                raise ShapeError(f"objects must hold one integer for each of the {len(labels)} vertices")
        else:
            which = labels if self.count > 1 else np.zeros_like(labels)
        if which.size and which.min() < -1:
            raise OptionError(f"objects[{int(np.argmin(which))}] is {which.min()}: -1 is for none, and the least")
        if which.size and which.max() >= self.count:
            vertex = int(np.argmax(which))
            raise OptionError(f"vertex {vertex} is of object {which[vertex]}, but only {self.count} have a motion")
        return which


class Rigid(Screw):
    """Objects that go from x0 to where a rigid transform takes them, as a screw: turning by less than half a turn.

    Parameters
    ----------
    transforms : (4, 4) floats, or (k, 4, 4) for k objects
        Rotation and translation; the last row is 0 0 0 1.
    objects : (n,) integers, optional
        Which of the k objects moves each vertex, -1 for none; default: the labels that the query has.

    Raises
    ------
    MeshError
        Where a transform has another shape, or is not rigid.
    """

    def __init__(self, transforms: Any, objects: Any = None) -> None:
        matrices = as_floats(transforms, "transforms")
        matrices = matrices[None] if matrices.ndim == 2 else matrices
        if matrices.ndim != 3 or matrices.shape[1:] != (4, 4) or len(matrices) == 0:
            raise ShapeError(f"transforms must have shape (4, 4) or (k, 4, 4), but has {np.shape(transforms)}")
        for i, matrix in enumerate(matrices):
            rotation = matrix[:3, :3]
            off = np.abs(rotation.T @ rotation - np.eye(3)).max()
            if off > _NOT_RIGID or np.linalg.det(rotation) < 0.0 or np.any(matrix[3] != (0.0, 0.0, 0.0, 1.0)):
                raise OptionError(f"transform {i} is not rigid; for scaling and shear use Affine")
        centres, axes, angles = zip(*(_screw_of(m) for m in matrices), strict=True)
        along = [float(np.dot(axis, m[:3, 3])) for axis, m in zip(axes, matrices, strict=True)]
        super().__init__(np.array(centres), np.array(axes), np.array(angles), along, objects)
        self._shift = [m[:3, 3] if angle < _SMALL else a * n for m, angle, a, n in zip(matrices, angles, along, axes)]

    def shift(self) -> np.ndarray:
        return np.array(self._shift)  # of an object that hardly turns, all of its translation


class Affine(Motion):
    """Objects whose transform goes from the identity to a given one in proportion to time: straight lines.

    Parameters
    ----------
    transforms : (4, 4) or (3, 4) floats, or (k, 4, 4) or (k, 3, 4) for k objects
        Of (4, 4), the last row is not used.
    objects : (n,) integers, optional
        Which of the k objects moves each vertex, -1 for none; default: the labels that the query has.

    Raises
    ------
    MeshError
        Where the transforms have another shape, or are not finite.
    """

    def __init__(self, transforms: Any, objects: Any = None) -> None:
        self.transforms: np.ndarray = as_floats(transforms, "transforms")
        self.transforms = self.transforms[None] if self.transforms.ndim == 2 else self.transforms
        if self.transforms.ndim != 3 or self.transforms.shape[1:] not in ((3, 4), (4, 4)):
            raise ShapeError(f"transforms must have shape (4, 4) or (k, 4, 4), but has {np.shape(transforms)}")
        self._places = Screw(np.zeros((len(self.transforms), 3)), (0, 0, 1), 0.0, objects=objects)

    def __repr__(self) -> str:
        return f"Affine({len(self.transforms)} objects)"

    def paths(self, x0: np.ndarray, x1: np.ndarray | None, labels: np.ndarray) -> Paths:
        if x1 is not None:
            raise OptionError(f"x1 follows from motion={self!r}: leave it out")
        which = self._places._which(labels)
        matrices = self.transforms[which]
        moved = np.einsum("ijk,ik->ij", matrices[:, :3, :3], x0) + matrices[:, :3, 3]
        return straight_paths(x0, np.where((which >= 0)[:, None], moved, x0))


def _screw_of(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Centre, axis and angle (up to half a turn) of a rigid transform; the origin is the centre of small angles."""
    rotation, shift = matrix[:3, :3], matrix[:3, 3]
    skew = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    length = float(_length(skew[None])[0])
    angle = float(np.arctan2(length, np.trace(rotation) - 1.0))
    if angle == 0.0:
        return np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.0
    if angle < 0.5 * np.pi:
        axis = skew / np.abs(skew).max()
        axis = axis / np.linalg.norm(axis)
        if angle < _SMALL:
            return np.zeros(3), axis, angle
    else:  # the skew part vanishes towards half a turn; the symmetric one is (1 - cos) n n^T + cos
        outer = (rotation + rotation.T) / 2.0 - (np.trace(rotation) - 1.0) / 2.0 * np.eye(3)
        axis = outer[:, int(np.argmax(np.diag(outer)))]
        axis = axis / np.linalg.norm(axis)
        axis = -axis if np.dot(axis, skew) < 0.0 else axis
    across = shift - np.dot(shift, axis) * axis
    return 0.5 * (across + np.cross(axis, across) / np.tan(0.5 * angle)), axis, angle


def _rows(x: Any, name: str) -> np.ndarray:
    array = as_floats(x, name)
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != 3:
        raise ShapeError(f"{name} must have shape (3,) or (k, 3), but has {np.shape(x)}")
    return array


def trace_back(x1: Any, velocity: Any, step: float, x0: Any = None) -> np.ndarray:
    """Where vertices were at the start of a step that have no past, x1 - step velocity: those that a cut has just made.

    Parameters
    ----------
    x1 : (n, 3) floats
        Positions at the end of the step.
    velocity : (n, 3) floats
        On average over the step, in units of length per time.
    step : float
        Duration of the step, in the same unit of time; not negative.
    x0 : (m, 3) floats, m <= n, optional
        Positions of the first m vertices at the start, where they are known; NaN in rows where they are not.

    Returns
    -------
    (n, 3) float64
        Positions at the start: rows of x0 where these are known.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    x1, velocity = as_floats(x1, "x1"), as_floats(velocity, "velocity")
    if x1.ndim != 2 or x1.shape[1] != 3 or velocity.shape != x1.shape:
        raise ShapeError(f"x1 and velocity must have shape (n, 3), but have {x1.shape} and {velocity.shape}")
    out = x1 - as_number(step, "step", 0.0, np.finfo(float).max) * velocity
    if x0 is not None:
        try:
            known = np.asarray(as_array(x0, "x0"), np.float64)
        except (ValueError, TypeError) as error:
            raise ShapeError(f"x0 is not an array of numbers: {error}") from error
        if known.ndim != 2 or known.shape[1] != 3 or len(known) > len(x1):
            raise ShapeError(f"x0 must have shape (m, 3), with m at most {len(x1)}, but has {known.shape}")
        rows = np.flatnonzero(~np.isnan(known).any(axis=1))
        out[rows] = as_floats(known[rows], "x0")
    return as_floats(out, "x1 - step velocity")


def _length(x: np.ndarray) -> np.ndarray:
    """(k,) lengths, also where squares would overflow or vanish."""
    largest = np.abs(x).max(axis=1, initial=0.0)
    unit = x / np.where(largest > 0.0, largest, 1.0)[:, None]
    return largest * np.sqrt(np.einsum("ij,ij->i", unit, unit))
