"""Monitors: safety rules over everything that was said and told, checked after every test."""

from collections.abc import Collection

from siconform.monitors.monitor import Monitor, MonitorResult
from siconform.monitors.reading import reading_of
from siconform.monitors.registry import MONITORS
from siconform.recording.history import Exchange

__all__ = ["MONITORS", "Monitor", "MonitorResult", "check"]


def check(exchange: Exchange, lacks: Collection[str] = ()) -> list[MonitorResult]:
    """Run every monitor; only what happened during the test counts, what went before is context.

    Left out is what presupposes a feature that the target ``lacks``, and what is about another
    way to identify an allocation.
    """
    identity = exchange.history.identity
    results = reading_of(exchange).results(exchange.start, exchange.until())
    return [
        result
        for monitor, result in zip(MONITORS, results, strict=True)
        if monitor.presupposes not in lacks and monitor.identity in (None, identity)
    ]
