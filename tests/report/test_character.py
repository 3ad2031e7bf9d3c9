"""`pliant character`: exit codes, files that others read, and nothing half-written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.characters.body.tetrahedra import BodyError
from pliant.cli import main
from pliant.report import sequences

pytestmark = pytest.mark.filterwarnings("error")


def ended(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as end:
        main(["character", *map(str, arguments)])
    output = capsys.readouterr()
    return int(end.value.code or 0), output.out, output.err


SHORT = ("arm", "--clip", "bend", "--rate", "10", "--seconds", "0.5")


def blended(clip="bend", count=6, rate=10):
    """Pairs in each frame of the arm as it is: exact, and decided here without the command."""
    character = pliant.scenes.load_character("arm").character
    return [len(pliant.dcd(character.mesh, character.pose(clip, i / rate))) for i in range(count)]


def test_the_verdict_is_about_the_asset_as_it_is(capsys):
    """It said that an asset was clean whose repaired flesh was: 61 of 61 frames intersect as the file has them."""
    found = blended()
    assert found[0] == 0 < found[-1]
    code, out, _ = ended(capsys, *SHORT)
    assert code == 1
    frames = np.count_nonzero(found)
    verdict, repair = (out.index(words) for words in ("intersects itself in", "With Position Based Skinning"))
    assert f"intersects itself in {frames} of 6 frames: {sum(found)} pairs of triangles" in out
    assert verdict < repair
    assert "0 of 6 frames" in out[repair:]


def test_a_clean_clip_ends_in_0(capsys):
    assert sum(blended(count=3)) == 0
    code, out, _ = ended(capsys, "arm", "--clip", "bend", "--rate", "10", "--seconds", "0.2")
    assert code == 0
    assert "No triangles intersect in 3 frames" in out
    assert "Position Based" not in out  # there is nothing to repair


def test_one_clip_needs_no_name(capsys):
    code, out, _ = ended(capsys, "arm", "--rate", "10", "--seconds", "0.5", "--no-repair")
    assert code == 1
    assert "bend" in out
    assert "Position Based" not in out


def test_all_clips_are_played_by_default(capsys):
    code, out, _ = ended(capsys, "human", "--rate", "4", "--no-repair", "--json")
    clips = pliant.scenes.load_character("human").character.clips
    record = json.loads(out)
    assert [one["clip"] for one in record["clips"]] == list(clips)
    assert len(clips) > 1
    assert record["pairs"] == sum(one["pairs"] for one in record["clips"]) == len(record["list"])
    assert code == (1 if record["pairs"] else 0)
    chosen = list(clips)[1]
    _, out, _ = ended(capsys, "human", "--clip", chosen, "--rate", "4", "--no-repair", "--json")
    assert [one["clip"] for one in json.loads(out)["clips"]] == [chosen]


@pytest.mark.parametrize("width", [60, 100])
def test_rows_are_limited_and_as_wide_as_the_terminal(capsys, monkeypatch, width):
    """Every colliding frame was a row, and the bones of one ran over several lines."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    walk = ("human", "--clip", "walk", "--rate", "20", "--no-repair")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", ended(capsys, *walk)[1]).splitlines()
    assert max(map(len, lines)) <= width
    assert "... and 11 more frames (--all)" in lines
    assert len(lines) < 20
    every = ended(capsys, *walk, "--all")[1]
    assert "more frame" not in every
    assert every.count("\n") == len(lines) + 10


def test_dual_quaternions_are_another_asset(capsys):
    character = pliant.scenes.load_character("arm").character
    expected = sum(len(pliant.dcd(character.mesh, character.pose("bend", i / 10, "dual quaternion"))) for i in range(6))
    _, out, _ = ended(capsys, *SHORT, "--skinning", "dual quaternion", "--no-repair", "--json")
    assert json.loads(out)["pairs"] == expected


