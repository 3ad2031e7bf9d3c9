"""Contact as in Algorithm 1 of paper 004: impact forces from the first times of contact and the depths after them.

The paper leaves ImpactForce open. Here a pair that meets in a step, found by an exact query, is *active* from then on:
while the second feature is past the first one, by a depth d along their normal at the time of contact, they push each
other apart with k d, where k is a part of what would bring them apart within a step, m / h^2 with the mass m that their
closest points have together. That is a spring that is stable for every mass and every step; where several pairs share a
vertex, each of them has a share of its mass. So a pair stays past each other for some steps, which is what a penalty
is; its leaving is not taken for another contact from the other side. A pair is forgotten when it is apart, or when its
closest points have left the features: what slides off a face while it is behind it is lost, and counted by
``remaining`` alone.

Forces of a pair add up to nothing. They are followed by friction, of Coulomb, up to what stops the pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.cells import SOLID_TYPES, TYPES
from pliant.mesh.volumes import VolumeMesh
from pliant.queries.detector import Detector
from pliant.response.fresh import FreshPairs, no_fresh_pairs
from pliant.runtime.arrays import as_floats, as_number
from pliant.simulate.solids.penalty_pairs import Pairs, first_pairs, joined_pairs, measured, no_pairs, present
from pliant.simulate.solids.quadrature import _reference
from pliant.simulate.terms import Memory

STIFFNESS = 0.3  # part of a depth that is undone in a step


class Impact(NamedTuple):
    """What a step has met.

    contacts : pairs that met in it; inversions : those of one cell with itself
    first : time of the first one, as a part of the step; infinite where there is none
    active : pairs that push; deepest : m, the largest depth of them, before they pushed
    force : (N, 3) N, of all
    """

    contacts: int
    inversions: int
    first: float
    active: int
    deepest: float
    force: np.ndarray


class Remaining(NamedTuple):
    """What a penalty leaves: pairs of boundary faces that intersect, cells that are inverted, active pairs."""

    intersections: int
    inverted: int
    active: int


class Penalty:
    """Impact forces in a scene of N vertices.

    Parameters
    ----------
    mesh : VolumeMesh
        Of everything that may touch: obstacles are shells of it.
    inverse_mass : (N,) float64
        1/kg; 0 of vertices that are driven, and of obstacles.
    interior : bool
        All features, or those on the boundary alone.
    stiffness : float
        Part of a depth that is undone in a step, up to 1. Central differences stay stable while this and four times the
        square of the part of the stable step that is taken are below 4: 0.3 for 0.9 of it.
    friction : float or (N,) floats
        Coefficient; of the vertices of a pair those that are driven count, if there are any, and the largest of these.
    siblings : (N,) integers, optional
        Vertices that have split from one have one number: features with such vertices are neighbours, and no pair.
    tuning, threads
        Of the detector.
    """

    def __init__(
        self, mesh: VolumeMesh, inverse_mass: np.ndarray, *, interior: bool = True, stiffness: float = STIFFNESS,
        friction: float | np.ndarray = 0.0, siblings: np.ndarray | None = None, tuning: Tuning | None = None,
        threads: int | None = None,
    ) -> None:  # fmt: skip
        self._stiffness = as_number(stiffness, "stiffness", 1e-6, 1.0)
        self._friction = np.broadcast_to(as_floats(friction, "friction"), (len(inverse_mass),))
        self._interior, self._options = interior, {"tuning": tuning, "threads": threads}
        self.memory: tuple[np.ndarray, ...] = no_pairs()
        self.fresh: FreshPairs = no_fresh_pairs()  # which are no contact
        self.impact: Impact | None = None
        self.update(mesh, inverse_mass, siblings)

    def update(self, mesh: VolumeMesh, inverse_mass: np.ndarray, siblings: np.ndarray | None = None) -> None:
        """Go on with a changed mesh, in which vertices keep their numbers: pairs whose features are gone are
        forgotten."""
        self._mesh, self._surface, self._inverse, self._siblings = mesh, mesh.surface(), inverse_mass, siblings
        self._detector = Detector(mesh if self._interior else self._surface, **self._options)
        self.follow(self.memory, (0, 0))

    def follow(self, before: Memory, changed: tuple[int, int]) -> None:
        """Go on with pairs of a mesh whose first vertices, up to those of obstacles, have become more; pairs whose
        features are gone are forgotten."""
        kind, vertices, weights, normal = before
        moved = vertices + np.where(vertices >= changed[0], changed[1] - changed[0], 0).astype(np.int32)
        features = self._mesh.features() if self._interior else self._surface
        self.memory = present(Pairs(kind, moved, weights, normal), features.faces, features.edges)

    def meet(self, x0: np.ndarray, x1: np.ndarray, seconds: float) -> np.ndarray:
        """Positions at the end of a step, (N, 3), with the impact forces of what happens between x0 and x1; the step is
        in ``impact``, active pairs become ``memory``."""
        found = self._detector.contacts(x0, x1)
        known = Pairs(*self.memory)
        fresh = first_pairs(found, known, self._inverse, self._siblings)
        if len(self.fresh):
            fresh = Pairs(*(column[~self.fresh.among_rows(fresh.kind, fresh.vertices)] for column in fresh))
        pairs, weights, depth = measured(known, x1)
        new_depth = -np.einsum("ki,kij,kj->k", fresh.weights, x1[fresh.vertices], fresh.normal)
        pairs = joined_pairs(pairs, Pairs(fresh.kind, fresh.vertices, fresh.weights, fresh.normal), new_depth > 0.0)
        weights = np.concatenate((weights, fresh.weights[new_depth > 0.0]))
        depth = np.concatenate((depth, new_depth[new_depth > 0.0]))
        push = self._push(pairs, weights, depth, x1 - x0)
        with np.errstate(divide="ignore"):
            mass = np.where(self._inverse > 0.0, 1.0 / self._inverse, 0.0)
        first = float(found.toi.min()) if len(found) else np.inf
        self.memory = pairs
        self.impact = Impact(
            len(found), int(np.count_nonzero(found.inversion)), first, len(depth), float(depth.max(initial=0.0)),
            mass[:, None] * push / seconds**2,
        )  # fmt: skip
        return x1 + push

    def remaining(self, x: np.ndarray) -> Remaining:
        """What is left at x, (N, 3): from queries of its own."""
        crossing = Detector(self._surface, **self._options).intersections(x)
        return Remaining(len(crossing), int(np.count_nonzero(inverted_cells(self._mesh, x))), len(self.memory[0]))

    def _push(self, pairs: Pairs, weights: np.ndarray, depth: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """(N, 3) how far vertices are moved."""
        vertices, count = pairs.vertices, len(moved)
        sharing = np.bincount(vertices.ravel(), minlength=count)
        inverse = (self._inverse * sharing)[vertices]
        together = np.einsum("ki,ki,ki->k", weights, weights, inverse)
        mass = np.divide(1.0, together, out=np.zeros(len(together)), where=together > 0.0)
        along = self._stiffness * depth
        push = along[:, None] * pairs.normal
        if self._friction.any():
            slip = np.einsum("ki,kij->kj", weights, moved[vertices])
            slip -= np.einsum("kj,kj->k", slip, pairs.normal)[:, None] * pairs.normal
            far = np.sqrt(np.einsum("kj,kj->k", slip, slip))
            most = np.minimum(self._frictions(vertices) * along, far)
            push -= np.divide(most, far, out=np.zeros(len(far)), where=far > 0.0)[:, None] * slip
        each = (mass[:, None] * weights * self._inverse[vertices])[:, :, None] * push[:, None, :]
        out = np.empty((count, 3))
        for k in range(3):
            out[:, k] = np.bincount(vertices.ravel(), each[:, :, k].ravel(), count)
        return out

    def _frictions(self, vertices: np.ndarray) -> np.ndarray:
        """(k,) coefficients of pairs."""
        of_each, is_driven = self._friction[vertices], self._inverse[vertices] == 0.0
        of_driven = np.where(is_driven, of_each, -1.0).max(axis=1, initial=-1.0)
        return np.where(of_driven < 0.0, of_each.max(axis=1, initial=0.0), of_driven)


def inverted_cells(mesh: VolumeMesh, x: np.ndarray) -> np.ndarray:
    """(c,) bool: solid cells that are turned inside out, or have no volume, at one of their points of integration."""
    out = np.zeros(len(mesh.types), bool)
    first = 0
    for name in TYPES[:SOLID_TYPES]:
        cells = mesh.cells[name]
        _, derivatives, _ = _reference(name)
        jacobian = np.einsum("cix,qik->cqxk", x[cells], derivatives)
        out[first : first + len(cells)] = ~(np.linalg.det(jacobian) > 0.0).all(axis=1)
        first += len(cells)
    return out
