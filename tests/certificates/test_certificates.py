"""What a certificate says is true, and one that says something else is refused."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import pliant
from pliant.certificates.statement import CertificateError, DisprovedError, features_of, read
from pliant.certificates.writing import inputs_of
from tests.reference import rational
from tests.shapes.meshes import Motion, soup


def scene(name: str) -> Motion:
    made = pliant.scenes.load(name, triangles=64, frames=2)
    return Motion(pliant.TriMesh(made.faces), made.x0, made.x1)


def certified(mesh, x0, x1, **options):
    contacts = pliant.ccd(mesh, x0, x1)
    return contacts, pliant.certify(contacts, mesh, x0, x1, **options)


@pytest.mark.parametrize("seed", range(3))
def test_everything_degenerate(seed: int):
    motion = soup(seed, faces=16)
    contacts, certificate = certified(*motion)
    assert len(contacts) > 30
    verdict = pliant.verify(certificate, *motion)
    assert verdict.contacts == len(contacts)
    assert verdict.features == verdict.features_in_all == len(motion.mesh.vertices) + len(motion.mesh.edges)


@pytest.mark.parametrize("name", ["flat_sheets", "passing_sheets", "falling"])
def test_scenes(name: str, tmp_path):
    motion = scene(name)
    contacts, certificate = certified(*motion)
    certificate.save(tmp_path / "why.json")
    verdict = pliant.verify(tmp_path / "why.json", *motion)
    assert verdict.contacts == len(contacts)
    assert verdict.features == verdict.features_in_all
    assert verdict.directions > 300


def test_empty_inputs():
    nothing = np.zeros((0, 3))
    assert pliant.verify(certified([], nothing, nothing)[1], [], nothing, nothing).features_in_all == 0
    mesh = pliant.TriMesh([[0, 1, 2]])
    assert (
        pliant.verify(certified(mesh, np.eye(3), np.zeros((3, 3)))[1], mesh, np.eye(3), np.zeros((3, 3))).features == 6
    )


def test_sizes_at_both_ends_of_the_range():
    """Denormals beside 1e150: coordinates become whole numbers of more than a thousand bits."""
    mesh, x0, x1 = soup(5, faces=7)
    for size in (1e150, 5e-324):
        contacts, certificate = certified(mesh, x0 * size, x1 * size)
        assert pliant.verify(certificate, mesh, x0 * size, x1 * size).contacts == len(contacts) > 0


def test_without_reasons_the_reader_draws():
    motion = scene("falling")
    contacts, certificate = certified(*motion, reasons=False)
    verdict = pliant.verify(certificate, *motion, sample=3)
    assert (verdict.contacts, verdict.features, verdict.is_complete) == (len(contacts), 6, False)
    assert pliant.verify(certificate, *motion, sample=999).is_complete
    content = copy.deepcopy(certificate.content)
    content["contacts"].pop()
    content["counts"] = recount(content["contacts"])
    with pytest.raises(DisprovedError, match="not listed"):
        pliant.verify(content, *motion, sample=999)
    seen = {found_out(content, motion, seed) for seed in range(12)}
    assert seen == {True, False}  # chance, which is not that of who wrote it
    for count in (0, -1, True, 1.5):
        with pytest.raises(pliant.OptionError, match="sample"):
            pliant.verify(certificate, *motion, sample=count)  # type: ignore[arg-type]


def found_out(content, motion, seed):
    try:
        pliant.verify(content, *motion, sample=6, seed=seed)
    except DisprovedError:
        return True
    return False


def test_the_verifier_needs_nothing_but_python():
    code = "import sys; import pliant.certificates.verifier; print({'numpy', 'numba'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


def test_zeros_have_no_sign():
    motion = scene("passing_sheets")
    x0 = np.where(motion.x0 == 0.0, -0.0, motion.x0)
    x0[0], signed = 0.0, np.array(x0)
    signed[0] = -0.0
    assert pliant.verify(certified(motion.mesh, x0, motion.x1)[1], motion.mesh, signed, motion.x1).is_complete


@pytest.mark.parametrize("size", [1.0, 1e-17, 1e-300])
def test_two_sizes_in_one_motion(size: float):
    """One of ten coordinates is tiny: times have up to a thousand digits, and features nearly touch."""
    rng = np.random.default_rng(7)
    mesh, x0, x1 = soup(6, faces=7, vertices=10)
    x0, x1 = (np.where(rng.random(x.shape) < 0.1, size * rng.normal(size=x.shape), x) for x in (x0, x1))
    contacts, certificate = certified(mesh, x0, x1)
    assert pliant.verify(certificate, mesh, x0, x1).contacts == len(contacts)


def test_coordinates_whose_sums_are_not_finite():
    rng = np.random.default_rng(0)
    mesh = pliant.TriMesh([[0, 1, 2]], points=[3])
    for _ in range(10):
        x0, x1 = 1.7e308 * rng.uniform(-1.0, 1.0, (2, 4, 3))
        assert pliant.verify(certified(mesh, x0, x1)[1], mesh, x0, x1).is_complete


def recount(rows):
    return {"vertex-face": sum(row[0] == 0 for row in rows), "edge-edge": sum(row[0] == 1 for row in rows)}


def separates(reason, points, stretch=(Fraction(0), Fraction(1))):
    """Whether a reason keeps two lists of moving points apart, in fractions."""
    if len(reason) == 2:
        middle = sum(stretch) / 2
        halves = zip(reason, ((stretch[0], middle), (middle, stretch[1])))
        return all(separates(half, points, part) for half, part in halves)

    def place(p, t):
        return sum(c * ((1 - t) * Fraction(a) + t * Fraction(b)) for c, a, b in zip(reason, *p))

    return all(max(place(p, t) for p in points[0]) < min(place(q, t) for q in points[1]) for t in stretch)


def asked(certificate, motion):
    """The pairs of ranges that each reason is of, as the page about certificates says, and not from the verifier."""
    features = features_of(inputs_of(*motion))
    order = certificate.content["reasons"]["order"]
    for kind, (rows, columns) in (("vertex-face", ("vertices", "faces")), ("edge-edge", ("edges", "edges"))):
        reasons = certificate.content["reasons"][kind]
        tables, at, number = (getattr(features, rows), getattr(features, columns)), (order[rows], order[columns]), 0
        stack = [((0, len(at[0])), (0, len(at[1])))]
        while stack:
            spans = stack.pop()
            parts = [[tables[s][i] for i in at[s][slice(*spans[s])]] for s in (0, 1)]
            singles = all(b - a == 1 for a, b in spans)
            if singles and set(parts[0][0]) & set(parts[1][0]):
                continue
            same = kind == "edge-edge" and spans[0] == spans[1]
            if not same:
                vertices = [sorted({v for feature in part for v in feature}) for part in parts]
                yield kind, number, reasons[number], vertices
                number += 1
                if reasons[number - 1] != 0 or singles:
                    continue
            halves = [[(a, (a + b) // 2), ((a + b) // 2, b)] if b - a > 1 else [(a, b)] for a, b in spans]
            if same:
                low, *high = halves[0]
                stack += [(low, low), (low, high[0]), (high[0], high[0])] if high else []
            else:
                stack += [(low, high) for low in halves[0] for high in halves[1]]
        assert number == len(reasons)


def changed_reasons(certificate, motion, rng):
    """Certificates with one direction that is another one, and whether it still separates."""
    entries = [entry for entry in asked(certificate, motion) if entry[2] != 0]
    for pick in rng.choice(len(entries), 60):
        kind, number, reason, vertices = entries[pick]
        reason = copy.deepcopy(reason)
        part = reason
        while len(part) == 2:
            part = part[int(rng.integers(2))]
        how = rng.integers(4)
        if how == 0:
            part[:] = [2 * c for c in part]
        elif how == 1:
            part[:] = [-c for c in part]
        elif how == 2:
            part[int(rng.integers(3))] += int(rng.integers(-3, 4))
        else:
            part[:] = rng.integers(-9, 10, 3).tolist()
        content = copy.deepcopy(certificate.content)
        content["reasons"][kind][number] = reason
        points = [[(motion.x0[v].tolist(), motion.x1[v].tolist()) for v in part] for part in vertices]
        yield content, separates(reason, points)


def changed_contacts(certificate, rng, truth):
    """Certificates with one contact that is another one, or missing, and whether all of it is still true."""
    for _ in range(60):
        content = copy.deepcopy(certificate.content)
        rows = content["contacts"]
        row, how = rows[int(rng.integers(len(rows)))], rng.integers(6)
        if how == 0:
            rows.remove(row)
        elif how == 1:
            rows.append(list(row))
        elif how == 2:
            row[1:3] = rng.integers(0, 12, 2).tolist()
        elif how == 3:
            row[3] = row[4] = float(np.clip(row[3] + rng.normal() * 10.0 ** rng.integers(-18, 0), 0, 1))
        elif how == 4:
            row[3] = float(max(np.nextafter(row[3], 0.0), 0.0))
        else:
            rows.insert(0, rows.pop())
        rows.sort(key=lambda row: row[:3])
        content["counts"] = recount(rows)
        stated = {tuple(row[:3]): row[3:] for row in rows}
        true = len(stated) == len(rows) and stated.keys() == truth.keys()
        for key, (lower, upper) in stated.items() if true else ():
            t = truth[key]
            # The reference encloses a time within 2^-80: closer to a bound than that, it is told by equality.
            true &= Fraction(lower) <= t.upper and t.lower <= Fraction(upper) and upper - lower <= 1e-12
            true &= t.lower != t.upper or lower <= t.lower <= upper
        yield content, bool(true)


def test_mutations():
    """All hashes are right, since reasons and contacts have none: only what is said is false, or is not."""
    rng = np.random.default_rng(3)
    motion = soup(11, faces=7, vertices=12)
    mesh, x0, x1 = motion
    _, certificate = certified(*motion)
    vf, ee = rational.contacts(mesh.faces, x0, x1, mesh.loose_edges, mesh.loose_points)
    edges = {tuple(edge): i for i, edge in enumerate(mesh.edges.tolist())}
    truth = {(0, v, f): when for (v, f), when in vf.items()}
    truth |= {(1, edges[a], edges[b]): when for (a, b), when in ee.items()}
    outcomes = []
    for content, is_true in [*changed_reasons(certificate, motion, rng), *changed_contacts(certificate, rng, truth)]:
        try:
            pliant.verify(json.loads(json.dumps(content)), *motion)
            accepted = True
        except CertificateError:
            accepted = False
        assert accepted == is_true
        outcomes.append(accepted)
    assert 20 < sum(outcomes) < 100


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update({"pliant certificate": 2}), "format 1"),
        (lambda c: c.update(query="dcd"), "of ccd"),
        (lambda c: c.update(more=1), "one too many"),
        (lambda c: c["inputs"].update(x0="0"), "not the same x0"),
        (lambda c: c.pop("reasons"), "missing"),
        (lambda c: c.update(contacts=[[0, 1, 2]]), "toi_upper"),
        (lambda c: c.update(contacts=[[0, 1, 10**9, 0.0, 0.0]], counts={"vertex-face": 1, "edge-edge": 0}), "no pair"),
        (lambda c: c.update(contacts=[[0, 0, 0, 0.0, 0.0]] * 2), "listed once"),
        (lambda c: c.update(counts={"vertex-face": 1, "edge-edge": 0}), "counts"),
        (lambda c: c["reasons"]["order"].update(faces=[0, 0]), "once"),
        (lambda c: c["reasons"]["order"].update(faces=["a"]), "whole numbers"),
        (lambda c: c["reasons"]["edge-edge"].append(0), "more reasons"),
        (lambda c: c["reasons"]["edge-edge"].append(None), "more reasons"),
        (lambda c: c["reasons"]["edge-edge"].clear(), "fewer reasons"),
        (lambda c: c["reasons"]["vertex-face"].__setitem__(0, [1.5, 0, 0]), "2\\^64"),
        (lambda c: c["reasons"]["vertex-face"].__setitem__(0, [10**30, 0, 0]), "2\\^64"),
        (lambda c: c["reasons"]["vertex-face"].__setitem__(0, [[1, 0, 0], [1, 0, 0]]), "single features"),
        (lambda c: c["reasons"]["vertex-face"].__setitem__(0, "why"), "neither"),
        (lambda c: c["reasons"]["vertex-face"].__setitem__(0, False), "neither"),
    ],
)
def test_what_is_no_certificate(change, words, passing):
    motion = scene("passing_sheets")
    content = copy.deepcopy(passing.content)
    change(content)
    with pytest.raises(CertificateError, match=words):
        pliant.verify(content, *motion)


@pytest.fixture(scope="module")
def passing() -> pliant.Certificate:
    return certified(*scene("passing_sheets"))[1]


def test_files_that_are_none(tmp_path, passing):
    motion = scene("passing_sheets")
    path = tmp_path / "why.json"
    twice = passing.as_bytes()[:-1] + b',"contacts":[]}'
    for content, words in (
        (b"{", "JSON"), (b"[" * 100_000, "JSON"), (b'{"a": NaN}', "NaN"), (b"\xff\xfe", "JSON"), (twice, "another one"),
    ):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(CertificateError, match=words):
            pliant.verify(path, *motion)
    with pytest.raises(CertificateError, match="larger than 5 bytes"):
        read(path, 5)
    with pytest.raises(OSError, match="nowhere"):
        pliant.verify(tmp_path / "nowhere.json", *motion)


def test_what_has_no_certificate():
    flat = scene("flat_sheets")
    found = pliant.ccd(*flat)
    with pytest.raises(DisprovedError, match="not listed"):
        pliant.certify(found[1:], *flat)
    with pytest.raises(DisprovedError):
        pliant.certify(found, flat.mesh, flat.x0, 2.0 * flat.x1 - flat.x0)  # twice as fast
    with pytest.raises(pliant.OptionError, match="returned"):
        pliant.certify(None, *flat)  # type: ignore[arg-type]
    with pytest.raises(pliant.ShapeError):
        pliant.certify(found, flat.mesh, flat.x0, flat.x1[:-1])


def test_an_audit_finds_what_is_missing_and_what_is_wrong():
    motion = scene("flat_sheets")
    found = pliant.ccd(*motion)
    assert pliant.audit(found, *motion, sample=5).features == 10
    with pytest.raises(DisprovedError, match="not listed"):
        pliant.audit(found[:0], *motion, sample=1000)
    with pytest.raises(CertificateError, match="once"):
        pliant.audit(found[[0, 0, 1]], *motion, sample=1)
    with pytest.raises(DisprovedError):
        pliant.audit(pliant.ccd(*soup(1)), *motion, sample=1)
    huge = motion.mesh, motion.x0 * 1e160, motion.x1 * 1e160
    with pytest.raises(DisprovedError):
        pliant.audit(found[:0], *huge, sample=1000)
    nothing = [], np.zeros((0, 3)), np.zeros((0, 3))
    assert pliant.audit(pliant.ccd(*nothing), *nothing).is_complete
