"""From a table of bones to a character: its skin, skeleton, weights and body."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.characters.body.body import Body
from pliant.characters.body.embedding import embed
from pliant.characters.rig.rig import Character, Clip, Pose, Skeleton
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.jit import helper, kernel
from pliant.scenes.flesh import Bone, Flesh, flesh_of, powers_at, thickened
from pliant.scenes.skins import skin_around
from pliant.scenes.stuffing import stuffed

MOST_JOINTS = 4  # of a vertex
# The body is thicker than the skin by this part of its lattice's spacing: its faces are chords of what is round, and
# skin in a cell is carried better than skin outside.
_FAT = 0.07


class Sizes(NamedTuple):
    skin: float  # edge of the cubes that the skin is made from
    body: float  # spacing of the lattice that the body is made from
    thinnest: float = 0.0  # radius of what the body fills: thinner parts would fall through its lattice


def rigged(name: str, bones: Sequence[Bone], sizes: Sizes, clips: Sequence[Clip]) -> tuple[Character, Body]:
    """A character and its body: the same bones carry both."""
    flesh = flesh_of(bones)
    faces, skin = skin_around(flesh, sizes.skin)
    cells, x = stuffed(flesh_of(thickened(bones, sizes.thinnest, _FAT * sizes.body)), sizes.body)
    volume = VolumeMesh({"tetra": cells})
    by_name = {clip.name: clip for clip in clips}
    character = Character(name, TriMesh(faces), skin, *bone_weights(flesh, skin), skeleton_of(bones), by_name)
    return character, Body(volume, x, *bone_weights(flesh, x), *embed(volume, x, skin))


def skeleton_of(bones: Sequence[Bone]) -> Skeleton:
    """Every bone is a joint. All frames are parallel to that of the world at rest, so that angles of clips are too."""
    heads, flesh = np.array([bone.head for bone in bones], float), flesh_of(bones)
    inverse = np.tile(np.eye(4), (len(bones), 1, 1))
    inverse[:, :3, 3] = -heads
    local = heads - np.where(flesh.parents[:, None] >= 0, heads[flesh.parents], 0)
    still = np.tile([0.0, 0.0, 0.0, 1.0], (len(bones), 1))
    names, ids = tuple(bone.name for bone in bones), np.arange(len(bones), dtype=np.int32)
    return Skeleton(names, flesh.parents.astype(np.int32), Pose(local, still, np.ones_like(local)), ids, inverse)


def bone_weights(flesh: Flesh, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joints (n, w) int32 that carry each point, the heaviest first, and their weights (n, w), w at most 4.

    Only bones next to the heaviest one in the skeleton take part: no thigh carries what belongs to the other.
    """
    dense = np.zeros((len(points), len(flesh.parents)))
    _weigh(flesh, points, dense)
    ids = np.arange(len(flesh.parents))
    joined = (flesh.parents[:, None] == ids) | (flesh.parents == ids[:, None]) | (ids[:, None] == ids)
    dense[~joined[dense.argmax(axis=1)]] = 0
    order = np.argsort(-dense, axis=1, kind="stable")[:, :MOST_JOINTS]
    weights = np.take_along_axis(dense, order, axis=1)
    joints = np.where(weights > 0, order, 0).astype(np.int32)
    return joints, weights / weights.sum(axis=1, keepdims=True)


@kernel
def _weigh(flesh, points, out):
    """out : (n, k), 0 at first; weights of all bones, not yet of sum 1.

    How far a bone is behind the nearest one, in lengths along the bones (``powers_at``), makes its weight fade. What is
    near to two bones that are not neighbours belongs to neither, but to what is between them: without that factor,
    weights would jump where the nearest bone changes.
    """
    count = len(flesh.parents)
    buffer = np.empty(count)
    for i in range(len(points)):
        nearest = powers_at(flesh, (points[i, 0], points[i, 1], points[i, 2]), buffer)
        least = buffer[nearest]
        for bone in range(count):
            buffer[bone] = np.sqrt(buffer[bone] - least)
        for bone in range(count):
            if bone != nearest and not _joined(flesh.parents, bone, nearest):
                continue
            width = flesh.width[nearest if flesh.parents[nearest] == bone else bone]
            weight = max(0.0, 1.0 - buffer[bone] / width) ** 2
            for other in range(count):
                if other != bone and not _joined(flesh.parents, bone, other):
                    weight *= min(1.0, buffer[other] / flesh.width[other]) ** 2
            out[i, bone] = weight
        if out[i].sum() < 1e-9:
            out[i, nearest] = 1.0


@helper
def _joined(parents, a, b):
    return parents[a] == b or parents[b] == a
