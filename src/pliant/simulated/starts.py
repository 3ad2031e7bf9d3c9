"""Starts that intersect: named as the user knows them, by parts and their faces."""

from __future__ import annotations

import numpy as np

from pliant.mesh.parts import Parts
from pliant.mesh.triangles import TriMesh
from pliant.queries.detect import check
from pliant.runtime.arrays import TangledError
from pliant.simulate.simulation import Simulation
from pliant.simulated.plan import Setup

_NAMED = 3  # pairs in a message


def require_free_start(setup: Setup, simulation: Simulation, threads: int | None = None) -> None:
    """A TangledError where the body intersects itself or an obstacle, before the first step."""
    mesh = simulation.mesh if isinstance(simulation.mesh, TriMesh) else simulation.mesh.surface()
    found = check(mesh, simulation.frame().scene, threads=threads)
    pairs = found.faces[simulation.free[mesh.faces[found.faces]].any(axis=(1, 2))]
    if not len(pairs):
        return
    parts = setup.parts()
    named = [" and ".join(_name(face, parts) for face in pair) for pair in pairs[:_NAMED].tolist()]
    more = f", and {len(pairs) - _NAMED} more pairs" if len(pairs) > _NAMED else ""
    raise TangledError(
        f"the start is tangled: {', '.join(named)}{more} intersect; separate them first (pliant check lists all pairs, "
        "pliant untangle moves them apart)",
        pairs,
    )


def _name(face: int, parts: Parts | None) -> str:
    if parts is None:
        return f"face {face}"
    part = parts.of_face[face]
    return f"face {face - np.flatnonzero(parts.of_face == part)[0]} of {parts.names[part]}"
