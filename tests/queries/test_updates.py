"""A detector through everything that can happen to it: jumps, errors, cuts and remeshing, at rest and in motion, and
every answer is that of a fresh query."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest

import pliant
from pliant.engine.memory import Engine
from tests.shapes.tables import assert_identical

TUNINGS = ("auto", "boxes", "cones", "cones+front")


def compare(detector, mesh, x0, x1, **rule):
    """All queries, and how much was found."""
    gap = 0.02 * float(np.ptp(x0, axis=0).max())
    contacts = detector.contacts(x0, x1)
    assert_identical(contacts, pliant.ccd(mesh, x0, x1, **rule))
    assert_identical(detector.step(x0, x1), pliant.step(mesh, x0, x1, **rule))
    crossing, near = detector.intersections(x1), detector.near(x1, gap)
    assert_identical(crossing, pliant.check(mesh, x1))
    assert_identical(near, pliant.near(mesh, x1, within=gap))
    return len(contacts) + len(crossing) + len(near)


@pytest.mark.parametrize("culling", TUNINGS)
@pytest.mark.parametrize("rule", [{}, {"min_distance": 0.01}], ids=["touching", "distance"])
def test_a_surface_that_is_cut_and_remeshed(culling, rule):
    made, rng = pliant.scenes.load("twisted_cloth", triangles=400, frames=6), np.random.default_rng(7)
    mesh = pliant.TriMesh(made.faces)
    detector, found = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling), **rule), 0
    for x0, x1 in zip(made.frames, made.frames[1:], strict=False):
        found += compare(detector, mesh, x0, x1, **rule)
        gone = rng.choice(len(mesh.faces), 9, replace=False)
        again = mesh.faces[gone[:5]][:, ::-1]  # some come back, turned over
        mesh = mesh.changed(remove=gone, add=again)
        detector.update(mesh)
    assert detector.mesh is mesh
    assert found > 100


def test_only_what_has_changed_is_built_anew(monkeypatch):
    made = pliant.scenes.load("hanging_cloth", triangles=800, frames=3)
    mesh = pliant.TriMesh(made.faces)
    detector, builds, build = pliant.Detector(mesh), [], Engine._build
    monkeypatch.setattr(Engine, "_build", lambda *args: builds.append(1) or build(*args))
    detector.advance(made.frames[0])
    detector.advance(made.frames[1])
    assert len(builds) == 1
    mesh = mesh.changed(remove=[5, 6, 7])
    detector.update(mesh)
    found = detector.advance(made.frames[2])
    assert len(builds) == 1  # the tree stays
    assert_identical(found, pliant.ccd(mesh, made.frames[1], made.frames[2]))
    builds.clear()
    detector.update(mesh.changed(remove=np.arange(0, len(mesh.faces), 2), add=mesh.faces[::2]))
    detector.contacts(made.frames[1], made.frames[2])
    assert len(builds) == 1  # too much has changed


def test_new_vertices():
    """A face is split at a new vertex: where it was before is for the caller to say."""
    made = pliant.scenes.load("twisted_cloth", triangles=300, frames=3)
    mesh, (x0, x1, _) = pliant.TriMesh(made.faces), made.frames[:3]
    detector = pliant.Detector(mesh)
    detector.advance(x0)
    a, b, c = mesh.faces[10]
    new, n = mesh.faces[10], len(x0)
    mesh = mesh.changed(remove=[10], add=[(a, b, n), (b, c, n), (c, a, n)])
    grown0, grown1 = (np.concatenate((x, x[new].mean(axis=0)[None])) for x in (x0, x1))
    detector.update(mesh)
    assert len(detector.advance(grown0)) == 0  # nothing to move from: a new start
    assert_identical(detector.advance(grown1), pliant.ccd(mesh, grown0, grown1))
    detector.place(grown0)
    assert_identical(detector.advance(grown1), pliant.ccd(mesh, grown0, grown1))


@pytest.mark.parametrize(("name", "least"), [("octopi", 100), ("liver", 30)])
@pytest.mark.parametrize("rule", [{}, {"min_distance": 1e-3}], ids=["touching", "distance"])
@pytest.mark.filterwarnings("ignore:.*inverted or flat")
def test_a_volume_that_is_cut(name, least, rule):
    step, rng = pliant.scenes.load_volume(name, 300).steps[0], np.random.default_rng(2)
    mesh = pliant.VolumeMesh(step.cells)
    detector, found = pliant.Detector(mesh, **rule), 0
    for _ in range(4):
        x1 = step.x1 + 0.02 * np.ptp(step.x0, axis=0).max() * rng.normal(size=step.x1.shape)
        found += compare(detector, mesh, step.x0, x1, **rule)
        mesh = mesh.changed(remove=rng.choice(len(mesh.types), 5, replace=False))
        detector.update(mesh)
    assert found > least


@pytest.mark.parametrize("interior", [True, False])
def test_a_volume_from_frame_to_frame(interior):
    step = pliant.scenes.load_volume("octopi", 300).steps[0]
    mesh = pliant.VolumeMesh(step.cells)
    detector = pliant.Detector(mesh, interior=interior)
    detector.advance(step.x0)
    assert_identical(detector.advance(step.x1), pliant.ccd(mesh, step.x0, step.x1, interior=interior))
    assert_identical(detector.advance(step.x0), pliant.ccd(mesh, step.x1, step.x0, interior=interior))


def test_another_mesh_starts_from_nothing():
    made, other = pliant.scenes.load("twisted_cloth", triangles=200), pliant.scenes.load("ball_heap", triangles=300)
    detector = pliant.Detector(made.faces)
    detector.contacts(made.x0, made.x1)
    detector.update(other.faces)
    assert_identical(detector.contacts(other.x0, other.x1), pliant.ccd(other.faces, other.x0, other.x1))


JUMP, WRONG, INTERRUPTED, CUT, AT_REST = range(5)  # of ten: otherwise the detector walks on


class Frame(NamedTuple):
    kind: int  # what happens before it
    mesh: pliant.TriMesh | pliant.VolumeMesh
    x: np.ndarray
    contacts: pliant.Contacts | None  # of a fresh query, from the frame before
    crossing: pliant.Intersections | None  # of one at rest


def jumped(x, rng):
    """A jump of any size. Beyond ten times the scene a few vertices make it: a hundred times it for all of them
    needs integers for every pair, which is a test of those and takes seconds."""
    size = 10.0 ** rng.integers(-3, 4)
    jumps = rng.random((len(x), 1)) < (1.0 if size < 100.0 else 0.05)
    return x + jumps * rng.normal(size=x.shape) * size


def frames_of_everything(mesh, walk, cut, **rule):
    """Two hundred: standing still, walking, jumps and cuts, with what fresh queries find; seeded."""
    rng, at, frames = np.random.default_rng(11), None, []
    for frame in range(200):
        kind, x = int(rng.integers(0, 10)), walk[frame % len(walk)]
        if kind == JUMP:
            x = jumped(x, rng)
        elif kind == CUT:
            mesh = cut(mesh, rng)
        contacts = None if at is None else pliant.ccd(mesh, at, x, **rule)
        frames.append(Frame(kind, mesh, x, contacts, pliant.check(mesh, x) if kind == AT_REST else None))
        at = x
    return frames


def assert_each_frame_is_that_of_a_fresh_query(detector, frames):
    """How much was found. Frames that are wrong, and an error in the middle, are between them."""
    mesh, found = frames[0].mesh, 0

    def fail(done, total):
        raise KeyboardInterrupt

    for kind, new, x, expected, crossing in frames:
        if kind == WRONG:
            with pytest.raises(pliant.MeshError):
                detector.advance(np.full_like(x, np.nan))
        elif kind == INTERRUPTED and expected is not None:
            with pytest.raises(KeyboardInterrupt):
                detector.advance(x, progress=fail)
        elif new is not mesh:
            detector.update(new)
        mesh, contacts = new, detector.advance(x)
        if expected is not None:
            assert_identical(contacts, expected)
            found += len(contacts)
        if kind == AT_REST:
            assert_identical(detector.intersections(x), crossing)
    assert len({kind for kind, *_ in frames}) == 10
    assert len({id(one.mesh) for one in frames}) > 10
    return found


RULES = pytest.mark.parametrize("rule", [{}, {"min_distance": 0.01}], ids=["touching", "distance"], scope="module")


def cut_and_turn(mesh, rng):
    gone = rng.choice(len(mesh.faces), 3, replace=False)
    return mesh.changed(remove=gone, add=mesh.faces[gone][:, [1, 2, 0]])


@pytest.fixture(scope="module")
def surface_frames(rule):
    made = pliant.scenes.load("twisted_cloth", triangles=120, frames=10)
    return frames_of_everything(pliant.TriMesh(made.faces), made.frames, cut_and_turn, **rule)


@RULES
@pytest.mark.parametrize("culling", TUNINGS)
def test_two_hundred_frames_of_a_surface(culling, rule, surface_frames):
    mesh = surface_frames[0].mesh
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling), threads=2, **rule)
    assert assert_each_frame_is_that_of_a_fresh_query(detector, surface_frames) > 500


def cut_cells(mesh, rng):
    return mesh.changed(remove=rng.choice(len(mesh.types), 2, replace=False))


@RULES
@pytest.mark.filterwarnings("ignore:.*inverted or flat")
def test_two_hundred_frames_of_a_volume(rule):
    step = pliant.scenes.load_volume("octopi", 150).steps[0]
    walk = [step.x0 + t * (step.x1 - step.x0) for t in np.linspace(0.0, 1.0, 10)]
    frames = frames_of_everything(pliant.VolumeMesh(step.cells), walk, cut_cells, **rule)
    detector = pliant.Detector(frames[0].mesh, threads=2, **rule)
    assert assert_each_frame_is_that_of_a_fresh_query(detector, frames) > 500


def test_an_update_that_fails_changes_nothing():
    """Exceptions at every line of it: whatever is asked next is right, for the mesh before or for the new one."""
    made = pliant.scenes.load("twisted_cloth", triangles=120)
    base = pliant.TriMesh(made.faces)
    cut = base.changed(remove=np.arange(40))
    expected = {id(mesh): pliant.ccd(mesh, made.x0, made.x1) for mesh in (base, cut)}
    ended = False
    for stop in range(400):
        detector, lines = pliant.Detector(base, threads=1), 0
        detector.contacts(made.x0, made.x1)

        def trace(frame, event, _, stop=stop):
            nonlocal lines
            if "/pliant/" not in frame.f_code.co_filename.replace("\\", "/"):
                return None
            lines += event == "line"
            if lines > stop:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        try:
            sys.settrace(trace)
            detector.update(cut)
            ended = True
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert_identical(detector.contacts(made.x0, made.x1), expected[id(detector.mesh)])
        if ended:
            break
    assert ended
    assert stop > 20


def test_labels_that_do_not_reach_the_new_vertices():
    made = pliant.scenes.load("ball_heap", triangles=300)
    detector = pliant.Detector(made.faces, objects=made.objects, pairs="inter")
    detector.contacts(made.x0, made.x1)
    mesh, n = detector.mesh, len(made.x0)
    with pytest.raises(pliant.ShapeError, match="labels, but the mesh has a vertex"):
        detector.update(mesh.changed(add=[(n, 0, 1)]))
    assert detector.mesh is mesh
    contacts = pliant.ccd(made.faces, made.x0, made.x1, objects=made.objects, pairs="inter")
    assert_identical(detector.contacts(made.x0, made.x1), contacts)


def test_a_query_that_is_refused_settles_nothing():
    made = pliant.scenes.load("twisted_cloth", triangles=120)
    detector, more = pliant.Detector(made.faces), np.concatenate((made.x0, made.x0[:1]))
    with pytest.raises(pliant.MeshError):
        detector.near(more, -1.0)
    assert_identical(detector.contacts(made.x0, made.x1), pliant.ccd(made.faces, made.x0, made.x1))
    with pytest.raises(pliant.ShapeError, match="the frames before had"):
        detector.intersections(more)


def test_radii_are_those_of_then():
    made = pliant.scenes.load("twisted_cloth", triangles=120)
    radii = np.full(len(made.x0), 1e-3)
    detector = pliant.Detector(made.faces, radii=radii)
    expected = pliant.ccd(made.faces, made.x0, made.x1, radii=radii)
    radii[:] = 0.1
    assert_identical(detector.contacts(made.x0, made.x1), expected)
    with pytest.raises(pliant.MeshError, match=r"min_distance is -1\.0"):
        pliant.Detector(made.faces, min_distance=-1.0)
