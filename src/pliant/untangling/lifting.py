"""What belongs outside of closed objects is lifted off their surface."""

from __future__ import annotations

import numpy as np

from pliant.runtime.clocks import Clock
from pliant.untangling.given import Given
from pliant.untangling.pushing import Push
from pliant.untangling.sides import Enclosure
from pliant.untangling.skins import Skin
from pliant.untangling.spreading import spread
from pliant.untangling.window import Window

_FIRM = 10.0  # weight of a displacement out of a closed object
_SAMPLES = 200  # faces that decide which way an object is turned


class Whole:
    """What a window has to know of the whole mesh.

    x : (n, 3) as given
    enclosures : closed objects that are told about
    """

    def __init__(self, x: np.ndarray, enclosures: list[Enclosure], fixed: np.ndarray, threads: int) -> None:
        self.x, self.enclosures, self._threads = x, enclosures, threads
        # Of what does not move, once.
        is_fixed = [fixed[one.faces[: one.own]].all() for one in enclosures]
        self._skins = [Skin(one, x, threads) if rests else None for one, rests in zip(enclosures, is_fixed)]

    def around(self, window: Window, x: np.ndarray) -> np.ndarray:
        """(n, 3) everything, with the window at x."""
        out = self.x.copy()
        out[window.ids] = x
        return out

    def free_outside(self, window: Window) -> list[np.ndarray]:
        """Of each enclosure, the vertices of the window that belong outside of it, and can be moved."""
        place = np.full(len(self.x), -1)
        place[window.ids] = np.arange(len(window.ids))
        mine = (place[one.outside] for one in self.enclosures)
        return [rows[(rows >= 0) & ~window.held[rows]] for rows in mine]

    def skin(self, number: int, x: np.ndarray) -> Skin:
        """Of an enclosure, everything being at x."""
        return self._skins[number] or Skin(self.enclosures[number], x, self._threads)


def lifted(window: Window, whole: Whole, x: np.ndarray, gap: np.ndarray, clock: Clock, rounds: int = 8) -> np.ndarray:
    """Vertices that belong outside of a closed object, and are inside or nearer to it than half of a gap, (n,) in
    sizes, are pushed to that gap along the shortest way; their surroundings follow."""
    if not whole.enclosures:
        return x
    for _ in range(rounds):
        push, around, lowest = Push(len(x)), whole.around(window, x), np.inf
        for number, mine in enumerate(whole.free_outside(window)):
            height, out = whole.skin(number, around).heights(x[mine])
            height /= window.size[mine]
            low = height < gap[mine]
            rows = mine[low]
            push.wanted[rows] = ((gap[rows] - height[low]) * window.size[rows])[:, None] * out[low]
            push.weight[rows] = 1.0
            lowest = min(lowest, float((height - 0.5 * gap[mine]).min(initial=np.inf)))
        if lowest >= 0.0 or clock.is_over:
            break
        x = x + spread(window.rings, push.wanted, _FIRM * push.weight, window.held)
    return x


def facing_away(given: Given, whole: Whole) -> np.ndarray:
    """(m,) int8: 1 for faces of objects that are turned away from what they belong outside of, as a whole; -1 for
    those turned towards it, 0 where nothing is told."""
    faces, x = given.mesh._faces, given.x
    sign = np.zeros(len(faces), np.int8)
    of_face = given.objects[faces[:, 0]] if len(faces) else np.empty(0, np.int32)
    for number, one in enumerate(whole.enclosures):
        for label in np.unique(given.objects[one.outside]):
            own = np.flatnonzero(of_face == label)
            some = faces[own[:: max(1, len(own) // _SAMPLES)]]
            u, v, w = (x[some[:, k]] for k in range(3))
            _, out = whole.skin(number, x).heights(np.ascontiguousarray((u + v + w) / 3.0))
            total = float(np.einsum("ij,ij->", np.cross(v - u, w - u), out))
            sign[own] = 1 if total > 0.0 else -1
    return sign
