"""The queries on meshes: every contact during a motion, how far a motion can safely go, what intersects now, what is
near. Each is a detector that is used once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.engine.motion import Motion
from pliant.engine.plan import Accuracy, Tuning
from pliant.mesh.tested import surface_of
from pliant.mesh.triangles import TriMesh
from pliant.mesh.welding import weld
from pliant.queries.deprecated import accuracy_from, initial_from, tuning_from
from pliant.queries.detector import Detector
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.results.proximity import Proximity
from pliant.results.steps import Step
from pliant.runtime.arrays import TangledError, as_array, as_positions, choose
from pliant.runtime.log import warn
from pliant.runtime.processes import expect
from pliant.runtime.threads import Progress


def ccd(
    mesh: Any,
    x0: Any,
    x1: Any = None,
    *,
    min_distance: float = 0.0,
    radii: Any = None,
    motion: Motion | None = None,
    objects: Any = None,
    pairs: str = "all",
    interior: bool = True,
    tangled: str = "ignore",
    accuracy: Accuracy | None = None,
    tuning: Tuning | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **old: Any,
) -> Contacts:
    """Every contact while the vertices move in straight lines from x0 to x1, exactly, each once.

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) floats
        Positions at t = 0 and t = 1.
    min_distance : float
        Contact is where two features come within this distance. Pairs that begin so close have toi 0.
    radii : (n,) floats, optional
        Instead of a distance, radii of the vertices, which interpolate over a feature and add up between two: d / 2
        everywhere is the same as min_distance = d.
    motion : Motion, optional
        ``pliant.Accelerated``, ``Screw``, ``Rigid`` or ``Affine`` instead of straight lines.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components.
    pairs : {"all", "self", "inter"}
        All pairs, those with both features of one object, or those of different ones.
    interior : bool
        Of a volume mesh: all features of its cells take part, or only those of its boundary.
    tangled : {"ignore", "warn", "raise"}
        Whether to look first for triangles that intersect at x0, such intersections produce no contact.
    accuracy : Accuracy, optional
        ``pliant.Accuracy(solver="advance", tolerance=1e-6)`` for conservative advancement; the default is exact. With a
        distance or on curved paths, advancement always decides: it reports what comes within the tolerance, never too
        late.
    tuning : Tuning, optional
        ``pliant.Tuning(culling=, bounds=, filters=, assignment=)``: changes the time, never the result.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    Contacts
        One row for each pair of features that meet, with its time.

    Raises
    ------
    MeshError
        Where the input is wrong: shapes, dtypes, indices, NaN, options that are not known; the message says what and
        where. ``TangledError`` where it starts tangled and that was asked for.
    """
    expect("ccd")
    accuracy, tuning = accuracy_from(accuracy, old), tuning_from(tuning, old, "ccd")
    detector = Detector(
        mesh, min_distance=min_distance, radii=radii, objects=objects, pairs=pairs, interior=interior,
        accuracy=accuracy, tuning=tuning, threads=threads,
    )  # fmt: skip
    if (words := words_of_tangles(detector, x0, tangled)) is not None:
        warn(words)
    detector._asked_by = "ccd"
    return detector.contacts(x0, x1, motion=motion, progress=progress)


def step(
    mesh: Any,
    x0: Any,
    x1: Any = None,
    *,
    min_distance: float = 0.0,
    radii: Any = None,
    initial: str | float = "stop",
    motion: Motion | None = None,
    objects: Any = None,
    pairs: str = "all",
    interior: bool = True,
    tangled: str = "ignore",
    accuracy: Accuracy | None = None,
    tuning: Tuning | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **old: Any,
) -> Step:
    """The largest step from x0 towards x1 that is free of contact, the contact that ends it, and verified positions.

    ``step.t`` equals the smallest toi that ``ccd`` reports, or 1.0 where there is none.

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) floats
        Positions at t = 0 and t = 1.
    min_distance : float
        Contact is where two features come within this distance.
    radii : (n,) floats, optional
        Instead of a distance, radii of the vertices, which interpolate over a feature and add up between two.
    initial : {"stop", "ignore"} or float
        What becomes of pairs that begin within the distance: "stop" (t = 0), "ignore" (only touching counts for them),
        or the part, from 0 to 1, that they must keep of the distance they begin with.
    motion : Motion, optional
        ``pliant.Accelerated``, ``Screw``, ``Rigid`` or ``Affine`` instead of straight lines.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components.
    pairs : {"all", "self", "inter"}
        All pairs, those with both features of one object, or those of different ones.
    interior : bool
        Of a volume mesh: all features of its cells take part, or only those of its boundary.
    tangled : {"ignore", "warn", "raise"}
        Whether to look first for triangles that intersect at x0, such intersections produce no contact.
    accuracy : Accuracy, optional
        Who decides whether two features meet; see ``ccd``.
    tuning : Tuning, optional
        Changes the time, never the result.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    Step
        How far it goes, the first contact, and positions for which the motion is free of contact after rounding.

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    expect("step")
    initial, accuracy, tuning = (
        initial_from(initial, old),
        accuracy_from(accuracy, old),
        tuning_from(tuning, old, "step"),
    )
    detector = Detector(
        mesh, min_distance=min_distance, radii=radii, objects=objects, pairs=pairs, interior=interior,
        accuracy=accuracy, tuning=tuning, threads=threads,
    )  # fmt: skip
    if (words := words_of_tangles(detector, x0, tangled)) is not None:
        warn(words)
    detector._asked_by = "step"
    return detector.step(x0, x1, motion=motion, initial=initial, progress=progress)


