"""The verb untangle: files, frames and clips written again without intersections."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.commands.options import Clip, Every, First, HowUp, Last, Merged, MeshFile, Picture, Rate, Report
from pliant.commands.running import Run, fault, verb


@verb
def untangle(
    run: Run,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="IN... OUT",
            help="A mesh and the file to write; or, with --out, a mesh, a file with frames, or numbered files.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="OUT", help="What to write: a file, or a folder for files of the same names."),
    ] = None,
    fixed: Annotated[
        list[Path] | None,
        typer.Option(
            "--fixed",
            metavar="FILE|PART",
            help="What does not move: a file that is tested too and not written, or a part of IN; may be repeated.",
        ),
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Parts or files from inside to outside, such as body,shirt,coat."),
    ] = None,
    outside_of: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Closed parts or files that all else belongs outside of.")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same mesh without intersections, such as its rest pose: surest."),
    ] = None,
    max_move: Annotated[float | None, typer.Option(min=0.0, help="No vertex ends further from where it was.")] = None,
    max_distortion: Annotated[float, typer.Option(min=0.0, help="Largest relative change of a face's area.")] = 4.0,
    seconds: Annotated[float, typer.Option(min=0.0, help="After that, the best state so far counts.")] = 60.0,
    partial: Annotated[bool, typer.Option("--partial", help="Write the best state even if something remains.")] = False,
    merge: Merged = True,
    clip: Clip = None,
    first: First = None,
    last: Last = None,
    every: Every = 1,
    mesh: MeshFile = None,
    rate: Rate = None,
    report: Report = None,
    png: Picture = None,
    up: HowUp = None,
) -> int:
    """Move vertices until nothing intersects, as little as can be, and write the file again.

    Faces, groups, materials, texture coordinates, colours and polygons stay as they are in OBJ, OFF, PLY, STL and glTF.
    Several files are frames of one sequence, and are untangled coherently in time. Exit code: 0 if the end is clean,
    1 if something remains, and then nothing is written without --partial; 2 after an error.
    """
    from pliant.commands import repaired, repairing

    if out is None:
        if len(files) < 2:
            raise fault("name the file to write: pliant untangle IN OUT, or --out OUT")
        files, out = files[:-1], files[-1]
    run.take_output(out, folder=True)
    run.take_output(report)
    run.take_output(png)
    subject = repairing.read(run, files, repairing.Opening(first, last, every, merge, mesh, rate, clip))
    repaired.require_writable(subject, out)
    bodies = repairing.bodies_of(run, fixed or [], subject, merge)
    told = repairing.Told(fixed or [], layers, outside_of, reference, max_move, max_distortion, seconds)
    scene = repairing.Scene(subject, bodies)
    with run.bar("Untangling") as progress:
        done = repairing.solve(run, scene, told, repaired.stored_in(subject, out), progress)
    repaired.say(run, scene, done)
    is_written = not done.remains or partial
    if is_written:
        repaired.write(run, subject, done, out)
    else:
        run.say("Nothing was written, since something remains; --partial writes the best state.", style="bold")
    if report is not None or png is not None:
        repaired.write_looks(run, scene, done, (report, png), up)
    repaired.finish(run, scene, done, out if is_written else None)
    return 1 if done.remains else 0
