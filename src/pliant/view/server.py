"""The server: a loop that shows what the controls ask for, in the thread that also computes it."""

from __future__ import annotations

import contextlib
import io
import signal
import threading
import time
import warnings
import webbrowser
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.engine.plan import Tuning
from pliant.frames.sequence import Sequence
from pliant.runtime.arrays import MeshError, choose
from pliant.runtime.extras import needed
from pliant.runtime.log import LOG
from pliant.runtime.terminal import printable
from pliant.scenes import Scene
from pliant.view.comparing import compare
from pliant.view.drawing import Drawing
from pliant.view.frames import Frames
from pliant.view.guard import Guard, in_url, is_loopback
from pliant.view.layers import FrameView, Layers, Shown
from pliant.view.panel import UP, Panel, Wanted
from pliant.view.words import comparison_words, contact_words, frame_words, note

if TYPE_CHECKING:
    import viser

_PATIENCE = 0.2  # seconds between looks at whether to stop
_SEARCH = 15.0  # seconds to look for the worst frame before one is shown that is the worst so far


def serve(
    sequence: Sequence | Scene,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    pairs: str = "all",
    tuning: Tuning | None = None,
    threads: int | None = None,
    up: str = "y",
    open_browser: bool = False,
    block: bool = True,
) -> Viewer:
    """Show a sequence in a browser: its frames, what collides, and every contact with its numbers.

    sequence : a ``pliant.Sequence`` or a scene; frames are examined when they are first shown
    host : who is listened to; the default is this machine alone
    port : the next free one from here on; 0 for any
    pairs, tuning, threads : as in ``pliant.Detector``
    up : the axis that points upwards, "x", "y" or "z"
    open_browser : open a tab of the browser
    block : return when Ctrl-C is pressed; else at once, and ``viewer.stop()`` ends it
    """
    if isinstance(sequence, Scene):
        sequence = Sequence(sequence.faces, sequence.frames, objects=sequence.objects, name=sequence.name)
    choose(up, "up", UP)
    frames = Frames(sequence, pairs=pairs, tuning=tuning, threads=threads)
    server, token = _started(host, port, sequence)
    viewer = Viewer(frames, server, up, token)
    if open_browser:
        webbrowser.open(viewer.url)
    if not block:
        viewer.start()
        return viewer
    with _ended_by_ctrl_c(viewer):
        print(f"pliant: {printable(sequence.name)} is shown at {viewer.url} (Ctrl-C ends it)", flush=True)
        viewer.run()
    return viewer


@contextlib.contextmanager
def _ended_by_ctrl_c(viewer: Viewer) -> Iterator[None]:
    """Ctrl-C lets the loop end after the frame that it is at; a second one ends that, too.

    An exception out of nowhere got lost in the compiler's callbacks, and left locks of the server behind: 2 of 24 runs
    that were interrupted in their first half second did not end.
    """

    def end(_signal: int, _frame: object) -> None:
        viewer.end_soon()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.getsignal(signal.SIGINT)
    mine = threading.current_thread() is threading.main_thread()  # only that one may ask for signals
    if mine:
        signal.signal(signal.SIGINT, end)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        if mine:
            signal.signal(signal.SIGINT, before or signal.SIG_DFL)
        viewer.stop()


def _started(host: str, port: int, sequence: Sequence) -> tuple[viser.ViserServer, str]:
    """A server that answers those who know the token, and the token."""
    with needed("viser", "pliant.view"):
        import viser
    if not is_loopback(host):
        warnings.warn(
            f"host={host!r}: whoever can reach this machine and has the address that is printed can look at "
            f"{sequence.name} and use the controls; what is sent is not encrypted; 127.0.0.1 is this machine alone",
            stacklevel=3,
        )
    guard = Guard(host)
    with _quiet():
        with guard.installed():
            server = viser.ViserServer(host=host, port=port, label=f"pliant: {sequence.name}", verbose=False)
        try:
            guard.verify(server.get_port())
        except BaseException:
            server.stop()
            raise
    server.gui.set_panel_label(f"pliant: {sequence.name}")
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(46, 92, 138))
    return server, guard.token


def _quiet() -> contextlib.AbstractContextManager[object]:
    """viser greets and takes leave on stdout, whatever its `verbose` is."""
    return contextlib.redirect_stdout(io.StringIO())


