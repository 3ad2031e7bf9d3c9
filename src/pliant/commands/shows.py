"""Verbs that show something: character, view, demo, bench."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.commands import judging as judges
from pliant.commands.options import (
    AllRows,
    Baseline,
    Clip,
    Culling,
    Every,
    Find,
    First,
    HowCulled,
    HowUp,
    JUnit,
    Kind,
    Last,
    MaxPairs,
    Merged,
    MeshFile,
    Pairs,
    Rate,
    Sarif,
    SequenceFiles,
    WrittenBaseline,
)
from pliant.commands.running import CLEAN, FAILED, Run, fault, verb

if TYPE_CHECKING:
    from pliant.frames.sequence import Sequence


def demo(
    scene: Annotated[str | None, typer.Option(help="Name of a built-in scene.")] = None,
    triangles: Annotated[int | None, typer.Option(min=1, help="Approximate number of triangles.")] = None,
    frames: Annotated[int | None, typer.Option(min=1, help="Number of frames.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of threads; default: all cores.")] = None,
    output: Annotated[Path, typer.Option(help="The folder for the page and the pictures.")] = Path("demo"),
) -> None:
    """Scan a built-in scene: tables here, report.html and contact_sheet.png in a folder."""
    from pliant.report.demo import run

    run(scene=scene, triangles=triangles, frames=frames, threads=threads, output=output)


@verb
def character(
    run: Run,
    file: Annotated[str, typer.Argument(help="A .glb or .gltf file, or human, horse, arm, leg or arm_with_body.")],
    clip: Annotated[list[str] | None, typer.Option(help="Name of a clip, may be repeated; default: all.")] = None,
    skinning: Annotated[
        str, typer.Option(help='How the asset is blended: "linear", as glTF says, or "dual quaternion".')
    ] = "linear",
    merge: Merged = True,
    repair: Annotated[bool, typer.Option(help="Try Position Based Skinning on clips that intersect.")] = True,
    response: Annotated[bool, typer.Option(help="Let the flesh of a repair respond to collisions.")] = True,
    update: Annotated[str, typer.Option(help='Of the flesh\'s detection: "safe", "full" or "angles".')] = "safe",
    rate: Annotated[float, typer.Option(help="Frames per second.")] = 60.0,
    seconds: Annotated[float | None, typer.Option(help="Seconds to play; default: the whole clip.")] = None,
    edge: Annotated[
        float | None, typer.Option(help="Approximate length of the edges of tetrahedra, for a file.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="For the repaired skin: .npz, .pc2, .usd, .pvd, .xdmf, or a folder for numbered .ply files."),
    ] = None,
    png: Annotated[Path | None, typer.Option(help="A picture of poses, what intersects in red.")] = None,
    all_rows: AllRows = False,
    max_pairs: MaxPairs = 0,
    baseline: Baseline = None,
    write_baseline: WrittenBaseline = None,
    junit: JUnit = None,
    sarif: Sarif = None,
) -> int:
    """Play the clips of a skinned character, and find where its triangles intersect.

    Verdict and exit code are about the asset as it is. What flesh (Position Based Skinning) makes of clips that
    intersect comes second.
    """
    from pliant.commands.batches import looked_at, scanned_of
    from pliant.report.character import Wanted, cast, judge
    from pliant.report.character import repair as repaired
    from pliant.report.character_files import write_files
    from pliant.report.character_shown import result_of, shown

    judging = judges.Judging(max_pairs, baseline, write_baseline, junit, sarif)
    judging.begin(run)
    clips = tuple(clip or ())
    flesh = repair, response, update
    wanted = Wanted(file, clips, skinning, merge, *flesh, rate, seconds, edge, output, png, run.threads)
    who = cast(wanted)
    with run.bar("Frames") as progress:
        judged = judge(wanted, who, progress)
    with run.bar("Repair") as progress:
        judged, why_not = repaired(wanted, who, judged, progress)
    for path in write_files(wanted, who, judged):
        run.wrote(path)
    for part, style in shown(who, judged, why_not, all_rows):
        run.say(part, style=style)
    result = result_of(wanted, who, judged, why_not)
    scanned = [scanned_of(file, one.clip, one.scan) for one in judged]
    cases = [one.case for one in scanned]
    code, head = judges.judge(run, "character", judging, cases, lambda key: looked_at(key, scanned, Find.intersections))
    run.finish(result._replace(head=result.head | head))
    return code


@verb
def view(
    run: Run,
    sequence: SequenceFiles,
    host: Annotated[str, typer.Option(help="Address to listen on; 127.0.0.1 is this machine only.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")] = 8080,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    up: HowUp = None,
    merge: Merged = True,
    pairs: Kind = Pairs.all,
    culling: HowCulled = Culling.auto,
    first: First = None,
    last: Last = None,
    every: Every = 1,
    mesh: MeshFile = None,
    rate: Rate = None,
    clip: Clip = None,
) -> int:
    """Look at a sequence and its contacts in the browser, live; Ctrl-C ends it."""
    import pliant
    from pliant.commands.inputs import Opening, open_frames, up_axis
    from pliant.report.tables import merged_words
    from pliant.view import serve

    opened = open_frames(run, sequence, Opening(first, last, every, merge, mesh, rate, clip))
    run.say(merged_words(opened.merged), style="dim")
    serve(
        opened.sequence, host=host, port=port, open_browser=browser, pairs=pairs.value, threads=run.threads,
        tuning=pliant.Tuning(culling=culling.value), up=up_axis(up, opened.sequence),
    )  # fmt: skip
    return CLEAN


@verb
def bench(
    run: Run,
    parts: Annotated[
        list[str] | None, typer.Argument(metavar="[PART...]", help="Parts of the repository's own benchmarks.")
    ] = None,
    scene: Annotated[str, typer.Option(help="Name of a built-in scene.")] = "twisted_cloth",
    triangles: Annotated[int | None, typer.Option(min=1, help="Approximate number of triangles.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of runs; the best one counts.")] = 3,
) -> int:
    """Time ccd, dcd and safe_step on a built-in scene; with parts, run the benchmarks of a checkout."""
    if parts:
        return _bench_checkout(run, parts, repeats)
    from pliant.commands.inputs import load_scene
    from pliant.report.outputs import Result
    from pliant.report.tables import count, table
    from pliant.runtime.arrays import thread_count

    one = load_scene(scene, triangles, 3)
    threads = thread_count(run.threads)
    rows = []
    with run.bar("Runs") as progress:
        for query, job in _jobs(one, threads).items():
            job()  # compiles or loads
            times, found = zip(*(_timed(job) for _ in range(repeats)))
            rows.append({"query": query, "seconds": min(times), "found": found[-1]})
            if progress:
                progress(len(rows), 3)
    shown = table(("query", "ms", "found"), ("query",))
    for row in rows:
        shown.add_row(row["query"], f"{1e3 * row['seconds']:,.1f}", f"{row['found']:,}")
    run.say(f"{scene}: {len(one.faces):,} triangles, {count(threads, 'thread')}, best of {repeats}", style="bold")
    run.say(shown)
    if _checkout():
        run.say("Against other libraries: pliant bench peers; bench/README.md has the other parts.", style="dim")
    head: dict[str, Any] = {"scene": scene, "triangles": len(one.faces), "threads": threads, "repeats": repeats}
    run.finish(Result("bench", head | {"times": rows}))
    return CLEAN


def _jobs(scene: Sequence, threads: int) -> dict[str, Callable[[], int]]:
    """Each returns how much it found."""
    import pliant

    motion = scene.faces, scene[0], scene[1]
    return {
        "ccd": lambda: len(pliant.ccd(*motion, threads=threads)),
        "dcd": lambda: len(pliant.dcd(scene.faces, motion[2], threads=threads)),
        "safe_step": lambda: int(pliant.safe_step(*motion, threads=threads).contact is not None),
    }


def _timed(job: Callable[[], int]) -> tuple[float, int]:
    clock = time.perf_counter()
    found = job()
    return time.perf_counter() - clock, found


def _checkout() -> Path | None:
    """The folder of the repository, where pliant runs from there."""
    import pliant

    folder = Path(pliant.__file__).resolve().parents[2]
    return folder if (folder / "bench" / "__main__.py").is_file() else None


def _bench_checkout(run: Run, parts: list[str], repeats: int) -> int:
    folder = _checkout()
    if folder is None:
        raise fault("parts are of the repository's benchmarks, which are not installed; run this in a checkout of it")
    threads = [] if run.threads is None else ["--threads", str(run.threads)]
    command = [sys.executable, "-m", "bench", *parts, *threads, "--repeats", str(repeats)]
    return FAILED if subprocess.run(command, cwd=folder).returncode else CLEAN
