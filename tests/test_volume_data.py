"""Real volume meshes, deformed: cells in the hierarchy find what triangles in the hierarchy find."""

import warnings

import numpy as np
import pytest

import pliant
from tests.conftest import find_data_folder
from tests.shapes.tables import assert_identical

FOLDER = find_data_folder()
FILES = [
    f"{folder}/{path.name}"
    for folder in ("crash", "volume")
    if FOLDER
    for path in sorted((FOLDER / folder).glob("*"))
    if path.suffix not in (".node", ".obj") and path.name != "solid_int"
]
pytestmark = [pytest.mark.data, pytest.mark.filterwarnings("ignore:.*solid cells are inverted or flat")]


def read(path):
    if path.suffix in (".vtk", ".vtu", ".msh", ".obj"):
        pytest.importorskip("meshio")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pliant.io.read(path)


def crushed(x, edge, seed=0):
    """Where vertices end that are pressed together along the longest side of the scene, each with some noise."""
    rng = np.random.default_rng(seed)
    axis = int(np.argmax(np.ptp(x, axis=0)))
    out = x + rng.normal(scale=0.25 * edge, size=x.shape)
    out[:, axis] += 1.2 * edge * np.sin(2.0 * (x[:, axis] - x[:, axis].min()) / edge)
    return out


def assert_agree(mesh, x0, x1):
    expected = pliant.ccd(mesh.features(), x0, x1)
    for assignment in ("static", "dynamic"):
        found = pliant.ccd(mesh, x0, x1, tuning=pliant.Tuning(assignment=assignment))
        assert_identical(found, expected, without=("cells", "inversion"))  # features know of no cells
    outside, surface = pliant.ccd(mesh, x0, x1, interior=False), pliant.ccd(mesh.surface(), x0, x1)
    # Ids are those of all faces and edges of the cells, and cells are named.
    assert_identical(outside, surface, without=("elements", "cells", "inversion"))
    assert pliant.safe_step(mesh, x0, x1).t == expected.toi.min(initial=1.0)
    return expected


@pytest.mark.parametrize("name", FILES)
def test_a_crushed_mesh(data_folder, name):
    given = read(data_folder / name)
    mesh, x0 = pliant.VolumeMesh(given.cells), given.points
    ends = x0[mesh.edges]
    edge = float(np.median(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)))
    contacts = assert_agree(mesh, x0, crushed(x0, edge))
    assert len(contacts) > 0 or len(mesh.types) < 20


def test_a_d3plot_frame_by_frame(data_folder):
    pytest.importorskip("lasso")
    given = read(data_folder / "crash" / "solid_int" / "d3plot")
    mesh = pliant.VolumeMesh(given.cells)
    for x0, x1 in zip(given.frames[:-1], given.frames[1:]):
        assert_agree(mesh, x0, x1)


@pytest.mark.parametrize("name", ["volume/ipc_bunny.msh", "volume/vega_simpleBridge_resol92-b1.155_enlarged.veg"])
def test_two_copies_deep_in_each_other(data_folder, name):
    given = read(data_folder / name)
    size = np.ptp(given.points, axis=0)
    n = len(given.points)
    mesh = pliant.VolumeMesh({kind: np.concatenate((rows, rows + n)) for kind, rows in given.cells.items()})
    x0 = np.concatenate((given.points, given.points + 0.3 * size))
    x1 = np.concatenate((given.points, given.points + 0.29 * size))
    contacts = assert_agree(mesh, x0, x1)
    between = pliant.ccd(mesh, x0, x1, pairs="inter")
    assert len(contacts) == len(between) > 1000
    assert not between.inversion.any()
