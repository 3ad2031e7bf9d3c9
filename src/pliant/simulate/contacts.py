"""Contacts as links of the solver's matrix: what is near at the start of a step, and what it would run into."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.simulate.links import Links, no_links

RECOVERY = 0.1  # of the thickness, that a pair which is too near gains in a step: more would throw it off


class Rubbing(NamedTuple):
    """How pairs touch.

    thickness : gap that is kept
    stiffness : N/m
    friction : coefficient of the cloth against itself
    of_obstacles : (N,) against each vertex of an obstacle; -1 of the cloth
    x : (N, 3) positions at the start of the simulation: pairs that were nearer then stay as near
    free : (N,) bool
    """

    thickness: float
    stiffness: float
    friction: float
    of_obstacles: np.ndarray
    x: np.ndarray
    free: np.ndarray


def near_links(near: Any, rubbing: Rubbing) -> Links:
    """Of a Proximity table at x0."""
    vertices, distance = near.vertices, near.distance
    kept = (distance > 0.0) & rubbing.free[vertices].any(axis=1)
    links = _links(vertices[kept], near.weights[kept], near.normal[kept], rubbing)
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
    links.stiffness[:] = rubbing.stiffness
    of_obstacle = rubbing.of_obstacles[vertices].max(axis=1, initial=-1.0)
    links.friction[:] = np.where(of_obstacle < 0.0, rubbing.friction, of_obstacle)
    return links
