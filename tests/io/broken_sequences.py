"""Broken sequences: numbered files, PVD, point caches, NPZ, and frames of XDMF and USD."""

import io
import struct
import zipfile

import numpy as np

from tests.io.broken import HUGE, broken
from tests.io.broken_surfaces import V, glb, gltf
from tests.io.broken_usd import USDA
from tests.io.broken_volumes import BOMB, TEXT, XDMF

OBJ = V + "v 0 0 1\nf 1 2 3\nf 1 3 4\n"


def numbered(name, third):
    """Five files, the third of which is another."""

    def make(path):
        for frame in range(5):
            path.with_name(f"f{frame}.obj").write_text(third if frame == 2 else OBJ, "utf-8")

    broken(name, "frame 2: f2.obj", frames=True)(make)


numbered("f*.obj", OBJ.replace("f 1 3 4", "f 1 4 3"))
numbered("f?.obj", OBJ + "f 2 3 4\n")
numbered("f%d.obj", OBJ.replace("v 0 0 1\n", "v 0 0 1\nv 0 0 2\n"))
numbered("f%01d.obj", OBJ[:-12])
numbered("f[0-4].obj", OBJ.replace("v 0 0 1", "v 0 0 nan"))


@broken("nothing_*.obj", "there is no such file", frames=True)
def _no_files(path):
    path.with_name("else.obj").write_text(OBJ, "utf-8")


@broken("mixed", "holds .obj, .ply", frames=True)
def _mixed_folder(path):
    path.mkdir()
    for name in ("a.obj", "b.ply"):
        (path / name).write_text(OBJ, "utf-8")


@broken("none", "holds no meshes", frames=True)
def _empty_folder(path):
    path.mkdir()


PVD = '<VTKFile type="Collection"><Collection>{}</Collection></VTKFile>'
ENTRY = '<DataSet timestep="{}" file="{}"/>'
broken("outside.pvd", "outside of its folder", PVD.format(ENTRY.format(0, "../../secret.vtu")), frames=True)
broken("absolute.pvd", "outside of its folder", PVD.format(ENTRY.format(0, "/secret.vtu")), frames=True)
broken("windows.pvd", "outside of its folder", PVD.format(ENTRY.format(0, "..\\secret.vtu")), frames=True)
broken("missing.pvd", "does not exist", PVD.format(ENTRY.format(0, "missing.vtu")), frames=True)
broken("ending.pvd", "is none of", PVD.format(ENTRY.format(0, "ending.pvd")), frames=True)
broken("bomb.pvd", "its document type declares", BOMB + PVD.format("&a9;"), frames=True)
broken("nothing.pvd", "not a collection", PVD.format(""), frames=True)


def pvd(name, says, times, changed):
    def make(path):
        for frame in range(2):
            path.with_name(f"{frame}.vtu").write_text(changed if frame else TEXT, "utf-8")
        return PVD.format("".join(ENTRY.format(time, f"{frame}.vtu") for frame, time in enumerate(times)))

    broken(name, says, frames=True)(make)


pvd("time.pvd", "'nan' is not a time", ("0", "nan"), TEXT)
pvd("same_time.pvd", "has several files", ("1", "1"), TEXT)
pvd("topology.pvd", "frame 1: 1.vtu", ("0", "1"), TEXT.replace("0 1 2</", "0 2 1</"))
pvd("cut_frame.pvd", "frame 1: 1.vtu", ("0", "1"), TEXT[:200])

CLOTH = np.arange(12, dtype="<f4").reshape(4, 3)
LITTLE, BIG = 2 * CLOTH.tobytes(), 2 * CLOTH.astype(">f4").tobytes()


def cache(name, says, content, **options):
    def make(path):
        path.with_name("rest.obj").write_text(OBJ, "utf-8")
        return content

    broken(name, says, frames=True, **options)(make)


def pc2(points=4, frames=2, body=LITTLE, magic=b"POINTCACHE2\0", version=1):
    return struct.pack("<12siiffi", magic, version, points, 0.0, 1.0, frames) + body


def mdd(points=4, frames=2, body=BIG):
    return struct.pack(">ii2f", frames, points, 0.0, 1.0) + body


NAN = CLOTH.tobytes() + struct.pack("<f", float("nan")) + CLOTH.tobytes()[4:]
cache("magic.pc2", "does not begin", pc2(magic=b"POINTCACHE3\0"), mesh="rest.obj")
cache("version.pc2", "version 7", pc2(version=7), mesh="rest.obj")
cache("cut.pc2", "cut off", pc2()[:-4], mesh="rest.obj")
cache("short.pc2", "does not begin", pc2()[:20], mesh="rest.obj")
cache("many.pc2", "need", pc2(points=2**31 - 1, frames=2**31 - 1), mesh="rest.obj")
cache("negative.pc2", "declares -2 frames", pc2(frames=-2), mesh="rest.obj")
cache("longer.pc2", "but the file has", pc2(body=3 * CLOTH.tobytes()), mesh="rest.obj")
cache("other_mesh.pc2", "has 3 points, but the mesh 4", pc2(points=3, body=bytes(72)), mesh="rest.obj")
cache("no_mesh.pc2", "name the file of the mesh", pc2())
cache("nan.pc2", "frame 1", pc2(body=NAN), mesh="rest.obj")
cache("cut.mdd", "cut off", mdd()[:-4], mesh="rest.obj")
cache("many.mdd", "need", mdd(points=2**31 - 1, frames=2**31 - 1), mesh="rest.obj")
cache("negative.mdd", "declares 2 frames of -4 points", mdd(points=-4), mesh="rest.obj")
cache("short.mdd", "too few", b"\0\0\0", mesh="rest.obj")


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


