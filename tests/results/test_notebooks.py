"""What notebooks show: HTML that a parser reads to its end, with the numbers of the result in it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import pliant
from pliant.results.notebooks import card, columns, funnel, histogram, segments_seen
from tests.shapes.falling import END, FACES, START


def words(text: str) -> str:
    """What is read of a card; cards without images are XML, too."""
    return " ".join(ElementTree.fromstring(text).itertext())


@pytest.fixture(scope="module")
def results():
    tetra = {"tetra": [(0, 1, 2, 3), (4, 5, 6, 7)]}
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1), (3, 0, 0), (0, 3, 0), (0, 0, 3)], float)
    return {
        "Contacts": pliant.ccd(FACES, START, END),
        "Intersections": pliant.dcd(FACES, END),
        "Proximity": pliant.proximity(FACES, START, within=2.0),
        "InsideCells": pliant.inside(tetra, x),
        "Step": pliant.safe_step(FACES, START, END),
    }


def test_cards_have_the_numbers(results):
    assert all(not hasattr(one, "__len__") or len(one) for one in results.values())
    for name, result in results.items():
        text = words(result._repr_html_())
        assert name in text
        assert "<svg" in result._repr_html_()
    assert f"{results['Contacts'].toi.min():.6g}" in words(results["Contacts"]._repr_html_())
    assert f"{results['Step'].t:.9g}" in words(results["Step"]._repr_html_())
    assert f"{results['Proximity'].distance.min():.6g}" in words(results["Proximity"]._repr_html_())
    assert "exact" in words(results["Contacts"]._repr_html_())


def test_cards_of_nothing(results):
    for name in ("Contacts", "Intersections", "Proximity", "InsideCells"):
        assert "0" in words(results[name][:0]._repr_html_())
    assert "nothing" in words(pliant.safe_step(FACES, START, START)._repr_html_())


@pytest.mark.unit
def test_names_are_escaped():
    text = card("<script>alert(1)</script>", [("a & b", "<b>"), ("n", 12345)])
    assert "<script>" not in text
    assert "12,345" in text
    assert "<script>alert(1)</script>" in words(text)


@pytest.mark.unit
def test_small_pictures():
    assert histogram(np.array([np.nan, np.inf]), "none") == ""
    assert histogram(np.ones(5), "equal").count("<rect") == 1
    assert histogram(np.linspace(0, 1, 240), "even", (0.0, 1.0)).count("<rect") == 24
    assert columns([np.array([0, 2, 3]), np.array([1, 0, 4])], ("red", "blue"), "x").count("<rect") == 4
    assert columns([np.zeros(0)], ("red",), "x").count("<rect") == 0
    assert segments_seen(np.zeros((0, 2, 3)), "x") == ""
    for segments in (np.zeros((1, 2, 3)), np.random.default_rng(0).normal(size=(2000, 2, 3))):
        assert "nan" not in segments_seen(segments, "x")
        assert "inf" not in segments_seen(segments, "x")
    assert segments_seen(np.zeros((2000, 2, 3)), "x").count("M") <= 600
    assert funnel(()) == ""


class Unreadable:
    def __len__(self) -> int:
        return 3

    def __getitem__(self, frame: int):
        raise OSError("the disk is gone")


def test_sequences_and_scans():
    sequence = pliant.Sequence(FACES, np.stack((START, END)), name="two <frames>")
    for html in (sequence._repr_html_(), pliant.scan(sequence)._repr_html_()):
        assert "data:image/png;base64," in html
        assert "&lt;frames&gt;" in html
        assert "<frames>" not in html
    assert "worst frame" in pliant.scan(sequence)._repr_html_()
    assert "worst frame" not in pliant.scan(sequence[:1])._repr_html_()
    assert "the disk is gone" in pliant.Sequence(FACES, Unreadable())._repr_html_()
    assert "img" not in pliant.Sequence(FACES, np.zeros((0, 12, 3)))._repr_html_()
    assert "img" not in pliant.Sequence(FACES, np.zeros((1, 12, 3)))._repr_html_()
    assert "img" not in pliant.Sequence(np.zeros((0, 3), int), np.zeros((1, 12, 3)))._repr_html_()
