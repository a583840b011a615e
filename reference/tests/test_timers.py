"""Timers: order, cancellation, and timers set while others fire."""

from functools import partial

from sireference.core.model import Effect, Registered
from sireference.core.state.timers import Timers


def named(name: str, _now: float) -> list[Effect]:
    return [Registered(name)]


def test_timers_fire_in_order_of_deadline_then_of_setting() -> None:
    timers = Timers()
    for name, deadline in (("late", 3.0), ("first", 1.0), ("second", 1.0), ("never", 9.0)):
        timers.set(deadline, partial(named, name))
    assert timers.next_deadline() == 1.0

    assert timers.fire(0.9) == []
    assert timers.fire(3.0) == [Registered("first"), Registered("second"), Registered("late")]
    assert timers.next_deadline() == 9.0


def test_cancelled_timer_does_nothing() -> None:
    timers = Timers()
    timer = timers.set(1.0, lambda _: [Registered("x")])
    timer.cancel()

    assert timers.next_deadline() is None
    assert timers.fire(2.0) == []


def test_timer_may_set_another_and_cancel_one() -> None:
    timers = Timers()
    victim = timers.set(1.5, lambda _: [Registered("victim")])

    def due(now: float) -> list[Effect]:
        victim.cancel()
        timers.set(now, lambda _: [Registered("next")])
        return [Registered("due")]

    timers.set(1.0, due)

    assert timers.fire(2.0) == [Registered("due"), Registered("next")]


def test_cancelled_timers_do_not_accumulate() -> None:
    timers = Timers()
    kept = timers.set(5.0, lambda _: [Registered("kept")])
    for number in range(10_000):
        timers.set(10.0 + number, lambda _: []).cancel()

    assert len(timers._heap) < 5_000
    assert timers.fire(1e9) == [Registered("kept")]
    assert kept.due is None
