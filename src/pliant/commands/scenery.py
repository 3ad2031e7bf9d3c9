"""Verbs about what there is to look at: scenes, convert, schema."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.commands.options import STANDARD, Clip, Every, First, Format, Last, MeshFile, Rate
from pliant.commands.running import CLEAN, Run, fault, require_standard_output, verb
from pliant.runtime.terminal import to_standard_output

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence


@verb
def scenes(
    run: Run,
    name: Annotated[str | None, typer.Argument(help="The scene to export.", show_default=False)] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to: .npz, numbered files, or a new folder for them.")
    ] = None,
    triangles: Annotated[int | None, typer.Option(min=1, help="Approximate number of triangles or cells.")] = None,
    frames: Annotated[int | None, typer.Option(min=2, help="Number of frames.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed: another one gives another scene of the same kind.")] = 0,
) -> int:
    """List the built-in scenes, or export one of them."""
    if name is None:
        if output is not None:
            raise fault("name the scene to export: pliant scenes NAME --output FILE")
        return _list_scenes(run)
    from pliant.commands.inputs import load_scene
    from pliant.commands.writing import require_frames_format, write_sequence
    from pliant.report.outputs import Result

    run.take_output(output, folder=True)
    if output is not None:
        require_frames_format(output)
    sequence = load_scene(name, triangles, frames, seed)
    run.say(_described(sequence))
    if output is not None:
        write_sequence(run, output, sequence)
    else:
        run.say(f"Look at it: pliant scan {name}. Export it: pliant scenes {name} --output {name}.npz", style="dim")
    sizes = {"triangles": len(sequence.faces), "vertices": len(sequence[0]), "frames": len(sequence)}
    run.finish(Result("scenes", {"scenes": [{"name": name} | sizes]}))
    return CLEAN


def _list_scenes(run: Run) -> int:
    import pliant
    from pliant.report.outputs import Result
    from pliant.report.tables import table

    shown = table(("name", "size", "frames", "what it is"), ("name", "what it is"))
    rows = []
    for scene in (*pliant.scenes.catalogue(), *pliant.simulated.catalogue()):
        unit = "triangles" if scene.kind in ("surface", "simulated") else "cells"
        size = scene.kind if scene.size is None else f"{scene.size:,} {unit}"
        shown.add_row(scene.name, size, str(scene.frames or ""), scene.about)
        sizes = {} if scene.size is None else {unit: scene.size, "frames": scene.frames}
        rows.append({"name": scene.name, "kind": scene.kind, **sizes, "about": scene.about})
    run.say(shown)
    run.say("Look at one: pliant scan NAME (characters: pliant character NAME). Export: --output FILE.", style="dim")
    run.finish(Result("scenes", {"scenes": rows}))
    return CLEAN


@verb
def convert(
    run: Run,
    sources: Annotated[
        list[Path], typer.Argument(metavar="IN", help="A mesh, a sequence, or its files; - for standard input.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="What to write; - for standard output.")],
    first: First = None,
    last: Last = None,
    every: Every = 1,
    mesh: MeshFile = None,
    rate: Rate = None,
    clip: Clip = None,
    file_format: Format = None,
) -> int:
    """Write a mesh or a sequence in another format; the endings of their names say which.

    --format is that of standard input, or of standard output.
    """
    from pliant.commands.inputs import Opening, load_mesh_or_frames
    from pliant.commands.numbering import shown_all
    from pliant.commands.writing import holds_frames, write_mesh, write_sequence
    from pliant.report.outputs import Result

    run.take_output(target, folder=True)
    opening = Opening(first, last, every, False, mesh, rate, clip)
    one, sequence = load_mesh_or_frames(run, sources, opening, file_format if sources[0] == STANDARD else None)
    ending = file_format if target == STANDARD else None
    if one is not None and not holds_frames(target, ending):
        run.say(f"{one.name}: {one.words}")
        write_mesh(run, target, one, one.x, ending)
        sizes = {"triangles": len(one.faces), "vertices": len(one.x), "frames": 1}
    else:
        run.say(_described(sequence))
        write_sequence(run, target, sequence, ending)
        sizes = {"triangles": len(sequence.faces), "vertices": len(sequence[0]), "frames": len(sequence)}
    run.finish(
        Result(
            "convert",
            {"file": sources[0].as_posix() if len(sources) == 1 else shown_all(sources), "to": target.as_posix()}
            | sizes,
        )
    )
    return CLEAN


def schema() -> None:
    """Print the JSON Schema that all results of --json keep to."""
    from pliant.report.outputs import schema as text

    require_standard_output()
    with to_standard_output():
        sys.stdout.write(text())


def _described(sequence: Sequence) -> str:
    sizes = f"{len(sequence.faces):,} triangles, {len(sequence[0]):,} vertices"
    return f"{sequence.name}: {sizes}, {len(sequence):,} frames"
