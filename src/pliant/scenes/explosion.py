"""A body that another one hits and that bursts into pieces, which fly apart and through each other."""

import math

import numpy as np

from pliant.scenes.scene import Scene
from pliant.scenes.shapes import grid_cells, spindle, unit

PIECE = 6.0  # cells of the surface from one piece to the next: some 70 triangles each
CRACK = 0.03  # of a piece, left free around it: cracks a tenth of an edge wide
# Along the body, from the tip of its tail to its mouth: half its width.
WIDTH = [0.0, 0.03, 0.06, 0.1, 0.17, 0.26, 0.3, 0.29, 0.24, 0.16, 0.11, 0.12, 0.17, 0.16, 0.11, 0.0]
LENGTH = 2.6


def exploding(triangles: int = 252_000, frames: int = 10, seed: int = 0) -> Scene:
    """A body that bursts into pieces of surface: a winding, knobbly one, like a dragon, hit by a smaller one.

    Every piece flies in a direction of its own, mostly away from the blow, and turns. They start beside each other, a
    crack apart, and the nearer to the blow the faster: those behind go through those before them, and the body that hit
    them through all. The size of the benchmark of the UNC that paper 002 measures, and of its kind, not its motion.
    """
    rng = np.random.default_rng(seed)
    share = triangles // 8
    hitter_faces, hitter = _hitter(share, rng)
    body_faces, uv, cells = _spindle(max(2, triangles - len(hitter_faces)), aspect=0.45)
    body = _body(uv, rng)
    edge = _median_edge(body_faces, body)
    faces, vertex, piece = _pieces(body_faces, uv * cells / (2 * math.pi, 1.0), cells)
    hitter = hitter - hitter[np.argmin(hitter[:, 2])] + body[np.argmax(body[:, 2])] + (0.0, 0.0, 0.3 * edge)
    blow = hitter[np.argmin(hitter[:, 2])]

    rest, centre, outward = _cracked(body[vertex], piece, body.mean(axis=0))
    distance = np.linalg.norm(centre - blow, axis=1, keepdims=True)
    away = unit(unit(centre - blow) + 0.7 * outward + 0.6 * rng.normal(size=centre.shape))
    speed = edge * (0.7 + 2.0 * np.exp(-2.0 * distance)) * rng.uniform(0.5, 1.3, (len(centre), 1))
    axis = unit(rng.normal(size=centre.shape))
    spin = rng.uniform(0.05, 0.25, len(centre))

    x = np.empty((frames, len(rest) + len(hitter), 3))
    for k in range(frames):
        arm = _turned(rest - centre[piece], axis[piece], (spin * k)[piece])
        x[k, : len(rest)] = centre[piece] + k * (speed * away)[piece] + arm
        x[k, len(rest) :] = hitter + k * edge * np.array([0.3, -0.2, -2.2])
    return Scene(
        name="exploding",
        faces=np.concatenate([faces, hitter_faces + len(rest)]),
        frames=x,
        objects=np.concatenate([piece, np.full(len(hitter), len(centre))]),
    )


def _spindle(triangles: int, aspect: float) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Faces and points of a spindle, and its numbers of cells."""
    nu = max(3, grid_cells(triangles, aspect)[0])
    cells = nu, max(2, round(triangles / 2 / nu) + 1)
    return *spindle(*cells), cells


def _hitter(triangles: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A lump with two ears, about 0.5 across: faces, and points (n, 3)."""
    faces, points, _ = _spindle(triangles, aspect=2.0)
    angle, polar = points[:, 0], math.pi * points[:, 1]
    direction = np.stack([np.sin(polar) * np.cos(angle), np.sin(polar) * np.sin(angle), -np.cos(polar)], axis=1)
    ears = sum(np.exp(-6.0 * ((direction - unit(np.array([side, 0.0, 1.6]))) ** 2).sum(axis=1)) for side in (-1, 1))
    radius = 0.22 * (1.0 + 0.8 * ears + 0.08 * _knobs(rng, direction, 4.0))
    return faces, radius[:, None] * direction


