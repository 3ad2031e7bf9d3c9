"""Small pictures of sequences and scans, for notebooks."""

from __future__ import annotations

import base64

import numpy as np

from pliant.frames.scanning import Scan, ScannedFrame
from pliant.frames.sequence import Sequence
from pliant.mesh.triangles import TriMesh
from pliant.report.picture import Shape, View, draw, png
from pliant.results.notebooks import BLUE, RED, card, columns
from pliant.runtime.arrays import MeshError
from pliant.runtime.tally import Stage, Tally

_SIZE = 240, 180  # pixels
_MOST_FACES = 400_000  # whose picture takes about a second
_VIEW = View(turn=0.6, tilt=0.35)


def thumbnail(faces: np.ndarray, x: np.ndarray, colliding: np.ndarray | None = None) -> str:
    """An <img> of a mesh (m, 3) at positions (n, 3), with the faces red that a mask (m,) names.

    Empty where there is nothing to see, or too much for a picture in passing.
    """
    if not 0 < len(faces) <= _MOST_FACES:
        return ""
    marked = None
    if colliding is not None:
        marked = np.zeros(len(x), bool)
        marked[faces[colliding]] = True
    seen = x[np.unique(faces)]
    if np.ptp(seen, axis=0).max() == 0.0:
        return ""
    picture = png(draw([Shape(x, faces, marked=marked)], _VIEW.around(seen), _SIZE))
    data = base64.b64encode(picture).decode()
    return f'<img width="{_SIZE[0]}" height="{_SIZE[1]}" alt="the mesh" src="data:image/png;base64,{data}">'


def sequence_card(sequence: Sequence) -> str:
    """The first frame and the sizes."""
    numbers: list[tuple[str, object]] = [("triangles", len(sequence.faces)), ("frames", len(sequence))]
    if len(sequence):
        numbers.append(("times", f"{sequence.times[0]:.4g} to {sequence.times[-1]:.4g}"))
    picture = ""
    try:
        if len(sequence):
            first = sequence[0]
            numbers.insert(1, ("vertices", len(first)))
            picture = thumbnail(sequence.faces, first)
    except (MeshError, OSError) as error:  # a card is shown in passing: it says what is wrong and raises nothing
        numbers.append(("frame 0", str(error)))
    return card(f"Sequence {sequence.name}", numbers, picture)


def scan_card(scan: Scan) -> str:
    """The worst frame with what collides in it, columns of counts over the frames, and the funnel of all."""
    contacts, crossings = scan.contact_counts, scan.intersection_counts
    numbers: list[tuple[str, object]] = [("frames", len(scan)), ("contacts", int(contacts.sum()))]
    numbers += [("intersections", int(crossings.sum())), ("seconds", f"{scan.seconds:.3g}")]
    picture = columns([contacts, crossings], (RED, BLUE), "contacts (red) and intersections (blue), frame by frame")
    if scan:
        worst = scan.frames[int(np.argmax(contacts + crossings))]
        numbers.append(("worst frame", worst.number))
        try:
            picture = _colliding_picture(scan.sequence, worst) + picture
        except (MeshError, OSError) as error:
            numbers.append((f"frame {worst.number}", str(error)))
    return card(f"Scan of {scan.sequence.name}", numbers, picture, _stages(scan))


def _colliding_picture(sequence: Sequence, frame: ScannedFrame) -> str:
    mesh = TriMesh(sequence.faces)
    colliding = np.zeros(len(mesh.faces), bool)
    for table in (frame.contacts, frame.intersections):
        if table is not None:
            colliding |= table.face_counts(mesh) > 0
    return thumbnail(mesh.faces, sequence[frame.place], colliding)


def _stages(scan: Scan) -> tuple[Stage, ...]:
    """Of the contacts, summed over the frames."""
    tally = Tally()
    for frame in scan.frames:
        for stage in () if frame.contacts is None else frame.contacts.stages:
            tally.add(*stage)
    return tally.stages()
