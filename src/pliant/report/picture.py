"""Pictures of meshes without a display: a small rasteriser with a depth buffer, and PNG files."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import helper, kernel

SKIN = (0.80, 0.77, 0.72)
OBSTACLE = (0.45, 0.58, 0.75)
RED = (0.86, 0.07, 0.05)
PAPER = (1.0, 1.0, 1.0)
_FINE = 3  # samples of a pixel along either side
_LIGHT = np.array([0.35, 0.55, 0.76])  # from the viewer's side: right, up, towards the eye
_SHADE = 0.32  # of what faces away from it
_THROUGH = 0.62  # opacity of what is marked and hidden by the rest


class Shape(NamedTuple):
    """What is drawn."""

    x: np.ndarray  # (n, 3)
    faces: np.ndarray  # (m, 3)
    colour: tuple[float, float, float] | np.ndarray = SKIN  # or (n, 3), of each vertex
    marked: np.ndarray | None = None  # (n,) bool, in red, and seen through what is in front of it
    marked_faces: np.ndarray | None = None  # (m,) bool, the same for whole faces


class View(NamedTuple):
    """Where the eye is, and what is in its frame; parallel rays."""

    turn: float = 0.0  # radians about y: 0 looks along -z, from the front of what faces +z
    tilt: float = 0.0  # radians upwards
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    span: tuple[float, float] = (1.0, 1.0)  # what is visible, at least: to the sides, and up and down

    @property
    def axes(self) -> np.ndarray:
        """(3, 3): rows are right, up, and towards the eye."""
        s, c, u, v = np.sin(self.turn), np.cos(self.turn), np.sin(self.tilt), np.cos(self.tilt)
        return np.array([[c, 0.0, -s], [-s * u, v, -c * u], [s * v, u, c * v]])

    def around(self, *positions: np.ndarray, margin: float = 1.06) -> View:
        """That all positions are in."""
        seen = np.concatenate([x.reshape(-1, 3) for x in positions]) @ self.axes.T
        lower, upper = seen.min(axis=0), seen.max(axis=0)
        centre = self.axes.T @ (0.5 * (lower + upper))
        width, height = (margin * (upper - lower)[:2]).tolist()
        # A single point is seen too.
        return self._replace(centre=tuple(centre.tolist()), span=(width or height or 1.0, height or width or 1.0))


def draw(shapes: list[Shape], view: View, size: tuple[int, int]) -> np.ndarray:
    """(h, w, 3) uint8: shapes as seen, in a picture of w by h pixels."""
    width, height = size
    grid = height * _FINE, width * _FINE
    image, depth = np.empty((*grid, 3)), np.full(grid, -np.inf)
    image[:] = PAPER
    inner, inner_depth = np.zeros((*grid, 3)), np.full(grid, -np.inf)
    for shape in shapes:
        seen, normals = _seen(shape, view, grid)
        shade = _brightness(normals)
        faces = np.array(shape.faces, np.int32, order="C")  # of a mesh they are read-only: another kernel to numba
        colours = np.broadcast_to(np.array(shape.colour), seen.shape).copy()
        if shape.marked is not None:
            colours[shape.marked] = RED
            rasterise(seen, faces[shape.marked[faces].sum(axis=1) >= 2], colours * shade, inner_depth, inner)
        if shape.marked_faces is not None:
            # Of what is seen through the rest, either side can be the one that is seen.
            red = np.array(RED) * _brightness(np.where(normals[:, 2:] < 0.0, -normals, normals))
            rasterise(seen, faces[shape.marked_faces], red, inner_depth, inner)
            rasterise(seen, faces[shape.marked_faces], red, depth, image)
            faces = faces[~shape.marked_faces]
        rasterise(seen, faces, colours * shade, depth, image)
    # Their depths are equal where what is marked is what is seen.
    hidden = (inner_depth > -np.inf) & (inner_depth < depth)
    image[hidden] = _THROUGH * inner[hidden] + (1.0 - _THROUGH) * image[hidden]
    image = image.reshape(height, _FINE, width, _FINE, 3).mean(axis=(1, 3))
    return np.clip(np.rint(255.0 * image), 0, 255).astype(np.uint8)


def _seen(shape: Shape, view: View, grid: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) rows and columns of the grid and depth, towards the eye; (n, 3) smooth unit normals."""
    x = (shape.x - view.centre) @ view.axes.T
    scale = min(grid[1] / view.span[0], grid[0] / view.span[1])
    normals = np.zeros_like(x)
    a, b, c = (x[shape.faces[:, i]] for i in range(3))
    for i in range(3):
        np.add.at(normals, shape.faces[:, i], np.cross(b - a, c - a))
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    seen = np.stack((0.5 * grid[0] - scale * x[:, 1], 0.5 * grid[1] + scale * x[:, 0], scale * x[:, 2]), axis=1)
    return seen, normals / np.maximum(length, 1e-300)


def _brightness(normals: np.ndarray) -> np.ndarray:
    """(n, 1)"""
    towards = normals @ (_LIGHT / np.linalg.norm(_LIGHT))
    return (_SHADE + (1.0 - _SHADE) * np.clip(0.5 + 0.5 * towards, 0.0, 1.0) ** 1.2)[:, None]


@kernel
def rasterise(seen, faces, colours, depth, image):
    """Triangles into an image (h, w, 3), where they are in front of what is in the depth buffer (h, w).

    seen : (n, 3) row, column and depth of vertices; colours : (n, 3)
    """
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        area = _twice_area(seen, i, j, seen[k, 0], seen[k, 1])
        if area == 0.0:
            continue
        first, last = _range(seen[i, 0], seen[j, 0], seen[k, 0], depth.shape[0])
        left, right = _range(seen[i, 1], seen[j, 1], seen[k, 1], depth.shape[1])
        for r in range(first, last):
            for c in range(left, right):
                u = _twice_area(seen, j, k, r + 0.5, c + 0.5) / area
                v = _twice_area(seen, k, i, r + 0.5, c + 0.5) / area
                w = 1.0 - u - v
                if u < 0.0 or v < 0.0 or w < 0.0:
                    continue
                z = u * seen[i, 2] + v * seen[j, 2] + w * seen[k, 2]
                if z > depth[r, c]:
                    depth[r, c] = z
                    for m in range(3):
                        image[r, c, m] = u * colours[i, m] + v * colours[j, m] + w * colours[k, m]


@helper
def _twice_area(seen, i, j, r, c):
    return (seen[j, 0] - seen[i, 0]) * (c - seen[i, 1]) - (seen[j, 1] - seen[i, 1]) * (r - seen[i, 0])


@helper
def _range(a, b, c, limit):
    """Pixels whose middle can be between the least and the greatest of three."""
    lower, upper = min(a, b, c), max(a, b, c)
    return int(min(max(lower - 0.5, 0.0), limit)), int(min(max(upper + 1.5, 0.0), limit))


def png(image: np.ndarray) -> bytes:
    """A picture (h, w, 3) uint8 as a PNG file."""
    height, width, _ = image.shape
    padded = np.zeros((height + 1, width + 1, 3), np.int16)
    padded[1:, 1:] = image
    left, up, corner = padded[1:, :-1], padded[:-1, 1:], padded[:-1, :-1]
    guess = left + up - corner
    near = [np.abs(guess - other) for other in (left, up, corner)]
    paeth = np.where((near[0] <= near[1]) & (near[0] <= near[2]), left, np.where(near[1] <= near[2], up, corner))
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[:, 0] = 4  # the filter of Paeth, in every row
    rows[:, 1:] = ((image - paeth) & 255).astype(np.uint8).reshape(height, -1)
    head = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
