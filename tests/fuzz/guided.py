"""Damage that is guided by which lines of the readers it reaches, by atheris (pip install atheris):

    NUMBA_DISABLE_JIT=1 python -m tests.fuzz.guided FOLDER -max_total_time=300

The first byte of an input chooses the ending, the others are the file. FOLDER gets sound files to begin with, and keeps
what reaches further. Readers in Python are guided; of packages in C only what is examined before them is.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

ENDINGS = (
    "obj", "ply", "stl", "off", "vtu", "vtp", "npz", "pc2", "mdd", "k", "veg", "msh", "xdmf", "3mf", "glb", "gltf",
    "usdc", "usdz",
)  # fmt: skip


def main() -> None:
    import atheris  # pyright: ignore[reportMissingImports]

    with atheris.instrument_imports(include=["pliant.io", "pliant.io.gltf.accessors", "pliant.io.gltf.document"]):
        import pliant.io.gltf.scene
        import pliant.io.usd_crate  # noqa: F401
    from pliant import MeshError
    from pliant import io as pio
    from pliant.io.usd_crate import require_sound
    from pliant.runtime.reading import reading
    from tests.fuzz.seeds import seeds

    corpus = Path(sys.argv[1])
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for one in seeds(Path(folder)):
            ending = one.name.rpartition(".")[2]
            if ending in ENDINGS:
                (corpus / one.name).write_bytes(bytes([ENDINGS.index(ending)]) + one.files[one.name])
    own = Path(tempfile.mkdtemp(prefix="guided-"))
    (own / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")

    def try_one(data: bytes) -> None:
        if len(data) < 2:
            return
        ending = ENDINGS[data[0] % len(ENDINGS)]
        path = own / f"case.{ending}"
        path.write_bytes(data[1:])
        try:
            if ending.startswith("usd"):  # what usd-core does with it is not guided, and slow
                with reading(path):
                    require_sound(path)
            elif ending in ("pc2", "mdd"):
                pio.open_sequence(path, mesh=own / "a.obj")
            else:
                pio.read(path)
        except MeshError:
            pass

    warnings.simplefilter("ignore")
    limits = [f"-artifact_prefix={own}/", "-rss_limit_mb=1500", "-timeout=20", "-max_len=6000"]
    atheris.Setup([sys.argv[0], *limits, *sys.argv[1:]], try_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
