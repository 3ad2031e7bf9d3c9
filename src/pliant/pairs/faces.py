"""From pairs of elements to pairs of faces: what intersects at one instant."""

from __future__ import annotations

from pliant.hierarchy.traverse import ALL, SELF
from pliant.runtime.jit import kernel


@kernel
def name_faces(face, labels, wanted, pairs, count, out):
    """Face ids of the wanted pairs of places, the smaller first: so segments are rounded alike, whatever the tree.

    labels: by place; of length 0 where all pairs are wanted."""
    kept = 0
    for p in range(count):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = face[i], face[j]
        if a >= 0 and b >= 0 and (wanted == ALL or (labels[i] == labels[j]) == (wanted == SELF)):
            out[kept, 0], out[kept, 1] = min(a, b), max(a, b)
            kept += 1
    return kept
