"""The gate: what users pass in is cast, checked and named here; kernels assume and do not look again."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

# Contiguous, aligned, and writeable: not to write to it, but because numba would compile every kernel a second time for
# read-only arrays.
_KERNEL_LAYOUT = ("C", "A", "W")
LARGEST_INDEX = 2**31 - 2  # kernels hold indices as int32


def _keep_freed_memory() -> None:
    """Make the allocator keep what is freed instead of giving it back to the system page by page.

    Every query fills arrays of its own, and fresh pages were a tenth of its time (20,000 triangles: 1,000 to 3,000 page
    faults each). The allocator of glibc keeps up to twice the largest block that was ever freed, below 32 MB; so one
    such block is made and freed, untouched. Others do what they do.
    """
    np.empty(2**25 - 2**16, np.uint8)


_keep_freed_memory()


New = Callable[[tuple[int, int]], np.ndarray]  # allocates an array of a shape, as np.empty does


class Buffers:
    """Arrays that are overwritten in every frame, by name.

    Memory that is given back and asked for again comes in fresh pages: on hanging_cloth that was a third of a frame.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def named(self, name: str) -> New:
        def new(shape: tuple[int, int]) -> np.ndarray:
            array = self._arrays.get(name)
            if array is None or array.shape != shape:
                array = self._arrays[name] = np.empty(shape)
            return array

        return new


Arrays = TypeVar("Arrays", bound="np.ndarray | tuple")


def read_only(arrays: Arrays) -> Arrays:
    """The same array, or named tuple of arrays, for people: it cannot be written to.

    What is derived from an array is kept, and would go stale silently. Kernels get the array itself (above).
    """
    if isinstance(arrays, np.ndarray):
        view = arrays.view()
        view.flags.writeable = False
        return view  # pyright: ignore[reportReturnType]
    views = [read_only(array) for array in arrays]
    return type(arrays)(*views) if hasattr(arrays, "_fields") else tuple(views)  # pyright: ignore[reportReturnType]


def freeze(result: Any) -> None:
    """No array of a result can be written to; for ``__post_init__`` of frozen dataclasses."""
    for name, value in vars(result).items():
        parts = value if isinstance(value, tuple) else (value,)
        if parts and all(isinstance(part, np.ndarray) for part in parts):
            object.__setattr__(result, name, read_only(value))


class MeshError(ValueError):
    """Something is wrong with the input; the message says what and where."""


class ShapeError(MeshError):
    """An array does not have the shape that is needed."""


class DtypeError(MeshError):
    """An array does not hold the kind of numbers that is needed."""


class VertexIndexError(MeshError):
    """A face, edge or point refers to a vertex that does not exist."""


class NonFiniteError(MeshError):
    """A position is NaN or infinite."""


class OpenSurfaceError(MeshError):
    """A surface that has to enclose something does not."""


class MaskedError(MeshError):
    """A value of a masked array is missing."""


class TangledError(MeshError):
    """Triangles intersect, or features touch, at the start of a motion.

    faces : (k, 2) int32, the pairs of faces that intersect
    """

    def __init__(self, message: str, faces: Any = ()) -> None:
        super().__init__(message)
        self.faces: np.ndarray = np.asarray(faces, np.int32).reshape(-1, 2)


class OptionError(MeshError):
    """An option has a value that is not known."""


def as_positions(x: Any, name: str, vertex_count: int | None = None) -> np.ndarray:
    """(n, 3) float64, contiguous and finite; float32 and integers are converted, exactly."""
    is_ready = type(x) is np.ndarray and x.dtype == np.float64 and x.flags.carray  # most often
    array = x if is_ready else as_doubles(x, name)
    require_finite(array, name)
    if array.shape == (0,):
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ShapeError(f"{name} must have shape (n, 3), but has {array.shape}")
    if vertex_count is not None and len(array) != vertex_count:
        raise ShapeError(f"{name} has {len(array)} rows, but x0 has {vertex_count}")
    return array


_PART = 2**15  # numbers that the second-level cache holds
# OpenBLAS takes threads of its own for longer products: they spin for some 20 ms after each, on cores that ours need.
_MOST_SERIAL = 10_000


def as_floats(x: Any, name: str) -> np.ndarray:
    """float64, contiguous and finite; the first bad row is named."""
    array = as_doubles(x, name)
    require_finite(array, name)
    return array


def as_array(x: Any, name: str) -> np.ndarray:
    """An array of whatever it holds; what is masked in a masked array is missing, and its value is nobody's."""
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise ShapeError(f"{name} is not a rectangular array: {error}") from error
    masks = sys.modules.get("numpy.ma")  # numpy imports it when it is first named: without it, there are no masks
    if masks is not None and isinstance(x, masks.MaskedArray) and (mask := masks.getmaskarray(x)).any():
        where = ", ".join(str(i) for i in np.argwhere(mask)[0])
        raise MaskedError(f"{name}[{where}] is masked: no value may be missing; fill it in, or leave out its vertices")
    return array


