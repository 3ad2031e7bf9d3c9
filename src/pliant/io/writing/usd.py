"""USD: one mesh, with time samples or colours, through usd-core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.io.usd import pxr_for
from pliant.mesh.space import Space

_CODES_PER_SECOND = 24.0


def write_usd(
    path: Path,
    faces: np.ndarray,
    frames: Iterable[np.ndarray],
    times: np.ndarray | None = None,
    *,
    colours: np.ndarray | None = None,
    counts: np.ndarray | None = None,
    space: Space | None = None,
    numbers: Iterable[dict[str, np.ndarray]] | None = None,
    meshes: Sequence[tuple[float, np.ndarray]] = (),
) -> None:
    """Coordinates are rounded to float32.

    frames : (n, 3) each; only the first is written without `times`, which are seconds
    colours : (m, 3) uint8 of the faces; counts : (m,) a number for each, the primvar "collisions"
    space : which axis points up, and how long a unit is; coordinates are written as they are
    numbers : for each frame, {name: (m,)} of the faces, primvars; names are made ones that USD takes
    meshes : times, and faces from each of them on, where they change; the first are those of the first frame
    """
    pxr = pxr_for(path)
    # A layer is saved where it was made: path is one that gets its name later.
    stage = pxr.Usd.Stage.CreateNew(str(path))
    stage.SetTimeCodesPerSecond(_CODES_PER_SECOND)
    up = pxr.UsdGeom.Tokens.z if space is not None and space.up == "z" else pxr.UsdGeom.Tokens.y
    pxr.UsdGeom.SetStageUpAxis(stage, up)
    if space is not None and space.metres is not None:
        pxr.UsdGeom.SetStageMetersPerUnit(stage, space.metres)
    mesh = pxr.UsdGeom.Mesh.Define(stage, "/mesh")
    stage.SetDefaultPrim(mesh.GetPrim())
    mesh.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
    sizes, corners = mesh.CreateFaceVertexCountsAttr(), mesh.CreateFaceVertexIndicesAttr()
    for time, of_mesh in meshes if len(meshes) > 1 else ((None, faces),):
        code = pxr.Usd.TimeCode.Default() if time is None else time * _CODES_PER_SECOND
        sizes.Set(pxr.Vt.IntArray.FromNumpy(np.full(len(of_mesh), 3, np.int32)), code)
        corners.Set(pxr.Vt.IntArray.FromNumpy(of_mesh.reshape(-1).astype(np.int32)), code)
    points = mesh.CreatePointsAttr()
    if times is None:
        points.Set(_vectors(pxr, next(iter(frames))))
    else:
        stage.SetStartTimeCode(float(times[0]) * _CODES_PER_SECOND)
        stage.SetEndTimeCode(float(times[-1]) * _CODES_PER_SECOND)
        for time, x in zip(times, frames):
            points.Set(_vectors(pxr, x), float(time) * _CODES_PER_SECOND)
    primvars = pxr.UsdGeom.PrimvarsAPI(mesh)
    for time, values in zip(times if times is not None else (), numbers or ()):
        for name, of_faces in values.items():
            named = pxr.Tf.MakeValidIdentifier(name)
            one = primvars.CreatePrimvar(named, pxr.Sdf.ValueTypeNames.FloatArray, pxr.UsdGeom.Tokens.uniform)
            one.Set(pxr.Vt.FloatArray.FromNumpy(of_faces.astype(np.float32)), float(time) * _CODES_PER_SECOND)
    if colours is not None:
        mesh.CreateDisplayColorPrimvar(pxr.UsdGeom.Tokens.uniform).Set(_vectors(pxr, colours / 255.0))
    if counts is not None:
        kind = pxr.Sdf.ValueTypeNames.IntArray
        primvars.CreatePrimvar("collisions", kind, pxr.UsdGeom.Tokens.uniform).Set(
            pxr.Vt.IntArray.FromNumpy(counts.astype(np.int32))
        )
    stage.GetRootLayer().Save()


def _vectors(pxr: Any, x: np.ndarray) -> Any:
    return pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(x, np.float32))
