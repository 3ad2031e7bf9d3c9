"""Materials: names, ranges, units."""

from __future__ import annotations

import dataclasses

import pytest

import pliant
from pliant.simulate import MATERIALS, Material, Settings
from pliant.simulate.materials import material_of


def test_names_and_own_materials():
    assert {"cotton", "silk", "denim", "wool", "polyester", "satin", "leather"} <= set(MATERIALS)
    assert material_of("silk") is MATERIALS["silk"]
    own = dataclasses.replace(MATERIALS["silk"], density=0.1)
    assert material_of(own) is own


@pytest.mark.parametrize("name", sorted(MATERIALS))
def test_materials_are_plausible(name: str):
    one = MATERIALS[name]
    assert 0.03 < one.density < 1.5
    assert one.stretch_warp >= one.stretch_weft > one.shear
    assert one.bend_warp >= one.bend_weft
    # A solid sheet of the same stretch and thickness is far stiffer in bending: threads slide in cloth.
    assert one.bend_warp < one.stretch_warp * one.thickness**2


def test_bad_materials_are_named():
    with pytest.raises(pliant.OptionError, match=r"'coton' is not known; choose one of .*'cotton'"):
        material_of("coton")
    with pytest.raises(pliant.DtypeError, match=r"must be a pliant\.simulate.Material"):
        material_of(3)
    with pytest.raises(pliant.OptionError, match="density=150"):
        Material(150, 1000, 1000, 50)
    with pytest.raises(pliant.OptionError, match="poisson=nan"):
        Material(0.15, 1000, 1000, 50, poisson=float("nan"))


def test_units_scale_constants_and_never_positions():
    one = Settings(units="cm").scaled(MATERIALS["cotton"])
    assert one.density == pytest.approx(MATERIALS["cotton"].density * 1e-4)
    assert one.stretch_warp == MATERIALS["cotton"].stretch_warp
    assert one.bend_warp == pytest.approx(MATERIALS["cotton"].bend_warp * 1e4)
    assert one.thickness == pytest.approx(MATERIALS["cotton"].thickness * 100)
