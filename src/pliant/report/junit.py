"""Cases as JUnit XML, which build servers show as tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import IO
from xml.etree import ElementTree

from pliant.report.cases import Case, first_words, summary

_LISTED = 20  # offences of a case that its text names
# All that XML 1.0 cannot hold: control characters, halves of surrogates, two more.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(cases: Sequence[Case], failing: bool, verb: str, file: IO[bytes]) -> None:
    """One suite with a test for each case; those with offences failed, if the run as a whole is `failing`."""
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(failing and case.total > 0 and not case.error for case in cases)),
        "errors": str(sum(bool(case.error) for case in cases)),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": f"pliant {verb}", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"pliant {verb}", **counts, "skipped": "0"})
    for case in cases:
        _add(suite, case, failing, verb)
    ElementTree.indent(root)
    file.write(ElementTree.tostring(root, "utf-8", xml_declaration=True) + b"\n")


def _add(suite: ElementTree.Element, case: Case, failing: bool, verb: str) -> None:
    known = {"classname": f"pliant.{verb}", "name": _legal(case.name), "time": f"{case.seconds:.3f}"}
    test = ElementTree.SubElement(suite, "testcase", known)
    if case.error:
        said = ElementTree.SubElement(test, "error", {"message": _legal(case.error), "type": "unreadable"})
        said.text = _legal(case.error)
    elif case.total:
        kind = {"message": _legal(summary(case)), "type": "intersection"}
        said = ElementTree.SubElement(test, "failure", kind) if failing else ElementTree.SubElement(test, "system-out")
        said.text = _legal("\n".join([*([] if failing else [summary(case)]), *first_words(case, _LISTED)]))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)
