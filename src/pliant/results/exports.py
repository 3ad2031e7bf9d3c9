"""Results for other tools: columns of a table, and meshes that are coloured by what each face takes part in."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.mesh.tested import mesh_to_test, surface_of
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import Surface
from pliant.runtime.arrays import ShapeError, as_positions, require_in_range
from pliant.runtime.extras import needed

if TYPE_CHECKING:
    import meshio
    import pandas
    import trimesh

    from pliant.results.answers import PairContacts
    from pliant.results.contacts import Contacts
    from pliant.results.proximity import Proximity

PLAIN = (204, 196, 184)  # of faces that take part in nothing
ONE, MANY = (244, 165, 130), (178, 10, 24)  # of those that are in one pair, and in the most


class OnFaces:
    """A table of pairs that are on faces of a mesh: which these are, and that mesh for other tools."""

    def face_counts(self, mesh: Any) -> np.ndarray:
        """In how many pairs each face takes part, with itself, an edge or a vertex of it.

        Parameters
        ----------
        mesh : TriMesh, VolumeMesh, or what the query took
            The one that was asked about; of a volume mesh, the faces of its ``surface()`` are counted.

        Returns
        -------
        (m,) int64

        Raises
        ------
        MeshError
            Where this table names elements that the mesh does not have.
        """
        raise NotImplementedError

    def to_trimesh(self, mesh: Any, x: Any) -> trimesh.Trimesh:
        """The mesh for trimesh, its faces red where they take part in a pair.

        Parameters
        ----------
        mesh : TriMesh, VolumeMesh, or what the query took
            The one that was asked about; of a volume mesh, its ``surface()``.
        x : (n, 3) floats
            Positions of its vertices.

        Returns
        -------
        trimesh.Trimesh
            ``face_attributes["pairs"]``, (m,), says in how many pairs each face takes part.

        Raises
        ------
        MeshError
            Where the mesh does not go with the positions or with this table.
        ModuleNotFoundError
            Where trimesh is not installed.
        """
        faces, x, counts = _placed(self, mesh, x)
        trimesh = required("trimesh", "to_trimesh")
        made = trimesh.Trimesh(x, faces, process=False, face_attributes={"pairs": counts})
        made.visual.face_colors = face_colours(counts)
        return made

    def to_meshio(self, mesh: Any, x: Any) -> meshio.Mesh:
        """The mesh for meshio, with what takes part in a pair as data of its cells.

        Parameters
        ----------
        mesh : TriMesh, VolumeMesh, or what the query took
            The one that was asked about; of a volume mesh, its ``surface()``.
        x : (n, 3) floats
            Positions of its vertices.

        Returns
        -------
        meshio.Mesh
            With the cell data "pairs", (m,), in how many each face takes part, and "colliding", (m,), 0 or 1.

        Raises
        ------
        MeshError
            Where the mesh does not go with the positions or with this table.
        ModuleNotFoundError
            Where meshio is not installed.
        """
        faces, x, counts = _placed(self, mesh, x)
        data = {"pairs": [counts], "colliding": [(counts > 0).astype(np.int32)]}
        return required("meshio", "to_meshio").Mesh(x, [("triangle", faces)], cell_data=data)

    def to_pyvista(self, mesh: Any, x: Any) -> Any:
        """The mesh for pyvista, with what takes part in a pair as data of its cells.

            contacts.to_pyvista(mesh, x).plot(scalars="colours", rgb=True)

        Parameters
        ----------
        mesh : TriMesh, VolumeMesh, or what the query took
            The one that was asked about; of a volume mesh, its ``surface()``.
        x : (n, 3) floats
            Positions of its vertices.

        Returns
        -------
        pyvista.PolyData
            With the cell data "pairs", (m,), in how many each face takes part, and "colours", rgb of each face.

        Raises
        ------
        MeshError
            Where the mesh does not go with the positions or with this table.
        ModuleNotFoundError
            Where pyvista is not installed.
        """
        faces, x, counts = _placed(self, mesh, x)
        rows = np.column_stack((np.full(len(faces), 3, faces.dtype), faces)).ravel()
        made = required("pyvista", "to_pyvista").PolyData(x, faces=rows)
        made.cell_data["pairs"], made.cell_data["colours"] = counts, face_colours(counts)
        return made


def _placed(table: OnFaces, mesh: Any, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    faces, x = surface_of(mesh).faces, as_positions(x, "x")
    require_in_range(faces, "faces", len(x))
    return faces, x, table.face_counts(mesh)


def faces_of_pairs(kind: np.ndarray, elements: np.ndarray, mesh: TriMesh) -> np.ndarray:
    """(m,) int64: in how many pairs of features (kinds (k,), elements (k, 2)) each face takes part.

    Features of a pair share no vertex: no face is counted twice for one pair.
    """
    points, sides = elements[kind == 0], elements[kind == 1]
    counts = _counted(points[:, 1], len(mesh.faces), "face")
    at_vertices = _counted(points[:, 0], mesh.vertex_limit, "vertex")
    start, at = mesh.vertex_faces  # each face once, a degenerate one too
    np.add.at(counts, at, np.repeat(at_vertices, np.diff(start)))
    # A degenerate face has an edge twice, or none (-1, which finds the zero behind the last edge).
    at_edges = np.append(_counted(sides.ravel(), len(mesh.edges), "edge"), 0)
    edges = np.sort(mesh.face_edges, axis=1)
    edges[:, 1:][edges[:, 1:] == edges[:, :-1]] = -1
    return counts + at_edges[edges].sum(axis=1)


def faces_of_contacts(table: Contacts, mesh: Any) -> np.ndarray:
    """(m,) int64, of the faces of a surface; contacts of a volume mesh name all of its features."""
    tested = mesh_to_test(mesh)
    counts = faces_of_pairs(table.kind, table.elements, tested.features)
    if tested.volume is None:
        return counts
    surface = tested.volume.surface()
    assert isinstance(surface, Surface)
    return counts[surface.volume_faces]


def faces_of_intersections(faces: np.ndarray, mesh: Any) -> np.ndarray:
    """(m,) int64: in how many pairs of faces (k, 2) each face of a surface is."""
    return _counted(faces.ravel(), len(surface_of(mesh).faces), "face")


def _counted(ids: np.ndarray, count: int, name: str) -> np.ndarray:
    if len(ids) and ids.max() >= count:
        raise ShapeError(f"the table names {name} {ids.max()}, but the mesh has {count}: it is that of another mesh")
    return np.bincount(ids, minlength=count)


def face_colours(counts: np.ndarray) -> np.ndarray:
    """(m, 3) uint8: plain where there is nothing, from light to dark red by the logarithm of the count."""
    level = np.log2(np.maximum(counts, 1)) / max(1.0, float(np.log2(counts.max(initial=1))))
    colours = np.array(ONE) + level[:, None] * (np.array(MANY) - np.array(ONE))
    colours[counts == 0] = PLAIN
    return np.rint(colours).astype(np.uint8)


def required(package: str, caller: str) -> Any:
    """A package that only one method needs."""
    with needed(package, f"{caller}()"):
        return import_module(package)


def frame_of(columns: dict[str, Any]) -> pandas.DataFrame:
    return required("pandas", "to_pandas").DataFrame(columns)


def pair_columns(table: Contacts | Proximity) -> dict[str, Any]:
    columns: dict[str, Any] = {"kind": np.array(["vertex-face", "edge-edge"])[table.kind]}
    columns |= {f"element_{i}": table.elements[:, i] for i in range(2)}
    return columns | numbered("vertex", table.vertices)


def side_columns(table: Contacts | Proximity | PairContacts) -> dict[str, Any]:
    return numbered("weight", table.weights) | along_axes("normal", table.normal)


def numbered(name: str, rows: np.ndarray) -> dict[str, Any]:
    """name_0, name_1, ... of rows (k, c)."""
    return {f"{name}_{i}": rows[:, i] for i in range(rows.shape[1])}


def along_axes(name: str, rows: np.ndarray) -> dict[str, Any]:
    """name_x, name_y, name_z of rows (k, 3)."""
    return {f"{name}_{axis}": rows[:, i] for i, axis in enumerate("xyz")}


def ends(name: str, rows: np.ndarray) -> dict[str, Any]:
    """name_0_x, ... name_1_z of rows (k, 2, 3)."""
    return along_axes(f"{name}_0", rows[:, 0]) | along_axes(f"{name}_1", rows[:, 1])
