"""Verbs about one instant: near, inside; check has a file of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.commands.options import STANDARD, AllRows, Files, Format, Kind, Merged, Pairs
from pliant.commands.running import CLEAN, FOUND, Run, fault, verb

if TYPE_CHECKING:
    import numpy as np

    from pliant.commands.inputs import Mesh
    from pliant.results.proximity import Proximity


@verb
def near(
    run: Run,
    files: Files,
    within: Annotated[float, typer.Option(min=0.0, help="The distance, in the units of the file.")],
    merge: Merged = True,
    pairs: Annotated[
        Pairs | None,
        typer.Option(
            "--pairs", help="All pairs, only within one object, or only between objects; with several files: between."
        ),
    ] = None,
    file_format: Format = None,
    all_rows: AllRows = False,
) -> int:
    """Find all vertices and faces, and all pairs of edges, that are within a distance of each other.

    Of one file: anywhere in it. Of several: between them, unless --pairs says otherwise; their objects are the files.
    Features that share a vertex are not a pair. Triangles that intersect are at distance 0 and counted, too: an edge
    through the inside of a face may be far from its vertices and edges.
    """
    import numpy as np

    import pliant
    from pliant.commands.inputs import expand, read_mesh
    from pliant.commands.joining import join
    from pliant.report.outputs import Result, proximity_table

    meshes = [read_mesh(run, path, file_format, merge) for path in expand(run, files)]
    several, joined = len(meshes) > 1, join(meshes)
    wanted = pairs or (Pairs.inter if several else Pairs.all)
    objects = joined.file_of_vertex if several else meshes[0].objects
    with run.bar("Measuring") as progress:
        options: dict[str, Any] = {"pairs": wanted.value, "threads": run.threads, "progress": progress}
        found = pliant.proximity(joined.faces, joined.x, within=within, objects=objects, **options)
        crossing = len(pliant.dcd(joined.faces, joined.x, objects=objects, **options))
    found, whose = joined.told(found)
    names = np.array([mesh.name for mesh in meshes])[whose] if several else None
    of = None if several else meshes[0].membership
    parts = None if of is None else of.names_of_pairs(found.kind, found.elements)
    _say_crossing(run, meshes, crossing)
    _say_near(run, meshes, (found, crossing), (names, parts), within, all_rows)
    merged = sum(mesh.merged for mesh in meshes)
    head: dict[str, Any] = {"pairs": len(found), "file": meshes[0].name, "merged": merged, "within": within}
    head["intersecting"] = crossing
    if several:
        head["files"] = [mesh.name for mesh in meshes]
    run.finish(Result("near", head, (proximity_table(found, names, parts),)))
    return FOUND if len(found) or crossing else CLEAN


def _say_crossing(run: Run, meshes: list[Mesh], crossing: int) -> None:
    """Triangles that intersect, before what is near: no pair of features need be within the distance there."""
    if crossing:
        intersect = "1 pair of triangles intersects" if crossing == 1 else f"{crossing:,} pairs of triangles intersect"
        names = " ".join(mesh.name for mesh in meshes)
        title = " and ".join(mesh.name for mesh in meshes)
        lists = "lists it" if crossing == 1 else "lists them"
        run.say(f"{title}: {intersect}: distance 0; pliant check {names} {lists}", style="bold")


def _say_near(
    run: Run,
    meshes: list[Mesh],
    what: tuple[Proximity, int],
    sides: tuple[np.ndarray | None, ...],
    within: float,
    all_rows: bool,
) -> None:
    """what : pairs of features, and how many triangles intersect
    sides : names of the files and of the parts, (k, 2), where there are several
    """
    import numpy as np

    from pliant.commands.inputs import say_merged
    from pliant.report.tables import ROWS, count, more, near_rows

    (found, crossing), title = what, " and ".join(mesh.name for mesh in meshes)
    faces, vertices = (sum(len(part) for part in parts) for parts in zip(*((one.faces, one.x) for one in meshes)))
    words = f"({faces:,} triangles, {vertices:,} vertices)"
    if len(found):
        rows = len(found) if all_rows else ROWS
        title = f"{title}: {count(len(found), 'pair')} within {within:g}, closest {found.distance.min():.6g}"
        run.say(f"{title} {words}", style="bold")
        x = np.concatenate([mesh.x for mesh in meshes])
        run.say(near_rows(found, x, rows, *sides), more(rows, len(found), "pair"))
        run.say("List every pair: --json, or --csv FILE.", style="dim")
    else:
        what_else = "no other vertex and face, nor two edges," if crossing else "nothing"
        run.say(f"{title}: {what_else} within {within:g} {words}")
    say_merged(run, meshes)
    run.say_stages(found.stages)


@verb
def inside(
    run: Run,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A mesh; - for standard input.", show_default=False)],
    other: Annotated[Path | None, typer.Argument(metavar="--of BODY", hidden=True)] = None,
    of: Annotated[
        Path | None,
        typer.Option("--of", metavar="BODY", help="The closed surface or volume mesh to test against."),
    ] = None,
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    depth: Annotated[bool, typer.Option(help="Measure the depth and the way out.")] = True,
    file_format: Format = None,
    all_rows: AllRows = False,
) -> int:
    """Find the vertices of FILE that are inside BODY, a closed surface, or on it.

    Without --of, FILE is a volume mesh: find its vertices that are inside a tetrahedron, hexahedron, prism or
    pyramid that is not their own.
    """
    from pliant.commands.inputs import read_mesh

    if other is not None:
        raise fault(f"which is inside of which? pliant inside {file} --of {other}, or the other way round")
    if of == file == STANDARD:
        raise fault("one of FILE and BODY can be standard input, not both")
    mesh = read_mesh(run, file, file_format, merge)
    if of is None:
        return _in_cells(run, mesh, (pairs, depth), all_rows)
    if pairs != Pairs.all:
        raise fault("--pairs is about the cells of one volume mesh, not about --of")
    return _in_body(run, mesh, read_mesh(run, of, file_format, merge), depth, all_rows)


def _in_body(run: Run, mesh: Mesh, body: Mesh, depth: bool, all_rows: bool) -> int:
    """What of a mesh is inside of another one."""
    import numpy as np

    import pliant
    from pliant.commands.inputs import SOLID, say_merged
    from pliant.report.outputs import Result, enclosed_table
    from pliant.report.tables import ROWS, count, enclosed_rows, more

    vertices = np.unique(mesh.faces)
    solid = any(kind in SOLID for kind in body.cells)
    with run.bar("Looking") as progress:
        options: dict[str, Any] = {"depth": depth, "threads": run.threads, "progress": progress}
        try:
            shape = body.merged_cells if solid else body.faces
            found = pliant.inside(shape, body.x, points=mesh.x[vertices], **options)
        except pliant.MeshError as error:
            raise type(error)(f"{body.name}: {error}") from None
    found = replace(found, vertices=vertices[found.vertices].astype(np.int32))
    words = f"({count(len(vertices), 'vertex', 'vertices')}, in {count(len(body.faces), 'triangle')})"
    if len(found):
        rows, on = len(found) if all_rows else ROWS, int(np.count_nonzero(found.on_surface))
        known = found.depth[np.isfinite(found.depth)]
        deepest = f", deepest {known.max():.6g}" if len(known) else ""
        title = f"{mesh.name}: {count(len(found) - on, 'vertex', 'vertices')} inside of {body.name}"
        run.say(f"{title}{f', {on:,} on its surface' if on else ''}{deepest} {words}", style="bold")
        run.say(enclosed_rows(found, mesh.x, rows), more(rows, len(found), "vertex", "vertices"))
        run.say("List every vertex: --json, or --csv FILE. Triangles that cross: pliant check A B", style="dim")
    else:
        run.say(f"{mesh.name}: no vertex is inside of {body.name} {words}")
    say_merged(run, [mesh, body])
    run.say_stages(found.stages)
    head: dict[str, Any] = {"pairs": len(found), "file": mesh.name, "of": body.name, "vertices": len(vertices)}
    head |= {"triangles": len(body.faces), "merged": mesh.merged + body.merged}
    run.finish(Result("inside", head, (enclosed_table(found),)))
    return FOUND if len(found) else CLEAN


def _in_cells(run: Run, mesh: Mesh, how: tuple[Pairs, bool], all_rows: bool) -> int:
    """Vertices of a volume mesh in its cells."""
    import pliant
    from pliant.commands.inputs import SOLID, say_merged
    from pliant.report.outputs import Result, inside_table
    from pliant.report.tables import ROWS, count, inside_rows, more

    pairs, depth = how
    cells = sum(len(rows) for kind, rows in mesh.cells.items() if kind in SOLID)
    if not cells:
        only = f"{mesh.name} has no solid cells, only {', '.join(mesh.cells)}"
        raise fault(f"{only}: name what it may be inside of, --of BODY; pliant check finds what intersects")
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
    say_merged(run, [mesh])
    run.say_stages(found.stages)
    head = {"pairs": len(found), "file": mesh.name, "merged": mesh.merged, "cells": cells}
    run.finish(Result("inside", head, (inside_table(found),)))
    return FOUND if len(found) else CLEAN
