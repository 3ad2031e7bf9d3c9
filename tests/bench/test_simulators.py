"""The table of simulators: its scenes, its judge, its lines at a tiny size, and what it does with peers that fail."""

from __future__ import annotations

import json
from typing import ClassVar

import numpy as np
import pytest

import pliant
from bench.measure import Options
from bench.simulators import table
from bench.simulators.judge import judge, largest_stretch
from bench.simulators.peer import SIMULATORS, Entry
from bench.simulators.run import FrameTime, Job, read, run
from bench.simulators.scenes import DENSITY, RATE, SCENES

TINY = 60


@pytest.mark.parametrize("name", SCENES)
def test_scenes_start_free_and_without_stretch(name):
    scene = SCENES[name](TINY)
    assert scene.name == name
    start = np.concatenate((scene.x, scene.solids_at(0.0)))
    assert len(pliant.check(scene.all_faces, start)) == 0
    np.testing.assert_allclose(scene.driven_at(0.0), scene.x[scene.driven], atol=1e-15)
    assert largest_stretch(scene, scene.x) < (1.15 if name == "heap" else 1.0 + 1e-12)  # heap starts wavy
    area = {"twist": 0.5, "drape": 1.0, "layers": 2.0, "heap": 0.24, "pinch": 0.25}[name]
    assert scene.mass.sum() == pytest.approx(DENSITY * area)


def test_obstacles_of_pinch_end_closer_than_the_cloth_is_thick():
    scene = SCENES["pinch"](TINY)
    left, right = (solid.at(10.0) for solid in scene.solids)
    assert 0.0 < right[:, 0].min() - left[:, 0].max() < 3.1e-4
    assert not np.array_equal(scene.solids_at(0.0), scene.solids_at(1.0 / RATE))


def test_the_judge_sees_what_passes_through():
    scene = SCENES["drape"](TINY)
    start = np.concatenate((scene.x, scene.solids_at(0.0)))
    down = np.zeros_like(start)
    down[: len(scene.x), 2] = 1.0
    still = judge(scene, [np.array([start, start])], 1)
    assert (still.worst_pairs, still.missed, still.first_missed, still.touching) == (0, 0, -1, [False])
    # Half into the ball at the end of a frame, and below it at the end of the next one.
    through = judge(scene, [np.array([start]), np.array([start - 0.2 * down]), np.array([start - 2.0 * down])], 1)
    assert through.worst_pairs > 0
    assert through.last_pairs == 0
    assert through.first_missed == 1
    assert through.lag == 0.0
    # All at once: every frame ends free, and only the way shows it.
    at_once = judge(scene, [np.array([start - 2.0 * down])], 1)
    assert at_once.worst_pairs == 0
    assert at_once.missed > 0


def test_the_judge_measures_stretch():
    scene = SCENES["drape"](TINY)
    assert largest_stretch(scene, scene.x * (1.2, 0.9, 1.0)) == pytest.approx(1.2)


@pytest.mark.parametrize("name", ["pliant", "ipctk"])
def test_a_line_at_a_tiny_size(name, tmp_path):
    for package in SIMULATORS[name].packages:
        pytest.importorskip(package)
    run(Job(name, "drape", TINY, 7, 1, 60.0, str(tmp_path)))
    about, times, states = read(tmp_path)
    scene = SCENES["drape"](TINY)
    assert about["steps"] == 2
    assert len(times) == len(states) == 7
    assert states[0].shape == (2, len(scene.x) + len(scene.solids[0].x), 3)
    fall = scene.x[:, 2].min() - states[1][-1][: len(scene.x), 2].min()
    assert 0.8 < fall / (0.5 * 9.81 * (2 / RATE) ** 2) < 1.6  # implicit Euler falls a little further
    verdict = judge(scene, states, 1)
    assert (verdict.worst_pairs, verdict.missed) == (0, 0)
    assert verdict.touching[0] is False
    assert verdict.touching[-1] is True


@pytest.mark.parametrize("name", ["twist", "pinch", "heap"])
def test_the_barrier_solver_follows_what_is_driven(name, tmp_path):
    pytest.importorskip("ipctk")
    run(Job("ipctk", name, TINY, 2, 1, 60.0, str(tmp_path)))
    scene, (_, _, states) = SCENES[name](TINY), read(tmp_path)
    end = states[-1][-1]
    np.testing.assert_allclose(end[scene.driven], scene.driven_at(2 / RATE), atol=1e-12)
    np.testing.assert_allclose(end[len(scene.x) :], scene.solids_at(2 / RATE), atol=1e-12)


