"""Cases that nobody had run when the parameters were chosen: seeds, poses and frames beside those of the other modules.

Whoever changes the method by what becomes of these has to make others: give FIRST another value, and other times.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.inputs import data_folder
from bench.untangling import bodies, characters, garments, layers, models, scenes, sheets
from bench.untangling.case import FIRST_FRESH as FIRST
from bench.untangling.case import Given, Recipe

_TIMES = {
    (False, "human", "squat"): (0.21, 0.25),
    (False, "human", "arms"): (0.23, 0.28),
    (False, "arm", "bend"): (0.38, 0.45),
    (False, "leg", "bend"): (0.35, 0.45),
    (True, "CesiumMan", None): (0.12, 0.28, 0.58),
    (True, "Quaternius_Horse", "Gallop"): (0.15, 0.28, 0.58),
    (True, "Fox", "Run"): (0.18, 0.32),
}
_FRAMES = {
    "crumpled_sheet": (2_000, 3), "ball_heap": (8_000, 5), "flowing_cloth": (10_000, 3), "twisted_cloth": (10_000, 6),
    "twisting": (10_000, 6), "bishop": (12_000, 3), "falling": (12_000, 3), "flamenco": (12_000, 3),
    "squishy_ball": (10_000, 4), "hanging_cloth": (10_000, 4),
}  # fmt: skip


def recipes() -> Iterator[Recipe]:
    """Of all classes; those of the data folder only where it is."""
    for kind, give in _MAKERS.items():
        for number, (name, maker) in enumerate(give()):
            yield Recipe(f"{name}, fresh {number}", kind, FIRST + number, maker)


_Named = Iterator[tuple[str, "partial[Given]"]]


def _has(*path: str) -> bool:
    folder = data_folder()
    return folder is not None and folder.joinpath(*path).exists()


def _bodies() -> _Named:
    for name, frames in ((bodies.KICK, (2, 11, 20, 29)), (bodies.RUMBA, (7, 67))):
        if _has("sequences", f"{name}.npz"):
            for frame in frames:
                yield f"{name.split('_')[1]} {frame}", partial(bodies._frame, name, frame)
    for number in range(6):
        yield "doll", partial(bodies._doll, FIRST + number)


def _characters() -> _Named:
    for (is_file, name, clip), times in _TIMES.items():
        if not is_file or _has("characters", f"{name}.glb"):
            for t in times:
                yield f"{name} {t:g}", partial(characters._posed, is_file, name, clip, t)


def _sheets() -> _Named:
    for number, depth in enumerate(sheets.DEPTHS):
        for one, (way, give) in enumerate(
            (("dent", sheets._dent), ("border", sheets._border), ("waves", sheets._waves))
        ):
            yield f"{way} {depth} edges", partial(give, depth, FIRST + 3 * number + one)


def _noise() -> _Named:
    for number, share in enumerate(sheets.NOISE * 2):
        surface = list(sheets.SURFACES)[(number + number // 4) % len(sheets.SURFACES)]
        yield f"noise {share} on {surface}", partial(sheets._noisy, surface, share, FIRST + number)


def _layers() -> _Named:
    for number, (shape, give) in enumerate(list(layers.SHAPES.items()) * 2):
        count = 2 + number // 3
        yield f"{count} {shape}", partial(layers._swapped, give, count, FIRST + number)


def _scenes() -> _Named:
    for name, (triangles, frame) in _FRAMES.items():
        yield f"{name} frame {frame}", partial(scenes._frame, name, triangles, 2, frame)


def _models() -> _Named:
    names = [name for name in models.CLEAN if _has("volume", name)] + list(models.BUILT_IN)
    for number, name in enumerate(names):
        depth = models.DEPTHS[(number + 1) % len(models.DEPTHS)]
        if number % 2:
            yield f"two of {name}, {depth:g} edges", partial(models._pushed, name, depth, FIRST + number)
        else:
            yield f"{name} puckered", partial(models._puckered, name, FIRST + number)


def _garments() -> _Named:
    if _has("selfint", f"{garments.DRESS}.npz"):
        for number, depth in enumerate((1.0, 2.0)):
            yield f"dress pressed {depth:g} edges", partial(garments._dress, depth, FIRST + number)
    for number, depth in enumerate(garments.DEPTHS[:3]):
        yield f"suit pressed {depth:g} edges", partial(garments._suit, "human", depth, FIRST + number)
    for number, depth in enumerate((*garments.DEPTHS, *garments.DEPTHS[:3])):
        yield f"top and skirt pressed {depth:g} edges", partial(garments._on_doll, depth, FIRST + number)


_MAKERS = {
    "bodies": _bodies, "characters": _characters, "sheets": _sheets, "noise": _noise, "layers": _layers,
    "scenes": _scenes, "models": _models, "garments": _garments,
}  # fmt: skip
