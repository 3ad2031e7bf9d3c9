"""Rotations as unit quaternions x y z w."""

from __future__ import annotations

import numpy as np

from pliant.runtime.jit import helper


def quaternions_of(rotations: np.ndarray) -> np.ndarray:
    """(k, 4) unit quaternions of (k, 3, 3) rotation matrices, or of what rounding has left of them.

    4 q q^T is linear in the matrix. Its row of the largest diagonal element, which is at least 1, is a multiple of q.
    """
    r = rotations
    products = np.empty((len(r), 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        products[:, i, i] = 1.0 + r[:, i, i] - r[:, j, j] - r[:, k, k]
        products[:, i, j] = products[:, j, i] = r[:, i, j] + r[:, j, i]
        products[:, i, 3] = products[:, 3, i] = r[:, k, j] - r[:, j, k]
    products[:, 3, 3] = 1.0 + r[:, 0, 0] + r[:, 1, 1] + r[:, 2, 2]
    best = np.argmax(np.diagonal(products, axis1=1, axis2=2), axis=1)
    rows = products[np.arange(len(r)), best]
    return rows / np.linalg.norm(rows, axis=1)[:, None]


@helper
def dot4(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@helper
def quaternion_row(q, i):
    """Row i of a (k, 4) array."""
    return q[i, 0], q[i, 1], q[i, 2], q[i, 3]


@helper
def rotation_rows(q):
    """The three rows of the matrix of a unit quaternion."""
    x, y, z, w = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
        (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
        (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
    )
