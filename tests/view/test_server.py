"""The server of the viewer: who is listened to, what is answered, and that it ends."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import time
import urllib.request
import warnings

import numpy as np
import pytest

import pliant
from pliant.view.guard import is_loopback
from pliant.view.panel import Panel

SEQUENCE = pliant.Sequence([(0, 1, 2), (3, 4, 5)], np.random.default_rng(0).normal(size=(4, 6, 3)), name="two")


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)]
    + [("192.168.0.3", False), ("example.com", False), ("", False)],
)
def test_loopback(host, local):
    assert is_loopback(host) == local


def test_without_viser(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install '.\[view\]'"):
        pliant.view.serve(SEQUENCE, block=False)


def until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def viewer(capsys):
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        viewer = pliant.view.serve(SEQUENCE, port=0, block=False)
    yield viewer
    viewer.stop()
    assert capsys.readouterr().out == ""


def test_page_is_served_on_the_loopback(viewer):
    assert viewer.url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(viewer.url, timeout=30) as answer:
        assert answer.status == 200
        assert b"<html" in answer.read()
    assert "two" in repr(viewer)


def test_it_starts_at_the_worst_frame(viewer):
    until(lambda: viewer.now is not None)
    found = pliant.scan(SEQUENCE)
    worst = int(np.argmax(found.contact_counts + found.intersection_counts))
    assert worst > 0
    assert viewer.now[0].frame == viewer.panel.frame.value == worst


def test_the_worst_of_frames_that_have_numbers():
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    numbered = pliant.Sequence(SEQUENCE.faces, [SEQUENCE[i] for i in range(4)], numbers=[1001, 1002, 1003, 1004])
    found = pliant.scan(numbered)
    worst = int(np.argmax(found.contact_counts + found.intersection_counts))
    viewer = pliant.view.serve(numbered, port=0, block=False)
    try:
        until(lambda: viewer.now is not None)
        assert (viewer.now[0].frame, viewer.panel.frame.value) == (worst, 1001 + worst)
    finally:
        viewer.stop()


def test_a_frame_that_is_asked_for_comes_first():
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    viewer = pliant.view.serve(SEQUENCE, port=0, block=False)
    viewer.panel.frame.value = 1
    try:
        until(lambda: viewer.now is not None and viewer.now[0].frame == 1)
    finally:
        viewer.stop()


def test_a_frame_that_is_asked_for_while_the_worst_is_sought_stays(monkeypatch):
    """Frame 3 was asked for between the look at the controls and the end of the search, and was forgotten."""
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    viewers = queue.Queue()

    def worst(_frames):
        viewers.get(timeout=60).panel.frame.value = 3
        return 1

    monkeypatch.setattr("pliant.view.frames.Frames.worst", property(worst))
    viewer = pliant.view.serve(SEQUENCE, port=0, block=False)
    viewers.put(viewer)
    try:
        until(lambda: viewer.now is not None)
        assert viewer.now[0].frame == viewer.panel.frame.value == 3
    finally:
        viewer.stop()


def test_a_frame_that_is_asked_for_stays_though_its_callback_comes_late(monkeypatch):
    """viser sets a value first and calls back then: a frame was forgotten when the search ended between the two."""
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    viewers = []
    note = Panel._note

    def late(panel, event):
        if event.target is panel.frame:
            until(lambda: viewers[0].now is not None)
        note(panel, event)

    def worst(_frames):
        until(lambda: viewers and viewers[0].panel.frame.value == 3)
        return 0

    monkeypatch.setattr("pliant.view.frames.Frames.worst", property(worst))
    monkeypatch.setattr(Panel, "_note", late)
    viewer = pliant.view.serve(SEQUENCE, port=0, block=False)
    viewers.append(viewer)
    try:
        viewer.panel.frame.value = 3
        until(lambda: viewer.now is not None)
        assert viewer.now[0].frame == viewer.panel.frame.value == 3
    finally:
        viewer.stop()


def test_controls_change_what_is_shown(viewer):
    until(lambda: viewer.now is not None)
    found = pliant.scan(SEQUENCE)
    panel = viewer.panel
    for number in (2, 3, 1):
        panel.frame.value = number
        until(lambda number=number: viewer.now[0].frame == number)
        assert len(viewer.now[1].contacts) == found.contact_counts[number]
    busy = int(np.argmax(found.contact_counts))
    panel.frame.value = busy
    until(lambda: viewer.now[0].frame == busy)
    assert found.contact_counts[busy] > 0
    panel.contact.value = 1
    until(lambda: viewer.now[0].contact == 1)
    assert "toi" in panel.about_contact.content
    for layer in (panel.vertex_face, panel.edge_edge, panel.intersections):
        layer.value = False
    until(lambda: len(viewer.now[2].faces) == 0)
    assert panel.contact.value == 0
    panel.compare.value = True  # as a click does
    panel._note_compare(None)
    until(lambda: "equal" in panel.about_culling.content)


def test_playing(viewer):
    seen = set()
    viewer.panel.speed.value = 60
    viewer.panel.play.value = True
    until(lambda: seen.add(viewer.now and viewer.now[0].frame) or {0, 1, 2, 3} <= seen)
    viewer.panel.play.value = False


def test_warning_where_others_can_look():
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    with pytest.warns(UserWarning, match="whoever can reach this machine"):
        viewer = pliant.view.serve(SEQUENCE, host="0.0.0.0", port=0, block=False)
    viewer.stop()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_it():
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    script = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
import numpy as np, pliant
pliant.view.serve(pliant.Sequence([(0, 1, 2)], np.eye(3)[None].repeat(3, 0)), port=0)
print("ended")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert "127.0.0.1" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out.strip() == "ended"
    assert "Traceback" not in err
    assert process.returncode == 0


@pytest.mark.parametrize(("step", "far"), [(0.01, False), (1.0, True)])
def test_what_goes_far_is_followed(step, far):
    """A kick that moved by its own length left the window."""
    pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
    x = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)])
    frames = x + step * np.arange(4)[:, None, None]
    viewer = pliant.view.serve(pliant.Sequence([(0, 1, 2)], frames), port=0, block=False)
    try:
        assert viewer.panel.follow.value == far
        viewer.panel.frame.value = 3
        until(lambda: viewer.now is not None and viewer.now[0].frame == 3 and viewer.now[0].follow == far)
    finally:
        viewer.stop()
