"""Sequences: which files they are, in which order, and that frames are read when they are asked for."""

import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant import io as pio
from pliant.io import zipped
from pliant.runtime.arrays import OptionError
from tests.io.broken_surfaces import glb, gltf
from tests.io.broken_volumes import XDMF

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.unit]


def put(folder, name, height):
    path = folder / name
    path.write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 {height}\nf 1 2 3\n", "utf-8")
    return path


def heights(sequence):
    return [float(x[2, 2]) for x in sequence]


def test_numbered_files_in_their_natural_order(tmp_path):
    for number in (10, 9, 1, 2, 3, 4, 5, 6, 7, 8):
        put(tmp_path, f"v2_frame{number}.obj", number)
    (tmp_path / "notes.txt").write_text("not a mesh", "utf-8")
    for path in (tmp_path, tmp_path / "v2_frame*.obj", tmp_path / "v2_frame%d.obj", str(tmp_path / "*.obj")):
        sequence = pio.open_sequence(path)
        assert heights(sequence) == list(range(1, 11))
        assert sequence.times.tolist() == sequence.numbers.tolist() == list(range(1, 11))
        assert sequence.name == (tmp_path.name if path is tmp_path else Path(path).name)
    assert heights(pio.open_sequence([tmp_path / "v2_frame7.obj", tmp_path / "v2_frame2.obj"])) == [7, 2]
    assert heights(pio.open_sequence(tmp_path / "v2_frame7.obj")) == [7]
    assert heights(pliant.Sequence.open(tmp_path)[2:9:3]) == [3, 6, 9]


def test_gaps_are_warned_of_and_counted_in_times(tmp_path):
    for number in (10, 12, 14, 20):
        put(tmp_path, f"f_{number}.obj", number)
    with pytest.warns(UserWarning, match=r"f_\*\.obj: 2 frames are missing, the first between f_14\.obj and f_20\.obj"):
        sequence = pio.open_sequence(tmp_path / "f_*.obj", rate=2)
    assert sequence.times.tolist() == [0, 1, 2, 5]
    (tmp_path / "f_20.obj").unlink()
    assert len(pio.open_sequence(tmp_path / "f_*.obj")) == 3  # every second one: a step, not a gap


def test_frames_are_read_when_they_are_asked_for(tmp_path):
    for number in range(4):
        put(tmp_path, f"f{number}.obj", number)
    sequence = pio.open_sequence(tmp_path / "f*.obj")
    put(tmp_path, "f2.obj", 20)
    assert heights(sequence) == [0, 1, 20, 3]
    (tmp_path / "f3.obj").unlink()
    with pytest.raises(pio.FileError, match=r"f\*\.obj, frame 3: f3\.obj: there is no such file"):
        sequence[3]


def test_only_the_first_frame_says_what_it_leaves_out(tmp_path):
    for number in range(3):
        path = put(tmp_path, f"f{number}.obj", number)
        path.write_text(path.read_text("utf-8") + "l 1 2\n", "utf-8")
    with pytest.warns(UserWarning, match=r"f0\.obj: left out: 1 line"):
        sequence = pio.open_sequence(tmp_path / "f*.obj")
    assert heights(sequence) == [0, 1, 2]


@pytest.mark.parametrize("rate", [0, -1, np.nan, np.inf, "fast"])
def test_wrong_rates(tmp_path, rate):
    with pytest.raises(OptionError, match="rate="):
        pio.open_sequence(put(tmp_path, "a.obj", 0), rate=rate)


X = np.random.default_rng(0).normal(size=(6, 4, 3))
F = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("key", ["frames", "positions", "V"])
def test_npz(tmp_path, monkeypatch, save, small, key):
    """Also where an array is too large to be held: each frame is read from where it is, in any order."""
    save(tmp_path / "a.npz", **{key: X.astype(np.float32)}, faces=F, times=np.arange(6) / 10, note=np.array("text"))
    if not small:
        monkeypatch.setattr(zipped, "LARGEST_ARRAY", 300)
    sequence = pio.open_sequence(tmp_path / "a.npz")
    assert all(np.array_equal(a, b) for a, b in zip(sequence, X.astype(np.float32)))
    assert np.array_equal(sequence[4], X[4].astype(np.float32))
    assert np.array_equal(sequence[1], X[1].astype(np.float32))
    assert sequence.times.tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert sequence[0].dtype == np.float64


def test_npz_of_other_layouts(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, vertices_t0=X[0], vertices_t1=X[1], faces=F, vf=np.zeros((3, 2), int))
    assert np.array_equal(np.stack(list(pio.open_sequence(path))), X[:2])
    np.savez_compressed(path, **{f"x{i}": X[i] for i in (0, 2, 1)}, F=F)
    assert np.array_equal(np.stack(list(pio.open_sequence(path))), X[:3])
    np.savez(path, vertices=X[0], triangles=F)
    assert len(pio.open_sequence(path)) == 1
    np.savez(path, frames=np.asfortranarray(X), tetra=[[0, 1, 2, 3]], objects=[0, 0, 0, 1])
    sequence = pio.open_sequence(path)
    assert np.array_equal(np.stack(list(sequence)), X)
    assert len(sequence.faces) == 4
    assert sequence.objects.tolist() == [0, 0, 0, 1]
    np.savez_compressed(path, frames=X)
    put(tmp_path, "rest.obj", 0)
    assert pio.open_sequence(path, mesh=tmp_path / "rest.obj").faces.tolist() == [[0, 1, 2]]


