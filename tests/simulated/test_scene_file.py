"""Scene files: what they say is simulated; what is wrong in one is named by file, table and key."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.runtime.reading import FileError
from pliant.scenes.shapes import icosphere, weave
from pliant.simulate import MATERIALS
from pliant.simulated import SceneFile, read_scene, scene_file
from pliant.simulated.bodies import CLOTH_KEYS, OBSTACLE_KEYS
from pliant.simulated.recording import NotFreeError, Recording, require_free
from tests.shapes.command_line import write_obj

SCENE = """
[scene]
name = "two sheets"
seconds = 0.1
rate = 50
gravity = [0.0, 0.0, -5.0]
friction = 0.4

[settings]
newton = 6

[materials.heavy]
like = "denim"
density = 0.6

[[cloth]]
name = "front"
size = [0.4, 0.4]
cells = [4, 4]
move = [0.0, 0.0, 0.2]
material = "heavy"

[[cloth]]
name = "back"
file = "cloth.obj"
move = [0.5, 0.0, 0.2]

[[obstacle]]
name = "ball"
ball = 0.1
triangles = 80
keyframes = [{time = 0.0}, {time = 0.1, move = [0.0, 0.0, 0.02], turn = [0.0, 0.0, 90.0]}]

[[obstacle]]
name = "body"
file = "body_##.obj"
rate = 10.0
move = [0.5, 0.0, -0.2]
friction = 0.1

[[pin]]
cloth = "front"
box = [[-0.3, -0.3, 0.0], [-0.1, -0.1, 1.0]]

[[seam]]
cloths = ["front", "back"]
pairs = [[24, 4], [23, 3]]

