"""One step: impulses guided by contacts, then planes for what is left, until a query finds nothing."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from pliant.response.driven import DrivenObjects
from pliant.response.impulses import SWEEPS, push_apart
from pliant.response.planes import Planes, Ways, confine, lower_shares, no_planes, planes_of
from pliant.response.planes import joined as joined_planes
from pliant.response.pushing import Source
from pliant.response.rows import Aim, Ends, Rows, rows_of_contacts
from pliant.response.rows import joined as joined_rows
from pliant.results.contacts import Contacts

WORTH = 0.05  # of the motion, that a base other than x0 must make
HALVINGS = 12  # of a motion with too many contacts, before it is none
CELL_HALVINGS = 4  # of the motion of a cell that would be inverted, before it does not move at all
BEFORE = 0.9  # of the time of the first contact: a base


class Queries(Protocol):
    """What an attempt asks about positions x, (n, 3)."""

    def contacts(self, x: np.ndarray) -> Contacts | None:
        """Those on the way from x0; None where there are too many."""
        ...

    def all_contacts(self, x: np.ndarray) -> Contacts:
        """The same, however many there are."""
        ...

    def inverted_corners(self, x: np.ndarray) -> np.ndarray:
        """Vertices of the cells that are inverted at x, and were not at x0."""
        ...


class Rules(NamedTuple):
    """What an attempt has to keep to."""

    aim: Aim
    max_rounds: int
    waits: bool  # driven objects may


class Touching(Exception):
    """Pairs touch at x0: nothing can make their motion free."""

    def __init__(self, contacts: Contacts) -> None:
        super().__init__()
        self.contacts = contacts


class Attempt:
    """Positions on their way to being free.

    x : (n, 3) where vertices are now
    rows : with what they have pushed
    """

    def __init__(self, ends: Ends, driven: DrivenObjects, rules: Rules, queries: Queries) -> None:
        self._ends, self._driven, self._rules, self._queries = ends, driven, rules, queries
        self.x: np.ndarray = ends.x1.copy()
        self._place_driven()
        self._base: np.ndarray = ends.x0
        self._is_held = ends.inverse_mass == 0.0  # driven, or put to the base for good
        self._planes, self._planned = no_planes(), np.empty(0, np.int64)
        self.rows: Rows | None = None
        self.sources: list[Source] = []  # that rows were made of
        self.rounds = 0

    @property
    def plane_count(self) -> int:
        return len(self._planes.margin)

    def run(self, near: Rows | None) -> None:
        """Until a query finds nothing.

        near : rows of what is near at x0
        """
        if near is not None:
            self.rows = near
            self._push()
        contacts = self._contacts()
        while self.rounds < self._rules.max_rounds and self._can_push(contacts):
            self.rounds += 1
            self._add_rows(contacts)
            self._push()
            contacts = self._contacts()
        if len(contacts):
            self._leave_start(contacts)
        halvings = 0
        while True:
            while len(contacts):
                self._settle(contacts)
                contacts = self._contacts()
            corners = self._queries.inverted_corners(self.x)
            if not len(corners):
                return
            self._shrink(corners, halvings < CELL_HALVINGS)
            halvings, contacts = halvings + 1, self._contacts()

    def _contacts(self) -> Contacts:
        """Of the motion to x. Where they are too many to be dealt with, the motion is halved: first that of what is
        free, then that of driven objects too."""
        free = ~self._is_held
        for halving in range(2 * HALVINGS):
            contacts = self._queries.contacts(self.x)
            if contacts is not None:
                return contacts
            if halving < HALVINGS:
                is_last = halving == HALVINGS - 1
                self.x[free] = self._base[free] if is_last else _middle(self._base[free], self.x[free])
                self._weaken(0.0 if is_last else 0.5)
            else:
                base = self._driven.columns.base_shares
                is_last = halving == 2 * HALVINGS - 1
                self._driven.shares[:] = base if is_last else _middle(base, self._driven.shares)
                self._place_driven()
        return self._queries.all_contacts(self.x)  # everything is at the base

    # ---- impulses

    def _can_push(self, contacts: Contacts) -> bool:
        """Whether any of them has a vertex that impulses move."""
        return bool((self._ends.inverse_mass[contacts.vertices] > 0.0).any())

    def _add_rows(self, contacts: Contacts) -> None:
        more = rows_of_contacts(contacts, self._ends, self._rules.aim)
        before = 0 if self.rows is None else len(self.rows.target)
        self.rows = more if self.rows is None else joined_rows(self.rows, more, before)
        self.sources.append(Source(len(contacts), contacts.__getitem__))

    def _weaken(self, share: float) -> None:
        """Less of the motion is less of what rows have done to it."""
        if self.rows is not None:
            self.rows.push[:] *= share
            self.rows.drag[:] *= share

    def _push(self) -> None:
        assert self.rows is not None
        push_apart(self.x, self.rows, self._ends.inverse_mass, SWEEPS)
        self._keep_finite()

    def _keep_finite(self) -> None:
        """Coordinates near the largest double overflow: such vertices stay at the base."""
        bad = ~np.isfinite(self.x).all(axis=1)
        if bad.any():
            self.x[bad] = self._base[bad]

    # ---- planes

    def _settle(self, contacts: Contacts) -> None:
        """New pairs get planes; of pairs that have one all the same, and of those that no direction separates, vertices
        are put to the base for good."""
        self._require_moved(contacts)
        keys = keys_of(contacts)
        again = np.isin(keys, self._planned)
        ways = Ways(self._ends.x0, self._base, self.x)
        fresh = contacts[~again]
        planes = planes_of(fresh, ways, self._ends.inverse_mass == 0.0, self._rules.aim.distance_kept)
        lost = ~planes.normal.any(axis=1)
        self._hold(np.concatenate((contacts.vertices[again].ravel(), fresh.vertices[lost].ravel())))
        self._planned = np.concatenate((self._planned, keys[~again]))
        self._planes = joined_planes(self._planes, Planes(*(column[~lost] for column in planes)))
        confine(self._planes, ways, self._is_held)
        self._keep_finite()
        lower_shares(self._planes, ways, self._driven.columns, self._driven.shares)
        self._place_driven()

    def _require_moved(self, contacts: Contacts) -> None:
        """The way to the base is free; a pair that is in contact with all of its vertices there touches at x0."""
        at_base = (self.x == self._base).all(axis=1)
        touching = at_base[contacts.vertices].all(axis=1)
        if touching.any():
            raise Touching(contacts[touching])

    def _hold(self, vertices: np.ndarray) -> None:
        self._is_held[vertices] = True
        free = vertices[self._ends.inverse_mass[vertices] > 0.0]
        self.x[free] = self._base[free]
        self._driven.wait_at_base(vertices)

    def _shrink(self, vertices: np.ndarray, by_half: bool) -> None:
        """Less of the motion from the base."""
        if not by_half:
            self._hold(vertices)
            self._place_driven()
            return
        free = np.unique(vertices[~self._is_held[vertices]])
        self.x[free] = _middle(self._base[free], self.x[free])
        if not len(free):
            self._shrink(vertices, by_half=False)

    # ---- the base

    def _leave_start(self, contacts: Contacts) -> None:
        """A base that is further than x0, where one is found at once: everything moved along with its object, or
        everything on its way, until just before the first contact."""
        x0, t = self._ends.x0, BEFORE * float(contacts.toi.min())
        with np.errstate(over="ignore", invalid="ignore"):  # coordinates near the largest double: no base then
            wanted = self.x - x0
            along = _along(wanted, self._ends.inverse_mass, self._driven.of_all)
            moves = np.sum(along * along) > WORTH * np.sum(wanted * wanted)
            moved, part = x0 + along, x0 + t * wanted
        if not (moves and self._try_base(moved, 1.0)) and t > WORTH:
            self._try_base(part, t)

    def _try_base(self, x: np.ndarray, share: float) -> bool:
        """x becomes the base where the way to it is free; share : of the driven objects at x"""
        before = self._driven.shares
        self._driven.shares = np.minimum(before, share)
        self._driven.place(x)
        found = self._queries.contacts(x) if np.isfinite(x).all() else None
        is_free = found is not None and len(found) == 0 and len(self._queries.inverted_corners(x)) == 0
        if is_free:
            self._driven.rebase()
            self._base = x
        self._driven.shares = before
        return is_free

    def _place_driven(self) -> None:
        self._driven.place(self.x)
        if not self._rules.waits:
            self._driven.require_nobody_waits()


def keys_of(contacts: Contacts) -> np.ndarray:
    """(k,) int64, one number for each pair of features."""
    elements = contacts.elements.astype(np.int64)
    return (contacts.kind.astype(np.int64) << 62) | (elements[:, 0] << 31) | elements[:, 1]


def _along(wanted: np.ndarray, inverse_mass: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(n, 3) the motion of the centre of mass of the free vertices of each object, labels (n,) from 0, which has their
    momentum and no more energy; the motion of the others as it is."""
    along, free = wanted.copy(), np.flatnonzero(inverse_mass > 0.0)
    lightest = np.zeros(labels.max(initial=0) + 1)
    np.maximum.at(lightest, labels[free], inverse_mass[free])
    mass = lightest[labels[free]] / inverse_mass[free]  # from 1 on in each object
    total = np.bincount(labels[free], mass, minlength=len(lightest))
    part = mass / total[labels[free]]
    for axis in range(3):
        mean = np.bincount(labels[free], part * wanted[free, axis], minlength=len(lightest))
        along[free, axis] = mean[labels[free]]
    return along


def _middle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return 0.5 * a + 0.5 * b
