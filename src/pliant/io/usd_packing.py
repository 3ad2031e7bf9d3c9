"""How binary USD packs bytes and whole numbers: LZ4 in chunks; differences in two bits, or one, two or four bytes.

The formats are those of TfFastCompression and Sdf_IntegerCompression in OpenUSD.
"""

from __future__ import annotations

import numpy as np

_LEAST_MATCH = 4


class PackingError(Exception):
    """Bytes that no packing has made."""


def unpack_bytes(packed: bytes, most: int) -> bytes:
    """What was packed, which may not have more bytes than `most`."""
    if not packed:
        raise PackingError
    chunks, at, out = packed[0], 1, bytearray()
    if chunks == 0:
        _unpack_lz4(packed[1:], out, most)
    for _ in range(chunks):
        length = int.from_bytes(packed[at : at + 4], "little")
        at += 4
        if length > len(packed) - at:
            raise PackingError
        _unpack_lz4(packed[at : at + length], out, most)
        at += length
    return bytes(out)


def _unpack_lz4(block: bytes, out: bytearray, most: int) -> None:
    """Append one block: runs of new bytes, each followed by a match, bytes that are there already."""
    at, first = 0, len(out)
    try:
        while at < len(block):
            token = block[at]
            count, at = _length(block, at + 1, token >> 4)
            if count > len(block) - at or len(out) + count > most:
                raise PackingError
            out += block[at : at + count]
            at += count
            if at == len(block):  # the last run has no match
                return
            back = block[at] | block[at + 1] << 8
            count, at = _length(block, at + 2, token & 15)
            count += _LEAST_MATCH
            if not 0 < back <= len(out) - first or len(out) + count > most:
                raise PackingError
            begin = len(out) - back
            match = out[begin : begin + count]
            out += (match * (count // back + 1))[:count]  # a match may reach into itself
    except IndexError:
        raise PackingError from None


def _length(block: bytes, at: int, begin: int) -> tuple[int, int]:
    """A length that goes on in further bytes if it begins with 15; and where what follows is."""
    if begin == 15:
        while block[at] == 255:
            begin, at = begin + 255, at + 1
        begin, at = begin + block[at], at + 1
    return begin, at


def unpack_integers(packed: bytes, count: int) -> np.ndarray:
    """(count,) int32"""
    if count == 0:
        return np.empty(0, np.int32)
    codes_size = (count + 3) // 4
    content = unpack_bytes(packed, 4 + codes_size + 4 * count)
    if len(content) < 4 + codes_size:
        raise PackingError
    common = np.frombuffer(content, "<i4", 1)[0]
    bits = np.frombuffer(content, np.uint8, codes_size, 4)
    codes = (bits[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).reshape(-1)[:count]
    sizes = np.array([0, 1, 2, 4])[codes]
    if len(content) != 4 + codes_size + sizes.sum():
        raise PackingError
    places = 4 + codes_size + np.cumsum(sizes) - sizes
    differences = np.full(count, common, np.int64)
    for code, kind in ((1, np.dtype("<i1")), (2, np.dtype("<i2")), (3, np.dtype("<i4"))):
        at = places[codes == code]
        rows = np.frombuffer(content, np.uint8)[at[:, None] + np.arange(kind.itemsize)]
        differences[codes == code] = rows.view(kind).reshape(-1)
    return np.cumsum(differences).astype(np.int32)
