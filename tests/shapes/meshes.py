"""What tests of whole meshes share: nasty triangle soups and small scenes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import pliant

# Small enough for brute force, large enough for a hierarchy of a few levels; passing_sheets has no contact on purpose.
SCENE_SIZES = {
    "flat_sheets": 128,
    "twisted_cloth": 300,
    "flowing_cloth": 600,
    "ball_heap": 500,
    "crumpled_sheet": 500,
    "passing_sheets": 200,
    "twisting": 300,
    "funnel": 500,
    "bishop": 500,
    "falling": 300,
    "flamenco": 800,
    "squishy_ball": 500,
    "hanging_cloth": 500,
    "exploding": 500,
}


class Motion(NamedTuple):
    mesh: pliant.TriMesh
    x0: np.ndarray
    x1: np.ndarray


def scene(name: str) -> Motion:
    made = pliant.scenes.load(name, triangles=SCENE_SIZES[name], frames=2)
    return Motion(pliant.TriMesh(made.faces), made.x0, made.x1)


def soup(seed: int, faces: int = 40, vertices: int = 24, span: int = 6) -> Motion:
    """Small integer coordinates: everything touches exactly. Non-manifold, with duplicate faces in either direction,
    faces that are segments or points, coincident vertices, and loose edges and points, some of them from a vertex to
    itself, repeated, or part of a face.
    """
    rng = np.random.default_rng(seed)
    triangles = rng.integers(0, vertices, (faces, 3))
    triangles[0] = triangles[1]
    triangles[2] = triangles[3][::-1]
    triangles[4, 1] = triangles[4, 0]
    triangles[5] = triangles[5, 0]
    edges = rng.integers(0, vertices + 4, (8, 2))
    edges[0] = triangles[6, :2]
    edges[1, 1] = edges[1, 0]
    edges[2] = edges[3][::-1]
    points = rng.integers(0, vertices + 6, 5)
    x0 = rng.integers(-span, span + 1, (vertices + 8, 3)).astype(np.float64)
    x1 = x0 + rng.integers(-2, 3, x0.shape)
    x0[1], x1[1] = x0[0], x1[0]
    x1[2] = x0[2]
    return Motion(pliant.TriMesh(triangles, edges, points), x0, x1)


def motions() -> dict[str, Motion]:
    return {name: scene(name) for name in SCENE_SIZES} | {f"soup {seed}": soup(seed) for seed in range(3)}


def as_sets(contacts: pliant.Contacts, vertex_name=None, face_name=None) -> tuple[dict, dict]:
    """{(vertex, face): toi}, {(edge, edge): toi}, edges as sorted pairs of vertices, the smaller edge first.

    vertex_name, face_name : arrays, old names of the ids, where they have been renamed
    """
    vf, ee = contacts.vf, contacts.ee
    names = np.arange(1 + contacts.vertices.max(initial=0)) if vertex_name is None else np.asarray(vertex_name)
    faces = vf.elements[:, 1] if face_name is None else np.asarray(face_name)[vf.elements[:, 1]]
    vertex_face = dict(zip(zip(names[vf.elements[:, 0]].tolist(), faces.tolist()), vf.toi.tolist()))
    ends = np.sort(names[ee.vertices].reshape(-1, 2, 2), axis=2).tolist()
    edge_edge = {tuple(sorted(map(tuple, pair))): toi for pair, toi in zip(ends, ee.toi.tolist())}
    assert len(vertex_face) + len(edge_edge) == len(contacts), "a contact came twice"
    return vertex_face, edge_edge
