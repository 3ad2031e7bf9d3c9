"""The viewer: a sequence in a browser, what collides in it, and why; it needs viser, the extra view."""

from pliant.view.server import Viewer, serve

__all__ = ["Viewer", "serve"]
