"""What breaks in a step: erosion, fracture, merging and cuts, one after the other, and what they make coincide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.simulate.frames import Counts
from pliant.simulate.solids.changing.body import Body, Changed
from pliant.simulate.solids.changing.cutting import cut
from pliant.simulate.solids.changing.erosion import eroded
from pliant.simulate.solids.changing.fracture import fractured
from pliant.simulate.solids.changing.fresh import FreshSplits
from pliant.simulate.solids.changing.merging import merged, pressed_pairs


class Loads(NamedTuple):
    """What a body is under at the end of a step; None for what does not happen to it.

    stress : (c, 3, 3) Cauchy stress of cells, N/m2; failure : (c,) at which tension they fail, infinite for never
    thickness : (c,) m, of shells
    held : (n,) bool, vertices that somebody else moves: they neither fail nor merge
    gone : (c,) bool, cells that erode
    force : (n,) N of impact on vertices; merging : the threshold for it, N, and how near vertices must be, m
    swept : (k, 3, 3) m, triangles that a blade has swept
    """

    stress: np.ndarray | None = None
    failure: np.ndarray | None = None
    thickness: np.ndarray | None = None
    held: np.ndarray | None = None
    gone: np.ndarray | None = None
    force: np.ndarray | None = None
    merging: tuple[float, float] | None = None
    swept: np.ndarray | None = None


class Breaking:
    """Breaks a body up, step after step.

    fresh : pairs of features that coincide because of it, and have not been apart since
    counts : of what has happened
    """

    def __init__(self) -> None:
        self.fresh: FreshSplits = FreshSplits()
        self.counts: Counts = Counts()
        self._on_blade: np.ndarray | None = None

    def step(self, body: Body, loads: Loads) -> tuple[Changed, ...]:
        """Changes of the body at the end of a step, one after the other; none where nothing breaks."""
        done: list[Changed] = []
        if loads.gone is not None:
            loads = self._follow(done, loads, eroded(body, loads.gone))
        body = done[-1].body if done else body
        if loads.stress is not None and loads.failure is not None:
            found = fractured(body, loads.stress, loads.failure, held=loads.held, thickness=loads.thickness)
            loads = self._follow(done, loads, found)
        body = done[-1].body if done else body
        if loads.force is not None and loads.merging is not None:
            loads = self._follow(done, loads, self._merged(body, loads.force, loads.merging, loads.held))
        body = done[-1].body if done else body
        if loads.swept is None:
            self._on_blade = None
            return tuple(done)
        made = cut(body, loads.swept, self._on_blade)
        self._on_blade = None  # what follows is told by the cut itself
        for one in made.changes:
            loads = self._follow(done, loads, one)
        self._on_blade = made.on_blade
        return tuple(done)

    def _merged(
        self, body: Body, force: np.ndarray, merging: tuple[float, float], held: np.ndarray | None
    ) -> Changed | None:
        threshold, within = merging
        pairs = pressed_pairs(body, force if held is None else np.where(held, -np.inf, force), threshold, within)
        found = merged(body, pairs, self.fresh.pairs)
        return None if found is None else found.changed

    def _follow(self, done: list[Changed], loads: Loads, changed: Changed | None) -> Loads:
        """The loads of the body after a change."""
        if changed is None:
            return loads
        done.append(changed)
        self.fresh.follow(changed)
        if self._on_blade is not None:
            self._on_blade = changed.of_vertices(self._on_blade)
        count, gone, on_edge = self.counts, loads.gone, int(np.count_nonzero(changed.part))
        self.counts = Counts(
            count.copies + int(np.count_nonzero(changed.ends[:, 0] != np.arange(len(changed.ends)))) - on_edge,
            count.divided + on_edge,
            count.eroded + (0 if gone is None else int(np.count_nonzero(gone))),
            count.merged + len(changed.renamed),
        )
        columns = {name: getattr(loads, name) for name in (*_OF_CELLS, *_OF_VERTICES)}
        now = {
            name: changed.of_cells(values) if name in _OF_CELLS else changed.of_vertices(values)
            for name, values in columns.items()
            if values is not None
        }
        return loads._replace(gone=None, **now)


_OF_CELLS, _OF_VERTICES = ("stress", "failure", "thickness"), ("held", "force")