X, F = np.zeros((2, 4, 3)), np.array([[0, 1, 2], [0, 2, 3]])
BAD = X.copy()
BAD[1, 3, 2] = np.nan
WHOLE = npz(frames=X, faces=F)
broken("pickle.npz", "Python objects", npz(frames=X, faces=F, extra=np.array([{}], object)), frames=True)
broken("cut.npz", "is not a whole zip archive", WHOLE[:-30], frames=True)
broken("noise.npz", "is not a whole zip archive", bytes(range(256)), frames=True)
broken("no_faces.npz", "no faces among frames (2, 4, 3)", npz(frames=X), frames=True)
broken("no_positions.npz", "no positions among faces (2, 3)", npz(faces=F), frames=True)
broken("beyond.npz", "refers to vertex 9", npz(frames=X, faces=[[0, 1, 9]]), frames=True)
broken("negative.npz", "refers to vertex -1", npz(frames=X, faces=[[0, 1, -1]]), frames=True)
broken("real_faces.npz", "must hold integers", npz(frames=X, faces=F + 0.5), frames=True)
broken("nan.npz", "frame 1", npz(frames=BAD, faces=F), frames=True)
broken("times.npz", "a time is not finite", npz(frames=X, faces=F, times=[0, np.nan]), frames=True)
broken("no_frames.npz", "no frames", npz(frames=X[:0], faces=F), frames=True)
broken("shapes.npz", "frame 1", npz(x0=X[0], x1=X[1, :3], faces=F), frames=True)
broken("objects.npz", "objects have the shape", npz(frames=X, faces=F, objects=[1, 2]), frames=True)


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(f"{name}.npy", content)
    return file.getvalue()


def npy(array, **changes):
    """An array as a .npy, with a header that lies."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    head = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape, **changes}
    text = repr(head).encode().ljust(118 - 1) + b"\n"
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + array.tobytes()


LIES = {"many": (HUGE, HUGE, 3), "few": (1, 4, 3), "below": (-2, 4, 3)}
for word, shape in LIES.items():
    broken(f"{word}.npz", "frames", archive(frames=npy(X, shape=shape), faces=npy(F)), frames=True)
CODE = npy(X).replace(b"'<f8'", b"__import__('os').getpid()")
broken("code.npz", "is not a numpy array", archive(frames=CODE, faces=npy(F)), frames=True)
broken("text.npz", "is not a numpy array", archive(frames=b"hello", faces=npy(F)), frames=True)


@broken("bomb.npz", "would become more", frames=True)
def _zip_bomb(path):
    """324 MB of zeros in one frame."""
    shape = (1, 13_500_000, 3)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        with out.open("frames.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": shape})
            for _ in range(8 * int(np.prod(shape)) // 2_160_000):
                member.write(bytes(2_160_000))
        out.writestr("faces.npy", npy(F))


@broken("damaged.npz", "damaged.npz", frames=True)
def _damaged(path):
    content = bytearray(npz(frames=np.random.default_rng(0).normal(size=(2, 400, 3)), faces=F))
    content[2000:2010] = b"0123456789"
    return bytes(content)


STEP = XDMF[XDMF.index("<Geometry") : XDMF.index("</Grid>")]
SERIES = '<Xdmf><Domain><Grid GridType="Collection" CollectionType="Temporal">{}</Grid></Domain></Xdmf>'


def series(*steps):
    return SERIES.format("".join(f"<Grid>{step}</Grid>" for step in steps))


broken("cells.xdmf", "frame 1", series(STEP, STEP.replace("0 1 2<", "0 2 1<")), frames=True)
FOUR = STEP.replace('"3 3"', '"4 3"').replace("0 0 0 1 0 0 0 1 0", "0 0 0 1 0 0 0 1 0 1 1 1")
broken("points.xdmf", "frame 1", series(STEP, FOUR), frames=True)
broken("nan.xdmf", "frame 1", series(STEP, STEP.replace("0 0 0 1", "nan 0 0 1")), frames=True)
broken("time.xdmf", "frame 1", series(STEP, STEP + '<Time Value="soon"/>'), frames=True)
broken("no_steps.xdmf", "no series", series(), frames=True)

SAMPLES = USDA.replace(
    "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]",
    "point3f[] points.timeSamples = {0: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], 1: []}",
)
broken("points.usda", "frame 1", SAMPLES, needs="pxr", frames=True)
broken("nan.usdz", "usd-core cannot read it", b"PK\3\4" + bytes(100), needs="pxr", frames=True)

CHANNEL = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
MOVING = [{"name": name, "samplers": [{"input": 1, "output": 0}], "channels": [CHANNEL]} for name in ("walk", "run")]
SCALARS = {"bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR"}
TIMED = gltf(accessors=[*gltf()["accessors"], SCALARS], animations=MOVING)
TIMES = struct.pack("<9f", 0, 1, 2, 0, 0, 0, 0, 0, 0)
broken("clips.glb", "name one of 'walk', 'run'", glb(TIMED, TIMES), frames=True)
broken("no_clip.glb", "has no clip 'swim'", glb(TIMED, TIMES), frames=True, clip="swim")
LONG = struct.pack("<9f", 0, 1, 3e38, 0, 0, 0, 0, 0, 0)
broken("endless.glb", "takes 3", glb(TIMED, LONG), frames=True, clip="walk")
