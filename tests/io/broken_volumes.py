"""Broken VTU, VTK, MSH, MED, INP, LS-DYNA, VEGA, XDMF and d3plot."""

import base64
import struct
import zlib

from tests.io.broken import HUGE, broken

BOMB = '<?xml version="1.0"?>\n<!DOCTYPE b [<!ENTITY a0 "aaaaaaaaaaaaaaaa">' + "".join(
    f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10)
) + "]>\n"  # fmt: skip
VTU = """<VTKFile type="UnstructuredGrid" byte_order="LittleEndian" header_type="UInt64"{}><UnstructuredGrid>
<Piece NumberOfPoints="3" NumberOfCells="1"><Points>
<DataArray type="Float64" NumberOfComponents="3" format="{}">{}</DataArray></Points><Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">3</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">5</DataArray>
</Cells></Piece></UnstructuredGrid></VTKFile>
"""
TEXT = VTU.format("", "ascii", "0 0 0 1 0 0 0 1 0")


def packed(*parts):
    return base64.b64encode(b"".join(parts)).decode()


def sizes(*values):
    return struct.pack(f"<{len(values)}Q", *values)


broken("bomb.vtu", "its document type declares", BOMB + TEXT.replace("0 0 0 1", "&a9; 0 0 1"))
ENTITY = '<!DOCTYPE b [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n'
broken("entity.vtu", "its document type declares", ENTITY + TEXT.replace("0 0 0 1", "&x; 0 0 1"))
broken("cut.vtu", "is not XML", TEXT[:-60])
broken("noise.vtu", "is not XML", bytes(range(256)) * 20)
broken("many.vtu", "not 12000000000", TEXT.replace('NumberOfPoints="3"', f'NumberOfPoints="{HUGE}"'))
broken("negative.vtu", "NumberOfPoints=-3", TEXT.replace('NumberOfPoints="3"', 'NumberOfPoints="-3"'))
broken("many_cells.vtu", "not 4000000000", TEXT.replace('NumberOfCells="1"', f'NumberOfCells="{HUGE}"'))
broken("beyond.vtu", "triangle 0 refers to a point", TEXT.replace("0 1 2</", "0 1 9</"))
broken("huge_index.vtu", "triangle 0 refers to a point", TEXT.replace("0 1 2</", f"0 1 {2**62}</"))
broken("offsets.vtu", "offsets", TEXT.replace(">3<", ">9<"))
broken("nodes.vtu", "cell 0 is a tetra, but has 3 nodes", TEXT.replace(">5<", ">10<"))
broken("nan.vtu", "not finite", TEXT.replace("0 0 0 1", "nan 0 0 1"))
broken("type.vtu", "is not known", TEXT.replace("Float64", "Float128"))
broken("length.vtu", "declared", VTU.format("", "binary", packed(sizes(2**40), b"\0" * 72)))
ZLIB = ' compressor="vtkZLibDataCompressor"'
broken("many_blocks.vtu", "blocks are declared", VTU.format(ZLIB, "binary", packed(sizes(2**50, 72, 0, 9))))


def compressed_zeros(megabytes):
    squeeze = zlib.compressobj(1)
    return b"".join([squeeze.compress(bytes(2**20)) for _ in range(megabytes)]) + squeeze.flush()


@broken("bomb_in_block.vtu", "block 0 has not the 72 bytes")
def _lying_block(path):
    data = compressed_zeros(600)
    return VTU.format(ZLIB, "binary", packed(sizes(1, 72, 0, len(data))) + packed(data))


@broken("honest_bomb.vtu", "would become")
def _announced_block(path):
    data = zlib.compress(bytes(72))
    return VTU.format(ZLIB, "binary", packed(sizes(1, 2**33, 0, len(data))) + packed(data))


VTK = "# vtk DataFile Version 3.0\na\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 double\n0 0 0 1 0 0 0 1 0\n"
VTK += "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n"
broken("many.vtk", "4000000000 of something are declared", VTK.replace("POINTS 3", f"POINTS {HUGE}"), needs="meshio")
broken("cut.vtk", "cut.vtk", VTK[:-20], needs="meshio")
broken("magic.vtk", "meshio cannot read it", VTK[2:], needs="meshio")
broken("beyond.vtk", "refers to a point", VTK.replace("3 0 1 2", "3 0 1 9"), needs="meshio")
BINARY_VTK = VTK.replace("ASCII", "BINARY").encode()
broken("many_binary.vtk", "many_binary.vtk", BINARY_VTK.replace(b"POINTS 3", b"POINTS 4000000000"), needs="meshio")

