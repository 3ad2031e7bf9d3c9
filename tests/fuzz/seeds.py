"""Sound files of every format that is read, small: what is damaged."""

from __future__ import annotations

import base64
import gzip
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant import io as pio
from tests.io.broken_surfaces import SOLID
from tests.io.broken_volumes import HDF, RAW, VTU, ZLIB
from tests.io.hostile import CLIP, MANIFEST, clips, nested_references
from tests.io.packages import DAE, MESH, TURNED, archive, model
from tests.io.usd_texts import LAYER, PARTS, SHAPES, TEMPLATE
from tests.io.written import FACES, SOLIDS, points, sequence
from tests.shapes.rigs import simple

READ, FRAMES, CHARACTER = "read", "frames", "character"


class Seed(NamedTuple):
    """Files that belong together. The first is the one that is opened; any of them is damaged."""

    name: str
    files: dict[str, bytes]
    ways: tuple[str, ...]


def seeds(folder: Path) -> list[Seed]:
    """All that can be made with the packages that are there."""
    found = []
    for number, (name, make, ways) in enumerate(_plans()):
        own = folder / str(number)
        own.mkdir(parents=True)
        path = own / name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                make(path)
            except ImportError:
                continue
        files = {str(one.relative_to(own)): one.read_bytes() for one in sorted(own.rglob("*")) if one.is_file()}
        found.append(Seed(name, {name: files.pop(name), **files}, ways))
    return found


def _plans() -> Iterator[tuple[str, Callable[[Path], object], tuple[str, ...]]]:
    x = points()
    for ending in ("obj", "ply", "off", "stl", "inp", "mesh", "msh", "med", "vtk"):
        yield f"surface.{ending}", lambda path: pio.write(path, x, FACES), (READ,)
    for ending in ("vtu", "k", "msh", "med", "vtk", "xdmf", "mesh"):
        yield f"solids.{ending}", lambda path: pio.write(path, x, SOLIDS), (READ,)
    for ending in ("glb", "usda", "usdc", "npz"):
        yield f"surface.{ending}", lambda path: pio.write(path, x, FACES), (READ, FRAMES)
    for ending in ("npz", "pc2", "mdd", "pvd", "xdmf", "usda", "usdc", "usd"):
        yield f"frames.{ending}", _sequence, (FRAMES,)
    yield "text.ply", _text_ply, (READ,)
    yield "text.stl", lambda path: path.write_text(SOLID), (READ,)
    yield "packed.vtu", _packed_vtu, (READ,)
    yield "raw.vtp", _raw_vtp, (READ,)
    yield "packed.obj.gz", lambda path: _packed(path, "obj"), (READ,)
    yield "packed.npz.gz", lambda path: _packed(path, "npz"), (READ, FRAMES)
    yield "deflated.npz", lambda path: np.savez_compressed(path, frames=x[None], faces=FACES, times=[0.0]), (FRAMES,)
    yield "tables.node", _tables, (READ,)
    yield "solids.veg", _vega, (READ,)
    yield "gmsh1.msh", _gmsh1, (READ,)
    yield "deck.k", _deck, (READ,)
    yield "raw.xdmf", _raw_xdmf, (READ, FRAMES)
    yield "hdf.xdmf", _hdf_xdmf, (READ, FRAMES)
    yield "rig.glb", lambda path: simple().write(path.parent, path.name), (READ, FRAMES, CHARACTER)
    yield "rig.gltf", lambda path: path.write_text(simple().gltf()), (FRAMES, CHARACTER)
    for ending in ("usda", "usdc", "usdz"):
        yield f"skin.{ending}", lambda path: _usd(path, TEMPLATE.format(**{**PARTS, "shapes": SHAPES})), (FRAMES,)
        yield f"nested.{ending}", lambda path: _usd(path, nested_references(2)), (READ,)
    yield "layers.usda", _layers, (READ,)
    yield "clips.usda", _clips, (FRAMES,)
    yield "archive.usdz", _archive, (READ,)
    shown = '<item objectid="2"/>', f'<item objectid="1" transform="{TURNED}"/>'
    objects = (
        f'<object id="1">{MESH}</object><object id="2"><components><component objectid="1"/></components></object>'
    )
    yield "built.3mf", lambda path: archive(path, {"3D/3dmodel.model": model(objects, "".join(shown))}), (READ,)
    yield "scene.dae", _collada, (READ,)
    yield "d3plot", _d3plot, (READ, FRAMES)


def _sequence(path: Path) -> None:
    frames = sequence()
    pio.write_sequence(path, frames)
    if path.suffix in (".pc2", ".mdd"):
        pio.write(path.with_suffix(".obj"), frames[0], frames.faces)


def _text_ply(path: Path) -> None:
    head = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    path.write_text(head + "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")


def _packed_vtu(path: Path) -> None:
    raw = points()[:3].astype("<f8").tobytes()
    block = zlib.compress(raw)
    head = struct.pack("<4Q", 1, len(raw), 0, len(block))
    path.write_text(VTU.format(ZLIB, "binary", (base64.b64encode(head) + base64.b64encode(block)).decode()))


