"""Arrays of a glTF file: views of buffers with strides, integers that stand for fractions, sparse replacements.

Whether the bytes are there is asked before anything is made of a count.
"""

from __future__ import annotations

import numpy as np

from pliant.characters.rig.errors import AccessorError
from pliant.io.gltf.document import Document, Entry
from pliant.runtime.arrays import LARGEST_INDEX
from pliant.runtime.reading import current

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_UNSIGNED = (5121, 5123, 5125)
_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Accessors:
    """Reads the accessors of a file, each once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._floats: dict[int, np.ndarray] = {}

    def count(self, index: int, by: str) -> int:
        """How many elements are declared; nothing is read."""
        return self._entry(index, by).integer("count", lower=1, upper=LARGEST_INDEX)

    def holds_data(self, index: int, by: str) -> bool:
        """Whether there is anything to read but zeros."""
        return "bufferView" in (entry := self._entry(index, by)) or "sparse" in entry

    def floats(self, index: int, by: str, kind: str) -> np.ndarray:
        """(count, width) float64, finite; `kind` is SCALAR, VEC3, VEC4 or MAT4, `by` is where it is asked for.

        Integers are what they are, or fractions of their largest value if they are normalized. The array is shared by
        all who ask for it.
        """
        entry = self._entry(index, by)
        self._require_kind(entry, by, kind)
        if index not in self._floats:
            raw = self._raw(entry)
            array = raw.astype(np.float64)
            if entry.flag("normalized") and raw.dtype.kind in "iu":
                array = np.maximum(array / np.iinfo(raw.dtype).max, -1.0)
            if not np.isfinite(array).all():
                row, column = np.argwhere(~np.isfinite(array))[0]
                raise entry.error(AccessorError, f"{by}: element {row} holds {array[row, column]}")
            self._floats[index] = array
        return self._floats[index]

    def integers(self, index: int, by: str, kind: str) -> np.ndarray:
        """(count, width) int64, not negative."""
        entry = self._entry(index, by)
        self._require_kind(entry, by, kind)
        if entry.integer("componentType") not in _UNSIGNED:
            raise entry.error(
                AccessorError, f"{by}: componentType {entry.integer('componentType')} is not of unsigned integers"
            )
        return self._raw(entry).astype(np.int64)

    def _entry(self, index: int, by: str) -> Entry:
        return self._document.entry("accessors", index, by)

    def _require_kind(self, entry: Entry, by: str, kind: str) -> None:
        if entry.text("type") != kind:
            raise entry.error(AccessorError, f"{by}: type has to be {kind}, but is {entry.text('type')}")

    def _raw(self, entry: Entry) -> np.ndarray:
        """(count, width) as stored."""
        count = entry.integer("count", lower=1, upper=LARGEST_INDEX)
        width, dtype = _WIDTH[entry.text("type")], self._dtype(entry)
        # Of an accessor without a view all is zero, and no byte of the file stands for it.
        raw = self._view(entry, count, width, dtype) if "bufferView" in entry else None
        current().charge(8 * count * width, entry.place)
        raw = np.zeros((count, width), dtype) if raw is None else raw
        return self._replaced(entry, raw) if "sparse" in entry else raw

    def _dtype(self, entry: Entry) -> np.dtype:
        component = entry.integer("componentType")
        if component not in _COMPONENTS:
            raise entry.error(AccessorError, f"componentType {component} is not known")
        return np.dtype(_COMPONENTS[component])

    def _view(self, entry: Entry, count: int, width: int, dtype: np.dtype) -> np.ndarray:
        """(count, width) view of the bytes that an entry with bufferView and byteOffset names."""
        view = self._document.entry("bufferViews", entry.integer("bufferView"), entry.place)
        compressed = [name for name in view.extensions() if "compression" in name]
        buffer = self._document.buffer(view.integer("buffer"), view.place)
        begin, length = view.integer("byteOffset", 0), view.integer("byteLength", lower=1)
        if begin + length > len(buffer):
            more = f" ({compressed[0]} is not supported)" if compressed else ""
            raise view.error(
                AccessorError, f"ends at byte {begin + length} of a buffer that has {len(buffer)} bytes{more}"
            )
        element = width * dtype.itemsize
        stride = view.integer("byteStride", element)
        if stride < element:
            raise view.error(AccessorError, f"byteStride {stride} is less than the {element} bytes of an element")
        offset = entry.integer("byteOffset", 0)
        needed = offset + stride * (count - 1) + element
        if needed > length:
            raise entry.error(
                AccessorError, f"{count} elements need {needed} bytes of {view.place}, which has {length}"
            )
        return np.ndarray((count, width), dtype, buffer, begin + offset, (stride, dtype.itemsize))

    def _replaced(self, entry: Entry, raw: np.ndarray) -> np.ndarray:
        sparse = entry.entry("sparse")
        where, what = sparse.entry("indices"), sparse.entry("values")
        count = sparse.integer("count", lower=1, upper=len(raw))
        if where.integer("componentType") not in _UNSIGNED:
            raise where.error(AccessorError, "componentType is not of unsigned integers")
        rows = self._view(where, count, 1, self._dtype(where))[:, 0].astype(np.int64)
        if rows.max() >= len(raw):
            raise where.error(AccessorError, f"index {rows.max()}, but there are {len(raw)} elements")
        if (np.diff(rows) <= 0).any():
            raise where.error(AccessorError, f"index {int(np.argmax(np.diff(rows) <= 0)) + 1} does not ascend")
        raw = raw.copy()
        raw[rows] = self._view(what, count, raw.shape[1], raw.dtype)
        return raw
