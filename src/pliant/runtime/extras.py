"""Packages that are not always there: where one is missing, the error says what it is for and how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Which extra brings a package, by the name that it is imported by. Packages in none are installed by their own name.
_EXTRAS = {
    "collada": "io",
    "h5py": "io",
    "lasso": "io",
    "meshio": "io",
    "pxr": "usd",
    "pytetwild": "characters",
    "rich": "cli",
    "tetgen": "characters",
    "tomli": "cli",
    "trimesh": "io",
    "typer": "cli",
    "viser": "view",
}
_INSTALLED_AS = {"collada": "pycollada", "lasso": "lasso-python", "pxr": "usd-core"}


@contextmanager
def needed(package: str, by: str, what: str = "") -> Iterator[None]:
    """Around what imports a package.

    by : who needs it, the begin of the sentence; what : for what, if not for all that there is
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        sentence = f"{by} needs {_INSTALLED_AS.get(package, package)}{f' for {what}' if what else ''}"
        extra = _EXTRAS.get(package)
        alone = f"pip install {_INSTALLED_AS.get(package, package)}"
        how = f", which the extra {extra} brings: {alone}, or pip install '.[{extra}]' in a checkout of pliant"
        how = how if extra else f": {alone}"
        raise ModuleNotFoundError(sentence + how, name=package) from error
