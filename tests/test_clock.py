"""The two clocks."""

from __future__ import annotations

import time

import pytest

from memdash.clock import Clock, RealClock, VirtualClock


def test_a_virtual_clock_moves_only_when_it_is_told_to() -> None:
    clock = VirtualClock(100.0)
    assert clock.now_ms() == 100.0
    clock.advance(50.0)
    assert clock.now_ms() == 150.0
    clock.sleep_until(1_000.0)
    assert clock.now_ms() == 1_000.0


@pytest.mark.parametrize("at_ms", [0.0, 999.0, 1_000.0])
def test_a_virtual_clock_never_goes_back(at_ms: float) -> None:
    clock = VirtualClock(1_000.0)
    clock.sleep_until(at_ms)
    clock.advance(-5.0)
    assert clock.now_ms() == 1_000.0


def test_a_fork_starts_where_its_clock_stands_and_goes_its_own_way() -> None:
    clock = VirtualClock(10.0)
    fork = clock.fork()
    fork.advance(5.0)
    assert (clock.now_ms(), fork.now_ms()) == (10.0, 15.0)


def test_a_real_clock_sleeps_for_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, slept_s = 50.0, []
    monkeypatch.setattr(time, "time", lambda: 1_000.0)
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    monkeypatch.setattr(time, "sleep", slept_s.append)
    clock: Clock = RealClock()
    assert clock.now_ms() == 1_000_000.0
    now_s += 2.0
    assert clock.now_ms() == 1_002_000.0
    clock.sleep_until(1_002_500.0)
    clock.sleep_until(1_001_000.0)
    clock.advance(250.0)
    clock.advance(-1.0)
    assert slept_s == [0.5, 0.25]


def test_a_real_clock_does_not_follow_a_change_of_the_systems_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000.0)
    monkeypatch.setattr(time, "monotonic", lambda: 50.0)
    clock = RealClock()
    monkeypatch.setattr(time, "time", lambda: 10.0)
    assert clock.now_ms() == 1_000_000.0