def _body(uv: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positions (n, 3) of the body from points of a spindle: around a winding line, with ridges and knobs."""
    angle, t = uv.T
    # Rings at even distances along the outline, so that cells stay square where it narrows.
    along = np.linspace(0.0, 1.0, 512)
    width = np.interp(along, np.linspace(0.0, 1.0, len(WIDTH)), WIDTH)
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(width), LENGTH * np.diff(along)))])
    s = np.interp(t * way[-1], way, along)
    line, ahead = _winding(s), unit(_winding(s + 1e-4) - _winding(s - 1e-4))
    side = unit(np.cross(ahead, (0.0, 0.0, 1.0)))
    up = np.cross(side, ahead)
    across = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * up
    ridge = 0.25 * np.exp(-8.0 * (1.0 - np.sin(angle))) * (1.0 + np.cos(2 * math.pi * 9 * s)) / 2
    knobs = 0.06 * _knobs(rng, line + 0.3 * across, 12.0)
    return line + (np.interp(s, along, width) * (1.0 + ridge + knobs))[:, None] * across


def _winding(s: np.ndarray) -> np.ndarray:
    """The line (n, 3) along the middle of the body: to the left and to the right, and up to the head."""
    turn = 2 * math.pi * s
    return np.stack(
        [LENGTH * 0.85 * (s - 0.5), 0.35 * np.sin(turn + 0.4), 0.12 * np.cos(1.5 * turn) + 0.5 * s * s], axis=1
    )


def _knobs(rng: np.random.Generator, points: np.ndarray, wave: float) -> np.ndarray:
    """A smooth random field (n,) of mean square about 1 at points (n, 3): a sum of eight plane waves."""
    field = np.zeros(len(points))
    for _ in range(8):
        field += np.cos(wave * rng.uniform(0.7, 1.4) * points @ unit(rng.normal(size=3)) + rng.uniform(0, 2 * math.pi))
    return field / 2


def _pieces(faces: np.ndarray, cell: np.ndarray, cells: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut a spindle into connected pieces that share no vertices.

    cell : (n, 2) where its points are, in cells. Returns faces (m, 3), and for each new vertex the old one and its
    piece, in the order of the pieces. Depends on the numbers of cells alone.
    """
    corner = cell[faces]
    # Across the seam, a face has corners at both ends.
    half = cells[0] / 2
    corner[..., 0] += cells[0] * ((np.ptp(corner[..., 0], axis=1, keepdims=True) > half) & (corner[..., 0] < half))
    site = _nearest_site(corner.mean(axis=1), cells)
    n = len(cell)
    key, local = np.unique((site[:, None] * n + faces).ravel(), return_inverse=True)
    local = local.reshape(-1, 3)
    # What is nearest to one site is mostly connected, but need not be.
    root = np.arange(len(key))
    while True:
        lowest = root[local].min(axis=1)
        before = root.copy()
        np.minimum.at(root, local, lowest[:, None])
        if (root == before).all():
            break
    _, piece = np.unique(root, return_inverse=True)
    order = np.argsort(piece, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[local], key[order] % n, piece[order].astype(np.int64)


def _nearest_site(at: np.ndarray, cells: tuple[int, int]) -> np.ndarray:
    """(m,) number of the site nearest to each place (m, 2), in cells: one in each square of PIECE cells, or fewer."""
    counts = [max(1, min(3, c // 2), round(c / PIECE)) for c in cells]
    jitter = np.random.default_rng(cells[0] * cells[1]).uniform(0.1, 0.9, (*counts, 2))
    place = at * (counts[0] / cells[0], counts[1] / cells[1])
    square = np.floor(place).astype(np.int64)
    best, nearest = np.full(len(at), np.inf), np.zeros(len(at), np.int64)
    for du in (-1, 0, 1):
        for dv in (-1, 0, 1):
            u, v = square[:, 0] + du, square[:, 1] + dv
            inside = (v >= 0) & (v < counts[1])
            around, v = u % counts[0], np.clip(v, 0, counts[1] - 1)
            off = np.stack([u, v], axis=1) + jitter[around, v] - place
            squared = np.where(inside, (off * off).sum(axis=1), np.inf)
            nearest = np.where(squared < best, around * counts[1] + v, nearest)
            best = np.minimum(best, squared)
    return nearest


def _cracked(x: np.ndarray, piece: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pieces a little smaller, around their centres: points (n, 3), centres (p, 3), and directions out of the body."""
    centre = np.stack([np.bincount(piece, x[:, c]) for c in range(3)], axis=1) / np.bincount(piece)[:, None]
    return x + CRACK * (centre[piece] - x), centre, unit(centre - middle)


def _turned(arm: np.ndarray, axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) turned around unit axes (n, 3) by angles (n,), by Rodrigues' formula."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return c * arm + s * np.cross(axis, arm) + (1.0 - c) * (axis * arm).sum(axis=1, keepdims=True) * axis


def _median_edge(faces: np.ndarray, x: np.ndarray) -> float:
    return float(np.median(np.linalg.norm(x[faces] - x[np.roll(faces, 1, axis=1)], axis=2)))
