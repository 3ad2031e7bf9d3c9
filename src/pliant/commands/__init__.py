"""The verbs of the command line. Each imports what it needs when it is called, so that `pliant --help` is instant."""

from __future__ import annotations

from typing import Annotated

import typer

import pliant
from pliant.commands import (
    animations,
    checks,
    instants,
    motions,
    preparing,
    proofs,
    repairs,
    scenery,
    shows,
    simulation,
)
from pliant.runtime.terminal import to_standard_output

app = typer.Typer(
    name="pliant",
    help="Collision detection for everything that bends. Exit code: 0 if nothing is found, 1 if something is, "
    "2 after an error.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # boxes around help and errors take longer to load than the rest, and more than a line
    pretty_exceptions_enable=False,  # its tracebacks print every local array
)


def _print_version(wanted: bool) -> None:
    if wanted:
        with to_standard_output():
            typer.echo(f"pliant {pliant.__version__}")
        raise typer.Exit


@app.callback()
def pliant_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


# What `pliant --help` says of each: it has 60 columns for it in a narrow terminal.
VERBS = (
    (checks.check, "Find triangles that intersect, in and between files."),
    (motions.ccd, "Find all contacts of a motion."),
    (motions.step, "Find how far a motion is free of contact."),
    (proofs.verify, "Check a certificate of contacts."),
    (instants.near, "Find what is within a distance, in or between files."),
    (animations.scan, "Look through all frames of a sequence."),
    (instants.inside, "Find vertices inside a body, or inside solid cells."),
    (repairs.untangle, "Move vertices until nothing intersects, and write that."),
    (shows.character, "Play a skinned character and see what collides."),
    (simulation.simulate, "Simulate cloth that ends every step free of contact."),
    (shows.view, "Look at a sequence in the browser."),
    (shows.demo, "See the main job on a built-in scene."),
    (scenery.scenes, "List the built-in scenes, or export one."),
    (scenery.convert, "Write a mesh or a sequence in another format."),
    (shows.bench, "Time the queries on this machine."),
    (preparing.warm, "Compile everything now: for images and CI."),
    (scenery.schema, "Print the JSON Schema of all results."),
)
for verb, words in VERBS:
    app.command(short_help=words)(verb)
