"""Cases as SARIF 2.1.0, which code scanning shows beside the files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import pliant
from pliant.report.cases import STANDARD_INPUT, Case, Offences, relative_name, words_of

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST = 5000  # results: what code scanning of GitHub shows of a run
RULES = {
    "face-face": ("pliant/intersection", "Triangles intersect", "Two triangles share a point they should not."),
    "inverted-cell": ("pliant/inverted-cell", "A cell is inverted or flat", "A solid cell has no positive volume."),
    "vertex-face": ("pliant/contact", "Features touch", "A vertex and a face, or two edges, meet between frames."),
    "edge-edge": ("pliant/contact", "Features touch", "A vertex and a face, or two edges, meet between frames."),
}


def write_sarif(cases: Sequence[Case], verb: str, file: IO[bytes], folder: Path) -> None:
    """A result for each offence, with the address of its file from `folder`; known ones are to be left out before."""
    rules = {name: {"id": name, "name": title.title().replace(" ", ""), "shortDescription": {"text": title},
                    "fullDescription": {"text": about}, "defaultConfiguration": {"level": "error"}}
             for name, title, about in RULES.values()}  # fmt: skip
    places = {name: i for i, name in enumerate(rules)}
    every = ((case, some, row) for case in cases for some in case.offences for row in range(len(some.ids)))
    results = [_result(*one, places, folder) for one in islice(every, MOST)]
    notes = [_note(case.error, "error") for case in cases if case.error]
    count = sum(case.total for case in cases)
    if count > MOST:
        notes.append(_note(f"{count - MOST:,} more results were left out, after the first {MOST:,}", "warning"))
    failed = any(case.error for case in cases)
    run = {
        "tool": {"driver": {"name": "pliant", "version": pliant.__version__, "rules": list(rules.values())}},
        "invocations": [{"executionSuccessful": not failed, "toolExecutionNotifications": notes}],
        "automationDetails": {"id": f"pliant/{verb}/"},
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    file.write(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1).encode() + b"\n")


def _result(case: Case, some: Offences, row: int, places: dict[str, int], folder: Path) -> dict[str, Any]:
    rule = RULES[some.kind][0]
    files = [relative_name(name, folder) for name in case.files]
    told_by = json.dumps([files, case.clip, some.frame, some.kind, some.ids[row].tolist()])
    # GitHub tells results of one line apart by this name alone.
    prints = {"primaryLocationLineHash": hashlib.sha256(told_by.encode()).hexdigest()[:32]}
    clip = "" if case.clip is None else f"clip {case.clip}, "
    return {
        "ruleId": rule,
        "ruleIndex": places[rule],
        "level": "error",
        "message": {"text": clip + words_of(case, some, row)},
        "locations": [_location(files[0])],
        "relatedLocations": [{"id": i, **_location(name)} for i, name in enumerate(files[1:], 1)],
        "partialFingerprints": prints,
    }


def _location(name: str) -> dict[str, Any]:
    if name == STANDARD_INPUT:
        return {"logicalLocations": [{"name": name}]}
    # Meshes have no lines to point at; code scanning wants one.
    place = {"artifactLocation": {"uri": quote(name.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}}
    return {"physicalLocation": place | {"region": {"startLine": 1}}}


def _note(text: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}