def test_npz_beside_other_files_and_with_a_comment(tmp_path):
    np.savez(tmp_path / "a.npz", frames=X, faces=F)
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("readme.txt", "hello")
        archive.comment = b"hello"
    assert np.array_equal(pio.open_sequence(tmp_path / "a.npz")[5], X[5])


def test_a_cache_takes_the_mesh_beside_it(tmp_path):
    body = struct.pack("<9f", *range(9))
    (tmp_path / "a.pc2").write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 3, 5.0, 0.5, 2) + 2 * body)
    put(tmp_path, "a.obj", 0)
    sequence = pio.open_sequence(tmp_path / "a.pc2")
    assert sequence[1].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert sequence.times.tolist() == [5, 5.5]
    mesh = pio.read(tmp_path / "a.obj")
    assert pio.open_sequence(tmp_path / "a.pc2", mesh=mesh, rate=10).times.tolist() == [0.5, 0.55]


def test_xdmf_in_hdf5_and_raw_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    x = X[0, :3]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["deep/x"] = x
    (tmp_path / "a.bin").write_bytes(b"12345678" + x.astype(">f8").tobytes())
    hdf = XDMF.replace('Format="XML">0 0 0 1 0 0 0 1 0', 'Format="HDF">a.h5:/deep/x')
    raw = XDMF.replace('Format="XML">0 0 0 1 0 0 0 1 0', 'Format="Binary" Precision="8" Endian="Big" Seek="8">a.bin')
    for text in (hdf, raw):
        (tmp_path / "a.xdmf").write_text(text, "utf-8")
        assert np.array_equal(pio.read(tmp_path / "a.xdmf").points, x)


def moving(path, mode, output, kind):
    """A triangle that moves: times 0 and 1, and values of a channel."""
    values = np.asarray(output, "<f4")
    body = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + struct.pack("<9f", *[0, 0, 2] * 3)
    body += struct.pack("<2f", 0, 1) + values.tobytes()
    views = [(0, 36), (36, 36), (72, 8), (80, values.nbytes)]
    target = {"node": 0, "path": path}
    return glb(
        gltf(
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}]}], "weights": [0.25]}],
            buffers=[{"byteLength": len(body)}],
            bufferViews=[{"buffer": 0, "byteOffset": begin, "byteLength": size} for begin, size in views],
            accessors=[
                {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
                {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"},
                {"bufferView": 2, "componentType": 5126, "count": 2, "type": "SCALAR"},
                {"bufferView": 3, "componentType": 5126, "count": len(values), "type": kind},
            ],
            animations=[
                {
                    "name": "up",
                    "samplers": [{"input": 2, "output": 3, "interpolation": mode}],
                    "channels": [{"sampler": 0, "target": target}],
                }
            ],
        ),
        body,
    )


@pytest.mark.parametrize(
    ("path", "mode", "output", "expected"),
    [
        ("weights", "LINEAR", [0, 1], [0, 0.5, 1, 1.5, 2]),
        ("weights", "STEP", [0, 1], [0, 0, 0, 0, 2]),
        ("weights", "CUBICSPLINE", [0, 0, 0, 0, 1, 0], [0, 0.3125, 1, 1.6875, 2]),
        ("translation", "LINEAR", [[0, 0, 0], [0, 0, 4]], [0.5, 1.5, 2.5, 3.5, 4.5]),
    ],
)
def test_clips_of_morph_targets_and_of_nodes(tmp_path, path, mode, output, expected):
    (tmp_path / "a.glb").write_bytes(moving(path, mode, output, "SCALAR" if path == "weights" else "VEC3"))
    assert pio.read(tmp_path / "a.glb").points[2].tolist() == [0, 1, 0.5]  # with the weights of rest
    for clip in (None, "up"):
        sequence = pio.open_sequence(tmp_path / "a.glb", rate=4, clip=clip)
        assert heights(sequence) == expected
        assert sequence.times.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert len(pio.open_sequence(tmp_path / "a.glb")) == 31


