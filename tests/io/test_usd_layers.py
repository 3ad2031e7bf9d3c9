"""Which files a USD is composed of: each is examined before usd-core opens it."""

import pytest

from pliant import io as pio
from tests.io.broken_usd import USDA
from tests.io.usd_texts import LAYER

Sdf = pytest.importorskip("pxr.Sdf")


def test_files_are_those_that_usd_core_finds(tmp_path):
    from pliant.io.usd_layers import files_in

    (tmp_path / "a.usda").write_text(LAYER, "utf-8")
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "a.usda"))
    names = ["deep", "payload", "reference", "sub", "variant"]
    found = set(layer.GetCompositionAssetDependencies()) - {""}  # "" is the layer itself
    assert files_in(layer) == ({f"{name}.usda" for name in names}, True)
    assert files_in(layer)[0] == found


def test_layers_below_the_folder_are_composed(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "m.usda").write_text(USDA, "utf-8")
    (tmp_path / "between.usda").write_text('#usda 1.0\ndef "b" (references = @parts/m.usda@</m>) {}\n', "utf-8")
    (tmp_path / "a.usda").write_text('#usda 1.0\ndef "a" (references = @between.usda@</b>) {}\n', "utf-8")
    assert len(pio.read(tmp_path / "a.usda").points) == 3


@pytest.mark.parametrize("arc", ["references = @part.usda@", "payload = @part.usda@"])
def test_binary_references_to_the_default_prim(tmp_path, arc):
    """The empty path, which stands for it, is counted among the paths of the file and not written with them."""
    part = USDA.replace("#usda 1.0", '#usda 1.0\n(\n    defaultPrim = "m"\n)', 1)
    (tmp_path / "part.usda").write_text(part, "utf-8")
    layer = Sdf.Layer.CreateNew(str(tmp_path / "a.usdc"))
    layer.ImportFromString(f'#usda 1.0\ndef "a" ({arc}) {{}}\n')
    layer.Save()
    assert len(pio.read(tmp_path / "a.usdc").points) == 3


def test_what_is_not_there_is_not_outside(tmp_path, monkeypatch):
    """Nor does it depend on the working folder; and a layer without anything in it is one."""
    folder = tmp_path / "[proj]"
    folder.mkdir()
    Sdf.Layer.CreateNew(str(folder / "empty.usdc")).Save()
    arcs = 'def "x" (references = @gone/part.usda@</p>) {}\ndef "y" (references = @http://x.y/part.usda@) {}\n'
    header = "#usda 1.0\n(\n    subLayers = [@./empty.usdc@]\n)\n"
    (folder / "a.usda").write_text(USDA.replace("#usda 1.0\n", header, 1) + arcs, "utf-8")
    monkeypatch.chdir("/")
    assert len(pio.read(folder / "a.usda").points) == 3


@pytest.mark.parametrize("name", ["{}/away/m.usda", "../away/m.usda", "{}/away/m.#.usda"])
def test_nothing_is_asked_of_another_folder(tmp_path, monkeypatch, name):
    """Not even whether a file is there: on some systems a name alone makes another machine answer."""
    from pliant.io import usd_layers

    (tmp_path / "here").mkdir()
    arc = f'def "a" (references = @{name.format(tmp_path.as_posix())}@</m>) {{}}\n'
    (tmp_path / "here" / "a.usda").write_text("#usda 1.0\n" + arc, "utf-8")
    asked = []
    monkeypatch.setattr(usd_layers, "_exists", lambda path: asked.append(path) or path.exists())
    with pytest.raises(pio.FileError, match=r"a.usda: refers to .*outside of its folder"):
        pio.read(tmp_path / "here" / "a.usda")
    assert not asked


def test_a_layer_that_someone_works_on_stays_as_it_is(tmp_path):
    (tmp_path / "a.usda").write_text(USDA, "utf-8")
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "a.usda"))
    Sdf.CreatePrimInLayer(layer, "/edited")
    pio.read(tmp_path / "a.usda")
    assert layer.GetPrimAtPath("/edited")


def test_a_missing_child_does_not_end_the_process(tmp_path):
    """A name in the list of children that no prim has: the function of usd-core for the files of a layer aborted."""
    whole = tmp_path / "whole.usdc"
    layer = Sdf.Layer.CreateNew(str(whole))
    for name in ("first", "other"):
        Sdf.CreatePrimInLayer(layer, name)
    layer.Save()
    content = whole.read_bytes()
    (pair,) = [k for k in range(50) if content.count(_names(k, k + 1)) == 1]
    (tmp_path / "a.usdc").write_bytes(content.replace(_names(pair, pair + 1), _names(pair, pair + 2)))
    with pytest.raises(pio.FileError, match=r"a.usdc"):
        pio.read(tmp_path / "a.usdc")


def _names(*tokens):
    return len(tokens).to_bytes(8, "little") + b"".join(token.to_bytes(4, "little") for token in tokens)
