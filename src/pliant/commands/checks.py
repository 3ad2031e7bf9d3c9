"""The verb check: meshes at one instant, each by itself and against each other."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pliant.commands.judging import Judging, judge, sift
from pliant.commands.options import (
    AllRows,
    Baseline,
    FaceList,
    Files,
    Format,
    HowUp,
    JUnit,
    Kind,
    MaxPairs,
    Merged,
    Offenders,
    Pairs,
    Picture,
    Report,
    Sarif,
    Up,
    WrittenBaseline,
)
from pliant.commands.running import FAILED, Run, fault, told, verb

if TYPE_CHECKING:
    import numpy as np

    from pliant.commands.inputs import Mesh
    from pliant.commands.joining import Joined
    from pliant.report.cases import Case, Key, Offences
    from pliant.results.intersections import Intersections
    from pliant.runtime.threads import Progress


class How(NamedTuple):
    merge: bool
    pairs: Pairs
    ending: str | None
    together: bool  # files against each other, too


class Checked(NamedTuple):
    """One file: what it holds and what was found within it, or the error that it gave."""

    name: str
    mesh: Mesh | None
    found: Intersections | None
    error: str = ""
    seconds: float = 0.0
    new: Intersections | None = None  # of those found, where a baseline knows the others

    @property
    def listed(self) -> Intersections | None:
        """What people should look at."""
        return self.found if self.new is None else self.new


class Between(NamedTuple):
    """Two files that intersect: their numbers among those that were checked, and faces of the one and the other."""

    a: int
    b: int
    found: Intersections
    new: Intersections | None = None  # of those found, where a baseline knows the others


@verb
def check(
    run: Run,
    files: Files,
    each: Annotated[bool, typer.Option("--each", help="Test each file by itself, not against the others.")] = False,
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    offenders: Offenders = None,
    faces: FaceList = None,
    report: Report = None,
    png: Picture = None,
    up: HowUp = None,
    file_format: Format = None,
    all_rows: AllRows = False,
    max_pairs: MaxPairs = 0,
    baseline: Baseline = None,
    write_baseline: WrittenBaseline = None,
    junit: JUnit = None,
    sarif: Sarif = None,
) -> int:
    """Find all pairs of triangles that intersect: within each file, and between files where there are several.

    FILE may be a pattern in quotes, such as 'assets/**/*.glb'. Vertices at equal positions are merged first, as files
    often split them, but never across files. Of solid cells, the boundary is tested. With several files, --pairs self
    tests within each of them, --pairs inter only between them. If a file cannot be read, the others are still checked.
    """
    from pliant.commands.inputs import expand

    judging = Judging(max_pairs, baseline, write_baseline, junit, sarif)
    judging.begin(run)
    for file in (offenders, faces, report, png):
        run.take_output(file)
    paths = expand(run, files)
    how = How(merge, pairs, file_format, len(paths) > 1 and not each)
    if faces is not None and len(paths) > 1:
        raise fault("--faces FILE lists the faces of one mesh; check the files one by one")
    for name, file in (("--offenders", offenders), ("--report", report), ("--png", png)):
        if file is not None and len(paths) > 1 and each:
            raise fault(f"{name} FILE takes one mesh; leave --each out, or check the files one by one")
    checked, between, joined = _look(run, paths, how)
    cases = _cases(checked, between)
    sifted = sift("check", judging, cases, lambda key: _looked_at(key, checked, how))
    _say(run, *(_news(checked, between, sifted.new) if sifted else (checked, between)), how, all_rows)
    if offenders is not None and joined is not None:
        _write_offenders(run, offenders, joined)
    if faces is not None and joined is not None and joined.found is not None:
        from pliant.commands.writing import write_face_list

        write_face_list(run, faces, joined.found.face_counts(joined.faces))
    if joined is not None and (report is not None or png is not None):
        _write_pictures(run, [one for one in checked if one.mesh is not None], joined, (report, png, up))
    code, head = judge(run, "check", judging, cases, lambda key: _looked_at(key, checked, how), sifted)
    _finish(run, checked, between, head)
    return FAILED if any(one.error for one in checked) else code


# --- looking ---------------------------------------------------------------------------------------------------------


def _look(run: Run, paths: list[Path], how: How) -> tuple[list[Checked], list[Between], Joined | None]:
    from pliant.commands.joining import join

    with run.bar("Files" if len(paths) > 1 else "Checking") as progress:
        if how.together:
            return _look_together(run, paths, how, progress)
        checked = []
        for path in paths:
            one = _read(run, path, how)
            alone = None if len(paths) > 1 else progress
            checked.append(one if one.mesh is None else _look_within(run, one, one.mesh, how, alone))
            if progress and len(paths) > 1:
                progress(len(checked), len(paths))
    only = checked[0]
    joined = join([only.mesh])._replace(found=only.found) if len(checked) == 1 and only.mesh is not None else None
    return checked, [], joined


def _read(run: Run, path: Path, how: How) -> Checked:
    import pliant
    from pliant.commands.inputs import read_mesh
    from pliant.commands.numbering import shown

    try:
        return Checked(shown(path), read_mesh(run, path, how.ending, how.merge), None)
    except (pliant.MeshError, OSError) as error:
        return Checked(shown(path), None, None, told(path, shown(path), error))


def _look_within(run: Run, one: Checked, mesh: Mesh, how: How, progress: Progress | None) -> Checked:
    import pliant

    clock = time.perf_counter()
    options: dict[str, Any] = {"objects": mesh.objects, "pairs": how.pairs.value}
    found = pliant.dcd(mesh.faces, mesh.x, **options, threads=run.threads, progress=progress)
    return one._replace(found=found, seconds=time.perf_counter() - clock)


def _look_together(
    run: Run, paths: list[Path], how: How, progress: Progress | None
) -> tuple[list[Checked], list[Between], Joined | None]:
    """One query about all files, whose objects are the files; then whose pairs are whose."""
    import pliant
    from pliant.commands.joining import join

    checked = [_read(run, path, how) for path in paths]
    readable = [i for i, one in enumerate(checked) if one.mesh is not None]
    if not readable:
        return checked, [], None
    clock = time.perf_counter()
    joined = join([one.mesh for one in checked if one.mesh is not None])
    options: dict[str, Any] = {"objects": joined.file_of_vertex, "pairs": how.pairs.value}
    found = pliant.dcd(joined.faces, joined.x, **options, threads=run.threads, progress=progress)
    joined, between = joined._replace(found=found), []
    seconds = (time.perf_counter() - clock) / len(readable)
    for (a, b), some in joined.split(found):
        if a == b:
            checked[readable[a]] = checked[readable[a]]._replace(found=some, seconds=seconds)
        elif len(some):
            between.append(Between(readable[a], readable[b], some))
    return checked, between, joined


# --- saying ----------------------------------------------------------------------------------------------------------


def _say(run: Run, checked: list[Checked], between: list[Between], how: How, all_rows: bool) -> None:
    from pliant.commands.inputs import say_merged
    from pliant.report.tables import ROWS, between_rows, between_table, count, file_table, more

    fine = sorted(
        (one for one in checked if one.found is not None),
        key=lambda one: (-len(one.listed or ()), -len(one.found or ())),
    )
    if len(checked) == 1:
        for one in fine:
            _say_file(run, one, all_rows)
    elif fine:
        unknown = how.together and how.pairs == Pairs.inter
        run.say(file_table((one.name, None if unknown else len(one.found or ()), *_sizes(one.mesh)) for one in fine))
    if between:
        run.say("", between_table((checked[a].name, checked[b].name, len(found)) for a, b, found, _ in between))
        across = [(checked[a].name, checked[b].name, found if new is None else new) for a, b, found, new in between]
        listed = sum(len(some) for *_, some in across)
        rows = listed if all_rows else ROWS
        if listed:
            run.say("", between_rows(across, rows), more(rows, listed, "pair"))
    within, across = sum(len(one.found or ()) for one in fine), sum(len(one.found) for one in between)
    if len(checked) > 1:
        clean = sum(not one.found for one in fine)
        broken = f", {len(checked) - len(fine):,} could not be read" if len(fine) < len(checked) else ""
        words = f"{clean:,} clean, {count(within, 'pair')} in the others"
        if how.together:
            words = _words_together(within, across, how)
        run.say("", f"{count(len(checked), 'file')}: {words}{broken}.")
    say_merged(run, [one.mesh for one in fine if one.mesh])
    if within + across:
        by_itself = len(checked) > 1 and not how.together
        hint = (
            " A file by itself: pliant check FILE"
            if by_itself
            else " See them in red: --report FILE.html, --png FILE or --offenders FILE.ply"
        )
        run.say(f"List every pair: --json, or --csv FILE.{hint}", style="dim")


def _words_together(within: int, across: int, how: How) -> str:
    looked = {
        Pairs.all: f"{within:,} within files and {across:,} between them (--each: only within)",
        Pairs.self: f"{within:,} within files (nothing between files was examined)",
        Pairs.inter: f"{across:,} between files (nothing within files was examined)",
    }[how.pairs]
    number = within + across
    return f"{number:,} pair{'' if number == 1 else 's'} of triangles, {looked}"


def _say_file(run: Run, one: Checked, all_rows: bool) -> None:
    from pliant.report.tables import ROWS, count, face_table, more

    assert one.mesh is not None
    assert one.found is not None
    listed = one.found if one.new is None else one.new
    if len(one.found):
        new = "" if one.new is None else f", {len(one.new):,} of them new" if len(one.new) else ", none of them new"
        words = f"{one.name}: {count(len(one.found), 'pair')} of triangles intersect{new} ({one.mesh.words})"
        run.say(words, style="bold")
        faces = len(set(listed.faces.reshape(-1).tolist()))
        rows = faces if all_rows else ROWS
        if faces:
            run.say(face_table(listed, one.mesh.faces, one.mesh.x, rows, one.mesh.parts), more(rows, faces, "face"))
    else:
        run.say(f"{one.name}: clean ({one.mesh.words})")
    run.say_stages(one.found.stages)


def _sizes(mesh: Mesh | None) -> tuple[int, int]:
    return (0, 0) if mesh is None else (len(mesh.faces), len(mesh.x))


# --- writing ---------------------------------------------------------------------------------------------------------


def _write_offenders(run: Run, path: Path, joined: Joined) -> None:
    import numpy as np

    from pliant.commands.writing import write_offenders

    if joined.found is not None:
        counts = np.bincount(joined.found.faces.reshape(-1), minlength=len(joined.faces))
        write_offenders(run, path, (joined.faces, joined.x), counts, joined.space)


def _write_pictures(
    run: Run, checked: list[Checked], joined: Joined, files: tuple[Path | None, Path | None, Up | None]
) -> None:
    """The page and the picture: a scan of one frame, whose parts are those of the file, or the files."""
    import numpy as np

    from pliant.commands.inputs import up_axis
    from pliant.commands.writing import write_report, write_sheet
    from pliant.frames.scanning import Scan, ScannedFrame
    from pliant.frames.sequence import Sequence
    from pliant.mesh.parts import Parts

    only = checked[0].mesh
    objects, name = joined.file_of_vertex, ", ".join(one.name for one in checked)
    parts = Parts(joined.file_of(np.arange(len(joined.faces))).astype(np.int32), tuple(one.name for one in checked))
    if len(checked) == 1 and only is not None:
        objects, parts = only.objects, only.parts
    space = only.space if only is not None else None
    sequence = Sequence(joined.faces, joined.x[None], objects=objects, parts=parts, space=space, name=name)
    seconds = sum(one.seconds for one in checked)
    frame = ScannedFrame(0, 0.0, None, joined.found, (0.0, seconds))
    report, png, up = files
    scan, axis = Scan(sequence, (frame,), seconds), up_axis(up, sequence)
    if report is not None:
        write_report(run, report, scan, {"up": axis, "verb": "check"}, {"threads": run.threads or "all"})
    if png is not None:
        write_sheet(run, png, scan, {"up": axis})


def _cases(checked: list[Checked], between: list[Between]) -> list[Case]:
    from pliant.report.cases import Case

    cases = [Case((one.name,), _offences(one.found), error=one.error, seconds=one.seconds) for one in checked]
    return cases + [Case((checked[a].name, checked[b].name), _offences(found)) for a, b, found, _ in between]


def _news(checked: list[Checked], between: list[Between], new: list[Case]) -> tuple[list[Checked], list[Between]]:
    """The same, with those that a baseline does not know; new : a case for each, in their order."""
    import numpy as np

    def fresh(found: Intersections | None, case: Case) -> Intersections | None:
        ids = {tuple(pair) for some in case.offences for pair in some.ids.tolist()}
        return None if found is None else found[np.array([tuple(p) in ids for p in found.faces.tolist()], bool)]

    within = [one._replace(new=fresh(one.found, case)) for one, case in zip(checked, new)]
    return within, [one._replace(new=fresh(one.found, case)) for one, case in zip(between, new[len(checked) :])]


def _offences(found: Intersections | None) -> tuple[Offences, ...]:
    from pliant.report.cases import Offences

    return () if not found else (Offences("face-face", found.faces, found.segments.mean(axis=1)),)


def _looked_at(key: Key, checked: list[Checked], how: How) -> bool:
    """Whether known offenders would have been found."""
    read = {one.name for one in checked if not one.error}
    unwanted = Pairs.inter if len(key.files) == 1 else Pairs.self
    return read.issuperset(key.files) and (not how.together or how.pairs != unwanted)


def _finish(run: Run, checked: list[Checked], between: list[Between], head: dict[str, Any]) -> None:
    from pliant.report.outputs import Result, intersection_table, joined

    files, tables = [], []
    named = any(one.mesh is not None and one.mesh.parts is not None for one in checked)
    for one in checked:
        if one.mesh is None or one.found is None:
            files.append({"file": one.name, "error": one.error})
            continue
        sizes = dict(zip(("triangles", "vertices"), _sizes(one.mesh)))
        files.append({"file": one.name, **sizes, "merged": one.mesh.merged, "pairs": len(one.found)})
        parts = _parts((one.mesh, one.mesh), one.found) if named else None
        tables.append(intersection_table(one.found, (one.name, one.name), parts))
    across = []
    for a, b, found, _ in between:
        across.append({"files": [checked[a].name, checked[b].name], "pairs": len(found)})
        parts = _parts((checked[a].mesh, checked[b].mesh), found) if named else None
        tables.append(intersection_table(found, (checked[a].name, checked[b].name), parts))
    total = {"pairs": sum(len(table) for table in tables)}
    whole = total | head | {"files": files, "between": across}
    run.finish(Result("check", whole, (joined(tables),) if tables else ()))


def _parts(meshes: tuple[Mesh | None, Mesh | None], found: Intersections) -> np.ndarray:
    """(k, 2) names of the parts of the two faces; empty where a file names none."""
    import numpy as np

    columns = []
    for mesh, faces in zip(meshes, found.faces.T):
        parts = None if mesh is None else mesh.parts
        none = np.full(len(faces), "")
        columns.append(none if parts is None else np.array(parts.names)[parts.of_face[faces]])
    return np.stack(columns, axis=1)
