"""Pairs of features that are drawn by chance, decided once more, in whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pliant.certificates.verifier import KINDS, Checker, Features, Inputs, features_of
from pliant.certificates.writing import inputs_of, listed_in
from pliant.results.contacts import Contacts
from pliant.runtime.arrays import OptionError

# For each feature that is drawn: so many of those whose middles come nearest to its own, and one of all.
_NEAR = 9


@dataclass(frozen=True)
class Audit:
    """What was decided again; true where nothing was wrong.

    pairs : how many pairs of features
    contacts : how many of these are contacts
    wrong : a sentence for each pair of which the result says something else
    """

    pairs: int
    contacts: int
    wrong: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.wrong


def audit(contacts: Contacts, mesh: Any, x0: Any, x1: Any, *, sample: int = 10_000, seed: int = 0) -> Audit:
    """Decide some pairs of features again, by code that shares nothing with the queries, and compare.

    Parameters
    ----------
    contacts : Contacts
        What ``pliant.ccd(mesh, x0, x1)`` returned, whole.
    mesh : (m, 3) integers, TriMesh, or a trimesh, meshio or pyvista object
    x0, x1 : (n, 3) floats
        The same mesh and positions.
    sample : int
        How many pairs: nine of ten near each other, the others anywhere; those that are drawn twice count once. A pair
        takes some tenths of a millisecond.
    seed : int
        Another one draws other pairs.

    Returns
    -------
    Audit
        What is wrong with the result, if anything.

    Raises
    ------
    MeshError
        Where the input is wrong.
    """
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 0:
        raise OptionError(f"sample must be a number of pairs, got {sample!r}")
    inputs = inputs_of(mesh, x0, x1)
    features, checker = features_of(inputs), Checker(inputs)
    listed = {row[:3]: (Fraction(row[3]), Fraction(row[4])) for row in listed_in(contacts)}
    wrong, met, pairs = [], 0, set(_drawn(inputs, features, int(sample), np.random.default_rng(seed)))
    for kind, i, j in sorted(pairs):
        vertices = (*(features.vertices, features.edges)[kind][i], *(features.faces, features.edges)[kind][j])
        bracket = listed.get((kind, i, j))
        said = checker.contact(kind, vertices, *(bracket or (Fraction(0), Fraction(1))))
        met += said != "is none"
        if bracket is None and said != "is none":
            wrong.append(f"{KINDS[kind]} {i}, {j} is a contact that is missing")
        elif bracket is not None and said:
            wrong.append(f"{KINDS[kind]} {i}, {j} {said}")
    return Audit(len(pairs), met, tuple(wrong))


def _drawn(inputs: Inputs, features: Features, sample: int, rng: np.random.Generator) -> Iterator[tuple[int, int, int]]:
    middles = (np.array(inputs.x0, float).reshape(-1, 3) + np.array(inputs.x1, float).reshape(-1, 3)) / 2
    for kind, (ids, rows, columns) in enumerate(
        ((features.named, features.vertices, features.faces), (range(len(features.edges)), *[features.edges] * 2))
    ):
        if not ids or not columns:
            continue
        centres = np.array([middles[list(column)].mean(0) for column in columns])
        for i in rng.choice(ids, -(-sample // (2 * _NEAR + 2))).tolist():
            away = np.square(centres - middles[list(rows[i])].mean(0)).sum(1)
            away[[j for j, column in enumerate(columns) if set(column) & set(rows[i])]] = np.inf
            nearest = np.argsort(away, kind="stable")[:_NEAR].tolist()
            for j in [*nearest, int(rng.integers(len(columns)))]:
                if np.isfinite(away[j]):
                    yield (kind, i, j) if kind == 0 else (kind, min(i, j), max(i, j))
