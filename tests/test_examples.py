"""Every example runs to its end, where its assertions are."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


def test_examples_are_numbered_from_one():
    assert [int(path.name.partition("_")[0]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, capsys: pytest.CaptureFixture[str]):
    source = path.read_text("utf-8")
    assert len(source.splitlines()) < 100
    assert re.search(r"^ *assert .*\Z", source.rstrip(), re.MULTILINE), "an example ends in an assertion"
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
