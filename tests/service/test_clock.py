"""The time that the service goes by: what has expired stays expired when the system's clock is set back."""

from datetime import UTC, datetime, timedelta

import pytest

from discreet.service import clock
from discreet.service.clock import Clock

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def system(monkeypatch):
    """The system's time, and the seconds since it was started, which nobody can set."""
    times = {"told": START, "passed": 100.0}
    monkeypatch.setattr(clock, "_system_time", lambda: times["told"])
    monkeypatch.setattr(clock.time, "monotonic", lambda: times["passed"])
    return times


def test_time_never_goes_back_and_goes_on(system):
    ours = Clock()
    expires = START + timedelta(minutes=1)
    system.update(told=START + timedelta(minutes=2), passed=220.0)
    assert ours.now() > expires
    system["told"] = START - timedelta(days=300)
    assert ours.now() > expires
    system["passed"] += 30
    assert ours.now() == START + timedelta(minutes=2, seconds=30)


def test_a_clock_that_is_set_forward_is_followed(system):
    ours = Clock()
    system["told"] = START + timedelta(days=1)
    assert ours.now() == START + timedelta(days=1)


def test_a_clock_that_jumps_is_told_in_order(system):
    """Two threads that ask at once are served one after the other: a lock holds what was told last."""
    ours, told = Clock(), []
    for step in range(50):
        system["told"] = START + timedelta(seconds=step % 7)
        told.append(ours.now())
    assert told == sorted(told)
    assert told[-1] == START + timedelta(seconds=6)
