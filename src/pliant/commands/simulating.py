"""What `pliant simulate` does: finds out what is to be simulated, runs it, says and writes what came out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant
from pliant.commands import writing
from pliant.commands.running import Run, fault
from pliant.frames.changing import ChangingSequence, scan_as_one
from pliant.frames.scanning import scan
from pliant.frames.sequence import Sequence
from pliant.report.outputs import Result, number_or_none
from pliant.report.tables import count
from pliant.runtime.arrays import MeshError, as_number
from pliant.runtime.terminal import complain
from pliant.simulate.settings import ADAPTIVE, STEPS, Settings
from pliant.simulated.built_in import setup as setup_of
from pliant.simulated.cache import keep, place_of, read_kept
from pliant.simulated.draping import draped
from pliant.simulated.dropping import dropped
from pliant.simulated.plan import Setup
from pliant.simulated.recording import Recording, Row
from pliant.simulated.scene_file import read_scene
from pliant.simulated.solid_plan import SolidSetup
from pliant.simulated.starts import require_free_start

DRAPE = "drape"


class Asked(NamedTuple):
    """Sizes that the user gave; None where they are those of the scene."""

    frames: int | None
    seconds: float | None
    rate: float | None
    step: float | str | None
    triangles: int | None
    seed: int


class How(NamedTuple):
    """How it is run."""

    verify: bool
    save: Path | None
    restore: Path | None
    culling: str
    cache: bool


class Chosen(NamedTuple):
    """What is to be simulated."""

    setup: Setup
    output: Path | None = None
    with_obstacles: bool = False
    is_built_in: bool = False


class Done(NamedTuple):
    """What was simulated: frames with obstacles and without, rows, seconds of the clock."""

    setup: Setup
    sequence: Sequence | ChangingSequence
    alone: Sequence | ChangingSequence
    rows: list[Row]
    seconds: float
    verified: int = 0
    interrupted: bool = False
    cached: bool = False

    @property
    def steps(self) -> int:
        return sum(row.steps for row in self.rows)


def step_of(text: str | None) -> float | str | None:
    """The longest time step from the words of the command line."""
    if text is None or text == ADAPTIVE:
        return text
    try:
        return as_number(float(text), "step", *STEPS)
    except (ValueError, MeshError):
        raise fault(f"--step {text}: must be seconds, {STEPS[0]:g} to {STEPS[1]:g}, or the word {ADAPTIVE}") from None


def choose(run: Run, what: list[str], cells: list[Path], given: dict[str, Any], asked: Asked) -> Chosen:
    """From the words of the command line."""
    if cells or what[:1] == [DRAPE]:
        if asked.triangles is not None:
            raise fault("--triangles is for built-in scenes: a mesh has as many as it has")
        if cells and what:
            raise fault(f"{what[0]!r}: --cells is a scene by itself")
        return Chosen(_sized(_falling([Path(file) for file in what[1:]], cells, given, asked), asked))
    if not what:
        raise fault("name a scene, or what falls: drape shirt.obj, --cells part.msh")
    first, *others = what
    named = [key for key, value in given.items() if value is not None]
    if others:
        raise fault(f"{others[0]!r}: one scene at a time; meshes of cloth come after the word drape")
    if named:
        raise fault(f"--{named[0]} is for drape and --cells; a scene file has it in its tables")
    if Path(first).suffix.lower() == ".toml":
        if asked.triangles is not None or asked.seed:
            raise fault("--triangles and --seed are for built-in scenes")
        scene = read_scene(first)
        run.reads(scene.files)
        return Chosen(_sized(scene.setup, asked), scene.output, scene.with_obstacles)
    if Path(first).exists() or Path(first).suffix:
        raise fault(f"{first}: is no scene file, which ends in .toml; meshes of cloth come after the word drape")
    return Chosen(_sized(setup_of(first, asked.triangles, asked.seed), asked), is_built_in=True)


def _falling(cloths: list[Path], solids: list[Path], given: dict[str, Any], asked: Asked) -> Setup:
    """Cloth or solids, onto what is named."""
    if not cloths and not solids:
        raise fault("name the cloth: pliant simulate drape shirt.obj --on body.obj")
    pins = given.pop("pins")
    options = {key: value for key, value in given.items() if value is not None and key != "on"}
    if asked.rate is not None:
        options["rate"] = asked.rate
    if solids:
        return dropped(solids, given["on"] or [], pins=_ids(pins), **options)
    return draped(cloths, given["on"] or [], pins=_ids(pins), **options)


def _ids(text: str | None) -> list[int]:
    try:
        return [int(word) for word in text.split(",")] if text else []
    except ValueError:
        raise fault(f"--pins {text}: must be vertex ids, such as 0,40") from None


def _sized(setup: Setup, asked: Asked) -> Setup:
    from dataclasses import replace

    rate = setup.rate if asked.rate is None else asked.rate
    frames = setup.frames if asked.frames is None else asked.frames
    if asked.seconds is not None:
        frames = 1 + max(1, round(rate * asked.seconds))
    options = dict(setup.options)
    if asked.step is not None:
        options["settings"] = replace(options.get("settings") or Settings(), step=asked.step)
    return replace(setup, frames=frames, rate=rate, options=options)


def done(run: Run, chosen: Chosen, how: How) -> Done:
    """Simulate it; Ctrl-C leaves what is done."""
    setup = chosen.setup
    place = place_of(setup) if how.cache and chosen.is_built_in else None
    kept = None if place is None else read_kept(place, setup.frames)
    if kept is not None:
        run.say(_title(setup))
        run.say("From disk: simulated before; --no-cache does it again.", style="dim")
        return Done(setup, kept.sequence, setup.without_obstacles(kept.sequence), kept.rows, kept.seconds, cached=True)
    recording = Recording(setup, tuning=pliant.Tuning(culling=how.culling), threads=run.threads)
    if how.restore is not None:
        recording.simulation.restore(how.restore)
    run.say(_title(setup))
    interrupted = False
    require_free_start(setup, recording.simulation, run.threads)
    with run.bar("Frames") as progress:
        try:
            recording.run(setup.frames, setup.rate, verify=how.verify, progress=progress)
        except KeyboardInterrupt:
            if len(recording.rows) < 2:
                raise
            interrupted = True
    if interrupted:
        complain(f"interrupted: {len(recording.rows)} of {count(setup.frames, 'frame')} are done, and kept")
    elif place is not None:
        keep(place, recording)
    if how.save is not None:
        recording.simulation.save(how.save)
        run.wrote(how.save)
    whole = recording.sequence()
    alone = setup.without_obstacles(whole)
    return Done(setup, whole, alone, recording.rows, recording.seconds, recording.verified, interrupted)


def _title(setup: Setup) -> str:
    driven = sum(len(one.mesh.faces) for one in setup.listed_obstacles)
    sizes = f"{setup.sized}, {driven:,} of obstacles"
    return f"{setup.name}: {sizes}, {count(setup.frames, 'frame')} at {setup.rate:g} per second"


def summary(made: Done) -> str:
    """One line: how many steps, each of which is proven; what they did to the cloth; how long they took."""
    stretch = max((row.stretch for row in made.rows), default=1.0) - 1.0
    lag = max((row.lag for row in made.rows), default=0.0)
    proof = "each proven free of contact" + (" and inverted cells" if isinstance(made.setup, SolidSetup) else "")
    proof += ", and tested by fresh queries" if made.verified else ""
    each = f", {made.seconds / made.steps:.3f} s a step" if made.steps else ""
    waited = f"{lag:.3g} {made.setup.settings.units}" if lag else "0"
    return (
        f"{count(made.steps, 'step')}, {proof}; worst stretch {100 * stretch:.0f} %; lag {waited}. "
        f"{made.seconds:.1f} s{each}."
    )


def write_frames(run: Run, path: Path, made: Done, with_obstacles: bool) -> None:
    writing.write_sequence(run, path, made.sequence if with_obstacles else made.alone)


def write_pictures(run: Run, made: Done, report: Path | None, png: Path | None, up: str, words: str) -> None:
    """The page and the sheet of all frames: intersections in them, since the way from one to the next may be several
    time steps, and a straight line between its ends is not what was proven."""
    made_of = made.sequence
    if isinstance(made_of, ChangingSequence):
        found = scan_as_one(made_of, threads=run.threads)
    else:
        found = scan(made_of, find="intersections", threads=run.threads)
    if report is not None:
        options: dict[str, object] = {"simulated": words, "steps": f"{made.steps:,}", "find": "intersections in frames"}
        writing.write_report(run, report, found, {"up": up}, options)
    if png is not None:
        writing.write_sheet(run, png, found, {"up": up})


def result_of(made: Done) -> Result:
    rows = [
        {key: number_or_none(value) if isinstance(value, float) else value for key, value in row._asdict().items()}
        for row in made.rows
    ]
    head: dict[str, Any] = {
        "scene": made.setup.name, "triangles": len(made.setup.faces), "vertices": len(made.alone[0]),
        "obstacle_triangles": sum(len(one.mesh.faces) for one in made.setup.listed_obstacles), "steps": made.steps,
        "inverted": max(row.inverted for row in made.rows),
        "stretch": float(np.max([row.stretch for row in made.rows])), "lag": max(row.lag for row in made.rows),
        "verified": made.verified, "interrupted": made.interrupted, "cached": made.cached,
        "seconds": made.seconds, "frames": rows,
    }  # fmt: skip
    return Result("simulate", head)
