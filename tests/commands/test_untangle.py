"""pliant untangle: what it says, writes and leaves alone, and how it ends."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.scenes.shapes import icosphere
from tests.shapes.command_line import Call, write_obj

FACES, BALL = icosphere(3)
TWO = np.concatenate((FACES, FACES + len(BALL)))
BESIDE = np.array([1.8, 0.03, 0.02])  # the other ball: 0.2 deep, less what is cut off its corners


def balls(gap: float = 1.8) -> np.ndarray:
    return np.concatenate((BALL, BALL + BESIDE * (gap / 1.8, 1, 1)))


def grouped(x: np.ndarray) -> str:
    """Two groups, with colours, texture coordinates, materials and a comment."""
    lines = ["# by hand", "mtllib a.mtl"]
    for number, name in enumerate(("ball", "other")):
        own = slice(number * len(BALL), (number + 1) * len(BALL))
        lines += [f"g {name}", *(f"v {a!r} {b!r} {c!r} 0.5 0.25 1.0" for a, b, c in x[own].tolist()), "vt 0.5 0.5"]
        lines += [f"usemtl {name}", *(f"f {a}/1 {b}/1 {c}/1" for a, b, c in (FACES + 1 + own.start).tolist())]
    return "\n".join(lines) + "\n"


def without_positions(text: str) -> list[str]:
    return [" ".join(line.split()[4:]) if line.startswith("v ") else line for line in text.split("\n")]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("two.obj").write_text(grouped(balls()), "utf-8")
    return tmp_path


def pairs_of(path: str | Path) -> int:
    mesh = pliant.io.read(path)
    return len(pliant.check(mesh.cells["triangle"], mesh.points))


def test_a_file_comes_out_clean_and_all_else_in_it_as_it_was(call: Call, files: Path):
    assert pairs_of("two.obj") > 0
    ended = call("untangle", "two.obj", "out.obj")
    assert ended.code == 0
    assert pairs_of("out.obj") == 0
    assert call("check", "out.obj").code == 0
    before, after = (Path(name).read_text("utf-8") for name in ("two.obj", "out.obj"))
    assert without_positions(after) == without_positions(before)
    kept = sum(a == b for a, b in zip(before.split("\n"), after.split("\n")))
    assert kept > len(before.split("\n")) // 2  # most vertices have not moved, and have the text that they had
    lines = ended.out.splitlines()
    assert lines[0] == f"two.obj: {len(TWO):,} triangles, {len(balls()):,} vertices"
    assert lines[1].split() == ["before", "after", "change"]
    assert lines[2].split()[:4] == ["pairs", "that", "intersect", str(pairs_of("two.obj"))]
    assert "mean edges." in lines[4]
    assert lines[5] == "Sides were not checked: --layers or --outside-of say what belongs where."
    assert lines[6].startswith("Clean: an exact check finds nothing.")
    assert lines[7] == "Wrote out.obj"


def test_a_clean_file_is_written_as_it_was(call: Call, files: Path):
    Path("apart.obj").write_text(grouped(balls(2.5)), "utf-8")
    ended = call("untangle", "apart.obj", "--out", "out.obj")
    assert ended.code == 0
    assert "Nothing moved." in ended.out
    assert Path("out.obj").read_bytes() == Path("apart.obj").read_bytes()


def test_what_remains_is_not_written_unless_asked_for(call: Call, files: Path):
    ended = call("untangle", "two.obj", "out.obj", "--max-move", "0.001")
    assert ended.code == 1
    assert "Nothing was written, since something remains" in ended.out
    assert not Path("out.obj").exists()
    partial = call("untangle", "two.obj", "out.obj", "--max-move", "0.001", "--partial")
    assert partial.code == 1
    assert "Wrote out.obj" in partial.out
    assert pairs_of("out.obj") == int(partial.out.splitlines()[2].split()[4].replace(",", ""))


def test_a_body_in_another_file_stays_and_is_not_written(call: Call, files: Path):
    write_obj(Path("body.obj"), BALL, FACES)
    write_obj(Path("cloth.obj"), BALL + BESIDE, FACES)
    ended = call("untangle", "cloth.obj", "out.obj", "--fixed", "body.obj", "--outside-of", "body")
    assert ended.code == 0
    assert ended.out.splitlines()[0].endswith(", beside body.obj")
    assert "Sides were checked: all right." in ended.out
    assert call("check", "out.obj", "body.obj").code == 0
    assert len(pliant.io.read("out.obj").points) == len(BALL)


def test_parts_are_named_as_the_file_names_them(call: Call, files: Path):
    ended = call("untangle", "two.obj", "out.obj", "--fixed", "ball", "--outside-of", "ball", "--json")
    assert ended.code == 0
    assert ended.json["frames"][0]["wrong_side"] == 0
    before, after = (pliant.io.read(name).points for name in ("two.obj", "out.obj"))
    assert before[: len(BALL)].tobytes() == after[: len(BALL)].tobytes()
    unknown = call("untangle", "two.obj", "other.obj", "--outside-of", "nobody")
    assert unknown.code == 2
    assert "--outside-of nobody: there is no such part or file; there are ball, other, two.obj, two" in unknown.err


def test_layers_from_inside_to_outside(call: Call, files: Path):
    """A shell around a ball, so tight that corners of the one are outside of the faces of the other."""
    turned = BALL @ np.array([[0.8, 0.6, 0], [-0.6, 0.8, 0], [0, 0, 1]])
    Path("shell.obj").write_text(grouped(np.concatenate((BALL, 1.02 * turned))), "utf-8")
    ended = call("untangle", "shell.obj", "out.obj", "--layers", "ball,other")
    assert ended.code == 0
    assert "Sides were checked: all right." in ended.out
    x = pliant.io.read("out.obj").points
    assert not pliant.winding(FACES, x[: len(BALL)], x[len(BALL) :]).inside.any()
    swapped = call(
        "untangle", "two.obj", "no.obj", "--layers", "ball,other", "--seconds", "1"
    )  # these are beside each other
    assert swapped.code == 1
    assert "on the wrong side" in swapped.out


def test_a_reference_leads_the_way(call: Call, files: Path):
    Path("rest.obj").write_text(grouped(balls(2.5)), "utf-8")
    ended = call("untangle", "two.obj", "out.obj", "--reference", "rest.obj")
    assert ended.code == 0
    assert pairs_of("out.obj") == 0
    write_obj(Path("small.obj"), BALL, FACES)
    wrong = call("untangle", "two.obj", "b.obj", "--reference", "small.obj")
    assert wrong.code == 2
    assert "a reference is the same mesh at other positions" in wrong.err
    tangled = call("untangle", "two.obj", "b.obj", "--reference", "two.obj")
    assert tangled.code == 2
    assert "the reference is tangled" in tangled.err


@pytest.mark.parametrize("name", ["two.stl", "two.ply", "two.glb", "two.off"])
def test_other_formats_and_seams(call: Call, files: Path, name: str):
    """Of STL every vertex is there six times; STL and glTF round to float32."""
    pliant.io.write(name, balls(), TWO)
    ended = call("untangle", name, f"out_{name}")
    assert ended.code == 0
    assert call("check", f"out_{name}").code == 0
    assert ("Merged" in ended.out) == (name == "two.stl")
    assert len(pliant.io.read(f"out_{name}").points) == len(pliant.io.read(name).points)


def test_packed_files(call: Call, files: Path):
    Path("two.obj.gz").write_bytes(gzip.compress(Path("two.obj").read_bytes()))
    assert call("untangle", "two.obj.gz", "out.obj.gz").code == 0
    assert call("untangle", "two.obj", "out.obj").code == 0
    assert gzip.decompress(Path("out.obj.gz").read_bytes()) == Path("out.obj").read_bytes()


def test_another_format_says_what_is_lost(call: Call, files: Path):
    ended = call("untangle", "two.obj", "out.ply")
    assert ended.code == 0
    assert "out.ply: holds cells and positions only" in ended.err
    assert pairs_of("out.ply") == 0


GAPS = [2.1, 1.9, 1.8, 1.85]


def test_numbered_files_become_files_of_the_same_names(call: Call, files: Path):
    Path("frames").mkdir()
    for number, gap in enumerate(GAPS):
        Path(f"frames/a_{number:02d}.obj").write_text(grouped(balls(gap)), "utf-8")
    ended = call("untangle", *sorted(Path("frames").glob("*.obj")), "--out", "fixed")
    assert ended.code == 0
    names = [f"a_{number:02d}.obj" for number in range(len(GAPS))]
    assert sorted(path.name for path in Path("fixed").iterdir()) == names
    assert Path("fixed/a_00.obj").read_bytes() == Path("frames/a_00.obj").read_bytes()
    for name in names:
        assert pairs_of(f"fixed/{name}") == 0
        before, after = (Path(f"{folder}/{name}").read_text("utf-8") for folder in ("frames", "fixed"))
        assert without_positions(after) == without_positions(before)
    assert "from the frame beside it" in ended.out
    assert ended.out.splitlines()[0].endswith("4 frames")
    again = call("untangle", "frames/a_*.obj", "--out", "fixed")
    assert again.code == 2
    assert "is not an empty folder" in again.err


def test_a_file_with_frames(call: Call, files: Path):
    np.savez("a.npz", frames=np.array([balls(gap) for gap in GAPS]), faces=TWO)
    ended = call("untangle", "a.npz", "out.npz", "--json")
    assert ended.code == 0
    assert [row["remaining"] for row in ended.json["frames"]] == [0] * 4
    made = pliant.Sequence.open("out.npz")
    assert all(len(pliant.check(made.faces, x)) == 0 for x in made)
    wrong = call("untangle", "a.npz", "out.glb")
    assert wrong.code == 2
    assert "out.glb: frames are written as .npz" in wrong.err
    rounded = call("untangle", "a.npz", "out.pc2")
    assert rounded.code == 0
    made = pliant.Sequence.open("out.pc2")
    assert all(len(pliant.check(made.faces, x)) == 0 for x in made)


def test_a_body_beside_frames_moves_with_them_or_stays(call: Call, files: Path):
    np.savez("cloth.npz", frames=np.array([BALL + BESIDE * (gap / 1.8, 1, 1) for gap in GAPS]), faces=FACES)
    write_obj(Path("body.obj"), BALL, FACES)
    assert call("untangle", "cloth.npz", "out.npz", "--fixed", "body.obj").code == 0
    for x in pliant.Sequence.open("out.npz"):
        assert len(pliant.check(TWO, np.concatenate((BALL, x)))) == 0
    np.savez("short.npz", frames=np.array([BALL, BALL]), faces=FACES)
    ended = call("untangle", "cloth.npz", "b.npz", "--fixed", "short.npz")
    assert ended.code == 2
    assert "has 2 frames, but cloth.npz has 4" in ended.err


def test_json_keeps_to_the_schema(call: Call, files: Path):
    jsonschema = pytest.importorskip("jsonschema")
    schema = call("schema").json
    for more in ((), ("--max-move", "0.001")):
        ended = call("untangle", "two.obj", "out.obj", "--json", *more)
        jsonschema.Draft202012Validator(schema).validate(ended.json)
        assert ended.json["to"] == (None if more else "out.obj")
        assert len(ended.json["list"]) == ended.json["remaining"]
        assert ended.json["pairs"] == pairs_of("two.obj")


def test_a_page_with_before_and_after(call: Call, files: Path):
    assert call("untangle", "two.obj", "out.obj", "--report", "page.html", "--png", "sheet.png").code == 0
    assert Path("sheet.png").read_bytes().startswith(b"\x89PNG")
    text = Path("page.html").read_text("utf-8")
    assert '"verb":"untangle"' in text
    assert '"numbers":[0,1]' in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["two.obj"], "name the file to write: pliant untangle IN OUT, or --out OUT"),
        (["two.obj", "two.obj"], "OUT two.obj would replace a file that is read"),
        (["two.obj", "--out", "two.obj"], "--out two.obj would replace a file that is read"),
        (["nobody.obj", "out.obj"], "nobody.obj: there is no such file"),
        (["two.obj", "nowhere/out.obj"], "nowhere is not a folder"),
        (["two.obj", "out.obj", "--layers", "ball,,other"], "must be names with commas"),
        (["two.obj", "out.obj", "--fixed", "two.obj"], "everything is fixed"),
    ],
)
def test_wrong_calls_are_errors_and_write_nothing(call: Call, files: Path, arguments: list[str], text: str):
    ended = call("untangle", *arguments)
    assert ended.code == 2
    assert text in ended.err
    assert [path.name for path in files.iterdir()] == ["two.obj"]


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("out.xyz", "out.xyz: meshes are not written as .xyz; but .obj, .ply"),
        ("out.msh.gz", "out.msh.gz: files of this kind are not packed here"),
        ("none/out.obj", "none is not a folder; make it first"),
        ("two.obj", "would replace a file that is read"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_work(
    call: Call, files: Path, monkeypatch: pytest.MonkeyPatch, out: str, words: str
):
    """The ending was looked at after all had been computed, and the message named a file.xyz in a temporary folder."""
    monkeypatch.setattr(pliant, "untangle", lambda *given, **options: pytest.fail("it was computed"))
    before = Path("two.obj").read_bytes()
    ended = call("untangle", "two.obj", out)
    assert ended.code == 2
    assert words in ended.err
    assert ended.err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["two.obj"]
    assert Path("two.obj").read_bytes() == before


@pytest.mark.parametrize("forbidden", [".", "out.obj"])
def test_no_permission_is_said_before_the_work(
    call: Call, files: Path, monkeypatch: pytest.MonkeyPatch, forbidden: str
):
    """Asked for by os.access, since nothing is forbidden to the root user that tests may run as."""
    Path("out.obj").write_text("old", "utf-8")
    place, may = Path(forbidden).resolve(), os.access

    def access(at: Path, mode: int) -> bool:
        return may(at, mode) and (mode != os.W_OK or Path(at).resolve() != place)

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(pliant, "untangle", lambda *given, **options: pytest.fail("it was computed"))
    ended = call("untangle", "two.obj", "out.obj")
    assert ended.code == 2
    assert "out.obj cannot be written: there is no permission to write" in ended.err
    assert Path("out.obj").read_text("utf-8") == "old"


def test_another_format_is_warned_of_once_and_by_its_name(call: Call, files: Path):
    ended = call("untangle", "two.obj", "out.vtk")
    assert ended.code == 0
    assert ended.err.splitlines() == [
        "pliant: out.vtk: holds cells and positions only; what two.obj has besides them is kept in files of the same "
        "kind: .obj, .off, .ply, .stl, .glb and .gltf"
    ]
    assert pairs_of("out.vtk") == 0


def test_from_and_to_a_format_that_shares_no_vertices(call: Call, files: Path):
    """STL has three vertices for each face: to write one ended in an error about the shape of a mask."""
    assert call("untangle", "two.obj", "out.stl", "-q").code == 0
    there = pliant.io.read("out.stl")
    assert len(there.points) == 3 * len(TWO)
    assert call("check", "out.stl").code == 0
    Path("soup.stl").unlink(missing_ok=True)
    pliant.io.write("soup.stl", balls(), TWO)
    assert call("check", "soup.stl").code == 1
    assert call("untangle", "soup.stl", "back.obj", "-q").code == 0
    assert call("check", "back.obj").code == 0


@pytest.mark.parametrize("exponent", [660, -660])
def test_very_large_and_very_small_positions_are_described_without_overflow(call: Call, files: Path, exponent: int):
    """Squares of lengths overflow there: the table had nan, and warnings of numpy around it."""
    Path("two.obj").write_text(grouped(np.ldexp(balls(), exponent)), "utf-8")
    ended = call("untangle", "two.obj", "out.obj")
    assert ended.code == 0
    assert ended.err == ""
    assert "nan" not in ended.out
    assert " mean edges." in ended.out
    area = ended.out.splitlines()[3].split()
    assert area[1] == area[2] == ("inf" if exponent > 0 else "0")
    assert -5.0 < float(area[3]) < -0.01


@pytest.mark.parametrize("names", ["ball,ball", "ball,two", "other,ball,other"])
def test_layers_that_share_vertices_contradict_each_other(call: Call, files: Path, names: str):
    ended = call("untangle", "two.obj", "out.obj", "--layers", names)
    assert ended.code == 2
    assert "has vertices that are in another layer already" in ended.err
    assert not Path("out.obj").exists()