def _along(sequence: Sequence) -> Iterator[np.ndarray]:
    """The frame in the middle and the last one; not what cannot be read, of which the panel tells when it is shown."""
    for number in sorted({len(sequence) // 2, len(sequence) - 1}):
        with contextlib.suppress(MeshError, OSError):
            yield sequence[number]


class Viewer:
    """A sequence that is being shown; ``serve`` makes one.

    One thread computes and draws: controls only say that something changed, so that moving a slider over many frames
    shows the last one and not all of them, and a detector is never asked by two threads.
    """

    frames: Frames
    panel: Panel

    def __init__(self, frames: Frames, server: viser.ViserServer, up: str, token: str) -> None:
        self.frames, self._server, self._token = frames, server, token
        self.panel = Panel(server, frames.sequence.numbers.tolist(), up)
        self._drawing = Drawing(server, frames.mesh, frames.sequence[0], _along(frames.sequence))
        self.panel.follow.value = self._drawing.goes_far
        self._ending, self._thread = False, None
        self._now: tuple[Wanted, FrameView, Shown] | None = None
        self._next_at = 0.0
        server.scene.on_click()(self._clicked)
        self.panel.approach.on_click(self._approached)

    @property
    def url(self) -> str:
        """Where it is shown. Who knows it can look and use the controls: it has a token in it."""
        return f"http://{in_url(self._server.get_host())}:{self._server.get_port()}/{self._token}/"

    @property
    def now(self) -> tuple[Wanted, FrameView, Shown] | None:
        """What is shown: what was asked for, the frame, and what of it the layers leave; None before the first."""
        return self._now

    def __repr__(self) -> str:
        return f"Viewer({self.frames.sequence!r}, {self.url})"

    def start(self) -> None:
        """Run in a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="pliant view", daemon=True)
        self._thread.start()

    def end_soon(self) -> None:
        """End the loop after the frame that it is at; takes no lock, so that a signal may call it at any time."""
        self._ending = True

    def stop(self) -> None:
        """End the loop and the server; a frame that is being examined is finished first."""
        self.end_soon()
        self.panel.changed.set()
        if self._thread is not None:
            self._thread.join()
        with _quiet():
            self._server.stop()

    def run(self) -> None:
        """Show what the controls ask for, until ``stop`` or Ctrl-C."""
        self._start_at_worst()
        self.panel.changed.set()
        while not self._ending:
            self.panel.changed.wait(self._pause())
            self.panel.changed.clear()
            try:
                self._play()
                self._update()
            except Exception as error:  # of a frame that cannot be read, say: the others can still be examined
                LOG.warning("view: %s", error, exc_info=True)
                self.panel.play.value = False
                self.panel.about_frame.content = note(
                    f"frame {self.frames.sequence.numbers[self.panel.place]}: {error}"
                )
                self._now = None

    def _start_at_worst(self) -> None:
        """Look at frames until the time is up or somebody touches a control; what is found is kept for later."""
        end = float("inf")
        for number in range(len(self.frames)):
            if self._ending or self.panel.touched or time.perf_counter() > end:
                break
            words = f"looking for the worst frame: {number + 1} of {len(self.frames)} ..."
            self.panel.about_frame.content = note(words)
            with contextlib.suppress(MeshError, OSError):  # said when it is shown
                self.frames[number]
            if number == 0:  # kernels may have been compiled until now
                end = time.perf_counter() + _SEARCH
        worst = self.frames.worst  # found before the question whether it is wanted, which may change while this takes
        if worst != self.panel.place and not self.panel.touched:
            self.panel.place = worst

    def _pause(self) -> float:
        if not self.panel.play.value:
            return _PATIENCE
        return min(max(self._next_at - time.perf_counter(), 0.0), _PATIENCE)

    def _play(self) -> None:
        """The next frame, when its time has come; after the last one the first."""
        clock = time.perf_counter()
        if self.panel.play.value and clock >= self._next_at:
            self._next_at = clock + 1.0 / float(self.panel.speed.value)
            if self._now is not None:
                self.panel.place = (self.panel.place + 1) % len(self.frames)

    def _update(self) -> None:
        wanted = self.panel.wanted()
        if self._now is None or wanted != self._now[0]:
            self._show(wanted)
        if self.panel.asked_to_compare.is_set():
            self.panel.asked_to_compare.clear()
            self.panel.about_culling.content = note("computing ...")
            self.panel.about_culling.content = comparison_words(wanted.frame, compare(self.frames, wanted.frame))

    def _show(self, wanted: Wanted) -> None:
        frame = self._looked_at(wanted.frame)
        shown = self._left(frame, wanted.layers)
        self.panel.offer_contacts(len(shown.contacts))
        wanted = wanted._replace(contact=int(self.panel.contact.value))
        self._drawing.show(frame, shown, wanted)
        self.panel.about_frame.content = frame_words(frame, shown, len(self.frames))
        if wanted.contact:
            self.panel.about_contact.content = contact_words(frame, int(shown.contacts[wanted.contact - 1]))
        else:
            self.panel.about_contact.content = note("none is picked: move the slider, or click on a point")
        self._now = wanted, frame, shown

    def _looked_at(self, number: int) -> FrameView:
        if number not in self.frames:
            self.panel.about_frame.content = note(f"looking at frame {self.frames.sequence.numbers[number]} ...")
        return self.frames[number]

    def _left(self, frame: FrameView, layers: Layers) -> Shown:
        """As before where neither the frame nor the layers are others."""
        if self._now is not None and self._now[1] is frame and self._now[0].layers == layers:
            return self._now[2]
        return frame.shown(layers, self.frames.mesh)

    def _clicked(self, event: Any) -> None:
        now = self._now
        meant = None if now is None else self._drawing.meant(now[2], event.ray_origin, event.ray_direction)
        if meant is not None:
            self.panel.contact.value = meant
            self.panel.changed.set()

    def _approached(self, event: Any) -> None:
        if self._now is not None and event.client is not None:
            wanted, _, shown = self._now
            if wanted.contact:
                self._drawing.approach(event.client, shown.points[wanted.contact - 1])
