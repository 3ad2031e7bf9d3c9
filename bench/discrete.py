"""Intersecting triangles at rest: pliant and its peers on the same mesh, in the same process, one after the other."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

import pliant
from bench.fingerprints import fingerprint
from bench.inputs import Still, curled_sheet, torus_chain
from bench.measure import Options, Report, Timed, interleaved, seconds

ROUNDS = 10  # at least: these are short


class MeshLib:
    """Works with numbers of 32 bits, on all cores; its tree is built within the time, unless it is said to be kept."""

    module, only_once = "meshlib.mrmeshpy", False

    def __init__(self, scene: Still) -> None:
        import meshlib.mrmeshnumpy
        import meshlib.mrmeshpy

        self._mesh = meshlib.mrmeshnumpy.meshFromFacesVerts(scene.faces.astype(np.int32), scene.x)
        if self._mesh.topology.numValidFaces() != len(scene.faces):
            raise SystemExit(f"{scene.name}: MeshLib leaves out faces")
        self._mesh_part = meshlib.mrmeshpy.MeshPart(self._mesh)
        self._find = meshlib.mrmeshpy.findSelfCollidingTriangles

    def jobs(self) -> dict[str, Callable[[], Any]]:
        return {"MeshLib": self._from_scratch, "MeshLib, tree kept": self._again}

    def _from_scratch(self) -> Any:
        self._mesh.invalidateCaches()
        return self._again()

    def _again(self) -> Any:
        return self._find(self._mesh_part, touchIsIntersection=True)

    @staticmethod
    def pairs(found: Any) -> np.ndarray:
        return np.array([(pair.aFace.get(), pair.bFace.get()) for pair in found], np.int64).reshape(-1, 2)


class Open3D:
    """Looks at every pair of triangles, so once is enough."""

    module, only_once = "open3d", True

    def __init__(self, scene: Still) -> None:
        import open3d

        vertices, faces = open3d.utility.Vector3dVector(scene.x), open3d.utility.Vector3iVector(scene.faces)
        self._mesh = open3d.geometry.TriangleMesh(vertices, faces)

    def jobs(self) -> dict[str, Callable[[], Any]]:
        return {"Open3D": self._mesh.get_self_intersecting_triangles}

    @staticmethod
    def pairs(found: Any) -> np.ndarray:
        return np.asarray(found, np.int64).reshape(-1, 2)


PEERS = (MeshLib, Open3D)


def discrete(options: Options) -> None:
    rounds = max(ROUNDS, options.repeats)
    report = Report(
        "discrete",
        f"Pairs of intersecting triangles, seconds, best of {rounds} interleaved (Open3D: one run), pliant "
        f"with {options.threads} threads.\nRatios are of pliant's time to the peer's, the hierarchy built within the "
        "time, or kept by both; then the pairs that only one of them\nreports, and how many of those have a common "
        "vertex",
        "scene, what, seconds, ratio, pairs, only the peer, with a vertex, only pliant, with a vertex, hash",
        options.save,
    )
    peers = [peer for peer in PEERS if _is_there(peer)]
    for scene in (curled_sheet(), torus_chain()):
        _compare(scene, peers, rounds, options.threads, report)
    report.show()


def _is_there(peer: type) -> bool:
    try:
        importlib.import_module(peer.module)
    except (ImportError, OSError) as error:  # not installed, or without a library of the system that it needs
        print(f"{peer.__name__} is left out: {error}")
        return False
    return True


def _compare(scene: Still, peers: list[type], rounds: int, threads: int, report: Report) -> None:
    mesh = pliant.TriMesh(scene.faces)
    kept = pliant.Detector(mesh, threads=threads)
    jobs: dict[str, Callable[[], Any]] = {
        "pliant dcd": lambda: pliant.dcd(mesh, scene.x, threads=threads),
        "pliant dcd, cones": lambda: pliant.dcd(mesh, scene.x, tuning=pliant.Tuning(culling="cones"), threads=threads),
        "pliant Detector": lambda: kept.intersections(scene.x),
    }
    kept.intersections(scene.x)  # the tree is there
    ready = [peer(scene) for peer in peers]
    often = {name: job for peer in ready if not peer.only_once for name, job in peer.jobs().items()}
    once = {name: job for peer in ready if peer.only_once for name, job in peer.jobs().items()}
    timed = interleaved(jobs | often, rounds) | interleaved(once, 1)
    truth = timed["pliant dcd"].result
    for name in jobs:
        if fingerprint(timed[name].result) != fingerprint(truth):
            raise SystemExit(f"{scene.name}: {name} and pliant dcd differ")
        report.add(
            scene.name, name, seconds(timed[name].best), "", f"{len(truth):,}", "", "", "", "", fingerprint(truth),
            scene=scene.name, what=name, threads=threads, seconds=timed[name].best, hash=fingerprint(truth),
        )  # fmt: skip
    for peer in ready:
        for name in peer.jobs():
            ours = timed["pliant Detector" if "kept" in name else "pliant dcd"].best
            _peer_row(scene, name, timed[name], peer.pairs(timed[name].result), ours, truth.faces, report)


def _peer_row(
    scene: Still, name: str, timed: Timed, pairs: np.ndarray, ours: float, truth: np.ndarray, report: Report
) -> None:
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    only_theirs, only_ours = _without(pairs, truth), _without(truth, pairs)
    near = [_neighbours(scene.faces, only) for only in (only_theirs, only_ours)]
    report.add(
        scene.name, name, seconds(timed.best), f"{ours / timed.best:.3f}", f"{len(pairs):,}", f"{len(only_theirs):,}",
        f"{near[0]:,}", f"{len(only_ours):,}", f"{near[1]:,}", "", scene=scene.name, what=name, seconds=timed.best,
        ratio=ours / timed.best, pairs=len(pairs), only_peer=len(only_theirs), only_pliant=len(only_ours),
    )  # fmt: skip


def _without(pairs: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Rows (k, 2) of one array that the other one does not have."""
    return pairs[~np.isin(_keys(pairs), _keys(others))]


def _keys(pairs: np.ndarray) -> np.ndarray:
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1].astype(np.int64)


def _neighbours(faces: np.ndarray, pairs: np.ndarray) -> int:
    """How many pairs of faces have a vertex in common."""
    a, b = faces[pairs[:, 0]], faces[pairs[:, 1]]
    return int((a[:, :, None] == b[:, None, :]).any(axis=(1, 2)).sum())
