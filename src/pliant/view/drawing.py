"""What a viewer draws: the surface, what collides in red, points of contact, and the features of the one picked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.view.layers import FrameView, Shown, nearest_to_ray
from pliant.view.panel import Wanted

if TYPE_CHECKING:
    import viser

SURFACE, COLLIDING, POINTS, PICKED = (118, 126, 138), (178, 0, 0), (255, 176, 0), (0, 60, 255)
_SIZE = 3.0  # of the diagonal as drawn, whatever its units: cameras zoom between fixed distances
_FAR = 0.125  # of a diagonal: what moves that far is followed, as on the page of a report
_SEEN_THROUGH = 0.35  # opacity
_SIGHT = np.radians(45.0)  # how far the eye sees up and down
_ASIDE = {"x": (0.45, 0.8, 0.6), "y": (0.6, 0.45, 0.8), "z": (0.6, -0.8, 0.45)}  # where the eye is, by what is up
_NO_FACES, _NO_POINTS = np.zeros((1, 3), np.uint32), np.zeros((1, 3), np.float32)  # viser wants one of each


class Drawing:
    """Nodes in the scene of a viser server, around the middle of the first frame: floats of a browser have 24 bits.

    x : (n, 3) the first frame
    others : (n, 3) some later ones, to see how large it gets and whether it goes far
    """

    goes_far: bool

    def __init__(self, server: viser.ViserServer, mesh: TriMesh, x: np.ndarray, others: Iterable[np.ndarray]) -> None:
        self._server, self._mesh, self._up = server, mesh, ""
        seen = [self._used(one) for one in (x, *others) if one.shape == x.shape]
        size = max(float(np.linalg.norm(np.ptp(one, axis=0))) for one in seen)
        self._start, self._mean = 0.5 * (seen[0].min(axis=0) + seen[0].max(axis=0)), seen[0].mean(axis=0)
        self._origin, self._scale = self._start, _SIZE / (size or 1.0)
        self.goes_far = any(np.linalg.norm(one.mean(axis=0) - self._mean) > _FAR * size for one in seen)
        sides = self._placed(x[mesh.edges])
        self._side = float(np.linalg.norm(sides[:, 0] - sides[:, 1], axis=1).mean()) if len(sides) else 0.1
        dot = min(0.3 * self._side, 0.005 * _SIZE)
        placed, scene = self._placed(x) if len(x) else _NO_POINTS, server.scene
        looks: dict[str, Any] = {"side": "double", "cast_shadow": False, "receive_shadow": False, "visible": False}
        dots: dict[str, Any] = {"point_shape": "circle", "precision": "float32", "visible": False}
        lines: dict[str, Any] = {"thickness": 5.0, "thickness_units": "screen", "visible": False}
        self._surface = scene.add_mesh_simple("/surface", placed, _NO_FACES, color=SURFACE, **looks)
        self._red = scene.add_mesh_simple("/colliding", placed, _NO_FACES, color=COLLIDING, **looks)
        self._net = scene.add_mesh_simple("/net", placed, mesh.faces, color=(70, 70, 70), wireframe=True, visible=False)
        self._dots = scene.add_point_cloud("/contacts", _NO_POINTS, POINTS, point_size=dot, **dots)
        self._picked_dots = scene.add_point_cloud("/picked/points", _NO_POINTS, PICKED, point_size=2.0 * dot, **dots)
        self._picked_face = scene.add_mesh_simple("/picked/face", placed[:1], _NO_FACES, color=PICKED, **looks)
        self._picked_edges = scene.add_line_segments("/picked/edges", np.zeros((1, 2, 3)), PICKED, **lines)
        server.on_client_connect(self._place_eye)

    def _used(self, x: np.ndarray) -> np.ndarray:
        return x[self._mesh.vertices] if len(self._mesh.vertices) else np.zeros((1, 3))

    def _placed(self, x: np.ndarray) -> np.ndarray:
        return ((x - self._origin) * self._scale).astype(np.float32)

    def turn(self, up: str) -> None:
        """Let an axis point upwards."""
        if up == self._up:
            return
        self._up = up
        self._server.scene.set_up_direction(f"+{up}")  # pyright: ignore[reportArgumentType]
        self._server.initial_camera.fov = float(_SIGHT)
        for client in self._server.get_clients().values():
            self._place_eye(client)

    def _place_eye(self, client: viser.ClientHandle) -> None:
        """Where the whole of the first frame is seen; in a narrow window above the panel, which is at the bottom."""
        width, height = client.camera.image_width, client.camera.image_height
        aspect = width / height if height > 0 and width > 0 else 1.0
        sight = 2.0 * np.arctan(np.tan(0.5 * _SIGHT) * min(1.0, aspect))
        away = 0.5 * _SIZE / np.sin(0.5 * sight)
        towards = np.array(_ASIDE[self._up or "y"]) / np.linalg.norm(_ASIDE[self._up or "y"])
        up = np.eye(3)["xyz".index(self._up or "y")]
        across = up - (up @ towards) * towards
        lower = (0.5 * away * np.tan(0.5 * _SIGHT) if aspect < 0.8 else 0.0) * across / np.linalg.norm(across)
        client.camera.fov, client.camera.up_direction = float(_SIGHT), up
        client.camera.position, client.camera.look_at = away * towards - lower, -lower

    def approach(self, client: viser.ClientHandle, place: np.ndarray) -> None:
        """Take the eye of one who looks close to a place (3,), from the side that it is on."""
        target = self._placed(place).astype(float)
        away = client.camera.position - target
        away = away / max(float(np.linalg.norm(away)), 1e-9)
        client.camera.position, client.camera.look_at = target + max(15.0 * self._side, 0.05) * away, target

    def show(self, frame: FrameView, shown: Shown, wanted: Wanted) -> None:
        """A frame as the controls ask for it."""
        row = int(shown.contacts[wanted.contact - 1]) if 0 < wanted.contact <= len(shown.contacts) else None
        x = frame.at(float(frame.contacts.toi[row]) if wanted.at_contact and row is not None else 1.0)
        self._origin = self._start + (self._used(x).mean(axis=0) - self._mean if wanted.follow else 0.0)
        placed = self._placed(x)
        with self._server.atomic():
            self.turn(wanted.up)
            # The surface without what is red: two triangles in one place would flicker.
            rest = np.ones(len(self._mesh.faces), bool)
            rest[shown.faces] = False
            # Features that touch are behind one another from almost everywhere.
            self._surface.opacity = _SEEN_THROUGH if wanted.through or row is not None else None
            self._red.opacity = _SEEN_THROUGH if row is not None else None
            self._show_faces(self._surface, placed, self._mesh.faces[rest])
            self._show_faces(self._red, placed, self._mesh.faces[shown.faces])
            self._net.visible = wanted.edges
            if wanted.edges:
                self._net.vertices = placed
            self._show_dots(self._dots, shown.points if wanted.points else shown.points[:0])
            self._show_picked(frame, row, x)

    def _show_faces(self, node: viser.MeshHandle, placed: np.ndarray, faces: np.ndarray) -> None:
        node.visible = len(faces) > 0
        if len(faces):
            node.vertices = placed
            node.faces = faces.astype(np.uint32)

    def _show_dots(self, node: viser.PointCloudHandle, points: np.ndarray) -> None:
        node.visible = len(points) > 0
        if len(points):
            node.points = self._placed(points)

    def _show_picked(self, frame: FrameView, row: int | None, x: np.ndarray) -> None:
        if row is None:
            for node in (self._picked_dots, self._picked_face, self._picked_edges):
                node.visible = False
            return
        points, segments, triangles = frame.features(row, x)
        self._show_dots(self._picked_dots, np.concatenate((points, frame.places(np.array([row])))))
        self._picked_edges.visible, self._picked_face.visible = len(segments) > 0, len(triangles) > 0
        if len(segments):
            self._picked_edges.points = self._placed(segments)
        for triangle in triangles:
            corners = self._placed(triangle)
            across = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            lift = 0.02 * self._side * across / max(float(np.linalg.norm(across)), 1e-30)
            self._picked_face.vertices = np.concatenate((corners + lift, corners - lift)).astype(np.float32)
            self._picked_face.faces = np.array([[0, 1, 2], [3, 5, 4]], np.uint32)

    def meant(self, shown: Shown, origin: Any, direction: Any) -> int | None:
        """Which of the contacts shown a click on the scene means, from 1; None: none of them."""
        found = nearest_to_ray(self._placed(shown.points).astype(float), np.array(origin), np.array(direction))
        return None if found is None else found + 1
