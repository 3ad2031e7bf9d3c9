"""Bodies of tetrahedra: skins that are closed, skins that are not, what is kept on disk, and what is wrong."""

from __future__ import annotations

import builtins
import os

import numpy as np
import pytest

import pliant
from pliant.characters.body import bodies
from pliant.characters.body.bodies import body_of
from pliant.characters.body.tetrahedra import BodyError, why_open
from pliant.characters.rig.rig import Character
from pliant.io.gltf.characters import load
from pliant.mesh.triangles import TriMesh
from tests.shapes.limbs import chain

NAMES = ("CesiumMan", "Fox", "Quaternius_Horse", "RiggedFigure", "RiggedSimple")


def sphere(rounds=2, squash=2.0):
    """An icosahedron, its triangles divided in four some times, drawn out along x: faces outward, and positions."""
    g = (1.0 + 5.0**0.5) / 2.0
    x = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g)]
    x += [(0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    x = [np.array(p) / np.linalg.norm(p) for p in x]
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6)]
    faces += [(7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10)]
    faces += [(8, 6, 7), (9, 8, 1)]
    for _ in range(rounds):
        middle: dict[tuple[int, int], int] = {}
        divided = []
        for face in faces:
            mids = []
            for a, b in ((face[0], face[1]), (face[1], face[2]), (face[2], face[0])):
                key = min(a, b), max(a, b)
                if key not in middle:
                    middle[key] = len(x)
                    x.append((x[a] + x[b]) / np.linalg.norm(x[a] + x[b]))
                mids.append(middle[key])
            divided += [(face[i], mids[i], mids[i - 1]) for i in range(3)] + [tuple(mids)]
        faces = divided
    return np.array(faces, np.int32), np.array(x) * [squash, 1.0, 1.0]


def character_of(faces, x, at=(-2.0, 0.0)):
    share = np.clip(x[:, 0] + 0.5, 0.0, 1.0)
    weights = np.stack((1.0 - share, share), axis=1)
    joints = np.tile(np.array([0, 1], np.int32), (len(x), 1))
    return Character("ball", TriMesh(faces), x, joints, weights, chain(at))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Of the cache of bodies: none of the user's."""
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    return tmp_path / "bodies"


def assert_good(character, body):
    tetrahedra = body.volume.cells["tetra"]
    a, b, c, d = body.rest[tetrahedra].swapaxes(0, 1)
    volumes = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)
    assert volumes.min() > 0.0
    assert np.unique(tetrahedra).tolist() == list(range(len(body.rest)))
    assert body.weights.min() >= 0.0
    assert np.abs(body.weights.sum(axis=1) - 1.0).max() < 1e-12
    assert body.joints.dtype == np.int32
    assert body.joints.max() < len(character.skeleton.joints)
    return volumes.sum() / 6.0


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e5])
def test_a_closed_skin_is_the_surface_of_its_body(size):
    pytest.importorskip("tetgen")
    faces, x = sphere()
    character = character_of(faces, size * x, (-2.0 * size, 0.0))
    body = body_of(character, cache=False)
    volume = assert_good(character, body)
    f = size * x[faces]
    assert volume == pytest.approx(np.einsum("ij,ij->i", np.cross(f[:, 0], f[:, 1]), f[:, 2]).sum() / 6.0, rel=1e-9)
    assert np.array_equal(body.rest[: len(x)], size * x)
    assert {tuple(sorted(face)) for face in body.volume.surface().faces.tolist()} == {
        tuple(sorted(face)) for face in faces.tolist()
    }
    assert np.array_equal(body.skin(body.rest), character.rest)
    assert len(body.rest) > len(x)
    assert "tetrahedra" in repr(body)


def test_edge_sets_the_size_inside():
    pytest.importorskip("tetgen")
    character = character_of(*sphere(1))
    counts = [len(body_of(character, edge=edge, cache=False).volume.types) for edge in (1.0, 0.25)]
    assert counts[1] > 4 * counts[0]
    with pytest.raises(pliant.MeshError, match="edge"):
        body_of(character, edge=0.0)


def test_weights_inside_are_between_those_of_the_skin():
    pytest.importorskip("tetgen")
    character = character_of(*sphere())
    body = body_of(character, cache=False)
    n = len(character.rest)
    right = np.where(body.joints == 1, body.weights, 0.0).sum(axis=1)
    inside, x = right[n:], body.rest[n:, 0]
    assert inside.min() >= 0.0
    assert inside.max() <= 1.0
    assert inside[x < -1.0].max() < 0.2
    assert inside[x > 1.0].min() > 0.8
    middle = inside[np.abs(x) < 0.2]
    assert 0.3 < middle.mean() < 0.7