def test_json_is_all_that_is_printed(capsys):
    code, out, _ = ended(capsys, *SHORT, "--no-response", "--json")
    record, found = json.loads(out), blended()
    assert code == 1
    (clip,) = record["clips"]
    assert (record["character"], clip["clip"], clip["frames"]) == ("arm", "bend", 6)
    assert record["pairs"] == clip["pairs"] == sum(found)
    assert clip["frames_with_pairs"] == np.count_nonzero(found)
    assert clip["worst"] == {"frame": int(np.argmax(found)), "time": np.argmax(found) / 10, "pairs": max(found)}
    faces = [one for one in record["list"] if one["kind"] == "face-face"]
    flesh = [one for one in record["list"] if one["kind"] == "vertex-cell"]
    assert (len(faces), {one["clip"] for one in record["list"]}) == (sum(found), {"bend"})
    repair = clip["repair"]
    assert repair["frames_with_collisions"] == len({one["frame"] for one in flesh}) > 0
    assert repair["deepest"] == max(one["depth"] for one in flesh)
    assert {"forearm", "upper_arm"} >= {bone for one in flesh for bone in one["bones"]}


def test_lists_in_files(capsys, tmp_path):
    files = ("--csv", tmp_path / "found.csv", "--npz", tmp_path / "found.npz", "--quiet")
    code, out, _ = ended(capsys, *SHORT, "--no-repair", *files)
    assert (code, out) == (1, "")
    header, *rows = (tmp_path / "found.csv").read_text("utf-8").splitlines()
    assert header.split(",")[:6] == ["clip", "frame", "time", "kind", "face_0", "face_1"]
    with np.load(tmp_path / "found.npz", allow_pickle=False) as file:
        assert len(file["faces"]) == len(rows) == sum(blended())


@pytest.mark.data
def test_it_finds_in_a_file_what_scan_finds(capsys, data_folder):
    path = data_folder / "characters" / "CesiumMan.glb"
    scanned = pliant.scan(pliant.Sequence.open(path, rate=5), find="intersections", merge=True)
    assert scanned.intersection_counts.all()
    code, out, _ = ended(capsys, path, "--rate", "5", "--no-repair", "--json")
    assert code == 1
    (clip,) = json.loads(out)["clips"]
    assert clip["frames_with_pairs"] == clip["frames"] == len(scanned)
    assert clip["pairs"] == scanned.intersection_counts.sum()


@pytest.mark.parametrize("missing", [ModuleNotFoundError("bodies need tetgen", name="tetgen"), BodyError("not closed")])
def test_where_no_repair_can_be_made_the_verdict_stands(capsys, monkeypatch, missing):
    def fail(*_, **__):
        raise missing

    monkeypatch.setattr("pliant.report.character.play", fail)
    code, out, err = ended(capsys, *SHORT)
    assert code == 1
    assert "intersects itself in" in out
    assert str(missing) in out
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("arm", "--clip", "jump"), "no clip 'jump', but 'bend'"),
        (("elephant.glb", "--clip", "walk"), "elephant.glb: there is no such file, and no scene but"),
        ((*SHORT, "--output", "out.stl"), r"out.stl"),
        ((*SHORT, "--output", "missing/out.npz"), "missing is not a folder"),
        ((*SHORT, "--png", "missing/out.png"), "missing is not a folder"),
        (("human", "--output", "out.npz"), "--output takes one clip; choose it with --clip"),
        ((*SHORT, "--output", "out.npz", "--no-repair"), "--output"),
        ((*SHORT, "--skinning", "cubic"), "skinning"),
        ((*SHORT, "--update", "never"), "update"),
    ],
)
def test_errors_take_one_line_and_end_in_2(capsys, arguments, message):
    code, out, err = ended(capsys, *arguments)
    assert code == 2
    assert out == ""
    lines = [line for line in err.splitlines() if "compiling" not in line]
    assert len(lines) == 1
    assert lines[0].startswith("pliant: ")
    assert message in lines[0]


