"""Grids, spheres and smooth random fields: what the scenes are made of."""

import math

import numpy as np


def grid_cells(triangles: int, aspect: float = 1.0) -> tuple[int, int]:
    """Numbers of cells (nu, nv), with nu about `aspect` times nv, so that 2 nu nv is close to `triangles`."""
    nu = max(1, round(math.sqrt(triangles / 2 * aspect)))
    return nu, max(1, round(triangles / 2 / nu))


def grid(nu: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """A flat sheet of nu by nv square cells of edge 1, each cut in two along the same diagonal.

    Returns faces (2 nu nv, 3) int64 and points ((nu + 1)(nv + 1), 2) float64, the integers
    0..nu and 0..nv, row after row of constant first coordinate.
    """
    ids = np.arange((nu + 1) * (nv + 1), dtype=np.int64).reshape(nu + 1, nv + 1)
    a, b, c, d = ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]
    faces, points = np.empty((nu, nv, 6), np.int64), np.empty((nu + 1, nv + 1, 2))  # filled in place: there may be many
    for k, corner in enumerate((a, b, c, a, c, d)):
        faces[:, :, k] = corner
    points[:, :, 0], points[:, :, 1] = np.arange(nu + 1.0)[:, None], np.arange(nv + 1.0)
    return faces.reshape(-1, 3), points.reshape(-1, 2)


def weave(nu: int, nv: int, around: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """An irregular sheet: a grid whose inner points are shifted a little and whose cells are cut along the shorter way.

    Its vertices have four to eight neighbours, as in the meshes that real cloth is simulated with. The boundary stays
    straight. With `around`, the last column is the first, and the sheet is a tube (nu is at least 3).

    Returns faces (2 nu nv, 3) int64 and points (n, 2) float64 from (0, 0) to (nu, nv), column after column;
    n is (nu + 1)(nv + 1), or nu (nv + 1) with `around`. They depend on nothing but the numbers of cells.
    """
    columns = nu if around else nu + 1
    shift = np.random.default_rng(nu * nv).uniform(-0.2, 0.2, (columns, nv + 1, 2))
    shift[:, [0, -1], 1] = 0
    if not around:
        shift[[0, -1], :, 0] = 0
    u, v = np.meshgrid(np.arange(float(columns)), np.arange(nv + 1.0), indexing="ij")
    points = np.stack([u, v], axis=-1) + shift

    ids = np.arange(columns * (nv + 1), dtype=np.int64).reshape(columns, nv + 1)
    if around:
        ids, shift = np.concatenate([ids, ids[:1]]), np.concatenate([shift, shift[:1]])
    a, b, c, d = (q.ravel() for q in (ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]))
    rising = np.linalg.norm(shift[1:, 1:] - shift[:-1, :-1] + (1, 1), axis=2)
    falling = np.linalg.norm(shift[:-1, 1:] - shift[1:, :-1] + (-1, 1), axis=2)
    cut = (rising < falling).ravel()[:, None]
    faces = np.where(cut, np.stack([a, b, c, a, c, d], axis=1), np.stack([b, c, d, b, d, a], axis=1))
    return faces.reshape(-1, 3), points.reshape(-1, 2)


