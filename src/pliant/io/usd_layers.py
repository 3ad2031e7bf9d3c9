"""The layers that a USD is composed of: each is examined before usd-core opens it, and composed prim by prim before
usd-core composes all of them, to see that no small file becomes a large stage."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from pliant.io.usd_crate import require_sound
from pliant.runtime.reading import FileError, current

# Bytes of a prim in all that holds it: two of its indices, in usd-core, and what is made of it here, which take 4 kB;
# twice that, since each takes time as well.
_PRIM_SIZE = 8192
_CLIP_SIZE = 1024  # of a value clip that follows from a template
_MOST_CLIPS = 2.0**53
_ARCS = ("references", "payload", "inheritPaths", "specializes", "variantSetNames")
_NUMBER = re.compile(r"#+(?:\.#+)?")


class Layers:
    """A file and all that it is composed of. usd-core keeps layers for as long as anybody holds them."""

    def __init__(self, pxr: Any, path: Path) -> None:
        self._Sdf, self._path = pxr.Sdf, path
        self._held: dict[str, Any] = {}
        self._sound: set[str] = set()
        self._has_arcs = False
        self.root = self._open(path, str(path))
        self._variables = dict(self.root.expressionVariables)
        waiting = [self.root]
        while waiting:
            waiting += list(self._named_by(waiting.pop()))
        if self._has_arcs:
            _require_small(pxr, self.root)

    def _open(self, file: Path, identifier: str) -> Any:
        """A layer, in a file that is sound."""
        real = os.path.realpath(file)
        if real not in self._sound:
            try:
                require_sound(file)
            except FileError as error:
                raise error if file == self._path else FileError(f"{self._path.name}: refers to {error}") from None
            self._sound.add(real)
        layer = self._held[identifier] = self._Sdf.Layer.FindOrOpen(identifier)
        if layer is None:
            raise FileError(f"{file.name}: usd-core cannot read it")
        if not layer.dirty:  # else someone is working on it
            layer.Reload()  # one that is still open somewhere, and was written again since
        return layer

    def _named_by(self, layer: Any) -> Iterator[Any]:
        """Layers that are not known yet."""
        if layer is not self.root and layer.expressionVariables and layer.expressionVariables != self._variables:
            raise FileError(f"{self._path.name}: {layer.GetDisplayName()} has variables of its own; those are not read")
        files, arcs = files_in(layer)
        self._has_arcs |= arcs
        for asset in sorted(files):
            for name in self._expanded(layer, asset):
                identifier = self._Sdf.ComputeAssetPathRelativeToLayer(layer, name)
                file = file_of(self._Sdf.Layer.SplitIdentifier(identifier)[0])
                if identifier in self._held or not self._is_there(file):
                    continue
                current().count(file)
                yield self._open(file, identifier)

    def _expanded(self, layer: Any, asset: str) -> list[str]:
        """Names of files: of an expression, its value; of a template, all that fit."""
        if self._Sdf.VariableExpression.IsExpression(asset):
            value = self._Sdf.VariableExpression(asset).Evaluate(self._variables).value
            return [value] if isinstance(value, str) and value else []
        if "#" not in asset:
            return [asset]
        # A template itself is no file that usd-core could find beside the layer.
        beside = asset if Path(asset).anchor or asset.startswith(".") else f"./{asset}"
        found: list[str] = []
        for one in {asset, beside}:
            pattern = Path(file_of(self._Sdf.ComputeAssetPathRelativeToLayer(layer, one)))
            if not pattern.anchor or self._is_there(pattern.parent):
                fitting = _NUMBER.sub("*", glob.escape(pattern.name))
                found += [str(path) for path in pattern.parent.glob(fitting)]
        return sorted(set(found))

    def _is_there(self, place: Path) -> bool:
        """An error where it is outside. Whole names are refused before anything is asked: some lead to other machines.

        Those that usd-core leaves relative were not found beside their layer; where they are is the working folder.
        """
        if place.anchor or _exists(place):
            current().require_inside(self._path, place)
        return _exists(place)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, on some systems
        return False


def file_of(asset: str) -> Path:
    """The file that an asset is, or is in: packages name their parts in brackets."""
    Ar: Any = import_module("pxr.Ar")  # its stubs lack these two
    return Path(Ar.SplitPackageRelativePathOuter(asset)[0] if Ar.IsPackageRelativePath(asset) else asset)


def files_in(layer: Any) -> tuple[set[str], bool]:
    """What a layer names: layers below it, references, payloads and value clips; and whether a prim of it is composed
    of others at all.

    GetCompositionAssetDependencies gives most of that, but ends the process where a prim is named and not there.
    """
    files, arcs = set(layer.subLayerPaths), False

    def look_at(path: Any) -> None:
        nonlocal arcs
        prim = None if path.IsPropertyPath() else layer.GetPrimAtPath(path)
        if not prim:
            return
        arcs = arcs or any(prim.HasInfo(kind) for kind in _ARCS)
        for kind in ("references", "payload"):
            if prim.HasInfo(kind):
                items = prim.GetInfo(kind).GetAddedOrExplicitItems()
                # In a damaged file these may be anything, which usd-core does not follow.
                files.update(item.assetPath for item in items if getattr(item, "assetPath", ""))
        if prim.HasInfo("clips"):
            for clips in prim.GetInfo("clips").values():
                files.update(_clip_files(clips))

    layer.Traverse("/", look_at)
    return files, arcs


def _clip_files(clips: Any) -> Iterator[str]:
    """Files of a set of value clips, which are opened when a value is asked for that may be in them."""
    if not isinstance(clips, dict):
        return
    assets = [*(clips.get("assetPaths") or ()), clips.get("manifestAssetPath")]
    yield from (asset.path for asset in assets if getattr(asset, "path", ""))
    template = clips.get("templateAssetPath")
    if isinstance(template, str) and template:
        first, last, step = (_number(clips, f"template{key}") for key in ("StartTime", "EndTime", "Stride"))
        count = (last - first) / step if step > 0.0 else 0.0
        # Backwards there is none. What is no number is as many as there can be.
        count = max(0.0, min(count, _MOST_CLIPS)) if math.isfinite(count) else _MOST_CLIPS
        current().charge(int(_CLIP_SIZE * count), "value clips")
        yield template


def _number(clips: dict[str, Any], key: str) -> float:
    try:
        return float(clips.get(key, 0))
    except (TypeError, ValueError):
        raise FileError(f"{current().name}: {key} of value clips is not a number") from None


def _require_small(pxr: Any, root: Any) -> None:
    """Go through all prims as they will be composed: each is charged for before there is another."""
    Pcp: Any = import_module("pxr.Pcp")
    cache = Pcp.Cache(Pcp.LayerStackIdentifier(root), "usd", True)
    cache.SetVariantFallbacks(pxr.Usd.Stage.GetGlobalVariantFallbacks())
    waiting = [pxr.Sdf.Path.absoluteRootPath]
    while waiting:
        path = waiting.pop()
        index = cache.ComputePrimIndex(path)[0]
        if index.hasAnyPayloads and not cache.IsPayloadIncluded(path):
            cache.RequestPayloads([path], [])
            index = cache.ComputePrimIndex(path)[0]
        current().charge(_PRIM_SIZE + 256 * len(index.primStack), str(path)[:80])
        waiting += [path.AppendChild(name) for name in index.ComputePrimChildNames()[0]]
