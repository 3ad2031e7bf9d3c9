"""Binary USD before usd-core sees it: what is declared is in the file, or could be.

usd-core believes the numbers in a file: with one wrong byte it asked for gigabytes, and took a minute. What is looked
at here is all that it allocates, or reads in a loop: sections, the tree of paths, and values (`usd_values`).
"""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from pliant.io.mesh import FileError
from pliant.io.usd_packing import PackingError, unpack_bytes, unpack_integers
from pliant.io.usd_values import Unsound, Values, require

_MAGIC, _ZIP_MAGIC = b"PXR-USDC", b"PK\3\4"
_SECTION = struct.Struct("<16sqq")
_MOST_SECTIONS = 64
_FIRST_PACKED = 4  # from that version on sections are packed; before, they are as they are in memory


def require_sound(path: Path) -> None:
    """A file that is not binary USD is sound: usd-core reads text, and says where it is wrong."""
    with path.open("rb") as file:
        try:
            magic = file.read(8)
            if magic == _MAGIC:
                _require_sound(file, 0, path.stat().st_size)
            elif magic.startswith(_ZIP_MAGIC):
                _require_sound_members(file)
        except (Unsound, PackingError, struct.error):
            raise FileError(f"{path.name}: usd-core cannot read it (damaged, or cut off)") from None
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, OSError, OverflowError) as error:
            raise FileError(f"{path.name}: usd-core cannot read it ({error})") from None


def _require_sound_members(file: IO[bytes]) -> None:
    """Of a .usdz, whose files are stored as they are."""
    for member in zipfile.ZipFile(file).infolist():
        file.seek(member.header_offset + 26)
        begin = member.header_offset + 30 + sum(struct.unpack("<HH", file.read(4)))
        file.seek(begin)
        if file.read(8) == _MAGIC:
            _require_sound(file, begin, member.file_size)


def _require_sound(file: IO[bytes], begin: int, size: int) -> None:
    require(size <= file.seek(0, io.SEEK_END) - begin)
    (version,) = Values(file, begin, size, 0).read(9, 1)
    values = Values(file, begin, size, version)
    contents = values.number(16)
    count = values.number(contents)
    require(count <= _MOST_SECTIONS)
    for name, start, length in _SECTION.iter_unpack(values.read(contents + 8, count * _SECTION.size)):
        _look_at(name.partition(b"\0")[0], values.read(start, length), version, values)


def _look_at(name: bytes, section: bytes, version: int, values: Values) -> None:
    """What comes first in a section is how many entries it has."""
    if name not in (b"TOKENS", b"STRINGS", b"FIELDS", b"FIELDSETS", b"PATHS", b"SPECS"):
        return
    (count,) = struct.unpack_from("<Q", section)
    if name == b"STRINGS":
        require(4 * count <= len(section) - 8)
    elif version < _FIRST_PACKED:
        require(count <= len(section))
        if name == b"FIELDS":
            _follow_all(section[8:], 16, count, values)
    elif name == b"TOKENS":
        size, packed_size = struct.unpack_from("<QQ", section, 8)
        require(packed_size <= len(section) - 24)
        require(count <= size == len(unpack_bytes(section[24 : 24 + packed_size], size)))
    elif name == b"FIELDS":
        at = _integers(section, 8, count)[1]
        (packed_size,) = struct.unpack_from("<Q", section, at)
        require(packed_size <= len(section) - at - 8)
        _follow_all(unpack_bytes(section[at + 8 : at + 8 + packed_size], 8 * count), 8, count, values)
    elif name == b"FIELDSETS":
        _integers(section, 8, count)
    elif name == b"SPECS":
        at = 8
        for _ in range(3):
            at = _integers(section, at, count)[1]
    else:
        _require_tree(section, count)


def _follow_all(fields: bytes, size: int, count: int, values: Values) -> None:
    """The last eight bytes of a field stand for its value."""
    require(size * count <= len(fields))
    words = np.frombuffer(fields, np.uint64, size // 8 * count).reshape(count, size // 8)[:, -1]
    for word in words.tolist():
        values.follow(word)


def _require_tree(section: bytes, count: int) -> None:
    """Each path is the next of at most one other: usd-core goes all ways, twice as many after each that is not so."""
    (encoded,) = struct.unpack_from("<Q", section, 8)
    require(encoded <= count <= encoded + 1)  # the empty path, of a reference that names no prim, is counted alone
    _, at = _integers(section, 16, encoded)
    _, at = _integers(section, at, encoded)
    jumps, _ = _integers(section, at, encoded)
    here = np.arange(encoded)
    ways = np.concatenate([here[jumps >= -1] + 1, (here + jumps)[jumps > 0]])  # below or beside; beside, where both are
    require(len(np.unique(ways)) == len(ways))


def _integers(section: bytes, at: int, count: int) -> tuple[np.ndarray, int]:
    """Whole numbers, and where what follows them begins."""
    (size,) = struct.unpack_from("<Q", section, at)
    require(size <= len(section) - at - 8)
    # A byte for four of them, and 255 bytes in one, is the best that packing can do. Of millions, which take 40 bytes
    # each here, no file has all alike.
    require(count <= min(1024 * (size + 1), max(2**22, 4 * size)))
    return unpack_integers(section[at + 8 : at + 8 + size], count), at + 8 + size
