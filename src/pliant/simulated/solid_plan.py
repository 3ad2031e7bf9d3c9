"""What solids are to be simulated, and their frames: cells, with numbers at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.engine.plan import Tuning
from pliant.frames.sequence import Frames, Sequence
from pliant.mesh.parts import Parts
from pliant.mesh.volumes import VolumeMesh
from pliant.simulate.simulation import Simulation
from pliant.simulate.solid import Solid
from pliant.simulated.plan import First, Run, Setup


@dataclass(frozen=True, eq=False, repr=False)
class SolidSetup(Setup):
    """A simulation of solids that has not begun; made by ``solid_setup``.

    Parameters
    ----------
    cells : dict of str to (k, corners) integers
        Of all solids, whose boundary ``faces`` is.
    options : dict
        Other arguments of ``pliant.simulate.Solid``, by their names.
    cloths : tuple of (str, int)
        Names of the solids and how many vertices each has, in their order.
    """

    cells: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def cell_count(self) -> int:
        return sum(map(len, self.cells.values()))

    @property
    def sized(self) -> str:
        return f"{self.cell_count:,} cells, {len(self.faces):,} triangles around them"

    def begin(self, *, tuning: Tuning | None = None, threads: int | None = None) -> Simulation:
        return Solid(self.cells, self.x, tuning=tuning, threads=threads, **self.options)

    def arrays(self) -> list[np.ndarray]:
        return [*self.cells.values(), self.x]

    def parts(self) -> Parts | None:
        return self._parts(VolumeMesh(self.whole_cells).surface().faces, np.arange(len(self.x)))

    def _parts(self, faces: np.ndarray, parent: np.ndarray) -> Parts | None:
        """parent : (n,) the vertex at the start that each vertex of the solids comes from"""
        made_of = self.listed_obstacles
        names, counts = [name for name, _ in self.cloths], [count for _, count in self.cloths]
        if sum(counts) != len(self.x) or len(self.obstacles) != len(made_of):
            return None
        known = tuple(dict.fromkeys([*names, *self.obstacles]))
        places = [known.index(name) for name in (*names, *self.obstacles)]
        of_start = np.repeat(places, [*counts, *(len(one.x) for one in made_of)])
        of_vertex = np.concatenate((of_start[parent], of_start[len(self.x) :]))
        return Parts(of_vertex[faces[:, 0]].astype(np.int32), known)

    @property
    def whole_cells(self) -> dict[str, np.ndarray]:
        """Cells of solids, and obstacles as shells."""
        return self._with_obstacles(self.cells, len(self.x))

    def _with_obstacles(self, cells: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
        """count : vertices of the solids"""
        begin, shells = count, [cells.get("triangle", np.empty((0, 3), np.int64))]
        for one in self.listed_obstacles:
            shells.append(one.mesh.faces + begin)
            begin += len(one.x)
        return {**cells, "triangle": np.concatenate(shells)} if begin > count else cells

    @property
    def _shell_count(self) -> int:
        """Of obstacles."""
        return sum(len(one.mesh.faces) for one in self.listed_obstacles)

    def sequence(self, simulation: Simulation, run: Run) -> Sequence:
        mesh, count, extra = run.cells, len(run.first.positions), self._shell_count
        assert mesh is not None
        own = {kind: np.asarray(mesh.cells[kind]) for kind in VolumeMesh.type_names if len(mesh.cells[kind])}
        cells = self._with_obstacles(own, count)
        before = len(mesh.types) - len(own.get("quad", ()))  # quads are numbered after triangles
        wider: dict[str, Frames] = {name: _Wider(rows, before, extra) for name, rows in run.data.items()}
        ranks = None if mesh.ranks is None else np.arange(run.first.scene.shape[0])
        if ranks is not None and mesh.ranks is not None:
            ranks[: len(mesh.ranks)] = mesh.ranks
        made = Sequence(
            None, run.positions, cells=cells, times=run.times, name=self.name, space=self.space, ranks=ranks,
            cell_data=wider,
        )  # fmt: skip
        parent = np.arange(count) if run.first.parent is None else run.first.parent[:count]
        made.parts, made.past = self._parts(made.faces, parent), run.past
        return made

    def cells_of(self, simulation: Simulation) -> VolumeMesh | None:
        assert isinstance(simulation, Solid)
        return simulation.cells

    def numbers(self, simulation: Simulation) -> dict[str, np.ndarray]:
        assert isinstance(simulation, Solid)
        return simulation.cell_data()

    def alone(self, whole: Sequence) -> Sequence:
        obstacles, extra = sum(len(one.x) for one in self.listed_obstacles), self._shell_count
        cells = {kind: np.asarray(rows) for kind, rows in (whole.cells or {}).items()}
        before = whole.cell_count - extra - len(cells.get("quad", ()))
        if extra:
            cells["triangle"] = cells["triangle"][: len(cells["triangle"]) - extra]
        cells = {kind: rows for kind, rows in cells.items() if len(rows)}
        data: dict[str, Frames] = {name: _Narrower(whole, name, before, extra) for name in whole.cell_data(0)}
        frames = First(whole, len(whole[0]) - obstacles)
        return Sequence(
            None, frames, cells=cells, times=whole.times, name=whole.name, space=whole.space, ranks=whole.ranks,
            cell_data=data,
        )  # fmt: skip


def solid_setup(
    name: str,
    cells: Mapping[str, np.ndarray],
    x: np.ndarray,
    options: dict[str, Any],
    frames: int = 120,
    rate: float = 60.0,
    solids: tuple[tuple[str, int], ...] = (),
    obstacles: tuple[str, ...] = (),
    copy_of: np.ndarray | None = None,
) -> SolidSetup:
    """solids : names, and how many vertices each has"""
    mesh = VolumeMesh(cells)
    known = {kind: np.asarray(mesh.cells[kind]) for kind in VolumeMesh.type_names if len(mesh.cells[kind])}
    return SolidSetup(name, mesh.surface().faces, x, options, frames, rate, solids, obstacles, copy_of, known)


class _Wider:
    """Numbers at the cells of solids, with zeros at obstacles."""

    def __init__(self, rows: Frames, before: int, extra: int) -> None:
        self._rows, self._before, self._extra = rows, before, extra

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, frame: int) -> np.ndarray:
        row = self._rows[frame]
        return np.concatenate((row[: self._before], np.zeros(self._extra), row[self._before :]))


class _Narrower:
    """Numbers at the cells of solids, without those at obstacles."""

    def __init__(self, whole: Sequence, name: str, before: int, extra: int) -> None:
        self._whole, self._name, self._before, self._extra = whole, name, before, extra

    def __len__(self) -> int:
        return len(self._whole)

    def __getitem__(self, frame: int) -> np.ndarray:
        return np.delete(self._whole.cell_data(frame)[self._name], slice(self._before, self._before + self._extra))
