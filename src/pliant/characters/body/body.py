"""The body of a character: tetrahedra under the skin, carried by the same bones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import kernel


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """Tetrahedra that fill a skin in its bind pose. The skin follows by barycentric coordinates."""

    volume: VolumeMesh  # of "tetra" only
    rest: np.ndarray  # (v, 3) positions as bound
    joints: np.ndarray  # (v, w) int32, joints that carry each vertex
    weights: np.ndarray  # (v, w), not negative, of sum 1
    skin_cells: np.ndarray  # (n,) int32, the tetrahedron that each vertex of the skin follows
    skin_weights: np.ndarray  # (n, 4) of its corners, of sum 1; negative where the skin is outside of the body

    def __repr__(self) -> str:
        return (
            f"Body({len(self.rest)} vertices, {len(self.volume.types)} tetrahedra, {len(self.skin_cells)} of the skin)"
        )

    def skin(self, x: np.ndarray) -> np.ndarray:
        """(n, 3) positions of the skin, where the vertices of the body are at x (v, 3)."""
        out = np.empty((len(self.skin_cells), 3))
        _carry(np.ascontiguousarray(x, float), self.volume._cells["tetra"], self.skin_cells, self.skin_weights, out)
        return out


@kernel
def _carry(x, cells, followed, weights, out):
    """Means of the corners of cells, by weights (n, 4), into out (n, 3)."""
    for i in range(len(followed)):
        a, b, c, d = cells[followed[i]]
        for k in range(3):
            out[i, k] = (
                weights[i, 0] * x[a, k] + weights[i, 1] * x[b, k] + weights[i, 2] * x[c, k] + weights[i, 3] * x[d, k]
            )