def test_forces_of_the_barrier_solver_are_derivatives():
    pytest.importorskip("ipctk")
    from bench.simulators.barrier import Elastic

    scene, rng = SCENES["heap"](TINY), np.random.default_rng(3)
    elastic = Elastic(scene, len(scene.x))
    flat = np.column_stack((scene.rest, np.zeros(len(scene.x))))
    assert elastic.energy(flat) == pytest.approx(0.0, abs=1e-12)
    x = scene.x * (1.0, 1.1, 1.2) + 1e-3 * rng.normal(size=scene.x.shape)
    along = rng.normal(size=x.shape)
    h = 1e-6
    slope = (elastic.energy(x + h * along) - elastic.energy(x - h * along)) / (2 * h)
    assert elastic.gradient(x) @ along.reshape(-1) == pytest.approx(slope, rel=1e-6)
    # Stretched triangles need no projection: there the matrix is the derivative itself.
    wide = scene.x * (1.0, 1.3, 1.3)
    wide[:, 0] = 0.0
    change = (elastic.gradient(wide + h * along) - elastic.gradient(wide - h * along)) / (2 * h)
    np.testing.assert_allclose(elastic.hessian(wide) @ along.reshape(-1), change, rtol=1e-4, atol=1e-6)


def test_a_missing_peer_is_named_and_left_out(monkeypatch, capsys):
    monkeypatch.setattr(table, "SIMULATORS", {"absent": Entry("absent", "Absent", ("no_such_package",))})
    table.simulators(Options(1, 1, False, TINY, only=("drape",)))
    printed = capsys.readouterr().out
    assert "absent is left out, no_such_package cannot be imported" in printed


def test_a_peer_that_fails_has_a_line_that_says_so(monkeypatch, capsys):
    """A child process of its own: what is not known there ends it, and the table goes on."""
    monkeypatch.setattr(table, "SIMULATORS", {"broken": Entry("broken", "Broken")})
    table.simulators(Options(1, 1, False, TINY, only=("drape",)))
    captured = capsys.readouterr()
    assert "failed (1): KeyError: 'broken'" in captured.err


def test_names_that_are_not_known():
    with pytest.raises(SystemExit, match="there is no scene 'drap'; choose from twist, drape"):
        table.simulators(Options(1, 1, False, TINY, only=("drap",)))


def test_ratios_are_of_frames_in_contact_that_both_have_done():
    scene = SCENES["drape"](TINY)
    verdict = judge(scene, [np.concatenate((scene.x, scene.solids_at(0.0)))[None]], 1)

    def record(cpu, touching):
        return table.Record(0, 9, "", {}, [FrameTime(9.0, t) for t in cpu], verdict._replace(touching=touching))

    ours = record([50.0, 1.0, 2.0, 4.0, 8.0, 100.0], [True, False, True, True, True, True])
    theirs = record([99.0, 9.0, 4.0, 12.0, 80.0], [True, True, True, True, True])
    assert table.contact_ratio(theirs, ours) == 3.0  # the median of 2, 3 and 10
    assert table.contact_ratio(record([1.0, 2.0], [True, False]), ours) is None


class Diverging:
    """A simulator whose second frame is no number."""

    steps: ClassVar[int] = 1
    settings: ClassVar[str] = "none"

    def __init__(self, scene, threads):
        self._x, self._frame = scene.x, 0

    def step(self, time):
        self._frame += 1

    def positions(self):
        return self._x if self._frame == 1 else np.full_like(self._x, np.nan)


def test_a_run_that_diverges_ends_and_is_judged_by_its_last_finite_state(monkeypatch, tmp_path):
    monkeypatch.setitem(SIMULATORS, "diverging", Entry("", "", (), "pliant"))
    monkeypatch.setattr(Entry, "load", lambda self: Diverging)
    run(Job("diverging", "drape", TINY, 9, 1, 60.0, str(tmp_path)))
    about, times, states = read(tmp_path)
    assert json.loads((tmp_path / "about.json").read_text()) == about
    assert len(times) == 2
    assert judge(SCENES["drape"](TINY), states, 1).missed == 0