MSH = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
MSH += "$Elements\n1\n1 2 2 0 0 1 2 3\n$EndElements\n"
broken("many.msh", "many.msh", MSH.replace("$Nodes\n3", f"$Nodes\n{HUGE}"), needs="meshio")
broken("many_elements.msh", "many_elements.msh", MSH.replace("$Elements\n1", f"$Elements\n{HUGE}"), needs="meshio")
broken("cut.msh", "cut.msh", MSH[:-30], needs="meshio")
broken("noise.msh", "noise.msh", bytes(range(256)) * 10, needs="meshio")
broken("beyond.msh", "beyond.msh", MSH.replace("0 0 1 2 3", "0 0 1 2 9"), needs="meshio")
MSH4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {0} 1 {0}\n2 1 0 {0}\n1\n0 0 0\n$EndNodes\n"
broken("many4.msh", "many4.msh", MSH4.format(HUGE), needs="meshio")
broken("gmsh1.msh", ":2: 4000000000 nodes", f"$NOD\n{HUGE}\n1 0 0 0\n$ENDNOD\n")

broken("deck.k", "refers to node 9", "*KEYWORD\n*NODE\n1,0,0,0\n*ELEMENT_SHELL\n1,1,1,9,9\n*END\n")
broken("itself.k", "more than 16 files deep", "*KEYWORD\n*INCLUDE\nitself.k\n*END\n")
broken("outside.k", "outside of its folder", "*KEYWORD\n*INCLUDE\n../../secret.k\n*END\n")
broken("many.veg", "4000000000 points", f"*VERTICES\n{HUGE} 3 0 0\n1 0 0 0\n*ELEMENTS\nTET\n1 4 0\n1 1 1 1 1\n")
broken("noise.inp", "noise.inp", "*NODE\n1, x, y\n*ELEMENT, TYPE=S3\n1, 1, 2, 9\n", needs="meshio")
broken("beyond.inp", "beyond.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=S3\n1, 1, 2, 9\n", needs="meshio")

broken("noise.med", "is not a whole HDF5 file", b"\x89HDF\r\n\x1a\n" + bytes(range(200)), needs="meshio h5py")


@broken("bomb.med", "of which 0 bytes are stored", needs="meshio h5py")
def _unwritten(path):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("ENS_MAA/mesh/points", (HUGE, 3), "f8", chunks=(1024, 3))


@broken("link.med", "is a link", needs="meshio h5py")
def _link(path):
    import h5py

    with h5py.File(path, "w") as file:
        file["ENS_MAA"] = h5py.ExternalLink("../../secret.h5", "/points")


@broken("cut.med", "is not a whole HDF5 file", needs="meshio h5py")
def _cut_med(path):
    from pliant import io as pio

    pio.write(path.with_name("whole.med"), [[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    content = path.with_name("whole.med").read_bytes()
    return content[: len(content) // 2]


XDMF = """<Xdmf Version="3.0"><Domain><Grid GridType="Uniform"><Geometry GeometryType="XYZ">
<DataItem Dimensions="3 3" Format="XML">0 0 0 1 0 0 0 1 0</DataItem></Geometry>
<Topology TopologyType="Triangle"><DataItem Dimensions="1 3" NumberType="Int" Format="XML">0 1 2</DataItem></Topology>
</Grid></Domain></Xdmf>
"""
broken("bomb.xdmf", "its document type declares", BOMB + XDMF.replace("0 0 0 1", "&a9;"))
broken("many.xdmf", "Dimensions", XDMF.replace('"3 3"', f'"{HUGE} {HUGE}"'))
broken("few.xdmf", "15 numbers are declared", XDMF.replace('"3 3"', '"5 3"'))
broken("beyond.xdmf", "refers to a point", XDMF.replace("0 1 2<", "0 1 9<"))
broken("cut.xdmf", "is not XML", XDMF[:-30])
HDF = XDMF.replace('Format="XML">0 0 0 1 0 0 0 1 0', 'Format="HDF">{}:/x')
broken("outside.xdmf", "outside of its folder", HDF.format("../../secret.h5"), needs="h5py")
broken("absolute.xdmf", "outside of its folder", HDF.format("C:\\secret.h5"), needs="h5py")
RAW = XDMF.replace('Format="XML">0 0 0 1 0 0 0 1 0', 'Format="Binary" Precision="8">{}')
broken("raw_outside.xdmf", "outside of its folder", RAW.format("../../secret.bin"))
broken("raw_short.xdmf", "is too short", RAW.format("raw_short.xdmf").replace('"3 3"', '"300 3"'))


@broken("bomb_beside.xdmf", "would become more", needs="h5py")
def _bomb_beside(path):
    import h5py

    with h5py.File(path.with_name("a.h5"), "w") as file:
        file.create_dataset("x", (HUGE, 3), "f8", chunks=(1024, 3), compression="gzip")
    return HDF.format("a.h5")


broken("d3plot", "is not a d3plot", "hello", frames=True)
WORDS = [0] * 15 + [4, 10**9] + [0] * 47
broken("d3plot01", "declares a mesh", struct.pack("<64i", *WORDS), frames=True)
broken("unknown.xyz", "is not the ending of a format", "something", needs="meshio")
broken("cloth.abc", "is Alembic, which no package reads", b"Ogawa\xff\0\1", frames=True)
