"""The two kinds of pairs of features, and the four vertices of such a pair."""

from __future__ import annotations

from pliant.runtime.jit import helper

VERTEX_FACE = 0  # one assignment each: the pages of the reference find them without running anything
EDGE_EDGE = 1
KINDS = VERTEX_FACE, EDGE_EDGE


@helper
def quad(kind, table, a, b):
    """The four vertices of the pair (vertex a, face b) or (edge a, edge b); table: the mesh's faces or its edges."""
    if kind == VERTEX_FACE:
        return a, table[b, 0], table[b, 1], table[b, 2]
    return table[a, 0], table[a, 1], table[b, 0], table[b, 1]
