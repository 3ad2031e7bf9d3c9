"""Several files in one check: within each and between them; patterns; and what continuous integration asks for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import pliant
from tests.shapes.command_line import APART, CROSSING, Call, obj, put_on_stdin, soup, write_obj

# A triangle that the first triangle of CROSSING passes through, and the same one elsewhere.
BLADE = np.array([[0.2, 0.2, -1], [0.2, 0.2, 1], [0.4, 0.4, 1.0]])
ONE = np.array([[0, 1, 2]])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """body.obj is clean, blade.obj is clean and cuts it, far.obj is clean, twisted.obj has a pair in itself."""
    monkeypatch.chdir(tmp_path)
    write_obj(tmp_path / "body.obj", APART)
    write_obj(tmp_path / "blade.obj", BLADE, ONE)
    write_obj(tmp_path / "far.obj", BLADE + 100, ONE)
    write_obj(tmp_path / "twisted.obj", CROSSING + 50)
    return tmp_path


class TestSeveralFiles:
    def test_between_files_counts(self, call: Call, folder: Path):
        """Files were examined one by one: a garment that cuts a body was called clean."""
        ended = call("check", "body.obj", "blade.obj")
        assert ended.code == 1
        assert "2 files: 1 pair of triangles, 0 within files and 1 between them (--each: only within)." in ended.out
        assert call("check", "body.obj", "far.obj").code == 0
        assert call("check", "--each", "body.obj", "blade.obj").code == 0

    def test_ids_are_those_of_each_file(self, call: Call, folder: Path):
        found = call("check", "far.obj", "twisted.obj", "body.obj", "blade.obj", "--json").json
        named = {(one["file"], one["faces"][0], one["other_file"], one["faces"][1]) for one in found["list"]}
        assert named == {("twisted.obj", 0, "twisted.obj", 1), ("body.obj", 0, "blade.obj", 0)}
        assert [one["pairs"] for one in found["files"]] == [0, 1, 0, 0]
        assert found["between"] == [{"files": ["body.obj", "blade.obj"], "pairs": 1}]
        assert found["pairs"] == 2

    def test_the_answer_is_that_of_one_mesh(self, call: Call, tmp_path: Path):
        x, faces = soup(60)
        a, b = write_obj(tmp_path / "a.obj", x[:90], faces[:30]), write_obj(tmp_path / "b.obj", x[90:], faces[30:] - 90)
        found = call("check", a, b, "--json").json["list"]
        pairs = {tuple(f + 30 * (n == b.as_posix()) for f, n in zip(one["faces"], (one["file"], one["other_file"])))
                 for one in found}  # fmt: skip
        expected = pliant.dcd(faces, x)
        assert pairs == {(i, j) for i, j in expected.faces.tolist()}
        assert 100 < len(found) == len(expected)

    @pytest.mark.parametrize(("pairs", "within", "between"), [("all", 1, 1), ("self", 1, 0), ("inter", 0, 1)])
    def test_objects_are_the_files(self, call: Call, folder: Path, pairs: str, within: int, between: int):
        found = call("check", "body.obj", "blade.obj", "twisted.obj", "--pairs", pairs, "--json").json
        assert sum(one["pairs"] for one in found["files"]) == within
        assert sum(one["pairs"] for one in found["between"]) == between

    def test_what_was_not_looked_at_is_not_called_clean(self, call: Call, folder: Path):
        out = call("check", "body.obj", "twisted.obj", "--pairs", "inter").out
        assert "clean" not in out
        assert "nothing within files was examined" in out

    def test_vertices_of_two_files_are_never_one(self, call: Call, folder: Path):
        """Two cuts of one sheet that meet at a seam touch there: neighbours of one mesh would not."""
        x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1.0, 1, 0]])
        write_obj(folder / "left.obj", x, np.array([[0, 1, 2]]))
        write_obj(folder / "right.obj", x, np.array([[1, 3, 2]]))
        assert call("check", "left.obj", "right.obj").code == 1
        assert call("check", "--each", "left.obj", "right.obj").code == 0

    def test_tables_name_both_files(self, call: Call, folder: Path):
        lines = call("check", "body.obj", "blade.obj").out.splitlines()
        assert any(line.split() == ["1", "body.obj", "and", "blade.obj"] for line in lines)
        assert any(line.split()[:4] == ["0", "body.obj", "0", "blade.obj"] for line in lines)

    def test_csv_and_offenders(self, call: Call, folder: Path):
        assert call("check", "body.obj", "blade.obj", "--csv", "a.csv", "--offenders", "red.ply").code == 1
        head, row = (folder / "a.csv").read_text("utf-8").splitlines()
        assert head.startswith("file,kind,face_0,face_1")
        assert head.endswith("other_file")
        assert row.startswith("body.obj,face-face,0,0")
        assert row.endswith("blade.obj")
        assert len(pliant.io.read(folder / "red.ply").cells["triangle"]) == 3
        ended = call("check", "--each", "body.obj", "blade.obj", "--offenders", "red.ply")
        assert (ended.code, "takes one mesh" in ended.err) == (2, True)

    def test_a_file_that_is_broken_is_named_and_the_others_are_checked(self, call: Call, folder: Path):
        (folder / "broken.obj").write_text("v 0 0 zero\n", "utf-8")
        ended = call("check", "body.obj", "broken.obj", "blade.obj", "--json")
        assert (ended.code, ended.json["pairs"]) == (2, 1)
        assert ended.json["between"][0]["files"] == ["body.obj", "blade.obj"]
        assert call("check", "broken.obj", "nobody.obj").code == 2

    def test_of_files_that_are_all_broken_no_page_is_written(self, call: Call, folder: Path):
        for name in ("a.obj", "b.obj"):
            (folder / name).write_text("v 0 0 zero\n", "utf-8")
        ended = call("check", "a.obj", "b.obj", "--report", "r.html", "--png", "r.png", "--offenders", "r.ply")
        assert ended.code == 2
        assert [line.split(":")[1] for line in ended.err.splitlines()] == [" a.obj", " b.obj"]
        assert not list(folder.glob("r.*"))

    def test_standard_input_against_a_file(self, call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch):
        put_on_stdin(monkeypatch, obj(BLADE, ONE).encode())
        assert call("check", "body.obj", "-", "--json").json["between"][0]["files"] == ["body.obj", "standard input"]

    def test_a_file_that_is_named_twice_is_one(self, call: Call, folder: Path):
        assert call("check", "body.obj", "body.obj").code == 0


class TestPatterns:
    def test_in_quotes_through_folders(self, call: Call, folder: Path):
        (folder / "props" / "new").mkdir(parents=True)
        write_obj(folder / "props" / "new" / "bad.obj", CROSSING)
        found = call("check", "--each", "**/*.obj", "--json").json
        names = [one["file"] for one in found["files"]]
        assert names == sorted(names)
        assert set(names) == {"blade.obj", "body.obj", "far.obj", "props/new/bad.obj", "twisted.obj"}
        assert found["pairs"] == 2

    def test_a_file_with_brackets_in_its_name_is_that_file(self, call: Call, folder: Path):
        write_obj(folder / "a[1].obj", CROSSING)
        assert call("check", "a[1].obj").code == 1

    def test_no_match_is_an_error(self, call: Call, folder: Path):
        ended = call("check", "assets/*.obj")
        assert (ended.code, ended.err) == (2, "pliant: no file matches assets/*.obj\n")

    def test_a_pattern_of_frames_is_sent_to_scan(self, call: Call, folder: Path):
        for verb in (("check",), ("near", "--within", "1"), ("inside",)):
            ended = call(*verb, "c.####.obj")
            assert (ended.code, ended.err) == (
                2,
                "pliant: c.####.obj: there is no such file; frames of a sequence: pliant scan 'c.####.obj'\n",
            )


class TestLimits:
    def test_so_many_may_be_there(self, call: Call, folder: Path):
        assert call("check", "twisted.obj", "--max-pairs", "1").code == 0
        assert call("check", "twisted.obj", "--max-pairs", "0").code == 1
        assert "1 is not more than the 1 of --max-pairs." in call("check", "twisted.obj", "--max-pairs", "1").out

    def test_known_offenders_do_not_fail_and_new_ones_do(self, call: Call, folder: Path):
        args = ("check", "--each", "twisted.obj", "body.obj")
        wrote = call(*args, "--write-baseline", "known.json")
        assert (wrote.code, "1 offender will be known with --baseline known.json" in wrote.out) == (0, True)
        known = call(*args, "--baseline", "known.json", "--json")
        assert known.code == 0
        assert known.json["baseline"] == {"known": 1, "new": 0, "gone": 0}
        write_obj(folder / "body.obj", CROSSING)
        new = call(*args, "--baseline", "known.json")
        assert new.code == 1
        assert "Known (known.json): 1. New: 1." in new.out
        assert call(*args, "--baseline", "known.json", "--max-pairs", "1").code == 0

    def test_rows_are_those_of_new_ones(self, call: Call, folder: Path):
        """Known pairs and new ones stood in one table, and nothing told which made the job fail."""
        write_obj(folder / "a.obj", np.concatenate((CROSSING, APART + 9)), np.arange(12).reshape(-1, 3))
        write_obj(folder / "sheet.obj", np.concatenate((BLADE, BLADE + 100)), np.arange(6).reshape(-1, 3))
        for files in (("a.obj",), ("body.obj", "sheet.obj")):
            call("check", *files, "--write-baseline", "known.json")
            out = call("check", *files, "--baseline", "known.json").out
            assert "Known (known.json): 1. New: 0." in out
            assert not any("with" in line.split() for line in out.splitlines())  # of the head of a table
        call("check", "a.obj", "--write-baseline", "known.json")
        write_obj(folder / "a.obj", np.concatenate((CROSSING, CROSSING + 9)), np.arange(12).reshape(-1, 3))
        ended = call("check", "a.obj", "--baseline", "known.json")
        assert "a.obj: 2 pairs of triangles intersect, 1 of them new (" in ended.out
        assert [line.split()[0] for line in ended.out.splitlines()[2:4]] == ["2", "3"]
        assert len(call("check", "a.obj", "--baseline", "known.json", "--json").json["list"]) == 2

    def test_gone_ones_are_said(self, call: Call, folder: Path):
        call("check", "--each", "twisted.obj", "body.obj", "--write-baseline", "known.json")
        write_obj(folder / "twisted.obj", APART)
        ended = call("check", "twisted.obj", "--baseline", "known.json")
        assert ended.code == 0
        assert "1 known one is gone: --write-baseline known.json" in ended.out
        assert "gone" not in call("check", "body.obj", "--baseline", "known.json").out  # was not examined

    def test_names_are_relative_to_the_baseline_and_between_files_in_any_order(self, call: Call, folder: Path):
        (folder / "ci").mkdir()
        call("check", "body.obj", "blade.obj", "--write-baseline", "ci/known.json")
        written = json.loads((folder / "ci" / "known.json").read_text("utf-8"))
        assert written["known"] == [{"files": ["../blade.obj", "../body.obj"], "kind": "face-face", "ids": [[0, 0]]}]
        assert call("check", "blade.obj", folder / "body.obj", "--baseline", "ci/known.json").code == 0
        os.chdir("ci")
        assert call("check", "../blade.obj", "../body.obj", "--baseline", "known.json").code == 0

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("", "is not a baseline of pliant"),
            ("[1]", "is not a baseline of pliant"),
            ('{"pliant": "baseline", "version": 2}', "has version 2"),
            ('{"pliant": "baseline", "version": 1, "verb": "scan"}', "was written by pliant scan"),
            ('{"pliant": "baseline", "version": 1, "verb": "check", "known": 3}', '"known" is not a list'),
            ("ENTRY 3", "entry 0 of known is not an object"),
            ('ENTRY {"files": [], "kind": "face-face", "ids": []}', "one or two names"),
            ('ENTRY {"files": ["a"], "kind": "faces", "ids": []}', '"kind" must be one of face-face'),
            ('ENTRY {"files": ["a"], "kind": "face-face", "ids": [[1]]}', "must be a list of pairs"),
            ('ENTRY {"files": ["a"], "kind": "face-face", "ids": [[1, -2]]}', "whole numbers from 0 on"),
            ('ENTRY {"files": ["a"], "kind": "face-face", "ids": [[1, true]]}', "whole numbers from 0 on"),
            ('ENTRY {"files": ["a"], "kind": "face-face", "frame": "1", "ids": []}', '"frame" a number'),
            ("[" * 100_000, "is not a baseline of pliant"),
            (b"\xff\xfe\x00", "is not a baseline of pliant"),
        ],
    )
    def test_a_file_that_is_no_baseline_is_an_error(self, call: Call, folder: Path, content: str | bytes, says: str):
        if isinstance(content, str) and content.startswith("ENTRY "):
            entry = content.removeprefix("ENTRY ")
            content = f'{{"pliant": "baseline", "version": 1, "verb": "check", "known": [{entry}]}}'
        (folder / "known.json").write_bytes(content if isinstance(content, bytes) else content.encode())
        ended = call("check", "body.obj", "--baseline", "known.json")
        assert ended.code == 2
        assert ended.err.startswith("pliant: known.json: ")
        assert says in ended.err
        assert ended.err.count("\n") == 1

    def test_reading_and_writing_one_baseline_in_one_run_is_an_error(self, call: Call, folder: Path):
        assert call("check", "body.obj", "--baseline", "a.json", "--write-baseline", "b.json").code == 2
        assert call("check", "body.obj", "--baseline", "nobody.json").err.startswith(
            "pliant: nobody.json: there is no such file"
        )

    def test_nothing_is_written_where_a_file_cannot_be_read(self, call: Call, folder: Path):
        ended = call("check", "--each", "body.obj", "nobody.obj", "--write-baseline", "known.json")
        assert ended.code == 2
        assert "known.json was not written" in ended.err
        assert not (folder / "known.json").exists()


# Of the schema that Jenkins publishes for JUnit XML: what an element may have.
JUNIT = {
    "testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
    "testsuite": {
        "name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package",
    },
    "testcase": {"name", "assertions", "time", "classname", "status"},
    "failure": {"type", "message"}, "error": {"type", "message"}, "system-out": set(),
}  # fmt: skip


class TestForBuildServers:
    def test_junit_has_a_test_for_each_file(self, call: Call, folder: Path):
        (folder / "broken.obj").write_text("v 0 0 zero\n", "utf-8")
        assert call("check", "body.obj", "blade.obj", "twisted.obj", "broken.obj", "--junit", "out.xml").code == 2
        root = ElementTree.parse(folder / "out.xml").getroot()
        for element in root.iter():
            assert set(element.attrib) <= JUNIT[element.tag]
        suite = root[0]
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "2", "1")
        said = {test.get("name"): [one.tag for one in test] for test in suite}
        assert said == {
            "body.obj": [], "blade.obj": [], "twisted.obj": ["failure"], "broken.obj": ["error"],
            "body.obj with blade.obj": ["failure"],
        }  # fmt: skip
        text = suite.find("testcase[@name='body.obj with blade.obj']/failure")
        assert text is not None
        assert text.get("message") == "1 pair of triangles intersects"
        assert (text.text or "").startswith("faces 0 of body.obj and 0 of blade.obj intersect at (0.")

    def test_names_that_xml_cannot_hold(self, call: Call, folder: Path):
        name = "a<b>&\"'\x01\x1b[31m.obj" if os.name != "nt" else "a&'.obj"
        write_obj(folder / name, CROSSING)
        assert call("check", name, "--junit", "out.xml").code == 1
        shown = ElementTree.parse(folder / "out.xml").getroot()[0][0].get("name")
        assert shown == ("a<b>&\"'[31m.obj" if os.name != "nt" else name)

    def test_many_pairs_are_cut_short_in_junit_and_sarif(self, call: Call, folder: Path, monkeypatch):
        monkeypatch.setattr("pliant.report.sarif.MOST", 7)
        write_obj(folder / "soup.obj", *soup(60))
        call("check", "soup.obj", "--junit", "out.xml", "--sarif", "out.sarif")
        text = ElementTree.parse(folder / "out.xml").getroot()[0][0][0].text or ""
        assert len(text.splitlines()) == 21
        assert text.splitlines()[-1].startswith("... and ")
        run = json.loads((folder / "out.sarif").read_text("utf-8"))["runs"][0]
        assert len(run["results"]) == 7
        assert "more results were left out" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]

    def test_sarif(self, call: Call, folder: Path):
        (folder / "my props").mkdir()
        write_obj(folder / "my props" / "blade.obj", BLADE, ONE)
        assert call("check", folder / "body.obj", "my props/blade.obj", "--sarif", "out.sarif").code == 1
        log = json.loads((folder / "out.sarif").read_text("utf-8"))
        assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
        (run,) = log["runs"]
        assert run["tool"]["driver"]["version"] == pliant.__version__
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        (result,) = run["results"]
        assert rules[result["ruleIndex"]] == result["ruleId"] == "pliant/intersection"
        assert result["message"]["text"].startswith(f"faces 0 of {(folder / 'body.obj').as_posix()} and 0 of my props/")
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "body.obj"  # relative, though an absolute path was given
        other = result["relatedLocations"][0]["physicalLocation"]
        assert other["artifactLocation"]["uri"] == "my%20props/blade.obj"
        assert place["region"]["startLine"] == 1
        assert len(result["partialFingerprints"]["primaryLocationLineHash"]) == 32

    def test_fingerprints_tell_pairs_apart_and_stay(self, call: Call, folder: Path):
        write_obj(folder / "soup.obj", *soup(20))
        prints = []
        for _ in range(2):
            call("check", "soup.obj", "--sarif", "out.sarif")
            results = json.loads((folder / "out.sarif").read_text("utf-8"))["runs"][0]["results"]
            prints.append([one["partialFingerprints"]["primaryLocationLineHash"] for one in results])
        assert prints[0] == prints[1]
        assert len(set(prints[0])) == len(prints[0]) > 10

    def test_what_is_known_or_within_the_limit_is_no_failure(self, call: Call, folder: Path):
        call("check", "twisted.obj", "--write-baseline", "known.json")
        for more in (("--baseline", "known.json"), ("--max-pairs", "1")):
            assert call("check", "twisted.obj", *more, "--junit", "out.xml", "--sarif", "out.sarif").code == 0
            assert ElementTree.parse(folder / "out.xml").getroot().get("failures") == "0"
            assert json.loads((folder / "out.sarif").read_text("utf-8"))["runs"][0]["results"] == []


def test_a_file_of_a_pattern_is_never_written(call: Call, folder: Path):
    (folder / "props").mkdir()
    inside = write_obj(folder / "props" / "a.obj", CROSSING)
    before = inside.read_bytes()
    for pattern in ("**/*.obj", "props/[a-c].obj"):
        ended = call("check", "--each", pattern, "--csv", "props/a.obj")
        assert (ended.code, inside.read_bytes()) == (2, before), pattern
