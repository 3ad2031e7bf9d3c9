"""Collision detection for everything that bends: exact, fast, continuous and discrete.

Names are resolved on first use, so that ``import pliant`` loads neither numpy nor numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pliant import baselines, characters, io, scenes, view
    from pliant._arrays import MeshError
    from pliant._tally import Stage
    from pliant.answers import Distances, Queries, TrianglePairs
    from pliant.contacts import (
        Contacts,
        Distance,
        Enclosed,
        Insides,
        Intersections,
        Proximity,
        Step,
    )
    from pliant.detect import ccd, dcd, safe_step
    from pliant.detector import Detector
    from pliant.insides import inside
    from pliant.mesh.triangles import TriMesh
    from pliant.mesh.volumes import VolumeMesh
    from pliant.motion import Accelerated, Affine, Rigid, Screw, trace_back
    from pliant.nearby import distance, proximity
    from pliant.queries import edge_edge, edge_edge_distance, vertex_face, vertex_face_distance
    from pliant.scanning import Scan, ScannedFrame, scan
    from pliant.sequence import Sequence
    from pliant.triangle_queries import triangle_distance, triangle_triangle

_HOME = {
    "Accelerated": "pliant.motion",
    "Affine": "pliant.motion",
    "Contacts": "pliant.contacts",
    "Detector": "pliant.detector",
    "Distance": "pliant.contacts",
    "Distances": "pliant.answers",
    "Enclosed": "pliant.contacts",
    "Insides": "pliant.contacts",
    "Intersections": "pliant.contacts",
    "MeshError": "pliant._arrays",
    "Proximity": "pliant.contacts",
    "Queries": "pliant.answers",
    "Rigid": "pliant.motion",
    "Scan": "pliant.scanning",
    "ScannedFrame": "pliant.scanning",
    "Screw": "pliant.motion",
    "Sequence": "pliant.sequence",
    "Stage": "pliant._tally",
    "Step": "pliant.contacts",
    "TriMesh": "pliant.mesh.triangles",
    "TrianglePairs": "pliant.answers",
    "VolumeMesh": "pliant.mesh.volumes",
    "ccd": "pliant.detect",
    "dcd": "pliant.detect",
    "distance": "pliant.nearby",
    "edge_edge": "pliant.queries",
    "edge_edge_distance": "pliant.queries",
    "inside": "pliant.insides",
    "proximity": "pliant.nearby",
    "safe_step": "pliant.detect",
    "scan": "pliant.scanning",
    "trace_back": "pliant.motion",
    "triangle_distance": "pliant.triangle_queries",
    "triangle_triangle": "pliant.triangle_queries",
    "vertex_face": "pliant.queries",
    "vertex_face_distance": "pliant.queries",
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
    "baselines",
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
    if name in ("baselines", "characters", "io", "scenes", "view"):
        return import_module(f"pliant.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
