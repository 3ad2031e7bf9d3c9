"""What can be wrong with a rig. From a file, each message begins with the file and the place in it."""

from __future__ import annotations

from pliant.runtime.arrays import MeshError


class RigError(MeshError):
    """A rig, or the file it is in, cannot be used."""


class FormatError(RigError):
    """Not glTF: cut off, no JSON, or an entry that is missing or not what it has to be."""


class UnsupportedError(RigError):
    """The file needs something that is not supported, such as compressed meshes."""


class AccessorError(RigError):
    """Numbers of a file are outside of their buffer, of the wrong type, or not finite."""


class SkinError(RigError):
    """There is no such skin, or what it carries has no positions, joints, weights or triangles that can be used."""


class SkeletonError(RigError):
    """Nodes are no forest, or a transform of one cannot be used."""


class ClipError(RigError):
    """There is no such clip, or its keys cannot be used."""