def as_doubles(x: Any, name: str) -> np.ndarray:
    """float64 and contiguous."""
    array = as_array(x, name)
    if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
        raise DtypeError(f"{name} must hold real numbers up to float64, but has dtype {array.dtype}")
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.min())), abs(int(array.max()))) > 2**53:
        raise DtypeError(f"{name} holds integers above 2**53, which float64 cannot represent exactly")
    return np.require(array, np.float64, _KERNEL_LAYOUT)


def require_finite(array: np.ndarray, name: str) -> None:
    """No number is NaN or infinite; the first bad row is named."""
    if not _is_finite(array):
        where = np.argwhere(~np.isfinite(array))[0]
        row = ", ".join(str(i) for i in where)
        raise NonFiniteError(f"{name}[{row}] is {array[tuple(where)]}: numbers must be finite")


def _is_finite(array: np.ndarray) -> bool:
    """The sum of squares is NaN or infinite if any number is, or if one is very large; largest and smallest are if any
    is: no array of booleans, and parts that the cache keeps."""
    flat = array.reshape(-1)
    if len(flat) <= _MOST_SERIAL:
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(flat.dot(flat)):
                return True
    parts = (flat[begin : begin + _PART] for begin in range(0, len(flat), _PART))
    return all(np.isfinite(part.max()) and np.isfinite(part.min()) for part in parts)


def as_indices(indices: Any, name: str, columns: int) -> np.ndarray:
    """(m, columns) int32, contiguous, not negative; columns = 1 gives (m,)."""
    array = as_array(indices, name)
    if array.size == 0:
        return np.empty((0, columns) if columns > 1 else 0, np.int32)
    shape = "(m,)" if columns == 1 else f"(m, {columns})"
    if array.ndim != (1 if columns == 1 else 2) or (columns > 1 and array.shape[1] != columns):
        raise ShapeError(f"{name} must have shape {shape}, but has {array.shape}")
    if array.dtype.kind not in "iu":
        raise DtypeError(f"{name} must hold integers, but has dtype {array.dtype}")
    bad = (array < 0) | (array > LARGEST_INDEX)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        value = np.atleast_1d(array[row])[np.atleast_1d(bad[row])][0]
        raise VertexIndexError(f"{_singular(name)} {row} refers to vertex {value}, which cannot exist")
    return np.require(array, np.int32, _KERNEL_LAYOUT)


def require_in_range(indices: np.ndarray, name: str, vertex_count: int) -> None:
    """Every index names one of vertex_count vertices."""
    if indices.size and indices.max() >= vertex_count:
        row = int(np.argwhere(indices >= vertex_count)[0][0])
        value = np.atleast_1d(indices[row]).max()
        raise VertexIndexError(f"{_singular(name)} {row} refers to vertex {value}, but there are {vertex_count}")


def _singular(name: str) -> str:
    return name.removesuffix("s")


def as_number(value: Any, name: str, lower: float, upper: float) -> float:
    """A real number from lower to upper."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise DtypeError(f"{name}={value!r} must be a number")
    if not lower <= value <= upper:
        raise OptionError(f"{name}={value!r} must be from {lower:g} to {upper:g}")
    return float(value)


def as_radii(min_distance: Any, radii: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Radii of vertices, of a shape: half of min_distance, a number, everywhere; or radii as they are given."""
    if radii is None:
        if np.ndim(min_distance) > 0:
            raise DtypeError("min_distance must be a number; for a radius of each vertex use radii=")
        distance = as_floats(min_distance, "min_distance").item()
        if distance < 0.0:
            raise OptionError(f"min_distance is {distance}: it must not be negative")
        return np.full(shape, 0.5 * distance)
    if np.ndim(min_distance) > 0 or min_distance != 0.0:
        raise OptionError("min_distance and radii are two ways to say the same: give one of them")
    array = as_floats(radii, "radii")
    if array.shape != shape:
        also = "; for a distance of two features use min_distance=" if array.ndim == 0 else ""
        raise ShapeError(f"radii must have shape {shape}, but has {array.shape}{also}")
    if array.size and array.min() < 0.0:
        where = ", ".join(map(str, np.unravel_index(int(np.argmin(array)), shape)))
        raise OptionError(f"radii[{where}] is {array.min()}: it must not be negative")
    return array


def choose(value: Any, name: str, known: tuple[str, ...]) -> str:
    """One of the known names, or an error that lists them."""
    if value not in known:
        raise OptionError(f"{name}={value!r} is not known; choose one of {', '.join(repr(k) for k in known)}")
    return value


def thread_count(threads: int | None) -> int:
    """The number of worker threads: all cores this process may use by default."""
    if threads is None:
        import os

        affinity = getattr(os, "sched_getaffinity", None)
        return max(1, len(affinity(0)) if affinity else (os.cpu_count() or 1))
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or threads < 1:
        raise OptionError(f"threads={threads!r} must be a positive integer or None")
    return int(threads)
