"""Tests of the engine are about hierarchies, whatever the size of their scenes; of steps, without them, too."""

from __future__ import annotations

import pytest

# A step of a small mesh that kept a distance ended within it: its tests were about trees alone.
BOTH_WAYS = ("test_rounded_steps", "test_thick_steps")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.rpartition(".")[2] in BOTH_WAYS:
        metafunc.parametrize("trees", ["tree", "direct"], indirect=True, scope="module")


@pytest.fixture(autouse=True, scope="module")
def trees(request: pytest.FixtureRequest) -> None:
    if getattr(request, "param", "tree") == "tree":
        request.getfixturevalue("with_trees")
