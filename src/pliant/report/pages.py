"""A scan as one page that any browser opens, without a network: 3D, timeline, plots, tables."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.frames.scanning import Scan
from pliant.report.findings import Findings, findings_of, funnel_of, looked_for, worst_frames
from pliant.report.regions import Regions
from pliant.report.shown import MOST_NUMBERS, MOST_TRIANGLES, Shown, choose_shown, describe
from pliant.report.streams import STEPS, Stream, make_stream
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.runtime.arrays import choose
from pliant.runtime.writing import write_atomically

SCRIPTS = (
    "elements.js", "data.js", "shaders.js", "textures.js", "camera.js", "renderer.js", "places.js", "pointer.js",
    "plots.js", "funnel.js", "timeline.js", "tables.js", "printing.js", "page.js",
)  # fmt: skip
UPS = ("x", "y", "z")
_MOST_BYTES = 28_000_000  # of a compressed stream; a third more as text, and the page stays under 40 MB
_WORST, _PAIRS = 12, 40  # rows of the tables


def write_page(
    scan: Scan,
    path: str | os.PathLike[str],
    *,
    options: Mapping[str, object] | None = None,
    title: str | None = None,
    up: str = "y",
    triangles: int = MOST_TRIANGLES,
    verb: str = "scan",
) -> None:
    """Write a scan as one html file that needs no other: it opens from a disk, and asks no network for anything.

    options : what else to list under what was run, such as options of the scan
    title : default: the name of the sequence
    up : the axis that is shown upwards, "x", "y" or "z"
    triangles : about how many to show in 3D at most; every face that collides is shown in any case
    verb : of the command line that made it: "check" for a mesh at one instant, whose page has no timeline; "untangle"
        for two frames, before and after, with a slider between them

    Positions are rounded to 16 bits in the box of the sequence. Long sequences are shown in 3D with fewer frames. The
    page says both.
    """
    choose(up, "up", UPS)
    regions = Regions(scan.sequence)
    findings = findings_of(scan, regions)
    shown, stream = _shown_and_stream(scan, regions, findings, triangles)
    name = scan.sequence.name if title is None else title
    record = {"title": name, "up": up, "verb": verb, "version": pliant.__version__} | _record(scan, regions, findings)
    record["numbers"] = [frame.number for frame in scan.frames]
    record["files"] = None if scan.sequence.files is None else [scan.sequence.files[one.place] for one in scan.frames]
    record |= _of_stream(stream, shown, scan) | {"run": _run_rows(scan, regions, options or {}, verb)}
    page = assemble(name, record, stream.data).encode("utf-8", "backslashreplace")  # names need not be text
    write_atomically(Path(path), lambda file: file.write(page))


def _shown_and_stream(scan: Scan, regions: Regions, findings: Findings, triangles: int) -> tuple[Shown, Stream]:
    """Fewer frames, until the stream is small enough."""
    numbers = MOST_NUMBERS
    while True:
        shown = choose_shown(scan.sequence, regions, findings, triangles, numbers)
        stream = make_stream(scan, regions, findings, shown)
        if len(stream.data) <= _MOST_BYTES or numbers < 1000:
            return shown, stream
        numbers //= 2


def _record(scan: Scan, regions: Regions, findings: Findings) -> dict[str, Any]:
    """All numbers of the page."""
    contacts, crossings = looked_for(scan.frames)
    pairs, place = scan.parts(), {label: i for i, label in enumerate(regions.parts.labels)}
    return {
        "looked": {"contacts": contacts, "intersections": crossings},
        "times": [frame.time for frame in scan.frames],
        "counts": _gaps(findings.counts.T, scan),
        "faces": findings.faces.tolist(),
        "first": [None if math.isnan(t) else t for t in findings.first.tolist()],
        "milliseconds": [[1e3 * frame.seconds[i] for frame in scan.frames] for i in range(2)],
        "seconds": scan.seconds,
        "worst": worst_frames(findings.totals, _WORST),
        "partNames": list(regions.parts.names) if len(regions.parts.names) < 10_000 else [],
        "partCount": len(regions.parts.names),
        "pairs": [[*map(place.__getitem__, one.parts), *one[2:]] for one in pairs[:_PAIRS]],
        "pairCount": len(pairs),
        "funnels": {
            "contacts": _as_record([one.contacts for one in scan.frames]),
            "intersections": _as_record([one.intersections for one in scan.frames]),
        },
        "sizes": {"faces": len(regions.faces), "vertices": _vertex_count(regions), "frames": len(scan)},
    }


def _gaps(counts: np.ndarray, scan: Scan) -> list[list[int | None]]:
    """None where nothing was searched for: contacts are of the way to a frame, and no way leads to the first."""
    contacts = [frame.contacts is not None for frame in scan.frames]
    crossings = [frame.intersections is not None for frame in scan.frames]
    rows = zip(counts.tolist(), (contacts, contacts, crossings))
    return [[count if there else None for count, there in zip(row, known)] for row, known in rows]


def _as_record(tables: Sequence[Contacts | Intersections | None]) -> dict[str, Any]:
    """The funnel; None in frames without a table."""
    funnel = funnel_of([() if table is None else table.stages for table in tables])
    there = [table is not None for table in tables]
    rows = [[[n if t else None for n, t in zip(row, there)] for row in side.tolist()] for side in funnel[1:]]
    return {"stages": list(funnel.stages), "in": rows[0], "out": rows[1]}


def _of_stream(stream: Stream, shown: Shown, scan: Scan) -> dict[str, Any]:
    step = float((stream.upper / STEPS - stream.lower / STEPS).max())
    notes = list(describe(shown, len(scan), len(scan.sequence.faces)))
    notes.append(f"Positions are rounded to 16 bits in the box of what is shown, {step:.2g} at most; results are not.")
    return {
        "arrays": stream.arrays,
        "lower": stream.lower.tolist(),
        "upper": stream.upper.tolist(),
        "notes": notes,
        "vertexCount": len(shown.vertices),
        "tints": stream.tints,
    }


def _vertex_count(regions: Regions) -> int:
    """Of those that a face has."""
    return int(np.count_nonzero(regions.parts.of_vertex >= 0))


def _run_rows(scan: Scan, regions: Regions, options: Mapping[str, object], verb: str) -> list[tuple[str, str]]:
    """What was run, and with what."""
    sizes, compares = f"{len(regions.faces):,} triangles, {_vertex_count(regions):,} vertices", verb == "untangle"
    sizes += "" if compares else f", {len(scan):,} frames"
    tools = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return [
        ("Mesh" if compares else "Sequence", scan.sequence.name),
        ("Size", sizes),
        ("Parts", f"{len(regions.parts.names):,}"),
        *_inside_out(scan),
        *((key.replace("_", " ").capitalize(), str(value)) for key, value in options.items()),
        ("Time" if compares else "Scan", f"{scan.seconds:.2f} s"),
        ("Software", f"pliant {pliant.__version__}, Python {platform.python_version()}, {tools}"),
        ("Machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"),
    ]


def _inside_out(scan: Scan) -> list[tuple[str, str]]:
    """How many solid cells are inverted or flat, where there are solids."""
    counts = scan.inverted_counts
    if all(one.inverted is None for one in scan.frames):
        return []
    worst = scan.frames[int(np.argmax(counts))].number
    where = f" in {np.count_nonzero(counts):,} frames, most in frame {worst} ({counts.max():,})" if counts.any() else ""
    return [("Cells inverted or flat", f"{counts.sum():,}{where}")]


def assemble(title: str, record: Mapping[str, Any], data: bytes) -> str:
    """The html. Names come from files: in JSON no tag can begin, and elsewhere they are escaped."""
    folder = resources.files("pliant.report") / "page"
    script = "".join((folder / name).read_text("utf-8") for name in SCRIPTS)
    script = f'(() => {{\n"use strict";\n{script}}})();\n'
    style = (folder / "page.css").read_text("utf-8")
    pieces = {
        "title": html.escape(title),
        "verb": html.escape(str(record.get("verb", "scan"))),
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}",
        "style": style,
        "record": json.dumps(_finite(record), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        "data": base64.b64encode(data).decode(),
        "script": script,
    }
    page = (folder / "page.html").read_text("utf-8").split("@@")
    return "".join(piece if i % 2 == 0 else pieces[piece] for i, piece in enumerate(page))


def _hash(text: str) -> str:
    """What a browser compares: scripts and styles that are not ours do not run, whatever a name holds."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity; times of files may."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
