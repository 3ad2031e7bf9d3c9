"""The controls of a viewer, and what they ask for."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.view.layers import Layers

if TYPE_CHECKING:
    import viser

UP = ("x", "y", "z")


class Wanted(NamedTuple):
    """What the controls ask for."""

    frame: int
    layers: Layers
    contact: int = 0  # the how-many-th of those that are shown, in order of time; 0 is none
    at_contact: bool = False  # show positions at the time of that contact
    points: bool = True  # of contact
    edges: bool = False  # of all triangles
    through: bool = False  # see through the surface
    up: str = "y"
    follow: bool = False  # what moves stays in the middle


class Panel:
    """Controls in the panel of a viser server; ``changed`` is set when somebody touches one.

    numbers : that the frames are known by; the slider has them where they go up evenly, else places from 0
    up : "x", "y" or "z"
    """

    changed: threading.Event
    asked_to_compare: threading.Event
    frame: viser.GuiSliderHandle[int]
    speed: viser.GuiSliderHandle[int]
    contact: viser.GuiSliderHandle[int]
    play: viser.GuiCheckboxHandle
    within: viser.GuiCheckboxHandle
    between: viser.GuiCheckboxHandle
    vertex_face: viser.GuiCheckboxHandle
    edge_edge: viser.GuiCheckboxHandle
    intersections: viser.GuiCheckboxHandle
    points: viser.GuiCheckboxHandle
    edges: viser.GuiCheckboxHandle
    through: viser.GuiCheckboxHandle
    follow: viser.GuiCheckboxHandle
    at_contact: viser.GuiCheckboxHandle
    up: viser.GuiDropdownHandle[str]
    approach: viser.GuiButtonHandle
    compare: viser.GuiButtonHandle
    about_frame: viser.GuiHtmlHandle
    about_contact: viser.GuiHtmlHandle
    about_culling: viser.GuiHtmlHandle

    def __init__(self, server: viser.ViserServer, numbers: Sequence[int], up: str) -> None:
        frames = len(numbers)
        even = len({b - a for a, b in itertools.pairwise(numbers)}) <= 1 and numbers[-1] >= numbers[0]
        self._places = range(numbers[0], numbers[-1] + 1, numbers[1] - numbers[0] if frames > 1 else 1)
        self._places = self._places if even else range(frames)
        self.changed = threading.Event()
        self.asked_to_compare = threading.Event()
        self._touched = False
        gui = server.gui
        with gui.add_folder("Time"):
            first, last, step = self._places[0], self._places[-1], self._places.step
            self.frame = gui.add_slider("frame", first, max(last, first + 1), step, first, disabled=frames < 2)
            self.play = gui.add_checkbox("play", False, disabled=frames < 2)
            self.speed = gui.add_slider("frames a second", 1, 60, 1, 12, disabled=frames < 2)
            self.about_frame = gui.add_html("")
        with gui.add_folder("Layers"):
            self.within = gui.add_checkbox("within a part", True, hint="pairs of one part with itself")
            self.between = gui.add_checkbox("between parts", True, hint="pairs of two parts")
            self.vertex_face = gui.add_checkbox("vertex-face", True)
            self.edge_edge = gui.add_checkbox("edge-edge", True)
            self.intersections = gui.add_checkbox("intersections", True, hint="triangles that intersect in this frame")
            self.points = gui.add_checkbox("points", True, hint="where contacts happen, when they do")
            self.edges = gui.add_checkbox("wireframe", False)
            self.through = gui.add_checkbox("see through", False)
            self.follow = gui.add_checkbox("follow", False, hint="what moves stays in the middle")
            self.up = gui.add_dropdown("up", UP, initial_value=up)
        with gui.add_folder("Contact"):
            self.contact = gui.add_slider("contact", 0, 1, 1, 0, hint="in order of time; or click on a point")
            self.at_contact = gui.add_checkbox("at its time", False, hint="the surface when this contact happens")
            self.approach = gui.add_button("go there")
            self.about_contact = gui.add_html("")
        with gui.add_folder("Culling", expand_by_default=False):
            self.compare = gui.add_button("compare ways of culling")
            self.about_culling = gui.add_html("")
        for control in self._controls():
            control.on_update(self._note)
        self.compare.on_click(self._note_compare)

    def _controls(self) -> tuple[Any, ...]:
        layers = self.within, self.between, self.vertex_face, self.edge_edge, self.intersections
        looks = self.points, self.edges, self.through, self.follow, self.up
        return (self.frame, self.play, self.speed, *layers, *looks, self.contact, self.at_contact)

    def _note(self, event: Any) -> None:
        self._touched = self._touched or event.client is not None or event.target is self.frame
        self.changed.set()

    def _note_compare(self, _: Any) -> None:
        self.asked_to_compare.set()
        self.changed.set()

    @property
    def touched(self) -> bool:
        """By somebody in a browser, or the frame by a program: viser has a value before it tells that it changed."""
        return self._touched or self.place != 0

    @property
    def place(self) -> int:
        """Of the frame that the slider is at, from 0."""
        return min(max((int(self.frame.value) - self._places[0]) // self._places.step, 0), len(self._places) - 1)

    @place.setter
    def place(self, place: int) -> None:
        self.frame.value = self._places[place]

    def wanted(self) -> Wanted:
        switches = self.within, self.between, self.vertex_face, self.edge_edge, self.intersections
        return Wanted(
            self.place, Layers(*(bool(one.value) for one in switches)), int(self.contact.value),
            bool(self.at_contact.value), bool(self.points.value), bool(self.edges.value), bool(self.through.value),
            str(self.up.value), bool(self.follow.value),
        )  # fmt: skip

    def offer_contacts(self, count: int) -> None:
        """Let one of so many contacts be picked; what is picked beyond them is picked no longer."""
        if self.contact.value > count:
            self.contact.value = 0
        self.contact.max = max(count, 1)
        self.contact.disabled = self.approach.disabled = count == 0
