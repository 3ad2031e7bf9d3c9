"""Scenes of solids: free in every step, no cell inverted, the same every time, with numbers at their cells."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.frames.changing import ChangingSequence
from pliant.frames.sequence import Sequence
from pliant.io import FileError, FileMesh, write, write_sequence
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import OptionError
from pliant.simulated import cache
from pliant.simulated.dropping import dropped
from pliant.simulated.recording import NotFreeError, Recording, require_free
from pliant.simulated.solid_plan import SolidSetup
from pliant.simulated.starts import require_free_start
from tests.simulate.blocks import block

CELLS = 760  # the least of which octopuses are made is not much less


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is kept in the folder of the user."""
    monkeypatch.setattr(cache, "user_cache", lambda kind: tmp_path)
    return tmp_path


def _setup(cells: int, seed: int = 0) -> SolidSetup:
    setup = pliant.simulated.setup("octopi", cells, seed)
    assert isinstance(setup, SolidSetup)
    return setup


def test_octopuses_fall_onto_each_other():
    setup = _setup(CELLS)
    recording = Recording(setup)
    require_free_start(setup, recording.simulation)
    # As if they had fallen for most of the way: what is tested is where they land.
    recording.simulation.set_velocities(np.tile((0.0, 0.0, -1.5), (recording.simulation.vertex_count, 1)))
    recording.run(6, setup.rate, verify=True)
    assert recording.verified == recording.steps >= 5
    assert max(row.near for row in recording.rows) > 20
    assert max(row.inverted for row in recording.rows) == 0
    sequence = recording.sequence()
    assert isinstance(sequence, Sequence)
    data = sequence.cell_data(5)
    assert data["stress"].max() > 100.0
    assert data["plastic strain"].max() == 0.0
    assert (data["stress"][-2:] == 0.0).all()  # of the ground
    alone = setup.alone(sequence)
    assert alone.cell_count == setup.cell_count == sequence.cell_count - 2
    np.testing.assert_array_equal(alone.cell_data(5)["stress"], data["stress"][:-2])


@pytest.mark.parametrize("cells", [600, 3000, 17_600])
def test_starts_are_free_at_any_size_and_for_any_seed(cells: int):
    setup = _setup(cells, cells)
    mesh, x = VolumeMesh(setup.cells), setup.x
    assert abs(setup.cell_count / cells - 1) < 0.25
    assert len(pliant.check(mesh, x)) == 0
    parts = setup.parts()
    assert parts is not None
    assert parts.names == ("octopus 1", "octopus 2", "octopus 3", "ground")


def test_what_is_not_free_is_found():
    setup = _setup(CELLS)
    simulation = setup.begin()
    before = simulation.frame().scene
    after = before.copy()
    after[: len(setup.x), 2] -= 0.1  # through the ground
    with pytest.raises(NotFreeError):
        require_free(simulation, before, after)


def test_a_scene_of_solids_is_kept_with_its_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch):
    first = pliant.simulated.load_volume("octopi", CELLS, 3)
    assert len(first.steps) == 2
    assert first.objects.max() == 3
    monkeypatch.setattr(cache, "Recording", None)  # nothing is simulated again
    again = pliant.simulated.load_volume("octopi", CELLS, 3)
    assert again.x1.tobytes() == first.x1.tobytes()
    setup = _setup(CELLS)
    kept = cache.kept_or_made(setup, 3)
    assert kept.was_there
    assert isinstance(kept.sequence, Sequence)
    assert set(kept.sequence.cell_data(2)) == {"stress", "plastic strain"}


def _part(folder: Path) -> None:
    cells, x = block((2, 1, 1), (0.2, 0.1, 0.1))
    write(folder / "part.vtu", FileMesh({kind: np.asarray(rows) for kind, rows in cells.items()}, x))


def test_meshes_of_solids_fall(tmp_path: Path):
    _part(tmp_path)
    setup = dropped([tmp_path / "part.vtu"], [], up="z", material="steel", rate=100.0)
    assert setup.obstacles == ("floor",)
    assert setup.listed_obstacles[0].x[:, 2].max() == pytest.approx(-0.01)
    recording = Recording(setup)
    recording.run(8, 100.0, verify=True)
    end = setup.without_obstacles(recording.sequence())[7]
    assert -0.01 < end[:, 2].min() < 0.0
    write_sequence(tmp_path / "out.pvd", recording.sequence())
    back = pliant.io.open_sequence(tmp_path / "out.pvd")
    np.testing.assert_array_equal(back[7], recording.sequence()[7])
    assert b"plastic strain" in (tmp_path / "out_frames" / "000007.vtu").read_bytes()


