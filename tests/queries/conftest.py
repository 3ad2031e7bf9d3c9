"""Tests of queries are about hierarchies, whatever the size of their scenes."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="module")
def trees(with_trees: None) -> None:
    pass
