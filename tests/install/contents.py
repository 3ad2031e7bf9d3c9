"""What is in the wheel and in the sdist: all of the package with its data, and in the wheel nothing else.

python tests/install/contents.py dist
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
IN_SDIST = ("LICENSE", "Makefile", "README.md", "mkdocs.yml", "docs/index.md", "tests/test_docs.py", "bench/README.md")


def package_files() -> set[str]:
    """Names in a wheel of all that belongs to the package, data too."""
    files = (path for path in (CHECKOUT / "src" / "pliant").rglob("*") if path.is_file())
    names = {path.relative_to(CHECKOUT / "src").as_posix() for path in files}
    return {name for name in names if "__pycache__" not in name}


def faults_of_wheel(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    own = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    faults = [f"missing: {name}" for name in sorted(package_files() - own)]
    faults += [f"does not belong there: {name}" for name in sorted(own - package_files())]
    if not wheel.name.endswith("-py3-none-any.whl"):
        faults.append(f"not a wheel for every machine: {wheel.name}")
    extras = {line.partition(": ")[2] for line in metadata.splitlines() if line.startswith("Provides-Extra")}
    return faults + [f"no extra: {name}" for name in sorted({"cli", "io", "characters", "all"} - extras)]


def faults_of_sdist(sdist: Path) -> list[str]:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {f"src/{name}" for name in package_files()} | set(IN_SDIST)
    return [f"missing: {name}" for name in sorted(wanted - names)]


def faults(folder: Path) -> list[str]:
    """Of the one wheel and the one sdist in a folder."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    found = [(wheel, fault) for fault in faults_of_wheel(wheel)] + [(sdist, fault) for fault in faults_of_sdist(sdist)]
    return [f"{path.name}: {fault}" for path, fault in found]


if __name__ == "__main__":
    found = faults(Path(sys.argv[1]))
    sys.exit("\n".join(found) if found else None)
