"""What users choose about a query: what never changes its result (Tuning), and how exact it is (Accuracy)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from pliant.bounds.kdops import AXES
from pliant.elementary.advance import TOLERANCE
from pliant.filters.sieve import ELEMENT_FILTERS, FILTERS, GAP_FILTERS
from pliant.hierarchy.traverse import ALL, INTER, SELF
from pliant.runtime.arrays import OptionError, as_number, choose

WANTED = {"all": ALL, "self": SELF, "inter": INTER}
CULLINGS = ("auto", "boxes", "front", "cones", "cones+front", "brute")
ASSIGNMENTS = ("auto", "static", "dynamic")
SOLVERS = ("exact", "advance")
DEFAULT_FILTERS = ("dnf", "csat")


@dataclass(frozen=True)
class Tuning:
    """What changes the time of a query, and never its result.

    Parameters
    ----------
    culling : {"auto", "boxes", "front", "cones", "cones+front", "brute"}
        How pairs are discarded by the hierarchy. "boxes" compares bounds. "cones" also leaves out patches that normal
        cones and contours prove to be free of self-contact, and "front" starts where the traversal of the frame before
        stopped; both pay from frame to frame, in a `Detector`. "auto" is "boxes" in a single query; a `Detector`
        changes to cones where they pay. "brute" tests every pair (the reference; small meshes only).
    bounds : {"aabb", "16-dop", "18-dop", "24-dop"}
        Bounding volumes of the hierarchy.
    filters : sequence of {"csat", "dnf", "ncf", "plane", "circle", "triangle"}
        Which conditions discard pairs before the exact test, in this order. "triangle" and "csat" discard pairs of
        elements, too. What only proves that there is no contact at distance 0 ("dnf", "ncf", normal cones) is replaced
        or left out where conservative advancement decides.
    assignment : {"auto", "static", "dynamic"}
        How each pair of features comes up once: at the owners of both ("static"), or at the first two separate elements
        that have them, with lists of orphans ("dynamic"). "auto" is static for surfaces and dynamic for volumes.

    Raises
    ------
    OptionError
        Where a name is not known.
    """

    culling: str = "auto"
    bounds: str = "aabb"
    filters: Iterable[str] = DEFAULT_FILTERS
    assignment: str = "auto"

    def __post_init__(self) -> None:
        choose(self.culling, "culling", CULLINGS)
        choose(self.bounds, "bounds", tuple(AXES))
        if isinstance(self.filters, str):
            raise OptionError(f"filters={self.filters!r} must be a sequence of names, such as ({self.filters!r},)")
        filters = tuple(self.filters)  # a generator can be gone through only once
        for name in filters:
            choose(name, "filters", tuple(dict.fromkeys(FILTERS + ELEMENT_FILTERS)))
        object.__setattr__(self, "filters", filters)
        if self.assignment == "static with o-sets":
            raise OptionError(
                'assignment="static with o-sets" would miss contacts: O-sets leave out pairs of features that have two '
                "separate cells, although the cells that they are assigned to may be adjacent, and are skipped; "
                'use "static" or "dynamic"'
            )
        choose(self.assignment, "assignment", ASSIGNMENTS)


@dataclass(frozen=True)
class Accuracy:
    """Who decides whether two features meet.

    Parameters
    ----------
    solver : {"exact", "advance"}
        "exact" decides as real arithmetic would. "advance" is conservative advancement, which a distance and curved
        motion always use: it reports what comes within the tolerance, and never too late.
    tolerance : float
        Of advancement, from 1e-14 to 1, relative to the extent of the scene.

    Raises
    ------
    OptionError, DtypeError
        Where a name is not known, or a number is none or out of range.
    """

    solver: str = "exact"
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        choose(self.solver, "solver", SOLVERS)
        object.__setattr__(self, "tolerance", as_number(self.tolerance, "tolerance", 1e-14, 1.0))


@dataclass(frozen=True)
class Plan:
    """What the stages do in a query."""

    bounds: str  # of AXES
    element_filters: tuple[str, ...]  # of ELEMENT_FILTERS
    filters: tuple[str, ...]  # of FILTERS, on pairs of features
    is_brute: bool  # every pair of elements, without bounds
    has_cones: bool  # patches that are free of self-contact are left out
    has_front: bool  # kept from frame to frame
    is_dynamic: bool  # assignment
    wanted: int  # ALL, SELF or INTER

    def at_distance(self) -> Plan:
        """What holds where features need not touch to be in contact: conditions that know distances."""
        # The plane of a face in place of coplanarity, which csat tries too, in the same pass over the pairs.
        instead = "csat" if "csat" in self.filters else "plane"
        filters = dict.fromkeys(instead if name == "dnf" else name for name in self.filters)
        kept = tuple(name for name in filters if name in GAP_FILTERS)
        return replace(self, filters=kept, has_cones=False)


def plan_of(tuning: Tuning, pairs: str, has_cells: bool) -> Plan:
    """The plan of a query that is asked once; has_cells: its elements are the cells of a volume mesh."""
    return _plan_of(tuning, choose(pairs, "pairs", tuple(WANTED)), has_cells)


@cache
def _plan_of(tuning: Tuning, pairs: str, has_cells: bool) -> Plan:
    named = tuple(tuning.filters)
    return Plan(
        bounds=tuning.bounds,
        element_filters=tuple(name for name in named if name in ELEMENT_FILTERS),
        filters=tuple(name for name in named if name in FILTERS),
        is_brute=tuning.culling == "brute",
        has_cones=tuning.culling in ("cones", "cones+front") and not has_cells,
        has_front=tuning.culling in ("front", "cones+front"),
        is_dynamic=tuning.assignment == "dynamic" or (tuning.assignment == "auto" and has_cells),
        wanted=WANTED[pairs],
    )
