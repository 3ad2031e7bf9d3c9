"""What a checkpoint says of a solid that has changed: all that cannot be computed from the solid as it was set up."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
from pliant.mesh.cells import CORNER_COUNT, MOST_CORNERS, TYPES
from pliant.mesh.volumes import VolumeMesh
from pliant.response.fresh import FreshPairs
from pliant.runtime.arrays import MeshError
from pliant.runtime.reading import FileError
from pliant.runtime.threads import ThreadPool
from pliant.simulate.frames import Counts
from pliant.simulate.solids.building import Physics
from pliant.simulate.solids.changing.fresh import FreshSplits
from pliant.simulate.solids.changing.simulated import Changing, Made
from pliant.simulate.solids.quadrature import Points

# Of each array: its dtype, and the shape of a row, after the first axis if it has any.
_ARRAYS: dict[str, tuple[type, tuple[int, ...]]] = {
    "types": (np.int8, ()), "corners": (np.int32, (MOST_CORNERS,)), "ranks": (np.int32, ()),
    "start": (np.int64, ()), "shape": (np.float64, (MOST_CORNERS,)), "gradient": (np.float64, (MOST_CORNERS, 3)),
    "volume": (np.float64, ()), "stiffness": (np.float64, ()), "corner_mass": (np.float64, (MOST_CORNERS,)),
    "ballast": (np.float64, ()), "rest": (np.float64, (3,)), "parent": (np.int64, ()), "origin": (np.int64, ()),
    "vertex_face": (np.int32, (4,)), "edge_edge": (np.int32, (4,)), "on_blade": (np.bool_, ()),
    "counts": (np.int64, ()), "gone": (np.float64, ()),
}  # fmt: skip
_PREFIX = "change_"
NAMES = tuple(_PREFIX + name for name in _ARRAYS)


def arrays_of(changing: Changing, physics: Physics) -> dict[str, np.ndarray]:
    """By their names in a checkpoint."""
    made, breaking, cells = changing.made, changing.breaking, physics.cells
    assert cells is not None
    points, fresh, mesh = cells.solids.points, breaking.fresh, made.mesh
    on_blade = breaking._on_blade
    arrays = {
        "types": mesh._types, "corners": mesh._corners, "ranks": mesh._ranks, "start": points.start,
        "shape": points.shape, "gradient": points.gradient, "volume": points.volume,
        "stiffness": physics.stiffness, "corner_mass": made.corner_mass, "ballast": made.ballast, "rest": made.rest,
        "parent": made.parent, "origin": made.origin, "vertex_face": fresh.pairs.rows[VERTEX_FACE],
        "edge_edge": fresh.pairs.rows[EDGE_EDGE], "on_blade": np.zeros(0, bool) if on_blade is None else on_blade,
        "counts": np.array((*breaking.counts, fresh.born, fresh.retired)), "gone": np.array([made.gone]),
    }  # fmt: skip
    return {_PREFIX + name: np.asarray(array, _ARRAYS[name][0]) for name, array in arrays.items()}


def restored(changing: Changing, given: Mapping[str, np.ndarray], physics: Physics, pool: ThreadPool) -> Physics:
    """Make a solid that is as it was set up what it was when it was saved; FileError where that cannot be."""
    arrays = {name: np.ascontiguousarray(given[_PREFIX + name]) for name in _ARRAYS}
    wrong = next((name for name, (kind, row) in _ARRAYS.items() if not _is_of(arrays[name], kind, row)), None)
    if wrong is None:
        wrong = _misfit(arrays, *changing.counts)
    if wrong is not None:
        raise FileError(f"the checkpoint is of another scene, or damaged: {_PREFIX}{wrong}")
    types, corners, start = arrays["types"], arrays["corners"], arrays["start"]
    blocks = {
        name: corners[types == kind, : CORNER_COUNT[kind]] for kind, name in enumerate(TYPES) if (types == kind).any()
    }
    try:
        mesh = VolumeMesh(blocks, ranks=arrays["ranks"] if len(arrays["ranks"]) else None)
    except MeshError as error:
        raise FileError(f"the cells of the checkpoint are damaged: {error}") from None
    changing.made = Made(
        mesh, arrays["corner_mass"], arrays["ballast"], arrays["rest"], arrays["parent"], arrays["origin"],
        float(arrays["gone"][0]),
    )  # fmt: skip
    breaking, counts = changing.breaking, arrays["counts"].tolist()
    breaking.counts, breaking.fresh = Counts(*counts[:4]), FreshSplits()
    breaking.fresh.pairs = FreshPairs(arrays["vertex_face"], arrays["edge_edge"])
    breaking.fresh.born, breaking.fresh.retired = counts[4:]
    breaking._on_blade = arrays["on_blade"] if len(arrays["on_blade"]) else None
    cell = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    points = Points(start, cell, arrays["shape"], arrays["gradient"], arrays["volume"])
    return changing.physics(points, arrays["stiffness"], physics.edge, pool)


def _is_of(array: np.ndarray, kind: type, row: tuple[int, ...]) -> bool:
    return (
        array.dtype == kind and array.shape[1:] == row and array.ndim == 1 + len(row) and bool(np.isfinite(array).all())
    )


def _misfit(arrays: Mapping[str, np.ndarray], cells_before: int, vertices_before: int) -> str | None:
    """The name of an array that does not go with the others."""
    count, vertices, points = len(arrays["types"]), len(arrays["rest"]), len(arrays["volume"])
    lengths = {
        "corners": count, "corner_mass": count, "origin": count, "start": count + 1, "shape": points,
        "gradient": points, "ballast": vertices, "parent": vertices, "stiffness": vertices, "counts": 6, "gone": 1,
    }  # fmt: skip
    for name, length in lengths.items():
        if len(arrays[name]) != length:
            return name
    limits = {
        "types": len(TYPES), "corners": vertices, "origin": cells_before, "parent": vertices_before,
        "vertex_face": vertices, "edge_edge": vertices,
    }  # fmt: skip
    for name, limit in limits.items():
        if arrays[name].size and not (arrays[name].min() >= 0 and arrays[name].max() < limit):
            return name
    start = arrays["start"]
    if count == 0 or start[0] != 0 or start[-1] != points or (np.diff(start) < 1).any():
        return "start"
    if (arrays["types"][1:] < arrays["types"][:-1]).any():
        return "types"
    if len(arrays["ranks"]) > vertices or len(arrays["on_blade"]) not in (0, vertices):
        return "on_blade" if len(arrays["ranks"]) <= vertices else "ranks"
    return None
