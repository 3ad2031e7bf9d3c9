"""Binary USD before usd-core sees it: sections lie in the file, and announce no more than they could hold.

usd-core believes these numbers: with one wrong byte it asked for gigabytes, and took minutes.
"""

from __future__ import annotations

import struct
from pathlib import Path

from .mesh import FileError

_MAGIC = b"PXR-USDC"
_SECTION = struct.Struct("<16sqq")
_MOST_SECTIONS = 64
# Whole numbers take a quarter of a byte at least, and what holds them shrinks 255 times at most.
_MOST_EXPANSION = 1024
_COUNTED = (b"TOKENS", b"STRINGS", b"FIELDS", b"FIELDSETS", b"PATHS", b"SPECS")


def require_sound(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(8) != _MAGIC:
            return
        try:
            file.seek(16)
            (contents,) = struct.unpack("<q", file.read(8))
            _require(path, 24 <= contents <= size - 8)
            file.seek(contents)
            (count,) = struct.unpack("<Q", file.read(8))
            _require(path, count <= min(_MOST_SECTIONS, (size - contents - 8) // _SECTION.size))
            sections = [_SECTION.unpack(file.read(_SECTION.size)) for _ in range(count)]
            for name, begin, length in sections:
                _require(path, 0 <= begin <= size and 0 <= length <= size - begin)
                file.seek(begin)
                _require_countable(path, name.rstrip(b"\0"), length, file.read(min(length, 40)))
        except struct.error:
            raise FileError(f"{path.name}: usd-core cannot read it (cut off)") from None


def _require_countable(path: Path, name: bytes, length: int, head: bytes) -> None:
    """Numbers at the begin of a section: how many entries, and how many bytes they take, compressed or not."""
    if name not in _COUNTED:
        return
    wanted = {b"TOKENS": 3, b"STRINGS": 1, b"PATHS": 3}.get(name, 2)
    numbers = struct.unpack(f"<{wanted}Q", head[: 8 * wanted])
    _require(path, max(numbers) <= _MOST_EXPANSION * length)
    if wanted > 1:
        _require(path, numbers[-1] <= length)


def _require(path: Path, holds: bool) -> None:
    if not holds:
        raise FileError(f"{path.name}: usd-core cannot read it (a section is not in the file, or announces too much)")
