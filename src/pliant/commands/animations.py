"""Verbs about all frames of a sequence: scan, and ccd of more than one motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pliant.commands.judging import Judging, judge
from pliant.commands.options import (
    STANDARD,
    AllRows,
    Baseline,
    Clip,
    Culling,
    Every,
    FaceList,
    Find,
    First,
    HowCulled,
    HowUp,
    JUnit,
    Kind,
    Last,
    MaxPairs,
    Merged,
    MeshFile,
    Offenders,
    Pairs,
    Picture,
    Rate,
    Report,
    Sarif,
    SequenceFiles,
    Up,
    WrittenBaseline,
)
from pliant.commands.running import Run, fault, verb

if TYPE_CHECKING:
    from pliant.commands.inputs import Opened, Opening
    from pliant.frames.scanning import Scan
    from pliant.report.outputs import Table

How = tuple[Find, Pairs, Culling]


class Wanted(NamedTuple):
    """Files to write."""

    report: Path | None = None
    png: Path | None = None
    offenders: Path | None = None
    faces: Path | None = None
    up: Up | None = None


@verb
def scan(
    run: Run,
    sequence: SequenceFiles,
    each: Annotated[bool, typer.Option("--each", help="Scan each file by itself, with all its clips.")] = False,
    find: Annotated[Find, typer.Option(help="Contacts between frames, intersections in them, or both.")] = Find.both,
    report: Report = None,
    png: Picture = None,
    up: HowUp = None,
    offenders: Offenders = None,
    faces: FaceList = None,
    min_distance: Annotated[
        float, typer.Option(min=0.0, help="Count coming within this distance as contact; in the units of the file.")
    ] = 0.0,
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    culling: HowCulled = Culling.auto,
    first: First = None,
    last: Last = None,
    every: Every = 1,
    mesh: MeshFile = None,
    rate: Rate = None,
    clip: Clip = None,
    all_rows: AllRows = False,
    max_pairs: MaxPairs = 0,
    baseline: Baseline = None,
    write_baseline: WrittenBaseline = None,
    junit: JUnit = None,
    sarif: Sarif = None,
) -> int:
    """Find what intersects in every frame of a sequence, and all contacts from each frame to the next.

    Of solid cells, the boundary is tested. --offenders writes the worst frame. With --each, every file is scanned by
    itself, with all its clips; a pattern in quotes, such as 'assets/**/*.glb', is expanded.
    """
    from pliant.commands.inputs import Opening

    opening = Opening(first, last, every, merge, mesh, rate, clip)
    files = Wanted(report, png, offenders, faces, up)
    judging = Judging(max_pairs, baseline, write_baseline, junit, sarif)
    judging.begin(run)
    if each:
        from pliant.commands.batches import scan_each

        if any(files[:4]) or min_distance:
            raise fault("--report, --png, --offenders, --faces and --min-distance take one sequence: leave --each out")
        return scan_each(run, sequence, opening, (find, pairs, culling), judging)
    return follow(
        run, (sequence, opening), (find, pairs, culling), files, all_rows, judging=judging, min_distance=min_distance
    )


def follow(
    run: Run, what: tuple[list[Path], Opening], how: How, files: Wanted, all_rows: bool, name: str = "scan",
    judging: Judging = Judging(), min_distance: float = 0.0,  # noqa: B008 (a tuple of constants)
) -> int:  # fmt: skip
    """Scan a sequence: say, write and return what was found."""
    import pliant
    from pliant.commands.batches import looked_at, together
    from pliant.commands.numbering import shown_all
    from pliant.commands.runs import scan_runs

    paths, opening = what
    for file in files[:4]:
        run.take_output(file)
    find, pairs, culling = (one.value for one in how)
    common: dict[str, Any] = {"threads": run.threads, "min_distance": min_distance}
    wanted: dict[str, Any] = {"find": find, "pairs": pairs, "tuning": pliant.Tuning(culling=culling)} | common
    runs = scan_runs(run, paths, opening, wanted, lambda place: _take_files_of_run(run, files, place))
    if len(runs) > 1:
        run.say(f"{len(runs)} runs: the triangles change between frames, and no motion leads from one run to the next.")
    for found, opened in runs:
        _say(run, found, opened, all_rows)
    if any(found for found, _ in runs):
        see = "" if files.report or name == "ccd" else "See it: --report FILE.html. "
        run.say(f"{see}List everything: --json, or --csv FILE.", style="dim")
    options = {"find": find, "pairs": pairs, "culling": culling, "threads": run.threads or "all"}
    if min_distance:
        options["min distance"] = f"{min_distance:g}"
    for place, (found, opened) in enumerate(runs):
        told = (
            {"run": f"{place + 1} of {len(runs)}: the triangles change from one to the next"} if len(runs) > 1 else {}
        )
        _write(run, found, opened, _files_of_run(files, place), options | told)
    scanned = together(shown_all(paths), opening.clip, [found for found, _ in runs])
    code, head = judge(run, name, judging, [scanned.case], lambda key: looked_at(key, [scanned], how[0]))
    _finish(run, name, runs, head)
    return code


def _files_of_run(files: Wanted, place: int) -> Wanted:
    """Of several runs, others than the first have files with their number in the name."""
    from pliant.commands.runs import numbered_path

    named = [None if file is None else numbered_path(file, place) for file in files[:4]]
    return files._replace(**dict(zip(Wanted._fields, named)))


def _take_files_of_run(run: Run, files: Wanted, place: int) -> None:
    """Said when another run begins, and nothing is written yet."""
    if STANDARD in files[:4]:
        raise fault("the triangles change between frames, so that each run has a file: - cannot be all of them")
    named = zip(Wanted._fields, _files_of_run(files, place)[:4])
    run.take_outputs_of_run(place + 1, {f"--{name}": file for name, file in named if file is not None})


def _say(run: Run, found: Scan, opened: Opened, all_rows: bool) -> None:
    from pliant.report.findings import looked_for
    from pliant.report.tables import ROWS, count, frame_table, merged_words, more, part_table

    contacts, crossing = found.contact_counts, found.intersection_counts
    bad = int((found.totals > 0).sum())
    title = f"{opened.sequence.name}: {count(len(found), 'frame')}, {count(len(opened.sequence.faces), 'triangle')}"
    run.say(title, style="bold")
    run.say(merged_words(opened.merged), style="dim")
    if bad:
        rows = len(found) if all_rows else ROWS
        run.say("", frame_table(found, rows), more(rows, bad, "frame"))
        parts, shown = len(found.parts()), len(found.parts()) if all_rows else 5
        if parts > 1 or found.sequence.parts is not None:
            run.say("", part_table(found, shown), more(shown, parts, "pair of parts", "pairs of parts"))
    run.say_stages(found.stages, "for contacts, summed over frames")
    run.say_stages(found.intersection_stages, "for intersections, summed over frames")
    looked = looked_for(found.frames)
    words = [f"{count(int(contacts.sum()), 'contact')} between frames"] * looked[0]
    words += [f"{count(int(crossing.sum()), 'pair')} of triangles that intersect"] * looked[1]
    if inverted := int(found.inverted_counts.sum()):
        turned = sum(len(one.turned) for one in found.frames if one.turned is not None)
        words.append(f"{count(inverted, 'cell')} inverted or flat ({turned:,} turned so on the way to a frame)")
    where = f", in {bad:,} of {count(len(found), 'frame')}" if bad else ""
    run.say("", f"{' and '.join(words) or 'Nothing to compare'}{where}. {found.seconds:.1f} s.")


def _write(run: Run, found: Scan, opened: Opened, files: Wanted, options: dict[str, Any]) -> None:
    from pliant.commands import writing
    from pliant.commands.inputs import up_axis

    looks = {"up": up_axis(files.up, opened.sequence)}
    options["vertices merged"] = f"{opened.merged:,}"
    if files.report is not None:
        writing.write_report(run, files.report, found, looks, options)
    if files.png is not None:
        writing.write_sheet(run, files.png, found, looks)
    if files.offenders is not None:
        worst = found.worst(1)
        place = worst[0].place if worst else 0
        mesh = opened.sequence.faces, opened.sequence[place]
        writing.write_offenders(run, files.offenders, mesh, found.face_counts(place), opened.sequence.space)
        run.say(f"The worst frame is {opened.sequence.numbers[place]}: that is in {files.offenders.as_posix()}")

    if files.faces is not None:
        writing.write_face_list(run, files.faces, found.face_counts())


def _finish(run: Run, name: str, runs: list[tuple[Scan, Opened]], more: dict[str, Any]) -> None:
    from pliant.report.outputs import Result, joined

    frames: list[dict[str, Any]] = []
    tables: dict[str, list[Table]] = {"contacts": [], "intersections": [], "inverted": []}
    named = all(opened.sequence.parts is not None for _, opened in runs)
    for found, _ in runs:
        _add_frames(found, named, frames, tables)
    counts = {
        "contacts": sum(map(len, tables["contacts"])),
        **({"pairs": sum(map(len, tables["intersections"]))} if name == "scan" else {}),
    }
    if tables["inverted"]:
        counts["inverted"] = sum(map(len, tables["inverted"]))
    scans, first = [found for found, _ in runs], runs[0][1].sequence
    triangles = len(first.faces) if len(runs) == 1 else None  # else each run has its own number
    sizes: dict[str, Any] = {"triangles": triangles, "merged": sum(opened.merged for _, opened in runs)}
    if len(runs) > 1:
        rows = [(one.frames[0].number, one.frames[-1].number, len(one.sequence.faces)) for one in scans]
        sizes["runs"] = [dict(zip(("from", "to", "triangles"), row)) for row in rows]
    label = first.name if len(runs) == 1 else first.name.partition(" [")[0]
    head = counts | more | {"sequence": label} | sizes | {"frames": frames}
    kept = tuple(joined(some) for some in tables.values() if some)
    run.finish(Result(name, head | {"seconds": sum(one.seconds for one in scans)}, kept))


def _add_frames(found: Scan, named: bool, frames: list[dict[str, Any]], tables: dict[str, list[Table]]) -> None:
    """A row for each frame, and tables of what was found in it."""
    from pliant.report.outputs import contact_table, intersection_table, inverted_table, number_or_none

    files, of = found.sequence.files, found.membership if named else None
    for one in found.frames:
        known: dict[str, Any] = {"frame": one.number} | ({} if files is None else {"file": files[one.place]})
        row = known | {"time": number_or_none(one.time)}
        if one.contacts is not None:
            row |= {"contacts": len(one.contacts), "first_contact": number_or_none(one.first_contact)}
            assert one.points is not None
            parts = of and of.names_of_pairs(one.contacts.kind, one.contacts.elements)
            tables["contacts"].append(contact_table(one.contacts, one.points, parts, **known))
        if one.intersections is not None:
            row["pairs"] = len(one.intersections)
            parts = of and of.named(of.faces[one.intersections.faces])
            tables["intersections"].append(intersection_table(one.intersections, parts=parts, **known))
        if one.inverted is not None:
            assert one.turned is not None
            row |= {"inverted": len(one.inverted), "turned": len(one.turned)}
            tables["inverted"].append(inverted_table(one.inverted, one.turned, **known))
        frames.append(row | {"seconds": sum(one.seconds)})
