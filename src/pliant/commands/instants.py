"""Verbs about one instant: near, inside; check has a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.commands.options import AllRows, Format, Kind, Merged, OneFile, Pairs
from pliant.commands.running import CLEAN, FOUND, Run, fault, verb


@verb
def near(
    run: Run,
    file: OneFile,
    within: Annotated[float, typer.Option(min=0.0, help="The distance, in the units of the file.")],
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    file_format: Format = None,
    all_rows: AllRows = False,
) -> int:
    """Find all vertices and faces, and all pairs of edges, that are within a distance of each other.

    Features that share a vertex are not a pair.
    """
    import pliant
    from pliant.commands.inputs import read_mesh
    from pliant.report.outputs import Result, proximity_table
    from pliant.report.tables import ROWS, count, merged_words, more, near_rows

    mesh = read_mesh(run, file, file_format, merge)
    with run.bar("Measuring") as progress:
        options = {"objects": mesh.objects, "pairs": pairs.value, "threads": run.threads, "progress": progress}
        found = pliant.proximity(mesh.faces, mesh.x, within=within, **options)
    if len(found):
        rows = len(found) if all_rows else ROWS
        title = f"{mesh.name}: {count(len(found), 'pair')} within {within:g}, closest {found.distance.min():.6g}"
        run.say(f"{title} ({mesh.words})", style="bold")
        run.say(near_rows(found, mesh.x, rows), more(rows, len(found), "pair"))
        run.say("List every pair: --json, or --csv FILE.", style="dim")
    else:
        run.say(f"{mesh.name}: nothing within {within:g} ({mesh.words})")
    run.say(merged_words(mesh.merged), style="dim")
    run.say_stages(found.stages)
    head = {"pairs": len(found), "file": mesh.name, "merged": mesh.merged, "within": within}
    run.finish(Result("near", head, (proximity_table(found),)))
    return FOUND if len(found) else CLEAN


@verb
def inside(
    run: Run,
    volume: Annotated[Path, typer.Argument(metavar="VOLUME", help="A mesh of solid cells; - for standard input.")],
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    depth: Annotated[bool, typer.Option(help="Measure how deep, and which way is out.")] = True,
    file_format: Format = None,
    all_rows: AllRows = False,
) -> int:
    """Find all vertices that are inside of a tetrahedron, hexahedron, prism or pyramid that is not their own."""
    import pliant
    from pliant.commands.inputs import SOLID, read_mesh
    from pliant.report.outputs import Result, inside_table
    from pliant.report.tables import ROWS, count, inside_rows, merged_words, more

    mesh = read_mesh(run, volume, file_format, merge)
    cells = sum(len(rows) for kind, rows in mesh.cells.items() if kind in SOLID)
    if not cells:
        raise fault(f"{mesh.name} has no solid cells, only {', '.join(mesh.cells)}: pliant check is for surfaces")
    with run.bar("Looking") as progress:
        options = {"pairs": pairs.value, "depth": depth, "threads": run.threads, "progress": progress}
        found = pliant.inside(mesh.merged_cells, mesh.x, **options)
    words = f"({count(cells, 'cell')}, {count(len(mesh.x), 'vertex', 'vertices')})"
    if len(found):
        rows = len(found) if all_rows else ROWS
        vertices = len(set(found.vertices.tolist()))
        title = (
            f"{mesh.name}: {count(vertices, 'vertex', 'vertices')} in {count(len(set(found.cells.tolist())), 'cell')}"
        )
        run.say(f"{title} {words}", style="bold")
        run.say(inside_rows(found, mesh.x, rows), more(rows, len(found), "pair"))
        run.say("List every pair: --json, or --csv FILE.", style="dim")
    else:
        run.say(f"{mesh.name}: no vertex is inside of a cell {words}")
    run.say(merged_words(mesh.merged), style="dim")
    run.say_stages(found.stages)
    head = {"pairs": len(found), "file": mesh.name, "merged": mesh.merged, "cells": cells}
    run.finish(Result("inside", head, (inside_table(found),)))
    return FOUND if len(found) else CLEAN
