"""Numbers in tables: as many digits as tell things apart."""

import numpy as np
import pytest

from pliant.report.tables import digits_of, point
from tests.shapes.command_line import CROSSING, write_obj

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("size", "offset", "parts", "digits"),
    [(1, 0, 2, 4), (100, 5e5, 1000, 7), (1e-6, 0, 10, 4), (1e-3, 1e3, 2, 8), (1e-6, 1e9, 2, 17), (1e4, 5e6, 10**6, 7)],
)
def test_digits_follow_the_size_of_the_mesh(size, offset, parts, digits):
    x = offset + size * np.array([[0, 0, 0], [1, 1, 1]])
    assert digits_of(x, parts) == digits


@pytest.mark.parametrize("x", [np.empty((0, 3)), np.zeros((1, 3)), np.full((5, 3), 7.0)])
def test_digits_of_nothing_and_of_one_point(x):
    assert digits_of(x) == 4
    assert point(np.array([0.123456, 2.0, 3e5])) == "(0.1235, 2, 3e+05)"


@pytest.mark.parametrize("verb", [("check",), ("near", "--within", "2")])
def test_places_far_from_the_origin_can_be_told_apart(tmp_path, call, verb):
    """A mesh in coordinates of a country had the same centre, (4.123e+05, ...), for every face."""
    far = np.array([412345.0, 5412345.0, 210.0])
    ended = call(verb[0], write_obj(tmp_path / "a.obj", CROSSING + far), *verb[1:])
    rows = [line.partition("(")[2] for line in ended.out.splitlines() if line.rstrip().endswith(")") and "412" in line]
    assert len(rows) >= 2
    assert len(set(rows)) > 1
    assert all(row.startswith(("41234", "4.1234")) for row in rows)