def check(
    mesh: Any,
    x: Any,
    *,
    objects: Any = None,
    pairs: str = "all",
    merge: bool = False,
    tuning: Tuning | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **old: Any,
) -> Intersections:
    """Every pair of triangles that intersect at positions x, exactly, each once; touching counts.

    Two triangles intersect if they share a point that is not on a vertex or an edge they have in common: neighbours
    count where they are folded flat onto each other or pass through each other elsewhere, and faces with the same three
    vertices always. Degenerate triangles are segments or points, and intersect as such. Loose edges and points take no
    part; of a volume mesh, its surface does.

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    x : (n, 3) floats
        Positions.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components.
    pairs : {"all", "self", "inter"}
        All pairs, those within one object, or those of different ones.
    merge : bool
        Take vertices at equal positions for one (of the same object), as files often duplicate them.
    tuning : Tuning, optional
        Changes the time, never the result.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    Intersections

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    expect("check")
    tuning, surface = tuning_from(tuning, old, "check"), surface_of(mesh)
    if merge:
        x = as_positions(x, "x")
        Detector(surface, objects=objects, pairs=pairs)._positions(x, "x")  # or welding would meet what is wrong
        surface = TriMesh(weld(surface.faces, x, None if objects is None else as_array(objects, "objects")))
    detector = Detector(surface, objects=objects, pairs=pairs, tuning=tuning, threads=threads)
    detector._asked_by = "check"
    return detector.intersections(x, progress=progress)


def near(
    mesh: Any,
    x: Any,
    *,
    within: float,
    objects: Any = None,
    pairs: str = "all",
    tuning: Tuning | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **old: Any,
) -> Proximity:
    """Every vertex and face, and every two edges, that are at most so far from each other, each pair once.

    Features that share a vertex are never a pair. Distances are to rounding; what lies within 1e-15 of the scene's
    extent of ``within`` may be in or out, always the same way. These are pairs of features: where an edge passes
    through the inside of a face, far from its boundary, there may be none. ``pliant.check`` finds what intersects.

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    x : (n, 3) floats
        Positions.
    within : float
        The distance.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components.
    pairs : {"all", "self", "inter"}
        All pairs, those with both features of one object, or those of different ones.
    tuning : Tuning, optional
        Changes the time, never the result.
    threads : int, optional
        Number of threads; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all).

    Returns
    -------
    Proximity

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where.
    """
    expect("near")
    tuning = tuning_from(tuning, old, "near")
    detector = Detector(surface_of(mesh), objects=objects, pairs=pairs, tuning=tuning, threads=threads)
    detector._asked_by = "near"
    return detector.near(x, within, progress=progress)


def words_of_tangles(detector: Detector, x0: Any, tangled: str) -> str | None:
    """Raise where triangles intersect at the start, or say what there is to warn about."""
    if choose(tangled, "tangled", ("ignore", "warn", "raise")) == "ignore":
        return None
    hits = detector.intersections(x0)
    if len(hits) == 0:
        return None
    text = (
        f"the motion starts tangled: faces {some_pairs(hits.faces)} intersect at x0; pliant.check(mesh, x0) lists them"
    )
    if tangled == "raise":
        raise TangledError(text, hits.faces)
    return text


def some_pairs(pairs: np.ndarray, name: Callable[[int], str] = str) -> str:
    """The first pairs of ids (k, 2) in words, and how many more there are."""
    named = ", ".join(f"{name(a)} and {name(b)}" for a, b in pairs[:5].tolist())
    return f"{named} and {len(pairs) - 5} more pairs" if len(pairs) > 5 else named
