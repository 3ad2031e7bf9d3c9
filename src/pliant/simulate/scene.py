"""Cloth and obstacles as one mesh, and the physics of the cloth, from what users give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.detect import some_pairs
from pliant.runtime.arrays import MeshError, OptionError, ShapeError, as_floats, as_number
from pliant.runtime.log import warn
from pliant.simulate.bending import Bending, bending_of
from pliant.simulate.driven import Obstacle
from pliant.simulate.materials import Material, material_of
from pliant.simulate.membrane import Membrane, membrane_of
from pliant.simulate.settings import Settings

MOST_STRETCH = 10.0  # of a face: no cloth follows further
TALLEST = 50.0  # m: what is larger is probably in other units


class Sheet(NamedTuple):
    """The physics of a cloth of n vertices: mass : (n,) kg; membrane, bending."""

    mass: np.ndarray
    membrane: Membrane
    bending: Bending


class Scene(NamedTuple):
    """A body and obstacles as one mesh of N vertices.

    x : (N, 3); free : (N,) bool; objects : (N,) labels; friction : of the body; of_obstacles : (N,), -1 of the body
    groups : vertices and paths of what is driven; names : of each group, by its label in objects
    """

    mesh: TriMesh | VolumeMesh
    x: np.ndarray
    free: np.ndarray
    objects: np.ndarray
    friction: float
    of_obstacles: np.ndarray
    groups: list
    names: dict[int, str]

    @property
    def pin_count(self) -> int:
        """Groups of pins come before those of obstacles."""
        return sum(name.startswith("pin") for name in self.names.values())

    @property
    def frictions(self) -> np.ndarray:
        """(N,) coefficients, of the body or of the obstacle that a vertex is of."""
        return np.where(self.of_obstacles < 0.0, self.friction, self.of_obstacles)

    def pairs_of_faces(self, pairs: np.ndarray) -> str:
        """The first of some pairs of faces of the mesh, (k, 2), in words: those of an obstacle by its own ids."""
        return some_pairs(pairs, self._name_of_face)

    def _name_of_face(self, face: int) -> str:
        mesh = self.mesh if isinstance(self.mesh, TriMesh) else self.mesh.features()
        of_face = mesh.faces[:, 0]
        if self.of_obstacles[of_face[face]] < 0.0:
            return f"{face}"
        label = int(self.objects[of_face[face]])
        return f"{face - int(np.argmax(self.objects[of_face] == label))} of {self.names[label]}"

    @staticmethod
    def of(
        own: TriMesh | VolumeMesh, x: np.ndarray, obstacles: list, pins: list, mass: np.ndarray, friction: float
    ) -> Scene:  # fmt: skip
        friction = as_number(friction, "friction", 0.0, 10.0)
        meshes, positions, groups, names = list[Any]([own]), [x], [], dict[int, str]()
        objects = np.zeros(len(x), np.int64)
        objects[: own.vertex_limit] = np.maximum(own.components, 0)
        next_label, begin = int(objects.max(initial=0)) + 1, len(x)
        for number, pin in enumerate(pins):  # each waits by itself: a hand that is stuck does not stop the other
            groups.append((pin.vertices.astype(np.int64), pin.path))
            objects[pin.vertices] = next_label
            names[next_label] = f"pin {number}"
            next_label += 1
        coefficient = [np.full(len(x), -1.0)]
        for number, obstacle in enumerate(obstacles):
            if not isinstance(obstacle, Obstacle):
                kind = type(obstacle).__name__
                raise OptionError(f"obstacles must be of pliant.simulate.Obstacle, but obstacle {number} is a {kind}")
            count = len(obstacle.x)
            groups.append((np.arange(begin, begin + count), obstacle.path))
            names[next_label] = f"obstacle {number}"
            meshes.append(obstacle.mesh)
            positions.append(obstacle.x)
            objects = np.concatenate((objects, np.full(count, next_label)))
            coefficient.append(np.full(count, friction if obstacle.friction is None else obstacle.friction))
            next_label, begin = next_label + 1, begin + count
        free = np.zeros(begin, bool)
        free[: len(x)] = mass > 0.0
        for pin in pins:
            free[pin.vertices] = False
        return Scene(
            _joined(meshes, [len(one) for one in positions]), np.concatenate(positions), free, objects, friction,
            np.concatenate(coefficient), groups, names,
        )  # fmt: skip


def _joined(meshes: list[Any], counts: list[int]) -> TriMesh | VolumeMesh:
    """Obstacles after the first mesh; those of a volume mesh are shells."""
    begin = np.cumsum([0, *counts])
    own, parts = meshes[0], list(zip(meshes, begin))
    if isinstance(own, TriMesh):
        return TriMesh(*(_shifted(parts, name) for name in ("faces", "loose_edges", "loose_points")))
    for number, obstacle in enumerate(meshes[1:]):
        if len(obstacle.loose_edges) or len(obstacle.loose_points):
            raise MeshError(f"obstacle {number} has edges or points without faces: interior=True takes faces alone")
    shells = [own.cells["triangle"].astype(np.int64)]
    ranks = own.ranks
    if ranks is not None:
        ranks = np.concatenate((ranks, np.arange(len(ranks), max(len(ranks), int(begin[-1])))))
    return VolumeMesh({**own.cells, "triangle": np.concatenate((*shells, _shifted(parts[1:], "faces")))}, ranks=ranks)


def _shifted(parts: list[Any], name: str) -> np.ndarray:
    """Arrays of several meshes, whose vertices come one after the other."""
    arrays = [getattr(mesh, name).astype(np.int64) + first for mesh, first in parts]
    return np.concatenate(arrays) if arrays else np.empty((0, 3), np.int64)


def materials_of(own: TriMesh, given: Any, settings: Settings) -> tuple[np.ndarray, list[Material]]:
    """Which material each face is of, and these, in the units of the simulation."""
    if isinstance(given, str | Material):
        return np.zeros(len(own.faces), np.int64), [settings.scaled(material_of(given))]
    materials = [settings.scaled(material_of(one)) for one in given]
    components = own.components[own.faces[:, 0]] if len(own.faces) else np.zeros(0, np.int64)
    count = int(components.max(initial=-1)) + 1
    if len(materials) != count:
        raise OptionError(f"material has {len(materials)} entries, but the cloth has {count} components")
    return components.astype(np.int64), materials


def of_vertices(faces: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """(count,) the largest value of the elements, (m, k), at each vertex; values : (m,), 0 where there is none"""
    out = np.zeros(count)
    np.maximum.at(out, faces.reshape(-1), np.repeat(values, faces.shape[1]))
    return out


def rest_of(given: Any, x: np.ndarray) -> np.ndarray:
    if given is None:
        return x
    rest = as_floats(given, "rest")
    if rest.shape not in ((len(x), 2), (len(x), 3)):
        raise ShapeError(f"rest must have shape ({len(x)}, 2) or ({len(x)}, 3), but has {rest.shape}")
    return rest


def sheet_of(
    own: TriMesh, x: np.ndarray, rest: np.ndarray, made_of: tuple[list[Material], np.ndarray], settings: Settings
) -> tuple[Sheet, float]:
    """The physics, and the mean length of the edges."""
    if len(own.faces) == 0:
        raise MeshError("the cloth has no faces, hence no mass")
    materials, kinds = made_of
    rest = _with_z_up(rest, settings.up)
    membrane = membrane_of(own._faces, rest, materials, kinds)
    shape = None
    if settings.rest_angles == "rest":
        shape = rest if rest.shape[1] == 3 else None
    bending = bending_of(own._faces, own._face_edges, rest, shape, materials, kinds)
    density = np.array([one.density for one in materials])[kinds]
    mass = np.bincount(own.faces.reshape(-1), np.repeat(membrane.area * density / 3.0, 3), minlength=len(x))
    edges = own.edges
    length = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    return Sheet(mass, membrane, bending), float(length.mean())


def _with_z_up(rest: np.ndarray, up: str) -> np.ndarray:
    """Turned, so that warp and weft of cloth without a pattern do not depend on the axis that points up."""
    if rest.shape[1] == 2 or up == "z":
        return rest
    return rest[:, [1, 2, 0]] if up == "x" else rest[:, [0, 2, 1]] * (1.0, -1.0, 1.0)


def warn_of_tearing(scene: Scene, own: TriMesh, stretch: np.ndarray) -> bool:
    """Where pins pull cloth further than it follows; returns whether they do. stretch : (m,) of the faces, 1 at rest"""
    if not stretch.max(initial=1.0) > MOST_STRETCH:
        return False
    worst = int(np.argmax(stretch))
    torn = own.faces[stretch > MOST_STRETCH]
    pins = [np.isin(torn, group).any() for group, _ in scene.groups[: scene.pin_count]]
    if sum(pins) < 2:  # the others are further away in this cloth
        components = own.components[own.faces[worst, 0]]
        pins = [(own.components[group] == components).any() for group, _ in scene.groups[: scene.pin_count]]
    named = " and ".join(f"pin {number}" for number in np.flatnonzero(pins)[:5])
    where = f" apart between {named}" if sum(pins) > 1 else f" at {named}" if named else ""
    warn(f"the cloth is torn{where}: face {worst} is stretched {stretch[worst]:.3g} times")
    return True


def warn_of_size(x: np.ndarray, settings: Settings, what: str = "cloth") -> None:
    tall = float(np.ptp(x, axis=0).max(initial=0.0)) / settings.scale
    if tall > TALLEST:
        warn(
            f'the {what} is {tall:.0f} m long: are its positions in centimetres? settings=Settings(units="cm") says so'
        )
