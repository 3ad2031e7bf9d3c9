"""What ``pliant character`` tells people and machines: first the asset as it is, then what a repair makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.characters.summaries import summarise
from pliant.report.character import Cast, Judged, Repair, Wanted
from pliant.report.outputs import Result, Table, inside_table, intersection_table, joined
from pliant.report.tables import ROWS, count, more
from pliant.report.tables import table as rich_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

_SPENT = ("skinning", "solver", "detection")
_BONES = 3  # pairs in a line


def shown(who: Cast, judged: Sequence[Judged], why_not: str, all_rows: bool) -> Iterator[tuple[RenderableType, str]]:
    """What people read, each with its style."""
    rows = None if all_rows else ROWS
    frames = sum(len(one.scan) for one in judged)
    triangles = len(judged[0].scan.sequence.faces)
    clips = judged[0].clip if len(judged) == 1 else count(len(judged), "clip")
    about = f"{clips}, {count(frames, 'frame')}, {count(triangles, 'triangle')}"
    yield f"{who.character.name}: {about}", "bold"
    found = sorted((one for one in judged if one.pairs), key=lambda one: -one.pairs)
    if found:
        yield "", ""
        yield from (_frame_rows(found[0], rows) if len(judged) == 1 else _clip_rows(found, rows))
    yield "", ""
    yield _verdict(who, judged), "bold red" if found else "bold green"
    yield from _repair_words(judged, rows)
    if why_not:
        yield f"No repair was tried: {why_not}", "dim"


def _one_line(columns: Sequence[str], words: Sequence[str] = ()) -> RichTable:
    """A table whose rows take one line each: what does not fit is cut off."""
    out = rich_table(columns, words)
    for column in out.columns:
        column.no_wrap = True
        column.overflow = "ellipsis"
    return out


def _frame_rows(one: Judged, rows: int | None) -> Iterator[tuple[RenderableType, str]]:
    """The worst frames of a clip."""
    worst = one.scan.worst(len(one.scan) if rows is None else rows)
    out = _one_line(("frame", "seconds", "pairs", "most of them at"), ("most of them at",))
    for frame in worst:
        assert frame.intersections is not None
        middle = np.median(frame.intersections.segments.mean(axis=1), axis=0)
        where = ", ".join(f"{value:.4g}" for value in middle)
        out.add_row(f"{frame.number}", f"{frame.time:.3f}", f"{frame.intersection_count:,}", f"({where})")
    yield out, ""
    yield from _rest(len(worst), _bad(one), "frame")


def _clip_rows(found: Sequence[Judged], rows: int | None) -> Iterator[tuple[RenderableType, str]]:
    out = _one_line(("frames", "intersecting", "pairs", "worst at", "clip"), ("clip",))
    for one in found[:rows]:
        worst = one.scan.worst(1)[0]
        counts = f"{len(one.scan):,}", f"{_bad(one):,}", f"{one.pairs:,}"
        out.add_row(*counts, f"{worst.time:.3f} s", one.clip)
    yield out, ""
    yield from _rest(len(found[:rows]), len(found), "clip")


def _rest(shown: int, of: int, noun: str) -> Iterator[tuple[RenderableType, str]]:
    words = more(shown, of, noun)
    if words:
        yield f"{words} (--all)", ""


def _bad(one: Judged | Repair) -> int:
    return int(np.count_nonzero(one.scan.intersection_counts))


def _verdict(who: Cast, judged: Sequence[Judged]) -> str:
    frames, bad, pairs = sum(len(one.scan) for one in judged), sum(map(_bad, judged)), sum(one.pairs for one in judged)
    if not pairs:
        return f"No triangles intersect in {count(frames, 'frame')}."
    clips = f", in {sum(one.pairs > 0 for one in judged)} of {len(judged)} clips" if len(judged) > 1 else ""
    return (
        f"{who.character.name} intersects itself in {bad:,} of {count(frames, 'frame')}{clips}: "
        f"{count(pairs, 'pair')} of triangles."
    )


def _repair_words(judged: Sequence[Judged], rows: int | None) -> Iterator[tuple[RenderableType, str]]:
    done = [(one, one.repair) for one in judged if one.repair is not None]
    if not done:
        return
    frames, before = sum(len(r.scan) for _, r in done), sum(_bad(one) for one, _ in done)
    after = sum(_bad(r) for _, r in done)
    pairs = sum(one.pairs for one, _ in done), sum(int(r.scan.intersection_counts.sum()) for _, r in done)
    summaries = [summarise(r.frames) for _, r in done]
    inside = sum(one.colliding for one in summaries)
    yield "", ""
    yield (
        (
            f"With Position Based Skinning instead: {after:,} of {count(frames, 'frame')} (from {before:,}), "
            f"{count(pairs[1], 'pair')} (from {pairs[0]:,}); flesh is inside of flesh in {count(inside, 'frame')}."
        ),
        "",
    )
    if len(done) > 1 and (after or inside):
        out = _one_line(("frames", "before", "after", "inside", "deepest", "bones", "clip"), ("bones", "clip"))
        left = [(o, r, s) for (o, r), s in zip(done, summaries) if _bad(r) or s.colliding]
        for one, made, summary in left[:rows]:
            counts = f"{len(one.scan):,}", f"{_bad(one):,}", f"{_bad(made):,}", f"{summary.colliding:,}"
            out.add_row(*counts, f"{summary.deepest:.4g}", _bones(summary.bones), one.clip)
        yield out, ""
        yield from _rest(len(left[:rows]), len(left), "clip")
    elif inside:
        yield f"Deepest {summaries[0].deepest:.4g}; bones: {_bones(summaries[0].bones)}.", ""
    spent = np.concatenate([one.milliseconds[1:] for one in summaries])
    means = spent.mean(axis=0) if len(spent) else np.zeros(3)
    yield f"Milliseconds of a frame: {', '.join(f'{n} {ms:.1f}' for n, ms in zip(_SPENT, means))}.", "dim"


def _bones(bones: dict[tuple[str, str], int]) -> str:
    pairs = [" / ".join(pair) if pair[0] != pair[1] else pair[0] for pair in list(bones)[:_BONES]]
    return ", ".join(pairs) + (", ..." if len(bones) > _BONES else "")


def result_of(wanted: Wanted, who: Cast, judged: Sequence[Judged], why_not: str) -> Result:
    """For machines: every pair of triangles of the asset, and every vertex of repaired flesh that is in a cell."""
    head: dict[str, Any] = {
        "pairs": sum(one.pairs for one in judged),
        "character": who.character.name,
        "triangles": len(judged[0].scan.sequence.faces),
        "skinning": wanted.skinning,
        "rate": wanted.rate,
        "clips": [_clip_record(one) for one in judged],
    } | ({"no_repair": why_not} if why_not else {})
    tables = [joined(_pairs(one.clip, one) for one in judged)]
    flesh = [_penetrations(one.clip, i, f) for one in judged if one.repair for i, f in enumerate(one.repair.frames)]
    return Result("character", head, (*tables, *([joined(flesh)] if flesh else [])))


def _pairs(clip: str, one: Judged) -> Table:
    return joined(
        intersection_table(frame.intersections, clip=clip, frame=frame.number, time=frame.time)
        for frame in one.scan.frames
        if frame.intersections is not None
    )


def _penetrations(clip: str, number: int, frame: Any) -> Table:
    found = frame.penetrations
    names = [found.carriers.name(bone) for bone in found.bones.ravel().tolist()]
    table = inside_table(found, clip=clip, frame=number, time=frame.time)
    return Table("repair", table.columns | {"bones": np.array(names, "U64").reshape(-1, 2)})


def _clip_record(one: Judged) -> dict[str, Any]:
    worst = one.scan.worst(1)
    return {
        "clip": one.clip,
        "frames": len(one.scan),
        "frames_with_pairs": _bad(one),
        "pairs": one.pairs,
        "worst": {"frame": worst[0].number, "time": worst[0].time, "pairs": worst[0].intersection_count}
        if worst
        else None,
        "repair": None if one.repair is None else _repair_record(one.repair),
    }


def _repair_record(made: Repair) -> dict[str, Any]:
    summary = summarise(made.frames)
    means = summary.milliseconds[1:].mean(axis=0).tolist() if len(made.frames) > 1 else [0.0] * 3
    return {
        "frames_with_pairs": _bad(made),
        "pairs": int(made.scan.intersection_counts.sum()),
        "frames_with_collisions": summary.colliding,
        "deepest": summary.deepest,
        "bones": [{"pair": pair, "frames": often} for pair, often in summary.bones.items()],
        "milliseconds": dict(zip(_SPENT, means)),
    }
