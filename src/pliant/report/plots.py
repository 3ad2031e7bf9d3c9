"""Plots of a scan as a picture: what was found over frames, and the culling funnel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.frames.scanning import Scan
from pliant.report.findings import findings_of, funnel_of, looked_for
from pliant.report.letters import letters, put, width_of
from pliant.report.picture import png, rasterise
from pliant.report.regions import Regions
from pliant.runtime.writing import write_atomically

_WIDTH, _HEIGHT = 1200, 340  # pixels of one plot
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 30, 64, 40
_FINE = 3  # samples of a pixel along either side
_CAPITAL = 12.0  # how tall a capital is
_SOFT, _INK = (0.42, 0.44, 0.48), (0.13, 0.14, 0.16)
_GRID = (0.88, 0.87, 0.85)
_COLOURS = (
    (0.54, 0.56, 0.60), (0.23, 0.51, 0.72), (0.16, 0.62, 0.56), (0.48, 0.65, 0.21), (0.79, 0.64, 0.15),
    (0.85, 0.51, 0.06), (0.83, 0.15, 0.11),
)  # fmt: skip
_FOUND = ((0.83, 0.15, 0.11), (0.85, 0.51, 0.06), (0.36, 0.36, 0.82))


class Line(NamedTuple):
    name: str
    colour: tuple[float, float, float]
    values: np.ndarray  # (f,) float64; NaN is a gap


class Plot(NamedTuple):
    title: str
    lines: list[Line]
    numbers: Sequence[int]  # of the frames
    logarithmic: bool = False


def write_plots(scan: Scan, path: str | os.PathLike[str]) -> None:
    """Write a PNG: contacts and intersections over frames, and for each of both the pairs left after every stage."""
    findings = findings_of(scan, Regions(scan.sequence))
    numbers = [frame.number for frame in scan.frames]
    known = looked_for(scan.frames)
    names = ("vertex-face contacts", "edge-edge contacts", "intersections")
    shown = [i for i in range(3) if known[i == 2]]
    lines = [Line(names[i], _FOUND[i], findings.counts[:, i].astype(float)) for i in shown]
    plots = [Plot(f"{scan.sequence.name}: found, frame by frame", lines, numbers)]
    tables = ([one.contacts for one in scan.frames], [one.intersections for one in scan.frames])
    for name, some in zip(("contacts", "intersections"), tables):
        funnel = funnel_of([() if table is None else table.stages for table in some])
        there = np.array([table is not None for table in some], bool)
        lines = [
            Line(stage, _colour(i, len(funnel.stages)), np.where(there, funnel.pairs_out[i], np.nan))
            for i, stage in enumerate(funnel.stages)
        ]
        if lines:
            plots.append(Plot(f"{name}: pairs left after each stage", lines, numbers, True))
    image = np.concatenate([draw_plot(plot) for plot in plots])
    write_atomically(Path(path), lambda file: file.write(png(image)))


def _colour(i: int, stages: int) -> tuple[float, float, float]:
    last = len(_COLOURS) - 1
    return _COLOURS[last if stages < 2 else round(i * last / (stages - 1))]


def draw_plot(plot: Plot) -> np.ndarray:
    """(h, w, 3) uint8"""
    image = np.ones((_HEIGHT * _FINE, _WIDTH * _FINE, 3))
    ticks = _ticks(plot)
    for tick in ticks:
        y = _row(plot, np.array([tick]), ticks[-1])[0]
        _stroke(image, np.array([[y, _LEFT], [y, _WIDTH - _RIGHT]]), _GRID, 1.0)
    columns = _columns(len(plot.numbers))
    for line in plot.lines:
        points = np.stack((_row(plot, line.values, ticks[-1]), columns), axis=1)
        _stroke(image, points, line.colour, 2.4)
    paper = image.reshape(_HEIGHT, _FINE, _WIDTH, _FINE, 3).mean(axis=(1, 3))
    _write_words(paper, plot, ticks, columns)
    return np.clip(np.rint(255.0 * paper), 0, 255).astype(np.uint8)


def _ticks(plot: Plot) -> list[float]:
    largest = max((float(np.nanmax(v)) for _, _, v in plot.lines if not np.isnan(v).all()), default=1.0)
    if plot.logarithmic:
        return [10.0**i for i in range(max(2, int(np.ceil(np.log10(max(largest, 10.0)))) + 1))]
    rough = max(largest, 1.0) / 4.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(f * power for f in (1.0, 2.0, 2.5, 5.0, 10.0) if f * power >= rough)
    return [i * step for i in range(int(np.ceil(max(largest, 1.0) / step)) + 1)]


def _columns(frames: int) -> np.ndarray:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (np.arange(frames) + 0.5) / max(frames, 1)


def _row(plot: Plot, values: np.ndarray, top: float) -> np.ndarray:
    """On a logarithmic axis nothing is where one is."""
    part = np.log(np.maximum(values, 1.0)) / np.log(top) if plot.logarithmic else values / top
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1.0 - part)


def _stroke(image: np.ndarray, points: np.ndarray, colour: tuple[float, float, float], width: float) -> None:
    """A line through points, (k, 2) rows and columns in pixels: a thin rectangle for each piece, a dot at each end."""
    good = np.isfinite(points[:, 0]) & np.isfinite(points[:, 1])
    pieces = np.flatnonzero(good[:-1] & good[1:])
    a, b = points[pieces], points[pieces + 1]
    along = (b - a) / np.maximum(np.linalg.norm(b - a, axis=1, keepdims=True), 1e-9)
    side = 0.5 * width * np.stack((-along[:, 1], along[:, 0]), axis=1)
    corners = np.stack((a - side, a + side, b + side, b - side), axis=1)
    angles = np.linspace(0.0, 2.0 * np.pi, 9)[:-1]
    ring = 0.5 * width * np.stack((np.sin(angles), np.cos(angles)), axis=1)
    dots = points[good][:, None] + ring
    _fill(image, corners, colour)
    _fill(image, dots, colour)


def _fill(image: np.ndarray, polygons: np.ndarray, colour: tuple[float, float, float]) -> None:
    """Convex polygons, (k, corners, 2)."""
    count, corners, _ = polygons.shape
    fan = np.array([(0, i, i + 1) for i in range(1, corners - 1)])
    faces = (corners * np.arange(count)[:, None, None] + fan).reshape(-1, 3).astype(np.int32)
    seen = np.concatenate((_FINE * polygons.reshape(-1, 2), np.zeros((count * corners, 1))), axis=1)
    depth = np.full(image.shape[:2], -1.0)
    rasterise(seen, faces, np.tile(np.array(colour), (len(seen), 1)), depth, image)


def _write_words(paper: np.ndarray, plot: Plot, ticks: list[float], columns: np.ndarray) -> None:
    _write(paper, plot.title, (8, _LEFT), _INK)
    at = _LEFT
    for line in plot.lines:
        paper[40:44, at : at + 18] = line.colour
        at = _write(paper, line.name, (32, at + 26), _SOFT) + 26
    for tick in ticks:
        words = "0, 1" if plot.logarithmic and tick == 1.0 else _short(tick)
        y = int(_row(plot, np.array([tick]), ticks[-1])[0])
        _write(paper, words, (y - 10, _LEFT - 12 - width_of(words, _CAPITAL)), _SOFT)
    every = max(1, -(-len(columns) // 16))
    for i in range(0, len(columns), every):
        words = str(plot.numbers[i])
        _write(paper, words, (_HEIGHT - _BOTTOM + 8, int(columns[i]) - width_of(words, _CAPITAL) // 2), _SOFT)


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def _write(paper: np.ndarray, text: str, corner: tuple[int, int], colour: tuple[float, float, float]) -> int:
    """The column where it ends."""
    ink = letters(text, _CAPITAL)
    put(paper, ink, corner, colour)
    return max(corner[1], 0) + ink.shape[1]
