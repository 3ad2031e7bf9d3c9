"""Contacts as links of the solver's matrix: what is near at the start of a step, and what it would run into."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.response.closest import are_closest
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
    vertices, distance = near.vertices, near.distance
    kept = are_closest(near, rubbing.is_loose)
    kept &= (distance > 0.0) & rubbing.free[vertices].any(axis=1)
    links = _links(vertices[kept], near.weights[kept], near.normal[kept], rubbing)
    sewn = _joined_by_seams(near.kind[kept], rubbing.sewn[links.vertices])
    links.target[sewn] = np.minimum(links.target[sewn], BESIDE_STITCH * rubbing.thickness)
    links.stiffness[sewn] *= STIFFER_THERE
    np.minimum(links.target, distance[kept] + RECOVERY * rubbing.thickness, out=links.target)
    return links


def impact_links(contacts: Any, rubbing: Rubbing, x0: np.ndarray) -> Links:
    """Of a Contacts table: those that the proposal ran into, with weights and normals at their times."""
    kept = rubbing.free[contacts.vertices].any(axis=1)
    links = _links(contacts.vertices[kept], contacts.weights[kept], contacts.normal[kept], rubbing)
    gap = np.einsum("ki,kij,kj->k", links.weights, x0[links.vertices], links.normal)
    # A direction that does not separate the pair at the start says nothing about where it has to be.
    useful = gap > 0.0
    np.minimum(links.target, gap + RECOVERY * rubbing.thickness, out=links.target)
    return Links(*(array[useful] for array in links))


def _links(vertices: np.ndarray, weights: np.ndarray, normal: np.ndarray, rubbing: Rubbing) -> Links:
    links = no_links(len(vertices))
    links.vertices[:], links.weights[:], links.normal[:] = vertices, weights, normal
    apart = np.einsum("ki,kij->kj", weights, rubbing.x[vertices])
    links.target[:] = np.minimum(rubbing.thickness, np.sqrt(np.einsum("kj,kj->k", apart, apart)))
    links.stiffness[:] = rubbing.stiffness[vertices].max(axis=1, initial=0.0)
    of_obstacle = rubbing.of_obstacles[vertices].max(axis=1, initial=-1.0)
    links.friction[:] = np.where(of_obstacle < 0.0, rubbing.friction, of_obstacle)
    return links


def _joined_by_seams(kind: np.ndarray, sewn: np.ndarray) -> np.ndarray:
    """Which pairs have a stitch between them: neighbours."""
    joined = (sewn[:, :1] == sewn[:, 2:]).any(axis=1)
    face, edge = kind == 0, kind == 1
    joined |= face & (sewn[:, 0] == sewn[:, 1])
    joined |= edge & (sewn[:, 1:2] == sewn[:, 2:]).any(axis=1)
    return joined
