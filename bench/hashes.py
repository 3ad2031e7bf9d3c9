"""``python -m bench hashes [--out FILE]``: hashes of all columns of all results, a line for each query on each scene.

Only public names are used, and those of versions before alike, so that two checkouts can be compared:

    python -m bench hashes --out after.txt
    PYTHONPATH=../other/src python -m bench hashes --out before.txt
    diff before.txt after.txt
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import pliant
from bench.fingerprints import Hashes
from bench.inputs import REAL, data_folder
from bench.measure import Options

TRIANGLES, CELLS, FRAMES = 3000, 1500, 4
RANDOM = 4000  # elementary queries of each kind


class Line(NamedTuple):
    """A query on a scene, and the results that it gives, in their order."""

    scene: str
    query: str
    run: Callable[[], Iterable[Any]]


def tuned(**options: Any) -> dict[str, Any]:
    """What changes the time, never the result: keywords by themselves where there is no ``Tuning`` yet."""
    return {"tuning": pliant.Tuning(**options)} if hasattr(pliant, "Tuning") else options


def accurate(**options: Any) -> dict[str, Any]:
    return {"accuracy": pliant.Accuracy(**options)} if hasattr(pliant, "Accuracy") else options


def with_radii(radii: np.ndarray) -> dict[str, Any]:
    return {"radii": radii} if hasattr(pliant, "Tuning") else {"min_distance": radii}


def hashes(options: Options) -> None:
    target = sys.stdout if options.out is None else options.out.open("w", encoding="utf-8", newline="\n")
    for line in lines(options.threads, options.triangles):
        found = Hashes()
        for answer in line.run():
            found.add(answer)
        columns = " ".join(f"{name}={value}" for name, value in sorted(found.columns().items()))
        print(f"{line.scene} | {line.query} | {found.rows} | {columns}", file=target, flush=True)
        if options.out is not None:
            print(f"hashes: {line.scene}, {line.query}", file=sys.stderr, flush=True)
    if options.out is not None:
        target.close()


def lines(threads: int, most: int | None = None) -> Iterator[Line]:
    """most : at most so many triangles or cells of built-in scenes, and no real ones: to try it out"""
    yield from _elementary()
    folder = data_folder()
    for name in REAL if folder is not None and most is None else ():
        with np.load(folder / "ccd" / f"{name}.npz") as data:  # type: ignore[operator]
            yield from _surface(name, data["faces"], (data["vertices_t0"], data["vertices_t1"]), threads)
    for name in pliant.scenes.names():
        scene = pliant.scenes.load(name, most or TRIANGLES, FRAMES)
        yield from _surface(name, scene.faces, tuple(scene.frames), threads)
        yield from _small(name, scene.faces, scene.frames[0], scene.frames[1], threads)
    for name in pliant.scenes.volume_names():
        yield from _volume(name, pliant.scenes.load_volume(name, most or CELLS, FRAMES), threads)


def _surface(name: str, faces: np.ndarray, frames: tuple[np.ndarray, ...], threads: int) -> Iterator[Line]:
    x0, x1 = frames[:2]
    gap = 1e-3 * float(np.ptp(x0, axis=0).max())
    for assignment in ("static", "dynamic"):
        how = tuned(assignment=assignment) | {"threads": threads}
        for kept in ({}, {"min_distance": gap}):
            words = " ".join([assignment, *kept])
            yield Line(name, f"ccd {words}", partial(_once, pliant.ccd, faces, x0, x1, **how, **kept))
            yield Line(name, f"step {words}", partial(_once, pliant.safe_step, faces, x0, x1, **how, **kept))
        yield Line(name, f"near {assignment}", partial(_once, pliant.proximity, faces, x0, within=gap, **how))
    for culling in ("boxes", "cones"):
        how = tuned(culling=culling) | {"threads": threads}
        yield Line(name, f"dcd {culling}", partial(_once, pliant.dcd, faces, x1, **how))
    for culling in ("boxes", "front", "cones", "cones+front"):
        how = tuned(culling=culling) | {"threads": threads}
        yield Line(name, f"advance {culling}", partial(_advance, faces, frames, how))


def _small(name: str, faces: np.ndarray, x0: np.ndarray, x1: np.ndarray, threads: int) -> Iterator[Line]:
    """What takes long on large scenes, and is decided by other kernels."""
    size = float(np.ptp(x0, axis=0).max())
    radii = np.random.default_rng(0).uniform(0.0, 1e-3 * size, len(x0))
    falling = pliant.Accelerated((0.0, 0.0, -0.05 * size))
    ways = {
        "advance": accurate(solver="advance"),
        "radii": with_radii(radii),
        "accelerated": {"motion": falling},
        "inter": {"pairs": "inter"},
        "self": {"pairs": "self"},
    }
    for words, options in ways.items():
        yield Line(name, f"ccd {words}", partial(_once, pliant.ccd, faces, x0, x1, threads=threads, **options))
        yield Line(name, f"step {words}", partial(_once, pliant.safe_step, faces, x0, x1, threads=threads, **options))
    for filters in ((), ("csat",), ("ncf",), ("plane", "circle", "triangle")):
        how = tuned(filters=filters, bounds="18-dop") | {"threads": threads}
        yield Line(name, f"ccd {'+'.join(filters) or 'unfiltered'}", partial(_once, pliant.ccd, faces, x0, x1, **how))


def _volume(name: str, scene: Any, threads: int) -> Iterator[Line]:
    step = scene.steps[-1]
    mesh, x0, x1 = pliant.VolumeMesh(step.cells), step.x0, step.x1
    gap = 1e-3 * float(np.ptp(x0, axis=0).max())
    for assignment in ("static", "dynamic"):
        for kept in ({}, {"min_distance": gap}, {"interior": False}):
            how = tuned(assignment=assignment) | {"threads": threads} | kept
            words = " ".join([assignment, *kept])
            yield Line(name, f"ccd {words}", partial(_once, pliant.ccd, mesh, x0, x1, **how))
            yield Line(name, f"step {words}", partial(_once, pliant.safe_step, mesh, x0, x1, **how))
    yield Line(name, "dcd", partial(_once, pliant.dcd, mesh, x1, threads=threads))
    yield Line(name, "near", partial(_once, pliant.proximity, mesh, x0, within=gap, threads=threads))
    yield Line(name, "inside", partial(_once, pliant.inside, mesh, x1, objects=step.objects, threads=threads))
    points = np.random.default_rng(1).uniform(x1.min(axis=0), x1.max(axis=0), (2000, 3))
    yield Line(name, "inside surface", partial(_inside_of_surface, mesh.surface(), x1, points, threads))
    yield Line(name, "changed", partial(_changed, scene, threads))


def _elementary() -> Iterator[Line]:
    rng = np.random.default_rng(2)
    for kind, places in (("random", rng.standard_normal), ("lattice", lambda shape: rng.integers(-2, 3, shape) * 1.0)):
        a, b, c, d = (places((RANDOM, 4, 3)) for _ in range(4))
        pairs = places((RANDOM, 6, 3)), places((RANDOM, 6, 3))
        for query, motion in (("vertex_face", (a, b)), ("edge_edge", (c, d)), ("triangle_triangle", pairs)):
            test = getattr(pliant, query)
            yield Line(kind, query, partial(_once, test, *motion))
            yield Line(kind, f"{query} min_distance", partial(_once, test, *motion, min_distance=0.1))
        for query, x in (("vertex_face", a), ("edge_edge", c), ("triangle", pairs[0])):
            yield Line(kind, f"{query}_distance", partial(_once, getattr(pliant, f"{query}_distance"), x))


def _once(query: Callable[..., Any], *arguments: Any, **options: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of inverted cells: they are in the results
        return [query(*arguments, **options)]


def _advance(faces: np.ndarray, frames: Iterable[np.ndarray], how: dict[str, Any]) -> Iterator[Any]:
    detector = pliant.Detector(faces, **how)
    for x in frames:
        yield detector.advance(x)
        yield detector.intersections(x)


def _inside_of_surface(faces: Any, x: np.ndarray, points: np.ndarray, threads: int) -> list[Any]:
    try:
        return [pliant.inside(faces, x, points=points, threads=threads)]
    except pliant.MeshError:  # not closed: there is no inside
        return []


def _changed(scene: Any, threads: int) -> Iterator[Any]:
    """The cells of each step from those of the step before, where they change."""
    mesh = None
    for step in scene.steps:
        mesh = pliant.VolumeMesh(step.cells) if mesh is None else mesh.changed(remove=step.remove, add=step.add)
        yield from _once(pliant.ccd, mesh, step.x0, step.x1, threads=threads)
