"""On which side what belongs: by closed surfaces, by layers; and which vertices are on the wrong one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pliant.elementary.solid_angles import angles_of_faces
from pliant.mesh.triangles import TriMesh
from pliant.mesh.welding import weld
from pliant.queries.enclosures import edge_balance, enclosed
from pliant.runtime.arrays import OpenSurfaceError
from pliant.untangling.given import Given
from pliant.untangling.judging import areas
from pliant.untangling.skins import Skin

_NEARLY = 0.03  # of its area at most is missing in a surface that is nearly closed
_OPEN = 0.75  # of its area, and more, is missing in a surface that encloses nothing; half of it in a hemisphere
_ONE_WAY = 0.3  # of its area, seen from far away: a surface with less of it has no inner side
_FAR = 100.0  # of its diameter
_SAMPLES = 64  # points that decide which way an open layer is turned


class Sides(NamedTuple):
    """What is known about sides, for all vertices and faces.

    objects : (n,) int32, connected component
    layer : (n,) int32, -1 for none
    solid : (m,) int8, 1 where the face's normal points out of its object, -1 where it points into it, 0 where that
        object is open
    outward : (m,) int8, the same for the layers, open ones too; 0 for faces of no layer
    cover : (m,) int8, 1 where the face's object is turned away from what it belongs outside of, -1 where towards it
    """

    objects: np.ndarray
    layer: np.ndarray
    solid: np.ndarray
    outward: np.ndarray
    cover: np.ndarray


class Enclosure(NamedTuple):
    """A told object, closed, and the vertices that have to be outside of it, or inside.

    faces : (m, 3) int32, those that close it last
    outside, inside : (k,) vertices
    own : how many faces are its own
    is_open : its sides are a guess, which is made only where it is nearer than what closes it
    tip : (3,) a point beyond all vertices, which closes it; None where its own vertices do
    """

    faces: np.ndarray
    outside: np.ndarray
    inside: np.ndarray
    own: int
    is_open: bool = False
    tip: np.ndarray | None = None

    def at(self, x: np.ndarray) -> np.ndarray:
        """Positions of all vertices of the faces."""
        return x if self.tip is None else np.concatenate((x, self.tip[None]))


def sides_of(given: Given) -> Sides:
    faces, objects = given.mesh._faces, given.objects
    of_face = objects[faces[:, 0]] if len(faces) else np.empty(0, np.int32)
    turned = np.zeros(int(objects.max(initial=-1)) + 1, np.int8)
    for label in range(len(turned)):
        turned[label] = _turned(faces[of_face == label], given.x)
    outward = turned.copy()
    inner = _inner_points(given, turned)
    for label in np.unique(of_face[given.layer[faces[:, 0]] >= 0]) if len(faces) else ():
        if outward[label] == 0:
            outward[label] = _facing_away(faces[of_face == label], given.x, inner)
    outward[_without_layer(given, len(turned))] = 0
    return Sides(objects, given.layer, turned[of_face], outward[of_face], np.zeros(len(faces), np.int8))


def _without_layer(given: Given, count: int) -> np.ndarray:
    has = np.zeros(count, bool)
    has[given.objects[given.layer >= 0]] = True
    return ~has


def _turned(faces: np.ndarray, x: np.ndarray) -> int:
    """1 where the normals of a nearly closed surface point out of it, -1 where they point into it, 0 where it is open,
    or its faces are not all turned the same way."""
    with_caps = closed(faces, x)
    if areas(with_caps[len(faces) :], x).sum() > _NEARLY * areas(faces, x).sum():
        return 0
    volume = _volume(with_caps, x)
    return 1 if volume > 0.0 else (-1 if volume < 0.0 else 0)


def _inner_points(given: Given, turned: np.ndarray) -> np.ndarray | None:
    """Some vertices of the innermost closed layer; None without one."""
    in_layer = given.layer >= 0
    if len(turned):
        in_layer &= turned[np.maximum(given.objects, 0)] != 0
    if not in_layer.any():
        return None
    lowest = np.flatnonzero(in_layer & (given.layer == given.layer[in_layer].min()))
    return given.x[lowest[:: max(1, len(lowest) // _SAMPLES)]]


def _facing_away(faces: np.ndarray, x: np.ndarray, points: np.ndarray | None) -> int:
    """1 where an open surface is turned away from points, by the solid angle that they see; without points, the
    normals are taken to point outwards."""
    if points is None:
        return 1
    angles = np.zeros(len(points))
    angles_of_faces(x, faces, points, np.arange(len(points)), angles)
    return -1 if angles.sum() < 0.0 else 1


# ---- what is told


def enclosures_of(given: Given, sides: Callable[[], Sides]) -> list[Enclosure]:
    """The objects of outside_of, all together, and each layer; open ones as far as their sides can be told."""
    found, faces = [], given.mesh._faces
    if not len(faces):
        return found
    of_face, used = given.objects[faces[:, 0]], given.objects >= 0
    none = np.empty(0, np.int64)
    if given.outside_of:
        others = np.flatnonzero(used & ~np.isin(given.objects, given.outside_of))
        parts = [_outwards(_enclosing(faces[of_face == label], given.x, label), given.x) for label in given.outside_of]
        found.append(Enclosure(np.concatenate(parts), others, none, sum(len(part) for part in parts)))
    for label in np.unique(of_face[given.layer[faces[:, 0]] >= 0]):
        own, rows = faces[of_face == label], np.flatnonzero(of_face == label)
        layer = int(given.layer[own[0, 0]])
        outside, inside = used & (given.layer > layer), used & (given.layer >= 0) & (given.layer < layer)
        if label in given.outside_of or not (outside.any() or inside.any()):
            continue
        around = np.flatnonzero(outside), np.flatnonzero(inside)
        if sides().solid[rows[0]] != 0:
            found.append(Enclosure(closed(own, given.x), *around, len(own)))
        else:
            found += _guessed(own, given.x, int(sides().outward[rows[0]]), around)
    return found


def _guessed(faces: np.ndarray, x: np.ndarray, outward: int, around: tuple[np.ndarray, np.ndarray]) -> list[Enclosure]:
    """An open layer, closed: by cones over its holes, as a tube, or by one whose tip is far away on its inner side, as
    a sheet; nothing where it has no such side."""
    with_caps = closed(faces, x)
    if areas(with_caps[len(faces) :], x).sum() <= _OPEN * areas(faces, x).sum():
        return [Enclosure(with_caps, *around, len(faces), True)]
    u, v, w = (x[faces[:, k]] for k in range(3))
    normals = np.cross(v - u, w - u)
    out, total = outward * normals.sum(axis=0), float(np.linalg.norm(normals, axis=1).sum())
    length = float(np.linalg.norm(out))
    if not length > _ONE_WAY * total:
        return []
    tip = u.mean(axis=0) - _FAR * float(np.ptp(u, axis=0).max()) / length * out
    return [Enclosure(closed(faces, x, len(x)), *around, len(faces), True, tip)]


def _enclosing(faces: np.ndarray, x: np.ndarray, label: int) -> np.ndarray:
    """Closed; raises OpenSurfaceError where most of what would enclose something is missing, as of a sheet."""
    with_caps = closed(faces, x)
    own, caps = areas(faces, x).sum(), areas(with_caps[len(faces) :], x).sum()
    if caps > _OPEN * own:
        raise OpenSurfaceError(
            f"outside_of names object {label}, which encloses nothing: to close it takes {100.0 * caps / own:.0f} % of "
            "its area. Name closed objects, or say what is outside of what by layers"
        )
    return with_caps


def _outwards(faces: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Closed faces with normals that point outwards: where objects are within each other, windings add up."""
    return faces if _volume(faces, x) >= 0.0 else np.ascontiguousarray(faces[:, ::-1])


