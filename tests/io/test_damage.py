"""Files damaged at random: an error of ours that names the file, or a mesh; never anything else."""

import warnings

import numpy as np
import pytest

import pliant
from pliant import io as pio
from tests.io.needs import needed_for
from tests.io.written import FACES, SOLIDS, points, sequence

pytestmark = pytest.mark.unit
MESHES = {".obj": FACES, ".ply": FACES, ".off": FACES, ".stl": FACES, ".glb": FACES, ".vtu": SOLIDS, ".k": SOLIDS}
FRAMES = (".npz", ".pc2", ".mdd", ".pvd", ".xdmf", ".usdc")
TRIES = 60


def damaged(content, rng):
    """Cut off, with some bytes changed, with others in place of some, or with some digits changed."""
    content = bytearray(content)
    at = int(rng.integers(1, len(content)))
    way = rng.integers(4)
    if way == 0:
        return bytes(content[:at])
    if way == 1:
        for place in rng.integers(0, len(content), 4):
            content[place] = rng.integers(256)
    elif way == 2:
        content[at : at + int(rng.integers(20))] = rng.bytes(int(rng.integers(20)))
    else:
        for place in rng.integers(0, len(content), 3):
            content[place : place + 1] = rng.choice([b"0", b"9", b"-", b".", b"e", b" ", b"\n", b"\xff"])
    return bytes(content)


@pytest.mark.parametrize("ending", [*MESHES, *FRAMES])
def test_damage_is_an_error_or_harmless(tmp_path, ending):
    needed_for(ending)
    path = tmp_path / f"a{ending}"
    if ending in MESHES:
        pio.write(path, points(), MESHES[ending])
    else:
        pio.write_sequence(path, sequence())
    whole, rng, said = path.read_bytes(), np.random.default_rng(7), []
    for _ in range(TRIES):
        path.write_bytes(damaged(whole, rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _ = pio.read(path) if ending in MESHES else list(pio.open_sequence(path))
        except pliant.MeshError as error:
            said.append(str(error))
    assert all(path.name in message for message in said)
    # Of a binary STL and of a cache, most bytes are coordinates, and any coordinate will do.
    assert TRIES * 0.25 < len(said) <= TRIES