def _raw_vtp(path: Path) -> None:
    def array(name: str, kind: str, offset: int, more: str = "") -> str:
        return f'<DataArray type="{kind}" Name="{name}" format="appended" offset="{offset}"{more}/>'

    parts = [points()[:3].astype("<f8").tobytes(), struct.pack("<3q", 0, 1, 2), struct.pack("<q", 3)]
    body = b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    begins = [0, 8 + len(parts[0]), 16 + len(parts[0]) + len(parts[1])]
    polys = array("connectivity", "Int64", begins[1]) + array("offsets", "Int64", begins[2])
    corners = array("Points", "Float64", 0, ' NumberOfComponents="3"')
    text = (
        '<VTKFile type="PolyData" byte_order="LittleEndian" header_type="UInt64"><PolyData>'
        '<Piece NumberOfPoints="3" NumberOfPolys="1"><Points>'
        f"{corners}</Points><Polys>{polys}</Polys></Piece></PolyData>"
        '<AppendedData encoding="raw">_'
    )
    path.write_bytes(text.encode() + body + b"</AppendedData></VTKFile>")


def _packed(path: Path, ending: str) -> None:
    plain = path.with_name(f"plain.{ending}")
    pio.write(plain, points(), FACES)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()


def _tables(path: Path) -> None:
    path.write_text("5 3 0 0\n" + "".join(f"{i} {i % 2} {i % 3} {i * 0.5}\n" for i in range(1, 6)))
    path.with_suffix(".ele").write_text("2 4 0\n1 1 2 3 4\n2 2 3 4 5\n")


def _vega(path: Path) -> None:
    path.with_name("nodes.veg").write_text("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
    path.write_text("# a\n*VERTICES\n*INCLUDE nodes.veg\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n")


def _gmsh1(path: Path) -> None:
    path.write_text("$NOD\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$ENDNOD\n$ELM\n1\n1 2 1 1 3 1 2 3\n$ENDELM\n")


def _deck(path: Path) -> None:
    path.with_name("nodes.k").write_text("*KEYWORD\n*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*END\n")
    path.write_text("*KEYWORD\n*INCLUDE\nnodes.k\n*ELEMENT_SHELL\n1,1,1,2,3,3\n*ELEMENT_SOLID\n1,1\n1,2,3,4\n*END\n")


def _raw_xdmf(path: Path) -> None:
    path.with_name("a.bin").write_bytes(points()[:3].astype("<f8").tobytes())
    path.write_text(RAW.format("a.bin"))


def _hdf_xdmf(path: Path) -> None:
    import h5py

    with h5py.File(path.with_name("a.h5"), "w") as file:
        file.create_dataset("x", data=points()[:3], chunks=(3, 3), compression="gzip", shuffle=True)
    path.write_text(HDF.format("a.h5"))


def _usd(path: Path, text: str) -> None:
    from pxr import Sdf, UsdUtils

    plain = path.with_suffix(".usda")
    plain.write_text(text, "utf-8")
    if path.suffix == ".usdc":
        Sdf.Layer.FindOrOpen(str(plain)).Export(str(path))
        plain.unlink()
    elif path.suffix == ".usdz":
        UsdUtils.CreateNewUsdzPackage(str(plain), str(path))
        plain.unlink()


def _layers(path: Path) -> None:
    part = '#usda 1.0\n( defaultPrim = "x" )\n' + nested_references(0).partition("\n")[2].replace('"a0"', '"x"')
    for name in ("sub", "reference", "payload", "variant", "deep"):
        _usd(path.with_name(f"{name}.usda"), part)
    path.write_text(LAYER, "utf-8")


def _clips(path: Path) -> None:
    clips(path, "asset[] assetPaths = [@clip.1.usda@]")
    path.with_name("clip.1.usda").write_text(CLIP, "utf-8")
    path.with_name("manifest.usda").write_text(MANIFEST, "utf-8")


def _archive(path: Path) -> None:
    """Binary and text, one of which refers to the other."""
    inner = path.with_name("m.usdc")
    _usd(inner, nested_references(1))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.usda", '#usda 1.0\ndef "a" (references = @m.usdc@</a1>) {}\n')
        archive.write(inner, "m.usdc")
    inner.unlink()


def _collada(path: Path) -> None:
    import collada

    assert collada
    path.write_text(DAE, "utf-8")


def _d3plot(path: Path) -> None:
    from lasso.dyna import ArrayType, D3plot

    plot, x = D3plot(), points(8).astype(np.float32)
    plot.arrays[ArrayType.node_coordinates] = x
    plot.arrays[ArrayType.node_displacement] = np.stack([x, x + 1, x + 2])
    plot.arrays[ArrayType.global_timesteps] = np.arange(3, dtype=np.float32)
    plot.arrays[ArrayType.element_shell_node_indexes] = np.array([[0, 1, 2, 3], [4, 5, 6, 6]])
    plot.arrays[ArrayType.element_shell_part_indexes] = np.zeros(2, int)
    plot.write_d3plot(str(path))
