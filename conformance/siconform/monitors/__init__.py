"""Monitors: safety rules over everything sent and received, checked after every test."""

from collections.abc import Collection

from siconform.monitors.monitor import Monitor, MonitorResult
from siconform.monitors.reading import reading_of
from siconform.monitors.registry import MONITORS
from siconform.recording.history import Exchange

__all__ = ["MONITORS", "Monitor", "MonitorResult", "check"]


def check(exchange: Exchange, lacks: Collection[str] = ()) -> list[MonitorResult]:
    """Run every monitor; only entries of the test itself count, earlier ones are context.

    Skips monitors that need a feature the target ``lacks`` or another allocation identity.
    """
    identity = exchange.history.identity
    results = reading_of(exchange).results(exchange.start, exchange.until())
    return [
        result
        for monitor, result in zip(MONITORS, results, strict=True)
        if monitor.presupposes not in lacks and monitor.identity in (None, identity)
    ]
