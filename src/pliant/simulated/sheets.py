"""Scenes of one large cloth: on a ball, twisted, pressed through a funnel, in the wind. Metres, z is up."""

from __future__ import annotations

import math

import numpy as np

from pliant.scenes.drapes import funnel_wall
from pliant.scenes.shapes import grid_cells, icosphere, weave
from pliant.simulate.driven import Keyframes, Obstacle, Turning
from pliant.simulate.settings import Settings
from pliant.simulated.plan import Setup

RATE = 100.0  # one time step a frame, so that the way between frames is what was proven
SETTINGS = Settings(step=1.0 / RATE)
WIDTH = 1.0  # of the cloth


def sheet(triangles: int, width: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Faces and points (n, 3) of a square around the origin, as flat as a grain of dust: exactly flat cloth would fall
    onto round things without a reason to fold to one side."""
    nu, nv = grid_cells(max(2, triangles))
    faces, uv = weave(nu, nv)
    h = width / nu
    rough = np.random.default_rng(seed).uniform(-1e-3, 1e-3, len(uv))
    return faces, np.column_stack(((uv - (nu / 2, nv / 2)) * (h, width / nv), h * rough))


def ball_of(triangles: int, radius: float, centre: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    faces, points = icosphere(max(2, round(math.sqrt(triangles / 20))))
    return faces, radius * points + np.asarray(centre)


def floor_of(width: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    x = 0.5 * width * np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
    return np.array([(0, 1, 2), (0, 2, 3)]), x + (0.0, 0.0, height)


def cloth_ball(triangles: int = 92_000, seed: int = 0) -> Setup:
    """A cloth that falls onto a ball and the ground (Cloth-ball of the UNC benchmarks, and of paper 001)."""
    ball_faces, ball = ball_of(max(80, triangles // 10), 0.22, (0.0, 0.0, 0.23))
    faces, x = sheet(triangles - len(ball_faces), WIDTH, seed)
    obstacles = [Obstacle(ball_faces, ball), Obstacle(*floor_of(1.4, 0.0), friction=0.6)]
    options = {"obstacles": obstacles, "settings": SETTINGS, "material": "cotton", "friction": 0.3}
    return Setup(
        "cloth_ball", faces, x + (0.03, 0.02, 0.48), options, 120, RATE, (("cloth", len(faces)),), ("ball", "ground")
    )


def twisting(triangles: int = 64_000, seed: int = 0) -> Setup:
    """A cloth over a ball that begins to turn: the ball takes the cloth along, the ground holds its hem."""
    ball_faces, ball = ball_of(max(80, triangles // 10), 0.18, (0.0, 0.0, 0.19))
    faces, x = sheet(triangles - len(ball_faces), WIDTH, seed)
    turning = Turning(ball, spin=(0.0, 0.0, 4.0), centre=(0.0, 0.0, 0.19), begin=0.6)
    obstacles = [Obstacle(ball_faces, ball, turning, friction=1.0), Obstacle(*floor_of(1.4, 0.0), friction=0.8)]
    options = {"obstacles": obstacles, "settings": SETTINGS, "material": "silk", "friction": 0.3}
    return Setup("twisting", faces, x + (0, 0, 0.4), options, 200, RATE, (("cloth", len(faces)),), ("ball", "ground"))


# Of a funnel of the size of the kinematic one, in metres; its neck has a radius of 0.42 of these units.
_FUNNEL_SCALE, _BALL_IN_NECK = 0.2, 0.5


def funnel(triangles: int = 64_000, seed: int = 0) -> Setup:
    """A cloth that lies over a funnel, and a ball that presses it through (92,000 triangles in paper 001)."""
    wide, high = grid_cells(max(200, triangles // 10), aspect=1.2)
    wall_faces, uv = weave(wide, high, around=True)
    angle = 2 * math.pi / wide * uv[:, 0]
    r, z, _ = funnel_wall(3.6 * uv[:, 1] / high - 0.8)
    funnel_x = _FUNNEL_SCALE * np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)
    top = funnel_x[:, 2].max()
    radius = _FUNNEL_SCALE * 0.42 * _BALL_IN_NECK
    ball_faces, ball = ball_of(max(80, triangles // 20), radius, (0.0, 0.0, top + 0.03 + 1.1 * radius))
    faces, x = sheet(triangles - len(wall_faces) - len(ball_faces), 0.8, seed)
    down = np.array([0.0, 0.0, -(top + 0.03 + 1.1 * radius + 0.55)])
    path = Keyframes((0.2, 2.0), [ball, ball + down])
    obstacles = [Obstacle(wall_faces, funnel_x, friction=0.1), Obstacle(ball_faces, ball, path, friction=0.3)]
    options = {"obstacles": obstacles, "settings": SETTINGS, "material": "silk", "friction": 0.15}
    return Setup(
        "funnel", faces, x + (0.01, 0.02, top + 0.02), options, 220, RATE, (("cloth", len(faces)),), ("funnel", "ball")
    )


def flowing_cloth(triangles: int = 50_000, seed: int = 0) -> Setup:
    """A cloth that hangs by two corners and flows in a wind that comes in gusts."""
    faces, x = sheet(triangles, WIDTH, seed)
    corners = np.flatnonzero(np.hypot(abs(x[:, 0]) - WIDTH / 2, x[:, 1] - WIDTH / 2) < 0.03)
    rng = np.random.default_rng(seed)
    phase, pace = rng.uniform(0, 2 * math.pi, 4), rng.uniform(2.0, 5.0, 4)

    def wind(time: float) -> np.ndarray:
        gust = np.sin(pace * time + phase)
        return np.array([0.5 * gust[0], 1.4 + 0.8 * gust[1] + 0.4 * gust[2], 0.3 * gust[3]])

    hanging = x[:, [0, 2, 1]]
    options = {"settings": SETTINGS, "material": "satin", "pins": corners, "wind": wind}
    return Setup("flowing_cloth", faces, hanging, options, 200, RATE, (("cloth", len(faces)),))
