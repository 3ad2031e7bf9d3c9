"""The list of all cases, by class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bench.untangling import bodies, characters, fresh, garments, layers, models, scenes, sheets
from bench.untangling.case import Case as Case
from bench.untangling.case import Recipe as Recipe

CLASSES = {
    "bodies": "bodies in motion",
    "characters": "skinned characters",
    "sheets": "sheets through each other by 1, 3, 10 edges",
    "noise": "noise",
    "layers": "swapped layers, told",
    "scenes": "built-in scenes",
    "models": "model files",
    "garments": "garment on body",
}
_MAKERS = (bodies, characters, sheets, layers, scenes, models, garments, fresh)


def recipes(only: Iterable[str] = ()) -> Iterator[Recipe]:
    """All cases that can be made, or those of some classes, without making them: `recipe.make()` does."""
    wanted = set(only) or set(CLASSES)
    for unknown in sorted(wanted - set(CLASSES)):
        raise ValueError(f"no class is called {unknown!r}; there are {', '.join(CLASSES)}")
    for maker in _MAKERS:
        for recipe in maker.recipes():
            if recipe.kind in wanted:
                yield recipe


def make(kind: str, name: str) -> Case:
    """The case of a class that has this name."""
    for recipe in recipes([kind]):
        if recipe.name == name:
            return recipe.make()
    raise ValueError(f"no case of {kind} is called {name!r}")
