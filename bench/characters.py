"""Paper 003, Table 1: skinning and detection of articulated characters; on-demand hashing against full rehashing."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import pliant
from bench.inputs import data_folder
from bench.measure import Options, Report
from pliant.characters.body.bodies import body_of
from pliant.characters.body.body import Body
from pliant.characters.body.obstacles import Obstacle
from pliant.characters.detection.on_demand import UPDATES, CollisionDetector
from pliant.characters.playing import Frame, play
from pliant.characters.rig.rig import Character
from pliant.io.gltf.characters import load

RATE = 60.0
# Of the paper: milliseconds of full hashing and of on-demand hashing.
PAPER = {
    "human": (5.593, 3.93),
    "arm": (2.53, 1.702),
    "arm_with_body": (3.10, 2.52),
    "leg": (2.47, 1.7),
    "horse": (3.35, 2.1),
}
REAL = {"Quaternius_Horse": ("Walk", "Gallop", "Attack_Kick"), "CesiumMan": (None,), "Fox": ("Walk", "Run", "Survey")}
HOW: dict[str, dict[str, Any]] = {
    "response": {},
    "no response": {"collisions": False},
    "blended": {"skinning": "linear"},
}
_LONGEST = 1.5  # seconds of a clip that are played


class Role(NamedTuple):
    """A character that clips are played with."""

    name: str
    character: Character
    body: Body
    obstacles: tuple[Any, ...]


class Played(NamedTuple):
    """A clip of a character."""

    name: str
    clip: str
    character: Character
    body: Body
    obstacles: tuple[Any, ...]
    runs: dict[str, list[Frame]]  # by the names of HOW
    cpu: float  # milliseconds of a frame with response, of all threads together: less depends on who else is there

    @property
    def frames(self) -> list[Frame]:
        return self.runs["response"]

    @property
    def rigid(self) -> list[Obstacle]:
        return [Obstacle(o.volume, o.rest) for o in self.obstacles]

    @property
    def edge(self) -> float:
        """Mean length of an edge of the body in the world: joints of files scale."""
        ends = self.body.rest[self.body.volume.edges]
        return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean()) * self.growth ** (1.0 / 3.0)

    @property
    def growth(self) -> float:
        """By what factor joints scale volumes."""
        return abs(float(np.mean(np.linalg.det(self.character.transforms(self.clip, 0.0)[:, :3, :3]))))


def characters(options: Options) -> None:
    _warm_up(options)
    played = list(_play_all(options))
    _table_1(played, options)
    _recall(played, options)
    _response(played, options)


def _warm_up(options: Options) -> None:
    scene = pliant.scenes.load_character("arm_with_body")
    for update in UPDATES:
        for _ in play(
            scene.character, "bend", body=scene.body, obstacles=(scene.obstacle,), update=update, rate=10.0,
            seconds=0.6, threads=options.threads,
        ):  # fmt: skip
            pass


def cast() -> Iterator[Role]:
    """The embedded scenes, and the real characters where they and what makes bodies of them can be found."""
    for name in pliant.scenes.character_names():
        scene = pliant.scenes.load_character(name)
        yield Role(name, scene.character, scene.body, () if scene.obstacle is None else (scene.obstacle,))
    folder = data_folder()
    if folder is None:
        return
    for name in REAL:
        character = load(folder / "characters" / f"{name}.glb")
        try:
            yield Role(name, character, body_of(character), ())
        except ModuleNotFoundError as missing:
            print(f"{name} is left out: {missing}")


def _play_all(options: Options) -> Iterator[Played]:
    for role in cast():
        for clip in REAL.get(role.name, role.character.clips):
            yield _play(role, clip or next(iter(role.character.clips)), options)


def _play(role: Role, clip: str, options: Options) -> Played:
    name, character, body, obstacles = role
    seconds = min(_LONGEST, character.clip(clip).duration)
    common = {"body": body, "obstacles": obstacles, "rate": RATE, "seconds": seconds, "threads": options.threads}
    ticks: list[float] = []

    def timed(frame: Frame) -> Frame:
        ticks.append(time.process_time())
        return frame

    runs = {how: [timed(f) for f in play(character, clip, **common, **choice)] for how, choice in HOW.items()}
    cpu = 1e3 * float(np.median(np.diff(ticks[: len(runs["response"])])))
    return Played(name, clip, character, body, obstacles, runs, cpu)


def _table_1(played: list[Played], options: Options) -> None:
    report = Report(
        "characters",
        f"Paper 003, Table 1: milliseconds of a frame, {options.threads} threads, median over the clip; whole step: "
        "skinning, solver (12 iterations) and all of its detections, safe; CPU: of all threads;\n"
        "detection alone: once a frame of flesh "
        f"without response, interleaved, best of {options.repeats} rounds, and full rehashing over it "
        "(in brackets: in the paper);\npairs: of a vertex and a cell in the frames of all three skinnings, with the "
        "hash of what full and safe both find",
        "scene, clip, vertices, tetrahedra, bones, skinning, solver, detection, total, fps, CPU, full, safe, angles, "
        "full/safe, full/angles, pairs, hash",
        options.save,
    )
    for one in played:
        parts = np.median([(f.skinning_ms, f.solver_ms, f.detection_ms) for f in one.frames[1:]], axis=0)
        best, found = _detect(one, options)
        pairs = f"{sum(map(len, found)):,}"
        published = f" ({PAPER[one.name][0] / PAPER[one.name][1]:.2f})" if one.name in PAPER else ""
        sizes = len(one.character.rest), len(one.body.volume.types), len(one.character.skeleton.joints)
        report.add(
            one.name, one.clip.rpartition("|")[2], *(f"{s:,}" for s in sizes), *(f"{p:.2f}" for p in parts),
            f"{parts.sum():.2f}", f"{1e3 / parts.sum():.0f}", f"{one.cpu:.2f}",
            *(f"{best[u]:.3f}" for u in ("full", "safe", "angles")),
            f"{best['full'] / best['safe']:.2f}{published}", f"{best['full'] / best['angles']:.2f}",
            pairs, _hash(found), scene=one.name, clip=one.clip, milliseconds=parts.tolist(), cpu=one.cpu,
            detection=best, hash=_hash(found),
        )  # fmt: skip
    report.show()


def _detect(one: Played, options: Options) -> tuple[dict[str, float], list[np.ndarray]]:
    """Milliseconds of a frame without response, and what is found in all frames of all runs."""
    best = _find_all(one, "no response", options)[0]
    for _ in range(options.repeats - 1):
        again = _find_all(one, "no response", options)[0]
        best = {u: min(best[u], again[u]) for u in UPDATES}
    found: list[np.ndarray] = []
    for how in HOW:
        answers = _find_all(one, how, options)[1]
        if not all(np.array_equal(a, b) for a, b in zip(answers["full"], answers["safe"], strict=True)):
            raise SystemExit(f"{one.name} {one.clip}, {how}: safe differs from full")
        found += answers["full"]
    return best, found


def _find_all(one: Played, how: str, options: Options) -> tuple[dict[str, float], dict[str, list[np.ndarray]]]:
    """Milliseconds of a frame, and what is found in each. In each frame all have their turn, another one first."""
    detectors = {
        u: CollisionDetector(one.body, one.character.skeleton, update=u, obstacles=one.rigid, threads=options.threads)
        for u in UPDATES
    }
    spent, found = dict.fromkeys(UPDATES, 0.0), {u: [] for u in UPDATES}
    for i, (frame, (transforms, moved)) in enumerate(zip(one.runs[how], _inputs(one), strict=True)):
        for j in range(len(UPDATES)):
            u = UPDATES[(i + j) % len(UPDATES)]
            clock = time.perf_counter()
            found[u].append(detectors[u].find(frame.x, transforms, moved))
            spent[u] += time.perf_counter() - clock if i else 0.0  # the first looks at everything
    return {u: 1e3 * seconds / max(1, len(one.frames) - 1) for u, seconds in spent.items()}, found


def _inputs(one: Played) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
    for frame in one.frames:
        moved = np.stack([o.transform(frame.time) for o in one.obstacles]) if one.obstacles else None
        yield one.character.transforms(one.clip, frame.time), moved


def _hash(found: list[np.ndarray]) -> str:
    sha = hashlib.sha256()
    for pairs in found:
        sha.update(len(pairs).to_bytes(8, "little") + pairs.tobytes())
    return sha.hexdigest()[:6]


def _recall(played: list[Played], options: Options) -> None:
    """On flesh without response, which is what the paper has: with it, little is left to be found."""
    report = Report(
        "characters",
        "What joint angles alone find (tolerance 120 degrees), of all pairs of a vertex and a cell over a clip, and "
        "how much of what they report is true;\nframes whose collisions they all miss",
        "scene, clip, blended: pairs, recall, precision, blind frames, flesh: pairs, recall, precision, blind frames",
        options.save,
    )
    for one in played:
        cells: list[str] = []
        record: dict[str, Any] = {}
        for how in ("blended", "no response"):
            record[how] = _found_by_angles(one, how, options)
            cells += as_cells(*record[how])
        report.add(one.name, one.clip.rpartition("|")[2], *cells, scene=one.name, clip=one.clip, **record)
    report.show()


def _found_by_angles(one: Played, how: str, options: Options) -> tuple[int, int, int, int]:
    """Pairs in all, found, reported, and frames in which all are missed."""
    detector = CollisionDetector(
        one.body, one.character.skeleton, update="angles", obstacles=one.rigid, threads=options.threads
    )
    count, hit, reported, blind = 0, 0, 0, 0
    for frame, (transforms, moved) in zip(one.runs[how], _inputs(one), strict=True):
        true = set(zip(frame.penetrations.vertices.tolist(), frame.penetrations.cells.tolist()))
        found = {tuple(pair) for pair in detector.find(frame.x, transforms, moved).tolist()}
        count, hit, reported = count + len(true), hit + len(true & found), reported + len(found)
        blind += bool(true) and not true & found
    return count, hit, reported, blind


def as_cells(count: int, hit: int, reported: int, blind: int) -> list[str]:
    recall = f"{hit / count:.1%}" if count else "-"
    precision = f"{hit / reported:.1%}" if reported else "-"
    return [f"{count:,}", recall, precision, str(blind)]


def _response(played: list[Played], options: Options) -> None:
    report = Report(
        "characters",
        "Response: the deepest penetration of a clip in mean lengths of edges (the elbow of arm bends by 120 degrees, "
        "the knee of leg by 130), frames that have any;\nand how much the volume of the body drifts, at most",
        "scene, clip, blended: deepest, frames, no response: deepest, frames, response: deepest, frames, volume drift, "
        "blended",
        options.save,
    )
    for one in played:
        depth = {name: max(f.penetrations.deepest for f in run) / one.edge for name, run in one.runs.items()}
        count = {name: sum(len(f.penetrations) > 0 for f in run) for name, run in one.runs.items()}
        drift = {name: _drift(one, run) for name, run in one.runs.items()}
        cells = [c for name in ("blended", "no response", "response") for c in (f"{depth[name]:.3f}", str(count[name]))]
        report.add(
            one.name, one.clip.rpartition("|")[2], *cells, f"{drift['response']:.2%}", f"{drift['blended']:.2%}",
            scene=one.name, clip=one.clip, deepest=depth, frames=count, drift=drift,
        )  # fmt: skip
    report.show()


def _drift(one: Played, frames: list[Frame]) -> float:
    """How far the volume gets from that at rest, as a share of it."""
    cells = one.body.volume.cells["tetra"]

    def volume(x: np.ndarray) -> float:
        a, b, c, d = (x[cells[:, i]] for i in range(4))
        return float(np.einsum("ij,ij->", np.cross(b - a, c - a), d - a)) / 6.0

    rest = abs(volume(one.body.rest)) * one.growth
    return max(abs(abs(volume(frame.x)) / rest - 1.0) for frame in frames)
