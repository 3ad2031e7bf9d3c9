"""Scans of many files: each a sequence by itself, with all of its clips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import pliant
from pliant.commands.inputs import Opening, expand, open_frames
from pliant.commands.judging import Judging, judge
from pliant.commands.numbering import shown_all
from pliant.commands.options import Culling, Find, Pairs
from pliant.commands.running import FAILED, Run, told
from pliant.io.content import ending_of
from pliant.report.cases import Case, Key, Offences
from pliant.report.outputs import Result
from pliant.report.tables import count, scan_table

if TYPE_CHECKING:
    from pliant.frames.scanning import Scan

How = tuple[Find, Pairs, Culling]
_WITH_CLIPS = (".glb", ".gltf")
_KINDS = ("contacts", "pairs", "inverted")


class Scanned(NamedTuple):
    """One sequence: a case, and what the table says of it."""

    case: Case
    frames: tuple[int, ...] = ()  # numbers of those that were examined
    triangles: int = 0
    contacts: int = 0
    pairs: int = 0
    inverted: int = 0  # solid cells inverted or flat, in all frames


def scan_each(run: Run, paths: list[Path], opening: Opening, how: How, judging: Judging) -> int:
    """Scan every file and every clip of it; those that cannot be read are named, and the others scanned."""
    files, scanned = expand(run, paths), []
    with run.bar("Files") as progress:
        for done, path in enumerate(files, 1):
            scanned += [_scan(run, path, opening._replace(clip=clip), how) for clip in _clips(path, opening.clip)]
            if progress:
                progress(done, len(files))
    _say(run, scanned)
    code, head = judge(run, "scan", judging, [one.case for one in scanned], lambda key: looked_at(key, scanned, how[0]))
    totals = {kind: sum(getattr(one, kind) for one in scanned) for kind in _KINDS}
    run.finish(Result("scan", totals | head | {"sequences": [_row(one) for one in scanned]}))
    return FAILED if any(one.case.error for one in scanned) else code


def _clips(path: Path, wanted: str | None) -> list[str | None]:
    """The clip that is wanted, or all that a file has; None for a file without any."""
    if wanted is not None or ending_of(path) not in _WITH_CLIPS:
        return [wanted]
    try:
        return list(pliant.io.clip_names(path)) or [None]
    except (pliant.MeshError, OSError):
        return [None]  # what is wrong is said where the file is opened


def _scan(run: Run, path: Path, opening: Opening, how: How) -> Scanned:
    find, pairs, culling = (one.value for one in how)
    name = path.as_posix()
    try:
        sequence = open_frames(run, [path], opening).sequence
        found = pliant.scan(
            sequence, find=find, pairs=pairs, tuning=pliant.Tuning(culling=culling), threads=run.threads
        )
    except (pliant.MeshError, OSError) as error:
        return Scanned(Case((name,), clip=opening.clip, error=told(path, name, error)))
    return scanned_of(shown_all([path]), opening.clip, found)


def scanned_of(name: str, clip: str | None, found: Scan) -> Scanned:
    """What a scan means to build servers."""
    case = Case((name,), _offences(found), clip, seconds=found.seconds)
    counts = (int(some.sum()) for some in (found.contact_counts, found.intersection_counts, found.inverted_counts))
    return Scanned(case, tuple(one.number for one in found.frames), len(found.sequence.faces), *counts)


def together(name: str, clip: str | None, scans: list[Scan]) -> Scanned:
    """The runs of one sequence, as one case."""
    runs = [scanned_of(name, clip, found) for found in scans]
    offences = tuple(some for one in runs for some in one.case.offences)
    case = runs[0].case._replace(offences=offences, seconds=sum(one.case.seconds for one in runs))
    counts = (sum(getattr(one, kind) for one in runs) for kind in _KINDS)
    return Scanned(case, tuple(number for one in runs for number in one.frames), runs[0].triangles, *counts)


def _offences(found: Scan) -> tuple[Offences, ...]:
    out, of = [], None if found.sequence.parts is None else found.membership
    for one in found.frames:
        if one.contacts:
            parts = of and of.names_of_pairs(one.contacts.kind, one.contacts.elements)
            every = Offences("", one.contacts.elements, one.points, one.number, parts)
            for kind, name in enumerate(("vertex-face", "edge-edge")):
                some = every.chosen(one.contacts.kind == kind)
                out += [some._replace(kind=name)] * (len(some.ids) > 0)
        if one.intersections:
            middle = one.intersections.segments.mean(axis=1)
            parts = of and of.named(of.faces[one.intersections.faces])
            out.append(Offences("face-face", one.intersections.faces, middle, one.number, parts))
        if one.inverted_count:
            assert one.inverted is not None
            out.append(Offences("inverted-cell", np.stack((one.inverted, one.inverted), axis=1), None, one.number))
    return tuple(out)


def looked_at(key: Key, scanned: list[Scanned], find: Find) -> bool:
    """Whether known offenders would have been found. Frame 12 of a run from 12 on has no way to it that was seen."""
    at_rest = key.kind in ("face-face", "inverted-cell")
    unwanted = Find.contacts if at_rest else Find.intersections
    if find == unwanted:
        return False
    for one in scanned:
        if one.case.files == key.files and one.case.clip == key.clip and not one.case.error:
            return key.frame in (one.frames if at_rest else one.frames[1:])
    return False


def _say(run: Run, scanned: list[Scanned]) -> None:
    fine = [one for one in scanned if not one.case.error]
    worst = sorted(fine, key=lambda one: -one.case.total)
    rows = ((one.case.name, *_counts(one), len(one.frames), one.triangles) for one in worst)
    run.say(scan_table(rows) if fine else None)
    clean = sum(not one.case.total for one in fine)
    broken = f", {len(scanned) - len(fine):,} could not be read" if len(fine) < len(scanned) else ""
    contacts, pairs, inverted = (sum(some) for some in zip((0, 0, 0), *map(_counts, fine)))
    found = [count(contacts, "contact"), count(pairs, "pair")]
    found += [f"{count(inverted, 'cell')} inverted or flat"] * (inverted > 0)
    words = f"{', '.join(found[:-1])} and {found[-1]} in the others{broken}"
    run.say("", f"{count(len(scanned), 'sequence')}: {clean:,} clean, {words}.")
    if clean < len(fine):
        run.say("One by itself: pliant scan FILE, with --clip NAME where there are several.", style="dim")


def _counts(one: Scanned) -> tuple[int, int, int]:
    return one.contacts, one.pairs, one.inverted


def _row(one: Scanned) -> dict[str, Any]:
    named: dict[str, Any] = {"file": one.case.files[0]} | ({} if one.case.clip is None else {"clip": one.case.clip})
    if one.case.error:
        return named | {"error": one.case.error}
    counts = dict(zip(_KINDS, _counts(one)))
    return named | {"frames": len(one.frames), "triangles": one.triangles} | counts | {"seconds": one.case.seconds}