def spindle(nu: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """A closed surface like a globe: rings of nu points, nv cells from pole to pole.

    Returns faces (2 nu (nv - 1), 3) int64 and points (nu (nv - 1) + 2, 2) float64: an angle from 0 to 2 pi, and a
    distance from the first pole from 0 to 1.
    """
    faces, points = weave(nu, nv - 2, around=True)
    ends = np.arange(nu, dtype=np.int64)[:, None] * (nv - 1) + [[0, nv - 2]]
    poles = np.full_like(ends, len(points)) + [[0, 1]]
    caps = np.stack([poles, ends, np.roll(ends, -1, axis=0)], axis=-1)
    points = (points + (0, 1)) * (2 * math.pi / nu, 1 / nv)
    return (
        np.concatenate([faces, caps[:, 0, [0, 2, 1]], caps[:, 1]]),
        np.concatenate([points, np.array([(0.0, 0.0), (0.0, 1.0)])]),
    )


def icosphere(frequency: int) -> tuple[np.ndarray, np.ndarray]:
    """The unit sphere as an icosahedron with every edge cut into `frequency` parts.

    Returns faces (20 f^2, 3) int64, counterclockwise from outside, and points (10 f^2 + 2, 3) float64.
    """
    faces, points, _, _ = cut_facets(*_icosahedron(), frequency)
    return faces, points


def cut_facets(
    corners: np.ndarray, facets: np.ndarray, frequency: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A sphere from a polyhedron: every facet (m, 3) between corners (c, 3) cut into frequency^2 triangles.

    Returns faces (m f^2, 3) int64, points (n, 3) float64 on the unit sphere, and for every point a nearest corner
    (n,) and the number of edges (n,) to it.
    """
    weights, small_faces = _cut_triangle(frequency)
    a, b, c = (corners[facets[:, q], None] * weights[:, q, None] for q in range(3))
    # Copies of a point on a common edge are equal to the last bit: one of the three products is 0, and the sum
    # of the other two does not depend on their order. So exact merging closes the sphere. (einsum and
    # matmul may fuse products into sums, and then it does depend.)
    points, copy, ids = np.unique((a + b + c).reshape(-1, 3), axis=0, return_index=True, return_inverse=True)
    faces = ids.reshape(len(facets), -1)[:, small_faces].reshape(-1, 3).astype(np.int64)
    nearest = np.tile(np.argmax(weights, axis=1), len(facets))[copy]
    facet, place = np.divmod(copy, len(weights))
    steps = frequency - weights.max(axis=1)[place].astype(np.int64)
    return faces, points / np.linalg.norm(points, axis=1, keepdims=True), facets[facet, nearest], steps


def _icosahedron() -> tuple[np.ndarray, np.ndarray]:
    """Points (12, 3) and faces (20, 3) of an icosahedron."""
    g = (1 + math.sqrt(5)) / 2
    points = np.array([
        (-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g),
        (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1),
    ])  # fmt: skip
    faces = np.array([
        (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11),
        (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
        (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9),
        (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1),
    ])  # fmt: skip
    return points, faces


def _cut_triangle(frequency: int) -> tuple[np.ndarray, np.ndarray]:
    """One triangle cut into f^2: integer weights (k, 3) of its corners, and small faces (f^2, 3)."""
    f = frequency
    i, j = np.divmod(np.arange((f + 1) ** 2), f + 1)
    inside = i + j <= f
    ids = np.full((f + 2, f + 2), -1)
    ids[i[inside], j[inside]] = np.arange(inside.sum())
    i, j = i[inside], j[inside]
    up = np.stack([ids[i, j], ids[i + 1, j], ids[i, j + 1]], axis=1)
    down = np.stack([ids[i + 1, j], ids[i + 1, j + 1], ids[i, j + 1]], axis=1)
    faces = np.concatenate([up, down])
    weights = np.stack([f - i - j, i, j], axis=1).astype(float)
    return weights, faces[(faces >= 0).all(axis=1)]


def smooth_noise(rng: np.random.Generator, points: np.ndarray, wavelength: float) -> np.ndarray:
    """A random field of mean square about 1 and at most 4 anywhere, at points (n, 2).

    A sum of eight plane waves in random directions, with lengths from 1 to 2 times `wavelength`. Returns (n,).
    """
    field = np.zeros(len(points))
    for _ in range(8):
        angle, phase = rng.uniform(0, 2 * math.pi, 2)
        k = 2 * math.pi / (wavelength * rng.uniform(1, 2))
        field += np.cos(k * math.cos(angle) * points[:, 0] + k * math.sin(angle) * points[:, 1] + phase)
    return field / 2


def unit(v: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) scaled to length 1; those of length 0 stay."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 0, length, 1)


def smoothstep(x: np.ndarray, start: float, end: float) -> np.ndarray:
    """0 up to `start`, 1 from `end` on, and a cubic with level ends between."""
    t = np.clip((x - start) / (end - start), 0, 1)
    return t * t * (3 - 2 * t)
