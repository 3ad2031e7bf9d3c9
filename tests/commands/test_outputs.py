"""Results for machines: JSON by its schema, CSV, NPZ; files that are whole or not there; closed pipes."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pliant
from tests.shapes.command_line import APART, CROSSING, FACES, Call, put_on_stdin, soup, write_obj

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    np.savez(tmp_path / "moving.npz", frames=np.stack((APART, CROSSING)), faces=FACES)
    (tmp_path / "broken.obj").write_text("f 1 2 3\n", "utf-8")
    return {
        "apart": write_obj(tmp_path / "apart.obj", APART),
        "crossing": write_obj(tmp_path / "crossing.obj", CROSSING),
        "moving": tmp_path / "moving.npz",
        "broken": tmp_path / "broken.obj",
        "folder": tmp_path,
    }


CALLS = [
    "check apart", "check crossing", "check crossing apart broken", "check broken", "ccd apart crossing",
    "ccd apart apart", "ccd moving", "ccd apart crossing --min-distance 1", "step apart crossing", "step apart apart",
    "near apart --within 5", "near apart --within 0.1", "scan moving", "scan moving --find contacts",
    "scan moving --find intersections", "scan moving --to 0", "scenes", "scenes crumpled_sheet --triangles 60",
    "bench --scene crumpled_sheet --triangles 60 --repeats 1",
]  # fmt: skip


@pytest.mark.parametrize("line", CALLS)
def test_json_keeps_to_the_published_schema(call: Call, files: dict[str, Path], line: str):
    ended = call(*(str(files.get(word, word)) for word in line.split()), "--json")
    jsonschema.Draft202012Validator(published(call)).validate(ended.json)
    if "list" in ended.json:
        assert len(ended.json["list"]) == ended.json.get("pairs", 0) + ended.json.get("contacts", 0)
        assert ended.code == (2 if "broken" in line else int(bool(ended.json["list"])))


def published(call: Call) -> dict:
    return call("schema").json


def test_the_schema_is_one_itself_and_not_too_lenient(call: Call):
    schema = published(call)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = {"verb": "check", "pliant": "1", "pairs": 0, "files": [{"file": "a", "error": "broken"}], "list": []}
    assert validator.is_valid(good)
    for wrong in ({"pairs": []}, {"pairs": -1}, {"list": [[0, 1]]}, {"verb": "scan"}, {"files": []}, {"more": 1}):
        assert not validator.is_valid(good | wrong), wrong


def test_characters_keep_to_it_too(call: Call):
    for how in ("--no-repair", "--no-response"):
        ended = call("character", "arm", "--rate", "4", how, "--json")
        jsonschema.Draft202012Validator(published(call)).validate(ended.json)
        of_asset = [one for one in ended.json["list"] if one["kind"] == "face-face"]
        assert ended.json["pairs"] == len(of_asset) > 0
        assert (len(ended.json["list"]) > len(of_asset)) == (how == "--no-response")


def test_csv_has_a_row_for_each(call: Call, files: dict[str, Path]):
    path = files["folder"] / "found.csv"
    ended = call("check", files["crossing"], "--csv", path)
    assert ended.out.endswith(f"Wrote {path.as_posix()}\n")
    (row,) = csv.DictReader(path.read_text("utf-8").splitlines())
    assert (row["face_0"], row["face_1"], row["coplanar"]) == ("0", "1", "False")
    found = pliant.dcd(FACES, CROSSING)
    assert [float(row[f"end_1_{axis}"]) for axis in "xyz"] == found.segments[0, 1].tolist()


def test_csv_of_contacts_and_intersections_together(call: Call, files: dict[str, Path]):
    ended = call("scan", files["moving"], "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    contacts = pliant.ccd(FACES, APART, CROSSING)
    assert [float(row["toi"]) for row in rows if row["toi"]] == contacts.toi.tolist()
    assert [row["kind"] for row in rows][-1] == "face-face"
    assert (rows[-1]["toi"], rows[-1]["face_1"], rows[0]["face_1"], rows[0]["frame"]) == ("", "1", "", "1")


def test_npz_has_columns_and_no_pickle(call: Call, files: dict[str, Path]):
    path = files["folder"] / "found.npz"
    call("ccd", files["apart"], files["crossing"], "--npz", path, "-q")
    contacts = pliant.ccd(FACES, APART, CROSSING)
    with np.load(path, allow_pickle=False) as found:
        for name in ("elements", "vertices", "toi", "toi_upper", "gap", "normal", "weights"):
            assert np.array_equal(found[name], getattr(contacts, name)), name
        assert found["kind"].tolist() == [("vertex-face", "edge-edge")[kind] for kind in contacts.kind]
        assert json.loads(str(found["about"]))["contacts"] == len(contacts)


def test_npz_names_the_files(call: Call, files: dict[str, Path]):
    path = files["folder"] / "found.npz"
    call("check", "--each", files["crossing"], files["apart"], "--npz", path)
    with np.load(path, allow_pickle=False) as found:
        assert found["pairs_file"].tolist() == [files["crossing"].as_posix()]


def test_npz_to_standard_output(files: dict[str, Path]):
    done = subprocess.run(pliant_command("scan", files["moving"], "--npz", "-"), capture_output=True, env=environment())
    assert done.returncode == 1
    with np.load(io.BytesIO(done.stdout), allow_pickle=False) as found:
        assert found["pairs_faces"].tolist() == [[0, 1]]
        assert len(found["contacts_toi"]) > 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--json", "--csv", "-"], "give the others a file"),
        (["--npz", "-", "--csv", "-"], "give the others a file"),
        (["--csv", "nowhere/found.csv"], "nowhere is not a folder"),
        (["--npz", "."], "it is a folder"),
    ],
)
def test_what_cannot_be_written_is_said_first(
    call: Call, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, options: list[str], says: str
):
    monkeypatch.setattr(pliant.io, "read", lambda path: pytest.fail("it was read"))
    ended = call("check", files["crossing"], *options)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert says in ended.err


def test_an_interrupt_while_writing_leaves_the_old_file(
    call: Call, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
):
    path = files["folder"] / "found.npz"
    path.write_bytes(b"old")
    before = sorted(files["folder"].iterdir())

    def interrupted(file: io.BufferedWriter, **arrays: object) -> None:
        file.write(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    assert call("check", files["crossing"], "--npz", path).code == 130
    assert path.read_bytes() == b"old"
    assert sorted(files["folder"].iterdir()) == before


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_ctrl_c_ends_a_run_and_leaves_nothing(tmp_path: Path):
    """A scan that would take minutes is interrupted once it has begun."""
    scene = pliant.scenes.load("flat_sheets", triangles=4_000, frames=2)
    frames = np.concatenate([scene.frames] * 100)
    np.savez(tmp_path / "long.npz", frames=frames, faces=scene.faces)
    script = f"""
