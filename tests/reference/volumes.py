"""The slow truth about volume meshes: what cells have, in dicts and sets, and the signs of volumes in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

ORDER = ("tetra", "hexahedron", "wedge", "pyramid", "triangle", "quad")
SHELLS = ("triangle", "quad")

# Unit cells: corners at these points. A base at height 0 and what is above it.
UNIT_CELLS = {
    "tetra": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "hexahedron": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
    "wedge": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)],
    "pyramid": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1)],
    "triangle": [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
    "quad": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)],
}
SIDES = {
    "tetra": ["021", "013", "123", "032"],
    "hexahedron": ["0321", "4567", "0154", "1265", "2376", "3047"],
    "wedge": ["021", "345", "0143", "1254", "2035"],
    "pyramid": ["0321", "014", "124", "234", "304"],
    "triangle": ["012"],
    "quad": ["0123"],
}
# Corner, and its neighbours in such an order that an upright cell has a positive volume there.
FRAMES = {
    "tetra": ["0123"],
    "hexahedron": ["0134", "1205", "2316", "3027", "4750", "5461", "6572", "7643"],
    "wedge": ["0123", "1204", "2015", "3540", "4351", "5432"],
    "pyramid": ["0134", "1204", "2314", "3024"],
}


class Topology(NamedTuple):
    cells: list[tuple[str, tuple[int, ...]]]
    faces: list[tuple[int, ...]]
    edges: list[tuple[int, int]]
    cell_faces: list[list[int]]
    cell_edges: list[set[int]]
    face_cells: list[list[int]]
    edge_cells: list[list[int]]
    vertex_cells: dict[int, list[int]]
    boundary: list[bool]


def triangulated(polygon):
    """One triangle, or two with the smallest vertex and the one opposite to it."""
    if len(polygon) == 3:
        return [tuple(polygon)]
    at = polygon.index(min(polygon))
    a, b, c, d = polygon[at:] + polygon[:at]
    return [(a, b, c), (a, c, d)]


def topology(blocks) -> Topology:
    """blocks : {type: list of cells}"""
    cells = [(name, tuple(int(v) for v in cell)) for name in ORDER for cell in blocks.get(name, [])]
    id_of, faces, cell_faces, all_edges, edges_of = {}, [], [], set(), []
    for name, cell in cells:
        mine, sides = [], set()
        for polygon in SIDES[name]:
            for triangle in triangulated([cell[int(i)] for i in polygon]):
                key = frozenset(triangle)
                if key not in id_of:
                    id_of[key] = len(faces)
                    faces.append(triangle)
                mine.append(id_of[key])
                sides |= {tuple(sorted((v, w))) for v in triangle for w in triangle if v != w}
        cell_faces.append(mine)
        edges_of.append(sides)
        all_edges |= sides
    edges = sorted(all_edges)
    number = {edge: i for i, edge in enumerate(edges)}
    cell_edges = [{number[edge] for edge in sides} for sides in edges_of]
    face_cells = [[] for _ in faces]
    edge_cells, vertex_cells = [[] for _ in edges], {}
    for i, (_, cell) in enumerate(cells):
        for f in cell_faces[i]:
            face_cells[f].append(i)
        for e in cell_edges[i]:
            edge_cells[e].append(i)
        for v in cell:
            vertex_cells.setdefault(v, []).append(i)
    boundary = [
        len({frozenset(cells[i][1]) for i in at if cells[i][0] not in SHELLS}) < 2
        or any(cells[i][0] in SHELLS for i in at)
        for at in face_cells
    ]
    return Topology(cells, faces, edges, cell_faces, cell_edges, face_cells, edge_cells, vertex_cells, boundary)


def groups_of(cells) -> set[frozenset[int]]:
    """Vertices that chains of cells with common vertices join."""
    groups: list[set[int]] = []
    for _, cell in cells:
        joined = [group for group in groups if group & set(cell)]
        groups = [group for group in groups if group not in joined] + [set.union(set(cell), *joined)]
    return set(map(frozenset, groups))


def volume(p, q, r, s) -> Fraction:
    """Six times the volume of a tetrahedron, signed."""
    e, f, g = ([Fraction(float(b)) - Fraction(float(a)) for a, b in zip(p, end)] for end in (q, r, s))
    normal = [e[(k + 1) % 3] * f[(k + 2) % 3] - e[(k + 2) % 3] * f[(k + 1) % 3] for k in range(3)]
    return sum((a * b for a, b in zip(normal, g)), Fraction(0))


def inverted(blocks, x) -> list[int]:
    return [
        i
        for i, (name, cell) in enumerate(topology(blocks).cells)
        if name not in SHELLS and any(volume(*(x[cell[int(c)]] for c in frame)) <= 0 for frame in FRAMES[name])
    ]
