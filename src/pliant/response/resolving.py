"""The step that ends free of contact, as a function."""

from __future__ import annotations

from typing import Any

from pliant.response.resolver import Resolver
from pliant.results.resolved import Resolved
from pliant.runtime.processes import expect
from pliant.runtime.threads import Progress


def resolve(
    mesh: Any,
    x0: Any,
    x1: Any,
    *,
    inverse_mass: Any = None,
    thickness: float = 0.0,
    friction: Any = 0.0,
    restitution: float = 0.0,
    distance_kept: float | None = None,
    objects: Any = None,
    pinched: str = "wait",
    tangled: str = "raise",
    max_rounds: int | None = None,
    threads: int | None = None,
    progress: Progress | bool | None = None,
) -> Resolved:
    """Positions near x1 to which the way from x0 is free of contact, for certain: the end of anybody's step.

    ``pliant.ccd(mesh, x0, resolved.positions)`` is empty, and so is ``pliant.check(mesh, resolved.positions)``, for all
    pairs of elements that are not both driven, with all of their vertices.

    Parameters
    ----------
    mesh : (m, 3) integers, TriMesh, VolumeMesh or its dict of cells, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) floats
        Positions at the start, which are free of intersections, and those proposed for the end of the step.
    inverse_mass : (n,) floats, optional
        0 for driven vertices, which go to x1 or wait; default: 1 everywhere. Whatever the unit, impulses have the
        inverse. With 0 everywhere nothing is resolved: the result is x1.
    thickness : float
        Gap that is aimed at; what is guaranteed is that nothing touches.
    friction : float or (n,) floats
        Coulomb's coefficient; or one for each vertex: for a pair with driven vertices theirs counts, and the largest of
        several.
    restitution : float
        Of the approach in this step, how much becomes departure: 0 to 1.
    distance_kept : float, optional
        Impulses aim at letting a pair with a smaller gap come no nearer; default: a tenth of the thickness, and
        without one a thousandth of the mean length of the edges.
    objects : (n,) integers, optional
        A label for each vertex; default: connected components. Driven vertices of one object wait together; pins of one
        cloth may have labels of their own.
    pinched : {"wait", "raise"}
        What driven objects do where nothing else helps.
    tangled : {"raise", "keep"}
        Whether a start that is not free is an error. With "keep" what intersects stays intersected, what touches stays
        where it is, and nothing else tangles.
    max_rounds : int, optional
        Of impulses, at most; default 8. What they leave is settled by planes.
    threads : int, optional
        Number of threads; default: as many as there are cores. It never changes the result.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (chunks done, chunks in all), in each query.

    Returns
    -------
    Resolved

    Raises
    ------
    MeshError
        Where the input is wrong; the message says what and where. ``TangledError`` where the start is tangled,
        ``PinchedError`` where driven objects would have to wait, if so wanted.
    """
    expect("resolve")
    resolver = Resolver(
        mesh, inverse_mass=inverse_mass, thickness=thickness, friction=friction, restitution=restitution,
        distance_kept=distance_kept, objects=objects, pinched=pinched, tangled=tangled, max_rounds=max_rounds,
        threads=threads,
    )  # fmt: skip
    resolver._asked_by = "resolve"
    return resolver.resolve(x0, x1, progress=progress)
