"""A volume scene: cells and positions, step by step, with what was cut or broken between steps."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

# The order in which cells of all kinds are numbered.
KINDS = ("tetra", "hexahedron", "wedge", "pyramid", "triangle", "quad")
Cells = dict[str, np.ndarray]


def no_ids() -> np.ndarray:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class VolumeStep:
    """One step: all cells, and where their vertices start and end.

    cells : kind to (k, corners) int32, in the order of `KINDS`; kinds and corners as in meshio
    x0, x1 : (n, 3) float64, positions; x0 of an old vertex is its x1 of the step before, and x0 of a new one is where
        it would have come from with the velocity that it has (paper 004, section 6.3)
    objects : (n,) int64, label of the body of each vertex, 0, 1, 2, ...
    remove : (r,) int64, which cells of the step before are gone, ascending; ids run through the kinds in the order of
        `KINDS`
    add : kind to (a, corners) int32, the cells that follow, at the end of their kind, the ones that stayed

    Vertices are never renumbered: new ones come last, and those that no cell uses any more stay.
    """

    cells: Cells
    x0: np.ndarray
    x1: np.ndarray
    objects: np.ndarray
    remove: np.ndarray = field(default_factory=no_ids)
    add: Cells = field(default_factory=dict)

    @property
    def cell_count(self) -> int:
        return sum(len(rows) for rows in self.cells.values())

    def __repr__(self) -> str:
        held = ", ".join(f"{len(rows)} {kind}" for kind, rows in self.cells.items())
        gone, new = len(self.remove), sum(len(rows) for rows in self.add.values())
        return f"VolumeStep({held}; {len(self.objects)} vertices, {gone} cells removed, {new} added)"


@dataclass(frozen=True, eq=False, repr=False)
class VolumeScene:
    """One named motion of a volume mesh: steps that follow each other. The cells of many scenes never change."""

    name: str
    steps: tuple[VolumeStep, ...]

    @property
    def cells(self) -> Cells:
        """The cells of the first step."""
        return self.steps[0].cells

    @property
    def x0(self) -> np.ndarray:
        """(n, 3) float64, positions at the start of the first step."""
        return self.steps[0].x0

    @property
    def x1(self) -> np.ndarray:
        """(n, 3) float64, positions at the end of the first step."""
        return self.steps[0].x1

    @property
    def objects(self) -> np.ndarray:
        """(n,) int64, label of the body of each vertex of the first step."""
        return self.steps[0].objects

    @property
    def topology_is_fixed(self) -> bool:
        return all(len(step.remove) == 0 and not step.add for step in self.steps)

    def __repr__(self) -> str:
        first, last = self.steps[0].cell_count, self.steps[-1].cell_count
        cells = f"{first} cells" if self.topology_is_fixed else f"{first} to {last} cells"
        bodies = f"{len(self.objects)} vertices, {int(self.objects.max()) + 1} objects"
        return f"VolumeScene({self.name!r}: {cells}, {bodies}, {len(self.steps)} steps)"


class Part(NamedTuple):
    """A body of a scene: its cells, in vertices of its own, and its positions (f, n, 3)."""

    cells: Cells
    frames: np.ndarray


def as_cells(cells: Cells) -> Cells:
    """int32, in the order of `KINDS`, without kinds of no cells."""
    return {kind: np.ascontiguousarray(cells[kind], np.int32) for kind in KINDS if len(cells.get(kind, ()))}


def joined(parts: Sequence[Part]) -> tuple[Cells, np.ndarray, np.ndarray]:
    """Cells, frames (f, n, 3) and labels (n,) of several bodies together."""
    sizes = [part.frames.shape[1] for part in parts]
    first = np.cumsum([0, *sizes[:-1]])
    cells = {
        kind: np.concatenate([part.cells[kind] + start for part, start in zip(parts, first) if kind in part.cells])
        for kind in KINDS
        if any(kind in part.cells for part in parts)
    }
    objects = np.repeat(np.arange(len(parts), dtype=np.int64), sizes)
    return as_cells(cells), np.concatenate([part.frames for part in parts], axis=1), objects


def moving(name: str, parts: Sequence[Part]) -> VolumeScene:
    """A scene of bodies whose cells never change."""
    cells, frames, objects = joined(parts)
    return VolumeScene(name, tuple(VolumeStep(cells, a, b, objects) for a, b in pairwise(frames)))