import pliant, pliant.frames.scanning as s
before = s.scan_frames
def told(*given, **options):
    for one in before(*given, **options):
        print("BEGUN", flush=True) if one.number == 1 else None
        yield one
s.scan_frames = told
from pliant.cli import main
main(["scan", {str(tmp_path / "long.npz")!r}, "--csv", {str(tmp_path / "found.csv")!r}])
"""
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "BEGUN\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 130, err
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["long.npz"]


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
def test_nobody_reading_is_no_error(tmp_path: Path):
    path = write_obj(tmp_path / "soup.obj", *soup())
    for output in (["--json"], ["--csv", "-"], ["--all"]):
        child = subprocess.Popen(
            pliant_command("check", path, *output), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        assert b"Traceback" not in child.stderr.read()
        assert child.wait() in (1, 141)


def test_names_need_not_be_ascii(call: Call, tmp_path: Path):
    path = write_obj(tmp_path / "Käfer 虫.obj", CROSSING)
    assert call("check", path, "--json").json["files"][0]["file"] == path.as_posix()
    assert "Käfer 虫.obj: 1 pair" in call("check", path).out


def test_a_keyboard_is_no_file(call: Call, monkeypatch: pytest.MonkeyPatch):
    put_on_stdin(monkeypatch, b"")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    ended = call("check", "-")
    assert ended.code == 2
    assert "keyboard" in ended.err


def pliant_command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "pliant", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(pliant.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"}


def test_check_writes_a_page_and_a_picture(call: Call, files: dict[str, Path]):
    page, picture = files["folder"] / "page.html", files["folder"] / "picture.png"
    ended = call("check", files["crossing"], "--report", page, "--png", picture)
    assert ended.code == 1
    assert f"Wrote {page.as_posix()}" in ended.out
    assert '"verb":"check"' in page.read_text("utf-8")
    assert picture.read_bytes().startswith(b"\x89PNG")
    other = files["folder"] / "other.obj"
    other.write_bytes(files["crossing"].read_bytes())
    both = call("check", files["crossing"], other, "--each", "--report", page)
    assert both.code == 2
    assert "--report FILE takes one mesh" in both.err