[output]
file = "out.npz"
"""

BOX, PAIRS = "box = [[-0.3, -0.3, 0.0], [-0.1, -0.1, 1.0]]", "pairs = [[24, 4], [23, 3]]"
SEWN = 'cloths = ["front", "back"]\n' + PAIRS
MADE_OF, CLOTH, SIZE = 'material = "heavy"', 'file = "cloth.obj"', "size = [0.4, 0.4]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    faces, uv = weave(4, 4)
    write_obj(tmp_path / "cloth.obj", np.column_stack((0.1 * uv - 0.2, np.zeros(len(uv)))), faces)
    ball_faces, ball = icosphere(2)
    for k in range(3):
        write_obj(tmp_path / f"body_{k:02d}.obj", 0.1 * ball + (0.0, 0.0, 0.01 * k), ball_faces)
    return tmp_path


def scene(folder: Path, old: str = "", new: str = "") -> SceneFile:
    assert old in SCENE
    path = folder / "scene.toml"
    path.write_text(SCENE.replace(old, new, 1) if old else SCENE, "utf-8")
    return read_scene(path)


def test_it_says_what_is_simulated(folder: Path):
    found = scene(folder)
    setup = found.setup
    assert (setup.name, setup.frames, setup.rate) == ("two sheets", 6, 50.0)
    assert found.output == folder / "out.npz"
    assert found.with_obstacles is False
    assert {path.name for path in found.files} == {"cloth.obj", "body_00.obj", "body_01.obj", "body_02.obj"}
    assert len(setup.faces) == 64
    np.testing.assert_allclose(setup.x[:25].mean(axis=0), (0, 0, 0.2), atol=0.02)
    assert setup.options["material"][0].density == 0.6
    assert setup.options["material"][1] == MATERIALS["cotton"]
    assert setup.settings.newton == 6
    np.testing.assert_array_equal(setup.options["joints"][0].pairs, [(24, 29), (23, 28)])
    inside = (setup.x[:25, :2] <= -0.1).all(axis=1)
    np.testing.assert_array_equal(setup.options["pins"][0].vertices, np.flatnonzero(inside))
    ball, body = setup.options["obstacles"]
    assert body.friction == 0.1
    np.testing.assert_allclose(body.path(0.15), body.x + (0, 0, 0.015), atol=1e-12)
    np.testing.assert_allclose(ball.path(0.05).mean(axis=0), (0, 0, 0.01), atol=1e-9)
    np.testing.assert_allclose(ball.path(1.0), ball.x[:, [1, 0, 2]] * (-1, 1, 1) + (0, 0, 0.02), atol=1e-12)
    parts = setup.parts()
    assert parts is not None
    assert parts.names == ("front", "back", "ball", "body")


def test_it_is_simulated_and_every_step_is_free(folder: Path):
    setup = scene(folder, "[[seam]]\ncloths", "[[spring]]\ncloths").setup
    recording = Recording(setup)
    recording.run(4, setup.rate, verify=True)
    recording.run(setup.frames, setup.rate, verify=True)  # goes on
    assert [row.frame for row in recording.rows] == list(range(6))
    assert recording.verified == recording.steps == 10
    whole = recording.sequence()
    alone = setup.without_obstacles(whole)
    assert (len(whole), len(alone[0])) == (6, 50)
    np.testing.assert_allclose(whole.times, np.arange(6) / 50, atol=1e-12)
    assert whole[5][:50].tobytes() == alone[5].tobytes()
    assert abs(alone[5] - alone[0]).max() > 0.01
    again = Recording(setup)
    again.run(setup.frames, setup.rate)
    np.testing.assert_allclose(again.sequence()[5], whole[5], atol=1e-9)  # times of the steps are rounded otherwise


def test_time_steps_may_be_adaptive(folder: Path):
    assert scene(folder, "newton = 6", 'step = "adaptive"').setup.settings.step == "adaptive"
    with pytest.raises(FileError, match=r"\[settings\], step: .*adptive"):
        scene(folder, "newton = 6", 'step = "adptive"')


def test_a_step_that_is_not_free_is_found(folder: Path):
    cloth = scene(folder).setup.begin()
    before = cloth.frame().scene
    with pytest.raises(NotFreeError, match="in a step that is to be free"):
        require_free(cloth, before, before * (1, 1, -1))


def test_copies_of_vertices_follow(folder: Path):
    """Files with a seam of texture coordinates have vertices twice; cloth would come apart there."""
    faces, x = (
        np.array([(0, 1, 2), (3, 4, 5)]),
        np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.0)]),
    )
    write_obj(folder / "cloth.obj", 0.1 * x, faces)
    setup = scene(folder, "pairs = [[24, 4], [23, 3]]", "pairs = [[24, 5]]").setup
    np.testing.assert_array_equal(setup.faces[32:], [(25, 26, 27), (26, 29, 27)])
    assert setup.options["joints"][0].pairs.tolist() == [[24, 27]]
    recording = Recording(setup)
    recording.run(3, setup.rate)
    last = recording.sequence()[2]
    assert last[25 + 3].tobytes() == last[25 + 1].tobytes()
    assert abs(last[28] - setup.x[28]).max() > 1e-4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'material = "heavy"',
            'materail = "heavy"',
            "1, materail: there is no such key; did you mean 'material'?",
        ),
        (
            'material = "heavy"',
            'material = "hevy"',
            "[[cloth]] 1, material: 'hevy' is not known; did you mean 'heavy'?",
        ),
        ("[[pin]]", "[[pins]]", "scene.toml: pins: there is no such key; did you mean 'pin'?"),
        ("[settings]", "[setting]", "did you mean 'settings'"),
        ("newton = 6", "newton = 0", "[settings], newton: newton=0 must be from 1 to 1000"),
        ("newton = 6", 'newton = "6"', "[settings], newton: must be a number, not '6'"),
        ("newton = 6", "newton = 6\nrest_angles = 3", "[settings], rest_angles: must be a text"),
        ("seconds = 0.1", "seconds = 0.1\nframes = 3", "[scene], seconds: frames is given, too"),
        ("seconds = 0.1", "frames = 1", "[scene], frames: must be a whole number from 2"),
        ("rate = 50", "rate = true", "[scene], rate: must be a number, not True"),
        ("rate = 50", "rate = inf", "[scene], rate: must be a number, not inf"),
        ("rate = 50", 'rate = 50\nunits = "metre"', "[scene], units: 'metre' is not known"),
        ("gravity = [0.0, 0.0, -5.0]", "gravity = [0.0, -5.0]", "[scene], gravity: must be a list of 3 numbers"),
        ('like = "denim"', 'like = "denm"', "[materials.heavy], like: 'denm' is not known; did you mean 'denim'?"),
        ("density = 0.6", "density = 600", "[materials.heavy], density: density=600.0 must be from"),
        ('like = "denim"\n', "", "[materials.heavy], stretch_warp: must be a number, not missing"),
        (SIZE, "size = [0.4, 0.0]", "[[cloth]] 1, size"),
        (
            "size = [0.4, 0.4]",
            'size = [0.4, 0.4]\nfile = "cloth.obj"',
            "[[cloth]] 1, size: one of file, size is needed",
        ),
        ("cells = [4, 4]", "cells = [4, 4000000]", "[[cloth]] 1, cells: must be two whole numbers"),
        ("cells = [4, 4]", "cells = [4000, 4000]", "budget"),
        ('name = "back"', 'name = "front"', "[[cloth]] 2, name: there is another cloth 'front'"),
        (
            'file = "cloth.obj"',
            'file = "nobody.obj"',
            "scene.toml: [[cloth]] 2, file: refers to 'nobody.obj', which does not exist",
        ),
        (
            'file = "cloth.obj"',
            'file = "../cloth.obj"',
            "[[cloth]] 2, file: refers to '../cloth.obj', which is outside",
        ),
        ('file = "body_##.obj"', 'file = "nobody_##.obj"', "[[obstacle]] 2, file: refers to 'nobody_##.obj'"),
        ('file = "body_##.obj"', 'file = "../body_##.obj"', "[[obstacle]] 2, file: refers to"),
        ("ball = 0.1", "ball = -0.1", "[[obstacle]] 1, ball: must be from"),
        ("{time = 0.0}", "{time = 0.2}", "[[obstacle]] 1, keyframes: times must be ascending"),
        ("{time = 0.0}", "{tme = 0.0}", "[[obstacle]] 1, keyframes 1, tme: there is no such key"),
        ("rate = 10.0", "rate = 10.0\nkeyframes = [{time = 0.0}]", "[[obstacle]] 2, keyframes: the file has frames"),
        ('cloth = "front"', 'cloth = "frnt"', "[[pin]] 1, cloth: 'frnt' is not known; did you mean 'front'"),
        (BOX, "box = [[9, 9, 9], [8, 8, 8]]", "there is no vertex of front in it"),
        (BOX, "vertices = [99]", "[[pin]] 1, vertices: there is no vertex 99"),
        (BOX, "vertices = [1.5]", "[[pin]] 1, vertices: must hold ids"),
        (PAIRS, "pairs = [[24, 4], [23, 99]]", "[[seam]] 1, pairs: there is no vertex 99: back has 25"),
        (PAIRS, "pairs = [[24, 4, 1]]", "[[seam]] 1, pairs: must have 2 numbers"),
        (
            'cloths = ["front", "back"]\n' + PAIRS,
            "pairs = [[1, 2], [4, 4]]",
            "scene.toml: [[seam]] 1, pairs: vertex 4 of",
        ),
        (BOX, BOX + "\n[[pin]]\nvertices = [3, 0]", "scene.toml: [[pin]] 2, vertices: vertex 0 of front is pinned by"),
        ('file = "out.npz"', 'file = "../out.npz"', "[output], file: '../out.npz' is outside"),
        ("[output]", "[output", "scene.toml: is not TOML"),
        ("[scene]", "cloth = 3\n[scene]", "is not TOML"),
        ("[scene]\n", "[[scene]]\n", "[scene] must be a table"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, old: str, new: str, message: str):
    with pytest.raises(FileError) as error:
        scene(folder, old, new)
    assert message in str(error.value)


def test_files_of_other_kinds_are_refused(folder: Path):
    path = folder / "scene.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="is not TOML"):
        read_scene(path)
    path.write_text("a = " + "[" * 100_000, "utf-8")
    with pytest.raises(FileError, match="is not TOML"):
        read_scene(path)
    path.write_bytes(b"#" * (5 << 20))
    with pytest.raises(FileError, match="too many for a scene file"):
        read_scene(path)
    path.write_text("", "utf-8")
    with pytest.raises(FileError, match=r"there is no \[\[cloth\]\]"):
        read_scene(path)
    with pytest.raises(FileError, match=r"nobody\.toml"):
        read_scene(folder / "nobody.toml")


def test_the_page_has_all_keys_and_its_example_is_read(tmp_path: Path):
    page = (Path(__file__).parents[2] / "docs" / "scene-file.md").read_text("utf-8")
    known = {*scene_file._TOP, *scene_file._SCENE, *scene_file._SETTINGS, *scene_file._PIN, *scene_file._SPRING}
    known |= {*CLOTH_KEYS, *OBSTACLE_KEYS, "time", "like"}
    assert [key for key in sorted(known) if not re.search(rf"[`\[{{ .]{key}\b", page)] == []
    (tmp_path / "scene.toml").write_text(page.split("```toml\n")[1].split("```")[0], "utf-8")
    found = read_scene(tmp_path / "scene.toml")
    assert (found.setup.frames, len(found.setup.faces), len(found.setup.listed_obstacles)) == (121, 7200, 1)


def test_public_names():
    for name in pliant.simulated.__all__:
        assert getattr(pliant.simulated, name) is not None
    with pytest.raises(AttributeError, match=r"pliant\.simulated"):
        pliant.simulated.nothing  # noqa: B018