def _volume(faces: np.ndarray, x: np.ndarray) -> float:
    """Six times what closed faces enclose."""
    o = x[faces].mean(axis=(0, 1))
    a, b, c = (x[faces[:, k]] - o for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)))


def closed(faces: np.ndarray, x: np.ndarray, tip: int | None = None) -> np.ndarray:
    """Faces (m, 3), and those of cones that close what holes they have: their tips are the vertices of lowest id of the
    loops, or the one that is given."""
    welded = weld(faces, x)
    _, _, keys, net = edge_balance(welded, len(x))
    if not net.any():
        return faces
    odd = np.flatnonzero(net)
    low, high = keys[odd] // len(x), keys[odd] % len(x)
    loop = TriMesh(edges=np.stack((low, high), axis=1)).components
    first = np.full(loop.max() + 1, len(x))
    np.minimum.at(first, loop[low], low)
    tips = first[loop[low]] if tip is None else np.full(len(low), tip)
    caps = []
    for sign in (1, -1):  # along a side that one face more goes up, a cap goes down
        for times in range(1, int(np.abs(net).max()) + 1):
            rows = net[odd] * sign >= times
            ends = (high[rows], low[rows]) if sign > 0 else (low[rows], high[rows])
            caps.append(np.stack((*ends, tips[rows]), axis=1))
    return np.concatenate((welded, *caps)).astype(np.int32)


def wrong_side(enclosures: list[Enclosure], x: np.ndarray, threads: int) -> np.ndarray | None:
    """Vertices that are inside of what they have to be outside of, or the other way round; None: not checked. Of open
    layers only those that are clearly nearer to the layer than to what closes it."""
    if not enclosures:
        return None
    wrong = [np.empty(0, np.int64)]
    for one in enclosures:
        for vertices, belongs_in in ((one.outside, False), (one.inside, True)):
            if len(vertices):
                is_in = np.zeros(len(vertices), bool)
                is_in[enclosed(one.faces, one.at(x), x[vertices], depth=False, threads=threads).vertices] = True
                rows = vertices[is_in != belongs_in]
                if one.is_open and len(rows):
                    rows = rows[np.isfinite(Skin(one, x, threads).heights(x[rows])[0])]
                wrong.append(rows)
    return np.unique(np.concatenate(wrong)).astype(np.int32)


def sides_checked(enclosures: list[Enclosure]) -> str:
    """For ``Untangled.sides``."""
    if not enclosures:
        return "not checked"
    return "checked, of open layers by a guess" if any(one.is_open for one in enclosures) else "checked"
