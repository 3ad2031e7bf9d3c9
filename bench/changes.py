"""Topology that changes: a mesh brought up to date, against one that is rebuilt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pliant
from bench.inputs import data_folder
from bench.measure import Options, Report, interleaved

SHARE = 0.009  # of the cells
NEEDED = ("vertices", "cell_table", "o_sets")  # by ccd; all else is computed for them
Edit = dict[str, Any]


def changes(options: Options) -> None:
    name, mesh, x = _body()
    report = Report(
        "changes",
        f"mesh.changed of {name}, {len(mesh.types):,} cells: milliseconds until all is known that ccd needs, "
        f"{options.threads} threads, best of {max(5, options.repeats)} interleaved,\nand percent of a fresh build, by "
        "one thread",
        "edit, removed, added, rebuilt, updated, percent",
        options.save,
    )
    edits = _edits(mesh.cells["tetra"], x)
    _compute(mesh)
    for edit in edits.values():
        _require_equal(_compute(mesh.changed(**edit)))
    jobs: dict[str, Callable[[], Any]] = {"rebuilt": lambda: _compute(pliant.VolumeMesh(mesh.cells))}
    jobs |= {
        key: lambda edit=edit: _compute(mesh.changed(**edit, threads=options.threads)) for key, edit in edits.items()
    }
    timed = interleaved(jobs, max(5, options.repeats))
    rebuilt = timed["rebuilt"].best
    for key, edit in edits.items():
        counts = len(edit["remove"]), len(edit.get("add", {}).get("tetra", ()))
        best = timed[key].best
        report.add(
            key, *(f"{c:,}" for c in counts), f"{1e3 * rebuilt:.0f}", f"{1e3 * best:.1f}",
            f"{100.0 * best / rebuilt:.1f}", scene=name, edit=key, rebuilt=rebuilt, updated=best,
        )  # fmt: skip
    report.show()


def _body() -> tuple[str, pliant.VolumeMesh, np.ndarray]:
    folder = data_folder()
    path = None if folder is None else folder / "volume" / "ipc_Armadillo13K.msh"
    if path is not None and path.exists():
        found = pliant.io.read(path)
        return "armadillo", pliant.VolumeMesh(found.cells), found.points
    step = pliant.scenes.load_volume("octopi").steps[0]
    return "octopi", pliant.VolumeMesh({"tetra": step.cells["tetra"]}), step.x0


def _compute(mesh: pliant.VolumeMesh) -> pliant.VolumeMesh:
    for field in NEEDED:
        getattr(mesh, field)
    return mesh


def _require_equal(mesh: pliant.VolumeMesh) -> None:
    fresh = pliant.VolumeMesh(mesh.cells)
    for one, other in zip(mesh.o_sets + mesh.cell_table.faces, fresh.o_sets + fresh.cell_table.faces):
        if not np.array_equal(one, other):
            raise SystemExit("a changed mesh differs from a fresh one")


def _edits(tetra: np.ndarray, x: np.ndarray) -> dict[str, Edit]:
    rng, count = np.random.default_rng(1), int(SHARE * len(tetra))
    anywhere = rng.choice(len(tetra), count, replace=False)
    centres = x[tetra].mean(axis=1)
    ball = np.argsort(np.sum((centres - centres[anywhere[0]]) ** 2, axis=1))[:count]
    fifth = count // 5  # one cell less, four more
    return {
        "a cell deleted": {"remove": anywhere[:1]},
        "a cell split": _split(tetra, anywhere[:1]),
        "a ball deleted": {"remove": ball},
        "a ball split, as many cells": _split(tetra, ball[:fifth]),
        "a ball split": _split(tetra, ball),
        "scattered, deleted": {"remove": anywhere},
        "scattered, edges collapsed": _collapse(tetra, rng, count // 2),
        "scattered, split, as many cells": _split(tetra, anywhere[:fifth]),
        "scattered, split": _split(tetra, anywhere),
    }


def _split(tetra: np.ndarray, ids: np.ndarray) -> Edit:
    """Each at a vertex of its own, into four."""
    parts = np.repeat(tetra[ids][:, None], 4, axis=1)
    for k in range(4):
        parts[:, k, k] = tetra.max() + 1 + np.arange(len(ids))
    return {"remove": ids, "add": {"tetra": parts.reshape(-1, 4)}}


def _collapse(tetra: np.ndarray, rng: np.random.Generator, count: int) -> Edit:
    """Edges of different places, until so many cells are removed: one end takes the place of the other."""
    removed, added, free = [], [], np.ones(tetra.max() + 1, bool)
    while sum(map(len, removed)) < count:
        v, w = tetra[rng.integers(len(tetra)), :2]
        star = np.flatnonzero((tetra == w).any(axis=1))
        around = np.unique(tetra[star])
        if free[around].all():
            free[around] = False
            removed.append(star)
            added.append(np.where(tetra[star] == w, v, tetra[star])[~(tetra[star] == v).any(axis=1)])
    return {"remove": np.concatenate(removed), "add": {"tetra": np.concatenate(added)}}
