"""The verbs of the command line. Each imports what it needs when it is called, so that `pliant --help` is instant."""

from __future__ import annotations

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
) -> None:
    """Run the main job on a built-in scene and report what every stage did."""
    from pliant.report.demo import run

    run(scene=scene, triangles=triangles, frames=frames, threads=threads)
