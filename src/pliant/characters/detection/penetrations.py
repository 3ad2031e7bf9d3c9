"""Which vertices of a character are in which of its tetrahedra, how deep, which way out, and which bones carry both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import Obstacle
from pliant.characters.detection.parts import dominant_joints
from pliant.characters.rig.rig import Skeleton
from pliant.elementary.cell_weights import weights_in_cells
from pliant.elementary.containment import shapes_of
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.depths import penetration
from pliant.runtime.threads import ThreadPool

if TYPE_CHECKING:
    import pandas


class Carriers(NamedTuple):
    """Who carries what: joints by number, obstacles by -1, -2, ..."""

    names: tuple[str, ...]  # of the joints
    of_vertices: np.ndarray  # (v,) int32
    of_cells: np.ndarray  # (c,) int32

    def name(self, bone: int) -> str:
        return self.names[bone] if bone >= 0 else f"obstacle {-1 - bone}"


def carriers_of(body: Body, skeleton: Skeleton, obstacles: Sequence[Obstacle] = ()) -> Carriers:
    """Of each vertex the joint that carries most of it, of each cell the one that carries most of its corners."""
    cells, joint_count = body.volume.cells["tetra"], len(skeleton.joints)
    carried = np.zeros((len(cells), joint_count))
    for corner in cells.T:
        for joints, weights in zip(body.joints[corner].T, body.weights[corner].T):
            np.add.at(carried, (np.arange(len(cells)), joints), weights)
    of_vertices, of_cells = [dominant_joints(body.joints, body.weights)], [carried.argmax(axis=1)]
    for i, obstacle in enumerate(obstacles):
        of_vertices.append(np.full(len(obstacle.rest), -1 - i))
        of_cells.append(np.full(len(obstacle.volume.types), -1 - i))
    names = tuple(skeleton.names[node] for node in skeleton.joints)
    return Carriers(names, np.concatenate(of_vertices).astype(np.int32), np.concatenate(of_cells).astype(np.int32))


@dataclass(frozen=True, repr=False, eq=False)
class Penetrations:
    """Vertices in tetrahedra of which they are no corners, at an instant, sorted by vertex, then by cell.

    vertices, cells : (k,) int32, of the body, and after it of the obstacles
    weights : (k, 4) of the corners of the cell: they give the vertex; not negative, of sum 1
    depth : (k,) how far the vertex has to go, to get out of what the cell belongs to; NaN where it is not known
    direction : (k, 3) unit vector, which way
    bones : (k, 2) int32, the joint that carries most of the vertex, and of the cell; -1 for the first obstacle, ...
    """

    vertices: np.ndarray
    cells: np.ndarray
    weights: np.ndarray
    depth: np.ndarray
    direction: np.ndarray
    bones: np.ndarray
    carriers: Carriers

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def deepest(self) -> float:
        """0 where nothing penetrates."""
        return float(np.nanmax(self.depth, initial=0.0)) if len(self) else 0.0

    def bone_pairs(self) -> list[tuple[str, str]]:
        """Names of the bones of all pairs, each once, whichever has the vertex."""
        pairs = np.unique(np.sort(self.bones, axis=1), axis=0)
        names = [sorted((self.carriers.name(a), self.carriers.name(b))) for a, b in pairs.tolist()]
        return sorted((a, b) for a, b in names)

    def __repr__(self) -> str:
        if len(self) == 0:
            return "Penetrations(none)"
        counts = f"{len(np.unique(self.vertices))} vertices in {len(np.unique(self.cells))} cells"
        return f"Penetrations({counts}, {len(self.bone_pairs())} pairs of bones, deepest {self.deepest:.6g})"

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per pair."""
        import pandas

        columns: dict[str, Any] = {"vertex": self.vertices, "cell": self.cells}
        columns |= {f"weight_{i}": self.weights[:, i] for i in range(4)} | {"depth": self.depth}
        columns |= {f"direction_{axis}": self.direction[:, i] for i, axis in enumerate("xyz")}
        for i, of in enumerate(("vertex", "cell")):
            columns[f"bone_of_{of}"] = [self.carriers.name(bone) for bone in self.bones[:, i].tolist()]
        return pandas.DataFrame(columns)


def measure(volume: VolumeMesh, x: np.ndarray, pairs: np.ndarray, carriers: Carriers, threads: int = 1) -> Penetrations:
    """What there is to know about vertices in cells.

    volume, x, carriers : of the body and of the obstacles
    pairs : (k, 2) int32 vertices, and cells that hold them (``CollisionDetector.find``)
    """
    weights, vertices, cells = np.empty((len(pairs), 8)), pairs[:, 0].copy(), pairs[:, 1].copy()
    sides = np.empty(0), np.empty((0, 3))
    if len(pairs):
        weights_in_cells(x, shapes_of(volume), pairs, weights)
        labels = np.full(len(x), -1, np.int32)
        labels[: volume.vertex_limit] = volume.components
        sides = penetration(volume, x, labels, vertices, cells, ThreadPool(threads))
    bones = np.stack((carriers.of_vertices[vertices], carriers.of_cells[cells]), axis=1)
    return Penetrations(vertices, cells, weights[:, :4].copy(), *sides, bones, carriers)
