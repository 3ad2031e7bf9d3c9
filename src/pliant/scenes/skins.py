"""A closed skin around flesh: the outer faces of small cubes, moved onto the surface and evened out."""

import itertools

import numpy as np

from pliant.scenes.flesh import Flesh, box_of, depths_below, pull_to_surface

_SWEEPS = 12


def skin_around(flesh: Flesh, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Faces (m, 3) int32, seen counterclockwise from outside, and positions (n, 3): a closed manifold.

    spacing : edge of the cubes, and about that of the triangles
    """
    lower, upper = box_of(flesh)
    lower = np.floor(lower / spacing) * spacing  # planes of symmetry stay such
    shape = np.ceil((upper - lower) / spacing).astype(int) + 4
    grid = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1)
    middles = (grid.reshape(-1, 3) - 1.5) * spacing + lower
    solid = _without_pinches((depths_below(flesh, middles) < 0).reshape(shape))
    quads = _outer_faces(solid)
    used, quads = np.unique(quads, return_inverse=True)
    quads = quads.reshape(-1, 4)
    x = (np.stack(np.unravel_index(used, shape + 1), axis=1) - 2.0) * spacing + lower
    _even_out(flesh, quads, x)
    return _cut_shorter(quads, x).astype(np.int32), x


def _without_pinches(solid: np.ndarray) -> np.ndarray:
    """Cubes (nx, ny, nz), with more of them where the surface would be no manifold.

    It is one at a corner of the lattice if of the 8 cubes there both those inside and those outside hang together by
    faces; all 8 are filled where they do not.
    """
    pinched = np.array([_falls_apart(code) or _falls_apart(255 - code) for code in range(256)])
    windows = [tuple(slice(o, n - 1 + o) for o, n in zip(offset, solid.shape)) for offset in _CORNERS]
    solid = solid.copy()
    while True:
        code = sum(solid[w].astype(int) << i for i, w in enumerate(windows))
        bad = pinched[code]
        if not bad.any():
            return solid
        for w in windows:
            solid[w] |= bad


_CORNERS = list(itertools.product((0, 1), repeat=3))


def _falls_apart(code: int) -> bool:
    """Whether the cubes of a code, bit i for that at `_CORNERS` i, are in several parts."""
    left = {i for i in range(8) if code >> i & 1}
    reached = {min(left)} if left else set()
    for _ in range(8):
        reached |= {i for i in left for bit in (1, 2, 4) if i ^ bit in reached}
    return reached != left


def _outer_faces(solid: np.ndarray) -> np.ndarray:
    """Quadrilaterals (m, 4) between cubes and nothing, outward, by numbers of the corners of the lattice."""
    number = np.arange(np.prod(np.array(solid.shape) + 1)).reshape(np.array(solid.shape) + 1)
    faces, unit = [], np.eye(3, dtype=int)
    for axis in range(3):
        a, b = unit[(axis + 1) % 3], unit[(axis + 2) % 3]
        step = np.diff(solid.astype(np.int8), axis=axis)
        for sign in (1, -1):
            at = np.argwhere(step == sign) + unit[axis]
            ring = [number[tuple((at + o).T)] for o in (0 * a, a, a + b, b)]
            faces.append(np.stack(ring[::-1] if sign > 0 else ring, axis=1))
    return np.concatenate(faces)


def _even_out(flesh: Flesh, quads: np.ndarray, x: np.ndarray) -> None:
    """Move vertices to the middle of their neighbours and onto the surface, in turn, in place."""
    edges = np.concatenate([quads[:, [i, (i + 1) % 4]] for i in range(4)])  # each twice, once in either direction
    valence = np.bincount(edges[:, 0], minlength=len(x))[:, None]
    for _ in range(_SWEEPS):
        total = np.stack([np.bincount(edges[:, 0], x[edges[:, 1], c], len(x)) for c in range(3)], axis=1)
        x[:] = 0.3 * x + 0.7 * total / valence
        pull_to_surface(flesh, x, 1)
    pull_to_surface(flesh, x, 2)


def _cut_shorter(quads: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Triangles: each quadrilateral is cut along its shorter diagonal."""
    a, b, c, d = quads.T
    first = np.linalg.norm(x[a] - x[c], axis=1) <= np.linalg.norm(x[b] - x[d], axis=1)
    one = np.where(first[:, None], np.stack([a, b, c], axis=1), np.stack([a, b, d], axis=1))
    two = np.where(first[:, None], np.stack([a, c, d], axis=1), np.stack([b, c, d], axis=1))
    return np.stack([one, two], axis=1).reshape(-1, 3)
