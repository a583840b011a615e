"""A virtual clock is advanced instead of waiting, with the same results as the real one."""

import threading
import time
from collections.abc import Callable

import pytest
from patience import patient
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import CameLate, ConformanceFailure
from siconform.protocol.notifications import Fact, Released, UpdateKind
from siconform.recording.clock import VirtualClock
from siconform.recording.history import History
from siconform.rm.resource_manager import ResourceManager

from .resource_managers import FakeConnection, rm_on

DEADLINES = Deadlines(ack=0.2, place=0.2, release=0.2, timer=1.0, quiet=0.2, settle=0.02)
DUE = Released(identity="due")


class Target:
    """A scheduler on virtual time: reports timers when they are due."""

    def __init__(self) -> None:
        self.now = 0.0
        self.history = History(VirtualClock(self))
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def advances(self, seconds: float) -> None:
        until = self.now + seconds
        for due, report in sorted(self.timers, key=lambda timer: timer[0]):
            if self.now < due <= until + 1e-9:
                report()
        self.now = until

    def reports_at(self, moment: float, *facts: Fact) -> None:
        self.timers.append((moment, lambda: self._reports(*facts)))

    def reports(self, *facts: Fact) -> None:
        self._reports(*facts)

    def _reports(self, *facts: Fact) -> None:
        self.history.add("rm", facts, sent_by_rm=False)


class OpenConnection(FakeConnection):
    """A connection on which barriers succeed."""

    def raise_on(self, kind: UpdateKind) -> None:
        assert kind is UpdateKind.ALLOCATIONS


@pytest.fixture
def target() -> Target:
    return Target()


@pytest.fixture
def rm(target: Target) -> ResourceManager:
    connection = OpenConnection(history=target.history)
    return rm_on(connection, DEADLINES, barriers=connection)


def test_virtual_clock_does_not_sleep_until_timer(target: Target, rm: ResourceManager) -> None:
    target.reports_at(900.0, DUE)
    began = time.monotonic()

    rm.expect_when_due(DUE, seconds=900.0, since=rm.now())

    assert time.monotonic() - began < patient(30)
    assert 900.0 <= target.now < 901.0


def test_early_timer_fails(target: Target, rm: ResourceManager) -> None:
    target.reports_at(899.9, DUE)

    with pytest.raises(ConformanceFailure, match="due after 900 s"):
        rm.expect_when_due(DUE, seconds=900.0, since=rm.now())


def test_late_timer_is_late(target: Target, rm: ResourceManager) -> None:
    target.reports_at(11.1, DUE)

    with pytest.raises(CameLate, match="allowed 11"):
        rm.expect_when_due(DUE, seconds=10.0, since=rm.now())


def test_long_wait_in_steps_is_not_late(target: Target, rm: ResourceManager) -> None:
    since = rm.now()
    target.reports_at(899.0, DUE)

    rm.expect(DUE, timeout=900.0)

    assert rm.now() - since < 900.0


def test_missing_timer_fails_quickly(rm: ResourceManager) -> None:
    began = time.monotonic()

    with pytest.raises(ConformanceFailure, match="never received"):
        rm.expect(DUE, timeout=900.0)

    assert time.monotonic() - began < patient(30)


def test_quiet_window_needs_no_real_time(target: Target, rm: ResourceManager) -> None:
    target.reports_at(59.0, DUE)

    with pytest.raises(ConformanceFailure, match="received: released"):
        rm.stays_quiet(DUE, window=60.0)
    began = time.monotonic()
    rm.stays_quiet(DUE, window=60.0)

    assert time.monotonic() - began < patient(30)
    assert target.now >= 119.0


def test_slow_report_is_observed(target: Target, rm: ResourceManager) -> None:

    timer = threading.Timer(0.1, target.reports, (DUE,))
    timer.start()

    rm.expect(DUE)


def test_timer_within_bounds_passes(target: Target, rm: ResourceManager) -> None:
    target.reports_at(5.0, DUE)

    rm.expect_between(DUE, earliest=4.0, latest=6.0)


@pytest.mark.parametrize(
    ("moment", "message"),
    [(3.9, "came before the timer was due"), (6.5, "came too long after it was due")],
)
def test_timer_out_of_bounds_fails(
    target: Target, rm: ResourceManager, moment: float, message: str
) -> None:
    target.reports_at(moment, DUE)

    with pytest.raises(ConformanceFailure, match=message) as failure:
        rm.expect_between(DUE, earliest=4.0, latest=6.0)
    assert not isinstance(failure.value, CameLate)


def test_the_exchange_shows_time_that_passed_at_once(target: Target, rm: ResourceManager) -> None:
    target.reports(Released(identity="before"))
    target.reports_at(100.0, DUE)
    rm.expect(DUE, timeout=120.0)

    first, second = rm.exchange.entries()

    assert second.at - first.at >= 100.0
