"""Opens damaged files, one after the other, in a process that may have a gigabyte more than its packages take.

Each line of standard input is a folder, the name of a file in it, and how to open it; each is answered by one line.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import warnings
from pathlib import Path

MEMORY = 2**30
_PACKAGES = ("meshio", "h5py", "pxr.Usd", "pxr.UsdSkel", "pxr.UsdUtils", "pxr.Pcp", "lasso.dyna", "collada")


def open_as(path: Path, way: str) -> None:
    import pliant
    from pliant import io as pio

    if way == "read":
        pio.read(path)
    elif way == "character":
        character = pliant.characters.load(path)
        for clip in character.clips:
            character.pose(clip, 0.0)
    else:
        frames = pio.open_sequence(path)
        for frame in range(min(len(frames), 8)):  # by times that are damaged, there can be millions
            frames[frame]


def main() -> None:
    import pliant

    for package in _PACKAGES:
        try:
            importlib.import_module(package)
        except ImportError:
            continue
    for warm_up in sys.argv[1:]:  # what is compiled or loaded with the first file of its kind is not of that file
        path, _, way = warm_up.rpartition(":")
        open_as(Path(path), way)
    _limit_memory()
    answers = sys.stdout
    sys.stdout = sys.stderr
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        path, way = json.loads(line)
        begin, said, kind = time.process_time(), "", "sound"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                open_as(Path(path), way)
        except pliant.MeshError as error:
            said = f"{type(error).__name__}: {error}"
            # Of one array numpy says so before any of it is written to: what meshio asks for, which believes its files.
            kind = "memory" if "not enough memory" in said else "error"
        except BaseException as error:
            kind, said = "bare", f"{type(error).__name__}: {error}"
        answer = {"kind": kind, "said": said[:300], "seconds": time.process_time() - begin, "peak": _peak()}
        print(json.dumps(answer), file=answers, flush=True)


def _limit_memory() -> None:
    """Of what is written to, not of addresses: packages reserve many more of these than they use."""
    if sys.platform != "linux":
        return
    import resource

    used = int(Path("/proc/self/statm").read_text("ascii").split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, used + MEMORY))


def _peak() -> int:
    """Megabytes of memory that were held at once, ever."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
