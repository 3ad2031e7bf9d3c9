"""USD: all meshes of a stage as one, skinned where they have skeletons, with their time samples; by usd-core."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.io.mesh import FileError, FileMesh, make
from pliant.io.opening import Options, carried, sequence_of
from pliant.io.polygons import fan
from pliant.io.usd_layers import Layers, file_of
from pliant.io.usd_skins import Skin, skins_of
from pliant.mesh.parts import parts_from
from pliant.mesh.space import Space
from pliant.runtime.extras import needed
from pliant.runtime.reading import current

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence


# Its errors begin with where in its own sources they were raised.
_SAID = re.compile(r"Error in '.*?' at line \d+ in file \S+ : '(.*?)'(?: Error in '|$)")


class _Part(NamedTuple):
    """One mesh of the stage."""

    mesh: Any
    counts: np.ndarray  # (k,) corners of its polygons
    corners: np.ndarray
    point_count: int
    skin: Skin | None


def read(path: Path) -> FileMesh:
    """All meshes at the first time sample, in the order of the stage, in the space of the world."""
    stage = _Stage(path)
    return stage.mesh


def open_frames(path: Path, options: Options) -> Sequence:
    """Frames are at the time samples of all points and transforms together."""
    stage = _Stage(path)
    by_rate = options.times(len(stage))
    return sequence_of(path, stage.mesh, stage, times=stage.times if by_rate is None else by_rate)


class _Stage:
    """Positions of all meshes at each time sample."""

    def __init__(self, path: Path) -> None:
        self._path = path
        pxr = pxr_for(path)
        with _named(path):
            # Diagnostics of usd-core go to the terminal, unless someone collects them.
            self._quiet = pxr.UsdUtils.CoalescingDiagnosticDelegate()
            self._layers = Layers(pxr, path)
            self._pxr, self._stage = pxr, pxr.Usd.Stage.Open(self._layers.root)
            self._require_own_layers()
            codes: set[float] = set()
            skins = skins_of(pxr, self._stage)
            parts = [self._part(prim, skins.get(prim.GetPath()), codes) for prim in self._meshes()]
            space, rate = self._space(), self._stage.GetTimeCodesPerSecond()
        if not parts:
            raise FileError(f"{path.name}: the stage has no meshes")
        self._parts, self._codes = parts, sorted(codes) or [None]
        with np.errstate(divide="ignore", invalid="ignore"):  # times that are not finite are named later
            self.times = np.array([code or 0.0 for code in self._codes]) / rate
        begins = np.cumsum([0] + [part.point_count for part in parts])
        corners = np.concatenate([part.corners + begin for part, begin in zip(parts, begins)])
        faces = fan(np.concatenate([part.counts for part in parts]), corners)
        triangles = [int((part.counts - 2).sum()) for part in parts]
        named = parts_from([str(part.mesh.GetPath()) for part in parts], triangles)
        self.mesh = make(path, [("triangle", faces)], self[0], parts=named, space=space)

    def _space(self) -> Space:
        UsdGeom = self._pxr.UsdGeom
        metres = UsdGeom.GetStageMetersPerUnit(self._stage)
        known = UsdGeom.StageHasAuthoredMetersPerUnit(self._stage) and 0.0 < metres < np.inf
        return Space("z" if UsdGeom.GetStageUpAxis(self._stage) == UsdGeom.Tokens.z else "y", metres if known else None)

    def _require_own_layers(self) -> None:
        """What is composed in other ways than by naming files in a layer, or found by a search path."""
        for layer in self._stage.GetUsedLayers():
            if layer.realPath:
                current().require_inside(self._path, file_of(layer.realPath))

    def _meshes(self) -> Iterator[Any]:
        Usd, UsdGeom = self._pxr.Usd, self._pxr.UsdGeom
        for prim in Usd.PrimRange.Stage(self._stage, Usd.TraverseInstanceProxies()):
            if prim.IsA(UsdGeom.Mesh):
                yield prim

    def _part(self, prim: Any, skin: Skin | None, codes: set[float]) -> _Part:
        mesh = self._pxr.UsdGeom.Mesh(prim)
        where = f"{self._path.name}: {prim.GetPath()}"
        for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr()):
            if attribute.GetNumTimeSamples() > 1:
                raise FileError(f"{where}: the faces change over time; one set of faces is needed for all frames")
        codes.update(mesh.GetPointsAttr().GetTimeSamples())
        codes.update(skin.samples() if skin else ())
        above = skin.carrier if skin else prim
        while above and not above.IsPseudoRoot():
            if above.IsA(self._pxr.UsdGeom.Xformable):
                codes.update(self._pxr.UsdGeom.Xformable(above).GetTimeSamples())
            above = above.GetParent()
        first = self._pxr.Usd.TimeCode.EarliestTime()
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get(first) or (), np.int64)
        corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(first) or (), np.int64)
        points = len(mesh.GetPointsAttr().Get(first) or ())
        # Of positions, and of corners as polygons and as triangles. Many prims can have one array.
        current().charge(8 * (3 * points + len(counts) + 4 * len(corners)), str(prim.GetPath())[:80])
        if (counts < 3).any() or counts.sum() != len(corners):
            raise FileError(f"{where}: has {len(corners)} corners, which do not make its {len(counts)} faces")
        if len(corners) and (corners.min() < 0 or corners.max() >= points):
            raise FileError(f"{where}: a face refers to point {corners.max()}, but there are {points}")
        return _Part(mesh, counts, corners, points, skin)

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, frame: int) -> np.ndarray:
        code = self._codes[frame]
        time = self._pxr.Usd.TimeCode.EarliestTime() if code is None else self._pxr.Usd.TimeCode(code)
        with _named(self._path):
            return np.concatenate([np.empty((0, 3)), *(self._placed(part, time) for part in self._parts)])

    def _placed(self, part: _Part, time: Any) -> np.ndarray:
        points = part.mesh.GetPointsAttr().Get(time) or ()
        if len(points) != part.point_count:
            where = part.mesh.GetPath()
            raise FileError(
                f"{self._path.name}: {where} has {len(points)} points here, but {part.point_count} at first"
            )
        if part.skin and points:
            part.skin.pose(self._pxr, points, time)
        x = np.array(points, np.float64).reshape(-1, 3)
        carrier = self._pxr.UsdGeom.Imageable(part.skin.carrier) if part.skin else part.mesh
        matrix = np.array(carrier.ComputeLocalToWorldTransform(time))  # of rows: x M
        if np.array_equal(matrix, np.eye(4)):
            return x
        return carried(x, matrix[:3, :3], matrix[3, :3])


def pxr_for(path: Path) -> Any:
    """The modules of usd-core."""
    with needed("pxr", "pliant.io", path.name):
        import pxr
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdSkel, UsdUtils, Vt  # noqa: F401
    return pxr


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """What usd-core raises, as errors that name the file."""
    from pxr import Tf

    thrown = getattr(Tf, "CppException", Tf.ErrorException)  # not in the stubs, and not in old versions
    try:
        yield
    except (Tf.ErrorException, thrown, RuntimeError, ValueError, TypeError, AttributeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path.name}: usd-core cannot read it ({_shown(error, path)})") from error


def _shown(error: BaseException, path: Path) -> str:
    try:
        said = " ".join(str(error).split())
    except UnicodeDecodeError:  # its message quotes the file, whatever is in there
        return type(error).__name__
    found = _SAID.search(said)
    return (found[1].strip() if found else said).replace(str(path), path.name)[:200]
