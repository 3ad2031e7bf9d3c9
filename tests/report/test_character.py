"""`pliant character`: exit codes, files that others read, and nothing half-written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.cli import main
from pliant.report import sequences

pytestmark = pytest.mark.filterwarnings("error")


def ended(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as end:
        main(["character", *map(str, arguments)])
    output = capsys.readouterr()
    return int(end.value.code or 0), output.out, output.err


SHORT = ("arm", "--clip", "bend", "--rate", "10", "--seconds", "0.5", "--skinning", "linear")


def test_collisions_are_listed_and_end_in_1(capsys):
    code, out, _ = ended(capsys, *SHORT)
    assert code == 1
    assert "forearm / upper_arm" in out
    assert "Collisions in" in out
    assert "of 6 frames" in out


def test_a_clean_clip_ends_in_0(capsys):
    code, out, _ = ended(capsys, "arm", "--clip", "bend", "--rate", "10", "--seconds", "0.2")
    assert code == 0
    assert "No collisions in 3 frames" in out


def test_json_is_all_that_is_printed(capsys):
    code, out, _ = ended(capsys, *SHORT, "--json")
    record = json.loads(out)
    assert code == 1
    assert (record["character"], record["clip"], record["frames"]) == ("arm", "bend", 6)
    assert record["pairs"] == len(record["list"]) > 0
    assert record["frames_with_collisions"] == len({one["frame"] for one in record["list"]})
    assert record["deepest"] == max(one["depth"] for one in record["list"])
    assert {"forearm", "upper_arm"} >= {bone for one in record["list"] for bone in one["bones"]}


def test_lists_in_files(capsys, tmp_path):
    code, out, _ = ended(capsys, *SHORT, "--csv", tmp_path / "found.csv", "--npz", tmp_path / "found.npz", "--quiet")
    assert (code, out) == (1, "")
    header, *rows = (tmp_path / "found.csv").read_text("utf-8").splitlines()
    assert header.split(",")[:6] == ["frame", "time", "kind", "vertex", "cell", "depth"]
    with np.load(tmp_path / "found.npz", allow_pickle=False) as file:
        assert len(file["vertex"]) == len(rows) > 0
        assert file["bones"].shape == (len(rows), 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("arm",), "choose a clip of arm with --clip; there are: bend"),
        (("arm", "--clip", "jump"), "no clip 'jump', but 'bend'"),
        (("elephant.glb", "--clip", "walk"), "there is no file elephant.glb"),
        ((*SHORT, "--output", "out.stl"), r"out.stl"),
        ((*SHORT, "--output", "missing/out.npz"), "missing is not a folder"),
        ((*SHORT, "--png", "missing/out.png"), "missing is not a folder"),
        ((*SHORT[:-1], "cubic"), "skinning"),
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
    code, out, _ = ended(capsys, *SHORT, "--output", path, "--png", tmp_path / "out.png")
    assert code == 1
    assert "out.npz" in out.replace("\n", "")
    character = pliant.scenes.load_character("arm").character
    with np.load(path, allow_pickle=False) as file:
        assert sorted(file) == ["colliding", "faces", "positions", "times"]
        np.testing.assert_allclose(file["times"], np.arange(6) / 10)
        np.testing.assert_array_equal(file["faces"], character.mesh.faces)
        np.testing.assert_array_equal(file["positions"][5], character.pose("bend", 0.5))
        assert file["colliding"].shape == (6, len(character.rest))
        assert file["colliding"].dtype == bool
        assert file["colliding"][5].any()
        assert not file["colliding"][0].any()
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.npz", "out.png"]


def test_a_folder_of_ply_files(capsys, tmp_path):
    meshio = pytest.importorskip("meshio")
    folder = tmp_path / "frames"
    assert ended(capsys, *SHORT, "--output", folder)[0] == 1
    character = pliant.scenes.load_character("arm").character
    assert [p.name for p in sorted(folder.iterdir())] == [f"frame_{i:04}.ply" for i in range(6)]
    mesh = meshio.read(folder / "frame_0005.ply")
    np.testing.assert_array_equal(mesh.points, character.pose("bend", 0.5))
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
