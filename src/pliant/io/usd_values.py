"""Values of binary USD, wherever they are in the file: each announces no more than what is left of the file can hold.

usd-core allocates what is declared, or reads on beyond the end, once for every item. What follows is the part of
its format that has counts: types and their numbers are those of crateDataTypes.h in OpenUSD.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import IO

import numpy as np

from pliant.runtime.reading import current

# Types of items of arrays, and how many bytes each takes in the file; strings and tokens are indices.
_ITEMS = {
    1: 1, 2: 1, 3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 4, 9: 8, 10: 4, 11: 4, 12: 4, 13: 32, 14: 72, 15: 128, 16: 32, 17: 16,
    18: 8, 19: 16, 20: 8, 21: 4, 22: 8, 23: 24, 24: 12, 25: 6, 26: 12, 27: 32, 28: 16, 29: 8, 30: 16, 56: 8, 57: 4,
}  # fmt: skip
_INTEGERS, _FLOATS = (3, 4, 5, 6), (7, 8, 9)
# Edits of lists of tokens, strings, paths, numbers and payloads; and of items that have parts.
_LISTS = {32: 4, 33: 4, 34: 4, 36: 4, 37: 8, 38: 4, 39: 8, 55: 24}
_REFERENCES, _UNKNOWNS = 35, 54
_VECTORS = {40: 4, 45: 8, 48: 8, 49: 16, 50: 4, 58: 8}
_NAMES, _DICTIONARY, _TIME_SAMPLES, _TIMES, _VALUE, _UNKNOWN, _SPLINE = 41, 31, 46, 48, 52, 53, 59
_IS_ARRAY, _IS_INLINE, _IS_PACKED, _IS_EDIT = (1 << bit for bit in (63, 62, 61, 60))
_PAYLOAD = (1 << 48) - 1
_LEAST_PACKED = 16  # shorter arrays are not packed, whatever is said of them
# Whole numbers take a quarter of a byte at least, and what holds them shrinks 255 times at most.
_MOST_EXPANSION = 1024
_DEEPEST = 100
# Dictionaries may be shared: a few hundred bytes can stand for more values than there are atoms.
_MOST_VALUES = 2**20


class Unsound(Exception):
    """What is declared cannot be there."""


def require(holds: bool) -> None:
    if not holds:
        raise Unsound


class Values:
    """Follows values from the word that stands for each, which says its type and where it is.

    file : in which the whole of it begins at `begin` and has `size` bytes; version : of its format, the second number
    """

    def __init__(self, file: IO[bytes], begin: int, size: int, version: int) -> None:
        self._file, self._begin, self._size, self._version = file, begin, size, version
        self._counts: dict[int, int] = {}
        self._depth = 0

    def read(self, at: int, size: int) -> bytes:
        self.fit(at, size, 1)
        self._file.seek(self._begin + at)
        return self._file.read(size)

    def number(self, at: int, kind: str = "Q") -> int:
        return struct.unpack("<" + kind, self.read(at, struct.calcsize(kind)))[0]

    def fit(self, at: int, count: int, size: int) -> int:
        """Where what follows so many items begins."""
        require(at >= 0 and count >= 0 and count * size <= self._size - at)
        return at + count * size

    def follow(self, word: int) -> int:
        """How many values there are in one, itself included."""
        if word not in self._counts:
            require(self._depth < _DEEPEST)
            self._depth += 1
            self._counts[word] = 1 + self._parts(word)
            self._depth -= 1
            require(self._counts[word] <= _MOST_VALUES + self._size)
        return self._counts[word]

    def _parts(self, word: int) -> int:
        kind, at = word >> 48 & 255, word & _PAYLOAD
        if word & _IS_ARRAY:
            if at and kind in _ITEMS:
                self._array(kind, at, bool(word & _IS_PACKED))
        elif word & _IS_EDIT:
            if at and kind in _ITEMS:
                return self.follow(self.number(at)) + self.follow(self.number(at + 8))
        elif word & _IS_INLINE:
            pass
        elif kind == _NAMES:
            self._names(at)
        elif kind in _VECTORS:
            self._vector(at, _VECTORS[kind])
        elif kind in (*_LISTS, _REFERENCES, _UNKNOWNS):
            return self._lists(kind, at)
        elif kind == _DICTIONARY:
            return self._dictionary(at)[0]
        elif kind == _TIME_SAMPLES:
            return self._time_samples(at)
        elif kind in (_VALUE, _UNKNOWN):
            return self._value(at)[0]
        elif kind == _SPLINE:
            return self._each(self._vector(at, 1), 16, lambda at: self._dictionary(at + 8))[0]
        return 0

    def _array(self, kind: int, at: int, packed: bool) -> None:
        at += 4 if self._version < 5 else 0
        count = self.number(at, "I" if self._version < 7 else "Q")
        at += 4 if self._version < 7 else 8
        can_be_packed = self._version >= (5 if kind in _INTEGERS else 6) and kind in (*_INTEGERS, *_FLOATS)
        if not (packed and can_be_packed and count >= _LEAST_PACKED):
            self.fit(at, count, _ITEMS[kind])
            return
        if kind in _FLOATS:
            code, at = self.number(at, "B"), at + 1
            if code == ord("t"):  # places in a table, which comes first
                at = self.fit(at + 4, self.number(at, "I"), _ITEMS[kind])
        size = self.number(at)
        self.fit(at + 8, size, 1)
        require(count <= _MOST_EXPANSION * size)
        current().charge(count * _ITEMS[kind])

    def _vector(self, at: int, size: int) -> int:
        return self.fit(at + 8, self.number(at), size)

    def _names(self, at: int) -> None:
        """Of the children of something. usd-core composes them in threads, and crashed where some had one name."""
        count = self.number(at)
        require(len(np.unique(np.frombuffer(self.read(at + 8, 4 * count), np.uint32))) == count)

    def _time_samples(self, at: int) -> int:
        at = self._jump(at)
        times = self.number(at)
        at = self._jump(at + 8)
        count = self.number(at)
        words = np.frombuffer(self.read(at + 8, 8 * count), np.uint64)
        if not times & _IS_INLINE:
            # Times are read as such whatever the type that is named, and a value is searched for behind each.
            self._vector(times & _PAYLOAD, _VECTORS[_TIMES])
            require(self.number(times & _PAYLOAD) == count)
        return sum(map(self.follow, words.tolist()))

    def _jump(self, at: int) -> int:
        """Where the main part of something begins: its parts come before."""
        length = self.number(at, "q")
        require(length >= 8)
        return at + length

    def _value(self, at: int) -> tuple[int, int]:
        """How many values there are, and where what follows begins; so below."""
        at = self._jump(at)
        return self.follow(self.number(at)), at + 8

    def _dictionary(self, at: int) -> tuple[int, int]:
        """Of a key, a jump and a word each."""
        return self._each(at, 20, lambda at: self._value(at + 4))

    def _each(self, at: int, size: int, follow: Callable[[int], tuple[int, int]]) -> tuple[int, int]:
        """Of items that take so many bytes at least."""
        count, held, at = self.number(at), 0, at + 8
        self.fit(at, count, size)
        for _ in range(count):
            more, at = follow(at)
            held += more
        return held, at

    def _lists(self, kind: int, at: int) -> int:
        """Up to six of one kind: added, deleted and so on; the other bit says whether they stand alone."""
        held, bits, at = 0, self.number(at, "B"), at + 1
        for _ in range(bin(bits >> 1 & 63).count("1")):
            if kind in _LISTS:
                at = self._vector(at, _LISTS[kind])
                continue
            if kind == _REFERENCES:  # a file, a path, an offset and a scale; and what users add
                more, at = self._each(at, 32, lambda at: self._dictionary(at + 24))
            else:
                more, at = self._each(at, 16, self._value)
            held += more
        return held
