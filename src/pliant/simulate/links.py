"""Links: up to four vertices whose weighted sum is pulled: contacts, friction, springs and seams.

A link with vertices v, weights w and the symmetric matrix S adds w[a] w[b] S to the Hessian between v[a] and v[b], and
w[a] f to the gradient of v[a].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.runtime.jit import bare_kernel, helper

CONTACT, SPRING = 0, 1


class Links(NamedTuple):
    """vertices : (k, 4) int32; weights : (k, 4) float64, of sum 0

    kind : (k,) int8, CONTACT or SPRING
    normal : (k, 3) float64, of a contact, from the second side to the first
    target : (k,) float64, length that a contact keeps, or of a spring at rest
    stiffness : (k,) float64, N/m
    friction : (k,) float64, its coefficient
    load : (k,) float64, force along the normal that friction is of: of the iteration before
    matrix : (k, 6) float64, S: 00, 01, 02, 11, 12, 22
    """

    vertices: np.ndarray
    weights: np.ndarray
    kind: np.ndarray
    normal: np.ndarray
    target: np.ndarray
    stiffness: np.ndarray
    friction: np.ndarray
    load: np.ndarray
    matrix: np.ndarray


class PullingLinks(NamedTuple):
    """Those links whose matrix is not 0: most pairs that are near do not touch.

    vertices : (k, 4) int32; weights : (k, 4) float64; matrix : (k, 6) float64
    """

    vertices: np.ndarray
    weights: np.ndarray
    matrix: np.ndarray


def pulling(links: Links) -> PullingLinks:
    """The links that ``pull_links`` gave a matrix."""
    pulls = (links.matrix[:, 0] != 0.0) | (links.matrix[:, 3] != 0.0) | (links.matrix[:, 5] != 0.0)
    return PullingLinks(links.vertices[pulls], links.weights[pulls], links.matrix[pulls])


def no_links(count: int = 0) -> Links:
    return Links(
        np.zeros((count, 4), np.int32), np.zeros((count, 4)), np.zeros(count, np.int8), np.zeros((count, 3)),
        np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count), np.zeros((count, 6)),
    )  # fmt: skip


def joined(parts: list[Links]) -> Links:
    parts = [part for part in parts if len(part.vertices)]
    if not parts:
        return no_links()
    return parts[0] if len(parts) == 1 else Links(*(np.concatenate(arrays) for arrays in zip(*parts)))


def springs_of(pairs: np.ndarray, length: np.ndarray, stiffness: np.ndarray) -> Links:
    """pairs : (k, 2) vertices; length : (k,) at rest, m; stiffness : (k,) N/m"""
    links = no_links(len(pairs))
    links.vertices[:, :2], links.vertices[:, 2:] = pairs, pairs[:, :1]
    links.weights[:, 0], links.weights[:, 1] = 1.0, -1.0
    links.kind[:] = SPRING
    links.target[:], links.stiffness[:] = length, stiffness
    return links


@helper
def _sum(weights, x, vertices, k, c):
    return (
        weights[k, 0] * x[vertices[k, 0], c] + weights[k, 1] * x[vertices[k, 1], c]
        + weights[k, 2] * x[vertices[k, 2], c] + weights[k, 3] * x[vertices[k, 3], c]
    )  # fmt: skip


@bare_kernel
def pull_links(links, x, x0, slip, is_lagged, gradient):
    """Energy at x; adds the gradient and writes S.

    slip : m, displacement in the step up to which friction sticks; is_lagged: keep the loads that friction has
    """
    energy = 0.0
    for k in range(len(links.vertices)):
        a = _sum(links.weights, x, links.vertices, k, 0)
        b = _sum(links.weights, x, links.vertices, k, 1)
        c = _sum(links.weights, x, links.vertices, k, 2)
        if links.kind[k] == SPRING:
            energy += _pull_spring(links, k, (a, b, c), gradient)
            continue
        energy += _push_apart(links, k, (a, b, c), is_lagged, gradient)
        if links.friction[k] * links.load[k] > 0.0:
            a0 = _sum(links.weights, x0, links.vertices, k, 0)
            b0 = _sum(links.weights, x0, links.vertices, k, 1)
            c0 = _sum(links.weights, x0, links.vertices, k, 2)
            energy += _rub(links, k, (a - a0, b - b0, c - c0), slip, gradient)
    return energy


@bare_kernel
def meet_contacts(links, x, x0, inverse_mass, seconds, sweeps, drag):
    """Move x, where inertia and gravity take the vertices, to where contacts with friction alone would let them go: the
    minimum of inertia and of the energies of contacts, by sweeps over their multipliers. Loads become what they
    push, or pushed at x0, if that is more and they still do.

    inverse_mass : (n,), of the vertices that may move; those after them do not
    drag : (k, 3), buffer
    """
    per = 1.0 / (seconds * seconds)
    for k in range(len(drag)):
        links.load[k] = drag[k, 0] = drag[k, 1] = drag[k, 2] = 0.0
    for _ in range(sweeps):
        for k in range(len(drag)):
            if links.kind[k] == CONTACT:
                _meet_contact(links, k, x, x0, inverse_mass, per, drag)
    for k in range(len(drag)):  # what the cloth's own tension presses on is known at the start of the step
        if links.load[k] > 0.0:
            missing = links.target[k]
            for c in range(3):
                missing -= links.normal[k, c] * _sum(links.weights, x0, links.vertices, k, c)
            links.load[k] = max(links.load[k], links.stiffness[k] * missing)


@helper
def _meet_contact(links, k, x, x0, inverse_mass, per, drag):
    n = (links.normal[k, 0], links.normal[k, 1], links.normal[k, 2])
    mobility = 0.0
    for i in range(4):
        v, w = links.vertices[k, i], links.weights[k, i]
        if v < len(inverse_mass):
            mobility += w * w * inverse_mass[v]
    if mobility == 0.0:
        return
    mobility /= per  # by a force, in this time
    a = _sum(links.weights, x, links.vertices, k, 0)
    b = _sum(links.weights, x, links.vertices, k, 1)
    c = _sum(links.weights, x, links.vertices, k, 2)
    before, compliance = links.load[k], 1.0 / links.stiffness[k]
    missing = links.target[k] - (n[0] * a + n[1] * b + n[2] * c)
    load = max(0.0, before + (missing - compliance * before) / (mobility + compliance))
    links.load[k] = load
    a -= _sum(links.weights, x0, links.vertices, k, 0)
    b -= _sum(links.weights, x0, links.vertices, k, 1)
    c -= _sum(links.weights, x0, links.vertices, k, 2)
    away = n[0] * a + n[1] * b + n[2] * c
    d0 = drag[k, 0] - (a - away * n[0]) / mobility
    d1 = drag[k, 1] - (b - away * n[1]) / mobility
    d2 = drag[k, 2] - (c - away * n[2]) / mobility
    length, most = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2), links.friction[k] * load
    share = most / length if length > most else 1.0
    f0 = (load - before) * n[0] + share * d0 - drag[k, 0]
    f1 = (load - before) * n[1] + share * d1 - drag[k, 1]
    f2 = (load - before) * n[2] + share * d2 - drag[k, 2]
    drag[k, 0], drag[k, 1], drag[k, 2] = share * d0, share * d1, share * d2
    for i in range(4):
        v, w = links.vertices[k, i], links.weights[k, i]
        if v < len(inverse_mass):
            w *= inverse_mass[v] / per
            x[v, 0] += w * f0
            x[v, 1] += w * f1
            x[v, 2] += w * f2


@helper
def _pull_spring(links, k, d, gradient):
    """Half of stiffness (length - target) squared; what would push sideways is left out of the Hessian."""
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    stiff, target = links.stiffness[k], links.target[k]
    if length < 1e-12 * max(target, 1e-30) or length == 0.0:
        n, aside = (0.0, 0.0, 0.0), stiff
    else:
        n, aside = (d[0] / length, d[1] / length, d[2] / length), stiff * max(0.0, 1.0 - target / length)
    force = stiff * (length - target)
    _add(links, k, (force * n[0], force * n[1], force * n[2]), gradient)
    _set(links, k, n, stiff, aside)
    return 0.5 * stiff * (length - target) ** 2


@helper
def _push_apart(links, k, d, is_lagged, gradient):
    n = (links.normal[k, 0], links.normal[k, 1], links.normal[k, 2])
    gap = n[0] * d[0] + n[1] * d[1] + n[2] * d[2]
    missing, stiff = links.target[k] - gap, links.stiffness[k]
    if missing <= 0.0:
        if not is_lagged:
            links.load[k] = 0.0
        # What bears a load and is just off stays stiff, or the next Newton step lets it fall into what bears it.
        _set(links, k, n, stiff if links.load[k] > 0.0 else 0.0, 0.0)
        return 0.0
    force = stiff * missing
    if not is_lagged:
        links.load[k] = force
    _add(links, k, (-force * n[0], -force * n[1], -force * n[2]), gradient)
    _set(links, k, n, stiff, 0.0)
    return 0.5 * stiff * missing * missing


@helper
def _rub(links, k, moved, slip, gradient):
    """Friction against what has moved along the surface in the step: a spring up to slip, constant beyond.

    What slides has the stiffness of a spring to the same force, also along its way, where it has none: energy is below
    that of the spring, so that no Newton step gains any. With none, most steps of cloth that slides here and sticks
    there were halved.
    """
    most = links.friction[k] * links.load[k]
    n = (links.normal[k, 0], links.normal[k, 1], links.normal[k, 2])
    away = n[0] * moved[0] + n[1] * moved[1] + n[2] * moved[2]
    t = (moved[0] - away * n[0], moved[1] - away * n[1], moved[2] - away * n[2])
    length = np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
    pull = most / max(length, slip)
    _add(links, k, (pull * t[0], pull * t[1], pull * t[2]), gradient)
    m = links.matrix
    m[k, 0] += pull * (1.0 - n[0] * n[0])
    m[k, 1] -= pull * n[0] * n[1]
    m[k, 2] -= pull * n[0] * n[2]
    m[k, 3] += pull * (1.0 - n[1] * n[1])
    m[k, 4] -= pull * n[1] * n[2]
    m[k, 5] += pull * (1.0 - n[2] * n[2])
    return 0.5 * pull * length * length if length < slip else most * (length - 0.5 * slip)


@helper
def _add(links, k, f, gradient):
    for a in range(4):
        v, w = links.vertices[k, a], links.weights[k, a]
        gradient[v, 0] += w * f[0]
        gradient[v, 1] += w * f[1]
        gradient[v, 2] += w * f[2]


@helper
def _set(links, k, n, along, aside):
    m, d = links.matrix, along - aside
    m[k, 0], m[k, 1], m[k, 2] = aside + d * n[0] * n[0], d * n[0] * n[1], d * n[0] * n[2]
    m[k, 3], m[k, 4], m[k, 5] = aside + d * n[1] * n[1], d * n[1] * n[2], aside + d * n[2] * n[2]
