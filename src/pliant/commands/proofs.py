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

LIMIT = 20_000  # triangles: reasons for all their pairs take some minutes to find


@verb
def verify(
    run: Run,
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What pliant ccd --certificate wrote.", show_default=False)
    ],
    a: Start,
    b: Annotated[Path, typer.Argument(metavar="B", help="The same mesh at the end.", show_default=False)],
    merge: Merged = True,
    sample: Annotated[
        int, typer.Option(min=1, help="Of a certificate without reasons: how many vertices and edges to draw.")
    ] = 20,
) -> int:
    """Check a certificate of contacts, in whole numbers, by code that shares nothing with the queries.

    Exit code: 0 if nothing that it says is wrong, 1 if something is, 2 if it cannot be checked. It is not signed: who
    wrote it is not known.
    """
    from pliant.certificates.statement import CertificateError, DisprovedError
    from pliant.certificates.writing import verify as verified
    from pliant.commands.inputs import on_disk, read_motion
    from pliant.report.outputs import Result

    start, x1 = read_motion(run, a, b, merge)
    head: dict[str, Any] = {"file": start.name, "to": b.as_posix(), "certificate": certificate.as_posix()}
    try:
        verdict = verified(on_disk(run, certificate), start.faces, start.x, x1, sample=sample)
    except DisprovedError as error:
        run.say(f"{certificate.as_posix()} is not true: {error}", style="bold")
        run.finish(Result("verify", {"is_wrong": True, "why": str(error)} | head))
        return FOUND
    except CertificateError as error:
        merged = " (vertices at equal positions are taken for one, unless --no-merge is given)" if start.merged else ""
        raise fault(f"{certificate.as_posix()} cannot be checked: {error}{merged}") from None
    how = "true, all of it" if verdict.is_complete else "nothing wrong was found, but not all was proved"
    run.say(f"{certificate.as_posix()}, {start.name} to {b.as_posix()}: {how}", style="bold")
    for words in _told(verdict):
        run.say(words)
    run.finish(Result("verify", {"is_wrong": False} | verdict._asdict() | head))
    return CLEAN


def _told(verdict: Verdict) -> list[str]:
    """What was checked, and what was not."""
    from pliant.report.tables import count

    rest = verdict.features_in_all - verdict.features
    of = f"{verdict.features:,} of {verdict.features_in_all:,}" if rest else f"all {verdict.features:,}"
    others = f"; other contacts of the {rest:,} vertices and edges that were not drawn" if rest else ""
    return [
        f"Checked: {count(verdict.contacts, 'contact')}, each with its first time; that {of} vertices and edges have "
        f"no others, by {count(verdict.directions, 'direction')} that keep features apart, and "
        f"{count(verdict.decided, 'pair')} of features decided.",
        f"Not checked: gaps, normals and weights, the version, and who wrote it{others}.",
    ]


def require_certifiable(pairs: Pairs, min_distance: float) -> None:
    """Said before anything is computed."""
    if pairs is not Pairs.all or min_distance:
        raise fault("a certificate is of all pairs, at distance 0: leave out --pairs and --min-distance")


def write_certificate(run: Run, path: Path, what: tuple[Mesh, np.ndarray], found: Contacts) -> None:
    from pliant.certificates.writing import certify

    start, x1 = what
    with_reasons = len(start.faces) <= LIMIT
    if not with_reasons:
        many = f"{len(start.faces):,} triangles are too many"
        run.say(f"The certificate has no reasons, for which {many}: pliant verify draws some.")
    made = certify(found, start.faces, start.x, x1, reasons=with_reasons)
    run.write(path, lambda file: file.write(made.as_bytes()))
