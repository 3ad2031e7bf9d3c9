"""Files made by code that expand to far more than they are, or that reach for files elsewhere.

python -m tests.io.hostile FOLDER        writes all of them, for use with the command line
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.io.broken_surfaces import glb, gltf
from tests.io.broken_usd import USDA
from tests.io.broken_volumes import HDF, RAW, VTK, VTU, ZLIB

MESH = USDA.partition("\n")[2]
BOMBS: dict[str, tuple[Callable[[Path], None], str]] = {}  # name of the file: what makes it, packages that it needs
WAYS_OUT: dict[str, tuple[Callable[[Path], None], str]] = {}


def bomb(name: str, needs: str = ""):
    def register(make: Callable[[Path], None]) -> Callable[[Path], None]:
        BOMBS[name] = make, needs
        return make

    return register


def way_out(name: str, needs: str = ""):
    """`make` finds the folder ../secret beside that of the file, with a file of each format that is sound."""

    def register(make: Callable[[Path], None]) -> Callable[[Path], None]:
        WAYS_OUT[name] = make, needs
        return make

    return register


def nested_references(levels: int, width: int = 4) -> str:
    """Each prim holds `width` copies of the one before: width ** levels meshes."""
    text = "#usda 1.0\n" + MESH.replace('"m"', '"a0"')
    for level in range(1, levels + 1):
        copies = "".join(f'def "{chr(97 + i)}" (references = </a{level - 1}>) {{}}\n' for i in range(width))
        text += f'def "a{level}" {{\n{copies}}}\n'
    return text


@bomb("nested.usda", "pxr")
def _nested(path):
    path.write_text(nested_references(11), "utf-8")


@bomb("refund.usda", "pxr")
def _refund(path):
    """Value clips from a late time to an early one: fewer than none, for which nothing is given back."""
    numbers = "double templateStartTime = 1e15\ndouble templateEndTime = 0\ndouble templateStride = 1"
    template = f'string templateAssetPath = "./clip.#.usda"\n{numbers}'
    clip = f'def "refund" (\nclips = {{\ndictionary default = {{\n{template}\n}}\n}}\n) {{}}\n'
    path.write_text(nested_references(8) + clip, "utf-8")


@bomb("nested_files.usda", "pxr")
def _nested_files(path):
    """The same across files, by payloads, sublayers and variants."""
    lines = [f'def "{chr(97 + i)}" (payload = @next_{{}}.usda@</top>) {{{{}}}}' for i in range(4)]
    for level in range(12):
        inside = "\n".join(lines).format(*[level + 1] * 4) if level < 11 else MESH
        inside = inside if level % 3 else f'variantSet "v" = {{\n"x" {{\n{inside}\n}}\n}}'
        head = '(\nvariants = { string v = "x" }\nprepend variantSets = "v"\n)' if "variantSet" in inside else ""
        name = path.name if level == 0 else f"next_{level}.usda"
        sub = "(subLayers = [@sub.usda@])\n" if level == 0 else ""
        path.with_name(name).write_text(f'#usda 1.0\n{sub}def "top" {head} {{\n{inside}\n}}\n', "utf-8")
    path.with_name("sub.usda").write_text("#usda 1.0\n", "utf-8")


@bomb("inherited.usda", "pxr")
def _inherited(path):
    text = "#usda 1.0\n" + MESH.replace("def Mesh", "class Mesh").replace('"m"', '"c0"')
    for level in range(1, 12):
        copies = "".join(f'def "{chr(97 + i)}" (inherits = </c{level - 1}>) {{}}\n' for i in range(4))
        text += f'class "c{level}" {{\n{copies}}}\n'
    path.write_text(text + 'def "all" (inherits = </c11>) {}\n', "utf-8")


@bomb("nested.usdz", "pxr")
def _nested_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.usda", nested_references(11))


@bomb("copies.usda", "pxr")
def _copies(path):
    """Few prims, but each shows a mesh that has many points."""
    points = ", ".join(["(0, 0, 0)"] * 20000)
    mesh = MESH.replace('"m"', '"a0"').replace("(0, 0, 0), (1, 0, 0), (0, 1, 0)", points)
    path.write_text(nested_references(5).replace(MESH.replace('"m"', '"a0"'), mesh), "utf-8")


@bomb("zlib.vtu")
def _compressed(path):
    """Announced as it is, and in proportion that zlib can reach."""
    size, megabytes = 2**20, 7000
    block = zlib.compress(bytes(size), 9)
    head = struct.pack(f"<{3 + megabytes}Q", megabytes, size, 0, *[len(block)] * megabytes)
    data = (base64.b64encode(head) + base64.b64encode(block * megabytes)).decode()
    path.write_text(VTU.format(ZLIB, "binary", data).replace('Points="3"', f'Points="{size * megabytes // 24}"'))


@bomb("lzma.vtu")
def _lzma(path):
    import lzma

    size, blocks = 2**24, 60
    block = lzma.compress(bytes(size))
    head = struct.pack(f"<{3 + blocks}Q", blocks, size, 0, *[len(block)] * blocks)
    data = (base64.b64encode(head) + base64.b64encode(block * blocks)).decode()
    text = VTU.format(' compressor="vtkLZMADataCompressor"', "binary", data)
    path.write_text(text.replace('Points="3"', f'Points="{size * blocks // 24}"'))


@bomb("pieces.vtu")
def _pieces(path):
    """One array, appended, that every piece has for its own."""
    count, times = 20_000, 700
    data = struct.pack("<Q", 24 * count) + bytes(24 * count)
    head, _, tail = VTU.format("", "appended", "").partition("<Piece")
    piece = "<Piece" + tail.rpartition("</UnstructuredGrid>")[0]
    piece = piece.replace('Points="3"', f'Points="{count}"').replace(
        'format="appended"', 'format="appended" offset="0"'
    )
    begin = head + piece * times + '</UnstructuredGrid><AppendedData encoding="raw">_'
    path.write_bytes(begin.encode() + data + b"</AppendedData></VTKFile>")


@bomb("zeros.npz")
def _zeros(path):
    import numpy as np

    member = np.lib.format.header_data_from_array_1_0(np.empty((0, 3)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("objects", "faces", "tetra", "frames"):  # each below what is held at once
            with archive.open(f"{name}.npy", "w") as file:
                shape = {"frames": (8, 10**6, 3), "faces": (8 * 10**6, 3), "tetra": (6 * 10**6, 4)}.get(name, (10**6,))
                np.lib.format.write_array_header_1_0(file, {**member, "shape": shape})
                left = 8 * int(np.prod(shape))
                while left:
                    left -= file.write(bytes(min(left, 2**24)))


@bomb("accessors.glb")
def _accessors(path):
    """One view of a few hundred kilobytes, read as another accessor each time."""
    count, times = 30_000, 1000
    accessors = [{"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3"}] * times
    meshes = [{"primitives": [{"attributes": {"POSITION": i}}]} for i in range(times)]
    whole = gltf(accessors=accessors, meshes=meshes, nodes=[{"mesh": i} for i in range(times)])
    whole["bufferViews"] = [{"buffer": 0, "byteLength": 12 * count}]
    whole["buffers"] = [{"byteLength": 12 * count}]
    path.write_bytes(glb(whole, bytes(12 * count)))


@bomb("structured.vtk", "meshio")
def _structured(path):
    """Points that are not in the file at all, but follow from three numbers."""
    path.write_text(
        "# vtk DataFile Version 3.0\na\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 800 800 800\n"
        "ORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA 512000000\n"
    )


@bomb("set.inp", "meshio")
def _set(path):
    """Three numbers that stand for a list."""
    deck = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n*ELEMENT, TYPE=S3\n1, 1, 2, 3\n"
    path.write_text(deck + "*NSET, NSET=a, GENERATE\n1, 2000000000, 1\n")


@bomb("again.k")
def _again(path):
    """A file that is included a thousand times."""
    path.with_name("nodes.k").write_text("*KEYWORD\n*NODE\n" + "$" * 400_000 + "\n" + "1,0,0,0\n" * 5 + "*END\n")
    path.write_text("*KEYWORD\n" + "*INCLUDE\nnodes.k\n" * 900 + "*END\n")


def zeros_packed(megabytes: int) -> bytes:
    """As zlib packs so many zeros: one block, which refers to nothing before it, over and over."""
    squeeze = zlib.compressobj(9, wbits=-15)
    block = squeeze.compress(bytes(2**20)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    check = (megabytes * 2**20 % 65521) << 16 | 1  # Adler-32 of zeros
    return b"\x78\xda" + megabytes * block + squeeze.flush() + check.to_bytes(4, "big")


@bomb("inflating.xdmf", "h5py")
def _inflating(path):
    """Chunks of a few kilobytes, of which one inflates to gigabytes."""
    import h5py

    bad = zeros_packed(3000)
    with h5py.File(path.with_name("a.h5"), "w") as file:
        data = file.create_dataset("x", (3, 3), "f8", chunks=(3, 3), compression="gzip")
        data.id.write_direct_chunk((0, 0), bad)
    path.write_text(HDF.format("a.h5"))


# Ways out of the folder: by names, and by symbolic links below it.


def secret(folder: Path) -> Path:
    """A folder beside the one of the hostile file."""
    found = folder.parent / "secret"
    found.mkdir(exist_ok=True)
    return found


def link(path: Path, target: Path) -> str:
    path.symlink_to(target)
    return path.name


CLIPS = """#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 3
)
def Mesh "m" (
    clips = {{
        dictionary default = {{
            {}
            string primPath = "/m"
            double2[] active = [(1, 0)]
            double2[] times = [(1, 1), (3, 3)]
        }}
    }}
)
{{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points
}}
"""
CLIP = """#usda 1.0
def Mesh "m" {
    point3f[] points.timeSamples = { 1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], 3: [(0, 0, 7), (1, 0, 7), (0, 1, 7)] }
}
"""
MANIFEST = '#usda 1.0\nover "m" {\n    point3f[] points\n}\n'


def clips(path: Path, asset: str) -> None:
    (secret(path.parent) / "clip.1.usda").write_text(CLIP, "utf-8")
    path.with_name("manifest.usda").write_text(MANIFEST, "utf-8")
    path.write_text(CLIPS.format(f"{asset}\nasset manifestAssetPath = @manifest.usda@"), "utf-8")


@way_out("clips.usda", "pxr")
def _clips(path):
    clips(path, "asset[] assetPaths = [@../secret/clip.1.usda@]")


@way_out("template.usda", "pxr")
def _template(path):
    numbers = "double templateStartTime = 1\ndouble templateEndTime = 1\ndouble templateStride = 1"
    clips(path, f'string templateAssetPath = "../secret/clip.#.usda"\n{numbers}')


@way_out("clip_link.usda", "pxr")
def _clip_link(path):
    clips(path, "asset[] assetPaths = [@clip.1.usda@]")
    link(path.with_name("clip.1.usda"), secret(path.parent) / "clip.1.usda")


@way_out("expression.usda", "pxr")
def _expression(path):
    (secret(path.parent) / "m.usda").write_text(USDA, "utf-8")
    variables = '( expressionVariables = { string WHERE = "../secret" } )'
    arc = 'def "a" (references = @`"${WHERE}/m.usda"`@</m>) {}'
    path.write_text(f"#usda 1.0\n{variables}\n{arc}\n", "utf-8")


@way_out("layer_link.usda", "pxr")
def _layer_link(path):
    (secret(path.parent) / "m.usda").write_text(USDA, "utf-8")
    name = link(path.with_name("m.usda"), secret(path.parent) / "m.usda")
    path.write_text(f'#usda 1.0\ndef "a" (references = @{name}@</m>) {{}}\n', "utf-8")


def _buffered(path: Path, uri: str) -> None:
    whole = gltf()
    whole["buffers"][0]["uri"] = uri
    path.write_text(json.dumps(whole))


@way_out("buffer_link.gltf")
def _buffer_link(path):
    (secret(path.parent) / "a.bin").write_bytes(buffer_of_gltf())
    _buffered(path, link(path.with_name("a.bin"), secret(path.parent) / "a.bin"))


@way_out("folder_link.gltf")
def _folder_link(path):
    (secret(path.parent) / "a.bin").write_bytes(buffer_of_gltf())
    _buffered(path, link(path.with_name("sub"), secret(path.parent)) + "/a.bin")


def buffer_of_gltf() -> bytes:
    """The binary chunk of a sound GLB."""
    whole = glb(gltf())
    (length,) = struct.unpack_from("<I", whole, 12)
    return whole[28 + length :]


@way_out("include_link.k")
def _include_link(path):
    (secret(path.parent) / "n.k").write_text("*KEYWORD\n*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n*END\n")
    name = link(path.with_name("n.k"), secret(path.parent) / "n.k")
    path.write_text(f"*KEYWORD\n*INCLUDE\n{name}\n*ELEMENT_SHELL\n1,1,1,2,3,3\n*END\n")


@way_out("include.inp", "meshio")
def _include_deck(path):
    deck = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n*ELEMENT, TYPE=S3\n1, 1, 2, 3\n"
    (secret(path.parent) / "n.inp").write_text(deck)
    path.write_text("*INCLUDE, INPUT=../secret/n.inp\n")


@way_out("hdf_link.xdmf", "h5py")
def _hdf_link(path):
    import h5py

    with h5py.File(secret(path.parent) / "a.h5", "w") as file:
        file["x"] = [[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]
    path.write_text(HDF.format(link(path.with_name("a.h5"), secret(path.parent) / "a.h5")))


@way_out("raw_link.xdmf")
def _raw_link(path):
    (secret(path.parent) / "a.bin").write_bytes(struct.pack("<9d", 0, 0, 0, 1, 0, 0, 0, 1, 0))
    path.write_text(RAW.format(link(path.with_name("a.bin"), secret(path.parent) / "a.bin")))


@way_out("entry_link.pvd", "meshio")
def _entry_link(path):
    (secret(path.parent) / "a.vtk").write_text(VTK)
    name = link(path.with_name("a.vtk"), secret(path.parent) / "a.vtk")
    entry = f'<DataSet timestep="0" file="{name}"/>'
    path.write_text(f'<VTKFile type="Collection"><Collection>{entry}</Collection></VTKFile>')


@way_out("include_link.veg")
def _veg_link(path):
    (secret(path.parent) / "n.veg").write_text("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
    name = link(path.with_name("n.veg"), secret(path.parent) / "n.veg")
    path.write_text(f"*VERTICES\n*INCLUDE {name}\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n")


@way_out("beside.node")
def _beside(path):
    (secret(path.parent) / "beside.ele").write_text("1 4 0\n1 1 2 3 4\n")
    path.write_text("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
    link(path.with_name("beside.ele"), secret(path.parent) / "beside.ele")


@way_out("cache.pc2")
def _cache(path):
    (secret(path.parent) / "cache.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    path.write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 3, 0, 1, 1) + struct.pack("<9f", *range(9)))
    link(path.with_name("cache.obj"), secret(path.parent) / "cache.obj")


def main(folder: Path) -> None:
    for name, (make, _) in {**BOMBS, **WAYS_OUT}.items():
        own = folder / name.replace(".", "_") / "files"
        own.mkdir(parents=True)
        make(own / name)
        print(f"{(own / name).stat().st_size:10,} bytes  {own / name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
