"""Monitors: safety rules over everything that was said and told, checked after every test."""

from collections import defaultdict
from collections.abc import Iterator

from siconform.monitors import allocations, applications, asks, nodes, releases, wire
from siconform.monitors.finding import MONITORS, Era, Finding, Monitor
from siconform.rm.history import Entry, Exchange, Registered

__all__ = ["MONITORS", "Finding", "Monitor", "check", "eras"]

# Importing them declares their monitors.
_RULES = (allocations, applications, asks, nodes, releases, wire)


def check(exchange: Exchange) -> list[Finding]:
    """Run every monitor; only what happened during the test counts, what went before is context."""
    lives = list(eras(exchange.everything(), exchange.start))
    findings = []
    for monitor in MONITORS:
        observations = [
            observation
            for life in lives
            for observation in monitor.rule(life)
            if observation.index >= exchange.start
        ]
        violated = next((o for o in observations if o.violation), None)
        findings.append(
            Finding(
                monitor.name,
                monitor.requirements,
                len(observations),
                violated.violation if violated else None,
                violated.index if violated else None,
            )
        )
    return findings


def eras(entries: list[Entry], judged_from: int = 0) -> Iterator[Era]:
    """The lives of the RMs in a history; a successful registration begins a new one."""
    current: dict[str, list[tuple[int, Entry]]] = {}
    earlier: dict[str, list[Entry]] = defaultdict(list)
    for index, entry in enumerate(entries):
        begins = (
            isinstance(entry.content, Registered)
            and not entry.said_by_rm
            and entry.content.status == "OK"
        )
        if begins and entry.rm in current:
            life = current.pop(entry.rm)
            yield Era(life, judged_from, tuple(earlier[entry.rm]))
            earlier[entry.rm] += [former for _, former in life]
        current.setdefault(entry.rm, []).append((index, entry))
    for rm, life in current.items():
        yield Era(life, judged_from, tuple(earlier[rm]))
