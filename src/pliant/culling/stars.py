"""Stars of vertices, all faces around each of them, that do not meet themselves during a motion.

Where the faces around a vertex v are projected into a plane such that no two overlap, no two of their features that
have no vertex in common meet. The projection of their wedges at v, from one link vertex p to the next q, is free of
overlap as long as

  - each wedge turns the same way, by less than half a turn: cross(p - v, q - v) > 0 in the plane. It is quadratic in
    time, so that holds during the motion if its three Bernstein coefficients are positive;
  - faces all around v turn once. They turn a whole number of times, always the same number, since no wedge is ever
    empty: as often as a ray from v is passed at the start. As wedges turn the same way, it is passed between two link
    vertices p, q where p is on one side of its line and q on the other;
  - others never pass some ray, so turn less than once. On which side of the line a vertex is, is a linear function of
    time: one that is on the same side at both ends stays there.

This also says that the link is what it has to be. One that passes a vertex twice is made of two or more that are
closed, each of which turns at least once; two of them turn twice, and one that is part of an open link passes the ray.
Any plane will do for the proof: it is spanned by two vectors, as they are rounded, across the sum of the normals.

Error bounds, u = 2^-24, M the largest coordinate of a link vertex as seen from v, at both ends, P what coordinates are
off by: the end of a motion that is cut off, and positions that are rounded once more. |U|, |W| are sums of magnitudes.
  seen from v   p - v in double precision, rounded to single: u M, and 2 P
  coordinates   a = (p - v) U: 3 roundings: (4 u M + 2 P) |U| =: E |U|, and b = (p - v) W likewise
  turns         a b' - b a': E of four factors, 1 rounding of each product, 1 of the difference: 4 M E + 4 u M^2,
                which is 20 u M^2 + 8 M P; the middle one is half of a sum of two, 22 u M^2 + 8 M P, all times |U| |W|
  sides         b r - a s, r and s as they are: E, 1 rounding of each product, 1 of the difference: 6 u M + 2 P,
                times |W| |r| + |U| |s|
Range: coordinates are near 1, and M from 1e-8 to 1e8; the largest coordinate of U is 1 and that of W at least 0.5.
"""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.rounding import LERP, POSITION_ERROR, SINGLE_ROUNDOFF, UNIT_ROUNDOFF
from pliant.arithmetic.vec3 import dot
from pliant.mesh.links import MOST_WEDGES, Links
from pliant.runtime.jit import helper, in_line, kernel
from pliant.runtime.threads import SERIAL, ThreadPool

LANES, AT_ONCE = 64, 8  # stars side by side; loops over a multiple of the second need no code for what is left over
# Of a block: three coordinates of a link vertex at the start, and three at the end.
_ROW, _END = 6 * LANES, 3 * LANES
# What is known of each star: the sum of its normals, then U and W; M; the sum of its link vertices, then which way the
# ray points, and what sides are certain from; what turns are certain from; how often the ray is passed, and how much
# was not certain; the link vertex before, in the plane, at the start and at the end, and on which side of the ray.
_U, _W, _M, _SUM, _TURN, _PASSED, _UNSURE, _BEFORE = (k * LANES for k in (0, 3, 6, 7, 10, 11, 12, 13))
_KNOWN = 19 * LANES

_MARGIN = 1.25
TURN_ERROR = np.float32(_MARGIN * 22 * SINGLE_ROUNDOFF)
SIDE_ERROR = np.float32(_MARGIN * 6 * SINGLE_ROUNDOFF)
OFF = _MARGIN * (LERP * UNIT_ROUNDOFF + POSITION_ERROR)  # P, in units of the largest coordinate of the scene
_TURN_OFF, _SIDE_OFF = np.float32(8.0), np.float32(2.0)
_SMALLEST, _LARGEST = np.float32(1e-8), np.float32(1e8)
# The ray of closed links: no slope that a regular mesh has.
_RAY = np.float32(0.7861514), np.float32(0.6180339)
NONE_FREE = np.empty(0, np.uint8)  # where nobody has looked
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


def free_stars(links: Links, points: np.ndarray, largest: float, pool: ThreadPool = SERIAL) -> np.ndarray:
    """(n,) uint8, not 0 for vertices whose star does not meet itself.

    points : (n, 6) start and end of every vertex; largest : their largest coordinate, near 1
    """
    free, off, count = np.zeros(len(points), np.uint8), np.float32(OFF * largest), len(links.start) - 1
    pool.run_range(lambda begin, end: _mark_free(links, points, off, free, begin, end), count)
    return free


