"""Contacts as links of the solver's matrix: what is near at the start of a step, and what it would run into."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.arithmetic.kinds import VERTEX_FACE
from pliant.response.closest import are_closest, drop_driven
from pliant.runtime.jit import bare_kernel, helper
from pliant.simulate.joints import SEWN, STITCH
from pliant.simulate.links import Links, no_links

CONTACT_STIFFNESS = 0.5  # of the elements'
# Of the thickness, that a pair which is too near gains in a step: more would throw it off. From single runs: with 0.1,
# cloth on a ball once gained a thousandth of its energy in a step, with this 6e-4.
RECOVERY = 0.05
# Pairs with a stitch between them: kept this part of the thickness apart, less than a stitch is long, so that they do
# not keep the seam open; and so many times as stiff as other contacts, which is as stiff as a stitch. Where they were
# left out, the resolver moved them back in every step (of flamenco, 4,836 triangles, 198 contacts, by half of the
# thickness; as soft as others, 94, by a fifth; now 11, by an eighth), steps were solved twice, seams never rested.
BESIDE_STITCH, STIFFER_THERE = 0.5 * SEWN, STITCH / CONTACT_STIFFNESS


class Rubbing(NamedTuple):
    """How pairs touch.

    thickness : gap that is kept
    stiffness : (N,) N/m, of each vertex, 0 of obstacles; a pair has the largest of its own
    friction : coefficient of the cloth against itself
    of_obstacles : (N,) against each vertex of an obstacle; -1 of the cloth
    x : (N, 3) positions at the start of the simulation: pairs that were nearer then stay as near
    free : (N,) bool
    is_loose : (N,) bool, of edges without faces
    sewn : (N,) int64, vertices that are sewn together have the same number
    """

    thickness: float
    stiffness: np.ndarray
    friction: float
    of_obstacles: np.ndarray
    x: np.ndarray
    free: np.ndarray
    is_loose: np.ndarray
    sewn: np.ndarray


def near_links(near: Any, rubbing: Rubbing) -> Links:
    """Of a Proximity table at x0."""
    kept = are_closest(near, rubbing.is_loose)
    kept &= near.distance > 0.0
    links, rows = _links(near, kept, rubbing)
    limits = BESIDE_STITCH * rubbing.thickness, STIFFER_THERE, RECOVERY * rubbing.thickness
    _adapt_near(rows, near.kind, near.distance, rubbing.sewn, limits, links)
    return links


def impact_links(contacts: Any, rubbing: Rubbing, x0: np.ndarray) -> Links:
    """Of a Contacts table: those that the proposal ran into, with weights and normals at their times."""
    links, _ = _links(contacts, np.ones(len(contacts), bool), rubbing)
    gap = np.einsum("ki,kij,kj->k", links.weights, x0[links.vertices], links.normal)
    # A direction that does not separate the pair at the start says nothing about where it has to be.
    useful = gap > 0.0
    np.minimum(links.target, gap + RECOVERY * rubbing.thickness, out=links.target)
    return Links(*(array[useful] for array in links))


def _links(table: Any, kept: np.ndarray, rubbing: Rubbing) -> tuple[Links, np.ndarray]:
    """A link for each row that is kept, (k,) bool, and has a free vertex; and which rows these are."""
    drop_driven(table.vertices, rubbing.free, kept)
    rows = np.flatnonzero(kept)
    links = no_links(len(rows))
    _fill(
        rows, (table.vertices, table.weights, table.normal), (rubbing.thickness, float(rubbing.friction)),
        (rubbing.x, rubbing.stiffness, rubbing.of_obstacles), links,
    )  # fmt: skip
    return links, rows


@bare_kernel
def _fill(rows, columns, numbers, of_vertices, links):
    """columns : vertices, weights, normal of the table; numbers : thickness, friction; of_vertices : x at the start of
    the simulation, stiffness, friction of obstacles"""
    vertices, weights, normal = columns
    thickness, friction = numbers
    x, stiffness, of_obstacles = of_vertices
    for k in range(len(rows)):
        a, b, c, stiff, rough = 0.0, 0.0, 0.0, 0.0, -1.0
        for i in range(4):
            v, w = vertices[rows[k], i], weights[rows[k], i]
            links.vertices[k, i], links.weights[k, i] = v, w
            a, b, c = a + w * x[v, 0], b + w * x[v, 1], c + w * x[v, 2]
            stiff, rough = max(stiff, stiffness[v]), max(rough, of_obstacles[v])
        for i in range(3):
            links.normal[k, i] = normal[rows[k], i]
        links.target[k] = min(thickness, np.sqrt(a * a + b * b + c * c))
        links.stiffness[k], links.friction[k] = stiff, friction if rough < 0.0 else rough


@bare_kernel
def _adapt_near(rows, kind, distance, sewn, limits, links):
    """What is beside a stitch comes nearer and is stiffer, and no pair gains more than it is to recover in a step.

    limits : target beside a stitch, how much stiffer, and the gain
    """
    for k in range(len(rows)):
        if _is_beside_stitch(kind[rows[k]], links.vertices, k, sewn):
            links.target[k] = min(links.target[k], limits[0])
            links.stiffness[k] *= limits[1]
        links.target[k] = min(links.target[k], distance[rows[k]] + limits[2])


@helper
def _is_beside_stitch(kind, vertices, k, sewn):
    """Row k is a pair of neighbours, with a stitch between them."""
    a, b, c, d = sewn[vertices[k, 0]], sewn[vertices[k, 1]], sewn[vertices[k, 2]], sewn[vertices[k, 3]]
    return a == c or a == d or (a == b if kind == VERTEX_FACE else b == c or b == d)
