"""What a file may expand to, and which other files it may read: one rule for all formats, each with an option."""

import os
import subprocess
import sys
import warnings
import zlib

import numpy as np
import pytest

import pliant
from pliant import io as pio
from pliant.runtime.arrays import OptionError
from pliant.runtime.reading import Reading
from tests.io.hostile import BOMBS, WAYS_OUT, nested_references, zeros_packed

pytestmark = pytest.mark.unit
links = pytest.mark.skipif(os.name == "nt", reason="links need a permission there")


def made(tmp_path, table, name):
    make, needs = table[name]
    for package in needs.split():
        pytest.importorskip(package)
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder / name)
    return folder / name


def read_all(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(pio.open_sequence(path, **options))


@pytest.mark.parametrize("name", BOMBS)
def test_what_expands_beyond_its_budget_is_refused(tmp_path, name):
    with pytest.raises(pliant.MeshError, match=r"would become more than [\d,]+; a larger budget") as caught:
        read_all(made(tmp_path, BOMBS, name))
    assert name in str(caught.value)


def test_packed_zeros_are_what_zlib_unpacks():
    assert zlib.decompress(zeros_packed(3)) == bytes(3 * 2**20)
    assert len(zeros_packed(3000)) < 4e6


@links
@pytest.mark.parametrize("name", WAYS_OUT)
def test_a_file_outside_of_the_folder_is_read_only_where_that_is_allowed(tmp_path, name):
    path = made(tmp_path, WAYS_OUT, name)
    with pytest.raises(pliant.MeshError, match=r"outside of its folder; outside=True") as caught:
        read_all(path)
    assert name in str(caught.value)
    assert len(read_all(path, outside=True)[0]) >= 3


def test_a_budget_can_be_raised_and_lowered(tmp_path):
    pytest.importorskip("pxr")
    (tmp_path / "a.usda").write_text(nested_references(3), "utf-8")
    with pytest.raises(pio.FileError, match="more than 100,000;"):
        pio.read(tmp_path / "a.usda", budget=100_000)
    assert len(pio.read(tmp_path / "a.usda", budget=10**9).cells["triangle"]) == 1 + 4 + 16 + 64


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf"), "4GB", True])
def test_a_budget_is_a_number_of_bytes(tmp_path, budget):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(OptionError, match="number of bytes"):
        pio.read(tmp_path / "a.obj", budget=budget)


def test_every_frame_has_the_budget_for_itself(tmp_path):
    """And keeps what was allowed when the sequence was opened."""
    frames = np.zeros((40, 1000, 3))
    pio.write_sequence(tmp_path / "a.pvd", pliant.Sequence([[0, 1, 2]], frames))
    sequence = pio.open_sequence(tmp_path / "a.pvd", budget=300_000)
    assert len(list(sequence)) == 40
    with pytest.raises(pio.FileError, match="more than 10,000"):
        pio.open_sequence(tmp_path / "a.pvd", budget=10_000)


def test_what_compresses_well_is_still_read(tmp_path):
    """A grid that rests: 240 MB of a few hundred kilobytes."""
    frames = np.zeros((9000, 1000, 3), np.float32)
    np.savez_compressed(tmp_path / "a.npz", frames=frames, faces=[[0, 1, 2]])
    assert (tmp_path / "a.npz").stat().st_size < 10**6
    assert len(pio.open_sequence(tmp_path / "a.npz")) == 9000


@links
def test_the_file_that_is_named_may_be_a_link(tmp_path):
    """What it refers to is searched for beside the name that was given."""
    path = made(tmp_path, WAYS_OUT, "include_link.k")
    (path.parent / "n.k").unlink()
    (path.parent / "n.k").write_bytes((tmp_path / "secret" / "n.k").read_bytes())
    (tmp_path / "secret" / "deck.k").write_bytes(path.read_bytes())
    (path.parent / "link.k").symlink_to(tmp_path / "secret" / "deck.k")
    assert len(pio.read(path.parent / "link.k").points) == 3
    # So may the folder that it is in, and so may frames, which a pattern names.
    (tmp_path / "elsewhere").symlink_to(path.parent)
    assert len(pio.read(tmp_path / "elsewhere" / path.name).points) == 3
    assert len(read_all(path.parent / "link*.k")) == 1


def test_a_name_that_leads_back_into_the_folder_is_inside(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "cells.k").write_text("*KEYWORD\n*INCLUDE\n../nodes.k\n*ELEMENT_SHELL\n1,1,1,2,3,3\n*END\n")
    (tmp_path / "nodes.k").write_text("*KEYWORD\n*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n*END\n")
    (tmp_path / "a.k").write_text("*KEYWORD\n*INCLUDE\nparts/cells.k\n*END\n")
    assert len(pio.read(tmp_path / "a.k").points) == 3
    with pytest.raises(pio.FileError, match=r"\.\./nodes\.k, which is outside of its folder"):
        pio.read(tmp_path / "parts" / "cells.k")


def test_value_clips_in_the_folder_are_read(tmp_path):
    path = made(tmp_path, WAYS_OUT, "clips.usda")
    (path.parent / "clip.1.usda").write_bytes((tmp_path / "secret" / "clip.1.usda").read_bytes())
    for before, after in (("../secret/clip.1", "clip.1"), ("clip.1", "./clip.1")):
        path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")
        assert [x[0, 2] for x in read_all(path)] == [0.0, 7.0]


@pytest.mark.parametrize("beside", ["", "./"])
def test_templates_of_clips_are_looked_for_beside_their_layer(tmp_path, beside):
    """Whatever the working folder is."""
    path = made(tmp_path, WAYS_OUT, "template.usda")
    (path.parent / "clip.1.usda").write_bytes((tmp_path / "secret" / "clip.1.usda").read_bytes())
    path.write_text(path.read_text("utf-8").replace("../secret/", beside), "utf-8")
    assert read_all(path)[0].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("start", ['string {} = "x"', "double[] {} = [1, 2]"])
def test_times_of_clips_are_numbers(tmp_path, start):
    path = made(tmp_path, WAYS_OUT, "template.usda")
    path.write_text(path.read_text("utf-8").replace("double templateStartTime = 1", start.format("templateStartTime")))
    with pytest.raises(pio.FileError, match=r"template.usda: templateStartTime of value clips is not a number"):
        read_all(path)


@pytest.mark.parametrize("end", ["1e308", "inf", "nan"])
def test_endless_clips_are_refused(tmp_path, end):
    path = made(tmp_path, WAYS_OUT, "template.usda")
    path.write_text(path.read_text("utf-8").replace("templateEndTime = 1", f"templateEndTime = {end}"))
    with pytest.raises(pio.FileError, match=r"value clips: .* would become more than"):
        read_all(path)


def test_nothing_is_given_back(tmp_path):
    one = Reading(tmp_path / "a.obj")
    with pytest.raises(pio.FileError, match=r"a.obj: clips: declares -1 bytes"):
        one.charge(-1, "clips")
    assert one.left == one.budget


def test_a_damaged_clip_is_found_before_it_is_opened(tmp_path):
    path = made(tmp_path, WAYS_OUT, "clips.usda")
    path.write_text(path.read_text("utf-8").replace("../secret/clip.1.usda", "clip.usdc"), "utf-8")
    (path.parent / "clip.usdc").write_bytes(b"PXR-USDC" + b"\0\7" + bytes(range(100)))
    with pytest.raises(pio.FileError, match=r"refers to clip.usdc: usd-core cannot read it \(damaged"):
        read_all(path)


@links
def test_the_command_line_has_both_options(tmp_path):
    path = made(tmp_path, WAYS_OUT, "raw_link.xdmf")

    def check(*more):
        command = [sys.executable, "-m", "pliant", "check", str(path), *more]
        return subprocess.run(command, capture_output=True, text=True)

    assert check().returncode == 2
    assert "--allow-outside" in check().stderr
    assert check("--allow-outside").returncode == 0
    small = check("--allow-outside", "--budget", "0.1kB")
    assert small.returncode == 2
    assert "more than 100;" in small.stderr
    assert check("--allow-outside", "--budget", "many").returncode == 2
