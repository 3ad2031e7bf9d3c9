"""The body of a character: tetrahedra under the skin, carried by the same bones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.mesh.volumes import VolumeMesh


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
        return np.einsum("ij,ijk->ik", self.skin_weights, x[self.volume.cells["tetra"][self.skin_cells]])
