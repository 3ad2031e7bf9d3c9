"""Files of the shared data whose intersections are known."""

from __future__ import annotations

import struct

import numpy as np

PLY_TYPES = {
    "char": "i1",
    "uchar": "u1",
    "uint8": "u1",
    "int": "i4",
    "int32": "i4",
    "uint": "u4",
    "float": "f4",
    "double": "f8",
}


def read_obj(path):
    x, faces = [], []
    for line in path.read_text("utf-8", errors="replace").splitlines():
        name, *words = line.split() or [""]
        if name == "v":
            x.append([float(w) for w in words[:3]])
        elif name == "f":
            ids = [int(w.split("/")[0]) for w in words]
            ids = [i - 1 if i > 0 else len(x) + i for i in ids]
            faces += [(ids[0], ids[k], ids[k + 1]) for k in range(1, len(ids) - 1)]
    return np.array(faces), np.array(x)


def read_stl(path):
    data = path.read_bytes()
    (count,) = struct.unpack_from("<I", data, 80)
    rows = np.frombuffer(data, np.dtype([("normal", "<f4", 3), ("x", "<f4", (3, 3)), ("flags", "<u2")]), count, 84)
    return np.arange(3 * count).reshape(-1, 3), rows["x"].reshape(-1, 3).astype(np.float64)


def read_ply(path):
    """Vertices of scalars that begin with x y z, then faces of one list."""
    header, _, body = path.read_bytes().partition(b"end_header\n")
    lines = [line.split() for line in header.decode().splitlines()]
    counts = {line[1]: int(line[2]) for line in lines if line[0] == "element"}
    scalars = [PLY_TYPES[line[1]] for line in lines if line[0] == "property" and line[1] != "list"]
    size, index = next(line[2:4] for line in lines if line[:2] == ["property", "list"])
    if ["format", "ascii", "1.0"] in lines:
        rows = [line.split() for line in body.decode().splitlines()]
        x = np.array([[np.float32(w) for w in row[:3]] for row in rows[: counts["vertex"]]], np.float64)
        polygons = [list(map(int, row[1 : 1 + int(row[0])])) for row in rows[counts["vertex"] :] if row]
    else:
        vertex = np.dtype([(str(k), "<" + kind) for k, kind in enumerate(scalars)])
        rows = np.frombuffer(body, vertex, counts["vertex"])
        x = np.column_stack([rows[str(k)].astype(np.float64) for k in range(3)])
        face = np.dtype([("n", "<" + PLY_TYPES[size]), ("ids", "<" + PLY_TYPES[index], 3)])
        rows = np.frombuffer(body, face, counts["face"], vertex.itemsize * counts["vertex"])
        assert (rows["n"] == 3).all()
        polygons = rows["ids"].tolist()
    return np.array([(p[0], p[k], p[k + 1]) for p in polygons for k in range(1, len(p) - 1)]), x


READERS = {".obj": read_obj, ".stl": read_stl, ".ply": read_ply}
# Pairs in all, and those without and with common vertices where that is known; CGAL and igl.predicates agree on each.
KNOWN = {
    "Generic_Twin_7863.1.t0_right.obj": (3, (1, 2)),
    "Generic_Twin_7081.1.t0_right.obj": (64, (32, 32)),
    "rabbit.obj": (195, None),
    "soup.stl": (1248, None),
    "suzanne.ply": (98, (94, 4)),
    "target.obj": (7, (4, 3)),
    "doubleLoopWithCube.obj": (792, None),
    "two-cubes-close.ply": (0, (0, 0)),
    "two-cubes-far.ply": (0, (0, 0)),
}
