"""Every verb: what it finds, how it ends, and what it says to people."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pliant
from tests.shapes.command_line import APART, CROSSING, FACES, Call, obj, put_on_stdin, soup, write_obj
from tests.shapes.cube import CUBE, CUBE_FACES

SELFINT = {
    "Generic_Twin_7863.1.t0_right.obj": 3, "Generic_Twin_7081.1.t0_right.obj": 64, "rabbit.obj": 195, "soup.stl": 1248,
    "suzanne.ply": 98, "target.obj": 7, "doubleLoopWithCube.obj": 792, "two-cubes-close.ply": 0, "two-cubes-far.ply": 0,
}  # fmt: skip


@pytest.fixture
def crossing(tmp_path: Path) -> Path:
    return write_obj(tmp_path / "crossing.obj", CROSSING)


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    return write_obj(tmp_path / "apart.obj", APART)


@pytest.fixture
def cloth(tmp_path: Path) -> Path:
    """Five frames of a cloth: contacts in each but the first."""
    scene = pliant.scenes.load("twisted_cloth", triangles=300, frames=5)
    np.savez(tmp_path / "cloth.npz", frames=scene.frames, faces=scene.faces, objects=scene.objects)
    return tmp_path / "cloth.npz"


class TestCheck:
    def test_codes(self, call: Call, crossing: Path, apart: Path):
        assert call("check", crossing).code == 1
        assert call("check", apart).code == 0
        assert call("check", apart, crossing).code == 1
        assert call("check", crossing, crossing.with_name("nobody.obj")).code == 2

    def test_it_says_which_faces_and_where(self, call: Call, crossing: Path):
        ended = call("check", crossing)
        assert f"{crossing.as_posix()}: 1 pair of triangles intersect (2 triangles, 6 vertices)\n" in ended.out
        assert "(0.6667, 0.6667, 0)" in ended.out
        assert ended.err == ""

    def test_many_files_are_a_table_with_the_worst_first(self, call: Call, crossing: Path, apart: Path, tmp_path: Path):
        worse = write_obj(tmp_path / "worse.obj", *soup(12))
        lines = call("check", "--each", apart, crossing, worse).out.splitlines()
        assert [line.split()[-1] for line in lines[1:4]] == [path.as_posix() for path in (worse, crossing, apart)]
        assert lines[3].split()[0] == "clean"
        assert lines[5].startswith("3 files: 1 clean, ")

    def test_a_broken_file_does_not_hide_the_others(self, call: Call, crossing: Path, tmp_path: Path):
        broken = tmp_path / "broken.obj"
        broken.write_text("v 0 0 zero\n", "utf-8")
        ended = call("check", broken, crossing, "--json")
        assert ended.code == 2
        assert ended.json["pairs"] == 1
        assert ended.json["files"][0].keys() == {"file", "error"}
        assert ended.err.startswith("pliant: broken.obj")
        assert ended.err.count("\n") == 1

    def test_vertices_at_equal_positions_are_one(self, call: Call, tmp_path: Path):
        """Two triangles side by side, with the corners of the seam written twice, one as -0.0."""
        x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, -0.0], [1, 1, 0], [-0.0, 1.0, 0]])
        seam = write_obj(tmp_path / "seam.obj", x)
        assert call("check", seam).code == 0
        assert call("check", seam, "--no-merge").code == 1

    def test_pairs_of_objects(self, call: Call, crossing: Path):
        assert call("check", crossing, "--pairs", "inter").code == 1
        assert call("check", crossing, "--pairs", "self").code == 0

    def test_standard_input(self, call: Call, monkeypatch: pytest.MonkeyPatch):
        put_on_stdin(monkeypatch, obj(CROSSING).encode())
        ended = call("check", "-")
        assert ended.code == 1
        assert ended.out.startswith("standard input: 1 pair")

    def test_standard_input_of_a_named_format(self, call: Call, monkeypatch: pytest.MonkeyPatch):
        off = "OFF 6 2 0\n" + "\n".join(" ".join(map(str, row)) for row in CROSSING.tolist()) + "\n3 0 1 2\n3 3 4 5\n"
        put_on_stdin(monkeypatch, ("# a remark\n" + off).encode())
        assert call("check", "-", "--format", "off").code == 1
        put_on_stdin(monkeypatch, b"\x00\x01\x02")
        ended = call("check", "-")
        assert ended.code == 2
        assert "cannot detect the format of standard input; pass --format" in ended.err

    def test_quiet_says_nothing(self, call: Call, crossing: Path):
        assert call("check", crossing, "-q") == (1, "", "")

    def test_verbose_says_what_stages_did(self, call: Call, crossing: Path):
        assert "pairs out" in call("check", crossing, "-v").out

    @pytest.mark.data
    @pytest.mark.parametrize(("name", "count"), SELFINT.items())
    def test_real_meshes_have_exactly_the_listed_pairs(self, call: Call, data_folder: Path, name: str, count: int):
        ended = call("check", data_folder / "selfint" / name, "--json")
        assert ended.json["pairs"] == len(ended.json["list"]) == count
        assert ended.code == int(count > 0)
        pairs = [tuple(one["faces"]) for one in ended.json["list"]]
        assert pairs == sorted(set(pairs))
        assert all(a < b for a, b in pairs)


class TestMotions:
    def test_contacts_from_a_to_b(self, call: Call, apart: Path, crossing: Path):
        ended = call("ccd", apart, crossing, "--json")
        x1 = CROSSING
        assert ended.code == 1
        found = pliant.ccd(FACES, APART, x1)
        assert ended.json["contacts"] == len(found) > 0
        assert [one["toi"] for one in ended.json["list"]] == found.toi.tolist()
        assert call("ccd", apart, apart).code == 0

    def test_words(self, call: Call, apart: Path, crossing: Path):
        out = call("ccd", apart, crossing).out
        assert "vertex-face" in out
        assert "the first at t = " in out
        assert "no contact" in call("ccd", apart, apart).out

    def test_a_tangled_start_is_said(self, call: Call, crossing: Path):
        ended = call("ccd", crossing, crossing)
        assert ended.err.startswith("pliant: the motion starts tangled: faces 0 and 1 intersect")
        assert call("ccd", crossing, crossing, "--tangled", "ignore").err == ""
        assert call("ccd", crossing, crossing, "--tangled", "raise").code == 2

    def test_a_distance_can_be_kept(self, call: Call, tmp_path: Path, apart: Path):
        nearer = write_obj(tmp_path / "nearer.obj", APART - np.array([[0, 0, 0]] * 3 + [[0, 0, 3.5]] * 3))
        assert call("ccd", apart, nearer).code == 0
        assert call("ccd", apart, nearer, "--min-distance", "1").code == 1
        assert call("step", apart, nearer, "--min-distance", "1").code == 1

    def test_step(self, call: Call, apart: Path, crossing: Path):
        ended = call("step", apart, crossing, "--json")
        step = pliant.safe_step(FACES, APART, CROSSING)
        assert (ended.code, ended.json["t"], ended.json["contacts"]) == (1, step.t, 1)
        assert "free of contact up to t = " in call("step", apart, crossing).out
        free = call("step", apart, apart, "--json")
        assert (free.code, free.json["t"], free.json["contacts"], free.json["list"]) == (0, 1.0, 0, [])

    def test_a_and_b_must_be_one_mesh(self, call: Call, tmp_path: Path, apart: Path):
        other = write_obj(tmp_path / "other.obj", APART[:3], FACES[:1])
        turned = write_obj(tmp_path / "turned.obj", APART, FACES[::-1])
        for wrong, says in ((other, "has 6 vertices"), (turned, "different faces")):
            ended = call("ccd", apart, wrong)
            assert ended.code == 2
            assert says in ended.err
            assert "must be one mesh, moved" in ended.err

    def test_a_sequence_has_contacts_between_frames(self, call: Call, cloth: Path):
        ended = call("ccd", cloth, "--json")
        sequence = pliant.Sequence.open(cloth)
        counts = [len(pliant.ccd(sequence.faces, sequence[i], sequence[i + 1])) for i in range(4)]
        assert [one["contacts"] for one in ended.json["frames"][1:]] == counts
        assert ended.json["contacts"] == sum(counts) > 0
        assert all("pairs" not in one for one in ended.json["frames"])


class TestScan:
    def test_frames_are_those_of_the_library(self, call: Call, cloth: Path):
        ended = call("scan", cloth, "--json")
        found = pliant.scan(pliant.Sequence.open(cloth))
        assert ended.code == 1
        assert [one.get("contacts", 0) for one in ended.json["frames"]] == found.contact_counts.tolist()
        assert [one["pairs"] for one in ended.json["frames"]] == found.intersection_counts.tolist()
        assert ended.json["contacts"] == found.contact_counts.sum()
        assert ended.json["pairs"] == found.intersection_counts.sum()
        assert len(ended.json["list"]) == ended.json["contacts"] + ended.json["pairs"]

    def test_chosen_frames_keep_their_numbers(self, call: Call, cloth: Path):
        every = call("scan", cloth, "--json").json
        some = call("scan", cloth, "--json", "--from", "1", "--to", "-1").json
        assert [one["frame"] for one in some["frames"]] == [1, 2, 3, 4]
        assert [one["contacts"] for one in some["frames"][1:]] == [one["contacts"] for one in every["frames"][2:]]
        assert {one["frame"] for one in some["list"]} <= {1, 2, 3, 4}
        thin = call("scan", cloth, "--json", "--every", "2", "--find", "intersections").json
        assert [one["frame"] for one in thin["frames"]] == [0, 2, 4]
        assert [one["pairs"] for one in thin["frames"]] == [one["pairs"] for one in every["frames"][::2]]

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--from", "5"], "there is no frame 5: cloth.npz has frames 0 to 4"),
            (["--from", "3", "--to", "1"], "after"),
        ],
    )
    def test_frames_that_are_not_there(self, call: Call, cloth: Path, options: list[str], says: str):
        ended = call("scan", cloth, *options)
        assert ended.code == 2
        assert says in ended.err

    def test_the_worst_frames_come_first(self, call: Call, cloth: Path):
        out = call("scan", cloth).out.splitlines()
        begin = next(i for i, line in enumerate(out) if line.split()[:2] == ["frame", "vertex-face"])
        order = [int(line.split()[0]) for line in out[begin + 1 :] if line[:1] == " " and line.split()[0].isdigit()]
        found = pliant.scan(pliant.Sequence.open(cloth))
        assert order == [one.number for one in found.worst()]
        assert any(line.startswith("0 with 1") for line in out)

    def test_a_clean_sequence(self, call: Call, tmp_path: Path):
        np.savez(tmp_path / "still.npz", frames=np.stack((APART, APART)), faces=FACES)
        ended = call("scan", tmp_path / "still.npz")
        assert ended.code == 0
        assert "0 contacts between frames and 0 pairs of triangles that intersect." in ended.out

    def test_numbered_files(self, call: Call, tmp_path: Path):
        for i in range(3):
            write_obj(tmp_path / f"frame_{i}.obj", APART + (CROSSING - APART) * (i / 2))
        ended = call("scan", tmp_path / "frame_*.obj", "--json")
        assert [one["pairs"] for one in ended.json["frames"]] == [0, 0, 1]
        assert ended.json["contacts"] > 0

    def test_an_embedded_scene(self, call: Call, monkeypatch: pytest.MonkeyPatch):
        scene = pliant.scenes.load("crumpled_sheet", 60, 3)
        monkeypatch.setattr(pliant.scenes, "load", lambda *sizes: scene)
        assert call("scan", "crumpled_sheet", "-q").code == 1
        assert call("ccd", "crumpled_sheet", "-q").code == 1

    @pytest.mark.parametrize(
        ("name", "says"), [("crumpled_shet", "pliant scenes lists"), ("human", "pliant character human")]
    )
    def test_a_scene_that_is_none(self, call: Call, name: str, says: str):
        ended = call("scan", name)
        assert ended.code == 2
        assert says in ended.err

    def test_the_page_calls_frames_as_the_file_does(self, call: Call, cloth: Path, tmp_path: Path):
        """Of `--from 2` the table had frames 2, 3 and 4, and the page and the pictures 0, 1 and 2."""
        assert call("scan", cloth, "--from", "2", "--report", tmp_path / "page.html").code == 1
        assert '"numbers":[2,3,4]' in (tmp_path / "page.html").read_text("utf-8")

    def test_standard_input(self, call: Call, cloth: Path, monkeypatch: pytest.MonkeyPatch):
        put_on_stdin(monkeypatch, cloth.read_bytes())
        assert call("scan", "-", "--json", "--find", "contacts").json["contacts"] > 0


class TestOthers:
    def test_near(self, call: Call, apart: Path):
        found = pliant.proximity(FACES, APART, within=5.0)
        ended = call("near", apart, "--within", "5", "--json")
        assert ended.code == 1
        assert ended.json["pairs"] == len(found) > 0
        assert [one["distance"] for one in ended.json["list"]] == found.distance.tolist()
        assert call("near", apart, "--within", "0.1").code == 0
        assert "closest 4" in call("near", apart, "--within", "5").out
        assert call("near", apart, "--within", "-1").code == 2

    def test_inside(self, call: Call, tmp_path: Path, apart: Path):
        path = tmp_path / "two.veg"
        path.write_text(TETRAHEDRA, "utf-8")
        ended = call("inside", path, "--json")
        assert ended.code == 1
        assert ended.json["pairs"] == 1
        assert [(one["vertex"], one["cell"]) for one in ended.json["list"]] == [(4, 0)]
        assert call("inside", path, "--pairs", "self").code == 0
        assert "1 vertex in 1 cell" in call("inside", path).out
        assert call("inside", path, "--no-depth", "--json").json["list"][0]["depth"] is None
        surface = call("inside", apart)
        assert surface.code == 2
        assert "pliant check finds what intersects" in surface.err

    def test_scenes_are_listed(self, call: Call):
        listed = call("scenes", "--json")
        names = [one["name"] for one in listed.json["scenes"]]
        assert listed.code == 0
        by_formula = [*pliant.scenes.names(), *pliant.scenes.volume_names(), *pliant.scenes.character_names()]
        simulated = [*pliant.simulated.names(), *pliant.simulated.volume_names()]
        assert names == by_formula + [f"simulated_{name}" for name in simulated]
        assert "20,000 triangles" in call("scenes").out

    def test_words_are_not_cut_on_a_terminal(self, call: Call, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "50")
        lines = re.sub(r"\x1b\[[0-9;]*m", "", call("scenes", "ball_heap", "--triangles", "200").out).splitlines()
        assert max(map(len, lines)) <= 50
        words = " ".join(line.strip() for line in lines)
        assert "Look at it: pliant scan ball_heap. Export it: pliant scenes ball_heap --output ball_heap.npz" in words

    def test_one_scene(self, call: Call):
        ended = call("scenes", "ball_heap", "--triangles", "200", "--frames", "3", "--json")
        assert ended.json["scenes"][0]["frames"] == 3
        assert call("scenes", "bal_heap").err == "pliant: " + _message(lambda: pliant.scenes.load("bal_heap")) + "\n"
        assert "pliant character human" in call("scenes", "human").err
        assert call("scenes", "--output", "x.npz").code == 2

    def test_bench(self, call: Call):
        ended = call("bench", "--scene", "crumpled_sheet", "--triangles", "60", "--repeats", "1", "--json")
        assert [one["query"] for one in ended.json["times"]] == ["ccd", "dcd", "safe_step"]
        listed = call("bench", "--scene", "crumpled_sheet", "--triangles", "60", "--repeats", "1", "--csv", "-")
        assert listed.out.startswith("query,seconds,found\nccd,")
        assert "best of 1" in call("bench", "--scene", "crumpled_sheet", "--triangles", "60", "--repeats", "1").out

    def test_parts_of_the_benchmarks_need_a_checkout(self, call: Call, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("pliant.commands.shows._checkout", lambda: None)
        assert "in a checkout" in call("bench", "peers").err


def _message(job) -> str:
    with pytest.raises(ValueError, match="no scene") as error:
        job()
    return str(error.value)


# The second tetrahedron has a corner in the first.
TETRAHEDRA = """*VERTICES
8 3 0 0
1 0 0 0
2 3 0 0
3 0 3 0
4 0 0 3
5 0.5 0.5 0.5
6 5 5 5
7 6 5 5
8 5 6 5
*ELEMENTS
TET
2 4 0
1 1 2 3 4
2 5 6 7 8
"""


class TestFiles:
    def test_the_end_of_a_safe_step(self, call: Call, apart: Path, crossing: Path, tmp_path: Path):
        path = tmp_path / "safe.obj"
        assert call("step", apart, crossing, "--output", path).code == 1
        positions = pliant.safe_step(FACES, APART, CROSSING).positions
        assert np.array_equal(pliant.io.read(path).points, positions)
        assert call("ccd", apart, path).code == 0

    def test_offenders(self, call: Call, apart: Path, crossing: Path, cloth: Path, tmp_path: Path):
        for verb in (["check", crossing], ["ccd", apart, crossing], ["scan", cloth], ["ccd", cloth]):
            path = tmp_path / "red.ply"
            path.unlink(missing_ok=True)
            ended = call(*verb, "--offenders", path)
            assert ended.code == 1
            assert ended.out.endswith(f"Wrote {path.as_posix()}\n")
            assert len(pliant.io.read(path).points) > 0
        assert "one by one" in call("check", "--each", crossing, apart, "--offenders", tmp_path / "red.ply").err

    def test_convert_a_mesh(self, call: Call, crossing: Path, tmp_path: Path):
        path = tmp_path / "same.ply"
        assert call("convert", crossing, path).code == 0
        assert np.array_equal(pliant.io.read(path).points, CROSSING)
        assert call("convert", crossing, tmp_path / "same.xyz").code == 2
        assert call("convert", crossing, crossing).code == 2

    def test_convert_through_pipes(self, call: Call, monkeypatch: pytest.MonkeyPatch):
        put_on_stdin(monkeypatch, obj(CROSSING).encode())
        ended = call("convert", "-", "-", "--format", "obj")
        assert ended.code == 0
        assert sorted(ended.out.split()) == sorted(obj(CROSSING).split())
        put_on_stdin(monkeypatch, obj(CROSSING).encode())
        assert "--format" in call("convert", "-", "-").err

    def test_convert_a_sequence(self, call: Call, cloth: Path, tmp_path: Path):
        ended = call("convert", cloth, tmp_path / "frame_%03d.obj", "--from", "1", "--to", "3", "--json")
        assert ended.json["frames"] == 3
        assert len(list(tmp_path.glob("frame_*.obj"))) == 3
        back = tmp_path / "back.npz"
        assert call("convert", tmp_path / "frame_*.obj", back).code == 0
        assert np.array_equal(pliant.Sequence.open(back)[2], pliant.Sequence.open(cloth)[3])

    def test_export_a_scene(self, call: Call, tmp_path: Path):
        path = tmp_path / "sheet.npz"
        assert call("scenes", "crumpled_sheet", "--triangles", "60", "--frames", "3", "--output", path).code == 0
        sequence, scene = pliant.Sequence.open(path), pliant.scenes.load("crumpled_sheet", 60, 3)
        assert np.array_equal(sequence[2], scene.frames[2])
        assert np.array_equal(sequence.faces, scene.faces)

    def test_export_into_a_folder(self, call: Call, tmp_path: Path):
        scene = ["crumpled_sheet", "--triangles", "60", "--frames", "3"]
        assert call("scenes", *scene, "--output", tmp_path / "sheet").code == 0
        names = ["frame_0000.ply", "frame_0001.ply", "frame_0002.ply"]
        assert sorted(path.name for path in (tmp_path / "sheet").iterdir()) == names
        assert "not an empty folder" in call("scenes", *scene, "--output", tmp_path / "sheet").err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["sheet"]

    def test_report_and_pictures(self, call: Call, cloth: Path, tmp_path: Path):
        pytest.importorskip("pliant.report.pages")
        page, sheet = tmp_path / "report.html", tmp_path / "sheet.png"
        assert call("scan", cloth, "--report", page, "--png", sheet, "--up", "z").code == 1
        assert page.read_text("utf-8").startswith("<!doctype html>") or page.stat().st_size > 10_000
        assert sheet.read_bytes().startswith(b"\x89PNG")


def test_a_tangled_start_promises_no_free_mesh(call: Call, tmp_path: Path):
    """Where the way ends at once the mesh is as tangled as it was; and no Python is at hand to call pliant.dcd."""
    a = write_obj(
        tmp_path / "a.obj", np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0.5, 0.5, 0], [0.5, 0.5, 1], [1, 1, 1.0]])
    )
    b = write_obj(tmp_path / "b.obj", CROSSING)
    ended = call("step", a, b)
    assert ended.code == 1
    assert f"intersect at the start; pliant check {a.as_posix()} lists them" in ended.err
    assert "pliant.dcd" not in ended.err
    assert "no part of the motion is free of contact: at t = 0 vertex 3 and face 0 meet" in ended.out
    assert "verified" not in ended.out
    assert "free of contact up to" not in ended.out
    raised = call("ccd", a, b, "--tangled", "raise")
    assert (raised.code, f"pliant check {a.as_posix()} lists them" in raised.err) == (2, True)


def test_coincident_bodies_that_merging_joins_are_said(call: Call, tmp_path: Path):
    """Two cubes in one place became one body: nothing told of the other one."""
    corners = CUBE[CUBE_FACES].reshape(-1, 3)
    x = np.concatenate((corners, corners))
    path = write_obj(tmp_path / "coin.obj", x, np.arange(len(x)).reshape(-1, 3))
    out = call("check", path).out
    assert "12 faces have the same corners as another face then: bodies that coincide were joined into one" in out
    assert "12 faces" in call("near", path, "--within", "0.01").out
    assert "joined" not in call("check", path, "--no-merge").out
    once = write_obj(tmp_path / "once.obj", corners, np.arange(len(corners)).reshape(-1, 3))
    assert "joined" not in call("check", once).out
