"""The space that a file puts its coordinates in."""

from __future__ import annotations

from typing import NamedTuple


class Space(NamedTuple):
    """What a file says of its coordinates, which are kept as they are.

    up : the axis that points up, "x", "y" or "z"
    metres : in one unit; None where the file does not say
    """

    up: str = "y"
    metres: float | None = None
