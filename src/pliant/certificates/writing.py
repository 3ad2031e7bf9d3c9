"""Certificates of contacts: written, saved, and checked again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant import __version__
from pliant.certificates.reasons import Reasons, order_of
from pliant.certificates.verifier import (
    FORMAT,
    KINDS,
    Checker,
    Inputs,
    Ranges,
    Verdict,
    check,
    chosen_of,
    digests,
    features_of,
    prove,
    read,
)
from pliant.mesh.triangles import TriMesh
from pliant.results.contacts import STATUS, Contacts
from pliant.runtime.arrays import OptionError, as_positions, require_in_range
from pliant.runtime.writing import write_atomically


@dataclass(frozen=True, repr=False)
class Certificate:
    """What a query has found, and why it is true, for whom does not want to believe it.

    content : what its file holds (docs: Certificates)
    """

    content: dict[str, Any]

    def __repr__(self) -> str:
        sample = self.content["sample"]
        how = "all others proved free" if sample is None else f"of {sample} vertices and edges all others proved free"
        return f"Certificate({len(self.content['contacts'])} contacts, {how})"

    def as_bytes(self) -> bytes:
        """What its file holds.

        Returns
        -------
        bytes
            JSON
        """
        return json.dumps(self.content, separators=(",", ":"), allow_nan=False).encode()

    def save(self, path: str | Path) -> None:
        """Write it as JSON.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        OSError
            Where it cannot be written; then there is no half of it.
        """
        write_atomically(Path(path), lambda file: file.write(self.as_bytes()))


def certify(contacts: Contacts, mesh: Any, x0: Any, x1: Any, *, sample: int | None = None) -> Certificate:
    """Write down why the contacts that ``pliant.ccd(mesh, x0, x1)`` has found are all that there are.

    Parameters
    ----------
    contacts : Contacts
        What ``ccd`` returned, whole. Empty for the step of a simulation that is free of contact.
    mesh : (m, 3) integers, TriMesh, or a trimesh, meshio or pyvista object
        The same mesh.
    x0, x1 : (n, 3) floats
        The same positions.
    sample : int, optional
        Prove for so many vertices and so many edges, which nobody chooses, that they have no other contacts. Default:
        for all, which is meant for some thousands of triangles.

    Returns
    -------
    Certificate
        Contacts are listed, all of them.

    Raises
    ------
    MeshError
        Where the input is wrong.
    CertificateError
        Where the contacts are not those of this motion: one is missing.
    """
    inputs = inputs_of(mesh, x0, x1)
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 0):
        raise OptionError(f"sample must be a number of features, or None, got {sample!r}")
    content: dict[str, Any] = {
        "pliant certificate": FORMAT,
        "version": __version__,
        "query": "ccd",
        "pairs": "all",
        "inputs": digests(inputs),
        "counts": dict(zip(KINDS, (len(contacts.vf), len(contacts.ee)), strict=True)),
        "sample": None if sample is None else int(sample),
        "contacts": [list(row) for row in listed_in(contacts)],
    }
    return Certificate({**content, "reasons": _reasons(inputs, content)})


def _reasons(inputs: Inputs, content: dict[str, Any]) -> dict[str, Any]:
    """Of all pairs that are not listed, in the order in which the verifier asks for them."""
    features, checker = features_of(inputs), Checker(inputs)
    x0, x1 = (np.array(x, float).reshape(-1, 3) for x in (inputs.x0, inputs.x1))
    ids = features.all()
    order = {name: order_of(x0, x1, getattr(features, name), ids[name]) for name in ids}
    found: list[Reasons] = []

    def reasons_for(kind: int, rows: Ranges, columns: Ranges) -> Reasons:
        found.append(Reasons(checker, kind, (x0, x1), (rows, columns)))
        return found[-1]

    listed = {tuple(row[:3]) for row in content["contacts"]}
    prove(checker, features, order, chosen_of(content, features), listed, reasons_for)
    return {"order": order} | {name: reasons.found for name, reasons in zip(KINDS, found, strict=True)}


def listed_in(contacts: Contacts) -> list[tuple[int, int, int, float, float]]:
    """(kind, feature, feature, toi, toi_upper) of each contact."""
    if (contacts.status == STATUS.index("stalled")).any():
        raise OptionError("contacts that advancement has found are not exact: there is nothing to certify")
    columns = contacts.kind, *contacts.elements.T, contacts.toi, contacts.toi_upper
    return [*zip(*(column.tolist() for column in columns), strict=True)]


def verify(certificate: Certificate | dict[str, Any] | str | Path, mesh: Any, x0: Any, x1: Any) -> Verdict:
    """Check a certificate of contacts, in whole numbers, by code that shares nothing with the queries.

    Parameters
    ----------
    certificate : Certificate, dict, str or Path
        Or the file that it is in.
    mesh : (m, 3) integers, TriMesh, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) floats
        What it should be about.

    Returns
    -------
    Verdict
        What was checked, in numbers.

    Raises
    ------
    CertificateError
        Where something that it says is not true.
    """
    content = certificate.content if isinstance(certificate, Certificate) else certificate
    return check(read(content) if isinstance(content, str | Path) else content, inputs_of(mesh, x0, x1))


def inputs_of(mesh: Any, x0: Any, x1: Any) -> Inputs:
    """As plain lists; of input that a query takes, too."""
    surface = mesh if isinstance(mesh, TriMesh) else TriMesh(mesh)
    start = as_positions(x0, "x0")
    end = as_positions(x1, "x1", len(start))
    indices = surface.faces, surface.loose_edges, surface.loose_points
    for array, name in zip(indices, ("faces", "edges", "points"), strict=True):
        require_in_range(array, name, len(start))
    return Inputs(*(array.tolist() for array in (*indices, start, end)))
