"""What the response knows of a body as bound: which face of the skin is over a place in a cell."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import add, cross, dot, row, scale, sub
from pliant.characters.solver.constraints import six_volumes
from pliant.characters.solver.skin_tree import SkinTree, closest_face, skin_tree
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel

# Past the middle of a limb the closest face is on the far side, and looks the same way as the skin that has come in. So
# faces that are opposed count more, unless they are much further away: the normal of a single spike says little.
_OPPOSED = 0.3  # cosine between the normals of a vertex and of a face that it can have come through, at most
_DETOUR, _ALLOWANCE = 3.0, 0.2  # how many times further away, and how many edges more


class Flanks(NamedTuple):
    tree: SkinTree  # of faces with a fourth vertex, the one behind the face in its cell
    cells: np.ndarray  # (c, 4) int32
    volumes: np.ndarray  # (c,) six times the volume as bound
    objects: np.ndarray  # (n,) int32 of each vertex
    guides: np.ndarray  # (n,) int32: the vertex of the skin that is closest
    allowance: float


def flanks_of(volume: VolumeMesh, rest: np.ndarray, objects: np.ndarray) -> Flanks:
    """Of tetrahedra of several objects, (n,) int32."""
    cells, surface = volume._cells["tetra"], volume.surface()
    corners = cells[surface.cells]
    behind = corners[(corners[:, :, None] != surface.faces[:, None, :]).all(axis=2)]
    volumes = six_volumes(rest[cells])
    faces = surface.faces.copy()
    inward = six_volumes(rest[np.column_stack((faces, behind))]) > 0.0
    faces[inward] = faces[inward][:, ::-1]  # of a cell whose corners are in a mirrored order
    d = np.diff(rest[volume.edges], axis=1)[:, 0]
    edge = float(np.sqrt((d * d).sum(axis=1)).mean()) if len(d) else 0.0
    guides = np.arange(len(rest), dtype=np.int32)
    _find_closest(rest, objects, np.unique(faces), guides)
    tree = skin_tree(np.column_stack((faces, behind)).astype(np.int32), rest, objects)
    return Flanks(tree, cells, volumes, objects, guides, _ALLOWANCE * edge)


@kernel
def _find_closest(rest, objects, skin, out):
    """out : (n,) int32, of the vertices of the skin the closest one of the same object, if there is one."""
    for v in range(len(rest)):
        best = np.inf
        for s in skin:
            d = sub(row(rest, s), row(rest, v))
            if objects[s] == objects[v] and dot(d, d) < best:
                best = dot(d, d)
                out[v] = s


@helper
def face_over(x, flanks, v, cell, normal):
    """Place in the tree of the face over vertex v in a cell, or -1; normal : of the skin at v, of any length."""
    upright, place = _place_as_bound(x, flanks, v, cell)
    if not upright:
        return -1
    item, length = flanks.objects[flanks.cells[cell, 0]], np.sqrt(dot(normal, normal))
    closest, near = closest_face(flanks.tree, place, (item, v), x, normal, np.inf)
    if closest < 0 or not length > 0.0:
        return closest
    opposed, far = closest_face(flanks.tree, place, (item, v), x, scale(normal, 1.0 / length), _OPPOSED)
    return opposed if far <= _DETOUR * near + flanks.allowance else closest


@helper
def _place_as_bound(x, flanks, v, cell):
    """Whether the cell is upright, and where in it, as bound, vertex v is."""
    corners = flanks.cells[cell]
    a, p = row(x, corners[0]), row(x, v)
    b, c, d, q = sub(row(x, corners[1]), a), sub(row(x, corners[2]), a), sub(row(x, corners[3]), a), sub(p, a)
    six = dot(cross(b, c), d)
    if not six * flanks.volumes[cell] > 0.0:
        return False, p
    wb, wc, wd = dot(cross(q, c), d) / six, dot(cross(b, q), d) / six, dot(cross(b, c), q) / six
    wa = 1.0 - wb - wc - wd
    rest = flanks.tree.rest
    place = add(scale(row(rest, corners[0]), wa), scale(row(rest, corners[1]), wb))
    place = add(place, add(scale(row(rest, corners[2]), wc), scale(row(rest, corners[3]), wd)))
    return abs(wa) + abs(wb) + abs(wc) + abs(wd) < 2.0, place  # in a sliver weights may be mostly rounding
