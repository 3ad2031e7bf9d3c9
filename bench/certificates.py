"""What certificates cost: to find reasons, to check them, and their size; contacts of real motions, each decided."""

from __future__ import annotations

import json
import time

import numpy as np

import pliant
from bench.inputs import REAL, Motion, real_motions
from bench.measure import Options, Report, seconds

SCENES = ("passing_sheets", "crumpled_sheet", "twisting", "falling")
SIZES = (200, 500, 1_000, 2_000)
SAMPLE = 20


def certificates(options: Options) -> None:
    report = Report(
        "certificates",
        "Certificates, CPU seconds of one thread. With reasons: all pairs are proved. Without (published motions): all "
        f"contacts are decided, and all pairs of {SAMPLE} vertices and {SAMPLE} edges",
        "scene, triangles, contacts, ccd, written, verified, MB, directions, pairs decided",
        options.save,
    )
    for name in SCENES:
        for size in SIZES:
            if size <= (options.triangles or size):
                scene = pliant.scenes.load(name, triangles=size, frames=10)
                row(Motion(name, scene.faces, scene.frames[5], scene.frames[6]), True, report)
    for motion in real_motions(*REAL):
        if len(motion.faces) <= (options.triangles or len(motion.faces)):
            row(motion, False, report)
    report.show()


def row(motion: Motion, reasons: bool, report: Report) -> None:
    mesh, x = pliant.TriMesh(motion.faces), (motion.x0, motion.x1)
    clocks = [time.process_time()]
    contacts = pliant.ccd(mesh, *x, threads=1)
    clocks.append(time.process_time())
    certificate = pliant.certify(contacts, mesh, *x, reasons=reasons)
    clocks.append(time.process_time())
    content = certificate.as_bytes()
    verdict = pliant.verify(json.loads(content), mesh, *x, sample=SAMPLE, seed=0)
    clocks.append(time.process_time())
    took = np.diff(clocks).tolist()
    report.add(
        motion.name, f"{len(motion.faces):,}", f"{verdict.contacts:,}", *map(seconds, took),
        f"{len(content) / 1e6:.2f}", f"{verdict.directions:,}", f"{verdict.decided:,}",
        scene=motion.name, seconds=took, bytes=len(content), **verdict._asdict(),
    )  # fmt: skip
