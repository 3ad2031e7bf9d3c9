"""Packages that formats need: tests of them are skipped where they are missing."""

import pytest

_NEEDS = {
    ".vtk": ("meshio",),
    ".msh": ("meshio",),
    ".med": ("meshio", "h5py"),
    ".inp": ("meshio",),
    ".mesh": ("meshio",),
    ".usd": ("pxr",),
    ".usda": ("pxr",),
    ".usdc": ("pxr",),
    ".h5": ("h5py",),
}


def needed_for(ending: str) -> None:
    for package in _NEEDS.get(ending, ()):
        pytest.importorskip(package)
