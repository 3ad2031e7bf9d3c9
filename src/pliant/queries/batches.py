"""Many scenes in one call: parameter sweeps, line searches, samples to learn from. Threads take scene by scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from pliant.engine.motion import Motion
from pliant.queries.detect import check, words_of_tangles
from pliant.queries.detector import Detector
from pliant.results.contacts import Contacts
from pliant.results.intersections import Intersections
from pliant.results.steps import Step
from pliant.runtime.arrays import MeshError, ShapeError, thread_count
from pliant.runtime.log import warn
from pliant.runtime.threads import Progress, ThreadPool

Result = TypeVar("Result")


def ccd_batch(
    meshes: Any,
    x0s: Any,
    x1s: Any = None,
    *,
    motion: Motion | None = None,
    tangled: str = "ignore",
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> list[Contacts]:
    """Every contact of each of many motions: ``ccd`` of every scene, bit for bit, whatever the number of threads.

    Parameters
    ----------
    meshes : one mesh for all scenes, or a list, tuple or (b, m, 3) array of them, one for each
        What ``ccd`` takes for a mesh.
    x0s, x1s : (b, n, 3) floats, or a list of (n, 3) floats, one for each scene
        Positions at t = 0 and t = 1. Either may also be the same for all: (n, 3).
    motion : Motion, optional
        Instead of straight lines, in every scene.
    tangled : {"ignore", "warn", "raise"}
        Whether to look first for triangles that intersect at the start.
    threads : int, optional
        Number of threads, which take one scene after the other; default: as many as there are cores.
    progress : bool or callable, optional
        True for a line on stderr, or a function of (scenes done, scenes in all).
    **options
        Of all scenes, as for ``ccd``: ``min_distance``, ``radii``, ``objects``, ``pairs``, ``interior``, ``accuracy``,
        ``tuning``.

    Returns
    -------
    list of Contacts
        One table for each scene, in their order.

    Raises
    ------
    MeshError
        Where the input is wrong: the first scene that is, by its number.
    """
    batch = Batch[Contacts]("ccd_batch", meshes, {"x0s": x0s, "x1s": x1s}, threads, progress, options)

    def ask(detector: Detector, x0: Any, x1: Any) -> tuple[Contacts, str | None]:
        words = words_of_tangles(detector, x0, tangled)
        detector._asked_by = "ccd"
        return detector.contacts(x0, x1, motion=motion), words

    return batch.run(ask)


def step_batch(
    meshes: Any,
    x0s: Any,
    x1s: Any = None,
    *,
    initial: str | float = "stop",
    motion: Motion | None = None,
    tangled: str = "ignore",
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> list[Step]:
    """How far each of many motions can go: ``step`` of every scene, bit for bit, whatever the number of threads.

    Parameters
    ----------
    meshes, x0s, x1s, motion, tangled, threads, progress : as for ``ccd_batch``
    initial : {"stop", "ignore"} or float
        As for ``step``, in every scene.
    **options
        Of all scenes, as for ``ccd_batch``.

    Returns
    -------
    list of Step
        One for each scene, in their order.

    Raises
    ------
    MeshError
        Where the input is wrong: the first scene that is, by its number.
    """
    batch = Batch[Step]("step_batch", meshes, {"x0s": x0s, "x1s": x1s}, threads, progress, options)

    def ask(detector: Detector, x0: Any, x1: Any) -> tuple[Step, str | None]:
        words = words_of_tangles(detector, x0, tangled)
        detector._asked_by = "step"
        return detector.step(x0, x1, motion=motion, initial=initial), words

    return batch.run(ask)


def check_batch(
    meshes: Any,
    xs: Any,
    *,
    objects: Any = None,
    pairs: str = "all",
    merge: bool = False,
    threads: int | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> list[Intersections]:
    """Every pair of triangles that intersect in each of many scenes: ``check`` of every one, bit for bit.

    Parameters
    ----------
    meshes, threads, progress : as for ``ccd_batch``
    xs : (b, n, 3) floats, or a list of (n, 3) floats, one for each scene
        Positions. Or the same for all: (n, 3).
    objects, pairs, merge
        Of all scenes, as for ``check``.
    **options
        ``tuning``, as for ``check``.

    Returns
    -------
    list of Intersections
        One table for each scene, in their order.

    Raises
    ------
    MeshError
        Where the input is wrong: the first scene that is, by its number.
    """
    batch = Batch[Intersections]("check_batch", meshes, {"xs": xs}, threads, progress, options)
    return batch.run_alone(
        lambda mesh, inner, x: check(mesh, x, objects=objects, pairs=pairs, merge=merge, threads=inner, **options)
    )


class Batch(Generic[Result]):
    """Scenes, and the threads that take one after the other."""

    def __init__(
        self,
        name: str,
        meshes: Any,
        positions: dict[str, Any],
        threads: int | None,
        progress: Progress | bool | None,
        options: dict[str, Any],
    ) -> None:
        known = _OPTIONS[name]
        if unknown := [one for one in options if one not in known]:
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown[0]!r}")
        self._options = options
        given = {"meshes": _Given(meshes)} | {one: _Given(x) for one, x in positions.items()}
        self.count = _common_count(given)
        self._meshes, *self._positions = given.values()
        count = thread_count(threads)
        self._inner = max(1, count // max(1, self.count))  # threads within a scene, where there are few scenes
        self._pool = ThreadPool(min(count, max(1, self.count)), progress)

    def run(self, ask: Callable[..., tuple[Result, str | None]]) -> list[Result]:
        """ask: what a detector answers to the positions of a scene, and what there is to warn about.

        A detector is kept as long as scenes have the same mesh and as many vertices, one in each thread.
        """
        kept: list[tuple[Any, int, Detector] | None] = [None] * self._pool.threads
        words: list[str | None] = [None] * self.count

        def answer(worker: int, scene: int) -> Result:
            mesh, positions = self._meshes[scene], [one[scene] for one in self._positions]
            rows, before = _rows_of(positions[0]), kept[worker]
            if before is None or before[0] is not mesh or before[1] != rows:
                before = kept[worker] = mesh, rows, Detector(mesh, threads=self._inner, **self._options)
            found, words[scene] = ask(before[2], *positions)
            return found

        found = self._answers(answer)
        for scene, one in enumerate(words):
            if one is not None:
                warn(f"scene {scene}: {one}")
        return found

    def run_alone(self, ask: Callable[..., Result]) -> list[Result]:
        """ask: the answer to a mesh, a number of threads, and positions."""
        return self._answers(
            lambda _, scene: ask(self._meshes[scene], self._inner, *(one[scene] for one in self._positions))
        )

    def _answers(self, answer: Callable[[int, int], Result]) -> list[Result]:
        """Of all scenes; or the error of the first that has one, whichever thread comes to it first."""
        answers: dict[int, Result] = {}
        errors: dict[int, MeshError] = {}

        def take(worker: int, scene: int) -> None:
            if errors and scene > min(errors):
                return
            try:
                answers[scene] = answer(worker, scene)
            except MeshError as error:
                errors[scene] = error

        self._pool.run(take, range(self.count))
        if errors:
            scene = min(errors)
            error = errors[scene]
            error.args = f"scene {scene}: {error.args[0]}", *error.args[1:]
            raise error
        return [answers[scene] for scene in range(self.count)]


_OF_DETECTORS = ("min_distance", "radii", "objects", "pairs", "interior", "accuracy", "tuning")
_OPTIONS = {"ccd_batch": _OF_DETECTORS, "step_batch": _OF_DETECTORS, "check_batch": ("tuning",)}


class _Given:
    """What was given for the scenes: one for each, or the same for all."""

    def __init__(self, value: Any) -> None:
        self._value = value
        if isinstance(value, np.ndarray):
            self.is_listed = value.ndim > 2  # one mesh, and the positions of one scene, have two dimensions
        else:
            self.is_listed = isinstance(value, list | tuple) and not (len(value) and _is_row(value[0]))

    def __len__(self) -> int:
        return len(self._value)

    def __getitem__(self, scene: int) -> Any:
        return self._value[scene] if self.is_listed else self._value


def _is_row(value: Any) -> bool:
    """Three numbers of an array that is given as lists."""
    return isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1


def _rows_of(x: Any) -> int:
    return len(x) if hasattr(x, "__len__") else -1


def _common_count(given: dict[str, _Given]) -> int:
    """How many scenes there are."""
    counts = {name: len(one) for name, one in given.items() if one.is_listed}
    if not counts:
        raise ShapeError(
            f"{', '.join(given)}: one of each, and nothing that says how many scenes there are; give positions of "
            "shape (b, n, 3), or a list of them"
        )
    (first, count), *others = counts.items()
    for name, other in others:
        if other != count:
            raise ShapeError(f"{name} has {other} scenes, but {first} has {count}")
    return count
