"""What untangle is told, for tests of its parts."""

from __future__ import annotations

from pliant.untangling.given import Given


def given_of(faces, x, fixed=None):
    options = {"fixed": fixed, "layers": None, "outside_of": None, "reference": None, "max_move": None}
    return Given.of(faces, x, options | {"max_distortion": 4.0, "seconds": 60.0, "threads": 1})
