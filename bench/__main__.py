"""``python -m bench [part ...]``: see README.md for the parts."""

from __future__ import annotations

import argparse

from bench.advancement import advancement
from bench.changes import changes
from bench.characters import characters
from bench.cones import cones
from bench.contours import contours
from bench.discrete import discrete
from bench.filters import filters
from bench.fronts import fronts
from bench.growth import memory, sizes
from bench.low_level import low_level
from bench.measure import RESULTS, Options, machine, warm_up
from bench.near import near
from bench.peers import peers
from bench.refit import refit
from bench.startup import startup
from bench.truth import truth
from bench.variants import bounds, leaf, sheets
from bench.volumes import volumes

OURS = peers, filters, sizes, memory, startup, sheets, bounds, leaf, discrete, near
OF_PAPER_000 = cones, contours, fronts, refit, low_level
OF_PAPER_002 = (advancement,)
OF_PAPER_003 = characters, truth
OF_PAPER_004 = volumes, changes
PARTS = {part.__name__: part for part in OURS + OF_PAPER_000 + OF_PAPER_002 + OF_PAPER_003 + OF_PAPER_004}
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
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}; choose from {', '.join(PARTS)}")
    print(", ".join(f"{key} {value}" for key, value in machine().items()), flush=True)
    warm_up(arguments.threads)
    for part in arguments.parts or DEFAULT:
        PARTS[part](Options(arguments.threads, arguments.repeats, arguments.save, arguments.triangles, arguments.scale))


if __name__ == "__main__":
    main()
