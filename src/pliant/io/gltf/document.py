"""The JSON of a glTF file as entries that know where they stand, and the buffers that they refer to."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from pliant.characters.rig.errors import FormatError, RigError, UnsupportedError
from pliant.io.gltf.container import read_container, read_uri
from pliant.runtime.arrays import LARGEST_INDEX

# Of what a file may require, these change no vertex and no joint.
_HARMLESS = ("KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_", "KHR_lights_", "EXT_lights_", "KHR_xmp")
_SUPPORTED = ("KHR_mesh_quantization",)


class Entry:
    """One object of the JSON. Values are checked when they are asked for."""

    file: str
    place: str

    def __init__(self, file: str, place: str, values: Any) -> None:
        if not isinstance(values, dict):
            raise FormatError(f"{file}: {place}: has to be an object, but is {_shown(values)}")
        self.file, self.place, self._values = file, place, values

    def error(self, kind: type[RigError], why: str) -> RigError:
        return kind(f"{self.file}: {self.place}: {why}" if self.place else f"{self.file}: {why}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def integer(self, key: str, default: int | None = None, *, lower: int = 0, upper: int = 2**53) -> int:
        """A whole number from lower to upper."""
        value = self._values.get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None or isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, "a whole number")
        if not lower <= value <= upper:
            limits = f"at least {lower}" if value < lower else f"at most {upper}"
            raise self.error(FormatError, f"{key} is {value}, but has to be {limits}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self._values.get(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def flag(self, key: str) -> bool:
        """True or False; False where it is not given."""
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def numbers(self, key: str, default: tuple[float, ...]) -> np.ndarray:
        """float64, finite, as many as the default has."""
        value = self._values.get(key, default)
        if not isinstance(value, list | tuple) or len(value) != len(default):
            raise self._wrong(key, f"a list of {len(default)} numbers")
        if any(isinstance(v, bool) or not isinstance(v, int | float) or abs(v) > 1e300 for v in value):
            raise self._wrong(key, f"a list of {len(default)} finite numbers")
        return np.array(value, np.float64)

    def integers(self, key: str) -> list[int]:
        """A list of indices; empty where it is not given."""
        value = self.items(key)
        if any(isinstance(v, bool) or not isinstance(v, int) or not 0 <= v <= LARGEST_INDEX for v in value):
            raise self._wrong(key, "a list of indices")
        return value

    def items(self, key: str) -> list[Any]:
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return value

    def entry(self, key: str) -> Entry:
        """The object under a key; an empty one where it is not given."""
        return Entry(self.file, f"{self.place}.{key}".lstrip("."), self._values.get(key, {}))

    def entries(self, key: str) -> list[Entry]:
        return [Entry(self.file, f"{self.place}.{key}[{i}]".lstrip("."), v) for i, v in enumerate(self.items(key))]

    def extensions(self) -> list[str]:
        return list(self.entry("extensions")._values)

    def _wrong(self, key: str, wanted: str) -> RigError:
        given = f"is {_shown(self._values[key])}" if key in self._values else "is missing"
        return self.error(FormatError, f"{key} has to be {wanted}, but {given}")


def _shown(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "not finite"
    return {dict: "an object", list: "a list", type(None): "null"}.get(type(value)) or repr(value)[:40]


class Document:
    """A .glb or .gltf file. Buffers are read when they are first asked for."""

    path: Path
    name: str
    root: Entry

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        root, self._chunk = read_container(path)
        self.root = Entry(self.name, "", root)
        self._buffers: dict[int, bytes | memoryview] = {}
        self._refuse_unsupported()

    def _refuse_unsupported(self) -> None:
        version = self.root.entry("asset").text("version")
        if not version.startswith("2."):
            raise UnsupportedError(f"{self.name}: asset: version {version!r} of glTF; 2 is supported")
        required = [name for name in self.root.items("extensionsRequired") if isinstance(name, str)]
        missing = [name for name in required if name not in _SUPPORTED and not name.startswith(_HARMLESS)]
        if missing:
            raise UnsupportedError(f"{self.name}: extensionsRequired: {', '.join(missing)} is not supported")

    def count(self, kind: str) -> int:
        return len(self.root.items(kind))

    def entry(self, kind: str, index: int, by: str) -> Entry:
        """Entry `index` of the list `kind`, which the place `by` refers to."""
        entries = self.root.items(kind)
        if not 0 <= index < len(entries):
            raise FormatError(f"{self.name}: {by}: refers to {kind}[{index}], but there are {len(entries)} {kind}")
        return Entry(self.name, f"{kind}[{index}]", entries[index])

    def buffer(self, index: int, by: str) -> bytes | memoryview:
        """All bytes of a buffer, as many as it announces or more."""
        if index not in self._buffers:
            self._buffers[index] = self._read_buffer(index, self.entry("buffers", index, by))
        return self._buffers[index]

    def _read_buffer(self, index: int, entry: Entry) -> bytes | memoryview:
        length = entry.integer("byteLength", lower=1)
        if "uri" in entry:
            return read_uri(self.path, entry.place, entry.text("uri"), length)
        if extensions := entry.extensions():
            raise entry.error(UnsupportedError, f"holds no data but by {', '.join(extensions)}, which is not supported")
        if index != 0 or self._chunk is None:
            raise entry.error(FormatError, "has no uri, and no binary chunk of a GLB belongs to it")
        if len(self._chunk) < length:
            raise entry.error(FormatError, f"{length} bytes are declared, but the binary chunk has {len(self._chunk)}")
        return self._chunk
