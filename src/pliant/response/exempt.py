"""What is no part of the proof: pairs of features that belong to nothing but driven elements.

An element is driven where all of its vertices are, and a feature where every element that has it is. A pair of features
is left out where both are driven: then it belongs to no two elements that are not wholly driven, so what is proven
without it is proven for all others (docs/response.md).
"""

from __future__ import annotations

import numpy as np

from pliant.engine.wanted import FeatureMasks
from pliant.mesh.cells import Rows
from pliant.mesh.features import elements_of
from pliant.mesh.tested import TestedMesh
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh


def driven_features(tested: TestedMesh, is_driven: np.ndarray) -> FeatureMasks | None:
    """The features, by their ids in queries, that belong to driven elements alone; None where there are none.

    is_driven : (n,) bool, of vertices
    """
    volume = tested.cells
    masks = _of_surface(tested.features, is_driven) if volume is None else _of_cells(volume, is_driven)
    return masks if masks.vertices.any() else None


def _of_surface(mesh: TriMesh, is_driven: np.ndarray) -> FeatureMasks:
    elements = elements_of(mesh)
    free = ~is_driven[elements.corners].all(axis=1)
    masks = FeatureMasks(*(np.ones(count, bool) for count in (mesh.vertex_limit, len(mesh.edges), len(mesh.faces))))
    for mask, ids in zip(masks, (elements.corners, elements.sides, elements.face)):
        named = ids[free]
        mask[named[named >= 0]] = False
    return masks


def _of_cells(volume: VolumeMesh, is_driven: np.ndarray) -> FeatureMasks:
    free = np.asarray(~is_driven[volume._corners].all(axis=1))
    return FeatureMasks(
        *(~_have(rows, free) for rows in (volume._vertex_cells, volume._edge_cells, volume._face_cells))
    )


def _have(rows: Rows, wanted: np.ndarray) -> np.ndarray:
    """(n,) which lists have one of the wanted items, a mask."""
    owner = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    found = np.zeros(len(rows.start) - 1, bool)
    found[owner[wanted[rows.items]]] = True
    return found
