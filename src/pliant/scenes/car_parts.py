"""The parts of a car at rest: sheets, closed box beams, rigid blocks and wheels, and the wall.

In metres; x forwards, y to the left, z up.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pliant.scenes.lattices import box_shell, cut_quads, quad_grid, rounded
from pliant.scenes.volume_scene import Cells

REAR, FRONT = -2.4, 2.3
Point = tuple[float, float, float]


class Shape(NamedTuple):
    """cells, points (n, 3), the direction (n, 3) in which each point goes when its sheet folds, and which kind it is:
    "sheet", "beam", "rigid" or "wall"."""

    cells: Cells
    points: np.ndarray
    aside: np.ndarray
    kind: str


class _Sheet(NamedTuple):
    """A sheet between four corners: from a to b along the car, from a to c across; the fourth is b + c - a.

    bulge : how far its middle is above that plane, along `normal`
    inner : a second sheet, that far behind the first, if not 0
    both : there is one on each side of the car
    """

    a: Point
    b: Point
    c: Point
    normal: Point
    bulge: float = 0.0
    inner: float = 0.0
    both: bool = False
    triangles: bool = False


class _Box(NamedTuple):
    """A closed box from lowest to highest corner."""

    lower: Point
    upper: Point
    both: bool = False
    rigid: bool = False


_SHEETS = (
    _Sheet((0.9, -0.75, 0.95), (2.25, -0.7, 0.78), (0.9, 0.75, 0.95), (0, 0, 1), 0.06, 0.035),  # hood
    _Sheet((-1.3, -0.6, 1.42), (0.1, -0.6, 1.42), (-1.3, 0.6, 1.42), (0, 0, 1), 0.06, 0.03),  # roof
    _Sheet((0.1, -0.6, 1.42), (0.88, -0.7, 0.97), (0.1, 0.6, 1.42), (0, 0, 1), 0.05, triangles=True),  # windscreen
    _Sheet((-1.9, -0.65, 1.0), (-1.32, -0.6, 1.42), (-1.9, 0.65, 1.0), (0, 0, 1), 0.04, triangles=True),  # rear window
    _Sheet((-2.35, -0.7, 0.95), (-1.92, -0.68, 1.0), (-2.35, 0.7, 0.95), (0, 0, 1), 0.03, 0.03),  # boot lid
    _Sheet((-2.2, -0.7, 0.25), (0.9, -0.7, 0.25), (-2.2, 0.7, 0.25), (0, 0, 1), 0.02),  # floor
    _Sheet((0.9, -0.7, 0.25), (0.9, -0.7, 0.93), (0.9, 0.7, 0.25), (1, 0, 0), 0.05),  # firewall
    _Sheet((2.0, -0.5, 0.35), (2.0, -0.5, 0.75), (2.0, 0.5, 0.35), (1, 0, 0), 0.02, 0.05),  # radiator
    _Sheet((-2.36, -0.75, 0.3), (-2.36, -0.7, 0.93), (-2.36, 0.75, 0.3), (-1, 0, 0), 0.04),  # tail
    _Sheet((0.92, 0.8, 0.55), (2.28, 0.74, 0.5), (0.92, 0.78, 0.93), (0, 1, 0), 0.05, 0.07, True, True),  # wing
    _Sheet((-0.2, 0.85, 0.3), (0.88, 0.84, 0.3), (-0.2, 0.8, 0.95), (0, 1, 0), 0.05, 0.06, True),  # front door
    _Sheet((-1.2, 0.85, 0.3), (-0.22, 0.85, 0.3), (-1.2, 0.8, 0.95), (0, 1, 0), 0.05, 0.06, True),  # rear door
    _Sheet((-2.34, 0.78, 0.5), (-1.22, 0.84, 0.5), (-2.34, 0.74, 0.97), (0, 1, 0), 0.04, 0.07, True),  # quarter
    _Sheet((-1.25, 0.78, 0.97), (0.15, 0.77, 0.97), (-1.25, 0.62, 1.4), (0, 1, 0), 0.02, 0, True, True),  # side window
)
_BOXES = (
    _Box((-0.5, 0.38, 0.34), (2.26, 0.5, 0.5), both=True),  # rail
    _Box((0.9, 0.6, 0.76), (2.2, 0.68, 0.84), both=True),  # upper rail
    _Box((-1.3, 0.72, 0.14), (0.88, 0.84, 0.28), both=True),  # sill
    _Box((2.2, -0.75, 0.42), (2.29, 0.75, 0.58)),  # bumper
    _Box((0.6, -0.38, 0.26), (0.72, 0.38, 0.34)),  # cross member
    _Box((-1.9, -0.5, 0.28), (-1.75, 0.5, 0.4)),  # rear cross member
    _Box((0.72, -0.7, 0.8), (0.84, 0.7, 0.9)),  # dashboard
    _Box((1.15, -0.3, 0.35), (1.75, 0.3, 0.78), rigid=True),  # engine
    _Box((0.75, -0.15, 0.3), (1.14, 0.15, 0.55), rigid=True),  # gearbox
    _Box((1.6, -0.55, 0.55), (1.85, -0.36, 0.78), rigid=True),  # battery
    _Box((-0.5, 0.12, 0.3), (0.0, 0.6, 0.5), both=True),  # seat
    _Box((-0.62, 0.12, 0.5), (-0.5, 0.6, 1.1), both=True),  # its back
)
_WHEELS = ((1.5, 0.62), (-1.55, 0.62))  # x and y of the inner sides; radius 0.3, 0.2 wide


def parts_of(edge: float) -> Iterator[Shape]:
    """All parts, of cells about as large as `edge`."""
    for sheet in _SHEETS:
        for y in (1, -1) if sheet.both else (1,):
            yield _sheet(sheet, edge, y, 0.0)
            if sheet.inner:
                yield _sheet(sheet, edge, y, -sheet.inner)
    for box in _BOXES:
        for y in (1, -1) if box.both else (1,):
            yield _box(box, edge, y)
    for x, y in _WHEELS:
        for side in (1, -1):
            yield _wheel(x, y, edge, side)
    quads, at = quad_grid(*(_count(length, 2 * edge) for length in (2.6, 1.8)))
    points = np.column_stack([np.full(len(at), FRONT + 0.01), at[:, 0] * 2 * edge - 1.3, at[:, 1] * 2 * edge])
    yield Shape({"quad": quads}, points, np.zeros_like(points), "wall")


def size_for(cells: int) -> float:
    """The size of cells with which the car has about as many of them."""
    low, high = 0.001, 0.5
    for _ in range(40):
        edge = math.sqrt(low * high)
        low, high = (edge, high) if _cell_count(edge) > cells else (low, edge)
    return high


def _cell_count(edge: float) -> int:
    count = 0
    for sheet in _SHEETS:
        nu, nv = _sheet_cells(sheet, edge)
        count += nu * nv * (1 + sheet.triangles) * (1 + (sheet.inner != 0)) * (1 + sheet.both)
    sizes = [(box.lower, box.upper, 1 + box.both) for box in _BOXES] + [((0, 0, 0), _WHEEL_SIZE, 4)]
    for lower, upper, copies in sizes:
        nx, ny, nz = _box_cells(lower, upper, edge)
        count += copies * 2 * (nx * ny + ny * nz + nz * nx)
    return count + _count(2.6, 2 * edge) * _count(1.8, 2 * edge)


_WHEEL_SIZE = (0.5, 0.2, 0.5)


def _count(length: float, edge: float) -> int:
    return max(1, round(length / edge))


def _sheet_cells(sheet: _Sheet, edge: float) -> tuple[int, int]:
    # Two triangles of a cell are as large as one quad each.
    size = edge * (math.sqrt(2) if sheet.triangles else 1)
    return _count(math.dist(sheet.a, sheet.b), size), _count(math.dist(sheet.a, sheet.c), size)


def _box_cells(lower: Point, upper: Point, edge: float) -> tuple[int, int, int]:
    nx, ny, nz = (_count(b - a, edge) for a, b in zip(lower, upper))
    return nx, ny, nz


def _sheet(sheet: _Sheet, edge: float, side: int, behind: float) -> Shape:
    nu, nv = _sheet_cells(sheet, edge)
    quads, at = quad_grid(nu, nv)
    u, v = at[:, :1] / nu, at[:, 1:] / nv
    a, b, c, normal = (np.array(p, float) for p in (sheet.a, sheet.b, sheet.c, sheet.normal))
    bulge = 16 * u * (1 - u) * v * (1 - v) * sheet.bulge
    points = a + u * (b - a) + v * (c - a) + (bulge + behind) * normal
    # A sheet across the car is pushed along with it, and does not fold.
    across = abs(normal[0]) == 1
    aside = np.zeros_like(points) if across else normal * (0.85 + 0.15 * np.sin(9 * v + 3 * behind))
    flip = np.array([1, side, 1])
    kinds: Cells = {"triangle": cut_quads(quads)} if sheet.triangles else {"quad": quads}
    return Shape(kinds, points * flip, aside * flip, "sheet")


def _box(box: _Box, edge: float, side: int) -> Shape:
    counts = _box_cells(box.lower, box.upper, edge)
    quads, at = box_shell(*counts)
    lower, upper = np.array(box.lower), np.array(box.upper)
    points = lower + at / counts * (upper - lower)
    # Walls of a beam go out and in by turns; its corners stay.
    q = 2 * at / counts - 1
    aside = np.zeros_like(points)
    aside[:, 1] = q[:, 1] * (1 - q[:, 2] ** 2)
    aside[:, 2] = -q[:, 2] * (1 - q[:, 1] ** 2)
    flip = np.array([1, side, 1])
    return Shape({"quad": quads}, points * flip, aside * flip, "rigid" if box.rigid else "beam")


def _wheel(x: float, y: float, edge: float, side: int) -> Shape:
    nx, ny, nz = _box_cells((0, 0, 0), _WHEEL_SIZE, edge)
    quads, at = box_shell(nx, ny, nz)
    disc = 0.3 * rounded(np.column_stack([2 * at[:, 0] / nx - 1, 2 * at[:, 2] / nz - 1]), 1.0)
    points = np.column_stack([x + disc[:, 0], side * (y + 0.2 * at[:, 1] / ny), 0.3 + disc[:, 1]])
    return Shape({"quad": quads}, points, np.zeros_like(points), "rigid")
