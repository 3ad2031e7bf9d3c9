"""Verbs about one instant: check, near, inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pliant.commands.options import AllRows, Files, Format, Kind, Merged, Offenders, OneFile, Pairs
from pliant.commands.running import CLEAN, FAILED, FOUND, Run, complain, fault, verb

if TYPE_CHECKING:
    from pliant.commands.inputs import Mesh
    from pliant.contacts import Intersections


class Checked(NamedTuple):
    """One file of a check: what it holds and what was found, or the error that it gave."""

    name: str
    mesh: Mesh | None
    found: Intersections | None
    error: str = ""


@verb
def check(
    run: Run,
    files: Files,
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    offenders: Offenders = None,
    file_format: Format = None,
    all_rows: AllRows = False,
) -> int:
    """Find all pairs of triangles that intersect, in each file by itself.

    Vertices at equal positions are taken for one first, as files often split them. Of solid cells, the boundary is
    looked at. A file that cannot be read does not keep others from being checked.
    """
    if offenders is not None and len(files) > 1:
        raise fault("--offenders FILE takes one mesh; check the files one by one")
    run.take_output(offenders)
    checked = []
    with run.bar("Files" if len(files) > 1 else "Checking") as progress:
        for path in files:
            checked.append(_check(run, path, (merge, pairs.value, file_format), None if len(files) > 1 else progress))
            if progress and len(files) > 1:
                progress(len(checked), len(files))
    _say_checked(run, checked, all_rows)
    if offenders is not None:
        _write_checked(run, offenders, checked[0])
    found = _finish_check(run, checked)
    return FAILED if any(one.error for one in checked) else FOUND if found else CLEAN


def _check(run: Run, path: Path, how: tuple, progress) -> Checked:
    import pliant
    from pliant.commands.inputs import read_mesh, shown

    merge, pairs, ending = how
    try:
        mesh = read_mesh(run, path, ending, merge)
        options = {"objects": mesh.objects, "pairs": pairs, "threads": run.threads, "progress": progress}
        found = pliant.dcd(mesh.faces, mesh.x, **options)
    except (pliant.MeshError, OSError) as error:
        message = str(error) if str(error).startswith(path.name) else f"{shown(path)}: {error}"
        complain(message)
        return Checked(shown(path), None, None, " ".join(message.split()))
    return Checked(shown(path), mesh, found)


def _say_checked(run: Run, checked: list[Checked], all_rows: bool) -> None:
    from pliant.report.tables import count, file_table, merged_words

    fine = sorted((one for one in checked if one.found is not None), key=lambda one: -len(one.found or ()))
    if len(checked) == 1:
        for one in fine:
            _say_file(run, one, all_rows)
    elif fine:
        run.say(file_table((one.name, len(one.found or ()), *_sizes(one.mesh)) for one in fine))
    total = sum(len(one.found or ()) for one in fine)
    if len(checked) > 1:
        clean = sum(not one.found for one in fine)
        broken = f", {len(checked) - len(fine):,} could not be read" if len(fine) < len(checked) else ""
        run.say("", f"{count(len(checked), 'file')}: {clean:,} clean, {count(total, 'pair')} in the others{broken}.")
    run.say(merged_words(sum(one.mesh.merged for one in fine if one.mesh)), style="dim")
    if total:
        hint = " A file by itself: pliant check FILE" if len(checked) > 1 else " See them in red: --offenders FILE.ply"
        run.say(f"List every pair: --json, or --csv FILE.{hint}", style="dim")


def _say_file(run: Run, one: Checked, all_rows: bool) -> None:
    from pliant.report.tables import ROWS, count, face_table, more

    assert one.mesh is not None
    assert one.found is not None
    if len(one.found):
        words = f"{one.name}: {count(len(one.found), 'pair')} of triangles intersect ({one.mesh.words})"
        run.say(words, style="bold")
        faces = len(set(one.found.faces.reshape(-1).tolist()))
        rows = faces if all_rows else ROWS
        run.say(face_table(one.found, one.mesh.faces, one.mesh.x, rows), more(rows, faces, "face"))
    else:
        run.say(f"{one.name}: clean ({one.mesh.words})")
    run.say_stages(one.found.stages)


def _sizes(mesh: Mesh | None) -> tuple[int, int]:
    return (0, 0) if mesh is None else (len(mesh.faces), len(mesh.x))


def _write_checked(run: Run, path: Path, one: Checked) -> None:
    import numpy as np

    from pliant.commands.writing import write_offenders

    if one.mesh is not None and one.found is not None:
        counts = np.bincount(one.found.faces.reshape(-1), minlength=len(one.mesh.faces))
        write_offenders(run, path, (one.mesh.faces, one.mesh.x), counts)


def _finish_check(run: Run, checked: list[Checked]) -> int:
    """Returns how many pairs there are."""
    from pliant.report.outputs import Result, intersection_table, joined

    files, tables = [], []
    for one in checked:
        if one.mesh is None or one.found is None:
            files.append({"file": one.name, "error": one.error})
            continue
        sizes = dict(zip(("triangles", "vertices"), _sizes(one.mesh)))
        files.append({"file": one.name, **sizes, "merged": one.mesh.merged, "pairs": len(one.found)})
        tables.append(intersection_table(one.found, file=one.name))
    total = sum(len(table) for table in tables)
    run.finish(Result("check", {"pairs": total, "files": files}, (joined(tables),) if tables else ()))
    return total


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
