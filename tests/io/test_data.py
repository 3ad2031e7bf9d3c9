"""Every file of the shared data can be read, and holds what it held when it was first examined."""

import warnings

import numpy as np
import pytest

from pliant import io as pio
from tests.conftest import find_data_folder

HELD = {
    "crash/bird.k": {"quad": 960},
    "crash/birdball.k": {"hexahedron": 816, "quad": 100},
    "crash/bracket.k": {"triangle": 54, "quad": 1811},
    "crash/solid_int": {"hexahedron": 16, "quad": 16},
    "crash/wheel.k": {"quad": 11553},
    "volume/bullet_torus.vtk": {"tetra": 4436},
    "volume/ipc_Armadillo13K.msh": {"tetra": 54985},
    "volume/ipc_erleben_wedge.obj": {"triangle": 8},
    "volume/pbd_armadillo_4k.ele": {"tetra": 3717},
    "volume/polyfem_cube-hex.msh": {"hexahedron": 1},
    "volume/polyfem_hybrid_lshape_L1.msh": {"tetra": 48, "wedge": 24, "pyramid": 48},
    "volume/sofa_Armadillo_Tetra_4406.vtu": {"tetra": 4406},
    "volume/sofa_cylinder.msh": {"tetra": 2430},
    "volume/sofa_liver2.msh": {"tetra": 1493, "triangle": 860},
    "volume/vega_asianDragon.veg": {"tetra": 2591},
    "volume/vega_simpleBridge_resol92-b1.155_enlarged.veg": {"hexahedron": 1736},
}
FOLDER = find_data_folder()
FILES = [
    f"{folder}/{path.name}" for folder in ("crash", "volume") if FOLDER for path in sorted((FOLDER / folder).glob("*"))
]


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_every_file_reads(data_folder, name):
    if name.endswith("solid_int"):
        pytest.importorskip("lasso")
    elif name.endswith((".vtk", ".vtu", ".obj", ".msh")):
        pytest.importorskip("meshio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mesh = pio.read(data_folder / name)
    counts = {kind: len(rows) for kind, rows in mesh.cells.items()}
    assert counts == HELD.get(name, counts)
    # sofa_SimpleBeamHexa is written the other way round.
    if "SimpleBeamHexa" not in name:
        assert all((signed_volumes(kind, mesh.points[rows]) > 0).all() for kind, rows in mesh.cells.items())


def signed_volumes(kind, x):
    """(k,) volume at the first corner of each cell, (k, corners, 3), six times; 1 for triangles and quads."""
    corner = {"tetra": (1, 2, 3), "hexahedron": (1, 3, 4), "wedge": (1, 2, 3), "pyramid": (1, 3, 4)}.get(kind)
    return np.linalg.det(x[:, corner] - x[:, :1]) if corner else np.ones(len(x))


@pytest.mark.data
def test_the_states_of_a_d3plot(data_folder):
    pytest.importorskip("lasso")
    mesh = pio.read(data_folder / "crash" / "solid_int" / "d3plot")
    assert mesh.frames is not None
    assert mesh.frames.shape == (22, 106, 3)
    assert (mesh.frames[0] == mesh.points).all()
    assert np.abs(mesh.frames[-1] - mesh.points).max() > 0


@pytest.mark.data
def test_names_of_what_is_expected_exist():
    assert set(HELD) <= set(FILES)
