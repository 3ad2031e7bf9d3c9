"""Broken USD: text, and binary files with damage that held usd-core for a minute, filled the memory, or crashed it."""

import struct
import zipfile

import numpy as np

import pliant
from pliant import io as pio
from tests.io.broken import broken

USDA = """#usda 1.0
def Mesh "m" {
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
}
"""
broken("noise.usda", "usd-core cannot read it", "#usda 1.0\ndef Mesh {{{", needs="pxr")
broken("magic.usdc", "usd-core cannot read it", b"PXR-USDX" + b"\0" * 200, needs="pxr")
RATE = USDA.replace("1.0", "1.0\n(timeCodesPerSecond = 0)").replace("points = ", "points.timeSamples = {1: ")
broken("rate.usda", "a time is not finite", RATE.replace("0)]\n", "0)]}\n"), needs="pxr", frames=True)
broken("empty_stage.usda", "no meshes", "#usda 1.0\n", needs="pxr")
broken("beyond.usda", "refers to point 9", USDA.replace("1, 2]", "1, 9]"), needs="pxr")
broken("counts.usda", "do not make its 1 faces", USDA.replace("= [3]", "= [5]"), needs="pxr")
broken("nan.usda", "not finite", USDA.replace("(1, 0, 0)", "(nan, 0, 0)"), needs="pxr")


@broken("cut.usdc", "usd-core cannot read it", needs="pxr")
def _cut_crate(path):
    return crate(path)[:-40]


@broken("outside.usda", "outside of its folder", needs="pxr")
def _reference(path):
    path.parent.with_name("secret.usda").write_text(USDA.replace('"m"', '"s"'), "utf-8")
    return '#usda 1.0\ndef "a" (references = @../secret.usda@</s>) {}\n'


FRAMES = np.random.default_rng(0).normal(size=(20, 3, 3)).astype(np.float32)
TIMES = np.arange(20) * 24.0  # time codes


def crate(path):
    """A sound one, and large enough for its times to be packed if usd-core did so."""
    whole = path.with_name("whole.usdc")
    pio.write_sequence(whole, pliant.Sequence([[0, 1, 2]], FRAMES.astype(np.float64), times=np.arange(20.0)))
    return whole.read_bytes()


def changed(content, before, after):
    """Bytes that are there once, with others in their place."""
    assert content.count(before) == 1, content.count(before)
    assert len(before) == len(after)
    return content.replace(before, after)


def counted(count, rest):
    return struct.pack("<Q", count) + rest


def huge(content, rest, count, announced):
    return changed(content, counted(count, rest), counted(announced, rest))


@broken("points.usdc", "damaged", needs="pxr", frames=True)
def _points(path):
    """Of one frame: memory was allocated for 3 * 2^28 numbers, again and again."""
    return huge(crate(path), FRAMES[7].tobytes(), 3, 2**28)


@broken("corners.usdc", "damaged", needs="pxr")
def _corners(path):
    return huge(crate(path), struct.pack("<3i", 0, 1, 2), 3, 2**33)


@broken("times.usdc", "damaged", needs="pxr", frames=True)
def _times(path):
    return huge(crate(path), TIMES.tobytes(), 20, 2**30)


@broken("fewer_times.usdc", "damaged", needs="pxr", frames=True)
def _fewer_times(path):
    return huge(crate(path), TIMES.tobytes(), 20, 19)


@broken("jump.usdc", "damaged", needs="pxr", frames=True)
def _jump(path):
    """From the times to the values, which are read on from wherever that leads."""
    content = crate(path)
    at = content.index(counted(20, TIMES.tobytes())) - 8
    (length,) = struct.unpack_from("<q", content, at)
    assert 0 < length < len(content)
    return content[:at] + struct.pack("<q", -8) + content[at + 8 :]


@broken("names.usdc", "damaged", needs="pxr")
def _names(path):
    """Children of one name: composed in threads, they crashed the process."""
    content = crate(path)
    at = next(k for k in range(100) if counted(4, struct.pack("<4I", *range(k, k + 4))) in content)
    return huge(content, struct.pack("<4I", *range(at, at + 4)), 4, 4).replace(
        struct.pack("<4I", *range(at, at + 4)), struct.pack("<4I", at, at, at, at)
    )


def section_of(content, name):
    """Where a section begins."""
    (contents,) = struct.unpack_from("<q", content, 16)
    at = content.index(name.ljust(16, b"\0"), contents)
    return struct.unpack_from("<q", content, at + 16)[0]


def announce(name, says=2**40):
    """The first number in a section is how much there is."""

    def make(path):
        content = crate(path)
        at = section_of(content, name)
        return content[:at] + struct.pack("<Q", says) + content[at + 8 :]

    broken(f"{name.decode().lower()}.usdc", "damaged", needs="pxr")(make)


for section in (b"TOKENS", b"STRINGS", b"FIELDS", b"FIELDSETS", b"PATHS", b"SPECS"):
    announce(section)


@broken("damaged.usdz", "damaged", needs="pxr")
def _damaged_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.usdc", huge(crate(path), FRAMES[0].tobytes(), 3, 2**28))


@broken("offset.usdz", "usd-core cannot read it", needs="pxr")
def _offset(path):
    """The list of what is in it is said to be further behind than it is: files begin before the begin."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.usda", USDA)
    content = path.read_bytes()
    (place,) = struct.unpack_from("<I", content, len(content) - 6)
    return content[:-6] + struct.pack("<I", place + 1000) + content[-2:]


@broken("layers.usda", "other.usdc: usd-core cannot read it (damaged", needs="pxr")
def _layers(path):
    """Sound itself, and composed of a file that is not."""
    path.with_name("other.usdc").write_bytes(huge(crate(path), FRAMES[0].tobytes(), 3, 2**28))
    return '#usda 1.0\ndef "a" (references = @other.usdc@</mesh>) {}\n'
