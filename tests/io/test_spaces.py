"""Which axis points up, and how long a unit is: from file to file."""

import numpy as np
import pytest

import pliant
from pliant import io as pio
from tests.io.broken_surfaces import glb, gltf
from tests.shapes.command_line import CROSSING, FACES

Usd = pytest.importorskip("pxr.Usd")
UsdGeom = pytest.importorskip("pxr.UsdGeom")
pytestmark = pytest.mark.unit


@pytest.fixture
def z_up(tmp_path):
    """Two triangles that move, in millimetres, z up."""
    path = tmp_path / "a.usda"
    pio.write_sequence(path, pliant.Sequence(FACES, np.stack([CROSSING, CROSSING + 1])))
    stage = Usd.Stage.Open(str(path))
    UsdGeom.SetStageUpAxis(stage, "Z")
    UsdGeom.SetStageMetersPerUnit(stage, 0.001)
    stage.Save()
    return path


def space_of(path):
    stage = Usd.Stage.Open(str(path))
    return str(UsdGeom.GetStageUpAxis(stage)), UsdGeom.GetStageMetersPerUnit(stage)


def test_a_file_tells(z_up):
    assert pio.read(z_up).space == pio.open_sequence(z_up)[:1].space == pio.Space("z", 0.001)


def test_it_is_written_again(z_up, tmp_path, call):
    """A stage with z up was written as one with y up, and fell over where it was opened."""
    pio.write(tmp_path / "b.usda", pio.read(z_up))
    pio.write_sequence(tmp_path / "c.usdc", pio.open_sequence(z_up))
    assert call("convert", z_up, tmp_path / "d.usda").code == 0
    assert call("scan", z_up, "--offenders", tmp_path / "e.usda").code == 1
    assert call("check", z_up, "--offenders", tmp_path / "f.usda").code == 1
    assert call("ccd", z_up, z_up, "--offenders", tmp_path / "g.usda").code in (0, 1)
    assert call("step", tmp_path / "b.usda", z_up, "--output", tmp_path / "h.usda").code in (0, 1)
    for name in ("b.usda", "c.usdc", "d.usda", "e.usda", "f.usda", "g.usda", "h.usda"):
        assert space_of(tmp_path / name) == ("Z", 0.001), name
    assert np.array_equal(pio.read(tmp_path / "b.usda").points, pio.read(z_up).points)


def test_gltf_is_in_metres_and_others_say_nothing(tmp_path):
    (tmp_path / "a.glb").write_bytes(glb(gltf()))
    assert pio.read(tmp_path / "a.glb").space == pio.Space("y", 1.0)
    pio.write(tmp_path / "a.usda", pio.read(tmp_path / "a.glb"))
    assert space_of(tmp_path / "a.usda") == ("Y", 1.0)
    pio.write(tmp_path / "a.obj", CROSSING, FACES)
    assert pio.read(tmp_path / "a.obj").space is None
    pio.write(tmp_path / "b.usda", pio.read(tmp_path / "a.obj"))
    assert space_of(tmp_path / "b.usda") == ("Y", 0.01)
    assert pio.read(tmp_path / "b.usda").space == pio.Space("y", None)
