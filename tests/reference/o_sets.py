"""The slow truth about O-sets: all pairs of features in Python sets, and Algorithm 3 of paper 004 as it is printed."""

from __future__ import annotations

from itertools import combinations, product

from tests.reference.volumes import topology

Pairs = tuple[set[tuple[int, int]], set[tuple[int, int]]]


def o_sets(mesh) -> Pairs:
    """{(vertex, face)}, {(edge, edge)}: no common vertex, and all pairs of their cells share one."""
    known = topology(mesh.cells)
    corners = [set(cell) for _, cell in known.cells]

    def is_orphan(one, other):
        return all(corners[i] & corners[j] for i, j in product(one, other))

    vertex_face = {
        (v, f)
        for v, at_vertex in known.vertex_cells.items()
        for f, face in enumerate(known.faces)
        if v not in face and is_orphan(at_vertex, known.face_cells[f])
    }
    edge_edge = {
        (a, b)
        for a, b in combinations(range(len(known.edges)), 2)
        if not set(known.edges[a]) & set(known.edges[b]) and is_orphan(known.edge_cells[a], known.edge_cells[b])
    }
    return vertex_face, edge_edge


def literal_o_sets(mesh, as_printed=True) -> Pairs:
    """Algorithm 3 of the paper's appendix, with its ``return``; otherwise it goes on with the next pair of features.

    Read kindly: a pair is added inside the loop over pairs of features, not after it, and has no common vertex.
    """
    known = topology(mesh.cells)
    corners = [set(cell) for _, cell in known.cells]
    found: Pairs = set(), set()

    def are_adjacent(i, j):
        return bool(corners[i] & corners[j])

    for i, j in product(range(len(corners)), repeat=2):
        if i == j or not are_adjacent(i, j):
            continue
        candidates = [(0, (v, f), {v}, set(known.faces[f])) for v in sorted(corners[i]) for f in known.cell_faces[j]]
        pairs = product(sorted(known.cell_edges[i]), sorted(known.cell_edges[j]))
        candidates += [(1, (a, b), set(known.edges[a]), set(known.edges[b])) for a, b in pairs if a < b]
        for kind, (first, second), one, other in candidates:
            if one & other:
                continue
            at_first = known.edge_cells[first] if kind else known.vertex_cells[first]
            at_second = known.edge_cells[second] if kind else known.face_cells[second]
            if all(are_adjacent(k, j) for k in at_first) and all(are_adjacent(i, k) for k in at_second):
                found[kind].add((first, second))
            elif as_printed:
                return found
    return found
