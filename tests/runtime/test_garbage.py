"""While something is made without collections of garbage, there are none; afterwards everything is as it was."""

from __future__ import annotations

import gc

import pytest

from pliant.runtime.garbage import uncollected


@pytest.fixture(autouse=True)
def _as_before():
    was = gc.isenabled()
    yield
    (gc.enable if was else gc.disable)()


def _circles(count: int) -> int:
    """Collections that as many objects lead to that only the collector can free."""
    seen: list[str] = []

    def note(phase: str, _info: dict[str, int]) -> None:
        seen.append(phase)

    gc.callbacks.append(note)
    try:
        for _ in range(count):
            circle: list[object] = []
            circle.append(circle)
    finally:
        gc.callbacks.remove(note)
    return len(seen)


def test_nothing_is_collected_meanwhile():
    gc.enable()
    assert _circles(100_000) > 0
    with uncollected():
        assert _circles(100_000) == 0
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()  # the inner one ends nothing
    assert gc.isenabled()


def test_the_collector_is_back_after_an_error():
    gc.enable()
    with pytest.raises(ZeroDivisionError), uncollected():
        _ = 1 / 0
    assert gc.isenabled()


def test_who_had_switched_it_off_keeps_it_off():
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()


def test_thresholds_stay():
    gc.enable()
    before = gc.get_threshold()
    with uncollected():
        assert gc.get_threshold() == before
    assert gc.get_threshold() == before
