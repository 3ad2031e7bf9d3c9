"""How a file is damaged: by chance, but in ways that reach far into a reader."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import struct
import zipfile
import zlib

import numpy as np

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORDS = (
    b"0", b"-1", b"1", b"3", b"255", b"65536", b"2147483647", b"4294967296", b"99999999999999999999", b"nan", b"1e308",
    b"1e-400",
)  # fmt: skip
_LARGE = (
    0, 1, 2, 127, 255, 256, 2**15, 2**16 - 1, 2**24, 2**28, 2**31 - 1, 2**31, 2**32 - 1, 2**48, 2**63 - 1, 2**64 - 1,
)  # fmt: skip
_HOLDERS = (b"\x1f\x8b", b"PK\3\4", b"glTF")
_MIDDLE = b'\0\n\r ,;:/\\"<>{}[]()@#*$%&=+-.eE_\x7f\x80\xff'


def damaged(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """One to four kinds of damage, one after the other; `other` is a sound file that parts are taken from."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        if content and content.startswith(_HOLDERS) and rng.random() < 0.7:
            content = _inside(content, rng, other)
        elif content:
            content = _WAYS[int(rng.integers(len(_WAYS)))](content, rng, other)
    return content


def _place(content: bytes, rng: np.random.Generator, room: int = 1) -> int:
    """Anywhere, and more often near the begin, where headers are."""
    most = max(len(content) - room, 0) + 1
    return int(rng.integers(most)) if rng.random() < 0.6 else int(rng.integers(min(most, 256)))


def _bits(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        changed[_place(content, rng)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _copy(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """A block once more, somewhere else; in place of what is there, or between."""
    size = int(rng.integers(1, min(len(content), 200) + 1))
    a, b = _place(content, rng, size), _place(content, rng)
    keep = b if rng.random() < 0.5 else b + size
    return content[:b] + content[a : a + size] * int(rng.choice([1, 1, 2, 50])) + content[keep:]


def _remove(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    a = _place(content, rng)
    return content[:a] + content[a + int(rng.integers(1, 40)) :]


def _number(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """One that is written out."""
    found = list(_NUMBER.finditer(content))
    if not found:
        return _integer(content, rng, other)
    match = found[int(rng.integers(len(found)))]
    return content[: match.start()] + _WORDS[int(rng.integers(len(_WORDS)))] + content[match.end() :]


def _integer(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """A length, a count or an offset of two, four or eight bytes; mostly where one could be."""
    kind = str(rng.choice(["<H", "<I", "<Q", ">I", ">Q"]))
    size = struct.calcsize(kind)
    a = _place(content, rng, size)
    a -= a % size if rng.random() < 0.7 else 0
    value = _LARGE[int(rng.integers(len(_LARGE)))]
    if rng.random() < 0.4 and a + size <= len(content):  # near to what is there
        value = struct.unpack_from(kind, content, a)[0] + int(rng.integers(-4, 5))
    return content[:a] + struct.pack(kind, value % 2 ** (8 * size)) + content[a + size :]


def _splice(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """A part of another file."""
    if not other:
        return content
    size = int(rng.integers(1, min(len(other), 400) + 1))
    a, b = int(rng.integers(len(other) - size + 1)), _place(content, rng)
    return content[:b] + other[a : a + size] + content[b + (size if rng.random() < 0.7 else 0) :]


def _marks(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """Signs that mean something in texts."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        a = _place(content, rng)
        changed[a : a + int(rng.integers(2))] = bytes([_MIDDLE[int(rng.integers(len(_MIDDLE)))]])
    return bytes(changed)


def _lines(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    lines = content.split(b"\n")
    a, b = (int(i) for i in rng.integers(len(lines), size=2))
    if rng.random() < 0.5:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        lines.insert(a, lines[b])
    return b"\n".join(lines)


def _inside(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """Damage to a part of what holds it, with sums and lengths that are right again: else hardly any goes further."""
    if content.startswith(b"\x1f\x8b"):
        with contextlib.suppress(OSError, EOFError, zlib.error):
            return gzip.compress(damaged(gzip.decompress(content), rng, other), 1)
    if content.startswith(b"PK\3\4"):
        with contextlib.suppress(
            zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, struct.error
        ):
            return _member(content, rng, other)
    if content.startswith(b"glTF") and len(content) > 28:
        return _chunk(content, rng, other)
    return _bits(content, rng, other)


def _member(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(out, "w") as after:
        infos = before.infolist()
        chosen = int(rng.integers(len(infos))) if infos else -1
        for number, info in enumerate(infos):
            part = before.read(info)
            name = zipfile.ZipInfo(info.filename)
            name.compress_type = info.compress_type
            name.extra = info.extra
            after.writestr(name, damaged(part, rng, other) if number == chosen else part)
    return out.getvalue()


def _chunk(content: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    (size,) = struct.unpack_from("<I", content, 12)
    text, rest = content[20 : 20 + size], content[28 + size :]
    if rng.random() < 0.7:
        text = damaged(text, rng, other)
    else:
        rest = damaged(rest, rng, other)
    text += b" " * (-len(text) % 4)
    rest += b"\0" * (-len(rest) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(rest))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(rest), b"BIN\0") + rest


_WAYS = (_bits, _bits, _cut, _copy, _remove, _number, _number, _integer, _integer, _splice, _marks, _lines, _inside)
