"""What a glTF file shows at a time of a clip: meshes on nodes, carried by skins, bent by morph targets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.characters.rig.rig import Clip, Pose, Skeleton
from pliant.io.gltf.accessors import Accessors
from pliant.io.gltf.clips import read_clips
from pliant.io.gltf.document import Document, Entry
from pliant.io.gltf.nodes import from_the_roots, read_local, read_parents, read_skeleton
from pliant.io.gltf.parts import Primitive, Weights, read_primitives, read_weights
from pliant.io.mesh import FileError
from pliant.io.opening import carried
from pliant.mesh.parts import Parts, parts_from
from pliant.runtime.reading import current


class Part(NamedTuple):
    """A primitive as one node shows it."""

    node: int  # of the skeleton
    primitive: Primitive
    skin: Skeleton | None
    joints: np.ndarray  # (j,) nodes of the skeleton that are joints of the skin
    weights: np.ndarray  # (t,) of its morph targets at rest


@dataclass(frozen=True, eq=False)
class Scene:
    parts: tuple[Part, ...]
    skeleton: Skeleton  # of all nodes
    clips: dict[str, Clip]
    weights: dict[str, dict[int, Weights]]  # of morph targets, by clip and node
    faces: np.ndarray  # (m, 3) int64
    named: Parts | None  # nodes that the faces belong to

    def positions(self, clip: str | None = None, t: float = 0.0) -> np.ndarray:
        """(n, 3) at a time of a clip; without one, at rest."""
        pose = self.clips[clip].sample(self.skeleton, t) if clip in self.clips else None
        matrices = self.skeleton.globals(pose)
        weights = self.weights.get(clip or "", {})
        return np.concatenate([_placed(part, matrices, weights.get(part.node), t) for part in self.parts])

    def clip_names(self) -> list[str]:
        return list(dict.fromkeys([*self.clips, *self.weights]))

    def duration(self, clip: str) -> float:
        """Seconds: the last time of a key."""
        ends = [float(weights.times[-1]) for weights in self.weights.get(clip, {}).values()]
        return max([0.0, *ends, *(moving.duration for name, moving in self.clips.items() if name == clip)])


def _placed(part: Part, matrices: np.ndarray, moving: Weights | None, t: float) -> np.ndarray:
    """(n, 3) of one part; matrices (k, 4, 4) of all nodes."""
    x = part.primitive.positions
    if len(part.primitive.targets):
        x = x + np.einsum("t,tnk->nk", part.weights if moving is None else moving.at(t), part.primitive.targets)
    if part.skin is None or part.primitive.joints is None or part.primitive.weights is None:
        return carried(x, matrices[part.node][:3, :3].T, matrices[part.node][:3, 3])
    by_joint = (matrices[part.joints] @ part.skin.inverse_bind)[:, :3]
    blended = np.zeros_like(x)
    for joint, weight in zip(part.primitive.joints.T, part.primitive.weights.T):
        moved = np.einsum("nij,nj->ni", by_joint[joint][:, :, :3], x) + by_joint[joint][:, :, 3]
        blended += weight[:, None] * moved
    return blended


def placing(part: Part, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What takes each vertex of a part from where the file has it to where it is shown: (n, 3, 3) and (n, 3)."""
    count = len(part.primitive.positions)
    if part.skin is None or part.primitive.joints is None or part.primitive.weights is None:
        whole = np.broadcast_to(matrices[part.node][:3], (count, 3, 4))
    else:
        by_joint = (matrices[part.joints] @ part.skin.inverse_bind)[:, :3]
        whole = np.einsum("nw,nwij->nij", part.primitive.weights, by_joint[part.primitive.joints])
    return whole[:, :, :3], whole[:, :, 3]


def read_scene(document: Document) -> Scene:
    accessors = Accessors(document)
    _charge_for_vertices(document, accessors)
    skeleton, place = _all_nodes(document)
    parts: list[Part] = []
    faces: list[np.ndarray] = []
    count = 0
    for number, node in enumerate(document.root.entries("nodes")):
        for part, corners in _parts_of(document, accessors, node, place):
            parts.append(part._replace(node=place[number]))
            faces.append(corners + count)
            count += len(part.primitive.positions)
    if not faces:
        raise FileError(f"{document.name}: no node shows triangles")
    targets = {part.node: len(part.weights) for part in parts if len(part.weights)}
    clips = read_clips(document, accessors, place)
    weights = read_weights(document, accessors, place, targets)
    named = _named([skeleton.names[part.node] for part in parts], [part.node for part in parts], faces)
    return Scene(tuple(parts), skeleton, clips, weights, np.concatenate(faces), named)


def _named(names: list[str], nodes: list[int], faces: list[np.ndarray]) -> Parts | None:
    """Nodes by their names; of several with one name, by their number too: they are different parts."""
    number = {node: i for i, node in enumerate(dict.fromkeys(nodes))}
    known = dict(zip(nodes, names))
    often = Counter(known.values())
    shown = [name if often[name] == 1 else f"{name} ({number[node]})" for name, node in zip(names, nodes)]
    return parts_from(shown, [len(corners) for corners in faces])


def _charge_for_vertices(document: Document, accessors: Accessors) -> None:
    """Many nodes can show one mesh, which takes no bytes of the file; nothing is read before all are counted."""
    for node in document.root.entries("nodes"):
        if "skin" in node:
            skin = document.entry("skins", node.integer("skin"), node.place)
            current().charge(512 * len(skin.items("joints")), node.place)
        if "mesh" not in node:
            continue
        mesh = document.entry("meshes", node.integer("mesh"), node.place)
        attributes = [primitive.entry("attributes") for primitive in mesh.entries("primitives")]
        count = sum(accessors.count(one.integer("POSITION"), one.place) for one in attributes if "POSITION" in one)
        current().charge(24 * count, f"{node.place}: {count} vertices")


def _all_nodes(document: Document) -> tuple[Skeleton, dict[int, int]]:
    """All nodes as one skeleton without joints, and which of its nodes each node of the file is."""
    count = document.count("nodes")
    if count == 0:
        raise FileError(f"{document.name}: there are no nodes, so that nothing is shown")
    parents = read_parents(document)
    order = from_the_roots(document, document.root, range(count), parents)
    place = {node: i for i, node in enumerate(order)}
    nodes = [document.entry("nodes", node, "nodes") for node in order]
    skeleton = Skeleton(
        tuple(node.text("name", f"node {i}") for i, node in zip(order, nodes)),
        np.array([place.get(parents[node], -1) for node in order], np.int32),
        Pose(*(np.array(column) for column in zip(*map(read_local, nodes)))),
        np.empty(0, np.int32),
        np.empty((0, 4, 4)),
    )
    return skeleton, place


def _parts_of(
    document: Document, accessors: Accessors, node: Entry, place: dict[int, int]
) -> list[tuple[Part, np.ndarray]]:
    """Primitives of the mesh of a node, with their triangles."""
    if "mesh" not in node:
        return []
    mesh = document.entry("meshes", node.integer("mesh"), node.place)
    skin, joints = None, np.empty(0, np.int64)
    if "skin" in node:
        skin, inner = read_skeleton(document, accessors, node.integer("skin"))
        number = {own: file for file, own in inner.items()}
        joints = np.array([place[number[int(joint)]] for joint in skin.joints])
    found = []
    for primitive, corners in read_primitives(accessors, mesh, len(joints)):
        count = len(primitive.targets)
        holder = node if "weights" in node else mesh
        weights = holder.numbers("weights", (0.0,) * count) if "weights" in holder else np.zeros(count)
        found.append((Part(-1, primitive, skin, joints, weights), corners))
    return found
