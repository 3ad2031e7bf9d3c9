"""Broken and hostile files, made by code: cut off, with wrong counts, NaN, wrong magic, bombs, pickles, ways out of the
folder. Each is opened by one call, and must raise an error that names it.

    python -m tests.io.broken        makes all of them, opens each, prints seconds and megabytes
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pliant import io as pio

HUGE = 4_000_000_000


class Broken(NamedTuple):
    name: str  # of the file, or a pattern
    says: str  # what the message holds beside the name
    make: Callable[[Path], Any]  # gets the path; what it returns, if anything, is written there
    needs: tuple[str, ...]  # packages
    frames: bool  # opened as a sequence, and read to its end
    options: dict[str, Any]

    def put_into(self, folder: Path) -> Path:
        folder.mkdir()
        path = folder / self.name
        content = self.make(path)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def open(self, path: Path) -> None:
        options = {key: path.parent / value if key == "mesh" else value for key, value in self.options.items()}
        if not self.frames:
            pio.read(path)
            return
        for _ in pio.open_sequence(path, **options):
            pass


ALL: list[Broken] = []


def broken(name: str, says: str, content: Any = None, *, needs: str = "", frames: bool = False, **options: Any) -> Any:
    """Register a file: `content` is what is in it; without it, the decorated function makes the file."""

    def register(make: Callable[[Path], Any]) -> Callable[[Path], Any]:
        ALL.append(Broken(name, says, make, tuple(needs.split()), frames, options))
        return make

    return register if content is None else register(lambda path: content)


def all_broken() -> list[Broken]:
    from tests.io import broken_sequences, broken_surfaces, broken_usd, broken_volumes

    assert all((broken_surfaces, broken_volumes, broken_usd, broken_sequences))  # to import them is enough
    return ALL


def measure() -> None:
    """Each file in a process of its own, which begins where all packages are loaded."""
    import importlib
    import os
    import resource
    import tempfile
    import time
    import warnings

    for package in ("meshio", "h5py", "pxr.Usd", "pxr.UsdSkel", "pxr.UsdUtils", "lasso.dyna", "pliant.io.gltf.scene"):
        importlib.import_module(package)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(all_broken())} files; {start:.0f} MB with all packages loaded")
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(all_broken()):
            path = one.put_into(Path(folder) / str(number))
            child = os.fork()
            if child == 0:
                warnings.simplefilter("ignore")
                begin, said = time.perf_counter(), "NO ERROR"
                try:
                    one.open(path)
                except BaseException as error:
                    said = f"{type(error).__name__}: {error}"
                seconds = time.perf_counter() - begin
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(f"{seconds:7.3f} s {peak:6.0f} MB  {one.name:28} {said[:140]}", flush=True)
                os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    from tests.io import broken as this

    this.measure()
