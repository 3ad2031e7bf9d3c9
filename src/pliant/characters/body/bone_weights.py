"""How joints carry the inside of a body: as they carry the skin around it."""

from __future__ import annotations

import numpy as np

from pliant.arithmetic.vec3 import row
from pliant.characters.rig.rig import Character
from pliant.characters.solver.colours import neighbours_of
from pliant.characters.solver.skin_tree import closest_face, skin_tree, weights_of_closest
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import kernel

MOST_JOINTS = 4  # of a vertex of the body, unless the skin has more
_SWEEPS, _ENOUGH = 400, 1e-5


def carry_body(
    character: Character, volume: VolumeMesh, rest: np.ndarray, on_skin: bool
) -> tuple[np.ndarray, np.ndarray]:
    """joints (v, w) int32 and weights (v, w) of the vertices of a body.

    On the surface those of the skin: of its vertices, if the first vertices of the body are those (``on_skin``), or
    else of the closest point of it. Inside each vertex has the mean of its neighbours (a harmonic function for each
    joint, with weights 1 / length^2), which is smooth, has no other extremes than on the skin, and sums up to 1. Of
    these, the largest are kept.
    """
    surface = np.unique(volume.surface().faces)
    dense = np.zeros((len(rest), len(character.skeleton.joints)))
    skin = _dense(character)
    if on_skin:
        fixed = np.arange(len(skin))
        dense[: len(skin)] = skin
    else:
        fixed = surface
        tree = skin_tree(character.mesh._faces, character.rest, np.zeros(len(character.rest), np.int32))
        _take_closest(tree, rest, fixed, skin, dense)
    free = np.setdiff1d(volume.vertices, fixed)
    start, neighbours = neighbours_of(volume._edges, len(rest))
    _diffuse(rest, start, neighbours, free, dense)
    return largest(dense, max(MOST_JOINTS, character.joints.shape[1]))


def _dense(character: Character) -> np.ndarray:
    """(n, j) weights of the skin, of sum 1."""
    out = np.zeros((len(character.rest), len(character.skeleton.joints)))
    np.add.at(out, (np.arange(len(out))[:, None], character.joints), character.weights)
    return out / out.sum(axis=1, keepdims=True)


def largest(dense: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """joints (v, count) int32 and weights of sum 1: the largest of each row of dense (v, j), in descending order."""
    count = min(count, dense.shape[1])
    joints = np.argsort(-dense, axis=1, kind="stable")[:, :count]
    weights = np.take_along_axis(dense, joints, axis=1)
    joints[weights == 0.0] = 0
    return np.ascontiguousarray(joints, np.int32), weights / weights.sum(axis=1, keepdims=True)


@kernel
def _take_closest(tree, rest, vertices, skin, out):
    none = (0.0, 0.0, 0.0)
    for v in vertices:
        place, _ = closest_face(tree, row(rest, v), (0, -1), tree.rest, none, np.inf)
        f = tree.faces[place]
        w = weights_of_closest(row(rest, v), row(tree.rest, f[0]), row(tree.rest, f[1]), row(tree.rest, f[2]))
        for j in range(skin.shape[1]):
            out[v, j] = w[0] * skin[f[0], j] + w[1] * skin[f[1], j] + w[2] * skin[f[2], j]


@kernel
def _diffuse(rest, start, neighbours, free, dense):
    """Gauss-Seidel, until no weight changes by more than ``_ENOUGH``; every vertex starts as an equal mix."""
    for v in free:
        for j in range(dense.shape[1]):
            dense[v, j] = 1.0 / dense.shape[1]
    new = np.empty(dense.shape[1])
    for _ in range(_SWEEPS):
        change = 0.0
        for v in free:
            total = 0.0
            new[:] = 0.0
            for s in range(start[v], start[v + 1]):
                other, squared = neighbours[s], 0.0
                for k in range(3):
                    squared += (rest[other, k] - rest[v, k]) ** 2
                weight = 1.0 / squared if squared > 0.0 else 0.0
                total += weight
                for j in range(dense.shape[1]):
                    new[j] += weight * dense[other, j]
            if total > 0.0:
                for j in range(dense.shape[1]):
                    change = max(change, abs(new[j] / total - dense[v, j]))
                    dense[v, j] = new[j] / total
        if change < _ENOUGH:
            break
