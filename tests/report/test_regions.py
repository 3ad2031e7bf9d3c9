"""Colliding faces are those of what was found, by plain loops; numbers of a scan add up."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.report.findings import findings_of, funnel_of, worst_frames
from pliant.report.regions import CROSSING, EDGE_EDGE, VERTEX_FACE, Regions


def sequence_of(name, triangles, frames, **options):
    scene = pliant.scenes.load(name, triangles, frames)
    return pliant.Sequence(scene.faces, scene.frames, **({"objects": scene.objects, "name": name} | options))


@pytest.fixture(scope="module", params=["twisted_cloth", "ball_heap"])
def scan(request, with_trees):
    return pliant.scan(sequence_of(request.param, 900, 4), threads=1)


def expected(scan, frame):
    """Layers of each colliding face: a dict from face to bits."""
    faces, part = scan.sequence.faces.tolist(), scan.sequence.objects.tolist()
    layers = {}

    def mark(kind, corners, between):
        for f, face in enumerate(faces):
            if set(corners) <= set(face):
                layers[f] = layers.get(f, 0) | 1 << (2 * kind + between)

    contacts = frame.contacts
    for row in range(0 if contacts is None else len(contacts)):
        v = contacts.vertices[row].tolist()
        if contacts.kind[row] == 0:
            between = part[v[0]] != part[v[1]]
            mark(VERTEX_FACE, v[:1], between)
            mark(VERTEX_FACE, v[1:], between)
        else:
            between = part[v[0]] != part[v[2]]
            mark(EDGE_EDGE, v[:2], between)
            mark(EDGE_EDGE, v[2:], between)
    for a, b in frame.intersections.faces.tolist():
        between = part[faces[a][0]] != part[faces[b][0]]
        for f in (a, b):
            layers[f] = layers.get(f, 0) | 1 << (2 * CROSSING + between)
    return layers


def test_regions_are_what_plain_loops_find(scan):
    regions = Regions(scan.sequence)
    seen = 0
    for frame in scan.frames[:3]:
        region = regions.of(frame)
        assert dict(zip(region.faces.tolist(), region.layers.tolist())) == expected(scan, frame)
        assert (np.diff(region.faces) > 0).all()
        seen += len(region.faces)
    assert 20 < seen < 0.9 * 3 * len(scan.sequence.faces)


def test_findings_add_up(scan):
    findings = findings_of(scan, Regions(scan.sequence))
    np.testing.assert_array_equal(findings.counts[:, :2].sum(axis=1), scan.contact_counts)
    np.testing.assert_array_equal(findings.counts[:, 2], scan.intersection_counts)
    assert np.isnan(findings.first[0])
    assert findings.first[1] == scan.frames[1].contacts.toi.min()


def test_worst_frames_are_sorted_and_none_is_clean():
    assert worst_frames(np.array([0, 5, 2, 5, 0, 9]), 3) == [5, 1, 3]
    assert worst_frames(np.array([0, 5, 2, 5, 0, 9]), 20) == [5, 1, 3, 2]
    assert worst_frames(np.zeros(4, int), 3) == []


def test_the_funnel_has_pairs_only_and_gaps_are_zero(scan):
    tables = [() if one.contacts is None else one.contacts.stages for one in scan.frames]
    funnel = funnel_of(tables)
    assert funnel.stages[0] == "traversal"
    assert funnel.stages[-1] == "exact"
    assert not any(": " in name or name in ("cones", "contours", "fit") for name in funnel.stages)
    assert not funnel.pairs_in[:, 0].any()
    np.testing.assert_array_equal(funnel.pairs_out[-1], scan.contact_counts)
    assert (funnel.pairs_out <= np.maximum(funnel.pairs_in, 1)).all()


def test_names_of_objects_are_names_of_parts():
    scene = sequence_of("twisted_cloth", 300, 2)
    words = np.where(scene.objects == 0, "shirt", "body")
    named = pliant.Sequence(scene.faces, [scene[0], scene[1]], objects=words)
    parts = Regions(named).parts
    assert parts.names == ("body", "shirt")
    assert [parts.names[i] for i in parts.of_vertex] == words.tolist()


def test_vertices_without_a_face_are_of_no_part():
    faces, x = np.array([[0, 1, 2], [4, 5, 6]]), np.random.default_rng(0).normal(size=(2, 8, 3))
    parts = Regions(pliant.Sequence(faces, x)).parts
    assert parts.names == ("part 0", "part 1")
    assert parts.of_vertex[:7].tolist() == [0, 0, 0, -1, 1, 1, 1]
