"""Separation tensors as O'Brien and Hodgins define them, vertex by vertex and cell by cell."""

from __future__ import annotations

import numpy as np


def outer(f):
    length = np.linalg.norm(f)
    return np.outer(f, f) / length if length > 0.0 else np.zeros((3, 3))


def tetrahedron_areas(x):
    """(4, 3) integrals of the gradients of the shape functions: a third of the areas of the opposite faces, inwards."""
    out = np.empty((4, 3))
    for k, (a, b, c) in enumerate(((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))):
        normal = 0.5 * np.cross(x[b] - x[a], x[c] - x[a])
        out[k] = normal / 3.0 * np.sign(normal @ (x[k] - x[a]))
    return out


def separation(x, tetrahedra, stress, vertex):
    """The separation tensor, its largest eigenvalue over the area across its eigenvector, and that vector."""
    plus, minus, areas = [], [], []
    for cell, sigma in zip(tetrahedra, stress):
        if vertex not in cell:
            continue
        area = tetrahedron_areas(x[cell])[list(cell).index(vertex)]
        values, axes = np.linalg.eig(sigma)
        tension = sum((max(w, 0.0) * np.outer(n, n) for w, n in zip(values, axes.T)), np.zeros((3, 3)))
        compression = sum((min(w, 0.0) * np.outer(n, n) for w, n in zip(values, axes.T)), np.zeros((3, 3)))
        plus.append(-tension @ area)
        minus.append(-compression @ area)
        areas.append(area)
    tensor = -outer(sum(plus)) + sum(outer(f) for f in plus) + outer(sum(minus)) - sum(outer(f) for f in minus)
    values, axes = np.linalg.eig(0.5 * tensor)
    largest = np.argmax(values.real)
    normal = axes[:, largest].real
    across = 0.5 * sum(abs(area @ normal) for area in areas)
    return 0.5 * tensor, values[largest].real / across, normal
