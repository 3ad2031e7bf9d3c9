"""Lines of intersection: compared with the segments of the pairs, which are exact, and with circles."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.scenes.shapes import icosphere

BIG = np.array([(-9.0, -9.0, 0.1), (9.0, -9.0, 0.1), (0.0, 12.0, 0.1)])


def two_balls(apart: float = 1.2, detail: int = 8) -> tuple[np.ndarray, np.ndarray]:
    faces, x = icosphere(detail)
    return np.concatenate((faces, faces + len(x))), np.concatenate((x, x @ _turn() + (apart, 0.03, 0.02)))


def _turn() -> np.ndarray:
    a = 0.7
    return np.array([(np.cos(a), -np.sin(a), 0.0), (np.sin(a), np.cos(a), 0.0), (0.0, 0.0, 1.0)])


def _contours(faces, x) -> tuple[pliant.Intersections, pliant.Contours]:
    hits = pliant.check(faces, x)
    return hits, hits.contours(faces, x)


@pytest.mark.bounds
@pytest.mark.unit
def test_a_tetrahedron_through_a_triangle():
    corners = np.array([(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (-0.5, 0.8, 0.0), (-0.5, -0.8, 0.0)])
    faces = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2), (4, 5, 6)])
    _, contours = _contours(faces, np.concatenate((corners, BIG)))
    assert repr(contours) == f"Contours(1 closed, 0 open, length {contours.length[0]:.6g}, 1 regions)"
    assert len(contours) == 1
    assert contours.faces.tolist() == [4, 4, 4]
    assert np.allclose(contours.points[:, 2], 0.1)
    assert np.allclose(contours.weights.sum(axis=1), 1.0)
    assert np.allclose(np.einsum("kj,kjl->kl", contours.weights, np.broadcast_to(BIG, (3, 3, 3))), contours.points)
    sides = np.linalg.norm(corners[1] - corners[2]), np.linalg.norm(corners[2] - corners[3])
    assert contours.length[0] == pytest.approx(0.9 * (2 * sides[0] + sides[1]))
    assert len(contours.line(0)) == 4
    (region,) = contours.regions
    assert region.contour == 0
    assert region.vertices.tolist() == [0]  # the tip; the triangle has no vertex within


def test_lengths_are_those_of_the_segments():
    """Every segment joins two corners here: nothing is coplanar, and no two faces that meet share a vertex."""
    faces, x = two_balls()
    hits, contours = _contours(faces, x)
    assert len(hits) > 50
    assert contours.length.sum() == pytest.approx(
        np.linalg.norm(hits.segments[:, 0] - hits.segments[:, 1], axis=1).sum()
    )
    ends = hits.segments.reshape(-1, 3)
    nearest = [np.abs(ends - p).max(axis=1).min() for p in contours.points]
    assert max(nearest) < 1e-12


def test_two_balls_meet_in_a_circle():
    faces, x = two_balls(detail=16)
    _, contours = _contours(faces, x)
    assert contours.closed.tolist() == [True]
    assert contours.length[0] == pytest.approx(2 * np.pi * np.sqrt(1 - 0.36), rel=0.02)
    assert len(contours.regions) == 2  # a cap of each
    first, second = contours.regions
    half = len(x) // 2
    assert (first.vertices < half).all() != (second.vertices < half).all()
    for region in contours.regions:
        other = np.zeros(3) if region.vertices[0] >= half else np.array((1.2, 0.03, 0.02))
        # Inside of the other ball, but for its flat faces.
        assert (np.linalg.norm(x[region.vertices] - other, axis=1) < 1.0).all()
        assert np.isin(faces[region.faces], region.vertices).all()
        assert len(region.faces) > 20


def test_open_lines_and_several():
    """A strip through two squares: its line ends at its borders."""
    square = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
    strip = np.array([(-0.3, 0.05, -1.0), (0.2, 0.05, -1.0), (0.2, 0.06, 2.0), (-0.3, 0.06, 2.0)])
    x = np.concatenate((square, square + (0.0, 0.0, 1.0), strip))
    faces = np.concatenate([np.array([(0, 1, 2), (0, 2, 3)]) + 4 * i for i in range(3)])
    hits, contours = _contours(faces, x)
    assert len(hits) > 3
    assert contours.closed.tolist() == [False, False]
    assert contours.length == pytest.approx([0.5, 0.5])
    assert contours.regions == ()
    assert len(contours.line(1)) == contours.start[2] - contours.start[1]


def test_nothing_and_what_is_flat():
    faces, x = two_balls(apart=3.0)
    _, contours = _contours(faces, x)
    assert len(contours) == 0
    assert repr(contours) == "Contours(none)"
    flat = np.array([(0.0, 0, 0), (3, 0, 0), (0, 3, 0), (1, 1, 0), (4, 1, 0), (1, 4, 0)])
    hits, contours = _contours([(0, 1, 2), (3, 4, 5)], flat)
    assert (len(hits), len(contours)) == (1, 0)


def test_positions_of_another_mesh():
    faces, x = two_balls()
    hits = pliant.check(faces, x)
    with pytest.raises(pliant.MeshError, match="refers to vertex"):
        hits.contours(faces, x[:20])
    with pytest.raises(pliant.MeshError, match="pair 0 refers"):
        hits.contours(faces[:2], x)
