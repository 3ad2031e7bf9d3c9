"""Bodies from blocks of cubes, and the maps that make them round: what the volume scenes are made of."""

import numpy as np

# Corners of a cube in meshio's order.
_CUBE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
# Six tetrahedra around the diagonal from corner 0 to corner 6, one for each order of the axes, all positive. Every face
# of a cube is cut along the diagonal from its lowest corner, so that neighbours agree.
_KUHN = np.array([(0, 1, 2, 6), (0, 5, 1, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 4, 5, 6), (0, 7, 4, 6)])


def cubes(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cubes of a lattice where mask (nx, ny, nz) is True: hexahedra (k, 8) int64, points (n, 3), whole."""
    corner = np.argwhere(mask)[:, None] + _CUBE
    shape = tuple(side + 1 for side in mask.shape)
    keys, ids = np.unique(np.ravel_multi_index(tuple(corner.reshape(-1, 3).T), shape), return_inverse=True)
    points = np.stack(np.unravel_index(keys, shape), axis=1).astype(np.float64)
    return ids.reshape(-1, 8).astype(np.int64), points


def tetrahedra(hexahedra: np.ndarray) -> np.ndarray:
    """(6 k, 4) the tetrahedra of the cubes (k, 8) of one lattice; they fit together."""
    return hexahedra[:, _KUHN].reshape(-1, 4)


def box_shell(nx: int, ny: int, nz: int) -> tuple[np.ndarray, np.ndarray]:
    """The surface of a box of cubes: quads (k, 4) int64, counterclockwise from outside, and points (n, 3), whole."""
    sides = []
    for axis, (nu, nv) in enumerate(((ny, nz), (nz, nx), (nx, ny))):
        u, v = (q.ravel() for q in np.meshgrid(np.arange(nu), np.arange(nv), indexing="ij"))
        for end in (0, (nx, ny, nz)[axis]):
            quad = np.empty((len(u), 4, 3), np.int64)
            turn = ((0, 0), (1, 0), (1, 1), (0, 1)) if end else ((0, 0), (0, 1), (1, 1), (1, 0))
            for q, (du, dv) in enumerate(turn):
                quad[:, q, axis] = end
                quad[:, q, (axis + 1) % 3] = u + du
                quad[:, q, (axis + 2) % 3] = v + dv
            sides.append(quad)
    corner = np.concatenate(sides)
    shape = (nx + 1, ny + 1, nz + 1)
    keys, ids = np.unique(np.ravel_multi_index(tuple(corner.reshape(-1, 3).T), shape), return_inverse=True)
    return ids.reshape(-1, 4).astype(np.int64), np.stack(np.unravel_index(keys, shape), axis=1).astype(np.float64)


def quad_grid(nu: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """A sheet of nu by nv squares: quads (nu nv, 4) int64 and points (n, 2) float64, from (0, 0) to (nu, nv)."""
    ids = np.arange((nu + 1) * (nv + 1), dtype=np.int64).reshape(nu + 1, nv + 1)
    quads = np.stack([q.ravel() for q in (ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:])], axis=1)
    u, v = np.meshgrid(np.arange(nu + 1.0), np.arange(nv + 1.0), indexing="ij")
    return quads, np.stack([u.ravel(), v.ravel()], axis=1)


def cut_quads(quads: np.ndarray) -> np.ndarray:
    """(2 k, 3) triangles of quads (k, 4)."""
    return quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def rounded(p: np.ndarray, roundness: float) -> np.ndarray:
    """Points (n, 2 or 3) of the square or cube from -1 to 1, moved towards a disc or a ball.

    Fully round, cells at corners and edges of the cube would be flat: `roundness` below 1 keeps their volume.
    """
    s = p * p
    if p.shape[1] == 2:
        ball = p * np.sqrt(1 - s[:, ::-1] / 2)
    else:
        y, z = np.roll(s, -1, axis=1), np.roll(s, -2, axis=1)
        ball = p * np.sqrt(1 - y / 2 - z / 2 + y * z / 3)
    return roundness * ball + (1 - roundness) * p


def integral(values: np.ndarray, step: float) -> np.ndarray:
    """Running integral (..., k) of samples (..., k) that are `step` apart, by trapezoids, from 0 at the first."""
    total = np.cumsum((values[..., 1:] + values[..., :-1]) * (step / 2), axis=-1)
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), total], axis=-1)
