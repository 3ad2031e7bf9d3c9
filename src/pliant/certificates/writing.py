"""Certificates of contacts: written, saved, and checked again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from pliant import __version__
from pliant.certificates.reasons import Reasons, order_of
from pliant.certificates.statement import FORMAT, KINDS, CertificateError, Features, Inputs, digests, features_of, read
from pliant.certificates.verifier import Checker, Ranges, Verdict, check, prove, require_contacts
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
        how = "with" if self.content.get("reasons") else "without"
        return f"Certificate({len(self.content.get('contacts', ()))} contacts, {how} reasons why there are no others)"

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


def certify(contacts: Contacts, mesh: Any, x0: Any, x1: Any, *, reasons: bool = True) -> Certificate:
    """Write down why the contacts that ``pliant.ccd(mesh, x0, x1)`` has found are right, and all that there are.

    Parameters
    ----------
    contacts : Contacts
        What ``ccd`` returned, whole. Empty for the step of a simulation that is free of contact.
    mesh : (m, 3) integers, TriMesh, or a trimesh, meshio or pyvista object
        The same mesh.
    x0, x1 : (n, 3) floats
        The same positions.
    reasons : bool
        Whether to say why there are no others, which is meant for some thousands of triangles. Without, who reads it
        draws a sample.

    Returns
    -------
    Certificate

    Raises
    ------
    MeshError
        Where the input is wrong.
    DisprovedError
        Where these are not the contacts of this motion: one is wrong, or, with reasons, one is missing.
    """
    inputs, listed = inputs_of(mesh, x0, x1), listed_in(contacts)
    features, checker = features_of(inputs), Checker(inputs)
    require_contacts(checker, features, [(*row[:3], Fraction(row[3]), Fraction(row[4])) for row in listed])
    content = content_of(listed, inputs)
    if reasons:
        content["reasons"] = _reasons(inputs, features, checker, listed)
    return Certificate(content)


def content_of(listed: list[tuple[int, int, int, float, float]], inputs: Inputs) -> dict[str, Any]:
    """A certificate without reasons."""
    return {
        "pliant certificate": FORMAT,
        "version": __version__,
        "query": "ccd",
        "pairs": "all",
        "inputs": digests(inputs),
        "counts": {name: sum(row[0] == kind for row in listed) for kind, name in enumerate(KINDS)},
        "contacts": [list(row) for row in listed],
        "reasons": None,
    }


def _reasons(
    inputs: Inputs, features: Features, checker: Checker, listed: list[tuple[int, int, int, float, float]]
) -> dict[str, Any]:
    """Of all pairs that are not listed, in the order in which the verifier asks for them."""
    x0, x1 = (np.array(x, float).reshape(-1, 3) for x in (inputs.x0, inputs.x1))
    order = {name: order_of(x0, x1, getattr(features, name), ids) for name, ids in features.all().items()}
    found: list[Reasons] = []
    pairs = {row[:3] for row in listed}

    def reasons_for(kind: int, rows: Ranges, columns: Ranges) -> Reasons:
        found.append(Reasons(checker, kind, (x0, x1), (rows, columns), pairs))
        return found[-1]

    prove(checker, features, order, pairs, reasons_for)
    return {"order": order} | {name: reasons.found for name, reasons in zip(KINDS, found, strict=True)}


def listed_in(contacts: Contacts) -> list[tuple[int, int, int, float, float]]:
    """(kind, feature, feature, toi, toi_upper) of each contact."""
    if not isinstance(contacts, Contacts):
        raise OptionError(f"contacts must be what pliant.ccd returned, got {type(contacts).__name__}")
    if (contacts.status == STATUS.index("stalled")).any():
        raise OptionError("contacts that advancement has found are not exact: there is nothing to certify")
    columns = contacts.kind, *contacts.elements.T, contacts.toi, contacts.toi_upper
    return [*zip(*(column.tolist() for column in columns), strict=True)]


def verify(
    certificate: Certificate | dict[str, Any] | str | Path,
    mesh: Any,
    x0: Any,
    x1: Any,
    *,
    sample: int = 20,
    seed: int | None = None,
) -> Verdict:
    """Check a certificate of contacts, in whole numbers, by code that shares nothing with the queries.

    Parameters
    ----------
    certificate : Certificate, dict, str or Path
        Or the file that it is in.
    mesh : (m, 3) integers, TriMesh, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) floats
        What it should be about.
    sample : int
        Where it has no reasons: how many vertices and how many edges to draw, all of whose pairs are decided.
    seed : int, optional
        Draws them; default: one that nobody knows beforehand.

    Returns
    -------
    Verdict
        What was checked; ``is_complete`` where it is proved that there are no other contacts.

    Raises
    ------
    MeshError
        Where the input is wrong.
    CertificateError
        Where it cannot be checked; ``DisprovedError`` where something that it says is not true.
    OSError
        Where its file cannot be read.
    """
    require_count(sample)
    content = certificate.content if isinstance(certificate, Certificate) else certificate
    inputs = inputs_of(mesh, x0, x1)
    if isinstance(content, str | Path):
        content = read(content)
    try:
        return check(content, inputs, int(sample), seed)
    except RecursionError:
        raise CertificateError("it has halves of halves of halves without end") from None


def require_count(sample: Any) -> None:
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 1:
        raise OptionError(f"sample must be a number of features from 1 on, got {sample!r}")


def inputs_of(mesh: Any, x0: Any, x1: Any) -> Inputs:
    """As plain lists; of input that a query takes, too."""
    surface = mesh if isinstance(mesh, TriMesh) else TriMesh(mesh)
    start = as_positions(x0, "x0")
    end = as_positions(x1, "x1", len(start))
    indices = surface.faces, surface.loose_edges, surface.loose_points
    for array, name in zip(indices, ("faces", "edges", "points"), strict=True):
        require_in_range(array, name, len(start))
    return Inputs(*(array.tolist() for array in (*indices, start, end)))