@pytest.mark.slow
def test_an_open_skin_is_embedded():
    pytest.importorskip("pytetwild")
    faces, x = sphere()
    character = character_of(faces[3:], x)
    body = body_of(character, edge=0.5, cache=False)
    volume = assert_good(character, body)
    assert volume == pytest.approx(4.0 / 3.0 * np.pi * 2.0, rel=0.1)
    assert np.abs(body.skin(body.rest) - x).max() < 1e-9
    assert np.abs(body.skin_weights.sum(axis=1) - 1.0).max() < 1e-9
    assert np.abs(body.skin(body.rest + 1.0) - x - 1.0).max() < 1e-9


@pytest.mark.parametrize("change", ["open", "turned", "crossing"])
def test_why_a_skin_encloses_nothing_is_said(change):
    faces, x = sphere(1)
    if change == "open":
        faces = faces[1:]
    elif change == "turned":
        faces = faces.copy()
        faces[0] = faces[0, ::-1]
    else:
        x = x.copy()
        x[0] = -2.5 * x[0]
    fault = why_open(TriMesh(faces), x)
    assert {"open": "not closed", "turned": "do not agree", "crossing": "meets itself"}[change] in fault
    assert why_open(TriMesh(sphere(1)[0]), sphere(1)[1]) == ""


def without(monkeypatch, *missing):
    real = builtins.__import__

    def fake(name, *args, **kwargs):
        if name in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)


def test_missing_packages_are_named_with_their_extra(monkeypatch):
    without(monkeypatch, "tetgen", "pytetwild")
    faces, x = sphere(1)
    with pytest.raises(ModuleNotFoundError, match=r"tetgen.*the extra characters"):
        body_of(character_of(faces, x))
    with pytest.raises(ModuleNotFoundError, match=r"not closed.*pytetwild.*the extra characters"):
        body_of(character_of(faces[1:], x))


def test_a_character_without_faces_has_no_body():
    with pytest.raises(BodyError, match="no faces"):
        body_of(character_of(np.empty((0, 3), np.int32), sphere(0)[1]))


def test_bodies_are_made_once(folder, monkeypatch):
    pytest.importorskip("tetgen")
    character = character_of(*sphere(1))
    first = body_of(character)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(bodies, "fill", lambda *_: pytest.fail("made again"))
    again = body_of(character_of(*sphere(1)))
    for name in ("rest", "joints", "weights", "skin_cells", "skin_weights"):
        assert np.array_equal(getattr(first, name), getattr(again, name)), name
        assert getattr(first, name).dtype == getattr(again, name).dtype
    assert np.array_equal(first.volume.cells["tetra"], again.volume.cells["tetra"])


def test_another_skin_or_size_is_another_body(folder):
    pytest.importorskip("tetgen")
    faces, x = sphere(1)
    body_of(character_of(faces, x))
    body_of(character_of(faces, 1.001 * x))
    body_of(character_of(faces, x), edge=0.4)
    moved = character_of(faces, x)
    moved.weights[x[:, 0].argmax()] = [1.0, 0.0]
    body_of(moved)
    assert len(list(folder.iterdir())) == 4
    body_of(character_of(faces, 3.0 * x), cache=False)
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "other"])
def test_damaged_files_are_made_again(folder, damage):
    pytest.importorskip("tetgen")
    character = character_of(*sphere(1))
    body = body_of(character)
    (path,) = folder.iterdir()
    content = path.read_bytes()
    if damage == "other":
        np.savez(path, tetra=np.zeros((1, 4), np.int32), rest=np.zeros((1, 3)))
    else:
        path.write_bytes(
            {"empty": b"", "cut": content[: len(content) // 2], "noise": b"PK\x03\x04" + b"x" * 99}[damage]
        )
    again = body_of(character)
    assert np.array_equal(body.rest, again.rest)
    assert len(path.read_bytes()) == len(content)
    assert [other.name for other in folder.iterdir()] == [path.name]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    pytest.importorskip("tetgen")
    (tmp_path / "file").write_text("not a folder", "utf-8")
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path / "file"))
    assert len(body_of(character_of(*sphere(1))).rest) > 0


@pytest.mark.skipif(os.name == "nt", reason="folders have modes elsewhere")
def test_bodies_that_others_may_have_written_are_not_used(folder):
    """They would be other bodies, if not other code."""
    pytest.importorskip("tetgen")
    character = character_of(*sphere(1))
    body = body_of(character)
    (path,) = folder.iterdir()
    with np.load(path) as kept:
        np.savez(path, **{**kept, "rest": kept["rest"] + 1.0})
    assert not np.array_equal(body_of(character).rest, body.rest)
    folder.chmod(0o777)
    assert np.array_equal(body_of(character).rest, body.rest)


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_shared_characters_have_bodies(data_folder, name):
    pytest.importorskip("tetgen")
    character = load(data_folder / "characters" / f"{name}.glb")
    body = body_of(character, cache=False)
    assert assert_good(character, body) > 0.0
    assert np.array_equal(body.rest[: len(character.rest)], character.rest)
    assert len(pliant.inside(body.volume, body.rest, threads=1).vertices) == 0
