"""The viewer: a sequence in a browser, what collides in it, and why; ``pip install 'pliant[view]'``."""

from pliant.view.server import Viewer, serve

__all__ = ["Viewer", "serve"]
