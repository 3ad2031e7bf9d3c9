"""A missing package: the error says who needs it, for what, and which extra brings it."""

from importlib.metadata import requires

import pytest

from pliant.runtime import extras
from pliant.runtime.extras import needed


@pytest.mark.parametrize(
    ("package", "message"),
    [
        (
            "h5py",
            "pliant.io needs h5py for a.med, which the extra io brings: "
            "pip install h5py, or pip install '.[io]' in a checkout of pliant",
        ),
        (
            "pxr",
            "pliant.io needs usd-core for a.med, which the extra usd brings: "
            "pip install usd-core, or pip install '.[usd]' in a checkout of pliant",
        ),
        ("pyvista", "pliant.io needs pyvista for a.med: pip install pyvista"),
    ],
)
def test_what_is_missing_is_named(package, message):
    with pytest.raises(ModuleNotFoundError) as caught, needed(package, "pliant.io", "a.med"):
        raise ModuleNotFoundError(f"No module named '{package}.part'", name=f"{package}.part")
    assert str(caught.value) == message
    assert caught.value.name == package


def test_what_a_package_itself_misses_is_not_taken_for_it():
    with pytest.raises(ModuleNotFoundError, match="No module named 'lzma'"), needed("h5py", "pliant.io"):
        raise ModuleNotFoundError("No module named 'lzma'", name="lzma")


def test_every_package_is_in_the_extra_that_is_named():
    wanted = [line.replace('"', "'") for line in requires("pliant") or ()]
    for package, extra in extras._EXTRAS.items():
        name = extras._INSTALLED_AS.get(package, package)
        assert any(line.startswith(name) and f"extra == '{extra}'" in line for line in wanted), package
