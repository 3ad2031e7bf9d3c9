"""What holds flesh together, one constraint at a time (XPBD: Macklin et al., 2016).

Every constraint moves its vertices along its gradient, by w / (sum of w |gradient|^2 + compliance) of what it is off,
where w is the freedom of a vertex. Compliance is that of the constraint divided by dt^2; with the sum of what it did
before in this step, the result depends on it and not on how often constraints are relaxed. Volumes have none. Nothing
here has a unit: any size of the body will do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.arithmetic.vec3 import cross, dot, row, sub
from pliant.characters.body.body import Body
from pliant.characters.solver.colours import schedule_of
from pliant.runtime.jit import helper, kernel


class Flesh(NamedTuple):
    """Constraints of a body in the order of its ``Schedule``, for one step."""

    edges: np.ndarray  # (e, 2) int32
    tetrahedra: np.ndarray  # (t, 4) int32
    vertices: np.ndarray  # (v,) int32
    edge_start: np.ndarray  # (blocks + 1,) int64
    tetrahedron_start: np.ndarray
    vertex_start: np.ndarray
    freedom: np.ndarray  # (n or more,) w of each vertex
    lengths: np.ndarray  # (e,) at which an edge is at rest
    volumes: np.ndarray  # (t,) six times the volume at which a tetrahedron is at rest
    edge_pull: np.ndarray  # (e,) what each edge did in this step
    target_pull: np.ndarray  # (n, 3) what each attachment did
    softness: np.ndarray  # (n,) compliance of attachments over dt^2


def flesh_of(body: Body, freedom: np.ndarray) -> tuple[Flesh, np.ndarray, np.ndarray]:
    """Constraints of a body, and its lengths and six volumes as bound, in their order."""
    schedule, n = schedule_of(body.volume), len(body.rest)
    d = np.diff(body.rest[schedule.edges], axis=1)[:, 0]
    lengths, volumes = np.sqrt((d * d).sum(axis=1)), six_volumes(body.rest[schedule.tetrahedra])
    pulls = np.zeros(len(lengths)), np.zeros((n, 3))
    return Flesh(*schedule, freedom, lengths.copy(), volumes.copy(), *pulls, np.zeros(n)), lengths, volumes


def six_volumes(corners: np.ndarray) -> np.ndarray:
    """(k,) six times the volumes of tetrahedra (k, 4, 3), with their signs."""
    a, b, c, d = corners.swapaxes(0, 1)
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)


@kernel
def fit_to_scale(scale, flesh, lengths, volumes):
    """Lengths and volumes at rest, for the scale of the vertices (n,), from those as bound."""
    for e in range(len(lengths)):
        flesh.lengths[e] = lengths[e] * 0.5 * abs(scale[flesh.edges[e, 0]] + scale[flesh.edges[e, 1]])
    for t in range(len(volumes)):
        c = flesh.tetrahedra[t]
        s = 0.25 * (scale[c[0]] + scale[c[1]] + scale[c[2]] + scale[c[3]])
        flesh.volumes[t] = volumes[t] * s * s * s


@kernel
def relax(x, target, flesh, blocks, limits, parts):
    """Constraints of some blocks once, x in place: attachments, edges, volumes.

    blocks : first and step; limits : compliance of edges over dt^2, and how far a volume moves a vertex at most;
    parts : whether attachments and edges take part
    """
    for block in range(blocks[0], len(flesh.edge_start) - 1, blocks[1]):
        if parts[0]:
            _pull_to_targets(x, target, flesh, block)
        if parts[1]:
            _hold_lengths(x, flesh, block, limits[0])
        _hold_volumes(x, flesh, block, limits[1])


@helper
def _pull_to_targets(x, target, flesh, block):
    for i in range(flesh.vertex_start[block], flesh.vertex_start[block + 1]):
        v = flesh.vertices[i]
        soft, w = flesh.softness[v], flesh.freedom[v]
        if not w > 0.0:
            continue
        part = 1.0 / (w + soft)
        for k in range(3):
            pull = part * (target[v, k] - x[v, k] - soft * flesh.target_pull[v, k])
            flesh.target_pull[v, k] += pull
            x[v, k] += w * pull


@helper
def _hold_lengths(x, flesh, block, softness):
    for e in range(flesh.edge_start[block], flesh.edge_start[block + 1]):
        i, j = flesh.edges[e, 0], flesh.edges[e, 1]
        wi, wj = flesh.freedom[i], flesh.freedom[j]
        d = sub(row(x, j), row(x, i))
        length = np.sqrt(dot(d, d))
        if not (wi + wj > 0.0 and length > 1e-9 * flesh.lengths[e]):  # nothing moves, or has no direction
            continue
        s = (length - flesh.lengths[e] - softness * flesh.edge_pull[e]) / (length * (wi + wj + softness))
        flesh.edge_pull[e] += s * length
        for k in range(3):
            x[i, k] += wi * s * d[k]
            x[j, k] -= wj * s * d[k]


@helper
def _hold_volumes(x, flesh, block, limit):
    for t in range(flesh.tetrahedron_start[block], flesh.tetrahedron_start[block + 1]):
        i, j, k, m = flesh.tetrahedra[t, 0], flesh.tetrahedra[t, 1], flesh.tetrahedra[t, 2], flesh.tetrahedra[t, 3]
        a = row(x, i)
        p, q, r = sub(row(x, j), a), sub(row(x, k), a), sub(row(x, m), a)
        gj, gk, gm = cross(q, r), cross(r, p), cross(p, q)
        gi = -gj[0] - gk[0] - gm[0], -gj[1] - gk[1] - gm[1], -gj[2] - gk[2] - gm[2]
        wi, wj, wk, wm = flesh.freedom[i], flesh.freedom[j], flesh.freedom[k], flesh.freedom[m]
        ii, jj, kk, mm = dot(gi, gi), dot(gj, gj), dot(gk, gk), dot(gm, gm)
        total = wi * ii + wj * jj + wk * kk + wm * mm
        if not total > 0.0:
            continue
        s = (flesh.volumes[t] - dot(gm, r)) / total
        longest = s * s * max(max(ii, jj), max(kk, mm))
        if not longest < np.inf:  # as good as flat
            continue
        if longest > limit * limit:  # nearly flat: the way to its volume is long
            s *= limit / np.sqrt(longest)
        for c in range(3):
            x[i, c] += wi * s * gi[c]
            x[j, c] += wj * s * gj[c]
            x[k, c] += wk * s * gk[c]
            x[m, c] += wm * s * gm[c]
