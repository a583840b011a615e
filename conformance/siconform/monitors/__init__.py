"""Monitors: safety rules over everything that was said and told, checked after every test."""

from collections.abc import Collection

from siconform.monitors.monitor import Finding, Monitor
from siconform.monitors.reading import reading_of
from siconform.monitors.registry import MONITORS
from siconform.recording.history import Exchange

__all__ = ["MONITORS", "Finding", "Monitor", "check"]


def check(exchange: Exchange, lacks: Collection[str] = ()) -> list[Finding]:
    """Run every monitor; only what happened during the test counts, what went before is context.

    Left out is what presupposes a feature that the target ``lacks``.
    """
    findings = reading_of(exchange).findings(exchange.start, exchange.until())
    return [
        finding
        for monitor, finding in zip(MONITORS, findings, strict=True)
        if monitor.presupposes not in lacks
    ]