def test_a_scene_file_names_solids(tmp_path: Path):
    _part(tmp_path)
    (tmp_path / "scene.toml").write_text(
        """
        [scene]
        frames = 3
        [[solid]]
        file = "part.vtu"
        material = "soft"
        move = [0.0, 0.0, 0.01]
        [[solid]]
        name = "upper"
        file = "part.vtu"
        material = "steel"
        move = [0.0, 0.0, 0.2]
        [materials.soft]
        like = "rubber"
        young = 2e5
        [[obstacle]]
        plate = [1.0, 1.0]
        [[pin]]
        solid = "upper"
        vertices = [0, 1]
        """
    )
    setup = pliant.simulated.read_scene(tmp_path / "scene.toml").setup
    assert [one.young for one in setup.options["materials"]] == [2e5, 2e11]
    assert setup.options["pins"][0].vertices.tolist() == [12, 13]
    frames = list(setup.begin().frames(2))
    assert frames[-1].positions[:12, 2].min() < 0.01
    np.testing.assert_array_equal(frames[-1].positions[12:14], setup.x[12:14])


def test_a_scene_file_says_what_breaks(tmp_path: Path):
    _part(tmp_path)
    (tmp_path / "scene.toml").write_text(
        """
        [scene]
        frames = 3
        [[solid]]
        file = "part.vtu"
        [fracture]
        failure_stress = 2e5
        erosion_strain = 0.5
        interval = 0.01
        [[blade]]
        edge = [[0.1, -0.1, 0.2], [0.1, 0.2, 0.2]]
        velocity = [0.0, 0.0, -10.0]
        begin = 0.005
        """
    )
    options = pliant.simulated.read_scene(tmp_path / "scene.toml").setup.options
    breaks = options["fracture"]
    assert (breaks.failure_stress, breaks.erosion_strain, breaks.interval) == (2e5, 0.5, 0.01)
    np.testing.assert_allclose(breaks.blades[0].at(0.015)[:, 2], 0.1)
    (tmp_path / "cloth.toml").write_text("[fracture]\nfailure_stress = 2e5\n[[cloth]]\nsize = [1.0, 1.0]\n")
    with pytest.raises(FileError, match="fracture: is of solids"):
        pliant.simulated.read_scene(tmp_path / "cloth.toml")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("[[cloth]]\nsize = [1.0, 1.0]", "cloth: there is a .*solid.*, too"),
        ("[scene]\nwind = [1.0, 0.0, 0.0]", "wind: there is no such key"),
        ('[materials.a]\nlike = "steel"\npoisson = 0.5', "poisson"),
        ('[[pin]]\nsolid = "solid 2"\nvertices = [0]', "solid 2"),
        ("[fracture]\nfailure = 3.0", "failure: there is no such key"),
        ("[fracture]\nfailure_stress = 0.0", "failure_stress"),
        ("[[blade]]\nedge = [[0.0, 0.0, 0.0]]\nvelocity = [0.0, 0.0, -1.0]", "needs two"),
        ("[[blade]]\nedge = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]", "velocity"),
    ],
)
def test_scene_files_say_what_is_wrong(tmp_path: Path, more: str, message: str):
    _part(tmp_path)
    (tmp_path / "scene.toml").write_text(f'[[solid]]\nfile = "part.vtu"\n{more}\n')
    with pytest.raises(FileError, match=message):
        pliant.simulated.read_scene(tmp_path / "scene.toml")


def test_bad_solids_are_named(tmp_path: Path):
    write(tmp_path / "flat.obj", FileMesh({"triangle": np.array([[0, 1, 2]])}, np.eye(3)))
    with pytest.raises(FileError, match="has no solid cells"):
        dropped([tmp_path / "flat.obj"], [])
    with pytest.raises(OptionError, match="load_volume"):
        pliant.simulated.load("octopi")
    with pytest.raises(OptionError, match="no simulated scene of solids"):
        pliant.simulated.load_volume("funnel")
    with pytest.raises(OptionError, match="did you mean 'rubber'"):
        dropped([tmp_path / "flat.obj"], [], material="ruber")


