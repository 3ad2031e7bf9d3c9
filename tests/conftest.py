"""What all tests share: where the shared data is, what its absence means, and random tests that repeat themselves."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from numba import types

from tests.shapes.command_line import Call, caller

CHECKOUT = Path(__file__).resolve().parents[1]
DATA_REQUIRED = os.environ.get("PLIANT_REQUIRE_DATA") == "1"

# All cores are busy with tests: whoever needs a kernel compiles it, and nobody others ahead.
os.environ.setdefault("PLIANT_COMPILE_PROCESSES", "1")

# The same examples on every machine: a red run can be repeated. No deadline: the first call of a kernel compiles it.
settings.register_profile("pliant", derandomize=True, deadline=None)
settings.load_profile("pliant")


@pytest.fixture(autouse=True, scope="module")
def kernels_return_numbers() -> Iterator[None]:
    """Of all kernels called so far: numba crashes where an exception comes while it builds anything but numbers."""
    yield
    found = {
        f"{module}.{name} returns {overload.signature.return_type}"
        for module, members in list(sys.modules.items())
        if module.startswith(("pliant.", "bench."))
        for name, member in vars(members).items()
        for overload in getattr(member, "overloads", {}).values()
        if not _is_plain(overload.signature.return_type)
    }
    assert not found


@pytest.fixture(scope="module")
def with_trees() -> Iterator[None]:
    """Scenes of tests are small, and small meshes are examined without a tree: here every mesh gets one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pliant.engine.direct.SMALL", 0)
        yield


def _is_plain(returned: Any) -> bool:
    if isinstance(returned, types.UniTuple | types.Tuple):
        return all(_is_plain(one) for one in returned)
    return isinstance(returned, types.Number | types.Boolean | types.NoneType)


_skipped_data_tests = pytest.StashKey[list[str]]()


def find_data_folder() -> Path | None:
    """The shared data: $PLIANT_DATA, else shared/data beside the checkout, else None (tests marked `data` are skipped).

    For parametrizing over files; inside a test take the fixture ``data_folder``.
    """
    named = os.environ.get("PLIANT_DATA")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the shared data. Its users carry ``@pytest.mark.data``."""
    folder = find_data_folder()
    assert folder is not None, "a test that takes data_folder must be marked: @pytest.mark.data"
    return folder


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """The command line, called in this process."""
    return caller(capsys)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_skipped_data_tests] = []


# Collecting imports a module: those without a test that is asked for are left out.
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    mark = config.option.markexpr.partition(" ")[0]
    if mark in ("bounds", "unit", "long") and collection_path.suffix == ".py":
        return True if f"mark.{mark}" not in collection_path.read_text("utf-8") else None
    return None


# Few tests that take long: begun first, so that no process works on one of them while the others have nothing to do.
LONG = (
    "install",
    "bench",
    "test_docs.py",
    "test_examples.py",
    "test_notebook.py",
    "test_volume_data.py",
    "response",
)


def _is_long(item: pytest.Item) -> bool:
    return item.path.relative_to(CHECKOUT / "tests").parts[0] in LONG


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not _is_long(item))
    if os.environ.get("PLIANT_LONG") != "1":
        takes_minutes = pytest.mark.skip(reason="takes minutes: make test-long")
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(takes_minutes)
    if find_data_folder() is not None:
        return
    where = os.environ.get("PLIANT_DATA") or "../shared/data beside the checkout"
    missing = pytest.mark.skip(reason=f"no shared data: {where} is not a folder (set PLIANT_DATA)")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(missing)


# Reports, not items: a test can also skip itself while it runs, in a fixture, or as an empty parameter set.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.get_closest_marker("data"):
        item.config.stash[_skipped_data_tests].append(item.nodeid)
    return report


# A module that skips itself has no items that could be asked for their marks, only its text.
@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    if report.skipped and isinstance(collector, pytest.Module) and "mark.data" in collector.path.read_text("utf-8"):
        collector.config.stash[_skipped_data_tests].append(collector.nodeid)
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if DATA_REQUIRED and session.config.stash[_skipped_data_tests] and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    skipped = config.stash[_skipped_data_tests]
    if DATA_REQUIRED and skipped:
        terminalreporter.section("PLIANT_REQUIRE_DATA=1, but tests of the shared data were skipped", red=True)
        for name in skipped:
            terminalreporter.line(name, red=True)
