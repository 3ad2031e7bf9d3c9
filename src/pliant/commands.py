"""The verbs of the command line. Each imports what it needs when it is called, so that `pliant --help` is instant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pliant

app = typer.Typer(
    name="pliant",
    help="Collision detection for everything that bends.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks print every local array
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pliant {pliant.__version__}")
        raise typer.Exit


@app.callback()
def pliant_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    scene: Annotated[str | None, typer.Option(help="Name of a built-in scene.")] = None,
    triangles: Annotated[int | None, typer.Option(min=1, help="About how many triangles.")] = None,
    frames: Annotated[int | None, typer.Option(min=1, help="How many frames.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many threads; all cores if not given.")] = None,
    output: Annotated[Path, typer.Option(help="The folder for the page and the pictures.")] = Path("demo"),
) -> None:
    """Scan a built-in scene: tables here, report.html and contact_sheet.png in a folder."""
    from pliant.report.demo import run

    run(scene=scene, triangles=triangles, frames=frames, threads=threads, output=output)


@app.command()
def character(
    file: Annotated[str, typer.Argument(help="A .glb or .gltf file, or human, horse, arm, leg or arm_with_body.")],
    clip: Annotated[
        str | None, typer.Option(help="Name of a clip; without it, or a wrong one, all are listed.")
    ] = None,
    skinning: Annotated[
        str, typer.Option(help='"position based" (flesh), or "linear" or "dual quaternion" blending.')
    ] = "position based",
    response: Annotated[bool, typer.Option(help="Let flesh respond to collisions.")] = True,
    update: Annotated[str, typer.Option(help='Of the detection: "safe", "full" or "angles".')] = "safe",
    rate: Annotated[float, typer.Option(help="Frames a second.")] = 60.0,
    seconds: Annotated[float | None, typer.Option(help="How long; default: the whole clip.")] = None,
    edge: Annotated[float | None, typer.Option(help="About how long edges of tetrahedra are, for a file.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="For the deformed skin: .npz, .pc2, .usd, .pvd, .xdmf, or a folder for numbered .ply files."),
    ] = None,
    png: Annotated[Path | None, typer.Option(help="A picture of poses, what collides in red.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="How many threads; all cores if not given.")] = None,
) -> None:
    """Play a clip of a skinned character and report the frames in which it collides with itself.

    Ends in 0 where it does not, in 1 where it does, in 2 after an error.
    """
    from pliant.report.character import Wanted, run

    options = Wanted(file, clip, skinning, response, update, rate, seconds, edge, output, png, as_json, threads)
    raise typer.Exit(run(options))
