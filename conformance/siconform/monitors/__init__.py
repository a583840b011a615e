"""Monitors: safety rules over everything sent and received, checked after every test."""

from collections.abc import Collection

from siconform.catalogue import Side
from siconform.monitors.evaluation import reading_of
from siconform.monitors.monitor import Monitor, MonitorResult
from siconform.monitors.registry import MONITORS, MONITORS_OF
from siconform.recording.history import Exchange

__all__ = ["MONITORS", "MONITORS_OF", "Monitor", "MonitorResult", "check"]


def check(
    exchange: Exchange, lacks: Collection[str] = (), side: Side = Side.SCHEDULER
) -> list[MonitorResult]:
    """Run every monitor of the tested side; only entries of the test itself count.

    Earlier ones are context. Skips monitors that need a feature the target ``lacks`` or another
    allocation identity.
    """
    identity = exchange.history.identity
    results = reading_of(exchange, side).results(exchange.start, exchange.until())
    return [
        result
        for monitor, result in zip(MONITORS_OF[side], results, strict=True)
        if monitor.presupposes not in lacks and monitor.identity in (None, identity)
    ]
