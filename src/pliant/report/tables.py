"""Results for people: short tables in a terminal, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pliant.frames.scanning import Scan
from pliant.mesh.parts import Parts
from pliant.report.findings import looked_for
from pliant.results.contacts import Contacts
from pliant.results.insides import InsideCells, InsideSurface
from pliant.results.intersections import Intersections
from pliant.results.proximity import Proximity
from pliant.runtime.extras import needed
from pliant.runtime.tally import Stage

with needed("rich", "pliant.report"):
    from rich.table import Table

ROWS = 10  # of a table, unless all are wanted
LEAST_DIGITS, _MOST_DIGITS = 4, 17  # of coordinates
_DETAIL = ": "  # a stage named "exact: doubles" is a part of the stage "exact"
_KINDS = ("vertex-face", "edge-edge")


def count(number: int, noun: str, several: str | None = None) -> str:
    """ "1 pair", "1,200 pairs"."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def table(columns: Sequence[str], words: Sequence[str] = ()) -> Table:
    """A table without lines; columns hold numbers unless they are named in `words`."""
    out = Table(box=None, header_style="dim", padding=(0, 1), pad_edge=False)
    for name in columns:
        text = name in words
        out.add_column(name, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return out


def more(shown: int, of: int, noun: str, several: str | None = None) -> str | None:
    """That a table does not show all."""
    several = f"more {several or noun + 's'}"
    return f"... and {count(of - shown, 'more ' + noun, several)}" if of > shown else None


def merged_words(vertices: int) -> str | None:
    """That vertices were taken for one, if any were."""
    noun = "vertex", "vertices"
    return f"Merged {count(vertices, *noun)} at equal positions; --no-merge keeps them apart." if vertices else None


def stage_table(stages: Iterable[Stage]) -> Table:
    """What every stage did: pairs in and out, and seconds summed over threads; its parts follow a stage."""
    every = list(stages)
    out = table(("stage", "pairs in", "pairs out", "passed", "seconds"), ("stage",))
    for stage in every:
        if _DETAIL in stage.name:
            continue
        out.add_row(stage.name, *_counts(stage), f"{stage.seconds:.3f}")
        for part in every:
            if part.name.startswith(stage.name + _DETAIL):
                out.add_row(f"  in {part.name.partition(_DETAIL)[2]}", *_counts(part), "", style="dim")
    return out


def _counts(stage: Stage) -> tuple[str, str, str]:
    if not stage.pairs_in and not stage.pairs_out:
        return "", "", ""
    passed = f"{stage.pairs_out / stage.pairs_in:.1%}" if stage.pairs_in else ""
    return f"{stage.pairs_in:,}", f"{stage.pairs_out:,}", passed


def file_table(rows: Iterable[tuple[str, int | None, int, int]]) -> Table:
    """File, pairs, triangles and vertices; pairs are None where they were not searched for."""
    out = table(("pairs", "triangles", "vertices", "file"), ("file",))
    for name, pairs, *sizes in rows:
        found = "-" if pairs is None else f"{pairs:,}" if pairs else "clean"
        out.add_row(found, *(f"{size:,}" for size in sizes), name)
    return out


def scan_table(rows: Iterable[tuple[str, int, int, int, int, int]]) -> Table:
    """Sequence, contacts, pairs, inverted cells where there are any, frames and triangles."""
    rows = list(rows)
    kinds = ["contacts", "pairs", *["inverted"] * any(row[3] for row in rows)]
    out = table((*kinds, "frames", "triangles", "sequence"), ("sequence",))
    for name, *counts, frames, triangles in rows:
        found = [f"{number:,}" for number in counts] if any(counts) else ["clean", "", ""]
        out.add_row(*found[: len(kinds)], f"{frames:,}", f"{triangles:,}", name)
    return out


def between_table(rows: Iterable[tuple[str, str, int]]) -> Table:
    """Two files, and how many pairs there are between them."""
    out = table(("pairs", "between"), ("between",))
    for a, b, number in rows:
        out.add_row(f"{number:,}", f"{a} and {b}")
    return out


def between_rows(rows: Iterable[tuple[str, str, Intersections]], most: int = ROWS) -> Table:
    """The first pairs between files: a face of the one, a face of the other, and where."""
    out, left = table(("face", "of", "with", "in", "at"), ("of", "in", "at")), most
    for a, b, found in rows:
        digits = digits_of(found.segments.reshape(-1, 3), len(found))
        for i in range(min(left, len(found))):
            where = point(found.segments[i].mean(axis=0), digits)
            out.add_row(f"{found.faces[i, 0]}", a, f"{found.faces[i, 1]}", b, where)
        left -= min(left, len(found))
    return out


def face_table(
    pairs: Intersections, faces: np.ndarray, x: np.ndarray, rows: int = ROWS, parts: Parts | None = None
) -> Table:
    """The faces that are in most pairs, where they are, and in which part, where parts have names."""
    found, often = np.unique(pairs.faces, return_counts=True)
    out = table(("face", "pairs", "with", "centre", *["part"] * (parts is not None)), ("with", "centre", "part"))
    digits = digits_of(x[faces].reshape(-1, 3), len(faces))
    for i in np.lexsort((found, -often))[:rows]:
        face = found[i]
        with_face = (pairs.faces == face).any(axis=1)
        others = pairs.faces[with_face]
        others = others[others != face]
        listed = ", ".join(map(str, others[:3])) + (", ..." if len(others) > 3 else "")
        row = f"{face}", f"{often[i]:,}", listed, point(x[faces[face]].mean(axis=0), digits)
        out.add_row(*row, *([] if parts is None else [parts.names[parts.of_face[face]]]))
    return out


def contact_rows(
    contacts: Contacts, points: np.ndarray, x: np.ndarray, parts: np.ndarray | None = None, rows: int = ROWS
) -> Table:
    """The first contacts, at points (k, 3), in a mesh with vertices x; parts : (k, 2) names, where they have any."""
    digits = digits_of(x, len(x))  # once for all
    out = table(
        ("t", "contact", "ids", "at", "gap at start", *["parts"] * (parts is not None)),
        ("contact", "ids", "at", "parts"),
    )
    for i in np.argsort(contacts.toi, kind="stable")[:rows]:
        ids = " ".join(map(str, contacts.elements[i]))
        row = f"{contacts.toi[i]:.6f}", _KINDS[contacts.kind[i]], ids, place_in(x, points[i], digits)
        told = [] if parts is None else [sides_words(*parts[i].tolist())]
        out.add_row(*row, f"{contacts.gap[i]:.4g}", *told)
    return out


def near_rows(
    near: Proximity, x: np.ndarray, rows: int = ROWS, files: np.ndarray | None = None, parts: np.ndarray | None = None
) -> Table:
    """The closest pairs, in a mesh with vertices x; files, parts : (k, 2) names, where there are several."""
    digits = digits_of(x, len(x))
    ids = ("ids",) if files is None else ("id", "of", "with", "in")
    words = ("pair", "ids", "of", "in", "at", "parts")
    out = table(("distance", "pair", *ids, "at", *["parts"] * (parts is not None)), words)
    for i in np.argsort(near.distance, kind="stable")[:rows]:
        a, b = (str(one) for one in near.elements[i])
        named = (f"{a} {b}",) if files is None else (a, files[i, 0], b, files[i, 1])
        where = point(near.points[i].mean(axis=0), digits)
        told = [] if parts is None else [sides_words(*parts[i].tolist())]
        out.add_row(f"{near.distance[i]:.6g}", _KINDS[near.kind[i]], *named, where, *told)
    return out


def enclosed_rows(found: InsideSurface, x: np.ndarray, rows: int = ROWS) -> Table:
    """The deepest vertices."""
    digits = digits_of(x, len(x))
    out = table(("vertex", "depth", "winding", "at"), ("at",))
    for i in np.argsort(-np.nan_to_num(found.depth, nan=-1.0), kind="stable")[:rows]:
        depth = "" if np.isnan(found.depth[i]) else f"{found.depth[i]:.4g}"
        winding = "on it" if found.on_surface[i] else f"{found.winding[i]}"
        out.add_row(f"{found.vertices[i]}", depth, winding, point(x[found.vertices[i]], digits))
    return out


def place_in(x: np.ndarray, at: np.ndarray, digits: int | None = None) -> str:
    """A point (3,) of a contact in a mesh with vertices x; what is next to nothing beside them is 0."""
    near_zero = np.abs(at) < 1e-9 * np.abs(x).max(initial=0.0)  # its time is known to 1e-12 of the motion
    return point(np.where(near_zero, 0.0, at), digits_of(x, len(x)) if digits is None else digits)


def sides_words(a: str, b: str) -> str:
    return f"{a} with itself" if a == b else f"{a} with {b}"


def inside_rows(found: InsideCells, x: np.ndarray, rows: int = ROWS) -> Table:
    """The deepest vertices."""
    digits = digits_of(x, len(x))
    out = table(("vertex", "cell", "depth", "at"), ("at",))
    for i in np.argsort(-np.nan_to_num(found.depth, nan=-1.0), kind="stable")[:rows]:
        depth = "" if np.isnan(found.depth[i]) else f"{found.depth[i]:.4g}"
        out.add_row(f"{found.vertices[i]}", f"{found.cells[i]}", depth, point(x[found.vertices[i]], digits))
    return out


def frame_table(scan: Scan, rows: int = ROWS) -> Table:
    """The worst frames."""
    contacts, crossing = looked_for(scan.frames)
    timed, files = any(one.time != one.number for one in scan.frames), scan.sequence.files
    columns = ["frame", "time"][: 1 + timed] + ["vertex-face", "edge-edge", "first at"] * contacts
    inverted = any(one.inverted is not None for one in scan.frames)
    out = table(
        [
            *columns,
            *["intersecting"] * crossing,
            *["inverted or flat"] * inverted,
            "ms",
            *["file"] * (files is not None),
        ],
        ("file",),
    )
    digits = digits_of(np.array([one.time for one in scan.frames]), len(scan.frames) ** 2)  # of a line, not a surface
    for one in scan.worst(rows):
        row = [f"{one.number}", f"{one.time:.{digits}g}"][: 1 + timed]
        if contacts:
            edges = 0 if one.contacts is None else int(np.count_nonzero(one.contacts.kind))
            first = f"{one.first_contact:.3g}" if one.contacts else ""
            row += [f"{one.contact_count - edges:,}", f"{edges:,}", first]
        row += (
            [f"{one.intersection_count:,}"] * crossing
            + [f"{one.inverted_count:,}"] * inverted
            + [f"{1e3 * sum(one.seconds):.0f}"]
        )
        out.add_row(*row, *([] if files is None else [files[one.place]]))
    return out


def part_table(scan: Scan, rows: int = 5) -> Table:
    """Which parts meet."""
    contacts, crossing = looked_for(scan.frames)
    out = table(["parts", *["contacts"] * contacts, *["intersecting"] * crossing, "frames"], ("parts",))
    for one in scan.parts()[:rows]:
        a, b = one.parts if scan.sequence.parts is None else one.names
        counts = [f"{one.contacts:,}"] * contacts + [f"{one.intersections:,}"] * crossing
        out.add_row(sides_words(f"{a}", f"{b}"), *counts, f"{one.frames:,}")
    return out


def point(x: np.ndarray, digits: int = LEAST_DIGITS) -> str:
    return f"({x[0]:.{digits}g}, {x[1]:.{digits}g}, {x[2]:.{digits}g})"


def digits_of(x: np.ndarray, parts: int = 1) -> int:
    """Digits that tell positions in a mesh apart, wherever it is: far from the origin, the first ones are all the same.

    x : (n, 3), all positions of it, or (n,) times; parts : how many faces it has, or other things that are to be told
        apart
    """
    if not len(x):
        return LEAST_DIGITS
    values = np.asarray(x, np.float64).reshape(len(x), -1)
    size = float(np.ptp(values, axis=0).max())
    # Things that cover a surface are as far apart as its size, divided by the root of their number; a tenth of that.
    step = size / np.sqrt(max(parts, 1)) / 10.0
    if not 0.0 < step < np.inf:
        return LEAST_DIGITS
    return int(np.clip(np.ceil(np.log10(np.abs(values).max() / step)), LEAST_DIGITS, _MOST_DIGITS))
