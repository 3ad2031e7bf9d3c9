"""The verb verify: whether what a certificate says is true."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.commands.options import Merged, Pairs, Start
from pliant.commands.running import CLEAN, FOUND, Run, fault, verb

if TYPE_CHECKING:
    import numpy as np

    from pliant.certificates.verifier import Verdict
    from pliant.commands.inputs import Mesh
    from pliant.results.contacts import Contacts

LIMIT = 20_000  # triangles: a certificate of all their pairs takes some minutes to write


@verb
def verify(
    run: Run,
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What pliant ccd --certificate wrote.", show_default=False)
    ],
    a: Start,
    b: Annotated[Path, typer.Argument(metavar="B", help="The same mesh at the end.", show_default=False)],
    merge: Merged = True,
) -> int:
    """Check a certificate of contacts, in whole numbers, by code that shares nothing with the queries.

    Exit code: 0 if all that it says is true, 1 if something is not. It is not signed: who wrote it is not known.
    """
    from pliant.certificates.verifier import CertificateError
    from pliant.certificates.writing import verify as verified
    from pliant.commands.inputs import on_disk, read_motion
    from pliant.report.outputs import Result

    start, x1 = read_motion(run, a, b, merge)
    head: dict[str, Any] = {"file": start.name, "to": b.as_posix(), "certificate": certificate.as_posix()}
    try:
        verdict = verified(on_disk(run, certificate), start.faces, start.x, x1)
    except CertificateError as error:
        run.say(f"{certificate.as_posix()}: not true, {error}", style="bold")
        run.finish(Result("verify", {"is_true": False, "why": str(error)} | head))
        return FOUND
    run.say(f"{certificate.as_posix()}: true of {start.name} to {b.as_posix()}", style="bold")
    for words in _told(verdict):
        run.say(words)
    run.finish(Result("verify", {"is_true": True} | verdict._asdict() | head))
    return CLEAN


def _told(verdict: Verdict) -> list[str]:
    """What was checked, and what was not."""
    from pliant.report.tables import count

    rest = verdict.features_in_all - verdict.features
    of = (
        f"of all {verdict.features_in_all:,}" if not rest else f"of {verdict.features:,} of {verdict.features_in_all:,}"
    )
    return [
        f"Checked: {count(verdict.contacts, 'contact')}, each with its first time; {of} vertices and edges, that they "
        f"have no others: {count(verdict.directions, 'direction')} that keep features apart, "
        f"{count(verdict.decided, 'pair')} decided without.",
        "Not checked: gaps, normals, weights and the version of pliant, who wrote it"
        + (f"; other contacts of {rest:,} vertices and edges, which the sample leaves out." if rest else "."),
    ]


def require_certifiable(pairs: Pairs, min_distance: float) -> None:
    """Said before anything is computed."""
    if pairs is not Pairs.all or min_distance:
        raise fault("a certificate is of all pairs, at distance 0: leave out --pairs and --min-distance")


def write_certificate(run: Run, path: Path, what: tuple[Mesh, np.ndarray], found: Contacts, sample: int | None) -> None:
    from pliant.certificates.writing import certify

    start, x1 = what
    if sample is None and len(start.faces) > LIMIT:
        raise fault(
            f"{len(start.faces):,} triangles are too many for a certificate of all pairs: --sample 100 proves those of "
            "100 vertices and 100 edges, which nobody chooses"
        )
    made = certify(found, start.faces, start.x, x1, sample=sample)
    run.write(path, lambda file: file.write(made.as_bytes()))
