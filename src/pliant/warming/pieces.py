"""Queries on meshes so small that they can run interpreted: what they call is what a query of their kind calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import pliant
from pliant.engine import direct
from pliant.frames.scanning import scan_frames
from pliant.frames.sequence import Sequence
from pliant.report.picture import Shape, View, draw

# Two triangles in one plane: only integers decide them.
_FLAT = np.array([[0.0, 0, 0], [3, 0, 0], [0, 3, 0], [1, 1, 0], [4, 1, 0], [1, 4, 0]])
_TWO = [[0, 1, 2], [3, 4, 5]]


@contextmanager
def _with_trees() -> Iterator[None]:
    """Small meshes are examined without a tree: here every mesh gets one."""
    before, direct.SMALL = direct.SMALL, 0
    try:
        yield
    finally:
        direct.SMALL = before


def _cloth(triangles: int = 40, frames: int = 2) -> Sequence:
    scene = pliant.scenes.load("twisted_cloth", triangles, frames)
    return Sequence(scene.faces, scene.frames, objects=scene.objects)


def ccd() -> None:
    cloth = _cloth()
    with _with_trees():
        pliant.ccd(cloth.faces, cloth[0], cloth[1], threads=1)


def small_ccd() -> None:
    cloth = _cloth()
    pliant.ccd(cloth.faces, cloth[0], cloth[1], threads=1)


def small_step() -> None:
    cloth = _cloth()
    pliant.step(cloth.faces, cloth[0], cloth[1], threads=1)


def small() -> None:
    small_ccd()
    small_step()
    cloth = _cloth()
    pliant.near(cloth.faces, cloth[0], within=0.02, threads=1)
    pliant.check(cloth.faces, cloth[1], threads=1)


def degenerate() -> None:
    """Contacts that only integers decide."""
    pliant.ccd(_TWO, _FLAT, _FLAT + np.repeat([[0.0, 0, 0], [1, 0, 0]], 3, axis=0), threads=1)


def step() -> None:
    cloth = _cloth()
    with _with_trees():
        pliant.step(cloth.faces, cloth[0], cloth[1], threads=1)


def check() -> None:
    cloth = _cloth()
    with _with_trees():
        pliant.check(cloth.faces, cloth[1], threads=1)
        pliant.check(_TWO, _FLAT, threads=1)


def near() -> None:
    cloth = _cloth()
    with _with_trees():
        pliant.near(cloth.faces, cloth[0], within=0.02, threads=1)


def scan() -> None:
    """And the pictures that show what was found."""
    cloth = _cloth(frames=3)
    draw([Shape(cloth[0], cloth.faces)], View().around(cloth[0]), (4, 4))
    _ = pliant.TriMesh(cloth.faces).vertex_faces
    with _with_trees():
        for _ in scan_frames(Sequence(_TWO, _FLAT[None]), find="intersections", threads=1):
            pass
        for _ in scan_frames(cloth, threads=1):
            pass


def cones() -> None:
    """Normal cones, which a detector tries after some frames."""
    with _with_trees():
        for _ in scan_frames(_cloth(frames=3), threads=1, tuning=pliant.Tuning(culling="cones+front")):
            pass


def resolve() -> None:
    low, high = np.repeat([[0.0, 0, 0], [0, 0, 1]], 3, axis=0), np.repeat([[0.0, 0, 0], [0, 0, -1]], 3, axis=0)
    with _with_trees():
        pliant.resolve(_TWO, _FLAT + low, _FLAT + high, threads=1)


def untangle() -> None:
    """With a limit that is not met, all plans are tried."""
    resolve()
    square = np.array([[0.0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [1, 1, 1]])
    faces = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [0, 2, 1], [0, 3, 2]])
    both, x = np.concatenate((faces, faces + 5)), np.concatenate((square, square[:, [1, 2, 0]] + 0.3))
    body = np.arange(10) < 5
    with _with_trees():
        pliant.check(both, x, threads=1).contours(both, x)
        pliant.untangle(both, x, max_move=0.0, threads=1)
        pliant.untangle(both, x, fixed=body, outside_of=[0], max_move=0.0, threads=1)
        pliant.untangle(both[[0, 1, 2, 3, 6, 7, 8, 9]], x, max_move=0.0, threads=1)
        pliant.untangle(both[:10], x, layers=[0, 1], max_move=0.0, threads=1)  # the second one is open
        apart = x + np.outer(~body, (3.0, 3.0, 3.0))
        pliant.untangle_sequence(pliant.Sequence(both, np.array([apart, x])), threads=1)


def simulate() -> None:
    resolve()
    with _with_trees():
        for _ in pliant.simulated.setup("cloth_ball", 200).begin().frames(2):
            pass


def solids() -> None:
    """A tetrahedron with a triangle on top falls onto a floor, in all ways that there are."""
    resolve()
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.2, 0.2, 1.1), (0.5, 0.2, 1.1), (0.2, 0.5, 1.1)], float)
    floor = pliant.simulate.Obstacle([[0, 1, 2]], np.array([(-9.0, -9, -0.01), (9, -9, -0.01), (0, 9, -0.01)]))
    metal = pliant.simulate.SolidMaterial(1000.0, 1e4, 0.3, "Hencky", yield_stress=1.0, damping=1e-3)
    ways: tuple[dict[str, Any], ...] = (
        {"interior": True}, {"interior": False}, {"scheme": "explicit"}, {"scheme": "explicit", "contact": "penalty"},
    )  # fmt: skip
    with _with_trees():
        for way in ways:
            solid = pliant.simulate.Solid(
                {"tetra": [[0, 1, 2, 3]], "triangle": [[4, 5, 6]]}, x, materials=metal, shell_thickness=0.1,
                obstacles=floor, velocities=np.tile((0.0, 0, -2.0), (len(x), 1)), threads=1, **way,
            )  # fmt: skip
            for _ in solid.frames(1, 100.0):
                pass


def volumes() -> None:
    tetrahedron = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    mesh = pliant.VolumeMesh({"tetra": [[0, 1, 2, 3], [4, 5, 6, 7]]})
    x0, x1 = np.concatenate([tetrahedron, tetrahedron + 2.0]), np.concatenate([tetrahedron, tetrahedron + 0.1])
    with _with_trees():
        pliant.ccd(mesh, x0, x1, threads=1)
        pliant.step(mesh, x0, x1, threads=1)
    pliant.inside(mesh, x1, threads=1)
    pliant.inside(mesh.surface(), x1, points=x1[:2] + 0.01, threads=1)
    pliant.winding(mesh.surface().faces[1:], x1, np.concatenate([x1[:2] + 0.01, x1[:1] - 1e-12]), threads=1)


def single() -> None:
    """Pairs of features by themselves, and contact within a distance."""
    cloth = _cloth()
    corners_t0, corners_t1 = np.random.default_rng(1).random((2, 20, 4, 3))
    pliant.vertex_face(corners_t0, corners_t1)
    pliant.edge_edge(corners_t0, corners_t1)
    with _with_trees():
        pliant.ccd(cloth.faces, cloth[0], cloth[1], min_distance=0.01, threads=1)
        pliant.step(cloth.faces, cloth[0], cloth[1], min_distance=0.01, threads=1)


PIECES: dict[str, Callable[[], None]] = {
    "ccd": ccd,
    "step": step,
    "check": check,
    "near": near,
    "scan": scan,
    "cones": cones,
    "small": small,
    "small_ccd": small_ccd,
    "small_step": small_step,
    "degenerate": degenerate,
    "resolve": resolve,
    "untangle": untangle,
    "simulate": simulate,
    "solids": solids,
    "volumes": volumes,
    "single": single,
}
MAIN = ("ccd", "step", "check", "near", "scan", "cones", "small", "degenerate")  # of `pliant warm`, without --all
