"""Known offenders: a JSON file that a project keeps beside its assets, so that only new ones make a job fail.

    {"pliant": "baseline", "version": 1, "verb": "check", "known": [
    {"files": ["shirt.obj"], "kind": "face-face", "ids": [[3, 18], [3, 20]]}
    ]}

Names of files are relative to the folder of the baseline. Ids are those of the file: whoever edits a mesh so that its
faces are renumbered makes all of its offenders new ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from pliant.report.cases import NOUNS, Case, Key, relative_name
from pliant.runtime.arrays import MeshError

VERSION = 1
_NOT_ONE = "is not a baseline of pliant: write one with --write-baseline FILE"


class BaselineError(MeshError):
    """A file of known offenders that cannot be used; the message says why."""


class Judged(NamedTuple):
    """What a baseline says of what was found."""

    new: list[Case]  # the cases with those offences that are not known
    known: int
    gone: int  # known ones that were searched for and are not there any more


Known = dict[Key, set[tuple[int, int]]]


def write_baseline(cases: Iterable[Case], verb: str, folder: Path, file: IO[bytes]) -> int:
    """One line for each file and frame, in an order that does not depend on that of the arguments; returns how many
    offences there are."""
    known: Known = {}
    for case in cases:
        for some in case.offences:
            key, ids = _normal(case.key(some), some.ids, folder)
            known.setdefault(key, set()).update(_pairs(ids))
    lines = []
    for key in sorted(known, key=lambda one: (one.files, one.clip or "", one.frame or 0, one.kind)):
        entry: dict[str, Any] = {"files": list(key.files)}
        entry |= {name: value for name, value in (("clip", key.clip), ("frame", key.frame)) if value is not None}
        lines.append(json.dumps(entry | {"kind": key.kind, "ids": sorted(known[key])}))
    head = json.dumps({"pliant": "baseline", "version": VERSION, "verb": verb})[:-1]
    body = "\n" + ",\n".join(lines) + "\n" if lines else ""
    file.write(f'{head}, "known": [{body}]}}\n'.encode("ascii"))
    return sum(map(len, known.values()))


def read_baseline(path: Path, verb: str) -> Known:
    try:
        content = json.loads(path.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BaselineError(f"{path}: {_NOT_ONE} ({error})") from None
    if not isinstance(content, dict) or content.get("pliant") != "baseline":
        raise BaselineError(f"{path}: {_NOT_ONE}")
    if content.get("version") != VERSION:
        raise BaselineError(f"{path}: has version {content.get('version')!r}, and this pliant reads {VERSION}")
    if content.get("verb") != verb:
        raise BaselineError(f"{path}: was written by pliant {content.get('verb')}, and this is pliant {verb}")
    entries, known = content.get("known"), {}
    if not isinstance(entries, list):
        raise BaselineError(f'{path}: "known" is not a list; {_NOT_ONE}')
    for number, entry in enumerate(entries):
        key, ids = _entry(entry, f"{path}: entry {number} of known")
        known.setdefault(key, set()).update(ids)
    return known


def _entry(entry: Any, where: str) -> tuple[Key, list[tuple[int, int]]]:
    if not isinstance(entry, dict):
        raise BaselineError(f"{where} is not an object")
    files, ids, kind = entry.get("files"), entry.get("ids"), entry.get("kind")
    clip, frame = entry.get("clip"), entry.get("frame")
    if not isinstance(files, list) or len(files) not in (1, 2) or not all(isinstance(one, str) for one in files):
        raise BaselineError(f'{where}: "files" must be a list of one or two names')
    if kind not in NOUNS:
        raise BaselineError(f'{where}: "kind" must be one of {", ".join(NOUNS)}, not {kind!r}')
    if not (clip is None or isinstance(clip, str)) or not (frame is None or _is_id(frame)):
        raise BaselineError(f'{where}: "clip" must be a name and "frame" a number')
    if not isinstance(ids, list) or not all(isinstance(one, list) and len(one) == 2 for one in ids):
        raise BaselineError(f'{where}: "ids" must be a list of pairs')
    if not all(_is_id(one) for pair in ids for one in pair):
        raise BaselineError(f'{where}: "ids" must hold whole numbers from 0 on')
    return Key(tuple(files), kind, clip, frame), [(a, b) for a, b in ids]


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def judge(cases: Iterable[Case], known: Known, folder: Path, looked_at: Callable[[Key], bool]) -> Judged:
    """Tell new offences from known ones.

    looked_at : whether a key, with files called as in the cases, was examined in this run: what was not is not gone
    """
    new, counted, found = [], 0, dict.fromkeys(known, 0)
    names = {relative_name(name, folder): name for case in cases for name in case.files}
    for case in cases:
        kept = []
        for some in case.offences:
            key, ids = _normal(case.key(some), some.ids, folder)
            there = known.get(key, set())
            fresh = np.array([pair not in there for pair in _pairs(ids)], bool)
            if there:
                found[key] += int(np.count_nonzero(~fresh))
            counted += int(np.count_nonzero(~fresh))
            if fresh.any():
                kept.append(some.chosen(fresh))
        new.append(case._replace(offences=tuple(kept)))
    gone = 0
    for key, there in known.items():
        files = tuple(names.get(name, "") for name in key.files)
        if all(files) and looked_at(key._replace(files=files)):
            gone += len(there) - found[key]
    return Judged(new, counted, gone)


def _normal(key: Key, ids: np.ndarray, folder: Path) -> tuple[Key, np.ndarray]:
    """With names from the folder, and in their order: that of the arguments does not matter."""
    files = tuple(relative_name(name, folder) for name in key.files)
    if len(files) == 2 and files[1] < files[0]:
        return key._replace(files=files[::-1]), ids[:, ::-1]
    return key._replace(files=files), ids


def _pairs(ids: np.ndarray) -> list[tuple[int, int]]:
    return [(a, b) for a, b in ids.tolist()]
