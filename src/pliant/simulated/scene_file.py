"""Scene files: cloths or solids, obstacles, pins, seams, materials, as TOML. docs/scene-file.md lists all keys."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.mesh.triangles import TriMesh
from pliant.runtime.arrays import MeshError
from pliant.runtime.extras import needed
from pliant.runtime.reading import FileError, current, reading
from pliant.simulate.driven import Obstacle, Pin
from pliant.simulate.joints import Seam, Spring
from pliant.simulate.materials import MATERIALS, Material
from pliant.simulate.settings import UNITS, UP, Settings
from pliant.simulated.bodies import CLOTH_KEYS, OBSTACLE_KEYS, Piece, cloth_of, obstacle_of, rigid_path
from pliant.simulated.plan import Setup
from pliant.simulated.scene_of_solids import (
    SOLID_KEYS,
    breaking_of,
    materials_of_solids,
    require_no_cloth,
    setup_of_solids,
    solid_of,
)
from pliant.simulated.tables import Table

MOST_BYTES = 4 << 20  # of the file itself: its vertices are in other files
_TOP = (
    "scene",
    "settings",
    "materials",
    "cloth",
    "solid",
    "obstacle",
    "pin",
    "seam",
    "spring",
    "output",
    "fracture",
    "blade",
)
_SCENE = ("name", "frames", "rate", "seconds", "units", "up", "gravity", "wind", "friction", "thickness")
_SETTINGS = tuple(one.name for one in fields(Settings) if one.name not in ("units", "up"))
_MATERIAL = tuple(one.name for one in fields(Material))
_PIN = ("cloth", "solid", "vertices", "box", "keyframes", "centre")
_SEAM, _SPRING = ("cloths", "pairs", "stiffness"), ("cloths", "pairs", "stiffness", "length")


class SceneFile(NamedTuple):
    """What a scene file says: a Setup, where its frames go, and which files it has read."""

    setup: Setup
    output: Path | None
    with_obstacles: bool
    files: tuple[Path, ...]


def read_scene(path: str | Path, *, budget: int | None = None, outside: bool = False) -> SceneFile:
    """Read a scene file and what it names.

    Parameters
    ----------
    path : str or Path
        A .toml file. Files that it names are relative to it.
    budget : int, optional
        Bytes that all files together may expand to.
    outside : bool
        Read files outside of its folder, too.

    Returns
    -------
    SceneFile

    Raises
    ------
    FileError
        Where something is wrong; the message names file, table and key.
    """
    path = Path(path)
    with reading(path, budget, outside):
        top = Table(path, "", _parsed(path), _TOP)
        return _scene(top)


def _parsed(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        with needed("tomli", "a scene file"):
            import tomli as tomllib  # pyright: ignore[reportMissingImports]
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise FileError(f"{path.name}: {size:,} bytes are too many for a scene file; meshes are in files of their own")
    current().charge(16 * size, "its tables")
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:  # not UTF-8, or not TOML
        raise FileError(f"{path.name}: is not TOML: {error}") from error


def _scene(top: Table) -> SceneFile:
    is_of_solids = "solid" in top
    scene = top.table("scene", (*(key for key in _SCENE if key != "wind"), "interior") if is_of_solids else _SCENE)
    settings = _settings(scene, top.table("settings", _SETTINGS))
    rate = scene.number("rate", 60.0, 1e-3, 1e6)
    solids = [solid_of(table) for table in top.tables("solid", SOLID_KEYS)]
    cloths = [piece for piece, _ in solids] or [cloth_of(table) for table in top.tables("cloth", CLOTH_KEYS)]
    if is_of_solids:
        require_no_cloth(top)
    for key in () if is_of_solids else ("fracture", "blade"):
        if key in top:
            raise top.error(key, "is of solids, and there is no [[solid]]")
    if not cloths:
        raise top.error("cloth", "there is no [[cloth]] and no [[solid]], and nothing to simulate")
    _require_names_once(top, [piece.name for piece in cloths])
    obstacles = [obstacle_of(table, rate) for table in top.tables("obstacle", OBSTACLE_KEYS)]
    begin = dict(zip((piece.name for piece in cloths), np.cumsum([0, *(len(piece.x) for piece in cloths)])))
    options: dict[str, Any] = {
        "settings": settings,
        "pins": _pins(top, cloths, begin),
        "obstacles": [Obstacle(piece.faces, piece.x, piece.path, piece.friction) for piece in obstacles],
        "friction": scene.number("friction", 0.3, 0.0, 10.0),
    }
    for key in ("gravity", "wind"):
        if key in scene:
            options[key] = scene.vector(key)
    if "thickness" in scene:
        options["thickness"] = scene.number("thickness", None, 1e-12, 1e6)
    name, named = scene.text("name", top.file.stem), tuple(piece.name for piece in obstacles)
    if is_of_solids:
        options |= {"materials": materials_of_solids(top, solids), "interior": scene.flag("interior", True)}
        options |= breaking_of(top)
        setup = setup_of_solids(name, solids, options, (_frames(scene, rate), rate), named, _copies(cloths, begin))
    else:
        options["material"] = _materials(top, cloths)
        options["joints"] = [_joint(table, cloths, begin, Seam) for table in top.tables("seam", _SEAM)]
        options["joints"] += [_joint(table, cloths, begin, Spring) for table in top.tables("spring", _SPRING)]
        x = np.concatenate([piece.x for piece in cloths])
        faces = np.concatenate([piece.faces + begin[piece.name] for piece in cloths])
        counts = tuple((piece.name, len(piece.faces)) for piece in cloths)
        setup = Setup(name, faces, x, options, _frames(scene, rate), rate, counts, named, _copies(cloths, begin))
    output = top.table("output", ("file", "obstacles"))
    place = _output(output) if "file" in output else None
    files = tuple(file for piece in (*cloths, *obstacles) for file in piece.files)
    return SceneFile(setup, place, output.flag("obstacles", False), files)


def _frames(scene: Table, rate: float) -> int:
    if "frames" in scene and "seconds" in scene:
        raise scene.error("seconds", "frames is given, too: leave one of them out")
    if "seconds" in scene:
        return 1 + max(1, round(rate * scene.number("seconds", None, 1e-6, 1e6)))
    return scene.whole("frames", 120, 2)


def _settings(scene: Table, table: Table) -> Settings:
    units, up = scene.choice("units", "m", UNITS), scene.choice("up", "z", UP)
    given = table.values()
    for key, value in given.items():
        if isinstance(getattr(Settings, key), str) or (key, type(value)) == ("step", str):
            table.text(key)
        else:
            table.number(key)
        one: dict[str, Any] = {key: value}
        with table.naming(key):
            Settings(**one)
    return Settings(units=units, up=up, **given)


def _materials(top: Table, cloths: list[Piece]) -> list[Material]:
    """One for each component of the mesh of all cloths, in their order."""
    own = {name: _material(table) for name, table in top.named_tables("materials", ("like", *_MATERIAL)).items()}
    known = dict(MATERIALS) | own
    out = []
    for piece in cloths:
        material = known[piece.table.choice("material", "cotton", known)]
        components = TriMesh(piece.faces).components
        out += [material] * len(np.unique(components[piece.faces[:, 0]]))
    return out


def _material(table: Table) -> Material:
    base = MATERIALS[table.choice("like", "cotton", MATERIALS)]
    if "like" not in table:
        for key in ("density", "stretch_warp", "stretch_weft", "shear"):
            table.number(key)  # an error where it is missing
    numbers = {key: table.number(key) for key in _MATERIAL if key in table}
    for key, value in numbers.items():
        with table.naming(key):
            replace(base, **{key: value})
    return replace(base, **numbers)


def _pins(top: Table, cloths: list[Piece], begin: dict[str, int]) -> list[Pin]:
    tables = top.tables("pin", _PIN)
    pins = [_pin(table, cloths, begin) for table in tables]
    owner = np.full(sum(len(piece.x) for piece in cloths), -1)
    for number, (table, pin) in enumerate(zip(tables, pins)):
        key = "vertices" if "vertices" in table else "box"
        twice = pin.vertices[owner[pin.vertices] >= 0]
        if len(twice):
            raise table.error(key, f"vertex {_local(twice[0], begin)} is pinned by [[pin]] {owner[twice[0]] + 1}, too")
        owner[pin.vertices] = number
        used = np.concatenate([piece.faces.ravel() + begin[piece.name] for piece in cloths])
        if (owner[used] >= 0).all():
            raise table.error(key, "all vertices are pinned: nothing can move")
    return pins


def _local(vertex: int, begin: dict[str, int]) -> str:
    """The id that a vertex has in its cloth, and which that is."""
    name = max((name for name in begin if begin[name] <= vertex), key=lambda name: begin[name])
    return f"{vertex - begin[name]} of {name}"


def _pin(table: Table, cloths: list[Piece], begin: dict[str, int]) -> Pin:
    key = "solid" if "solid" in table else "cloth"
    piece = _cloth_named(table, key, table.text(key, cloths[0].name), cloths)
    if table.one_of("vertices", "box") == "vertices":
        vertices = np.unique(_vertex_ids(table, "vertices", table.ids("vertices"), piece))
    else:
        corners = table.rows("box", 3)
        if len(corners) != 2:
            raise table.error("box", "must be two corners, [[x, y, z], [x, y, z]]")
        inside = ((piece.x >= corners.min(axis=0)) & (piece.x <= corners.max(axis=0))).all(axis=1)
        inside[np.setdiff1d(np.arange(len(piece.x)), piece.faces)] = False
        vertices = np.flatnonzero(inside)
        if not len(vertices):
            raise table.error("box", f"there is no vertex of {piece.name} in it")
    x = piece.x[vertices]
    return Pin(vertices + begin[piece.name], rigid_path(table, x) if "keyframes" in table else None)


def _joint(table: Table, cloths: list[Piece], begin: dict[str, int], kind: type) -> Seam | Spring:
    value = table.values().get("cloths", [cloths[0].name, cloths[0].name])
    if not isinstance(value, list) or len(value) != 2:
        raise table.error("cloths", "must be the names of two cloths; one may be named twice")
    sides = [_cloth_named(table, "cloths", name, cloths) for name in value]
    pairs = table.rows("pairs", 2, int).astype(np.int64)
    columns = [_vertex_ids(table, "pairs", ids, side) + begin[side.name] for ids, side in zip(pairs.T, sides)]
    pairs = np.stack(columns, axis=1)
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        raise table.error("pairs", f"vertex {_local(pairs[same[0], 0], begin)} is joined to itself")
    numbers = {key: table.number(key, None, 0.0, 1e9) for key in ("stiffness", "length") if key in table}
    return kind(pairs, **numbers)


def _cloth_named(table: Table, key: str, name: Any, cloths: list[Piece]) -> Piece:
    known = {piece.name: piece for piece in cloths}
    chosen = Table(table.file, table.where, {key: name}, (key,)).choice(key, "", known)
    return known[chosen]


def _vertex_ids(table: Table, key: str, ids: np.ndarray, piece: Piece) -> np.ndarray:
    if ids.max() >= len(piece.x):
        raise table.error(key, f"there is no vertex {ids.max()}: {piece.name} has {len(piece.x)}")
    # Of copies of a vertex, faces name the first.
    return ids if piece.copy_of is None else piece.copy_of[ids]


def _require_names_once(top: Table, names: list[str]) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise FileError(f"{top.file.name}: [[cloth]] {place + 1}, name: there is another cloth {name!r}")


def _copies(cloths: list[Piece], begin: dict[str, int]) -> np.ndarray | None:
    if all(piece.copy_of is None for piece in cloths):
        return None
    own = [np.arange(len(piece.x)) if piece.copy_of is None else piece.copy_of for piece in cloths]
    return np.concatenate([ids + begin[piece.name] for ids, piece in zip(own, cloths)])


def _output(table: Table) -> Path:
    """Relative to the scene file, and inside of its folder, as what is read."""
    name = table.text("file")
    place = table.file.parent / name
    try:
        current().require_inside(table.file, place)
    except MeshError as error:
        raise table.error("file", f"{name!r} is outside of the folder of the scene file; --output may be") from error
    return place
