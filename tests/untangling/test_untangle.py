"""What untangle promises: it never claims what an exact check does not confirm, and never makes anything worse."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.runtime import jit
from pliant.runtime.clocks import Clock
from pliant.scenes.shapes import icosphere, weave
from tests.shapes.tables import assert_identical

SQUARE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)])
TWO = np.array([(0, 1, 2), (0, 2, 3)])


def balls(apart=1.7, detail=5):
    """Two balls that overlap; their components are 0 and 1."""
    faces, x = icosphere(detail)
    return np.concatenate((faces, faces + len(x))), np.concatenate((x, x + (apart, 0.05, 0.03)))


def dented(depth, cells=14):
    """A sheet above another one, its middle pushed through it; and the clean state."""
    faces, uv = weave(cells, cells)
    at = uv - uv.mean(axis=0)
    low = np.column_stack((at, np.zeros(len(at))))
    high = np.column_stack((at[:, ::-1] * 0.97, np.full(len(at), 1.0)))
    pressed = high - np.outer((depth + 1.0) * np.exp(-((np.linalg.norm(at, axis=1) / 3.0) ** 2)), (0, 0, 1.0))
    both = np.concatenate((faces, faces[:, ::-1] + len(at)))
    return both, np.concatenate((low, pressed)), np.concatenate((low, high))


def noisy(share=0.5):
    faces, x = icosphere(6)
    edge = np.linalg.norm(x[faces[:, 0]] - x[faces[:, 1]], axis=1).mean()
    return faces, x + share * edge * np.random.default_rng(3).normal(size=x.shape)


CASES = {"balls": balls(), "sheets": dented(2.0)[:2], "noise": noisy()}


def movable(faces, x, fixed=None):
    found = pliant.check(faces, x).faces
    if fixed is None:
        return len(found)
    return int(np.count_nonzero(~fixed[np.asarray(faces)[found]].all(axis=(1, 2))))


@pytest.mark.parametrize("name", CASES)
def test_it_is_clean_by_an_exact_check(name):
    faces, x = CASES[name]
    assert movable(faces, x) > 10
    result = pliant.untangle(faces, x)
    assert result.clean
    assert len(result.remaining) == len(pliant.check(faces, result.positions)) == 0
    assert np.array_equal(result.displacement, result.positions - x)
    assert np.array_equal(result.moved, (result.positions != x).any(axis=1))
    assert abs(result.area_change.whole) < 0.1
    assert result.wrong_side is None
    assert "clean" in repr(result)
    assert "sides not checked" in repr(result)
    assert next(phase.pairs for phase in result.history) == movable(faces, x)


@pytest.mark.parametrize("name", CASES)
def test_a_clean_result_is_a_fixed_point(name):
    faces, x = CASES[name]
    once = pliant.untangle(faces, x).positions
    again = pliant.untangle(faces, once)
    assert again.clean
    assert again.positions.tobytes() == once.tobytes()
    assert again.method == "nothing intersects"
    assert not again.moved.any()
    assert (again.edge_change, again.area_change.largest, again.area_change.whole) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", CASES)
def test_threads_do_not_matter(name):
    faces, x = CASES[name]
    one, two = (pliant.untangle(faces, x, threads=threads) for threads in (1, 2))
    assert one.positions.tobytes() == two.positions.tobytes()
    assert (one.method, one.edge_change) == (two.method, two.edge_change)


def test_fixed_vertices_stay_bit_by_bit():
    faces, x = balls()
    fixed = np.arange(len(x)) < len(x) // 2
    for given in (fixed, np.flatnonzero(fixed)):
        result = pliant.untangle(faces, x, fixed=given, outside_of=[0])
        assert result.clean
        assert result.positions[fixed].tobytes() == x[fixed].tobytes()
        assert result.moved.any()
        assert len(result.wrong_side) == 0


def test_what_is_wholly_fixed_is_unfixable():
    faces, x = balls()
    result = pliant.untangle(faces, x, fixed=np.ones(len(x), bool))
    assert result.clean
    assert result.method == "only fixed faces intersect"
    assert_identical(result.unfixable, pliant.check(faces, x))
    assert len(result.remaining) == 0
    assert result.positions.tobytes() == x.tobytes()


def test_unfixable_pairs_are_named_and_the_others_repaired():
    faces, x = balls()
    third = np.concatenate((x, x[: len(x) // 2] + (0.2, 1.6, 0.1)))
    faces = np.concatenate((faces, faces[: len(faces) // 2] + len(x)))
    fixed = np.arange(len(third)) < len(x)
    result = pliant.untangle(faces, third, fixed=fixed)
    assert result.clean
    assert len(result.unfixable) == len(pliant.check(faces[: len(faces) * 2 // 3], x)) > 0
    assert movable(faces, result.positions, fixed) == 0
    assert result.positions[fixed].tobytes() == third[fixed].tobytes()


def test_what_cannot_be_repaired_remains_and_nothing_gets_worse():
    """Three squares through each other, of which two may not move and leave the third no way to be clean."""
    x = np.concatenate((SQUARE, SQUARE[:, [2, 0, 1]] + (0.4, 0.1, -0.4)))
    faces, fixed = np.concatenate((TWO, TWO + 4)), np.array([True, True, True, True, True, False, True, True])
    before = movable(faces, x, fixed)
    result = pliant.untangle(faces, x, fixed=fixed)
    assert before > 0
    assert not result.clean
    assert 0 < len(result.remaining) <= before
    assert len(result.remaining) == movable(faces, result.positions, fixed)
    assert "remain" in repr(result)


@pytest.mark.parametrize("limit", [0.0, 0.02, 0.1])
def test_no_vertex_moves_further_than_allowed(limit):
    faces, x, _ = dented(2.0)
    free = pliant.untangle(faces, x)
    assert np.linalg.norm(free.displacement, axis=1).max() > 0.1
    result = pliant.untangle(faces, x, max_move=limit)
    assert np.linalg.norm(result.displacement, axis=1).max() <= limit
    assert len(result.remaining) == movable(faces, result.positions) <= movable(faces, x)
    assert not result.clean


def test_distortion_beyond_the_limit_is_undone():
    faces, x = noisy(0.6)
    assert pliant.untangle(faces, x, max_distortion=10.0).moved.any()
    result = pliant.untangle(faces, x, max_distortion=0.0)
    assert not result.clean
    assert result.positions.tobytes() == x.tobytes()
    assert len(result.remaining) == movable(faces, x)


@pytest.mark.parametrize("limit", [0.05, 0.25, 1.0])
def test_no_face_changes_its_area_by_more_than_the_limit(limit):
    """The limit was once one of connected regions, in which single faces changed by as much as they liked."""
    faces, x = noisy(0.6)
    result = pliant.untangle(faces, x, max_distortion=limit)
    assert result.moved.any()
    assert result.area_change.largest == pytest.approx(area_changes(faces, x, result.positions).max())
    assert result.area_change.largest <= limit
    assert len(result.remaining) == movable(faces, result.positions) < movable(faces, x)
    assert result.clean or limit < 1.0


def area_changes(faces, before, after):
    """By plain loops."""
    areas = [
        [0.5 * np.linalg.norm(np.cross(at[b] - at[a], at[c] - at[a])) for a, b, c in faces] for at in (before, after)
    ]
    around = {}
    for face, area in zip(faces, areas[0]):
        for corner in face:
            around.setdefault(corner, []).append(area)
    mean = {corner: np.mean(found) for corner, found in around.items()}
    scale = [max(area, np.mean([mean[corner] for corner in face])) for face, area in zip(faces, areas[0])]
    return np.abs(np.array(areas[0]) - np.array(areas[1])) / scale


def test_a_reference_ends_clean():
    faces, x, clean = dented(4.0)
    result = pliant.untangle(faces, x, reference=clean)
    assert result.clean
    assert result.method == "from the reference"
    assert np.linalg.norm(result.displacement, axis=1).mean() < 0.9 * np.linalg.norm(clean - x, axis=1).mean()


def test_layers_end_in_their_order():
    faces, x = icosphere(8)
    patches = np.where(x[:, 2] > 0.3, -0.06, 0.06)
    outer = x * (1.0 + patches)[:, None]
    both, at = np.concatenate((faces, faces + len(x))), np.concatenate((x, outer))
    assert movable(both, at) > 10
    for layers in ([0, 1], np.repeat([0, 1], len(x))):
        result = pliant.untangle(both, at, layers=layers)
        assert result.clean
        assert result.wrong_side is not None
        assert len(result.wrong_side) == 0


def test_a_garment_ends_outside_of_the_body():
    faces, x = icosphere(8)
    belt = np.abs(x[faces][:, :, 2]).max(axis=1) < 0.5
    cloth = x * (1.08 - 0.2 * (x[:, 0] > 0.4))[:, None]
    both, at = np.concatenate((faces, faces[belt] + len(x))), np.concatenate((x, cloth))
    body = np.arange(len(at)) < len(x)
    used = np.unique(both)
    inside = pliant.inside(faces, x, points=at[used[used >= len(x)]])
    assert len(inside) > 5
    result = pliant.untangle(both, at, fixed=body, outside_of=[0])
    assert result.clean
    assert len(result.wrong_side) == 0
    assert len(pliant.inside(faces, x, points=result.positions[used[used >= len(x)]])) == 0


def sheets(swapped=0.0, cells=12):
    """Two sheets half a cell apart, the upper one of which is below the other in a corner, or wholly."""
    faces, uv = weave(cells, cells)
    low = np.column_stack((uv, np.zeros(len(uv))))
    height = np.where(uv.sum(axis=1) < swapped * cells, -0.5, 0.5)
    return np.concatenate((faces, faces + len(uv))), np.concatenate((low, low + np.outer(height, (0, 0, 1.0))))


def test_sides_of_open_layers_are_a_guess_and_said_to_be():
    """Open layers were not checked at all: two were clean in an order that had been said to be the other one."""
    both, at = sheets()
    up = np.cross(*(at[both[0, 1:]] - at[both[0, 0]]))[2] > 0.0
    right, wrong = ([0, 1], [1, 0]) if up else ([1, 0], [0, 1])
    result = pliant.untangle(both, at, layers=right)
    assert result.method == "nothing intersects"
    assert result.sides == "checked, of open layers by a guess"
    assert len(result.wrong_side) == 0
    assert len(pliant.untangle(both, at, layers=wrong).wrong_side) > 100
    faces, x = icosphere(3)
    closed = np.concatenate((faces, faces + len(x))), np.concatenate((x, 0.5 * x))
    assert pliant.untangle(*closed, layers=[1, 0]).sides == "checked"
    assert pliant.untangle(*closed).sides == "not checked"


def test_a_corner_that_is_below_goes_above():
    both, at = sheets(0.8)
    assert movable(both, at) > 5
    up = np.cross(*(at[both[0, 1:]] - at[both[0, 0]]))[2] > 0.0
    result = pliant.untangle(both, at, layers=[0, 1] if up else [1, 0])
    assert result.clean
    assert len(result.wrong_side) == 0


def test_sides_are_told_where_nothing_intersects():
    faces, x = icosphere(3)
    both, at = np.concatenate((faces, faces + len(x))), np.concatenate((x, 0.5 * x))
    result = pliant.untangle(both, at, outside_of=[0])
    assert result.clean
    assert result.wrong_side.tolist() == list(range(len(x), 2 * len(x)))
    assert "wrong side" in repr(result)
    assert len(pliant.untangle(both, at, layers=[1, 0]).wrong_side) == 0
    assert len(pliant.untangle(both, at, layers=[0, 1]).wrong_side) > 0


def test_seconds_are_kept_and_said():
    faces, x = balls()
    result = pliant.untangle(faces, x, seconds=0.0)
    assert "time was up" in result.method
    assert len(result.remaining) == movable(faces, result.positions) <= movable(faces, x)


def test_progress_and_interruption():
    faces, x = balls()
    seen = []
    pliant.untangle(faces, x, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0

    def interrupt(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pliant.untangle(faces, x, progress=interrupt)


def test_other_scales_and_places():
    faces, x = balls()
    assert pliant.untangle(faces, 1e-6 * x).clean
    assert pliant.untangle(faces, 1e6 * x + 1e7).clean


def test_empty_and_degenerate_input():
    result = pliant.untangle(np.empty((0, 3), int), np.empty((0, 3)))
    assert result.clean
    assert result.positions.shape == (0, 3)
    flat = np.array([(0.0, 0, 0), (3, 0, 0), (0, 3, 0), (1, 1, 0), (4, 1, 0), (1, 4, 0)])
    assert pliant.untangle([(0, 1, 2), (3, 4, 5)], flat).clean  # coplanar: no line of intersection
    points = np.zeros((6, 3))
    result = pliant.untangle([(0, 1, 2), (3, 4, 5)], points)  # nothing has a size
    assert len(result.remaining) == movable([(0, 1, 2), (3, 4, 5)], result.positions) <= 1


def bad_calls():
    _faces, x = balls()
    three = np.zeros(len(x), int)
    three[0] = 1
    yield "reference, shape", {"reference": x[:-1]}, pliant.ShapeError, "reference"
    yield "reference, tangled", {"reference": x}, pliant.TangledError, "the reference is tangled: faces"
    yield "reference, NaN", {"reference": np.full_like(x, np.nan)}, pliant.NonFiniteError, "reference"
    yield "unknown layer", {"layers": [0, 2]}, pliant.LayersError, "names object 2, but there are 2"
    yield "a layer twice", {"layers": [0, 1, 0]}, pliant.LayersError, "object 0 is named twice"
    yield "a torn layer", {"layers": three}, pliant.LayersError, "contradict each other: object 0"
    yield "no integers", {"layers": [0.0, 1.0]}, pliant.LayersError, "integers"
    yield "within", {"layers": [1, 0], "outside_of": [0]}, pliant.LayersError, "outside_of says"
    yield "unknown body", {"outside_of": [7]}, pliant.LayersError, "outside_of names object 7"
    yield "fixed mask", {"fixed": np.ones(3, bool)}, pliant.ShapeError, "fixed"
    yield "fixed ids", {"fixed": [len(x)]}, pliant.VertexIndexError, "fixed names vertex"
    yield "fixed floats", {"fixed": [0.5]}, pliant.OptionError, "fixed"
    yield "max_move", {"max_move": -1.0}, pliant.OptionError, "max_move"
    yield "max_distortion", {"max_distortion": "much"}, pliant.DtypeError, "max_distortion"
    yield "seconds", {"seconds": -1.0}, pliant.OptionError, "seconds"
    yield "threads", {"threads": 0}, pliant.OptionError, "threads"


@pytest.mark.parametrize(("options", "error", "words"), [c[1:] for c in bad_calls()], ids=[c[0] for c in bad_calls()])
def test_errors_are_named(options, error, words):
    with pytest.raises(error, match=words) as caught:
        pliant.untangle(*balls(), **options)
    assert isinstance(caught.value, pliant.MeshError)
    if error is pliant.TangledError:
        assert len(caught.value.faces) > 0


def test_positions_must_be_finite():
    faces, x = balls()
    x[3, 1] = np.nan
    with pytest.raises(pliant.NonFiniteError, match=r"x\[3, 1\]"):
        pliant.untangle(faces, x)


@pytest.mark.parametrize("exponent", [-900, -500, 60, 500, 900])
def test_sizes_whose_areas_are_no_numbers(exponent):
    """Positions are scaled by a power of two, which is exact: the same result, the same bits where nothing moves."""
    faces, x = balls(detail=3)
    fixed = np.arange(len(x)) < len(x) // 2
    expected = pliant.untangle(faces, x, fixed=fixed)
    result = pliant.untangle(faces, np.ldexp(x, exponent), fixed=fixed)
    assert result.clean
    assert expected.moved.any()
    assert np.array_equal(result.positions, np.ldexp(expected.positions, exponent))
    assert np.array_equal(result.displacement, result.positions - np.ldexp(x, exponent))


def test_what_has_no_area_remains():
    """Everything in a point or in a line: nothing can be told from it, and no time is spent on it."""
    faces, x = balls(detail=2)
    for flat in (np.zeros_like(x), x * (1.0, 0.0, 0.0)):
        result = pliant.untangle(faces, flat)
        assert not result.clean
        assert result.positions.tobytes() == flat.tobytes()
        assert len(result.remaining) == len(pliant.check(faces, flat)) > 0


def test_vertices_without_faces():
    result = pliant.untangle(np.empty((0, 3), int), SQUARE)
    assert result.clean
    assert np.array_equal(result.positions, SQUARE)


def test_an_open_object_encloses_nothing():
    """The rim of a sheet was closed by a cone without volume, and vertices were on the wrong side of that."""
    faces, pressed, _ = dented(2.0)
    with pytest.raises(pliant.OpenSurfaceError, match="outside_of names object 0, which encloses nothing"):
        pliant.untangle(faces, pressed, outside_of=[0])


def test_compilation_is_no_part_of_the_time(monkeypatch):
    clock = Clock(1.0)
    assert not clock.is_over
    monkeypatch.setattr(jit.COMPILING, "seconds", jit.COMPILING.seconds + 5.0)
    assert clock.elapsed < -4.0
    monkeypatch.setattr(jit.COMPILING, "seconds", jit.COMPILING.seconds - 7.0)
    assert clock.is_over
    assert clock.ran_out
