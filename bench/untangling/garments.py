"""Garments that were pressed into the body that wears them; the body is fixed, and they belong outside of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial

import numpy as np

from bench.inputs import data_folder
from bench.untangling.bodies import BODY_OF_DRESS, DRESS, RUMBA, animation, dress
from bench.untangling.case import Given, Part, Recipe, compacted, field, joined, mean_edge, normals
from bench.untangling.characters import character
from pliant.scenes.figure import DEPTH, doll, swing, torso_radius
from pliant.scenes.garments import tube
from pliant.scenes.shapes import smoothstep

KIND = "garments"
DEPTHS = (0.5, 1.0, 2.0, 4.0)  # edges
DRESSES = (0.5, 1.0, 1.5, 2.0, 3.0)


def recipes() -> Iterator[Recipe]:
    folder = data_folder()
    named = []
    if folder is not None and (folder / "selfint" / f"{DRESS}.npz").exists():
        named.append(("dress", partial(_dress, 0.0, 0)))
        named += [(f"dress pressed {depth:g} edges", partial(_dress, depth, k)) for k, depth in enumerate(DRESSES, 1)]
        for depth in (1.0, 2.0, 4.0):
            named.append((f"dress pressed {depth:g} edges all over", partial(_dress, depth, 9, 5.0, -0.2)))
    wearers = ["human"]
    if folder is not None and (folder / "sequences" / f"{RUMBA}.npz").exists():
        wearers.append("rumba")
    for wearer in wearers:
        for k, depth in enumerate(DEPTHS[:3] * 2):
            named.append((f"suit on {wearer} pressed {depth:g} edges, {k}", partial(_suit, wearer, depth, k)))
    for k, depth in enumerate((*DEPTHS, *DEPTHS[::-1], *DEPTHS)):
        named.append((f"top and skirt on a doll pressed {depth:g} edges, {k}", partial(_on_doll, depth, k)))
    for seed, (name, give) in enumerate(named):
        yield Recipe(name, KIND, seed, give)


def _worn(body: Part, clothes: list[Part], clean: list[np.ndarray] | None = None) -> Given:
    """Clothes first, then the body, which is fixed."""
    faces, x, part = joined(*clothes, body)
    is_body = part == len(clothes)
    reference = None if clean is None else np.concatenate((*clean, body[1]))
    return Given(faces, x, fixed=is_body, solid=is_body, reference=reference)


def _dress(depth: float, seed: int, wavelength: float = 25.0, beyond: float = 0.7) -> Given:
    """The dress of the data folder as it is, or patches of it pressed against the normal of the body below them."""
    faces, x = dress()
    is_body = np.arange(len(x)) >= len(x) - BODY_OF_DRESS
    x = x.copy()
    if depth > 0.0:
        rng = np.random.default_rng(800 + seed)
        edge = mean_edge(faces[~is_body[faces].any(axis=1)], x)
        out = normals(faces, x, 4)[is_body][_below_dress()]
        x[~is_body] -= depth * edge * _patches(rng, x[~is_body], wavelength * edge, beyond)[:, None] * out
    return Given(faces, x, fixed=is_body, solid=is_body)


@lru_cache(maxsize=1)
def _below_dress() -> np.ndarray:
    """(k,) the nearest of every fourth vertex of the body to each vertex of the dress."""
    x = dress()[1]
    cloth, some = x[: len(x) - BODY_OF_DRESS], x[len(x) - BODY_OF_DRESS :: 4]
    nearest = [np.argmin(sum((at[:, i, None] - some[:, i]) ** 2 for i in range(3)), axis=1)
               for at in np.array_split(cloth, 64)]  # fmt: skip
    return 4 * np.concatenate(nearest)


def _patches(rng: np.random.Generator, x: np.ndarray, wavelength: float, beyond: float = -0.2) -> np.ndarray:
    """(n,) from 0 to 1: about half of all points are in patches, a quarter where these begin beyond 0.7."""
    return smoothstep(field(rng, x, wavelength), beyond, beyond + 1.0)


def _body(wearer: str) -> tuple[Part, int]:
    """Faces and positions, and which axis points up."""
    if wearer == "rumba":
        faces, frames = animation(RUMBA)
        return (faces, frames[0].astype(np.float64)), 1
    who = character(False, "human")
    return (np.asarray(who.mesh.faces, np.int64), who.rest), 1


def _suit(wearer: str, depth: float, seed: int) -> Given:
    """A copy of the skin from the thighs to the neck, a bit off it, and pressed into it in patches; in every second
    case about the hips only, with four triangles for each of the skin's."""
    rng = np.random.default_rng(900 + seed)
    (faces, x), up = _body(wearer)
    height = (x[:, up] - x[:, up].min()) / np.ptp(x[:, up])
    is_fine = seed % 4 in (1, 2)
    lower, upper = (rng.uniform(0.45, 0.5), rng.uniform(0.6, 0.65)) if is_fine else (rng.uniform(0.3, 0.5), 0.78)
    covered = ((height[faces] > lower) & (height[faces] < upper)).all(axis=1)
    edge, out = mean_edge(faces, x), normals(faces, x, 1)
    gap = 0.5 * edge
    height_of = gap - (gap + depth * edge) * _patches(rng, x, 20 * edge)
    cloth = compacted(faces[covered], x + height_of[:, None] * out)
    return _worn((faces, x), [_refined(*cloth) if is_fine else cloth])


def _refined(faces: np.ndarray, x: np.ndarray) -> Part:
    """Every triangle cut into four."""
    sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    edges, ids = np.unique(sides, axis=0, return_inverse=True)
    ab, bc, ca = len(x) + ids.reshape(3, -1)
    a, b, c = faces.T
    four = [np.stack(three, axis=1) for three in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    return np.concatenate(four), np.concatenate((x, x[edges].mean(axis=1)))


def _on_doll(depth: float, seed: int) -> Given:
    """A tight top and a skirt that widens below, on a jointed doll, pressed in patches towards its axis."""
    rng = np.random.default_rng(1_000 + seed)
    arms = np.array([swing(rng.uniform(-0.3, 0.3, 1), 0.7, side) for side in (1, -1)])
    legs = np.array([swing(rng.uniform(-0.2, 0.2, 1), 0.1, side) for side in (1, -1)])
    faces, x, _ = joined(*((faces, frames[0]) for faces, frames in doll(6_000, arms, legs)))
    clothes, clean = [], []
    for top, bottom, flare in ((1.37, 1.1, 0.0), (1.08, 0.7, 0.5)):
        cloth, at = tube(int(rng.integers(3_000, 6_000)), 2.2)
        z = top + (bottom - top) * at[:, 1]
        round_ = np.column_stack((np.cos(at[:, 0]), DEPTH * np.sin(at[:, 0]), np.zeros(len(z))))
        r = np.maximum(torso_radius(z), torso_radius(np.array([0.94]))[0] * (z < 0.94)) + 0.012
        r += flare * np.maximum(0.0, 0.94 - z)
        worn = r[:, None] * round_ + np.outer(z, (0.0, 0.0, 1.0))
        edge = mean_edge(cloth, worn)
        pressed = (depth * edge + 0.012) * _patches(rng, worn, 20 * edge)
        clothes.append((cloth, worn - pressed[:, None] * round_))
        clean.append(worn)
    return _worn((faces, x), clothes, clean)
