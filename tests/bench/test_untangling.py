"""Cases to untangle: complete, tangled, the same every time; the judge sees what is wrong; baselines."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import pliant
from bench.baselines.contour_minimisation import shorten
from bench.baselines.fairing import fair
from bench.measure import Options
from bench.untangling import judge as judging
from bench.untangling import running, table
from bench.untangling.case import Case, Given, is_held_out, joined
from bench.untangling.cases import CLASSES, make, recipes
from bench.untangling.judge import judge, movable_pairs, wrong_side
from bench.untangling.run import Job
from pliant.scenes.shapes import icosphere, weave

SMALL = (
    ("bodies", "doll 9"), ("characters", "arm bend 0.35"), ("sheets", "dent 1 edges, seed 0"),
    ("sheets", "border 3 edges, seed 4"), ("sheets", "waves 10 edges, seed 8"), ("noise", "noise 0.4 on torso"),
    ("layers", "2 balls, seed 0"), ("layers", "2 tubes, seed 2"), ("layers", "2 sheets, seed 4"),
    ("scenes", "crumpled_sheet 2,000, seed 0, frame 2"),
)  # fmt: skip


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("PLIANT_DATA", str(tmp_path / "missing"))


def test_every_class_has_cases_of_both_kinds_without_the_data_folder(no_data):
    found = Counter(recipe.kind for recipe in recipes())
    held_out = Counter(recipe.kind for recipe in recipes() if recipe.held_out)
    assert set(found) == set(CLASSES)
    assert min(found.values()) >= 12
    assert min(held_out[kind] for kind in CLASSES) >= 6
    assert all(found[kind] - held_out[kind] >= 12 for kind in CLASSES)


@pytest.mark.data
def test_there_are_150_cases_with_the_data_folder():
    found = list(recipes())
    assert len(found) >= 150
    assert len({(recipe.kind, recipe.name) for recipe in found}) == len(found)


def test_an_unknown_class_or_case_is_named():
    with pytest.raises(ValueError, match="no class is called 'sheet'"):
        list(recipes(["sheet"]))
    with pytest.raises(ValueError, match="no case of sheets is called 'hats'"):
        make("sheets", "hats")


@pytest.mark.parametrize(("kind", "name"), SMALL)
def test_cases_are_tangled_and_the_same_every_time(kind, name):
    case, again = make(kind, name), make(kind, name)
    assert case.x.tobytes() == again.x.tobytes()
    assert np.array_equal(case.faces, again.faces)
    assert case.held_out == is_held_out(case.seed)
    assert movable_pairs(case, case.x) >= 20
    if case.reference is not None:
        assert movable_pairs(case, case.reference) == 0
    if case.given.layers is not None and case.reference is not None:
        assert (wrong_side(case, case.x) or 0) > 0
        assert wrong_side(case, case.reference) == 0


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_sheets_are_pushed_through_as_far_as_said(depth):
    name = next(r.name for r in recipes(["sheets"]) if r.name.startswith(f"dent {depth} "))
    case = make("sheets", name)
    deepest = -case.x[:, 2].min()
    assert abs(deepest - depth) < 0.8  # both are uneven, by up to 0.6 in places


def test_garments_are_inside_of_the_body_and_their_reference_is_not():
    name = next(r.name for r in recipes(["garments"]) if "doll pressed 2" in r.name)
    case = make("garments", name)
    assert sorted(case.options) == ["fixed", "outside_of"]
    assert np.isin(case.mesh.components[case.given.fixed], case.options["outside_of"]).all()
    assert (wrong_side(case, case.x) or 0) > 50
    assert case.reference is not None
    verdict = judge(case, case.reference)
    assert (verdict.pairs, verdict.wrong_side, verdict.fixed_kept) == (0, 0, True)
    assert 1.0 < verdict.largest < 8.0


def _two_sheets(height: float) -> Case:
    faces, uv = weave(12, 12)
    flat = np.column_stack((uv, np.zeros(len(uv))))
    both, x, part = joined((faces, flat), (faces, flat + (0.1, 0.1, height)))
    reference = np.concatenate((flat, flat + (0.1, 0.1, 1.0)))
    return Case("two", "layers", 0, Given(both, x, fixed=part == 0, layers=part, reference=reference))


def test_the_judge_sees_motion_sides_and_what_was_fixed():
    case = _two_sheets(-1.0)
    assert case.reference is not None
    as_given, right = judge(case, case.x), judge(case, case.reference)
    # Vertices within three edges of a rim are not counted; what is left is the middle of each.
    assert 40 < (as_given.wrong_side or 0) < 120
    assert as_given.largest == as_given.moved == as_given.area == 0.0
    assert (right.wrong_side, right.pairs, right.fixed_kept) == (0, 0, True)
    assert right.moved == 0.5
    assert right.largest == pytest.approx(2.0 / case.edge)
    shifted = case.x + (0.0, 0.0, 1e-12)
    assert not judge(case, shifted).fixed_kept
    assert judge(case, 2.0 * case.x).area == pytest.approx(3.0)
    with pytest.raises(ValueError, match="not finite"):
        judge(case, np.full_like(case.x, np.nan))


def test_a_body_with_holes_has_an_inside():
    faces, x = icosphere(4)
    open_ball = faces[(x[faces][:, :, 2] < 0.8).all(axis=1)]
    points = np.array([(0.0, 0.0, 0.5), (0.0, 0.0, 2.0), (0.5, 0.5, 0.0)])
    assert judging._is_inside(open_ball, x, points).tolist() == [True, False, True]


@pytest.mark.parametrize("method", [fair, shorten])
def test_baselines_clean_a_little_noise_and_keep_what_is_fixed(method):
    faces, x = icosphere(6)
    noisy = x + 0.08 * np.random.default_rng(0).normal(size=x.shape)
    fixed = x[:, 2] > 0.5
    noisy[fixed] = x[fixed]
    assert len(pliant.check(faces, noisy)) > 10
    y = method(faces, noisy, fixed, seconds=20.0)
    assert len(pliant.check(faces, y)) == 0
    assert np.array_equal(y[fixed], noisy[fixed])
    assert np.array_equal(y, method(faces, noisy, fixed, seconds=20.0))


def test_contours_of_two_crossing_sheets_get_shorter():
    """The upper one is dented through the lower one: the length of what they share falls in every step."""
    case = make("sheets", "dent 1 edges, seed 0")
    y, lengths = case.x, []
    for _ in range(3):
        segments = pliant.check(case.mesh, y).segments
        lengths.append(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum())
        y = shorten_once(case, y)
    assert lengths[0] > lengths[1] > lengths[2]


def shorten_once(case: Case, y: np.ndarray) -> np.ndarray:
    from bench.baselines import contour_minimisation

    free = np.ones(len(y), bool)
    return y + 0.1 * contour_minimisation._direction(case.faces, y, free, pliant.check(case.mesh, y))


def _record(name: str, seed: int, pairs: int, **other) -> dict:
    common = {
        "kind": "sheets", "name": name, "seed": seed, "held_out": is_held_out(seed), "method": "pliant", "claims": True,
        "pairs_before": 100, "pairs": pairs, "moved": 0.1, "largest": 0.5, "area": 0.01, "wrong_side": None, "cpu": 1.0,
        "fixed_kept": True, "kept_connectivity": True, "note": "regions",
    }  # fmt: skip
    return common | other


def test_a_table_counts_what_a_fresh_check_says(capsys):
    records = [_record("a", 0, 0), _record("b", 1, 5), _record("c", 2, 0, fixed_kept=False)]
    records.append({"kind": "sheets", "name": "d", "seed": 3, "held_out": True, "method": "pliant", "error": "no end"})
    table._classes("All", records, Options(1, 1, False))
    printed = capsys.readouterr().out
    row = next(line for line in printed.splitlines() if line.startswith("sheets through"))
    assert row.split()[9:13] == ["4", "1", "25%", "!"]
    assert row.split()[-1] == "2"  # claimed to be clean


def test_jobs_are_resumed_from_what_was_saved(monkeypatch, tmp_path):
    given = []

    def fresh(jobs):
        given.append([job.name for job in jobs])
        for job in jobs:
            yield {"kind": job.kind, "name": job.name, "method": job.method, "cpu": 1.0}

    monkeypatch.setattr(running, "RECORDS", tmp_path / "records.jsonl")
    monkeypatch.setattr(running, "_fresh", fresh)
    jobs = [Job("sheets", name, seed, "pliant", 1, 60.0) for seed, name in enumerate("abc")]
    first = list(running.outcomes(jobs[:2], save=True))
    second = list(running.outcomes(jobs, save=True))
    assert given == [["a", "b"], ["c"]]
    assert [record["name"] for record in first + second] == ["a", "b", "a", "b", "c"]
    monkeypatch.setattr(running, "sources", lambda: "of another version")
    list(running.outcomes(jobs[:1], save=True))
    assert given[-1] == ["a"]
