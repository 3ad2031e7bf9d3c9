"""Draw the SVG pictures of the pages again, into docs/pictures/. All numbers in them are computed here, by pliant.

    python docs/machinery/drawings.py [contacts cone front stages]

A picture is at most 356 pixels wide where it can be: a telephone of 390 pixels shows it at its own size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from svg import Drawing

import pliant

PICTURES = Path(__file__).resolve().parents[1] / "pictures"
WIDTH = 356


class Projection:
    """Parallel rays: turned about the vertical, then seen from above by an angle."""

    def __init__(self, turn: float, tilt: float, scale: float, middle: tuple[float, float]) -> None:
        s, c, u, v = np.sin(turn), np.cos(turn), np.sin(tilt), np.cos(tilt)
        self.axes = np.array([[c, s, 0.0], [s * u, -c * u, -v]])
        self.towards = np.array([s * v, -c * v, u])
        self.scale, self.middle = scale, np.array(middle)

    def __call__(self, x: np.ndarray | list[float]) -> np.ndarray:
        return np.asarray(x) @ self.axes.T * self.scale + self.middle


def contacts() -> None:
    _vertex_face()
    _edge_edge()


def _vertex_face() -> None:
    x0 = np.array([[-0.25, 0.1, 1.5], [-1.25, -0.55, -0.25], [1.25, -0.7, -0.25], [0.25, 1.35, -0.25]])
    x1 = x0 + [[0.55, -0.25, -2.1], [0, 0, 0.45], [0, 0, 0.45], [0, 0, 0.45]]
    found = pliant.vertex_face(x0[None], x1[None])
    toi, weights, normal = float(found.toi[0]), found.weights[0], found.normal[0]
    at = (1 - toi) * x0 + toi * x1
    see = Projection(0.35, 0.5, 112.0, (176, 186))
    picture = Drawing(WIDTH, 330, "A vertex meets a face: time, weights and normal")
    picture.text((14, 24), "vertex-face", bold=True)
    picture.polygon(see(x0[1:]), stroke="faint", dash="4 4")
    for i in range(1, 4):
        picture.line(see(np.array([x0[i], at[i]])), "faint", dash="2 4")
    picture.polygon(see(at[1:]), "fill", "ink")
    picture.line(see(np.array([at[0], x1[0]])), "blue", dash="2 5", width=2)
    picture.arrow(see(at[0]), see(at[0] + 0.7 * normal), "green")
    picture.line(see(np.array([x0[0], at[0]])), "blue", width=2)
    picture.dot(see(x0[0]), "paper", 4.5, "blue")
    picture.dot(see(x1[0]), "paper", 4.5, "blue")
    for i in range(1, 4):
        picture.dot(see(at[i]), "ink", 3.5)
    picture.dot(see(at[0]), "red", 5.5)
    near = see(at[0])
    picture.text(see(x0[0]) + (12, 4), "vertex a at t = 0", "blue")
    picture.text(see(x1[0]) + (10, 10), "a at t = 1", "blue", halo=True)
    picture.text(near + (-12, 6), f"toi = {toi:.3f}", "red", anchor="end", bold=True)
    picture.text(see(at[0] + 0.5 * normal) + (8, 6), "normal", "green")
    picture.text(near + (11, 1), "a  +1", bold=True)
    picture.text(see(at[1]) + (-8, -12), f"b  {_signed(weights[1])}", bold=True)
    picture.text(see(at[2]) + (9, 4), f"c  {_signed(weights[2])}", bold=True)
    picture.text(see(at[3]) + (8, -10), f"d  {_signed(weights[3])}", bold=True, anchor="middle")
    picture.text(see(x0[1]) + (2, 20), "face at t = 0", "muted", halo=True)
    _equation(picture, weights)
    picture.write(PICTURES / "vertex-face.svg")


def _edge_edge() -> None:
    x0 = np.array([[-1.35, -0.15, 1.0], [1.15, 0.25, 0.75], [-0.35, -1.1, -0.45], [0.45, 1.2, -0.35]])
    x1 = x0 + [[0.1, 0.0, -1.5], [0.1, 0, -1.3], [0.0, 0, 0.35], [0.0, 0, 0.3]]
    found = pliant.edge_edge(x0[None], x1[None])
    toi, weights, normal = float(found.toi[0]), found.weights[0], found.normal[0]
    at = (1 - toi) * x0 + toi * x1
    point = weights[:2] @ at[:2]
    see = Projection(0.35, 0.5, 106.0, (172, 180))
    picture = Drawing(WIDTH, 330, "Two edges meet: time, weights and normal")
    picture.text((14, 24), "edge-edge", bold=True)
    for i, colour in enumerate(("blue", "blue", "faint", "faint")):
        picture.line(see(np.array([x0[i], at[i]])), colour, dash="2 4")
    picture.line(see(x0[:2]), "blue", dash="4 4")
    picture.line(see(x0[2:]), "faint", dash="4 4", width=2)
    picture.line(see(at[2:]), "ink", width=3)
    picture.line(see(at[:2]), "blue", width=3)
    picture.arrow(see(point), see(point + 0.7 * normal), "green")
    for i in range(4):
        picture.dot(see(at[i]), "blue" if i < 2 else "ink", 4)
    picture.dot(see(point), "red", 5.5)
    picture.text(see(point) + (-12, -22), f"toi = {toi:.3f}", "red", anchor="end", bold=True)
    picture.text(see(point + 0.7 * normal) + (-8, 2), "normal", "green", anchor="end")
    picture.text(see(at[0]) + (-14, 22), f"a  {_signed(weights[0])}", "blue", bold=True)
    picture.text(see(at[1]) + (-22, 24), f"b  {_signed(weights[1])}", "blue", bold=True)
    picture.text(see(at[2]) + (-12, -8), f"c  {_signed(weights[2])}", bold=True, anchor="end")
    picture.text(see(at[3]) + (-8, -11), f"d  {_signed(weights[3])}", bold=True, anchor="middle")
    picture.text(see(x0[0]) + (-2, -10), "first edge at t = 0", "blue")
    picture.text(see(x0[2]) + (14, 14), "second edge at t = 0", "muted")
    _equation(picture, weights)
    picture.write(PICTURES / "edge-edge.svg")


def _signed(weight: float) -> str:
    return f"{'+' if weight > 0 else '−'}{abs(weight):.2f}"


def _equation(picture: Drawing, weights: np.ndarray) -> None:
    terms = " ".join(f"{_signed(w).replace('+1.00', '+1')} {name}" for w, name in zip(weights, "abcd"))
    picture.text(
        (picture.width / 2, picture.height - 14), f"{terms.lstrip('+')} = 0 at t = toi", "muted", anchor="middle"
    )


def cone() -> None:
    """A patch with its contour, the cone of its normals, and the contour seen along the axis."""
    x, faces, contour = _patch()
    normals = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    axis = normals.min(axis=0) + normals.max(axis=0)
    axis /= np.linalg.norm(axis)
    angle = float(np.arccos((normals @ axis).min()))
    _draw_patch(x, faces, contour, normals, axis)
    _draw_cone(normals, axis, angle)
    _draw_contour(x[contour], axis)


def _patch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rings of triangles around a middle, with bumps; the vertices of the last ring are the contour."""
    rings, first, faces = 4, 6, []
    plane = [np.zeros((1, 2))]
    for ring in range(1, rings + 1):
        turn = 2 * np.pi * np.arange(first * ring) / (first * ring)
        radius = ring / rings * (1 + 0.16 * np.cos(3 * turn + 0.5) + 0.1 * np.sin(2 * turn))
        plane.append(radius[:, None] * np.stack((np.cos(turn), np.sin(turn)), axis=1))
    begin = np.cumsum([0] + [len(part) for part in plane])
    for ring in range(1, rings + 1):
        inner, outer = max(first * (ring - 1), 1), first * ring
        for i in range(outer):
            sector, place = divmod(i, ring)
            a, b = begin[ring] + i, begin[ring] + (i + 1) % outer
            low = begin[ring - 1] + (sector * (ring - 1) + place) % inner
            faces.append((a, b, low))
            if place:
                faces.append((a, low, begin[ring - 1] + (sector * (ring - 1) + place - 1) % inner))
    u, v = np.concatenate(plane).T
    x = np.stack((u, v, 0.34 * np.cos(2.1 * u + 0.4) + 0.16 * np.sin(2.6 * v) + 0.12 * u), axis=1)
    faces = np.array(faces)
    up = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])[:, 2] < 0
    faces[up] = faces[up][:, ::-1]
    return x, faces, np.arange(begin[rings], begin[rings + 1])


