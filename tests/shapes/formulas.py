"""Files of characters against the formulas of the specification in plain loops."""

from __future__ import annotations

import numpy as np

import pliant
from tests.reference import gltf

TIMES = (-1.0, 0.0, 0.3, 1.0, 1.7, 2.0, 9.0)


def expected_positions(path, clip, t, skin=0):
    """Where linear blend skinning puts the vertices of the file."""
    file = gltf.File(path)
    matrices = file.joint_matrices(clip, t, skin)
    return np.array([gltf.skinned(p, i, matrices) for p, i in zip(*file.vertices(skin)[:2])])


def agrees_with_the_formulas(path, *, tolerance=1e-12, skin=0):
    """Vertices and faces as in the file, and all positions at all times."""
    kept = pliant.characters.load(path, weld=False, skin=skin)
    positions, _, faces = gltf.File(path).vertices(skin)
    np.testing.assert_array_equal(kept.rest, positions)
    np.testing.assert_array_equal(kept.mesh.faces, faces)
    size = np.abs(positions).max() + 1.0
    np.testing.assert_allclose(kept.pose(), expected_positions(path, None, 0.0, skin), atol=tolerance * size)
    for place, clip in enumerate(kept.clips):
        for t in TIMES:
            wanted = expected_positions(path, place, t, skin)
            np.testing.assert_allclose(kept.pose(clip, t), wanted, atol=tolerance * size * (1 + np.abs(wanted).max()))
    return kept


def is_closed(mesh):
    """Each edge has two faces, which run along it in opposite directions."""
    sides = np.concatenate([mesh.faces[:, (i, (i + 1) % 3)] for i in range(3)])
    directed = {tuple(side) for side in sides.tolist()}
    return len(directed) == len(sides) and all((b, a) in directed for a, b in directed)
