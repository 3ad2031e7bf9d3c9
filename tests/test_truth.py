"""Published frames with symbolic truth: every contact, no other, and the right times."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from tests.reference import rational
from tests.shapes.meshes import as_sets

pytestmark = pytest.mark.data

# Colliding vertex-face and edge-edge pairs.
COUNTS = {"armadillo-rollers": (4650, 19308), "cloth-ball": (19032, 94822), "n-body": (9459, 41031)}
SAMPLES = 1000


@pytest.fixture(scope="module", params=COUNTS)
def frame(request, data_folder):
    with np.load(data_folder / "ccd" / f"{request.param}.npz") as file:
        data = dict(file)
    return request.param, data, pliant.ccd(data["faces"], data["vertices_t0"], data["vertices_t1"])


def edge_pairs(quads):
    """Pairs of edges as sorted pairs of vertices, the smaller edge first."""
    ends = np.sort(np.asarray(quads).reshape(-1, 2, 2), axis=2).tolist()
    return [tuple(sorted(map(tuple, pair))) for pair in ends]


def test_contacts_are_those_of_the_truth(frame):
    name, data, contacts = frame
    vertex_face, edge_edge = as_sets(contacts)
    assert (len(vertex_face), len(edge_edge)) == COUNTS[name]
    assert set(vertex_face) == set(map(tuple, data["vf"].tolist()))
    assert set(edge_edge) == set(edge_pairs(data["ee"]))


def test_close_pairs_that_do_not_meet_are_not_reported(frame):
    _, data, contacts = frame
    vertex_face, edge_edge = as_sets(contacts)
    assert len(data["vf_not"]) > 0
    assert len(data["ee_not"]) > 0
    assert not set(vertex_face) & set(map(tuple, data["vf_not"].tolist()))
    assert not set(edge_edge) & set(edge_pairs(data["ee_not"]))


def test_canonical_order_and_narrow_brackets(frame):
    _, _, contacts = frame
    keys = np.column_stack((contacts.kind, contacts.elements))
    assert np.array_equal(np.lexsort(keys.T[::-1]), np.arange(len(contacts)))
    assert (contacts.toi >= 0).all()
    assert (contacts.toi_upper <= 1).all()
    width = contacts.toi_upper - contacts.toi
    assert width.min() >= 0
    assert width.max() <= 1e-12


def test_published_times_lie_in_the_brackets(frame):
    name, data, contacts = frame
    lower, upper = (dict(zip(as_sets(contacts)[0], times)) for times in (contacts.vf.toi, contacts.vf.toi_upper))
    known = np.flatnonzero(np.isfinite(data["vf_toi"]))
    assert len(known) == (0 if name == "cloth-ball" else len(data["vf"]))  # cloth-ball came without times
    keys = list(map(tuple, data["vf"][known].tolist()))
    times = data["vf_toi"][known]
    # They are printed, so they are roundings themselves, of times that may be exact.
    tolerance = 2 * np.spacing(times)
    assert (np.array([lower[k] for k in keys]) <= times + tolerance).all()
    assert (np.array([upper[k] for k in keys]) >= times - tolerance).all()


def test_advancement_reports_every_contact_in_time(frame):
    """Not later than the truth, within the tolerance at that time, and what it reports beyond is as close as that."""
    _, data, contacts = frame
    x0, x1 = data["vertices_t0"], data["vertices_t1"]
    tolerance = 1e-7
    found = pliant.ccd(data["faces"], x0, x1, accuracy=pliant.Accuracy(solver="advance", tolerance=tolerance))
    names, truth = (list(map(tuple, np.column_stack((c.kind, c.elements)).tolist())) for c in (found, contacts))
    row = {name: i for i, name in enumerate(names)}
    assert set(truth) <= set(names)
    assert (found.toi[[row[name] for name in truth]] <= contacts.toi_upper).all()
    assert len(names) - len(truth) < 0.01 * len(truth)
    extent = np.ptp(np.concatenate((x0, x1)), axis=0).max()
    t = found.toi[:, None, None]
    points = (1 - t) * x0[found.vertices] + t * x1[found.vertices]
    for kind, measure in enumerate((pliant.vertex_face_distance, pliant.edge_edge_distance)):
        assert (measure(points[found.kind == kind]).distance <= 1.01 * tolerance * extent).all()


@pytest.mark.parametrize(("kind", "test"), [(0, rational.vertex_face), (1, rational.edge_edge)])
def test_sampled_times_agree_with_rationals(frame, kind, test):
    _, data, contacts = frame
    chosen = contacts[contacts.kind == kind]
    chosen = chosen[np.random.default_rng(kind).choice(len(chosen), SAMPLES, replace=False)]
    for quad, lower, upper in zip(chosen.vertices, chosen.toi, chosen.toi_upper):
        truth = test(data["vertices_t0"][quad], data["vertices_t1"][quad])
        assert truth is not None
        assert lower <= truth.upper
        assert upper >= truth.lower


@pytest.mark.parametrize("kind", ["vf", "ee"])
def test_sample_queries(data_folder, kind):
    with np.load(data_folder / "ccd" / "sample-queries.npz") as file:
        x, hit, scenes = file[kind], file[f"{kind}_hit"], file[f"{kind}_scene"]
    assert len(x) == {"vf": 1250, "ee": 1179}[kind]
    answer = (pliant.vertex_face if kind == "vf" else pliant.edge_edge)(x[:, :4], x[:, 4:])
    assert sorted(set(scenes[answer.hit != hit])) == []
    assert 0.05 < hit.mean() < 0.95
