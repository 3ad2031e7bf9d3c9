"""Collision detection for everything that bends: exact, fast, continuous and discrete.

Names are resolved on first use, so that ``import pliant`` loads neither numpy nor numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pliant import baselines, scenes
    from pliant._arrays import MeshError
    from pliant._tally import Stage
    from pliant.contacts import Contacts, Intersections, Queries, Step
    from pliant.detect import ccd, dcd, safe_step
    from pliant.detector import Detector
    from pliant.mesh.triangles import TriMesh
    from pliant.queries import edge_edge, vertex_face

_HOME = {
    "Contacts": "pliant.contacts",
    "Detector": "pliant.detector",
    "Intersections": "pliant.contacts",
    "MeshError": "pliant._arrays",
    "Queries": "pliant.contacts",
    "Stage": "pliant._tally",
    "Step": "pliant.contacts",
    "TriMesh": "pliant.mesh.triangles",
    "ccd": "pliant.detect",
    "dcd": "pliant.detect",
    "edge_edge": "pliant.queries",
    "safe_step": "pliant.detect",
    "vertex_face": "pliant.queries",
}

__all__ = [
    "Contacts",
    "Detector",
    "Intersections",
    "MeshError",
    "Queries",
    "Stage",
    "Step",
    "TriMesh",
    "baselines",
    "ccd",
    "dcd",
    "edge_edge",
    "safe_step",
    "scenes",
    "vertex_face",
]


def __getattr__(name: str) -> object:
    if name in ("baselines", "scenes"):
        return import_module(f"pliant.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
