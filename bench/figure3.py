"""Figure 3 of paper 004: the bullet with contact of all features and of those on the boundary alone, side by side."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

import pliant
from bench.measure import Options, Report
from pliant.elementary.inversion import inverted
from pliant.mesh.volumes import VolumeMesh
from pliant.report.picture import Shape, View, draw, png
from pliant.runtime.arrays import MeshError
from pliant.simulate.frames import Frame
from pliant.simulate.solid import Solid
from pliant.simulated.solid_plan import SolidSetup

_EVERY = 8  # steps of which one is examined by fresh queries
_SIZE = 640, 400
_COLOURS = np.array([(0.62, 0.66, 0.72), (0.80, 0.50, 0.26)])  # steel, copper


class Ended(NamedTuple):
    """Where a run ends: cells, positions, and the solid at the start that each vertex is of."""

    cells: VolumeMesh
    x: np.ndarray
    solid: np.ndarray


@dataclass
class Seen:
    """What fresh queries of all features found in the steps that they examined: contacts and inverted cells, and how
    many of these steps have any."""

    solid: Solid
    steps: int = 0
    examined: int = 0
    contacts: int = 0
    with_contacts: int = 0
    inverted: int = 0
    intersections: int = 0
    detection: float = field(default=0.0)
    clock: float = field(default=0.0)

    def __call__(self, before: np.ndarray, frame: Frame) -> None:
        if frame.times is None:
            return
        self.steps += 1
        self.detection += frame.times.resolve
        self.clock += sum(frame.times)
        if self.steps % _EVERY:
            return
        mesh, n = self.solid.cells, self.solid.vertex_count
        pairs, x = self.solid.fresh.pairs, np.ascontiguousarray(frame.scene[:n])
        found = pliant.ccd(mesh, np.ascontiguousarray(before[:n]), x)
        unseen, surface = int((~pairs.among(found)).sum()), mesh.surface()
        crossed = pliant.check(surface, x)
        self.examined += 1
        self.contacts += unseen
        self.with_contacts += unseen > 0
        self.inverted = max(self.inverted, len(inverted(mesh, x)))
        self.intersections = max(self.intersections, int((~pairs.among_intersections(crossed, surface.faces)).sum()))


def figure3(options: Options) -> None:
    """The bullet, resolved and with impact forces, all features and the boundary alone."""
    setup = pliant.simulated.setup("bullet", options.triangles or 12_000)
    assert isinstance(setup, SolidSetup)
    report = Report(
        "figure3", f"Bullet, {setup.cell_count:,} hexahedra: what contact inside is good for",
        "contact, among, steps, depth mm, m/s left, eroded, split, inverted, contacts unseen, steps with any, "
        "intersections, detection %, CPU ms a step",
        options.save,
    )  # fmt: skip
    pictures = []
    for contact in ("resolve", "penalty"):
        if options.only and contact not in options.only:
            continue
        for interior in (True, False):
            ended = _line(report, setup, (contact, interior), options)
            if ended is not None and contact == "resolve":
                pictures.append(_picture(ended))
    report.show()
    if pictures:
        path = options.out or Path("figure3.png")
        path.write_bytes(png(np.concatenate(pictures, axis=1)))
        print(f"{path}: with all features, and with the boundary alone")


def _line(report: Report, setup: SolidSetup, how: tuple[str, bool], options: Options) -> Ended | None:
    contact, interior = how
    one = replace(setup, options={**setup.options, "contact": contact, "interior": interior})
    solid = one.begin(threads=options.threads)
    assert isinstance(solid, Solid)
    seen, clock, stopped = Seen(solid), process_time(), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that cells are inverted, which is counted
            for _ in solid.frames((options.frames or setup.frames) - 1, setup.rate, watch=seen):
                pass
    except MeshError as error:
        stopped = f" (stopped at {1e6 * solid.time:.1f} us: {error})"
    frame = solid.frame()
    cpu = (process_time() - clock) / max(seen.steps, 1)
    plate = setup.cloths[0][1]
    parent = np.arange(len(frame.positions)) if frame.parent is None else frame.parent[: len(frame.positions)]
    of_bullet = (parent >= plate) & np.isin(np.arange(len(parent)), solid.cells.vertices)
    depth = -1e3 * frame.positions[of_bullet, 2].min(initial=0.0)
    mass = solid.mass[of_bullet]
    left = float(-(mass @ frame.velocities[of_bullet, 2]) / max(mass.sum(), 1e-300))
    names = "all features" if interior else "boundary"
    values = {
        "steps": seen.steps, "depth": depth, "speed": left, "eroded": solid.changes.eroded,
        "copies": solid.changes.copies, "inverted": seen.inverted, "contacts": seen.contacts,
        "with_contacts": f"{seen.with_contacts} of {seen.examined}", "intersections": seen.intersections,
        "detection": 100.0 * seen.detection / max(seen.clock, 1e-300), "cpu_ms": 1e3 * cpu,
    }  # fmt: skip
    shown = [f"{value:.1f}" if isinstance(value, float) else str(value) for value in values.values()]
    report.add(contact, names + stopped, *shown, contact=contact, interior=interior, **values)
    print(contact, names + stopped, *shown, flush=True)
    return Ended(solid.cells, np.array(frame.positions), (parent >= plate).astype(int))


def _picture(ended: Ended) -> np.ndarray:
    """The half behind the axis, from the side."""
    corners = ended.cells.cells["hexahedron"]
    behind = np.asarray(corners)[ended.x[corners, 1].mean(axis=1) > 0.0]
    faces = VolumeMesh({"hexahedron": behind}).surface().faces
    x = ended.x @ np.array([(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)])  # z up, seen along y
    view = View(turn=0.0, tilt=0.25, centre=(0.0, -0.006, 0.0), span=(0.036, 0.03))
    return draw([Shape(x, faces, _COLOURS[ended.solid])], view, _SIZE)
