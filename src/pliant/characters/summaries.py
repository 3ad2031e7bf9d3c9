"""What collides over a clip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.characters.playing import Frame

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class Summary:
    """Collisions of a clip.

    times : (f,) seconds, of all frames
    pairs : (f,) int64, how many pairs of a vertex and a cell that holds it
    vertices : (f,) int64, how many vertices are in cells
    depth : (f,) the deepest of them, 0 where there is none
    bones : pairs of names of bones, and in how many frames they collide, the most frequent first
    milliseconds : (f, 3) of skinning, solver and detection
    """

    times: np.ndarray
    pairs: np.ndarray
    vertices: np.ndarray
    depth: np.ndarray
    bones: dict[tuple[str, str], int]
    milliseconds: np.ndarray

    @property
    def colliding(self) -> int:
        """How many frames have collisions."""
        return int(np.count_nonzero(self.pairs))

    @property
    def deepest(self) -> float:
        return float(self.depth.max(initial=0.0))

    def __repr__(self) -> str:
        if self.colliding == 0:
            return f"Summary(no collisions in {len(self.times)} frames)"
        at = self.times[int(self.depth.argmax())]
        worst = " and ".join(next(iter(self.bones)))
        return (
            f"Summary(collisions in {self.colliding} of {len(self.times)} frames, deepest {self.deepest:.6g} at "
            f"{at:.4g} s, {len(self.bones)} pairs of bones, most often {worst})"
        )

    def to_pandas(self) -> pandas.DataFrame:
        """A table with one row per frame."""
        import pandas

        columns = {"time": self.times, "pairs": self.pairs, "vertices": self.vertices, "depth": self.depth}
        names = ("skinning_ms", "solver_ms", "detection_ms")
        return pandas.DataFrame(columns | {name: self.milliseconds[:, i] for i, name in enumerate(names)})


def summarise(frames: Iterable[Frame]) -> Summary:
    """Of frames as ``play`` gives them; none of them is kept."""
    rows, bones = [], Counter()
    for frame in frames:
        found = frame.penetrations
        bones.update(found.bone_pairs())
        counts = len(found), len(np.unique(found.vertices)), found.deepest
        rows.append((frame.time, *counts, frame.skinning_ms, frame.solver_ms, frame.detection_ms))
    table = np.array(rows, np.float64).reshape(-1, 7)
    counts = table[:, 1:3].astype(np.int64)
    return Summary(table[:, 0], counts[:, 0], counts[:, 1], table[:, 3], dict(bones.most_common()), table[:, 4:])
