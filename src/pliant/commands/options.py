"""What the verbs have in common: their options, each written down once."""

from enum import Enum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

STANDARD = Path("-")  # standard input or output


class Pairs(str, Enum):
    """Which pairs are tested."""

    all = "all"
    self = "self"
    inter = "inter"


class Culling(str, Enum):
    """How to avoid pairs that cannot touch; changes the time, never the result."""

    auto = "auto"
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
    typer.Option("--up", help="The axis that points up; default: that of the file, or y.", show_default=False),
]
Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="Meshes, or patterns in quotes; - for standard input.", show_default=False),
]
SequenceFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SEQUENCE",
        help="A file with frames, numbered files (frames/cloth_*.obj, cloth.####.obj), or a built-in scene.",
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
        "--format", metavar="ENDING", help="Format of standard input or output: obj, ply, stl ...; default: detected."
    ),
]
Kind = Annotated[Pairs, typer.Option("--pairs", help="All pairs, only within one object, or only between objects.")]
HowCulled = Annotated[
    Culling, typer.Option("--culling", help="How to avoid pairs; changes the time, never the result.")
]
Merged = Annotated[
    bool,
    typer.Option(
        "--merge/--no-merge",
        help="Merge vertices at equal positions, within a part; in a sequence, as in its first frame.",
    ),
]
Offenders = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the mesh with what was found in red: .ply, .glb, .vtu or .usda."),
]
FaceList = Annotated[
    Path | None,
    typer.Option(
        "--faces",
        metavar="FILE",
        help="Write the ids of the faces that take part, one on each line; - for standard output.",
    ),
]
Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page that opens offline: 3D, plots, tables (.html).")
]
Picture = Annotated[Path | None, typer.Option("--png", metavar="FILE", help="Write a sheet of pictures.")]
First = Annotated[
    int | None,
    typer.Option("--from", help="Number of the first frame; default: the first one."),
]
Last = Annotated[int | None, typer.Option("--to", help="Number of the last frame; -1 for the last one.")]
Every = Annotated[int, typer.Option("--every", min=1, help="Use every Nth frame.")]
MeshFile = Annotated[
    Path | None, typer.Option("--mesh", metavar="FILE", help="The mesh, if the sequence has positions only.")
]
Rate = Annotated[float | None, typer.Option("--rate", help="Frames per second, if the file does not say.")]
Clip = Annotated[str | None, typer.Option("--clip", help="Name of the motion, if the file has several.")]
MaxPairs = Annotated[
    int,
    typer.Option("--max-pairs", min=0, help="Fail only above this number of pairs, contacts and inverted cells."),
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", metavar="FILE", help="Known offenders: only new ones fail."),
]
WrittenBaseline = Annotated[
    Path | None,
    typer.Option("--write-baseline", metavar="FILE", help="Write what is found as a baseline (.json)."),
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
        raise typer.BadParameter(f"{text!r} is not a size, such as 4GB or 500MB")
    return int(size)


class Shared(NamedTuple):
    """What every verb can be told."""

    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")] = False
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the list as CSV; - for standard output.")] = (
        None
    )
    npz: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the list as numpy arrays; - for standard output.")
    ] = None
    threads: Annotated[int | None, typer.Option(min=1, help="Number of threads; default: all cores.")] = None
    displacement: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The field to add to points (VTU, XDMF ...), or none; default: detected by its name."
        ),
    ] = None
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=as_bytes,
            help="Limit of what a file may expand to, such as 4GB; default: 64 times its size, at least 256 MB.",
        ),
    ] = None
    allow_outside: Annotated[
        bool, typer.Option("--allow-outside", help="Also read files that a file refers to outside its folder.")
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only; use the exit code.")] = False
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print what every stage did.")] = False