@kernel
def _mark_free(links, points, off, free, begin, end):
    start, vertex = links.start, links.vertex
    block, known = np.empty((MOST_WEDGES + 1) * _ROW, np.float32), np.empty(_KNOWN, np.float32)
    held, wedges, closed = np.empty(LANES, np.int32), np.empty(LANES, np.int32), np.empty(LANES, np.int32)
    v = begin
    while v < end:
        lanes, most = 0, 0
        while v < end and lanes < LANES:
            size = start[v + 1] - start[v]
            if size > 0:
                held[lanes], wedges[lanes], most = v, size - 1, max(most, size - 1)
                closed[lanes] = vertex[start[v]] == vertex[start[v + 1] - 1]
                lanes += 1
            v += 1
        for lane in range(lanes):
            _load(start, vertex, points, held[lane], most, block, lane)
        count = AT_ONCE * ((lanes + AT_ONCE - 1) // AT_ONCE)
        _sum_up(block, known, wedges, most, count)
        _span(known, closed, off, count)
        _turn(block, known, wedges, closed, most, count)
        for lane in range(lanes):
            passed, unsure = known[_PASSED + lane], known[_UNSURE + lane]
            free[held[lane]] = passed == (_ONE if closed[lane] else _ZERO) and unsure == _ZERO


@helper
def _load(start, vertex, points, v, most, block, lane):
    """The link of v as seen from it; its last vertex again where another link of the block has more of them."""
    x0, y0, z0, x1, y1, z1 = points[v, 0], points[v, 1], points[v, 2], points[v, 3], points[v, 4], points[v, 5]
    first, last = start[v], start[v + 1] - 1
    for k in range(most + 1):
        p, at = np.uint32(vertex[min(first + k, last)]), k * _ROW + lane  # unsigned: without a look at the sign
        block[at], block[at + _END] = np.float32(points[p, 0] - x0), np.float32(points[p, 3] - x1)
        block[at + LANES], block[at + _END + LANES] = np.float32(points[p, 1] - y0), np.float32(points[p, 4] - y1)
        block[at + 2 * LANES], block[at + _END + 2 * LANES] = (
            np.float32(points[p, 2] - z0), np.float32(points[p, 5] - z1)
        )  # fmt: skip


@helper
def _sum_up(block, known, wedges, most, count):
    """The sum of the normals of each star, halfway, in place of U; M; and the sum of the link vertices."""
    for i in range(_U, _SUM + 3 * LANES):
        known[i] = _ZERO
    for k in range(most + 1):
        at, to = k * _ROW, min(k + 1, most) * _ROW
        for i in range(count):
            x, y, z = _halfway(block, at + i)
            p, q, r = _halfway(block, to + i)
            known[_U + i] += y * r - z * q
            known[_U + LANES + i] += z * p - x * r
            known[_U + 2 * LANES + i] += x * q - y * p
            counts = _ONE if k <= wedges[i] else _ZERO
            known[_SUM + i] += counts * x
            known[_SUM + LANES + i] += counts * y
            known[_SUM + 2 * LANES + i] += counts * z
            a, b = _size(block, at + i), _size(block, at + _END + i)
            c = a if a > b else b
            known[_M + i] = c if c > known[_M + i] else known[_M + i]


@helper
def _halfway(block, i):
    in_line()
    return (
        block[i] + block[_END + i],
        block[LANES + i] + block[_END + LANES + i],
        block[2 * LANES + i] + block[_END + 2 * LANES + i],
    )


@helper
def _size(block, i):
    in_line()
    x, y, z = abs(block[i]), abs(block[LANES + i]), abs(block[2 * LANES + i])
    x = x if x > y else y
    return x if x > z else z


@helper
def _span(known, closed, off, count):
    """U and W across the normals, the ray, and what is certain in their plane."""
    for i in range(count):
        x, y, z = known[_U + i], known[_U + LANES + i], known[_U + 2 * LANES + i]
        a, b, c = abs(x), abs(y), abs(z)
        largest = a if a > b else b
        largest = largest if largest > c else c
        x, y, z = x / largest, y / largest, z / largest  # not finite without a normal: nothing is certain then
        is_x, is_y = (a <= b) & (a <= c), b <= c  # the smallest
        p = _ZERO if is_x else -z if is_y else y
        q = z if is_x else _ZERO if is_y else -x
        r = -y if is_x else x if is_y else _ZERO
        u, v, w = y * r - z * q, z * p - x * r, x * q - y * p
        known[_U + i], known[_U + LANES + i], known[_U + 2 * LANES + i] = p, q, r
        known[_W + i], known[_W + LANES + i], known[_W + 2 * LANES + i] = u, v, w
        s, t, m = known[_SUM + i], known[_SUM + LANES + i], known[_SUM + 2 * LANES + i]
        is_closed = closed[i] != 0
        along = _RAY[0] if is_closed else -(s * p + t * q + m * r)
        across = _RAY[1] if is_closed else -(s * u + t * v + m * w)
        size, of_u, of_w = known[_M + i], (abs(p) + abs(q)) + abs(r), (abs(u) + abs(v)) + abs(w)
        in_range = (size > _SMALLEST) & (size < _LARGEST)
        known[_SUM + i], known[_SUM + LANES + i] = along, across
        known[_SUM + 2 * LANES + i] = (SIDE_ERROR * size + _SIDE_OFF * off) * (of_w * abs(along) + of_u * abs(across))
        turn = (TURN_ERROR * size + _TURN_OFF * off) * size * (of_u * of_w)
        known[_TURN + i] = turn if in_range else np.float32(np.inf)


@helper
def _turn(block, known, wedges, closed, most, count):
    """How often the wedges of each star pass its ray, and how many do not certainly turn the same way."""
    for i in range(_PASSED, _KNOWN):
        known[i] = _ZERO
    for k in range(most + 1):
        for i in range(count):
            a0, b0, a1, b1, side0, side1 = _placed(block, known, k * _ROW + i, i)
            p0, q0, p1, q1, from0, from1 = _before(known, i)
            now, later, both = p0 * b0 - q0 * a0, p1 * b1 - q1 * a1, (p0 * b1 - q0 * a1) + (p1 * b0 - q1 * a0)
            turns, sure = known[_TURN + i], known[_SUM + 2 * LANES + i]
            turning = (now > turns) & (later > turns) & (_HALF * both > turns)
            around = (from0 < -sure) & (side0 > sure)
            beside = ((from0 > sure) & (from1 > sure)) | ((side0 < -sure) & (side1 < -sure))
            counts, is_closed = (k > 0) & (k <= wedges[i]), closed[i] != 0
            passed = (is_closed & around) | (not (is_closed | beside))
            unsure = not (turning & ((not is_closed) | (abs(side0) > sure)))
            known[_PASSED + i] += _ONE if counts & passed else _ZERO
            known[_UNSURE + i] += _ONE if counts & unsure else _ZERO
            _keep(known, i, (a0, b0, a1, b1, side0, side1))


@helper
def _placed(block, known, at, i):
    """A link vertex in the plane, at the start and at the end, and on which side of the ray it is then."""
    in_line()
    u, w = (known[_U + i], known[_U + LANES + i], known[_U + 2 * LANES + i]), (
        known[_W + i], known[_W + LANES + i], known[_W + 2 * LANES + i]
    )  # fmt: skip
    now = block[at], block[LANES + at], block[2 * LANES + at]
    later = block[_END + at], block[_END + LANES + at], block[_END + 2 * LANES + at]
    a0, b0, a1, b1 = dot(now, u), dot(now, w), dot(later, u), dot(later, w)
    along, across = known[_SUM + i], known[_SUM + LANES + i]
    return a0, b0, a1, b1, along * b0 - across * a0, along * b1 - across * a1


@helper
def _keep(known, i, placed):
    in_line()
    known[_BEFORE + i], known[_BEFORE + LANES + i], known[_BEFORE + 2 * LANES + i] = placed[0], placed[1], placed[2]
    known[_BEFORE + 3 * LANES + i], known[_BEFORE + 4 * LANES + i] = placed[3], placed[4]
    known[_BEFORE + 5 * LANES + i] = placed[5]


@helper
def _before(known, i):
    in_line()
    return (
        known[_BEFORE + i], known[_BEFORE + LANES + i], known[_BEFORE + 2 * LANES + i],
        known[_BEFORE + 3 * LANES + i], known[_BEFORE + 4 * LANES + i], known[_BEFORE + 5 * LANES + i],
    )  # fmt: skip
