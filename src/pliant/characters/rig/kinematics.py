"""From local transforms of nodes to matrices of joints."""

from __future__ import annotations

import numpy as np

from pliant.characters.rig.quaternions import quaternion_row, rotation_rows
from pliant.runtime.jit import helper, kernel


@kernel
def compose_globals(parents, translation, rotation, scale, out):
    """Matrices (k, 4, 4) from the frame of each node to the world; parents come before children."""
    for node in range(len(parents)):
        rows = rotation_rows(quaternion_row(rotation, node))
        for i in range(3):
            for k in range(3):
                out[node, i, k] = rows[i][k] * scale[node, k]
            out[node, i, 3] = translation[node, i]
            out[node, 3, i] = 0.0
        out[node, 3, 3] = 1.0
        if parents[node] >= 0:
            _multiply(out, parents[node], out, node, out, node)


@kernel
def compose_transforms(global_matrices, joints, inverse_bind, out):
    """Matrices (j, 4, 4) from where the skin was bound to the world."""
    for j in range(len(joints)):
        _multiply(global_matrices, joints[j], inverse_bind, j, out, j)


@helper
def _multiply(a, i, b, j, out, k):
    """out[k] = a[i] @ b[j] of affine matrices; out[k] may be b[j]."""
    for column in range(4):
        x, y, z, w = b[j, 0, column], b[j, 1, column], b[j, 2, column], b[j, 3, column]
        for row in range(3):
            out[k, row, column] = a[i, row, 0] * x + a[i, row, 1] * y + a[i, row, 2] * z + a[i, row, 3] * w
        out[k, 3, column] = w


def decompose(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Translation (3,), rotation matrix (3, 3) and scale (3,) of an affine matrix (4, 4), or None where there are none:
    it is singular, shears, or is not affine."""
    if np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-6:
        return None
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    if not scale.min() > 1e-12 * scale.max():
        return None
    rotation = matrix[:3, :3] / scale
    # Matrices are written with seven digits, and may be products of others.
    if np.abs(rotation.T @ rotation - np.eye(3)).max() > 1e-4:
        return None
    if np.linalg.det(rotation) < 0.0:
        scale[0], rotation[:, 0] = -scale[0], -rotation[:, 0]
    return matrix[:3, 3].copy(), rotation, scale
