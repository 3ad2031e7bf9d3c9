"""What continuous integration asks of scan: many files and clips, a limit, known offenders, JUnit and SARIF."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import pliant
from tests.io.broken_surfaces import glb, gltf
from tests.shapes.command_line import APART, CROSSING, FACES, Call, obj


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three frames each: in one the triangles come to cross, in the other they never do."""
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "bad.npz", faces=FACES, frames=np.stack((APART, CROSSING, CROSSING)))
    np.savez(tmp_path / "good.npz", faces=FACES, frames=np.stack((APART, APART, APART)))
    return tmp_path


def test_each_file_is_a_sequence(call: Call, folder: Path):
    ended = call("scan", "--each", "*.npz")
    assert ended.code == 1
    lines = [line.split() for line in ended.out.splitlines()]
    assert lines[1][-1] == "bad.npz"
    assert lines[2] == ["clean", "3", "2", "good.npz"]
    assert "2 sequences: 1 clean, " in ended.out
    found = call("scan", "--each", "good.npz", "bad.npz", "--json").json
    assert [one["file"] for one in found["sequences"]] == ["good.npz", "bad.npz"]
    assert found["pairs"] == found["sequences"][1]["pairs"] == 2
    assert call("scan", "--each", "good.npz").code == 0


def test_what_cannot_be_read_is_named_and_the_others_are_scanned(call: Call, folder: Path):
    (folder / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    ended = call("scan", "--each", "broken.npz", "bad.npz", "--json")
    assert (ended.code, ended.json["pairs"]) == (2, 2)
    assert ended.json["sequences"][0].keys() == {"file", "error"}
    assert "broken.npz" in ended.err


def test_files_that_show_one_sequence_are_not_for_each(call: Call, folder: Path):
    assert "leave --each out" in call("scan", "--each", "*.npz", "--report", "a.html").err


@pytest.mark.parametrize("each", [(), ("--each",)])
def test_known_offenders(call: Call, folder: Path, each: tuple[str, ...]):
    args = ("scan", *each, "bad.npz")
    assert call(*args, "--write-baseline", "known.json").code == 0
    known = json.loads((folder / "known.json").read_text("utf-8"))["known"]
    assert {one["kind"] for one in known} == {"vertex-face", "edge-edge", "face-face"}
    assert {one["frame"] for one in known if one["kind"] == "face-face"} == {1, 2}
    again = call(*args, "--baseline", "known.json", "--json")
    assert again.code == 0
    assert (again.json["baseline"]["new"], again.json["baseline"]["gone"]) == (0, 0)
    # Frames, kinds and files that were not examined are not gone.
    for fewer in (("--from", "1"), ("--find", "contacts"), ("--find", "intersections"), ("--to", "0")):
        found = call(*args, "--baseline", "known.json", *fewer, "--json")
        assert (found.code, found.json["baseline"]["gone"]) == (0, 0), fewer
    np.savez(folder / "bad.npz", faces=FACES, frames=np.stack((APART, APART, CROSSING)))
    changed = call(*args, "--baseline", "known.json", "--json")
    assert changed.code == 1  # the contacts of frame 2 are new
    assert changed.json["baseline"]["gone"] > 0


def test_a_limit(call: Call, folder: Path):
    found = call("scan", "bad.npz", "--json").json
    count = found["contacts"] + found["pairs"]
    assert call("scan", "bad.npz", "--max-pairs", str(count)).code == 0
    assert call("scan", "bad.npz", "--max-pairs", str(count - 1)).code == 1
    said = call("scan", "bad.npz", "--max-pairs", str(count)).out
    what = f"{found['pairs']} pairs of triangles intersect, {found['contacts']} contacts"
    assert f"{count} is not more than the {count} of --max-pairs: {what}." in said
    about = " ".join(call("scan", "--help").out.replace("│", " ").split())
    assert "Fail only above this number of pairs, contacts and inverted cells." in about
    assert "Number of the first frame; default: the first one." in about


def test_contacts_say_which_features_where_and_of_what(call: Call, folder: Path):
    """It said "vertex and face 4 and 12 touch"."""
    call("scan", "bad.npz", "--junit", "out.xml")
    text = "".join((folder / "out.xml").read_text("utf-8"))
    found = call("scan", "bad.npz", "--json").json["list"]
    nouns = {"vertex-face": ("vertex", "face"), "edge-edge": ("edge", "edge")}
    contacts = [one for one in found if one["kind"] in nouns]
    assert {one["kind"] for one in contacts} == set(nouns)
    for one in contacts:
        (a, b), (i, j) = nouns[one["kind"]], one["elements"]
        at = ", ".join(f"{value:.6g}" for value in one["point"])
        features = f"{a} {i} and {b} {j}" if a != b else f"edges {i} and {j}"
        assert f"frame {one['frame']}: {features} touch at ({at})" in text
    for number, x in ((1001, APART), (1002, CROSSING)):
        lines = obj(x).splitlines()
        lines.insert(-1, "g blade")
        lines.insert(-3, "g body")
        (folder / f"c.{number}.obj").write_text("\n".join(lines) + "\n", "utf-8")
    call("scan", "c.*.obj", "--junit", "out.xml", "--sarif", "out.sarif", "--write-baseline", "known.json")
    call("scan", "c.*.obj", "--junit", "out.xml", "--sarif", "out.sarif")
    for name in ("out.xml", "out.sarif"):
        text = (folder / name).read_text("utf-8")
        assert "frame 1002: faces 0 of body and 1 of blade intersect at (" in text
        assert "frame 1002: vertex 3 of blade and face 0 of body touch at (" in text
    again = call("scan", "c.*.obj", "--baseline", "known.json", "--junit", "out.xml", "--json")
    assert (again.code, again.json["baseline"]["new"]) == (0, 0)


def test_junit_and_sarif(call: Call, folder: Path):
    assert call("scan", "--each", "*.npz", "--junit", "out.xml", "--sarif", "out.sarif").code == 1
    suite = ElementTree.parse(folder / "out.xml").getroot()[0]
    assert {test.get("name"): len(test) for test in suite} == {"bad.npz": 1, "good.npz": 0}
    assert "frame 1: faces 0 and 1 intersect at (" in (suite[0][0].text or "")
    results = json.loads((folder / "out.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert {one["ruleId"] for one in results} == {"pliant/intersection", "pliant/contact"}
    prints = [one["partialFingerprints"]["primaryLocationLineHash"] for one in results]
    assert len(set(prints)) == len(prints)


@pytest.mark.data
def test_all_clips_of_a_file(call: Call, data_folder: Path):
    fox = data_folder / "characters" / "Fox.glb"
    options = ("--every", "30", "--find", "intersections", "--json")
    found = call("scan", "--each", fox, *options).json["sequences"]
    assert [one["clip"] for one in found] == ["Survey", "Walk", "Run"]
    one = call("scan", "--each", fox, "--clip", "Run", *options).json["sequences"]
    assert [row["clip"] for row in one] == ["Run"]
    assert one[0]["pairs"] == found[2]["pairs"]


def test_all_clips_of_a_packed_file(call: Call, folder: Path):
    """It "could not be read", since no clip was named."""
    (folder / "c.glb.gz").write_bytes(gzip.compress(two_clips()))
    assert pliant.io.clip_names("c.glb.gz") == ("up", "down")
    ended = call("scan", "--each", "c.glb.gz", "--json")
    assert ended.code == 0
    assert [one["clip"] for one in ended.json["sequences"]] == ["up", "down"]


def two_clips() -> bytes:
    """A triangle that goes up, or down."""
    numbers = [0, 0, 0, 1, 0, 0, 0, 1, 0, *(0, 1), *(0, 0, 0, 0, 0, 4), *(0, 0, 0, 0, 0, -4)]
    body, sizes = np.array(numbers, "<f4").tobytes(), ((0, 36), (36, 8), (44, 24), (68, 24))
    kinds = (("VEC3", 3), ("SCALAR", 2), ("VEC3", 2), ("VEC3", 2))
    target = {"channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]}
    clips = (("up", 2), ("down", 3))
    content = gltf(
        buffers=[{"byteLength": len(body)}],
        bufferViews=[{"buffer": 0, "byteOffset": begin, "byteLength": size} for begin, size in sizes],
        accessors=[
            {"bufferView": i, "componentType": 5126, "count": count, "type": kind}
            for i, (kind, count) in enumerate(kinds)
        ],
        animations=[{"name": name, "samplers": [{"input": 1, "output": i}], **target} for name, i in clips],
    )
    return glb(content, body)


def test_a_character(call: Call, folder: Path):
    args = ("character", "arm", "--no-repair", "--rate", "8")
    assert call(*args, "--write-baseline", "known.json", "--junit", "out.xml").code == 0
    assert ElementTree.parse(folder / "out.xml").getroot()[0][0].get("name") == "arm, clip bend"
    again = call(*args, "--baseline", "known.json", "--json")
    assert (again.code, again.json["baseline"]["new"], again.json["baseline"]["gone"]) == (0, 0, 0)
    assert again.json["baseline"]["known"] == again.json["pairs"] > 0
    assert call(*args, "--max-pairs", "1").code == 1
