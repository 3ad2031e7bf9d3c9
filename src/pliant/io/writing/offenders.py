"""A mesh with what collides in red."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io.writing import glb, surfaces, usd, vtu
from pliant.io.writing.meshes import USD, as_mesh
from pliant.mesh.space import Space
from pliant.runtime.arrays import ShapeError
from pliant.runtime.writing import OutputError, through_file, write_atomically

_RED, _GREY = (214, 39, 40), (211, 211, 211)


def write_offenders(
    path: str | os.PathLike[str], faces: Any, x: Any, counts_per_face: Any, *, space: Space | None = None
) -> None:
    """Write a surface with its offenders: red where a face collides, light grey where not.

    path : .ply (colours of vertices and faces), .glb (colours), .vtu (numbers at cells, "collisions") or .usd / .usda /
        .usdc (displayColor); but for .glb, the numbers are written too
    faces : (m, 3); x : (n, 3)
    counts_per_face : (m,) how often each face collides
    space : of the mesh that was read, for USD: which axis points up, and how long a unit is
    """
    path = Path(path)
    mesh = as_mesh(x, faces)
    triangles = mesh.cells["triangle"]
    counts = np.asarray(counts_per_face)
    if counts.shape != (len(triangles),) or counts.dtype.kind not in "iub":
        raise ShapeError(f"counts_per_face has the shape {counts.shape}, but there are {len(triangles)} faces")
    counts = np.minimum(counts, 2**31 - 1).astype(np.int32)
    of_faces = np.where(counts[:, None] > 0, _RED, _GREY).astype(np.uint8)
    ending = path.suffix.lower()
    if ending == ".ply":
        of_vertices = np.full((len(mesh.points), 3), _GREY, np.uint8)
        of_vertices[triangles[counts > 0].reshape(-1)] = _RED
        colours = of_vertices, of_faces
        write = partial(surfaces.write_ply, faces=triangles, x=mesh.points, colours=colours, counts=counts)
        write_atomically(path, write)
    elif ending == ".glb":
        write_atomically(path, partial(glb.write_glb, faces=triangles, x=mesh.points, colours=of_faces))
    elif ending == ".vtu":
        data = {"collisions": counts}
        write_atomically(path, partial(vtu.write_vtu, cells=mesh.cells, x=mesh.points, data=data))
    elif ending in USD:

        def write_to(unfinished: Path) -> None:
            usd.write_usd(unfinished, triangles, [mesh.points], colours=of_faces, counts=counts, space=space)

        through_file(path, write_to)
    else:
        raise OutputError(f"{path.name}: offenders are written as .ply, .glb, .vtu, {', '.join(USD)}")
