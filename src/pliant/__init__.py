"""Collision detection and response for everything that bends: exact, fast, continuous and discrete.

Names are resolved on first use, so that ``import pliant`` loads neither numpy nor numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pliant import characters, io, scenes, simulate, simulated, view
    from pliant.arithmetic.kinds import EDGE_EDGE, VERTEX_FACE
    from pliant.certificates.auditing import audit
    from pliant.certificates.statement import CertificateError, DisprovedError
    from pliant.certificates.verifier import Verdict
    from pliant.certificates.writing import Certificate, certify, verify
    from pliant.engine.motion import Accelerated, Affine, Rigid, Screw, trace_back
    from pliant.engine.plan import Accuracy, Tuning
    from pliant.frames.scanning import Scan, ScannedFrame, scan
    from pliant.frames.sequence import Sequence
    from pliant.frames.untangled import UntangledFrame, UntangledSequence, untangle_sequence
    from pliant.mesh.changed.cells import CellIndexError
    from pliant.mesh.o_sets import TooManyOrphans
    from pliant.mesh.triangles import TriMesh
    from pliant.mesh.volumes import CellTypeError, RepeatedVertexError, VolumeMesh
    from pliant.queries.batches import ccd_batch, check_batch, step_batch
    from pliant.queries.detect import ccd, check, near, step
    from pliant.queries.detector import Detector
    from pliant.queries.distances import distance
    from pliant.queries.features import edge_edge, edge_edge_distance, vertex_face, vertex_face_distance
    from pliant.queries.insides import inside
    from pliant.queries.near_pairs import NearPairs, StalePairsError
    from pliant.queries.triangles import triangle_distance, triangle_triangle
    from pliant.queries.windings import winding
    from pliant.response.driven import PinchedError
    from pliant.response.resolver import Resolver
    from pliant.response.resolving import resolve
    from pliant.results.answers import PairContacts, PairDistances, TrianglePairs, Windings
    from pliant.results.contacts import STATUS, Contacts
    from pliant.results.contours import Contours, Region
    from pliant.results.insides import InsideCells, InsideSurface
    from pliant.results.intersections import Intersections
    from pliant.results.proximity import Proximity
    from pliant.results.resolved import Resolved
    from pliant.results.steps import MeshDistance, Step
    from pliant.results.untangled import AreaChange, Phase, Untangled
    from pliant.runtime.arrays import (
        DtypeError,
        MaskedError,
        MeshError,
        NonFiniteError,
        OpenSurfaceError,
        OptionError,
        ShapeError,
        TangledError,
        VertexIndexError,
    )
    from pliant.runtime.tally import Stage
    from pliant.untangling.given import LayersError
    from pliant.untangling.untangle import untangle

    dcd = check
    dcd_batch = check_batch
    safe_step = step
    safe_step_batch = step_batch
    proximity = near

_HOME = {
    "Accelerated": "pliant.engine.motion",
    "Accuracy": "pliant.engine.plan",
    "Affine": "pliant.engine.motion",
    "AreaChange": "pliant.results.untangled",
    "CellIndexError": "pliant.mesh.changed.cells",
    "CellTypeError": "pliant.mesh.volumes",
    "Certificate": "pliant.certificates.writing",
    "CertificateError": "pliant.certificates.statement",
    "Contacts": "pliant.results.contacts",
    "Contours": "pliant.results.contours",
    "Detector": "pliant.queries.detector",
    "DisprovedError": "pliant.certificates.statement",
    "DtypeError": "pliant.runtime.arrays",
    "EDGE_EDGE": "pliant.arithmetic.kinds",
    "InsideCells": "pliant.results.insides",
    "InsideSurface": "pliant.results.insides",
    "Intersections": "pliant.results.intersections",
    "LayersError": "pliant.untangling.given",
    "MaskedError": "pliant.runtime.arrays",
    "MeshDistance": "pliant.results.steps",
    "MeshError": "pliant.runtime.arrays",
    "NonFiniteError": "pliant.runtime.arrays",
    "OpenSurfaceError": "pliant.runtime.arrays",
    "OptionError": "pliant.runtime.arrays",
    "NearPairs": "pliant.queries.near_pairs",
    "PairContacts": "pliant.results.answers",
    "PairDistances": "pliant.results.answers",
    "Phase": "pliant.results.untangled",
    "PinchedError": "pliant.response.driven",
    "Proximity": "pliant.results.proximity",
    "RepeatedVertexError": "pliant.mesh.volumes",
    "Region": "pliant.results.contours",
    "Resolved": "pliant.results.resolved",
    "Resolver": "pliant.response.resolver",
    "Rigid": "pliant.engine.motion",
    "STATUS": "pliant.results.contacts",
    "Scan": "pliant.frames.scanning",
    "ScannedFrame": "pliant.frames.scanning",
    "Screw": "pliant.engine.motion",
    "Sequence": "pliant.frames.sequence",
    "ShapeError": "pliant.runtime.arrays",
    "Stage": "pliant.runtime.tally",
    "StalePairsError": "pliant.queries.near_pairs",
    "Step": "pliant.results.steps",
    "TangledError": "pliant.runtime.arrays",
    "TooManyOrphans": "pliant.mesh.o_sets",
    "TriMesh": "pliant.mesh.triangles",
    "TrianglePairs": "pliant.results.answers",
    "Tuning": "pliant.engine.plan",
    "Verdict": "pliant.certificates.verifier",
    "Untangled": "pliant.results.untangled",
    "UntangledFrame": "pliant.frames.untangled",
    "UntangledSequence": "pliant.frames.untangled",
    "VERTEX_FACE": "pliant.arithmetic.kinds",
    "VertexIndexError": "pliant.runtime.arrays",
    "VolumeMesh": "pliant.mesh.volumes",
    "Windings": "pliant.results.answers",
    "audit": "pliant.certificates.auditing",
    "ccd": "pliant.queries.detect",
    "ccd_batch": "pliant.queries.batches",
    "certify": "pliant.certificates.writing",
    "check": "pliant.queries.detect",
    "check_batch": "pliant.queries.batches",
    "distance": "pliant.queries.distances",
    "edge_edge": "pliant.queries.features",
    "edge_edge_distance": "pliant.queries.features",
    "inside": "pliant.queries.insides",
    "near": "pliant.queries.detect",
    "resolve": "pliant.response.resolving",
    "scan": "pliant.frames.scanning",
    "step": "pliant.queries.detect",
    "step_batch": "pliant.queries.batches",
    "trace_back": "pliant.engine.motion",
    "triangle_distance": "pliant.queries.triangles",
    "triangle_triangle": "pliant.queries.triangles",
    "untangle": "pliant.untangling.untangle",
    "untangle_sequence": "pliant.frames.untangled",
    "verify": "pliant.certificates.writing",
    "vertex_face": "pliant.queries.features",
    "vertex_face_distance": "pliant.queries.features",
    "winding": "pliant.queries.windings",
}
# Other names of the same functions, for good.
_ALIASES = {
    "dcd": "check",
    "dcd_batch": "check_batch",
    "safe_step": "step",
    "safe_step_batch": "step_batch",
    "proximity": "near",
}
# Names before 1.0: they work for one more version, with a warning.
_OLD = {
    "Queries": "PairContacts",
    "Distances": "PairDistances",
    "Insides": "InsideCells",
    "Enclosed": "InsideSurface",
    "Distance": "MeshDistance",
}

__all__ = [
    "EDGE_EDGE",
    "STATUS",
    "VERTEX_FACE",
    "Accelerated",
    "Accuracy",
    "Affine",
    "AreaChange",
    "CellIndexError",
    "CellTypeError",
    "Certificate",
    "CertificateError",
    "Contacts",
    "Contours",
    "Detector",
    "DisprovedError",
    "DtypeError",
    "InsideCells",
    "InsideSurface",
    "Intersections",
    "LayersError",
    "MaskedError",
    "MeshDistance",
    "MeshError",
    "NearPairs",
    "NonFiniteError",
    "OpenSurfaceError",
    "OptionError",
    "PairContacts",
    "PairDistances",
    "Phase",
    "PinchedError",
    "Proximity",
    "Region",
    "RepeatedVertexError",
    "Resolved",
    "Resolver",
    "Rigid",
    "Scan",
    "ScannedFrame",
    "Screw",
    "Sequence",
    "ShapeError",
    "Stage",
    "StalePairsError",
    "Step",
    "TangledError",
    "TooManyOrphans",
    "TriMesh",
    "TrianglePairs",
    "Tuning",
    "Untangled",
    "UntangledFrame",
    "UntangledSequence",
    "Verdict",
    "VertexIndexError",
    "VolumeMesh",
    "Windings",
    "audit",
    "ccd",
    "ccd_batch",
    "certify",
    "characters",
    "check",
    "check_batch",
    "dcd",
    "dcd_batch",
    "distance",
    "edge_edge",
    "edge_edge_distance",
    "inside",
    "io",
    "near",
    "proximity",
    "resolve",
    "safe_step",
    "safe_step_batch",
    "scan",
    "scenes",
    "simulate",
    "simulated",
    "step",
    "step_batch",
    "trace_back",
    "triangle_distance",
    "triangle_triangle",
    "untangle",
    "untangle_sequence",
    "verify",
    "vertex_face",
    "vertex_face_distance",
    "view",
    "winding",
]


def __getattr__(name: str) -> object:
    if name in ("characters", "io", "scenes", "simulate", "simulated", "view"):
        return import_module(f"pliant.{name}")
    if name in _OLD:
        import warnings

        warnings.warn(f"pliant.{name} is deprecated: use pliant.{_OLD[name]}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(_HOME[_OLD[name]]), _OLD[name])
    home = _ALIASES.get(name, name)
    if home in _HOME:
        found = globals()[name] = getattr(import_module(_HOME[home]), home)  # the next time it is found at once
        return found
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
