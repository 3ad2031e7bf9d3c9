"""A scene: triangles and the positions of their vertices, frame by frame."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """One named motion of a triangle mesh.

    name : the name that `pliant.scenes.load` knows it by
    faces : (m, 3) int64, vertex ids
    frames : (f, n, 3) float64, positions; a vertex moves straight from one frame to the next
    objects : (n,) int64, label of the connected component of each vertex, 0, 1, 2, ...
    """

    name: str
    faces: np.ndarray
    frames: np.ndarray
    objects: np.ndarray

    @property
    def x0(self) -> np.ndarray:
        """(n, 3) float64, positions at the start of the first step."""
        return self.frames[0]

    @property
    def x1(self) -> np.ndarray:
        """(n, 3) float64, positions at the end of the first step."""
        return self.frames[1]

    def steps(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (x0, x1), both (n, 3), for each of the f - 1 steps."""
        return zip(self.frames[:-1], self.frames[1:])

    def __repr__(self) -> str:
        return (
            f"Scene({self.name!r}: {len(self.faces)} triangles, {len(self.objects)} vertices, "
            f"{int(self.objects.max()) + 1} objects, {len(self.frames)} frames)"
        )


def join(name: str, parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> Scene:
    """Make a scene of connected parts, each (faces (m, 3), frames (f, n, 3)), labelled in their order."""
    sizes = [frames.shape[1] for _, frames in parts]
    first_ids = np.cumsum([0, *sizes[:-1]], dtype=np.int64)
    faces = np.concatenate([faces for faces, _ in parts])
    faces += np.repeat(first_ids, [len(faces) for faces, _ in parts])[:, None]
    return Scene(
        name=name,
        faces=faces,
        frames=np.concatenate([frames for _, frames in parts], axis=1),
        objects=np.repeat(np.arange(len(parts), dtype=np.int64), sizes),
    )
