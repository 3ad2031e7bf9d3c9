"""``python -m bench [part ...]``: see README.md for the parts."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from bench.measure import RESULTS, Options, machine, warm_up

# Parts by the modules that have them, which are imported for what is asked: hashes are those of older versions, too.
OURS = {
    "peers": "peers", "filters": "filters", "sizes": "growth", "memory": "growth", "startup": "startup",
    "sheets": "variants", "bounds": "variants", "leaf": "variants", "discrete": "discrete", "near": "near",
    "hashes": "hashes", "detector": "detector", "versions": "versions", "resolve": "resolving",
    "cloth": "cloth", "convergence": "cloth", "solids": "solids", "solid_scenes": "solid_scenes",
    "penalty_scenes": "solid_scenes",
    "certificates": "certificates", "simulated": "simulated", "simulators": "simulators",
    "untangle": "untangling.table",
}  # fmt: skip
OF_PAPER_000 = {
    "cones": "cones", "contours": "contours", "fronts": "fronts", "refit": "refit", "low_level": "low_level",
}  # fmt: skip
OF_PAPER_002 = {"advancement": "advancement"}
OF_PAPER_003 = {"characters": "characters", "truth": "truth"}
OF_PAPER_004 = {
    "volumes": "volumes", "changes": "changes", "figure3": "figure3", "simulated_volumes": "simulated_volumes",
}  # fmt: skip
PARTS = OURS | OF_PAPER_000 | OF_PAPER_002 | OF_PAPER_003 | OF_PAPER_004
DEFAULT = ("peers", "filters")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Times of pliant and its peers, as ratios.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; default: {' '.join(DEFAULT)}")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each job, of which the best counts")
    parser.add_argument("--save", action="store_true", help=f"append a line for each run to {RESULTS.name}")
    parser.add_argument(
        "--triangles", type=int, help="at most so many in a scene of paper 000 (cells: 004), to try it out"
    )
    parser.add_argument("--scale", action="store_true", help="volumes: car_crash with 1.2 million shells, too")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="hashes, figure3: where it is written; default: printed, figure3.png"
    )
    parser.add_argument("--other", type=Path, metavar="FOLDER", help="versions: has the package of the other version")
    of_simulators = parser.add_argument_group("peers, simulators, untangle")
    of_simulators.add_argument(
        "--only", type=_names, default=(), metavar="NAME,...", help="tables, scenes or classes; all"
    )
    of_simulators.add_argument("--simulators", type=_names, default=(), metavar="NAME,...", help="default: all")
    of_simulators.add_argument("--frames", type=int, help="of each scene; default: as many as its motion takes")
    of_simulators.add_argument("--limit", type=float, metavar="SECONDS", help="of each line or case; default: 300, 60")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; choose from {', '.join(PARTS)}")
    options = Options(
        arguments.threads,
        arguments.repeats,
        arguments.save,
        arguments.triangles,
        arguments.scale,
        arguments.out,
        arguments.other,
        arguments.only,
        arguments.simulators,
        arguments.frames,
        arguments.limit,
    )
    if arguments.parts != ["hashes"]:
        print(", ".join(f"{key} {value}" for key, value in machine().items()), flush=True)
        warm_up(arguments.threads)
    for part in arguments.parts or DEFAULT:
        getattr(import_module(f"bench.{PARTS[part]}"), part)(options)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


if __name__ == "__main__":
    main()
