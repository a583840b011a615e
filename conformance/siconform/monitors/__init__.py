"""Monitors: safety rules over everything that was said and told, checked after every test."""

from collections.abc import Collection

from siconform.monitors.monitor import Monitor, MonitorResult
from siconform.monitors.reading import reading_of
from siconform.monitors.registry import MONITORS
from siconform.protocol.subjects import Identity
from siconform.recording.history import Exchange

__all__ = ["MONITORS", "Monitor", "MonitorResult", "check"]


def check(exchange: Exchange, lacks: Collection[str] = ()) -> list[MonitorResult]:
    """Run every monitor; only what happened during the test counts, what went before is context.

    Left out is what presupposes a feature that the target ``lacks``, and what is about words that
    a revision with allocations alone has not.
    """
    by_key = exchange.history.identity is Identity.KEY_OF_THE_ASK
    results = reading_of(exchange).results(exchange.start, exchange.until())
    return [
        result
        for monitor, result in zip(MONITORS, results, strict=True)
        if monitor.presupposes not in lacks and not (by_key and monitor.asks_apart)
    ]