@pytest.mark.parametrize(("name", "cells", "frames"), [("airbag", 700, 4), ("car_crash", 200, 2)])
def test_scenes_of_shells_are_free_in_every_step(name: str, cells: int, frames: int):
    setup = pliant.simulated.setup(name, cells)
    assert isinstance(setup, SolidSetup)
    recording = Recording(setup)
    require_free_start(setup, recording.simulation)
    recording.run(frames, setup.rate, verify=True)
    assert recording.verified == recording.steps > 5 * (frames - 1)
    assert sum(row.contacts for row in recording.rows) > 0
    sequence = recording.sequence()
    assert abs(sequence[frames - 1] - sequence[0]).max() > 1e-3
    assert isinstance(sequence, Sequence)
    assert set(sequence.cell_data(0)) == {"stress", "plastic strain"}


@pytest.mark.parametrize("name", ["airbag", "car_crash"])
@pytest.mark.parametrize("cells", [300, 9000])
def test_shells_start_free_at_any_size(name: str, cells: int):
    setup = pliant.simulated.setup(name, cells, seed=cells)
    assert isinstance(setup, SolidSetup)
    found = pliant.check(VolumeMesh(setup.cells), setup.x)
    assert len(found) == 0
    simulation_mesh = VolumeMesh(setup.whole_cells)
    x = np.concatenate([setup.x, *(one.x for one in setup.listed_obstacles)])
    crossing = simulation_mesh.surface().faces[pliant.check(simulation_mesh, x).faces]
    assert (crossing >= len(setup.x)).all()  # parts of a wheel may go through each other


def _recorded(name: str, cells: int, frames: int) -> tuple[SolidSetup, Recording]:
    setup = pliant.simulated.setup(name, cells)
    assert isinstance(setup, SolidSetup)
    recording = Recording(setup)
    require_free_start(setup, recording.simulation)
    recording.run(frames, setup.rate, verify=True)
    return setup, recording


def test_a_bullet_breaks_a_plate_and_every_step_is_free(tmp_path: Path):
    setup, recording = _recorded("bullet", 300, 7)
    last = recording.rows[-1]
    assert recording.verified == recording.steps > 30
    assert last.copies > 0
    assert last.eroded > 0
    assert max(row.inverted for row in recording.rows) == 0
    sequence = recording.sequence()
    assert isinstance(sequence, ChangingSequence)
    assert sequence.runs[0].cell_count - sequence.runs[-1].cell_count == last.eroded
    assert sequence.runs[-1].parts is not None
    assert sequence.runs[-1].parts.names == ("plate", "bullet")
    data = sequence.runs[-1].cell_data(0)
    assert set(data) == {"stress", "plastic strain", "damage"}
    assert 0.2 < data["damage"].max() < 5.0
    # Kept on disk and read again, with all its meshes; as steps, each has the cells that are left.
    place = cache.place_of(setup)
    assert place is not None
    cache.keep(place, recording)
    kept = cache.read_kept(place, 7)
    assert kept is not None
    assert kept.rows == recording.rows
    scene = pliant.simulated.load_volume("bullet", 300, 7)
    assert len(scene.steps) == 6
    for before, step in pairwise(scene.steps):
        stay = np.delete(before.cells["hexahedron"], step.remove, axis=0)
        added = step.add.get("hexahedron", np.empty((0, 8), np.int32))
        np.testing.assert_array_equal(step.cells["hexahedron"], np.concatenate((stay, added)))
        np.testing.assert_array_equal(step.x0[: len(before.x1)], before.x1)


def test_a_liver_opens_behind_a_blade_and_every_step_is_free():
    setup, recording = _recorded("liver", 200, 46)
    last = recording.rows[-1]
    assert recording.verified == recording.steps >= 45
    assert last.divided > 5
    assert last.copies > 5
    assert max(row.inverted for row in recording.rows) == 0
    sequence = recording.sequence()
    assert isinstance(sequence, ChangingSequence)
    assert sequence.runs[-1].cell_count > sequence.runs[0].cell_count == setup.cell_count
    # Copies of a vertex are apart by more than some thousandths of a cell: it opens.
    parent = recording.simulation.frame().parent
    assert parent is not None
    x = sequence[len(sequence) - 1]
    copies = np.flatnonzero(np.bincount(parent)[parent] > 1)
    gap = max(np.linalg.norm(x[copies[parent[copies] == one]].std(axis=0)) for one in np.unique(parent[copies]))
    assert gap > 0.003