def _draw_patch(x: np.ndarray, faces: np.ndarray, contour: np.ndarray, normals: np.ndarray, axis: np.ndarray) -> None:
    see = Projection(0.5, 0.62, 86.0, (121, 136))
    picture = Drawing(242, 248, "A patch of surface, its contour and the normals of its faces")
    picture.text((14, 24), "1. the patch is a disc", bold=True)
    centres = x[faces].mean(axis=1)
    for f in np.argsort(centres @ see.towards):
        picture.polygon(
            see(x[faces[f]]), "fill2" if normals[f] @ [-0.5, 0.3, 0.8] > 0.72 else "fill", "faint", width=0.8
        )
    picture.polygon(see(x[contour]), stroke="red", width=2.5)
    for f in range(0, len(faces), 3):
        picture.arrow(see(centres[f]), see(centres[f] + 0.3 * normals[f]), "blue", 1.3, 5)
    picture.text((14, 234), "contour", "red")
    picture.text((228, 234), "normals of faces", "blue", anchor="end")
    picture.write(PICTURES / "patch.svg")


def _draw_cone(normals: np.ndarray, axis: np.ndarray, angle: float) -> None:
    see = Projection(0.5, 0.3, 142.0, (121, 208))
    side = np.cross(axis, [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    turn = np.linspace(0, 2 * np.pi, 73)[:, None]
    rim = np.cos(angle) * axis + np.sin(angle) * (np.cos(turn) * side + np.sin(turn) * other)
    picture = Drawing(242, 248, "The cone around all normals of the patch")
    picture.text((14, 24), "2. one cone holds all normals", bold=True)
    seen, top = see(rim), see([0.0, 0.0, 0.0])
    direction = np.arctan2(seen[:, 0] - top[0], top[1] - seen[:, 1])
    left, right = seen[direction.argmin()], seen[direction.argmax()]
    picture.polygon(np.array([top, left, right]), "fill2")
    picture.polygon(seen, "fill2", "faint", width=1.5)
    picture.line(np.array([left, top, right]), "faint")
    for n in normals[::2]:
        picture.arrow(top, see(0.97 * n), "blue", 1.1, 5)
    picture.arrow(top, see(1.12 * axis), "green", 2.4)
    picture.text(see(1.12 * axis) + (9, 4), "axis", "green")
    picture.text((121, 234), f"half angle {np.degrees(angle):.0f}°, below 90°", "muted", anchor="middle")
    picture.write(PICTURES / "cone.svg")


def _draw_contour(loop: np.ndarray, axis: np.ndarray) -> None:
    side = np.cross([0.0, 1.0, 0.0], axis)
    side /= np.linalg.norm(side)
    flat = np.stack((loop @ side, -(loop @ np.cross(axis, side))), axis=1)
    seen = 80.0 * (flat - flat.mean(axis=0)) + (119, 126)
    centre = seen.mean(axis=0)
    picture = Drawing(242, 248, "The contour seen along the axis: it winds once around a centre")
    picture.text((14, 24), "3. the contour is simple", bold=True)
    picture.polygon(seen, "fill2")
    for point in seen[::2]:
        picture.line(np.array([centre, point]), "faint", width=1)
    picture.polygon(seen, stroke="red", width=2.5)
    for i in range(2, len(seen), 6):
        picture.arrow(seen[i - 1], seen[i], "red", 2.5, 9)
    picture.dot(centre, "green", 5)
    picture.text(centre + (10, 5), "centre", "green", bold=True)
    picture.text((121, 234), "seen along the axis", "muted", anchor="middle")
    picture.write(PICTURES / "contour.svg")


def front() -> None:
    """The tree of pairs of nodes, and a cut through it."""
    picture = Drawing(WIDTH, 342, "A front: the pairs at which a traversal stopped")
    picture.text((14, 24), "the tree of pairs of nodes", bold=True)
    y = {1: 62.0, 2: 128.0, 3: 204.0}
    children = {
        "1·1": ["2·2", "2·3", "3·3"],
        "2·3": ["4·6", "4·7", "5·6", "5·7"],
        "3·3": ["6·6", "6·7", "7·7"],
    }
    place = {"1·1": (170.0, y[1]), "2·2": (32.0, y[2]), "2·3": (141.5, y[2]), "3·3": (292.0, y[2])}
    place |= {name: (80.0 + 41.0 * i, y[3]) for i, name in enumerate(children["2·3"])}
    place |= {name: (252.0 + 40.0 * i, y[3]) for i, name in enumerate(children["3·3"])}
    apart, free, open_pairs = ("4·6", "4·7", "5·7"), ("2·2", "6·6", "7·7"), ("5·6", "6·7")
    cut = np.array([(10, 149), (54, 149), (54, 190), (54, 228), (92, 228), (348, 228)], float)
    for above, below in children.items():
        for name in below:
            picture.line(np.array([place[above], place[name]]), "faint")
    for name in open_pairs:
        px, py = place[name]
        for shift in (-9, -3, 3, 9):
            picture.line(np.array([(px, py), (px + 1.6 * shift, py + 44)]), "faint", dash="2 3")
    picture.line(_smooth(cut), "red", width=2.5)
    for name, at in place.items():
        fill, edge, ink = "paper", "faint", "muted"
        if name in apart:
            edge, ink = "blue", "blue"
        elif name in free:
            edge, ink = "green", "green"
        elif name in open_pairs:
            edge, ink = "ink", "ink"
        picture.box(np.array(at), (34, 24), fill, edge)
        picture.text((at[0], at[1] + 4.5), name, ink, anchor="middle", size=12.5)
    picture.text((348, 246), "front", "red", anchor="end", bold=True)
    for row, (colour, words) in enumerate(
        (
            ("blue", "bounds do not overlap: stop"),
            ("green", "a patch proved free of self-contact: stop"),
            ("ink", "bounds overlap: each frame goes on from here"),
        )
    ):
        picture.box(np.array([24.0, 288.0 + 20 * row]), (16, 11), "paper", colour, 3)
        picture.text((40, 292.5 + 20 * row), words, "ink", size=12.5)
    picture.write(PICTURES / "front.svg")


def _smooth(points: np.ndarray) -> np.ndarray:
    """Corners cut twice (Chaikin), the ends kept."""
    for _ in range(3):
        a, b = points[:-1], points[1:]
        middle = np.stack((0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b), axis=1).reshape(-1, 2)
        points = np.concatenate((points[:1], middle, points[-1:]))
    return points


# Stage, whether its pairs before it are shown, words for what is left, and what is counted.
STAGES = (
    ("traversal", True, "compared", "nodes"),
    ("traversal", False, "bounds overlap", "elements"),
    ("csat of elements", False, "left by CSAT", "elements"),
    ("feature boxes", True, "expanded", "features"),
    ("feature boxes", False, "boxes overlap", "features"),
    ("dnf", False, "left by DNF", "features"),
    ("csat", False, "left by CSAT", "features"),
    ("exact", False, "contacts", "contacts"),
)
_GROUPS = {"nodes": "faint", "elements": "amber", "features": "blue", "contacts": "red"}


def stages() -> None:
    """How many pairs each stage left in one step of a built-in scene."""
    scene = pliant.scenes.load("twisted_cloth")
    found = {stage.name: stage for stage in pliant.ccd(scene.faces, scene.x0, scene.x1).stages}
    rows = [
        (words, group, found[name].pairs_in if before else found[name].pairs_out)
        for name, before, words, group in STAGES
    ]
    picture = Drawing(420, 384, "Pairs that are left after each stage of one step of twisted_cloth")
    picture.text((16, 26), "Pairs left after each stage", bold=True, size=15)
    picture.text((16, 46), f"twisted_cloth, {len(scene.faces):,} triangles, one step", "muted")
    left, room, y, before = 132.0, 205.0, 60.0, ""
    for words, group, count in rows:
        if group != before and group != "contacts":
            y += 6
            picture.text((16, y + 10), f"pairs of {group}", _GROUPS[group] if group != "nodes" else "muted", bold=True)
            y += 22
        if group == "contacts":
            y += 8
        before = group
        width = room * (np.log10(count) - 3) / 3
        last = group == "contacts"
        picture.text((left - 10, y + 13), words, "red" if last else "ink", anchor="end", bold=last)
        picture.box(np.array([left + width / 2, y + 8.5]), (width, 17), _GROUPS[group], radius=3)
        picture.text((left + width + 8, y + 13), f"{count:,}", "ink", bold=last)
        y += 26
    picture.text((16, y + 18), "The length of a bar is the logarithm of the number, from 1,000 on.", "muted", size=12)
    picture.height = int(y + 32)
    picture.write(PICTURES / "stages.svg")


ALL: dict[str, Callable[[], None]] = {"contacts": contacts, "cone": cone, "front": front, "stages": stages}

if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or ALL:
        ALL[name]()