def test_a_bad_file_ends_in_2(capsys, tmp_path):
    (tmp_path / "bad.glb").write_bytes(b"glTF and no more")
    code, _, err = ended(capsys, tmp_path / "bad.glb", "--clip", "walk")
    assert code == 2
    assert "bad.glb" in err


def test_arrays_without_pickle(capsys, tmp_path):
    path = tmp_path / "out.npz"
    code, out, _ = ended(capsys, *SHORT, "--no-response", "--output", path, "--png", tmp_path / "out.png")
    assert code == 1
    assert "out.npz" in out.replace("\n", "")
    character = pliant.scenes.load_character("arm").character
    with np.load(path, allow_pickle=False) as file:
        assert sorted(file) == ["colliding", "faces", "positions", "times"]
        np.testing.assert_allclose(file["times"], np.arange(6) / 10)
        np.testing.assert_array_equal(file["faces"], character.mesh.faces)
        assert file["positions"].shape == (6, len(character.rest), 3)
        assert len(pliant.dcd(character.mesh, file["positions"][5])) < blended()[5]  # the repaired skin
        assert file["colliding"].shape == (6, len(character.rest))
        assert file["colliding"].dtype == bool
        assert file["colliding"][5].any()
        assert not file["colliding"][0].any()
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.npz", "out.png"]


def test_a_folder_of_ply_files(capsys, tmp_path):
    meshio = pytest.importorskip("meshio")
    folder = tmp_path / "frames"
    assert ended(capsys, *SHORT, "--no-response", "--output", folder)[0] == 1
    character = pliant.scenes.load_character("arm").character
    assert [p.name for p in sorted(folder.iterdir())] == [f"frame_{i:04}.ply" for i in range(6)]
    mesh = meshio.read(folder / "frame_0005.ply")
    assert mesh.points.shape == character.rest.shape
    np.testing.assert_array_equal(mesh.cells_dict["triangle"], character.mesh.faces)
    red = mesh.point_data["colliding"] == 1
    assert 0 < red.sum() < 300
    colours = {name: mesh.point_data[name].astype(np.uint8) for name in ("red", "green")}  # meshio has them signed
    assert (colours["red"][red] > 2 * colours["green"][red]).all()
    code, _, err = ended(capsys, *SHORT, "--output", folder)
    assert code == 2
    assert "is not an empty folder" in err


def test_formats_of_other_tools_are_written_by_io(monkeypatch, tmp_path):
    played = sequences.Played(np.arange(2.0), np.ones((2, 3, 3)), np.zeros((2, 3), bool), np.array([[0, 1, 2]]))
    written = []
    monkeypatch.setattr(pliant.io, "write_sequence", lambda *arguments: written.append(arguments), raising=False)
    sequences.write(tmp_path / "walk.pc2", played)
    ((path, sequence),) = written
    assert path == tmp_path / "walk.pc2"
    assert len(sequence) == 2
    np.testing.assert_array_equal(sequence.times, played.times)
    np.testing.assert_array_equal(sequence[1], played.positions[1])
    with pytest.raises(pliant.MeshError, match=r"\.npz file, to a folder .*\.pc2"):
        sequences.write(tmp_path / "walk.fbx", played)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_nothing_half_written_is_left(monkeypatch, tmp_path, error):
    played = sequences.Played(np.zeros(3), np.zeros((3, 4, 3)), np.zeros((3, 4), bool), np.array([[0, 1, 2]]))
    ply, calls = sequences.ply, []

    def fail(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise error
        return ply(*arguments)

    monkeypatch.setattr(sequences, "ply", fail)
    with pytest.raises(error):
        sequences.write(tmp_path / "frames", played)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(sequences, "ply", ply)
    sequences.write(tmp_path / "frames", played)
    assert len(list(Path(tmp_path / "frames").iterdir())) == 3
