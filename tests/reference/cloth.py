"""Energies of cloth, triangle by triangle and side by side, from the formulas alone."""

from __future__ import annotations

import numpy as np


def frame(corners: np.ndarray) -> np.ndarray:
    """(2, 3) unit vectors along warp and weft of a triangle at rest, (3, 3): warp is the first axis laid into it."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal /= np.linalg.norm(normal)
    axis = np.array((1.0, 0, 0)) if abs(normal[0]) < 0.9 else np.array((0, 1.0, 0))
    warp = axis - (axis @ normal) * normal
    warp /= np.linalg.norm(warp)
    return np.array((warp, np.cross(normal, warp)))


def membrane_energy(faces, rest, x, material) -> float:
    """Of St. Venant and Kirchhoff: half of strain . stiffness . strain, times the area at rest."""
    plane = 1 - material.poisson**2
    warp, weft = material.stretch_warp / plane, material.stretch_weft / plane
    total = 0.0
    for face in faces:
        flat = (rest[face] - rest[face[0]]) @ frame(rest[face]).T
        before = np.column_stack((flat[1] - flat[0], flat[2] - flat[0]))
        now = np.column_stack((x[face[1]] - x[face[0]], x[face[2]] - x[face[0]]))
        gradient = now @ np.linalg.inv(before)
        strain = (gradient.T @ gradient - np.eye(2)) / 2
        density = warp * strain[0, 0] ** 2 + weft * strain[1, 1] ** 2
        density += 2 * material.poisson * np.sqrt(warp * weft) * strain[0, 0] * strain[1, 1]
        density += material.shear * (2 * strain[0, 1]) ** 2
        total += abs(np.linalg.det(before)) / 2 * density / 2
    return total


def bending_energy(faces, rest, x, material) -> float:
    """Half of curvature . rigidity . curvature, times the area at rest, with what is bent at rest taken away."""
    sides = {}
    for f, face in enumerate(faces):
        for i in range(3):
            sides.setdefault(frozenset((face[i], face[(i + 1) % 3])), []).append((f, i))
    r = {key: _turn(faces, two, rest, x) for key, two in sides.items() if len(two) == 2}
    total = 0.0
    for face in faces:
        flat = (rest[face] - rest[face[0]]) @ frame(rest[face]).T
        one, two = flat[1] - flat[0], flat[2] - flat[0]
        area = abs(one[0] * two[1] - one[1] * two[0]) / 2
        keys = [frozenset((face[i], face[(i + 1) % 3])) for i in range(3)]
        of_sides = _curvature_of_sides(faces, face, flat, [sides[key] for key in keys], rest)
        curvature = sum(np.multiply.outer(one, r[key]) for one, key in zip(of_sides, keys) if key in r)
        density = material.bend_warp * curvature[0] @ curvature[0]
        density += material.bend_weft * curvature[1] @ curvature[1]
        density += 2 * np.sqrt(material.bend_warp * material.bend_weft) * curvature[2] @ curvature[2]
        total += area * density / 2
    return total


def _curvature_of_sides(faces, face, flat, sides, rest) -> list[np.ndarray]:
    """What each side of a triangle says about its curvature (warp, weft, both): the three together are right for every
    surface of second degree; where a neighbour is missing, as in a regular mesh."""
    if all(len(two) == 2 for two in sides):
        responses = np.array([_response(faces, face, flat, i, two, rest) for i, two in enumerate(sides)])
        return list(np.linalg.inv(responses).T)
    one, two = flat[1] - flat[0], flat[2] - flat[0]
    twice, found = abs(one[0] * two[1] - one[1] * two[0]), []
    for i in range(3):
        side = flat[(i + 1) % 3] - flat[i]
        u, v = np.array((side[1], -side[0])) / np.linalg.norm(side)
        found.append(np.array((u * u, v * v, u * v)) / twice)
    return found


def _response(faces, face, flat, i, two, rest) -> np.ndarray:
    """Length times angle at a side, of three surfaces of second degree over the triangle and its unfolded neighbour."""
    a, b, c = flat[i], flat[(i + 1) % 3], flat[(i + 2) % 3]
    f, j = next((f, j) for f, j in two if set(faces[f]) != set(face))
    d = rest[faces[f][(j + 2) % 3]]
    start, end = rest[face[i]], rest[face[(i + 1) % 3]]
    share = (d - start) @ (end - start) / ((end - start) @ (end - start))
    height = np.linalg.norm(d - start - share * (end - start))
    side = (b - a) / np.linalg.norm(b - a)
    outwards = np.array((side[1], -side[0]))
    outwards *= -np.sign(outwards @ (c - a))
    d = a + share * (b - a) + height * outwards
    points = np.array((a, b, c, d))
    values = np.column_stack((points[:, 0] ** 2 / 2, points[:, 1] ** 2 / 2, points[:, 0] * points[:, 1]))
    total = np.zeros(3)
    for apex in (2, 3):
        along = (points[apex] - a) @ side / np.linalg.norm(b - a)
        away = abs((points[apex] - a) @ np.array((side[1], -side[0])))
        total += ((1 - along) * values[0] + along * values[1] - values[apex]) / away * np.linalg.norm(b - a)
    return total


def _turn(faces, two, rest, x) -> np.ndarray:
    """Length times angle at a side, as a vector along its normal: the sum of both pulls, less that at rest."""
    length = _pulls(faces, two, rest, rest) @ _normal(faces, two, rest)
    return _pulls(faces, two, rest, x) - length * _normal(faces, two, x)


def _pulls(faces, two, rest, x) -> np.ndarray:
    """Sum over both faces of a vector that is perpendicular to the side in the face, outwards, as long as the side,
    as far as the face is as at rest: a combination of its corners that does not depend on x."""
    total = np.zeros(3)
    for f, i in two:
        a, b, c = (faces[f][(i + k) % 3] for k in range(3))
        side = rest[b] - rest[a]
        share = (rest[c] - rest[a]) @ side / (side @ side)
        height = np.linalg.norm(rest[c] - rest[a] - share * side)
        total += ((1 - share) * x[a] + share * x[b] - x[c]) / height * np.linalg.norm(side)
    return total


def _normal(faces, two, x) -> np.ndarray:
    """At a side: halfway between those of its faces, the second one read against the side."""
    (f, i), (g, j) = two
    a, b, c = (faces[f][(i + k) % 3] for k in range(3))
    d = faces[g][(j + 2) % 3]
    one, other = np.cross(x[b] - x[a], x[c] - x[a]), np.cross(x[d] - x[a], x[b] - x[a])
    total = one / np.linalg.norm(one) + other / np.linalg.norm(other)
    return total / np.linalg.norm(total)
