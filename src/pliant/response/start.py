"""The start of a step: free of intersections, or an error that says what intersects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.elementary.inversion import inverted
from pliant.mesh.features import elements_of
from pliant.mesh.triangles import TriMesh
from pliant.queries.detect import some_pairs
from pliant.queries.detector import Detector
from pliant.response.fresh import FreshPairs, no_fresh_pairs
from pliant.results.contacts import Contacts
from pliant.runtime.arrays import TangledError
from pliant.runtime.threads import Progress


class Starts:
    """Requires that nothing intersects at the start, for what is not wholly driven."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.named: Callable[[np.ndarray], str] = some_pairs  # pairs of faces, (k, 2), in words
        self.advice = (
            "pliant.check(mesh, x0) lists them, pliant.untangle(mesh, x0) moves them apart; or "
            'tangled="keep" leaves them as they are, and nothing else tangles'
        )
        self.fresh: FreshPairs = no_fresh_pairs()  # of which triangles may intersect
        self._elements: Detector | None = None  # of faces, loose edges and points

    def require_free(self, x0: np.ndarray, is_driven: np.ndarray, progress: Progress | bool | None) -> None:
        """Raises TangledError."""
        corners, detector = self._at_rest()
        found = detector.intersections(x0, progress=progress)
        free = ~is_driven[corners[found.faces]].all(axis=(1, 2))
        pairs = found.faces[free]
        pairs = pairs[self._are_kept_apart(corners, pairs)]
        pairs = pairs[~self.fresh.between(corners[pairs])]
        if len(pairs):
            self._raise_tangled(corners, pairs)
        volume = self._detector._tested.volume
        if volume is not None:
            cells = inverted(volume, x0)
            _require_upright(cells[~is_driven[volume._corners[cells]].all(axis=1)])

    def _are_kept_apart(self, corners: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """(k,) bool: which pairs of elements, (k, 2), the contacts of vertices and faces, and of edges, keep apart: not
        loose points and what has no face, nor loose edges with a common vertex, folded onto each other."""
        mesh = self._detector._at_rest.topology.tested.features
        face_count, edge_count = len(mesh.faces), len(mesh.loose_edges)
        loose, is_point = pairs >= face_count, pairs >= face_count + edge_count
        meet = (corners[pairs[:, 0], :, None] == corners[pairs[:, 1], None, :]).any(axis=(1, 2))
        return ~(loose.all(axis=1) & (is_point.any(axis=1) | meet))

    def _raise_tangled(self, corners: np.ndarray, pairs: np.ndarray) -> None:
        sides = np.sort(corners[pairs], axis=2)
        equal = (sides[:, 0] == sides[:, 1]).all(axis=1)
        if equal.any():
            raise TangledError(
                f"the start is tangled: faces {self.named(pairs[equal])} have the same vertices, so they lie in each "
                "other; remove one of each two",
                pairs,
            )
        loose = pairs.max() >= len(self._detector._at_rest.topology.tested.features.faces)
        what = "elements (faces, then loose edges, then loose points)" if loose else "faces"
        raise TangledError(
            f"the start is tangled: {what} {some_pairs(pairs) if loose else self.named(pairs)} intersect at x0; "
            + self.advice,
            pairs,
        )

    def _at_rest(self) -> tuple[np.ndarray, Detector]:
        """Corners of what can intersect, and who finds it: loose edges and points as triangles that are segments and
        points."""
        mesh = self._detector._at_rest.topology.tested.features
        if not len(mesh.loose_edges) and not len(mesh.loose_points):
            return mesh.faces, self._detector
        if self._elements is None:
            self._elements = Detector(TriMesh(elements_of(mesh).corners), threads=self._detector._threads)
        return self._elements.mesh.faces, self._elements


def touching_error(contacts: Contacts) -> TangledError:
    """Pairs of features touch at x0, which only a step finds out."""
    kinds = " and ".join(
        f"{name} {some_pairs(some.elements)}"
        for name, some in (("vertex and face", contacts.vf), ("edges", contacts.ee))
        if len(some)
    )
    return TangledError(f'the start is tangled: {kinds} touch at x0; tangled="keep" leaves them as they are')


def _require_upright(cells: np.ndarray) -> None:
    if len(cells):
        named = ", ".join(map(str, cells[:5].tolist())) + (f" and {len(cells) - 5} more" if len(cells) > 5 else "")
        raise TangledError(f"the start is tangled: cells {named} are inverted or flat at x0")
