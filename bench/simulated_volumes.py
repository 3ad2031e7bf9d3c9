"""Paper 004, Tables I to III and Figure 11, on steps that are simulated: beside the kinematic ones of ``volumes``."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np

import pliant
from bench.inputs import Volume
from bench.measure import Options, Report
from bench.solid_scenes import SCENES, folder_of, setup_of, simulate
from bench.volume_culling import culling
from bench.volumes import costs, inside, load_kernels, methods

PART = "simulated_volumes"
FOLLOWED = 8  # frames that a detector follows, of which the first two do not count


def simulated_volumes(options: Options) -> None:
    """Scenes are simulated until time is up, or taken from where frames are kept; of each, the way between two frames a
    third on the way, and between the last two; with explicit schemes, the last time step too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load_kernels()
        steps: dict[str, list[Volume]] = {}
        for name in options.only or SCENES:
            mesh, x, before = _frames(name, options)
            objects = np.maximum(mesh.components, 0)
            pairs = [(k, k + 1) for k in ((len(x) - 2) // 3, len(x) - 2)]
            steps[name] = [Volume(mesh, x[a], x[b], objects) for a, b in pairs]
            if not np.array_equal(before[-1], x[-2]):
                steps[f"{name} step"] = [Volume(mesh, before[-1], x[-1], objects)]
            _refitted(name, mesh, x[-FOLLOWED:], options)
        unculled = methods(steps, options, PART)
        costs(steps, options, PART)
        culling(steps, unculled, options, PART)
        for name, cases in steps.items():
            if cases[0].mesh.solid_count:
                inside(name, cases, options, PART)


def _frames(name: str, options: Options) -> tuple[pliant.VolumeMesh, np.ndarray, np.ndarray]:
    """Cells with obstacles; positions of the frames, and one time step before each."""
    setup, path = setup_of(name, options.triangles), _place(name, options)
    if not path.exists():
        simulate(setup, options, path)
    with np.load(path) as kept:
        x, before = kept["x"], kept["before"]
    mesh = pliant.VolumeMesh(setup.whole_cells)
    if x.shape[1] != len(setup.x) + sum(len(one.x) for one in setup.listed_obstacles) or len(x) < 2:
        raise SystemExit(f"{path} has frames of another scene, or too few: remove it")
    return mesh, x, before


def _place(name: str, options: Options) -> Path:
    return folder_of(options) / f"{name}-{options.triangles or 'paper'}.npz"


def _refitted(name: str, mesh: pliant.VolumeMesh, frames: np.ndarray, options: Options) -> None:
    """What a detector takes that follows a motion: its tree is kept, and refitted."""
    report = Report(
        PART,
        "A detector that follows frames, one thread: milliseconds of a frame, and percent of it for bounds and for the "
        "refitted hierarchy (paper: 2.5 to 7.6 together)",
        "scene, cells, ms, bounds, hierarchy, update",
        options.save,
    )
    detector, total, spent = pliant.Detector(mesh, threads=1), 0.0, {"bounds": 0.0, "fit": 0.0, "hierarchy": 0.0}
    for number, x in enumerate(frames):
        clock = time.perf_counter()
        found = detector.advance(x)
        if number < 2 or found is None:
            continue
        total += time.perf_counter() - clock
        for stage in found.stages:
            if stage.name in spent:
                spent[stage.name] += stage.seconds
    count = len(frames) - 2
    if count < 1:
        return
    bounds, tree = (spent["bounds"] + spent["fit"]) / total, spent["hierarchy"] / total
    report.add(
        name, f"{len(mesh.types):,}", f"{1e3 * total / count:.0f}", f"{bounds:.1%}", f"{tree:.1%}",
        f"{bounds + tree:.1%}", scene=name, bounds=bounds, hierarchy=tree,
    )  # fmt: skip
    report.show()
