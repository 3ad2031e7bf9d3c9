"""What a query is about: a surface, or a volume mesh with its inside or without, and how its features are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.mesh.cells import Rows
from pliant.mesh.foreign import has_volume, with_blocks
from pliant.mesh.triangles import TriMesh, as_mesh
from pliant.mesh.volumes import Surface, VolumeMesh, as_volume
from pliant.runtime.jit import kernel


class TestedMesh(NamedTuple):
    features: TriMesh  # what takes part, by the ids that the stages use
    volume: VolumeMesh | None  # where it is that of a volume mesh

    @property
    def cells(self) -> VolumeMesh | None:
        """The volume mesh where its inside takes part too."""
        return None if isinstance(self.features, Surface) else self.volume

    def sides(self, kind: int, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of pairs of features (k, 2): their ids for the user, a cell on each side (k, 2), and whether one cell has
        both (k,), which makes their contact an inversion of it. Surfaces have cells -1."""
        if self.volume is None:
            return elements, np.full(elements.shape, -1, np.int32), np.zeros(len(elements), bool)
        if isinstance(self.features, Surface):
            elements = elements.copy()
            if kind == VERTEX_FACE:
                elements[:, 1] = self.features.volume_faces[elements[:, 1]]
            else:
                elements = self.features.volume_edges[elements]
        first = self.volume._vertex_cells if kind == VERTEX_FACE else self.volume._edge_cells
        second = self.volume._face_cells if kind == VERTEX_FACE else self.volume._edge_cells
        return elements, *_cells_beside(elements, first, second)


def mesh_to_test(mesh: Any, interior: bool = True) -> TestedMesh:
    """From what users have: a dict of cells, and what has other cells than triangles, is a volume mesh."""
    if isinstance(mesh, TriMesh | np.ndarray):
        return TestedMesh(as_mesh(mesh), None)
    mesh = with_blocks(mesh)
    if isinstance(mesh, VolumeMesh | Mapping) or has_volume(mesh):
        volume = as_volume(mesh)
        return TestedMesh(volume.features() if interior else volume.surface(), volume)
    return TestedMesh(as_mesh(mesh), None)


def surface_of(mesh: Any) -> TriMesh:
    """What is seen of it from outside."""
    return mesh_to_test(mesh, interior=False).features


def _cells_beside(elements: np.ndarray, first: Rows, second: Rows) -> tuple[np.ndarray, np.ndarray]:
    cells, common = np.empty((len(elements), 2), np.int32), np.empty(len(elements), bool)
    _fill_cells(elements, first, second, cells, common)
    return cells, common


@kernel
def _fill_cells(elements, first, second, cells, common):
    """The first cell that has both features, else the first of each."""
    for k in range(len(elements)):
        a, b = elements[k, 0], elements[k, 1]
        s, t = first.start[a], second.start[b]
        while s < first.start[a + 1] and t < second.start[b + 1] and first.items[s] != second.items[t]:
            if first.items[s] < second.items[t]:
                s += 1
            else:
                t += 1
        common[k] = s < first.start[a + 1] and t < second.start[b + 1]
        if not common[k]:
            s, t = first.start[a], second.start[b]
        cells[k, 0], cells[k, 1] = first.items[s], second.items[t]
