"""Collision detection for everything that bends: exact, fast, continuous and discrete.

Names are resolved on first use, so that ``import pliant`` loads neither numpy nor numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pliant import characters, io, scenes, view
    from pliant.engine.motion import Accelerated, Affine, Rigid, Screw, trace_back
    from pliant.frames.scanning import Scan, ScannedFrame, scan
    from pliant.frames.sequence import Sequence
    from pliant.mesh.triangles import TriMesh
    from pliant.mesh.volumes import VolumeMesh
    from pliant.queries.detect import ccd, dcd, safe_step
    from pliant.queries.detector import Detector
    from pliant.queries.features import edge_edge, edge_edge_distance, vertex_face, vertex_face_distance
    from pliant.queries.insides import inside
    from pliant.queries.nearby import distance, proximity
    from pliant.queries.triangles import triangle_distance, triangle_triangle
    from pliant.results.answers import Distances, Queries, TrianglePairs
    from pliant.results.contacts import (
        Contacts,
        Distance,
        Enclosed,
        Insides,
        Intersections,
        Proximity,
        Step,
    )
    from pliant.runtime.arrays import MeshError
    from pliant.runtime.tally import Stage

_HOME = {
    "Accelerated": "pliant.engine.motion",
    "Affine": "pliant.engine.motion",
    "Contacts": "pliant.results.contacts",
    "Detector": "pliant.queries.detector",
    "Distance": "pliant.results.contacts",
    "Distances": "pliant.results.answers",
    "Enclosed": "pliant.results.contacts",
    "Insides": "pliant.results.contacts",
    "Intersections": "pliant.results.contacts",
    "MeshError": "pliant.runtime.arrays",
    "Proximity": "pliant.results.contacts",
    "Queries": "pliant.results.answers",
    "Rigid": "pliant.engine.motion",
    "Scan": "pliant.frames.scanning",
    "ScannedFrame": "pliant.frames.scanning",
    "Screw": "pliant.engine.motion",
    "Sequence": "pliant.frames.sequence",
    "Stage": "pliant.runtime.tally",
    "Step": "pliant.results.contacts",
    "TriMesh": "pliant.mesh.triangles",
    "TrianglePairs": "pliant.results.answers",
    "VolumeMesh": "pliant.mesh.volumes",
    "ccd": "pliant.queries.detect",
    "dcd": "pliant.queries.detect",
    "distance": "pliant.queries.nearby",
    "edge_edge": "pliant.queries.features",
    "edge_edge_distance": "pliant.queries.features",
    "inside": "pliant.queries.insides",
    "proximity": "pliant.queries.nearby",
    "safe_step": "pliant.queries.detect",
    "scan": "pliant.frames.scanning",
    "trace_back": "pliant.engine.motion",
    "triangle_distance": "pliant.queries.triangles",
    "triangle_triangle": "pliant.queries.triangles",
    "vertex_face": "pliant.queries.features",
    "vertex_face_distance": "pliant.queries.features",
}

__all__ = [
    "Accelerated",
    "Affine",
    "Contacts",
    "Detector",
    "Distance",
    "Distances",
    "Enclosed",
    "Insides",
    "Intersections",
    "MeshError",
    "Proximity",
    "Queries",
    "Rigid",
    "Scan",
    "ScannedFrame",
    "Screw",
    "Sequence",
    "Stage",
    "Step",
    "TriMesh",
    "TrianglePairs",
    "VolumeMesh",
    "ccd",
    "characters",
    "dcd",
    "distance",
    "edge_edge",
    "edge_edge_distance",
    "inside",
    "io",
    "proximity",
    "safe_step",
    "scan",
    "scenes",
    "trace_back",
    "triangle_distance",
    "triangle_triangle",
    "vertex_face",
    "vertex_face_distance",
    "view",
]


def __getattr__(name: str) -> object:
    if name in ("characters", "io", "scenes", "view"):
        return import_module(f"pliant.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
