"""The verb simulate: cloth and solids that fall onto files, scene files, built-in scenes."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pliant.commands.options import Culling, HowCulled, Picture, Report, Up
from pliant.commands.running import CLEAN, Run, fault, verb


class Units(str, Enum):
    m = "m"
    cm = "cm"
    mm = "mm"
    inch = "in"
    ft = "ft"


@verb
def simulate(
    run: Run,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCENE | drape CLOTH...",
            help="A scene file (.toml), a built-in simulated scene, or the word drape and meshes of cloth.",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[
        list[Path] | None,
        typer.Option("--cells", metavar="FILE", help="Instead: a volume mesh of a solid, may be repeated."),
    ] = None,
    on: Annotated[
        list[Path] | None,
        typer.Option(
            "--on",
            metavar="FILE",
            help="drape, --cells: what it falls onto, may be repeated; frames move it. Solids: else, a floor below.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to: .usd, .pc2, .npz, .pvd ..., numbered files, or a new folder for them."
        ),
    ] = None,
    with_obstacles: Annotated[
        bool | None,
        typer.Option("--with-obstacles/--cloth-only", help="Write obstacles after the cloth; default: the cloth only."),
    ] = None,
    frames: Annotated[int | None, typer.Option(min=2, help="Number of frames, the start included.")] = None,
    seconds: Annotated[float | None, typer.Option(min=1e-6, help="Seconds to simulate, instead of --frames.")] = None,
    rate: Annotated[float | None, typer.Option(min=1e-3, help="Frames in a second; default: 60.")] = None,
    step: Annotated[
        str | None,
        typer.Option(metavar="SECONDS|adaptive", help="The longest time step, 1e-9 to 1; or by how fast the cloth is."),
    ] = None,
    material: Annotated[
        str | None,
        typer.Option(help="drape: cotton, silk, denim ...; --cells: rubber, steel, flesh ...; default: the first."),
    ] = None,
    thickness: Annotated[
        float | None, typer.Option(min=1e-12, help="drape, --cells: the gap that is kept, in the units of the file.")
    ] = None,
    pins: Annotated[
        str | None, typer.Option(metavar="IDS", help="drape, --cells: vertices that are held, such as 0,40.")
    ] = None,
    friction: Annotated[
        float | None, typer.Option(min=0.0, max=10.0, help="drape, --cells: coefficient; default: 0.3.")
    ] = None,
    units: Annotated[
        Units | None, typer.Option(help="drape, --cells: of the files; default: m, or what they say.")
    ] = None,
    up: Annotated[
        Up | None, typer.Option(help="drape, --cells: the axis that points up; default: that of the file, or y.")
    ] = None,
    triangles: Annotated[
        int | None, typer.Option(min=1, help="Of a built-in scene, about how many; of solids, cells.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of a built-in scene.")] = 0,
    cache: Annotated[bool, typer.Option(help="Keep frames of built-in scenes on disk, and use those there.")] = True,
    verify: Annotated[bool, typer.Option("--verify", help="Test every step by a fresh ccd and check.")] = False,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the state at the end (.npz).")] = None,
    restore: Annotated[Path | None, typer.Option(metavar="FILE", help="Go on from a state that was saved.")] = None,
    report: Report = None,
    png: Picture = None,
    culling: HowCulled = Culling.auto,
) -> int:
    """Simulate cloth or solids; every time step ends free of contact, for certain.

    Ctrl-C ends it early: the frames that are done are written. Exit code: 0; 2 where the start is tangled.
    """
    from pliant.commands import simulating
    from pliant.commands.inputs import up_axis
    from pliant.commands.writing import require_frames_format

    for path, folder in ((output, True), (save, False), (report, False), (png, False)):
        run.take_output(path, folder=folder)
    if seconds is not None and frames is not None:
        raise fault("--frames and --seconds say the same: give one of them")
    given = {"on": on, "material": material, "thickness": thickness, "pins": pins, "friction": friction}
    given |= {"units": units and units.value, "up": up and up.value}
    asked = simulating.Asked(frames, seconds, rate, simulating.step_of(step), triangles, seed)
    cache = cache and not (verify or restore or save)  # these need the simulation itself
    chosen = simulating.choose(run, what or [], cells or [], given, asked)
    if output is None and chosen.output is not None:
        output = chosen.output
        run.take_outputs_of_run(0, {"the output of the scene file": output})
    if output is not None:
        require_frames_format(output)
    done = simulating.done(run, chosen, simulating.How(verify, save, restore, culling.value, cache))
    words = simulating.summary(done)
    run.say(words, style="bold")
    if output is not None:
        simulating.write_frames(run, output, done, chosen.with_obstacles if with_obstacles is None else with_obstacles)
    if report is not None or png is not None:
        simulating.write_pictures(run, done, report, png, up_axis(None, done.sequence), words)
    if output is None and report is None and png is None:
        run.say("Keep it: --output FILE. See it: --report FILE.html, --png FILE.", style="dim")
    run.finish(simulating.result_of(done))
    if done.interrupted:
        raise KeyboardInterrupt
    return CLEAN
