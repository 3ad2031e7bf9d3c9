"""A result checked without a file: what a certificate without reasons would say."""

from __future__ import annotations

from typing import Any

from pliant.certificates.verifier import Verdict, check
from pliant.certificates.writing import content_of, inputs_of, listed_in, require_count
from pliant.results.contacts import Contacts


def audit(contacts: Contacts, mesh: Any, x0: Any, x1: Any, *, sample: int = 20, seed: int | None = None) -> Verdict:
    """Decide contacts again, and all pairs of features that are drawn by chance, by code that shares nothing with the
    queries.

    Parameters
    ----------
    contacts : Contacts
        What ``pliant.ccd(mesh, x0, x1)`` returned, whole: each is decided again.
    mesh : (m, 3) integers, TriMesh, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) floats
        The same mesh and positions.
    sample : int
        How many vertices and how many edges are drawn. A pair of features takes some microseconds, or, near each other,
        a millisecond; a vertex has as many pairs as there are faces.
    seed : int, optional
        Draws them; default: one that nobody knows beforehand.

    Returns
    -------
    Verdict
        What was checked.

    Raises
    ------
    MeshError
        Where the input is wrong.
    DisprovedError
        Where a contact is none, has another time, or is missing; the message says which.
    """
    require_count(sample)
    inputs = inputs_of(mesh, x0, x1)
    return check(content_of(listed_in(contacts), inputs), inputs, int(sample), seed)
