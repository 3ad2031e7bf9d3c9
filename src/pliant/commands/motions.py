"""Verbs about one motion: ccd, step."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.commands.animations import Wanted, follow
from pliant.commands.options import (
    AllRows,
    Clip,
    Culling,
    Every,
    Find,
    First,
    Format,
    HowCulled,
    Kind,
    Last,
    Merged,
    MeshFile,
    Offenders,
    Pairs,
    Rate,
    Start,
    StartAndEnd,
    Tangled,
)
from pliant.commands.proofs import require_certifiable, write_certificate
from pliant.commands.running import CLEAN, FOUND, Run, fault, verb

if TYPE_CHECKING:
    import numpy as np

    from pliant.commands.inputs import Mesh
    from pliant.results.contacts import Contacts
    from pliant.results.steps import Step
    from pliant.runtime.threads import Progress

Distance = Annotated[
    float,
    typer.Option(
        "--min-distance", min=0.0, help="Count coming within this distance as contact; in the units of the file."
    ),
]
HowTangled = Annotated[
    Tangled, typer.Option("--tangled", help="What to do if triangles intersect at the start (A and B only).")
]


@verb
def ccd(
    run: Run,
    files: StartAndEnd,
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    culling: HowCulled = Culling.auto,
    min_distance: Distance = 0.0,
    tangled: HowTangled = Tangled.warn,
    offenders: Offenders = None,
    first: First = None,
    last: Last = None,
    every: Every = 1,
    mesh: MeshFile = None,
    rate: Rate = None,
    clip: Clip = None,
    all_rows: AllRows = False,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write why these are right, and all, for pliant verify (A and B only)."),
    ] = None,
) -> int:
    """Find all contacts while vertices move in straight lines: from A to B, or from frame to frame of a sequence.

    Triangles that intersect during the whole motion have no contact: pliant check and pliant scan find them.
    """
    if certificate is not None:
        require_certifiable(pairs, min_distance)
        run.take_output(certificate)
    if len(files) != 2:
        from pliant.commands.inputs import Opening

        if certificate is not None:
            raise fault("--certificate is for a motion from A to B, not for a sequence")
        opening = Opening(first, last, every, merge, mesh, rate, clip)
        how = Find.contacts, pairs, culling
        return follow(
            run, (files, opening), how, Wanted(offenders=offenders), all_rows, "ccd", min_distance=min_distance
        )
    import pliant
    from pliant.commands.inputs import read_motion

    a, b = files
    run.take_output(offenders)
    start, x1 = read_motion(run, a, b, merge)
    with run.bar("Looking") as progress, _pointing_to_check(run, start):
        options = _options(run, start, pairs, tangled, progress)
        tuning = pliant.Tuning(culling=culling.value)
        found = pliant.ccd(start.faces, start.x, x1, min_distance=min_distance, tuning=tuning, **options)
    points = found.points(start.x, x1)
    _say_contacts(run, (start, found, points), b, all_rows)
    if offenders is not None:
        from pliant.commands.writing import write_offenders

        counts = found.face_counts(start.faces)
        write_offenders(run, offenders, (start.faces, start.x), counts, start.space)
    if certificate is not None:
        write_certificate(run, certificate, (start, x1), found)
    _finish_motion(run, "ccd", (start, b), (found, points), {})
    return FOUND if len(found) else CLEAN


@verb
def step(
    run: Run,
    a: Start,
    b: Annotated[Path, typer.Argument(metavar="B", help="The same mesh at the end.", show_default=False)],
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    min_distance: Distance = 0.0,
    tangled: HowTangled = Tangled.warn,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the mesh at the end of the safe step.")
    ] = None,
    file_format: Format = None,
) -> int:
    """Find how far the motion from A to B is free of contact, and the contact that ends it.

    Exit code: 0 if all of it is free, 1 if there is a contact.
    """
    import pliant
    from pliant.commands.inputs import read_motion

    run.take_output(output)
    start, x1 = read_motion(run, a, b, merge)
    with run.bar("Looking") as progress, _pointing_to_check(run, start):
        options = _options(run, start, pairs, tangled, progress)
        found = pliant.safe_step(start.faces, start.x, x1, min_distance=min_distance, **options)
    points = None if found.contact is None else found.contact.points(start.x, x1)
    _say_step(run, (start, b), (found, points), output)
    if output is not None:
        from pliant.commands.writing import write_mesh

        write_mesh(run, output, start, found.positions[start.merging.first], file_format)
    _finish_motion(run, "step", (start, b), (found.contact, points), {"t": found.t})
    return CLEAN if found.contact is None else FOUND


def _options(run: Run, start: Mesh, pairs: Pairs, tangled: Tangled, progress: Progress | None) -> dict[str, Any]:
    """That both verbs have."""
    asked = {"pairs": pairs.value, "tangled": tangled.value, "objects": start.objects}
    return asked | {"threads": run.threads, "progress": progress}


@contextlib.contextmanager
def _pointing_to_check(run: Run, start: Mesh) -> Iterator[None]:
    """Where a motion starts tangled, say how the command line lists that: the library names its own call."""
    from pliant.runtime.arrays import TangledError

    def said(message: str) -> str:
        how = f"at the start; pliant check {start.name} lists them"
        return message.replace("at x0; pliant.check(mesh, x0) lists them", how)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except TangledError as error:
            raise TangledError(said(str(error))) from None
    for one in caught:
        run.warn(said(str(one.message)))


def _say_contacts(run: Run, what: tuple[Mesh, Contacts, np.ndarray], end: Path, all_rows: bool) -> None:
    from pliant.commands.inputs import say_merged
    from pliant.report.tables import ROWS, contact_rows, count, more

    mesh, found, points = what
    title = f"{mesh.name} to {end.as_posix()}: "
    if len(found):
        edges = int(found.kind.sum())
        kinds = f"{len(found) - edges:,} vertex-face, {edges:,} edge-edge"
        title += f"{count(len(found), 'contact')} ({kinds}), the first at t = {found.toi.min():.6g} of 1"
        run.say(title, style="bold")
        rows = len(found) if all_rows else ROWS
        run.say(contact_rows(found, points, mesh.x, _parts(mesh, found), rows), more(rows, len(found), "contact"))
        run.say("List every contact: --json, or --csv FILE. How far it is safe to go: pliant step A B", style="dim")
    else:
        run.say(f"{title}no contact ({mesh.words})")
    say_merged(run, [mesh])
    run.say_stages(found.stages)


def _say_step(run: Run, what: tuple[Mesh, Path], how: tuple[Step, np.ndarray | None], output: Path | None) -> None:
    from pliant.commands.inputs import say_merged
    from pliant.report.tables import place_in, sides_words

    (mesh, end), (found, points) = what, how
    title = f"{mesh.name} to {end.as_posix()}: "
    if found.contact is None:
        run.say(f"{title}free of contact all the way, t = 1 ({mesh.words})")
    else:
        one = found.contact
        names = ("vertex", "face") if one.kind[0] == 0 else ("edge", "edge")
        met = " and ".join(f"{name} {i}" for name, i in zip(names, one.elements[0].tolist()))
        assert points is not None
        at = f"at {place_in(mesh.x, points[0])}"
        parts = _parts(mesh, one)
        at += "" if parts is None else f" ({sides_words(*parts[0].tolist())})"
        words = f"free of contact up to t = {found.t:.9g}, where {met} meet {at}"
        if not found.t:
            words = f"no part of the motion is free of contact: at t = 0 {met} meet {at}"
        run.say(f"{title}{words}", style="bold")
        reached = found.t and not output
        see = "The mesh there, verified to be reached without contact: --output FILE. " if reached else ""
        run.say(f"{see}All contacts: pliant ccd A B", style="dim")
    say_merged(run, [mesh])
    run.say_stages(found.stages)


def _parts(mesh: Mesh, found: Contacts) -> np.ndarray | None:
    """(k, 2) names of what the two sides belong to, where the file names parts."""
    of = mesh.membership
    return None if of is None else of.names_of_pairs(found.kind, found.elements)


def _finish_motion(
    run: Run, name: str, what: tuple[Mesh, Path], result: tuple[Contacts | None, np.ndarray | None], head: dict
) -> None:
    from pliant.report.outputs import Result, contact_table

    (mesh, end), (found, points) = what, result
    files: dict[str, Any] = {
        "file": mesh.name,
        "to": end.as_posix(),
        "triangles": len(mesh.faces),
        "vertices": len(mesh.x),
    }
    files["merged"] = mesh.merged
    tables = () if found is None or points is None else (contact_table(found, points, _parts(mesh, found)),)
    run.finish(Result(name, {"contacts": 0 if found is None else len(found)} | head | files, tables))
