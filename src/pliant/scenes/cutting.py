"""Tetrahedra that a plane cuts little by little: edges are divided one by one, vertices behind the blade doubled."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

_FACES = np.array([(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)])


class Cut(NamedTuple):
    """The mesh after some part of the cut.

    cells : (k, 4) int32
    rest : (n, 3) float64, positions before any motion; doubled vertices are at the same place
    distance : (n,) float64, from the plane
    side : (n,) float64, -1 or 1: on which side of the cut a vertex is; 0 where there is no cut (yet) on the plane
    front : how far the blade is
    remove, add : which cells of the mesh before are gone, (r,) int64 ascending, and which ones came last, (a, 4) int32
    """

    cells: np.ndarray
    rest: np.ndarray
    distance: np.ndarray
    side: np.ndarray
    front: float
    remove: np.ndarray
    add: np.ndarray


class _Mesh:
    """A mesh that is being cut. `born` is the id of each cell in the mesh that the step began with, or -1."""

    def __init__(self, cells: np.ndarray, rest: np.ndarray, distance: np.ndarray, blade: np.ndarray) -> None:
        self.cells, self.rest, self.distance, self.blade = cells.copy(), rest, distance, blade
        self.side = np.sign(distance)
        self.born = np.arange(len(cells))

    def crossing(self) -> np.ndarray:
        """(k,) which cells have corners on both sides of the plane."""
        signs = np.sign(self.distance[self.cells])
        return (signs.min(axis=1) < 0) & (signs.max(axis=1) > 0)

    def divide(self, a: int, b: int) -> None:
        """Put a vertex on the edge from a to b where it meets the plane, and divide all cells around that edge.

        Whatever is around an edge is divided alike: the cells still fit together after every single edge.
        """
        s = self.distance[a] / (self.distance[a] - self.distance[b])
        new = len(self.rest)
        self.rest = np.concatenate([self.rest, [(1 - s) * self.rest[a] + s * self.rest[b]]])
        self.blade = np.append(self.blade, (1 - s) * self.blade[a] + s * self.blade[b])
        self.distance, self.side = np.append(self.distance, 0.0), np.append(self.side, 0.0)
        around = (self.cells == a).any(axis=1) & (self.cells == b).any(axis=1)
        old = self.cells[around]
        self._replace(around, np.concatenate([np.where(old == b, new, old), np.where(old == a, new, old)]))

    def double(self, front: float) -> None:
        """Give the cells above the plane vertices of their own, where the blade has passed.

        A vertex on the plane stays single as long as some cell or face on the plane around it is not cut: there the
        cut ends.
        """
        on = (self.distance == 0) & (self.side == 0)
        near = np.flatnonzero(on[self.cells].any(axis=1))
        faces = self.cells[near][:, _FACES].reshape(-1, 3)
        faces = faces[(self.distance[faces] == 0).all(axis=1)]
        passed = (self.blade[faces] <= front).all(axis=1)
        ready = np.zeros(len(self.rest), bool)
        ready[faces[passed]] = True
        ready[faces[~passed]] = False
        ready[self.cells[self.crossing()]] = False
        # Faces on the plane at the surface of the body have cells on one side only: there is nothing to part.
        above = (self.distance[self.cells] > 0).any(axis=1)
        for which in (above, ~above):
            has = np.zeros(len(self.rest), bool)
            has[self.cells[which]] = True
            ready &= has
        doubled = np.flatnonzero(ready & on)
        if len(doubled) == 0:
            return
        copy = np.arange(len(self.rest))
        copy[doubled] = len(self.rest) + np.arange(len(doubled))
        self.side[doubled] = -1
        for name in ("rest", "distance", "blade"):
            values = getattr(self, name)
            setattr(self, name, np.concatenate([values, values[doubled]]))
        self.side = np.concatenate([self.side, np.ones(len(doubled))])
        moved = above & (copy[self.cells] != self.cells).any(axis=1)
        self._replace(moved, copy[self.cells[moved]])

    def _replace(self, old: np.ndarray, new: np.ndarray) -> None:
        self.cells = np.concatenate([self.cells[~old], new])
        self.born = np.concatenate([self.born[~old], np.full(len(new), -1)])

    def snapshot(self, before: int, front: float) -> Cut:
        """The mesh as it is; the next step begins with it."""
        kept = self.born[self.born >= 0]
        remove = np.setdiff1d(np.arange(before), kept)
        cells = np.ascontiguousarray(self.cells, np.int32)
        cut = Cut(cells, self.rest, self.distance, self.side.copy(), front, remove, cells[self.born < 0])
        self.born = np.arange(len(cells))
        return cut


def cut_in_steps(
    cells: np.ndarray, rest: np.ndarray, distance: np.ndarray, blade: np.ndarray, plan: tuple[int, float]
) -> Iterator[Cut]:
    """Cut a mesh along the plane distance (n,) = 0, in the order of blade (n,), and give the mesh after each part.

    plan : number of parts after the first, which is the mesh without a cut, and how many times as many cells there are
        to be at the end
    """
    parts, growth = plan
    edges, reached = _crossing_edges(cells, distance, blade)
    enough = _edges_for(cells, edges, round((growth - 1) * len(cells)))
    mesh = _Mesh(cells, rest, distance, blade)
    start = float(blade.min())
    yield mesh.snapshot(len(cells), start)
    done = 0
    for part in range(1, parts + 1):
        before = len(mesh.cells)
        until = enough * part // parts
        for a, b in edges[done:until]:
            mesh.divide(int(a), int(b))
        done = until
        front = float(reached[done - 1]) if done else start
        mesh.double(front)
        yield mesh.snapshot(before, front)


def _crossing_edges(cells: np.ndarray, distance: np.ndarray, blade: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges (e, 2) that cross the plane, in the order in which the blade reaches them, and when it does (e,)."""
    pairs = np.sort(cells[:, [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3]].reshape(-1, 2), axis=1)
    pairs = np.unique(pairs[distance[pairs[:, 0]] * distance[pairs[:, 1]] < 0], axis=0)
    a, b = pairs.T
    s = distance[a] / (distance[a] - distance[b])
    reached = (1 - s) * blade[a] + s * blade[b]
    order = np.argsort(reached, kind="stable")
    return pairs[order], reached[order]


def _edges_for(cells: np.ndarray, edges: np.ndarray, more: int) -> int:
    """How many of the edges have to be divided for `more` cells: tried out on the cells that the plane crosses."""
    touched = np.isin(cells, edges).sum(axis=1) >= 2
    around = cells[touched]
    added, new = 0, int(cells.max()) + 1
    for count, (a, b) in enumerate(edges):
        both = (around == a).any(axis=1) & (around == b).any(axis=1)
        added += int(both.sum())
        if added > more:
            return count
        old = around[both]
        around = np.concatenate([around[~both], np.where(old == b, new, old), np.where(old == a, new, old)])
        new += 1
    return len(edges)