def test_clips_keep_the_ids_of_the_file(tmp_path):
    """Vertices at one place were joined, and faces that then had no area were dropped: all later ids were others."""
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0]]
    body = np.array(corners, "<f4").tobytes() + np.array([0, 1, 0, 0, 0, 0, 0, 4], "<f4").tobytes()
    views = [(0, 108), (108, 8), (116, 24)]
    sampler = {"samplers": [{"input": 1, "output": 2}]}
    channel = {"channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]}
    content = gltf(
        buffers=[{"byteLength": len(body)}],
        bufferViews=[{"buffer": 0, "byteOffset": begin, "byteLength": size} for begin, size in views],
        accessors=[
            {"bufferView": 0, "componentType": 5126, "count": 9, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "SCALAR"},
            {"bufferView": 2, "componentType": 5126, "count": 2, "type": "VEC3"},
        ],
        animations=[{"name": "up", **sampler, **channel}],
    )
    (tmp_path / "a.glb").write_bytes(glb(content, body))
    sequence, mesh = pio.open_sequence(tmp_path / "a.glb", rate=1), pio.read(tmp_path / "a.glb")
    assert sequence.faces.tolist() == mesh.cells["triangle"].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert sequence[0].tolist() == mesh.points.tolist() == corners
    assert np.array_equal(sequence[1], mesh.points + [0, 0, 4])


@pytest.mark.data
@pytest.mark.parametrize("name", ["Quaternius_Horse.glb", "Fox.glb", "RiggedSimple.glb"])
def test_skins_move_as_characters_do(data_folder, name):
    character = pliant.characters.load(data_folder / "characters" / name)
    clip = list(character.clips)[-1]
    sequence = pio.open_sequence(data_folder / "characters" / name, clip=clip, rate=5)
    at_rest = pio.read(data_folder / "characters" / name)
    assert np.array_equal(sequence.faces, at_rest.cells["triangle"])
    # The character has each of its vertices once; the file may have several at one place.
    rest, parts = character.pose(), np.array_split(at_rest.points, 20)
    of = np.concatenate([np.abs(some[:, None] - rest).max(axis=2).argmin(axis=1) for some in parts])
    assert np.array_equal(np.unique(of), np.arange(len(rest)))
    for x, posed in [(at_rest.points, rest)] + [(x, character.pose(clip, t)) for x, t in zip(sequence, sequence.times)]:
        assert np.abs(x - posed[of]).max() <= 1e-12 * np.abs(x).max()


@pytest.mark.data
def test_sequences_of_the_shared_data(data_folder):
    kick = pio.open_sequence(data_folder / "sequences" / "codimipc_Kick_unfixed_30_65.npz")
    assert (len(kick), len(kick.faces), kick[0].shape) == (36, 25472, (12811, 3))
    for name in ("armadillo-rollers", "cloth-ball", "n-body"):
        sequence = pio.open_sequence(data_folder / "ccd" / f"{name}.npz")
        with np.load(data_folder / "ccd" / f"{name}.npz") as file:
            assert len(sequence) == 2
            assert np.array_equal(sequence.faces, file["faces"])
            assert np.array_equal(sequence[1], file["vertices_t1"])
    with pytest.raises(pio.FileError, match="no positions among"):
        pio.open_sequence(data_folder / "ccd" / "sample-queries.npz")


@pytest.mark.data
def test_states_of_a_d3plot_one_by_one(data_folder):
    pytest.importorskip("lasso")
    sequence = pio.open_sequence(data_folder / "crash" / "solid_int")
    mesh = pio.read(data_folder / "crash" / "solid_int")
    assert len(sequence) == 22
    assert np.array_equal(np.stack(list(sequence)), mesh.frames)
    assert list(sequence.cells) == ["hexahedron", "quad"]
    assert (np.diff(sequence.times) > 0).all()


FENICS = '<?xml version="1.0"?>\n<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" []>\n'


def test_a_document_type_may_be_named(tmp_path):
    """FEniCS and the XDMF library itself begin every file with this line."""
    body = XDMF[XDMF.index("<Xdmf") :]
    for head in (FENICS, "<!DOCTYPE Xdmf>", '<!DOCTYPE Xdmf PUBLIC "x" "http://nowhere.invalid/x.dtd" [ <!-- --> ]>'):
        (tmp_path / "a.xdmf").write_text(head + body, "utf-8")
        assert len(pio.read(tmp_path / "a.xdmf").points) == 3


@pytest.mark.parametrize(
    "inside",
    [
        '<!ENTITY a "aaaaaaaaaa">',
        '<!ENTITY a SYSTEM "/etc/hostname">',
        '<!ENTITY % a SYSTEM "other.dtd">',
        '<!ATTLIST DataItem Dimensions CDATA "3 3">',
        "<!ELEMENT Xdmf ANY>",
        '<!NOTATION a SYSTEM "a">',
    ],
)
def test_a_document_type_may_declare_nothing(tmp_path, inside):
    body = XDMF[XDMF.index("<Xdmf") :]
    (tmp_path / "a.xdmf").write_text(FENICS.replace("[]", f"[{inside}]") + body, "utf-8")
    with pytest.raises(pio.FileError, match=r"a\.xdmf: its document type declares"):
        pio.read(tmp_path / "a.xdmf")


def test_entities_of_a_document_type_elsewhere(tmp_path):
    """Without it nobody knows what they stand for: they must not be left out in silence."""
    body = XDMF[XDMF.index("<Xdmf") :].replace("1 0 0", "1 &a; 0 0", 1)
    (tmp_path / "a.xdmf").write_text(FENICS + body, "utf-8")
    with pytest.raises(pio.FileError, match=r"a\.xdmf"):
        pio.read(tmp_path / "a.xdmf")
