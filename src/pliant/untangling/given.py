"""What untangle is told, checked once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.mesh.tested import surface_of
from pliant.mesh.triangles import TriMesh
from pliant.queries.detect import some_pairs
from pliant.queries.detector import Detector
from pliant.runtime.arrays import (
    OptionError,
    ShapeError,
    TangledError,
    VertexIndexError,
    as_array,
    as_number,
    as_positions,
    require_in_range,
    thread_count,
)

LARGEST = float(np.finfo(float).max)


class LayersError(OptionError):
    """What is said about layers contradicts itself, or names objects that do not exist."""


class Given(NamedTuple):
    """As in ``pliant.untangle``.

    mesh : of its faces alone
    objects : (n,) int32 connected component of each vertex; -1 for those that take no part
    layer : (n,) int32, 0 for the innermost one; -1 for vertices of no layer
    outside_of : labels of objects
    """

    mesh: TriMesh
    x: np.ndarray
    fixed: np.ndarray
    objects: np.ndarray
    layer: np.ndarray
    outside_of: tuple[int, ...]
    reference: np.ndarray | None
    max_move: float
    max_distortion: float
    seconds: float
    threads: int

    @staticmethod
    def of(mesh: Any, x: Any, options: dict[str, Any]) -> Given:
        """From the arguments of the same names."""
        surface, x = surface_of(mesh), as_positions(x, "x")
        surface = TriMesh(surface.faces) if len(surface.loose_edges) or len(surface.loose_points) else surface
        require_in_range(surface.faces, "faces", len(x))
        objects = np.full(len(x), -1, np.int32)
        objects[: surface.vertex_limit] = surface.components
        move, reference = options["max_move"], options["reference"]
        layer = _layers(options["layers"], objects)
        outside_of = _labels(options["outside_of"], "outside_of", objects)
        _require_agreement(layer, outside_of, objects)
        return Given(
            surface, x, _mask(options["fixed"], len(x)), objects, layer, outside_of,
            None if reference is None else _as_reference(reference, len(x)),
            np.inf if move is None else as_number(move, "max_move", 0.0, LARGEST),
            as_number(options["max_distortion"], "max_distortion", 0.0, LARGEST),
            as_number(options["seconds"], "seconds", 0.0, LARGEST),
            thread_count(options["threads"]),
        )  # fmt: skip

    def scaled(self, exponent: int) -> Given:
        """All lengths times a power of two."""
        if exponent == 0:
            return self
        reference = None if self.reference is None else np.ldexp(self.reference, exponent)
        return self._replace(
            x=np.ldexp(self.x, exponent), reference=reference, max_move=float(np.ldexp(self.max_move, exponent))
        )

    def require_free_reference(self, detector: Detector) -> None:
        """Raises TangledError; pairs of fixed faces are nobody's business."""
        assert self.reference is not None
        hits = detector.intersections(self.reference)
        faces = hits.faces[~self.fixed[self.mesh.faces[hits.faces]].all(axis=(1, 2))]
        if len(faces):
            raise TangledError(
                f"the reference is tangled: faces {some_pairs(faces)} intersect in it; "
                "pliant.check(mesh, reference) lists them. Give one that is free, or none",
                faces,
            )


def _mask(fixed: Any, count: int) -> np.ndarray:
    """(n,) bool from a mask or from ids."""
    mask = np.zeros(count, bool)
    if fixed is None:
        return mask
    array = as_array(fixed, "fixed")
    if array.dtype.kind == "b":
        if array.shape != (count,):
            raise ShapeError(f"fixed, as a mask, must have shape ({count},), but has {array.shape}")
        return array.copy()
    if array.size == 0:
        return mask
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise OptionError("fixed must be a mask (n,) of booleans, or ids (k,) of vertices")
    if array.min() < 0 or array.max() >= count:
        bad = int(array[(array < 0) | (array >= count)][0])
        raise VertexIndexError(f"fixed names vertex {bad}, but there are {count}")
    mask[array] = True
    return mask


def _layers(given: Any, objects: np.ndarray) -> np.ndarray:
    """(n,) int32 from labels of objects, from inside to outside; or from the layer of each vertex."""
    layer = np.full(len(objects), -1, np.int32)
    if given is None:
        return layer
    array = np.atleast_1d(as_array(given, "layers"))
    if array.shape != objects.shape:  # an object has three vertices at least: there are fewer labels than vertices
        for place, label in enumerate(_labels(given, "layers", objects)):
            layer[objects == label] = place
        return layer
    if array.dtype.kind not in "iu":
        raise LayersError("layers must hold integers: 0 for the vertices of the innermost layer, -1 for those of none")
    used = objects >= 0
    lowest = np.full(int(objects.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    highest = -lowest
    np.minimum.at(lowest, objects[used], array[used])
    np.maximum.at(highest, objects[used], array[used])
    mixed = np.flatnonzero(lowest != highest)
    if len(mixed):
        raise LayersError(
            f"layers contradict each other: object {mixed[0]} has vertices in layers {lowest[mixed[0]]} and "
            f"{highest[mixed[0]]}, but connected faces are in one layer"
        )
    layer[used] = np.maximum(array[used], -1)
    return layer


def _labels(given: Any, name: str, objects: np.ndarray) -> tuple[int, ...]:
    if given is None:
        return ()
    array = np.atleast_1d(as_array(given, name))
    if array.size == 0:
        return ()
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise LayersError(f"{name} must be labels of objects, integers: those of mesh.components")
    count = int(objects.max(initial=-1)) + 1
    bad = array[(array < 0) | (array >= count)]
    if len(bad):
        raise LayersError(f"{name} names object {bad[0]}, but there are {count}: labels are those of mesh.components")
    known, times = np.unique(array, return_counts=True)
    if (times > 1).any():
        raise LayersError(f"{name} contradict each other: object {known[times > 1][0]} is named twice")
    return tuple(array.tolist())


def _require_agreement(layer: np.ndarray, outside_of: tuple[int, ...], objects: np.ndarray) -> None:
    """Everything else is outside of the objects of outside_of: no layer is within them."""
    for label in outside_of:
        own = int(layer[objects == label][0])
        within = (layer >= 0) & (layer < own) & ~np.isin(objects, outside_of)
        if own >= 0 and within.any():
            raise LayersError(
                f"object {objects[within][0]} is in layer {layer[within][0]}, within object {label} in layer {own}; "
                "but outside_of says that it is outside of it"
            )


def _as_reference(reference: Any, count: int) -> np.ndarray:
    return as_positions(reference, "reference", count)
