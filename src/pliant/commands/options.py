"""What the verbs have in common: their options, each written down once."""

from enum import Enum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

STANDARD = Path("-")  # standard input or output


class Pairs(str, Enum):
    """Which pairs are looked at."""

    all = "all"
    self = "self"
    inter = "inter"


class Culling(str, Enum):
    """How pairs are avoided that surely do not meet; changes the time, never the result."""

    boxes = "boxes"
    front = "front"
    cones = "cones"
    both = "cones+front"


class Find(str, Enum):
    both = "both"
    contacts = "contacts"
    intersections = "intersections"


class Tangled(str, Enum):
    ignore = "ignore"
    warn = "warn"
    error = "raise"


class Up(str, Enum):
    x = "x"
    y = "y"
    z = "z"


HowUp = Annotated[
    Up | None,
    typer.Option("--up", help="The axis that points up; that of the file if not given, or y.", show_default=False),
]
Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="Meshes, or patterns in quotes; - for standard input.", show_default=False),
]
SequenceFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SEQUENCE",
        help="A file with frames, numbered files (frames/cloth_*.obj, cloth.####.obj), or an embedded scene.",
        show_default=False,
    ),
]
Start = Annotated[Path, typer.Argument(metavar="A", help="The mesh at the start.", show_default=False)]
StartAndEnd = Annotated[
    list[Path],
    typer.Argument(
        metavar="A [B]",
        help="One mesh at the start and at the end of a motion; or a sequence: one argument, or three files and more.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="ENDING", help="What standard input or output is: obj, ply, stl ...; else guessed."
    ),
]
Kind = Annotated[Pairs, typer.Option("--pairs", help="Of all, within one object each, or between objects.")]
HowCulled = Annotated[Culling, typer.Option("--culling", help="How to avoid pairs; the result is the same.")]
Merged = Annotated[
    bool,
    typer.Option(
        "--merge/--no-merge",
        help="Take vertices at equal positions for one, within a part; of frames, as they are in the first.",
    ),
]
Offenders = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the mesh with what was found in red: .ply, .glb, .vtu or .usda."),
]
FaceList = Annotated[
    Path | None,
    typer.Option(
        "--faces", metavar="FILE", help="Write the ids of the faces that take part, one a line; - for stdout."
    ),
]
Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page that opens offline: 3D, plots, tables (.html).")
]
Picture = Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Write a sheet of pictures.")]
First = Annotated[
    int | None,
    typer.Option("--from", help="The first frame, by the number that its file has; else the first that there is."),
]
Last = Annotated[int | None, typer.Option("--to", help="The last frame; -1 is the last that there is.")]
Every = Annotated[int, typer.Option("--every", min=1, help="Every which frame.")]
MeshFile = Annotated[
    Path | None, typer.Option("--mesh", metavar="FILE", help="The mesh, where the sequence has positions only.")
]
Rate = Annotated[float | None, typer.Option("--rate", help="Frames a second, where the file does not say.")]
Clip = Annotated[str | None, typer.Option("--clip", help="Name of the motion, where the file has several.")]
MaxPairs = Annotated[
    int,
    typer.Option(
        "--max-pairs", min=0, help="So many pairs may be there, contacts and cells inside out included; more fail."
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", metavar="FILE", help="Known offenders: only new ones fail."),
]
WrittenBaseline = Annotated[
    Path | None,
    typer.Option("--write-baseline", metavar="FILE", help="Write what is found as known (.json)."),
]
JUnit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write a test for each file as JUnit XML.")]
Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write a result for each pair as SARIF 2.1.0.")
]
AllRows = Annotated[bool, typer.Option("--all", help="Print every row, not only the worst.")]


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def as_bytes(text: str) -> int:
    """A size as people write it: 4GB, 500 MB, 2e9."""
    number = text.strip().upper().removesuffix("B").rstrip()
    unit = number[-1:] if number[-1:] in _UNITS else ""
    try:
        size = float(number.removesuffix(unit)) * _UNITS[unit]
    except ValueError:
        size = 0.0
    if not 1 <= size < 2**63:
        raise typer.BadParameter(f"{text!r} is no size, such as 4GB or 500MB")
    return int(size)


class Shared(NamedTuple):
    """What every verb can be told."""

    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the list as CSV; - for standard output.")] = (
        None
    )
    npz: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the list as numpy arrays; - as above.")] = None
    threads: Annotated[int | None, typer.Option(min=1, help="How many; all cores if not given.")] = None
    displacement: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The field to add to points (VTU, XDMF ...), or none; else by its name."),
    ] = None
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=as_bytes,
            help="What a file may expand to, as 4GB; 64 times its size if not given, and 256 MB at least.",
        ),
    ] = None
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Read what files refer to outside of their folder too.")
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only: the exit code tells.")] = False
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what every stage did.")] = False
