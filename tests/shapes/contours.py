"""What the proofs about contours say of a motion, and of the nodes of its tree."""

from __future__ import annotations

import numpy as np

from pliant.culling.contours import star_shaped
from pliant.culling.outlines import new_outline, surely_simple
from pliant.engine.free_patches import mark_free_patches
from pliant.engine.plan import Tuning, plan_of
from pliant.engine.scene import Fitted, Scene, build, topology_of
from pliant.engine.travel import travel_of
from pliant.runtime.jit import kernel
from pliant.runtime.tally import Tally
from pliant.runtime.threads import ThreadPool
from tests.shapes.patches import sheet


def controls(faces, x0, x1) -> np.ndarray:
    """(3, m, 3) Bernstein vectors of the normals of moving faces."""
    a0, b0, a1, b1 = (x[faces[:, k]] - x[faces[:, 0]] for x in (x0, x1) for k in (1, 2))
    return np.stack([np.cross(a0, b0), (np.cross(a0, b1) + np.cross(a1, b0)) / 2, np.cross(a1, b1)])


def extent_of(x0, x1, loop) -> float:
    return float(np.ptp(np.concatenate((x0[loop], x1[loop])), axis=0).max()) * 1.001


def proves_star_shaped(x0, x1, loop, axis) -> bool:
    """What the kernel says of a contour, from the centre it chooses."""
    size, loop = extent_of(x0, x1, loop), np.ascontiguousarray(loop, np.int32)
    return star_shaped(x0, x1, loop, 0, len(loop), tuple(map(float, axis)), size, 0.0) > 0


def proves_simple(x0, x1, loop, axis) -> bool:
    """What the other kernel says of it, edge against edge."""
    size, loop = extent_of(x0, x1, loop), np.ascontiguousarray(loop, np.int32)
    return bool(_is_simple(x0, x1, loop, tuple(map(float, axis)), size))


@kernel
def _is_simple(x0, x1, loop, axis, size):
    return 1 if surely_simple(x0, x1, loop, 0, len(loop), axis, size, 0.0, new_outline()) else 0


def marked(mesh, x0, x1, bounds="aabb", position_error=0.0) -> tuple[Scene, Fitted]:
    """A scene with its tree, and the nodes that cones and contours cull."""
    plan, pool, tally = plan_of(Tuning(culling="cones", bounds=bounds), "all", has_cells=False), ThreadPool(2), Tally()
    scene, fitted = build(topology_of(mesh), travel_of(x0, x1), plan, pool, tally)
    mark_free_patches(scene, fitted, position_error, pool, tally)
    return scene, fitted


def faces_below(scene: Scene, node: int) -> np.ndarray:
    tree = scene.hierarchy.tree
    below, leaves = tree.depth - (node.bit_length() - 1), 1 << tree.depth
    begin, end = (tree.begin[(n << below) - leaves] for n in (node, node + 1))
    return scene.hierarchy.leaves.face[begin:end]


def crumpled(seed, amplitude, n=12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sheet with every vertex moved at random, and in motion by half as much."""
    rng = np.random.default_rng(seed)
    faces, x = sheet(n, n)
    x0 = x + rng.uniform(-amplitude, amplitude, x.shape)
    return faces, x0, x0 + rng.uniform(-amplitude, amplitude, x.shape) / 2
