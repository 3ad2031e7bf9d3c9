"""The verb warm: which kernels it compiles. That they are all that queries call is tested in tests/warming."""

from __future__ import annotations

import re

import pytest

from pliant.cli import main
from pliant.runtime import jit

pytestmark = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")


def run(*arguments: str) -> object:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code


def test_kernels_of_the_queries_that_are_named(capsys: pytest.CaptureFixture[str]):
    assert run("warm", "small_ccd") == 0  # some or all of them are there from other tests
    assert re.search(r"[0-5] kernels are compiled, in ", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("ccd", "everything"), "everything: kernels are compiled for ccd, step"), (("ccd", "--all"), "--all")],
)
def test_names_that_are_none(arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]):
    assert run("warm", *arguments) == 2
    assert words in capsys.readouterr().err
