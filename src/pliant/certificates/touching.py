"""When two moving features touch: a vertex and a triangle, or two edges."""

from __future__ import annotations

from pliant.certificates.times import START, Polynomial, Sturm, Time, minus, product, roots, total

Point = list[Polynomial]  # three coordinates


def between(p: Point, q: Point) -> Point:
    return [minus(b, a) for a, b in zip(p, q, strict=True)]


def cross(u: Point, v: Point) -> Point:
    return [minus(product(u[i - 2], v[i - 1]), product(u[i - 1], v[i - 2])) for i in range(3)]


def dot(u: Point, v: Point) -> Polynomial:
    return total(*(product(a, b) for a, b in zip(u, v, strict=True)))


# Which point may be on which segment.
SEGMENTS = (((0, 1, 2), (0, 2, 3), (0, 3, 1)), ((0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1)))


def on_segment(time: Time, p: Point, a: Point, b: Point) -> bool:
    """In line, and not beyond an end: p - a and b - p do not point away from each other."""
    to, onward = between(a, p), between(p, b)
    return not any(time.sign(c) for c in cross(to, onward)) and time.sign(dot(to, onward)) >= 0


def touching(kind: int, points: list[Point], time: Time) -> bool:
    """Whether the features share a point at a time at which their four points are in one plane."""
    p, q, r, s = points
    normal = cross(between(q, r), between(q, s)) if kind == 0 else cross(between(p, q), between(r, s))
    i = next((i for i in range(3) if time.sign(normal[i])), None)  # the plane is seen without coordinate i
    if i is None:  # no area, or edges in parallel: all that is left is a point on a segment
        return any(on_segment(time, *(points[j] for j in segment)) for segment in SEGMENTS[kind])

    def side(point: Point, a: Point, b: Point) -> int:
        return time.sign(cross(between(a, b), between(a, point))[i])

    if kind == 0:
        return not {-1, 1} <= {side(p, q, r), side(p, r, s), side(p, s, q)}
    return side(p, r, s) * side(q, r, s) <= 0 and side(r, p, q) * side(s, p, q) <= 0


def meetings(kind: int, points: list[Point]) -> list[Time]:
    """Times of contact, among them the first one; none where the features never touch."""
    p, q, r, s = points
    volume = dot(between(p, q), cross(between(p, r), between(p, s)))
    if volume:
        return [time for time in roots(volume) if touching(kind, points, time)]
    # In one plane all the time. Just before a first contact at t > 0 there is none. Inside of a triangle that has an
    # area, or where two edges cross between their ends, a small motion in the plane does not undo contact: so at a
    # first contact a point gets onto a segment: into line with it, or, always in line, onto one of its ends.
    found = [Time([0, 1], Sturm([0, 1]), START, START)]
    for point, a, b in (tuple(points[j] for j in segment) for segment in SEGMENTS[kind]):
        for component in cross(between(a, b), between(a, point)) + between(a, point) + between(b, point):
            if component:
                found += roots(component)
    return [time for time in found if touching(kind, points, time)]
